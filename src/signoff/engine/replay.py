"""Which call is which, when a task starts over: the one that was given the same, else the one made in its place.

That holds for calls of `@task` functions, and for graphs that coroutines and threads beside a task call.

A task may make its calls in another order than before: coroutines side by side go on as their results come. So a call
is known by its function and its arguments. These may vary from run to run, as a time does; then a call is known by its
place, if the same lines of the program make it. One that failed and was made again has the place of the one that
succeeded: this one is not made again. Each line of the task has its own places: that of the task itself, and
those of coroutines and threads beside it, which are known by what they were given.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import count, filterfalse, takewhile
from typing import Any, NamedTuple

from signoff.checkpoint.base import TaskWrites
from signoff.constants import CALLED
from signoff.engine import ids
from signoff.engine.pending import Pending
from signoff.engine.program import Write
from signoff.engine.run import Run
from signoff.engine.task import Task
from signoff.errors import ReplayMismatch


class Mark(NamedTuple):
    """Where a call was made, as it is stored with what the call came to."""

    place: str
    """The task that made it, by a digest of its id; the line of it that did so, and how many that had made before."""
    site: str
    """A digest of the way through the program; empty if none of it is the user's."""
    name: str
    """That of the function; of a graph, the number of the call, and what it looks like."""
    nth: int = 0
    """How often the task had called the function with the same before."""

    @property
    def caller(self) -> str:
        """What stands for the task that made a call of a function."""
        return self.place.partition(".")[0]

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
    def is_beside(self) -> bool:
        """Whether a coroutine or a thread beside that task has made the call of a function."""
        return self.line != ""

    @classmethod
    def read(cls, text: str) -> "Mark":
        place, site, name = text.split(" ", 2)
        nth, again, at = place.partition(":")
        return cls(at, site, name, int(nth)) if again else cls(place, site, name)

    @staticmethod
    def text(place: str, site: str, name: str, nth: int) -> str:
        """What is stored of a mark."""
        return f"{nth}:{place} {site} {name}" if nth else f"{place} {site} {name}"


class Replay:
    """What a task does again since it began, or began again."""

    __slots__ = ("_caller_id", "_counts", "_lines", "_name", "_run", "_short")

    def __init__(self, run: Run, caller: Task, *, is_first: bool) -> None:
        self._run = run
        self._caller_id, self._name = _caller_id(caller, run.known), caller.name
        self._short = ids.short_of(self._caller_id)
        self._counts: dict[str, int] = {}
        """How often it did so with the same."""
        self._lines: dict[str | None, int] = {}
        """How often each line of the task did so."""
        if not is_first:
            _note_finished(run)

    def _id(self, what: str) -> str:
        """What stands for something that the task does: the n-th of its kind."""
        nth = self._counts.get(what, 0)
        self._counts[what] = nth + 1
        return self._nth_id(what, nth)

    def _nth_id(self, what: str, nth: int) -> str:
        return ids.as_uuid(f"{self._caller_id}\0{what}\0{nth}")

    def _next_at(self, line: str | None) -> int:
        """How often a line of the task has done so before; None is the task itself."""
        at = self._lines.get(line, 0)
        self._lines[line] = at + 1
        return at


class CallsMade(Replay):
    """The calls of `@task` functions."""

    __slots__ = ("_failed", "_found")

    def __init__(self, run: Run, caller: Task, *, is_first: bool) -> None:
        super().__init__(run, caller, is_first=is_first)
        self._found: set[str] = set()
        """The ids of those that were made before, and are made again by now."""
        self._failed: set[str] = set()
        """The ids of those that have failed, and go on where they stopped if they are made again."""

    def inside(self, name: str, given: str) -> "CallsMade":
        """The calls that a call of a function makes, where the task itself does what that is to do."""
        within = copy(self)
        within._caller_id = self._nth_id(f"call\0{name}\0{given}", 0)
        within._short = ids.short_of(within._caller_id)
        within._counts, within._lines, within._found, within._failed = {}, {}, set(), set()
        return within

    def find(self, call: Task, given: str, site: str, line: str | None) -> None:
        """Give a call the id that it had before, if it was made before, and a mark.

        given: what stands for its arguments.
        line: what stands for the coroutine or the thread that makes it; None if the task itself does.
        """
        name = call.node.name
        what = f"call\0{name}\0{given}"
        call.id = self._id(what)
        nth, place = self._counts[what] - 1, f"{self._short}.{line or ''}.{self._next_at(line)}"
        call.mark = Mark.text(place, site, name, nth)
        tried = self._tried(what, nth) if self._failed else None
        if tried is not None:
            call.id = tried
            self._failed.discard(tried)
            _note_finished(self._run)
        elif self._run.marks:
            self._find(call, Mark(place, site, name, nth), what, line)
        self._found.add(call.id)

    def fail(self, call: Task) -> None:
        """A call has failed. If the task makes it again, it is the same one: what that has finished inside stays."""
        self._failed.add(call.id)

    def _tried(self, what: str, nth: int) -> str | None:
        """The id of the first call with the same that has failed."""
        return next((id for id in self._ids(what, nth) if id in self._failed), None)

    def _ids(self, what: str, nth: int) -> Iterator[str]:
        """What stands for the first calls with the same."""
        return (self._nth_id(what, one) for one in range(nth))

    def _find(self, call: Task, mark: Mark, what: str, line: str | None) -> None:
        marks = self._run.marks
        again = _repeated(self._run).get((mark.caller, mark.name))
        if not (again and self._is_one_of(again, call, mark, what, line)) and call.id not in marks:
            call.id = self._in_place(self._run, mark, line is not None) or call.id

    def _is_one_of(
        self, again: Sequence[tuple[Mark, str]], call: Task, mark: Mark, what: str, line: str | None
    ) -> bool:
        """Whether the same call was made several times before: then it is the next of its line, or another one.

        Those that failed, or did not come to their end, have left nothing: what stands in their place is the one that
        succeeded, and the line goes on behind it, with the calls that followed.
        """
        marks, first = self._run.marks, self._nth_id(what, 0)
        same = [(Mark.read(marks[first]), first)] if first in marks else []
        others = set(self._ids(what, max(then.nth for then, _ in again) + 1)) - {first}
        same += [(then, id) for then, id in again if id in others]
        left = [(then, id) for then, id in same if id not in self._found]
        if not left:
            return False
        here = [(then, id) for then, id in left if then.line == mark.line]
        then, call.id = (here or left)[0]
        call.mark = marks[call.id]
        self._counts[what] = max(self._counts[what], then.nth + 1)
        if here and then.at is not None:
            self._lines[line] = max(self._lines[line], then.at + 1)
        return True

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
        read = ((id, Mark.read(text)) for id, text in self._run.marks.items())
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


