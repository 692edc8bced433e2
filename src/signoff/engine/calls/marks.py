"""Marks: where calls were made, as it is stored with what they came to; and those that a run knows of."""

from typing import NamedTuple

from signoff.constants import CALLED
from signoff.engine.pending import Pending
from signoff.engine.run import Run
from signoff.engine.task import Task


class Mark(NamedTuple):
    """Where a call was made, as it is stored with what the call came to."""

    place: str
    """The task that made it, by a digest of its id; the line of it that did so, and how many that had made before."""
    site: str
    """A digest of the way through the program, and then what stands for what has led the task to another one; empty if
    none of it is the user's."""
    name: str
    """That of the function; of a graph, the number of the call, and what it looks like."""
    nth: int = 0
    """How often the task had called the function with the same before."""
    turn: int | None = 0
    """How often its line had done so; one that failed, and was made again, counts once. None where it is not known."""

    @property
    def caller(self) -> str:
        """What stands for the task that made a call of a function."""
        return self.place.partition(".")[0]

    @property
    def is_of_graph(self) -> bool:
        """Whether it is that of a graph."""
        return "|" in self.place

    @property
    def line(self) -> str:
        """What stands for the coroutine or the thread beside that task that made it; empty for the task itself."""
        return self.place.split(".")[1]

    @property
    def at(self) -> int | None:
        """How many calls that line had made before, where that is known."""
        at = self.place.rpartition(".")[2]
        return int(at) if at != "-" else None

    @property
    def way(self) -> str:
        """What has led the task that made it to another way than before; empty if nothing has."""
        return self.site.partition("~")[2]

    @property
    def is_beside(self) -> bool:
        """Whether a coroutine or a thread beside that task has made the call of a function."""
        return self.line != ""

    @classmethod
    def read(cls, text: str) -> "Mark":
        place, site, name = text.split(" ", 2)
        again, is_again, at = place.partition(":")
        if not is_again:
            return cls(place, site, name)
        nth, _, turn = again.partition("/")
        return cls(at, site, name, int(nth), int(turn) if turn else None)

    @staticmethod
    def text(place: str, site: str, name: str, nth: int, turn: int | None = None) -> str:
        """What is stored of a mark."""
        if not nth:
            return f"{place} {site} {name}"
        return f"{nth}:{place} {site} {name}" if turn is None else f"{nth}/{turn}:{place} {site} {name}"


def on_way(site: str, way: str) -> str:
    """The site of a call, with what has led its task to another way."""
    return f"{site}~{way[:12]}" if site and way else site


def caller_id(task: Task, known: Pending | None) -> str:
    """The task that calls are named after: the one that makes them, or that it replaces after an update."""
    return task.id if known is None else known.calling_as.get(task.id, task.id)


def note_finished(run: Run) -> None:
    """Note where the calls were made that have finished in this run: a task tries again."""
    called = run.called.copy()  # at once: calls in other threads come to their ends meanwhile
    finished = ((id, name, mark) for id, writes in called.items() for name, mark in writes)
    run.marks.update((id, mark) for id, name, mark in finished if name == CALLED)
    run.noted = object()


def places_of(run: Run) -> dict[str, list[tuple[str, Mark]]]:
    """The calls that were made before, by their places. In one there are several if others have changed the state."""
    places, noted = run.places, run.noted
    if places is None or places[0] is not noted:
        found: dict[str, list[tuple[str, Mark]]] = {}
        for id, text in run.marks.copy().items():
            mark = Mark.read(text)
            found.setdefault(mark.place, []).append((id, mark))
        places = run.places = noted, found
    return places[1]


def repeated_in(run: Run) -> dict[tuple[str, str], list[tuple[Mark, str]]]:
    """The calls that were made before just like others before them, in order, by their makers and names."""
    repeated, noted = run.repeated, run.noted
    if repeated is None or repeated[0] is not noted:
        found: dict[tuple[str, str], list[tuple[Mark, str]]] = {}
        read = ((Mark.read(text), id) for id, text in run.marks.copy().items())
        for mark, id in sorted(((mark, id) for mark, id in read if mark.nth), key=lambda one: one[0].nth):
            found.setdefault((mark.caller, mark.name), []).append((mark, id))
        repeated = run.repeated = noted, found
    return repeated[1]
