"""Which call is which, when a task starts over: the one that was given the same, else the one made in its place.

A task may make its calls in another order than before: coroutines side by side go on as their results come. So a call
is known by its function and its arguments. These may vary from run to run, as a time does; then a call is known by its
place, if the same lines of the program make it. Each line of the task has its own places: that of the task itself, and
those of coroutines and threads beside it, which are known by what they were given.
"""

from typing import Any, NamedTuple

from signoff.constants import CALLED
from signoff.engine import ids
from signoff.engine.run import Run
from signoff.engine.task import Task
from signoff.errors import ReplayMismatch


class Mark(NamedTuple):
    """Where a call was made, as it is stored with what the call came to."""

    place: str
    """The task that made it, by the end of its id; the line of it that did so, and how many that had made before."""
    site: str
    """A digest of the way through the program; empty if none of it is the user's."""
    name: str
    """That of the function."""

    @classmethod
    def read(cls, text: str) -> "Mark":
        return cls(*text.split(" ", 2))


class CallsMade:
    """The calls that a task has made since it began, or began again."""

    __slots__ = ("_caller_id", "_counts", "_found", "_lines", "_name", "_run")

    def __init__(self, run: Run, caller: Task, *, is_first: bool) -> None:
        self._run = run
        self._caller_id, self._name = caller.id, caller.name
        self._counts: dict[str, int] = {}
        """How many of them were given the same."""
        self._lines: dict[str | None, int] = {}
        """How many of them each line of the task has made."""
        self._found: set[str] = set()
        """The ids of those that were made before."""
        if not is_first:
            _note_finished(run)

    def find(self, call: Task, given: str, site: str, line: str | None) -> None:
        """Give a call the id that it had before, if it was made before, and a mark.

        given: what stands for its arguments.
        line: what stands for the coroutine or the thread that makes it; None if the task itself does.
        """
        caller_id, name = self._caller_id, call.node.name
        what = f"{caller_id}\0{name}\0{given}"
        nth = self._counts.get(what, 0)
        self._counts[what] = nth + 1
        call.id = ids.as_uuid(f"call\0{what}\0{nth}")
        at = self._lines.get(line, 0)
        self._lines[line] = at + 1
        place = f"{caller_id[-12:]}.{line or ''}.{at}"
        call.mark = f"{place} {site} {name}"
        if self._run.marks:
            self._find(call, Mark(place, site, name), is_beside=line is not None)

    def _find(self, call: Task, mark: Mark, *, is_beside: bool) -> None:
        marks = self._run.marks
        if call.id not in marks:
            call.id = self._in_place(self._run, mark, is_beside) or call.id
        if call.id in marks:
            self._found.add(call.id)

    def _in_place(self, run: Run, mark: Mark, is_beside: bool) -> str | None:
        """The id of the call that was made in a place, if it is the one that is made there now.

        If it is another one, the program was changed. Only beside a task that may be so: there lines look alike.
        """
        known: tuple[str, Mark] | None = _places(run).get(mark.place)
        if known is None or not mark.site:
            return None
        id, then = known
        if id in self._found:
            return None
        if then.name == mark.name and (then.site == mark.site or run.terms.accepts_changes):
            return id
        if is_beside or run.terms.accepts_changes:
            return None
        raise _mismatch(self._name, then, mark)


def _note_finished(run: Run) -> None:
    """Note where the calls were made that have finished in this run: a task tries again."""
    finished = ((id, name, mark) for id, writes in run.called.items() for name, mark in writes)
    run.marks.update((id, mark) for id, name, mark in finished if name == CALLED)
    run.places = None


def _places(run: Run) -> dict[str, Any]:
    """The calls that were made before, by their places."""
    if run.places is None:
        read = ((id, Mark.read(text)) for id, text in run.marks.items())
        run.places = {mark.place: (id, mark) for id, mark in read}
    return run.places


def _mismatch(caller: str, then: Mark, now: Mark) -> ReplayMismatch:
    other = (
        f"calls {now.name!r} in its place with other arguments than before"
        if then.name == now.name
        else f"calls {now.name!r} where it called {then.name!r} before"
    )
    return ReplayMismatch(
        f"Node {caller!r} was changed, or took another way: it {other}, and that call was made already. Nothing was "
        'run. Go on with the code that made it; or call the graph with on_changed="accept": then the call has the '
        "result of the one before if both are of the same function, and is made anew if not."
    )