def finished_calls(run: Run, task: Task) -> Iterator[tuple[str, list[Write]]]:
    """The names of the calls that a task had finished before it started over, and what they have left."""
    known = run.known
    if known is None or not known.marks:
        return
    caller = ids.short_of(_caller_id(task, known))
    for id, mark in ((id, Mark.read(text)) for id, text in known.marks.items()):
        if mark.caller == caller and id in known.results:
            yield mark.name, known.results[id]


def has_calls_of_another(run: Run, task: Task) -> bool:
    """Whether a task is in the place of one that has made calls, and has called no graphs itself."""
    named = run.known.calling_as if run.known is not None else {}
    return task.id in named and ids.graphs_id(task.id) not in named


def carried(known: Pending, moved: Sequence[tuple[Task, Task]], others: Iterable[Task]) -> Iterator[TaskWrites]:
    """The calls that tasks have finished, for those in their places after a person has changed the state.

    They are known by what they were given alone: what is given something else in their place is another call. A call
    that has failed has left no mark, so it is not seen whose it was; what it has called is kept for whoever it is.

    others: the tasks in whose place there is none.
    """
    read = {id: Mark.read(text) for id, text in known.marks.items() if id in known.results or id in known.asking_calls}
    theirs = _inside(read, {ids.short_of(_caller_id(task, known)) for task in others})
    calls = {id: mark for id, mark in read.items() if id not in theirs}
    for task, again in moved if calls else ():
        yield TaskWrites(ids.alias_id(again.id, CALLED), [(CALLED, {again.id: _caller_id(task, known)})])
    finished = {id: mark for id, mark in calls.items() if id in known.results}
    for id, mark in finished.items():
        yield TaskWrites(id, [*known.results[id], (CALLED, Mark.text(f"{mark.caller}.-", *mark[1:]))])


def calls_inside(known: Pending, task: Task) -> set[str]:
    """The ids of the calls that a task has made before, and of those inside of these."""
    return _inside({id: Mark.read(text) for id, text in known.marks.items()}, {ids.short_of(_caller_id(task, known))})


def _inside(marks: dict[str, Mark], callers: set[str]) -> set[str]:
    """The ids of the calls that tasks have made, and of those inside of these."""
    found: set[str] = set()
    while more := {id for id, mark in marks.items() if mark.caller in callers} - found:
        found |= more
        callers = {ids.short_of(id) for id in more}
    return found


def _caller_id(task: Task, known: Pending | None) -> str:
    """The task that calls are named after: the one that makes them, or that it replaces after an update."""
    return task.id if known is None else known.calling_as.get(task.id, task.id)


def _note_finished(run: Run) -> None:
    """Note where the calls were made that have finished in this run: a task tries again."""
    finished = ((id, name, mark) for id, writes in run.called.items() for name, mark in writes)
    run.marks.update((id, mark) for id, name, mark in finished if name == CALLED)
    run.places = run.repeated = None


def _places(run: Run) -> dict[str, Any]:
    """The calls that were made before, by their places."""
    if run.places is None:
        read = ((id, Mark.read(text)) for id, text in run.marks.items())
        run.places = {mark.place: (id, mark) for id, mark in read}
    return run.places


def _repeated(run: Run) -> dict[tuple[str, str], list[tuple[Mark, str]]]:
    """The calls that were made before just like others before them, in order, by their makers and names."""
    if run.repeated is None:
        read = ((Mark.read(text), id) for id, text in run.marks.items())
        run.repeated = {}
        for mark, id in sorted(((mark, id) for mark, id in read if mark.nth), key=lambda one: one[0].nth):
            run.repeated.setdefault((mark.caller, mark.name), []).append((mark, id))
    return run.repeated


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


def _mixed_up(caller: str) -> ReplayMismatch:
    return ReplayMismatch(
        f"Node {caller!r} calls graphs side by side, and gives some of them something else than before: it cannot be "
        "told which is which. This one was not called. Have a @task work out what they are given, so that it stays the "
        'same; or call the graph with on_changed="accept": then those that are given something else begin anew.'
    )
