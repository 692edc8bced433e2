"""The graphs that a task calls: which call is which, when it starts over."""

from collections.abc import Iterable
from itertools import count, filterfalse, takewhile

from signoff.engine.calls.marks import Mark
from signoff.engine.calls.replay import Replay
from signoff.engine.program import Write
from signoff.engine.run import Run
from signoff.engine.task import Task
from signoff.errors import ReplayMismatch


class GraphsCalled(Replay):
    """The graphs that a task calls itself. Each call has a number, and so a namespace of its own."""

    __slots__ = ("_before", "_free", "_new")

    def __init__(self, run: Run, caller: Task, *, is_first: bool) -> None:
        super().__init__(run, caller, is_first=is_first)
        self._before = self._made_before() if run.marks else {}
        """The calls that coroutines and threads beside the task have made before."""
        known = {_number(mark) for mark in self._before.values()}
        self._new = filterfalse(known.__contains__, count())  # not a generator: threads may ask it at once
        self._free = dict.fromkeys(known, True)  # so is this
        """The numbers of those that have not been made again yet."""

    def _made_before(self) -> dict[str, Mark]:
        read = ((id, Mark.read(text)) for id, text in self._run.marks.copy().items())
        return {id: mark for id, mark in read if mark.place.startswith(f"{self._short}|")}

    def number(self) -> int:
        """The number of the next call that the task itself makes: it makes them in the same order each time."""
        return next(self._new)

    def number_beside(self, given: str, site: str, line: str, looks: str) -> tuple[int, Write | None]:
        """The number of a call beside the task: that of the one that was given the same, or made in its place.

        Of several that were given the same, it is the one that looks like it. And what is to be stored of the call,
        under an id, if it is a new one.
        """
        what = f"graph\0{given}"
        id, place = self._id(what), f"{self._short}|{line}.{self._next_at(line)}"
        number = self._claimed(self._given_the_same(what, looks))
        if number is None and id in self._before:
            raise _mixed_up(self._name)
        if number is None:
            number = self._claimed(self._in_place(place, site))
        if number is None:
            number = next(self._new)
            return number, (id, f"{place} {site} {number} {looks}")
        return number, None

    def _claimed(self, wanted: Iterable[Mark]) -> int | None:
        """The number of the first of several calls that nobody has made again yet; now somebody has."""
        return next((number for mark in wanted if self._free.pop(number := _number(mark), None)), None)

    def _given_the_same(self, what: str, looks: str) -> list[Mark]:
        """The calls that were given the same; first those that look the same."""
        ids = takewhile(self._before.__contains__, (self._nth_id(what, nth) for nth in count()))
        return sorted((self._before[id] for id in ids), key=lambda mark: mark.name.partition(" ")[2] != looks)

    def _in_place(self, place: str, site: str) -> list[Mark]:
        """The calls that were made in a place, and were given something else, unless they are known to be others."""
        if self._run.terms.accepts_changes:
            return []
        return [mark for mark in self._before.values() if mark.place == place and mark.site == site]


def _number(graph: Mark) -> int:
    return int(graph.name.partition(" ")[0])


def _mixed_up(caller: str) -> ReplayMismatch:
    return ReplayMismatch(
        f"Node {caller!r} calls graphs side by side, and gives some of them something else than before: it cannot be "
        "told which is which. This one was not called. Have a @task work out what they are given, so that it stays the "
        'same; or call the graph with on_changed="accept": then those that are given something else begin anew.'
    )
