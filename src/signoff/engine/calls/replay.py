"""Which call is which, when a task starts over: the one that was given the same, else the one made in its place.

That holds for calls of `@task` functions, and for graphs that coroutines and threads beside a task call.

A task may make its calls in another order than before: coroutines side by side go on as their results come. So a call
is known by its function and its arguments. These may vary from run to run, as a time does; then a call is known by its
place, if the same lines of the program make it. One that failed and was made again has the place of the one that
succeeded: this one is not made again. Each line of the task has its own places: that of the task itself, and
those of coroutines and threads beside it, which are known by what they were given.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy

from signoff.engine import ids
from signoff.engine.calls.marks import Mark, caller_id, note_finished, places_of, repeated_in
from signoff.engine.run import Run
from signoff.engine.task import Task
from signoff.errors import ReplayMismatch

_Same = tuple[str, str | None]
"""A function and what it is given, and the line that calls it so."""


class Replay:
    """What a task does again since it began, or began again."""

    __slots__ = ("_caller_id", "_counts", "_lines", "_name", "_run", "_short")

    def __init__(self, run: Run, caller: Task, *, is_first: bool) -> None:
        self._run = run
        self._caller_id, self._name = caller_id(caller, run.known), caller.name
        self._short = ids.short_of(self._caller_id)
        self._counts: dict[str, int] = {}
        """How often it did so with the same."""
        self._lines: dict[str | None, int] = {}
        """How often each line of the task did so."""
        if not is_first:
            note_finished(run)

    def _id(self, what: str) -> str:
        """What stands for something that the task does: the n-th of its kind."""
        return self._nth_id(what, self._next_of(what))

    def _next_of(self, what: str) -> int:
        """How often the task has done something before."""
        nth = self._counts.get(what, 0)
        self._counts[what] = nth + 1
        return nth

    def _nth_id(self, what: str, nth: int) -> str:
        return ids.as_uuid(f"{self._caller_id}\0{what}\0{nth}")

    def _next_at(self, line: str | None) -> int:
        """How often a line of the task has done so before; None is the task itself."""
        at = self._lines.get(line, 0)
        self._lines[line] = at + 1
        return at


class CallsMade(Replay):
    """The calls of `@task` functions."""

    __slots__ = ("_failed", "_found", "_lost", "_made", "_passed_over", "_turns", "_within")

    def __init__(self, run: Run, caller: Task, *, is_first: bool) -> None:
        super().__init__(run, caller, is_first=is_first)
        self._found: set[str] = set()
        """The ids of those that were made before, and are made again by now."""
        self._failed: set[str] = set()
        """The ids of those that have come to nothing, and go on where they stopped if they are made again."""
        self._turns: dict[_Same, int] = {}
        """How often each line made a call with the same; one that failed, and was made again, counts once."""
        self._made: dict[str, tuple[_Same, int]] = {}
        """Which of them a call is, by its id."""
        self._lost: dict[_Same, list[int]] = {}
        """Those of them that have come to nothing, and were not made again yet."""
        self._passed_over: dict[_Same, list[int]] = {}
        """The places on a line where such calls were made that a later one stands for."""
        self._within: tuple[str, ...] = ()
        """The call that the task itself makes, where it stands for one."""

    def inside(self, name: str, given: str) -> "CallsMade":
        """The calls that a call of a function makes, where the task itself does what that is to do."""
        within = copy(self)
        what = f"call\0{name}\0{given}"
        within._caller_id, within._within = self._nth_id(what, 0), (f"{what}\0{0}",)
        within._short = ids.short_of(within._caller_id)
        within._counts, within._lines, within._found, within._failed = {}, {}, set(), set()
        within._turns, within._made, within._lost, within._passed_over = {}, {}, {}, {}
        return within

    def find(self, call: Task, given: str, site: str, line: str | None, is_another: Callable[[str], bool]) -> bool:
        """Give a call the id that it had before, if it was made before, and a mark.

        given: what stands for its arguments.
        line: what stands for the coroutine or the thread that makes it; None if the task itself does.
        is_another: told the id of a call that was given something else in its place: whether it is not this one.
        Returns whether it leads the task to another way than before.
        """
        name = call.node.name
        what = f"call\0{name}\0{given}"
        nth, same = self._next_of(what), (what, line)
        as_made, turn = f"{what}\0{nth}", self._next_turn(same)
        place = f"{self._short}.{line or ''}.{self._next_at(line)}"
        id = call.id = ids.as_uuid(f"{self._caller_id}\0{as_made}")
        call.made_as = (*self._within, as_made)
        call.mark = Mark.text(place, site, name, nth, turn)
        tried = self._tried(what, nth) if self._failed else None
        if tried is not None:
            id = call.id = tried
            self._failed.discard(tried)
            note_finished(self._run)
        mark = Mark(place, site, name, nth, turn) if self._run.marks else None
        if mark is not None and tried is None and not self._was_caught(call):
            mark = self._find(call, mark, what, line, is_another)
            id = call.id
        self._found.add(id)
        self._made[id] = same, turn
        return line is None and mark is not None and self._leads_off(call, mark)

    def _next_turn(self, same: _Same) -> int:
        """Which of the calls with the same its line makes now: one that has come to nothing, or the next."""
        turn = self._turns.get(same, 0)
        if turn and self._lost.get(same):
            return self._lost[same].pop(0)
        self._turns[same] = turn + 1
        return turn

    def fail(self, call: Task) -> None:
        """A call has failed, or was called off. If it goes on where it stopped, the task makes the same one again."""
        if call.id in self._made:  # one with the same that its line makes from now on is made in its place
            same, turn = self._made[call.id]
            self._lost.setdefault(same, []).append(turn)
        if call.node.passes_on:
            self._failed.add(call.id)

    def _was_caught(self, call: Task) -> bool:
        """Whether the very call has failed before, and the task has caught that: it is not another one's."""
        return self._run.known is not None and self._run.known.caught(call.id, 0) is not None

    def _tried(self, what: str, nth: int) -> str | None:
        """The id of the first call with the same that has failed."""
        return next((id for id in self._ids(what, nth) if id in self._failed), None)

    def _ids(self, what: str, nth: int) -> Iterator[str]:
        """What stands for the first calls with the same."""
        return (self._nth_id(what, one) for one in range(nth))

    def _leads_off(self, call: Task, mark: Mark) -> bool:
        """Whether another call of the function was made in its place, before others have changed the state."""
        made = [id for id, then in self._made_at(mark) if then.name == mark.name]
        is_here = call.id not in self._run.marks or call.id in made
        return is_here and any(id != call.id for id in made)

    def _made_at(self, mark: Mark) -> list[tuple[str, Mark]]:
        """The calls that were made in a place, on the same way."""
        return [(id, then) for id, then in places_of(self._run).get(mark.place, ()) if then.way == mark.way]

    def _find(self, call: Task, mark: Mark, what: str, line: str | None, is_another: Callable[[str], bool]) -> Mark:
        marks = self._run.marks
        again = repeated_in(self._run).get((mark.caller, mark.name))
        if again and (instead := self._one_of(again, call, mark, what, line)) is not None:
            return instead
        if call.id not in marks:
            call.id = self._in_place(self._run, mark, line is not None, is_another) or call.id
        return mark

    def _one_of(
        self, again: Sequence[tuple[Mark, str]], call: Task, mark: Mark, what: str, line: str | None
    ) -> Mark | None:
        """If the same call was made several times before, it is the next of its line, or another one.

        Those that failed, or did not come to their end, have left nothing: what stands in their place is the one that
        succeeded, and the line goes on behind it, with the calls that followed.
        """
        marks, first = self._run.marks, self._nth_id(what, 0)
        same = [(Mark.read(marks[first]), first)] if first in marks else []
        others = set(self._ids(what, max(then.nth for then, _ in again) + 1)) - {first}
        same += [(then, id) for then, id in again if id in others]
        left = [(then, id) for then, id in same if id not in self._found]
        here = [(then, id) for then, id in left if then.line == mark.line]
        left = [(then, id) for then, id in left if then.line != mark.line]
        here = [one for one in here if one[1] == call.id] or [one for one in here if one[0].turn in (mark.turn, None)]
        left = here or left
        if not left:
            return self._passed(call, mark, (what, line))
        then, call.id = left[0]
        call.mark = marks[call.id]
        self._counts[what] = max(self._counts[what], then.nth + 1)
        if here and then.at is not None:
            self._go_on_behind(then.at, mark, (what, line))
        return mark

    def _go_on_behind(self, at: int, mark: Mark, same: _Same) -> None:
        """A call was found that had another place on its line than it has now."""
        line, passed_over = same[1], self._passed_over.setdefault(same, [])
        if at in passed_over:
            passed_over.remove(at)
            self._lines[line] -= 1
        elif mark.at is not None and at > mark.at:
            passed_over += range(mark.at, at)
            self._lines[line] = at + 1

    def _passed(self, call: Task, mark: Mark, same: _Same) -> Mark | None:
        """Whether a call is one of those that were passed over: they were made side by side, one of which failed."""
        if not self._passed_over.get(same):
            return None
        place = f"{mark.place.rpartition('.')[0]}.{self._passed_over[same].pop(0)}"
        self._lines[same[1]] -= 1
        mark = mark._replace(place=place)
        call.mark = Mark.text(*mark)
        return mark

    def _in_place(self, run: Run, mark: Mark, is_beside: bool, is_another: Callable[[str], bool]) -> str | None:
        """The id of the call that was made in a place, if it is the one that is made there now.

        If it is another one, the program was changed. Only beside a task that may be so: there lines look alike.
        """
        made = self._made_at(mark) if mark.site else []
        made = [(id, then) for id, then in made if id not in self._found and not is_another(id)]
        if not made:
            return None
        id, then = made[-1]
        if then.name == mark.name and (then.site == mark.site or run.terms.accepts_changes):
            return id
        if is_beside or run.terms.accepts_changes:
            return None
        raise _mismatch(self._name, then, mark)


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
