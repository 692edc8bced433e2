"""The scope of a running task: what interrupt(), get_config(), the stream writer and nested graphs go through."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from signoff._words.questions import Interrupt
from signoff.constants import MISSING
from signoff.drivers.host import over
from signoff.drivers.scopes import asking, calling, meanwhile
from signoff.drivers.scopes.callsite import way_to
from signoff.drivers.scopes.knowing import Knowing
from signoff.drivers.scopes.lines import in_turn, line_of
from signoff.engine import origin
from signoff.engine.calls.called_graphs import GraphsCalled
from signoff.engine.calls.marks import Mark
from signoff.engine.calls.replay import CallsMade
from signoff.engine.calls.task_calls import asking as asking_call
from signoff.engine.calls.task_calls import call_task, known_call, returned
from signoff.engine.program import Node
from signoff.engine.task import Outcome, Record, Task
from signoff.errors import GraphInterrupt, OutsideOfRun, ParentCommand, SignoffError

if TYPE_CHECKING:
    from signoff.drivers.host import Host

_NOTHING: Any = ()


class Scope(Knowing):
    """One task while it runs. Everything but the task itself is made when somebody asks for it."""

    __slots__ = (
        "asides", "asked", "beat", "beside", "calls", "came_to", "elsewhere", "failed", "has_room", "heartbeat", "host",
        "is_at_edges", "is_branched", "is_done", "is_over", "keys", "led_by", "left", "lines", "made", "nested",
        "output", "own", "passed", "past", "pause", "refusal", "stands_for", "task", "turns", "way", "writes",
    )  # fmt: skip

    output: Any
    """What the task's function returned; MISSING until it has."""
    pause: GraphInterrupt | None
    """The pause that is on its way through the user's code."""
    own: tuple[Interrupt[Any], ...] | None
    """What the task itself waits for, and nothing beside it: whatever its code makes of that, it asks nothing more."""
    led_by: ParentCommand | None
    """The Command of a graph inside that the task has ended with."""
    way: str
    """What stands for the way that the task goes, if that is another one than before: it was answered something that it
    asked anew, since others have changed the state. From there on, a call that is given something else is another."""
    is_at_edges: bool
    """Whether the task has done its work, and its conditional edges are asked."""
    is_branched: bool
    """Whether coroutines or threads beside the task make calls."""
    beside: tuple[Interrupt[Any], ...]
    """What coroutines and threads beside the task have asked."""
    left: tuple[Interrupt[Any], ...]
    """What calls and graphs ask that have failed: they ask it still, if the task fails with them."""
    refusal: Exception | None
    """Why the run cannot go on, whatever the user's code makes of it: a changed program, a wrong answer, no saver."""
    is_over: bool
    """Whether the task has paused or failed: it will start over, and do again what has not finished."""
    is_done: bool
    """Whether the task has come to its result: nobody hears any more what is asked in it."""
    has_room: bool
    """Whether the lists of what the task does can grow: before it does anything, they are nothing."""
    asides: list[Record]
    """What is to be stored if the task pauses."""
    nested: GraphsCalled | None
    """The graphs that the task has called, once there are any."""
    calls: list[Any]
    """The calls of @task functions that the task has made, and of graphs beside it: a future each."""
    elsewhere: tuple[tuple[Any, Any], ...]
    """The event loops beside the run's on which graphs are called, each with the future of one."""
    made: CallsMade | None
    """What there is to know of them, once there are any."""
    stands_for: tuple[Callable[[], str], Any] | None
    """The name of a call, and its input, that the task does the work of itself, if it has made none in there yet."""
    turns: Any
    """Who lets as many of the calls run at a time as the caller allows; None without a limit."""
    lines: dict[str, Iterator[int]]
    """How many coroutines and threads beside the task look alike."""
    passed: tuple[str, ...]
    """The ids of those whose results are for this task alone."""
    asked: int
    """How many questions without a key the task has asked."""
    keys: set[str]
    """The keys of the others."""

    def __init__(self, host: "Host", task: Task) -> None:
        self.host = host
        self.task = task
        self.callbacks = self.beat = self.heartbeat = None
        self.first_attempt_at = time.time() if task.node.retry else None
        self.refusal = None
        self.turns = None if host.max_concurrency is None else self._in_turn(host.max_concurrency)
        self.is_over = self.is_done = self.is_branched = False
        self.try_again(1)

    @property
    def is_nested(self) -> bool:
        return self.host.run.is_nested

    @property
    def ns_around(self) -> str:
        """The namespace of the graph around the one that the task belongs to."""
        assert self.host.parent is not None, "asked only of a nested run"
        return self.host.parent.host.run.ns

    @property
    def is_forked_off(self) -> bool:
        """Whether this is a copy, in a process that the task has forked off."""
        return isinstance(self.refusal, OutsideOfRun)

    def try_again(self, attempt: int) -> None:
        """The task begins, or failed and starts over."""
        self.attempt = attempt
        self.is_at_edges = False
        self.output = MISSING
        self.pause = self._runtime = self._config = self.made = self.nested = self.led_by = self.own = None
        self.stands_for, self.way = None, ""
        self.asked, self.past, self.beside, self.left, self.passed, self.elsewhere = 0, 0, (), (), (), ()
        self.has_room = False
        self.writes = self.asides = self.calls = self.failed = self.came_to = self.keys = self.lines = _NOTHING

    def make_room(self) -> None:
        """Get ready to note what the task asks, calls and pushes; most tasks do nothing of the kind."""
        with in_turn:
            if not self.has_room:
                # Lists that grow in place: the calls of a task end in several threads at once.
                self.writes, self.asides, self.calls, self.failed, self.came_to = [], [], [], [], []
                self.keys, self.lines, self.has_room = set(), {}, True

    def come_to(self, outcome: Outcome) -> Outcome:
        """Note how the task came out, if there is more to it than a result."""
        self.is_done = outcome.is_done
        self.is_over = not outcome.is_done
        if self.passed and outcome.is_done:
            self.host.run.forget_passed(self.passed)
        return outcome

    # Asking

    def ask(self, value: Any, *, response_schema: Any = None, key: str | None = None, update: Any = None) -> Any:
        """The answer to the task's next question; without one, the pause."""
        if self.refusal is not None:
            raise self.refusal  # again: the task has swallowed it, and what it does now is not stored
        if self.is_done or self.host.is_over:
            raise calling.too_late(self, "interrupt()")
        if not self.has_room:
            self.make_room()
        self.past = len(self.failed)
        site, is_beside = way_to(sys._getframe(2)) if self.host.run.is_saved else ([], False)
        if self.pause is not None and self.host.run.is_saved:
            self._pause_again(self.pause, is_beside)
        line = line_of(self, sys._getframe(2)) if is_beside else None
        here = asking.here(self, site, line)
        place = asking.next_place(self, key, value, is_beside=is_beside)
        id = asking.id_of(self, place)
        answer = self.host.run.answers.get(id)
        if answer is None and self.host.run.answers and key is None and self.task.node.has_both_kinds:
            id, answer = asking.asked_in_other_kind(self, place, value)
        goes_by_words = is_beside and key is None
        if not goes_by_words and (self.host.run.answers or meanwhile.has_asked(self)):
            id, answer, here = meanwhile.asked_by_now(self, id, answer, value, here)
        if answer is not None:
            self.way = id if here.first or meanwhile.was_asked_anew(answer) else self.way
            return asking.handed_over(self, id, answer, value, response_schema, here)
        untold = None if update is None or asking.was_told(self, id, place, value, here) else update
        question = asking.question(self, id, value, response_schema, key, untold, here)
        if is_beside:
            (question,) = origin.beside((question,))
            with in_turn:
                self.beside = (*self.beside, question)
        else:
            self.own = (question,)
        self.pause = GraphInterrupt((question,))
        raise self.pause

    def _pause_again(self, pause: GraphInterrupt, is_beside: bool) -> None:
        """A pause is on its way, or was caught: what is asked in a `finally:`, say, the task comes to once that is
        answered."""
        if sys.exc_info()[1] is pause:
            raise pause
        if self.own is not None and not is_beside:
            self.pause = GraphInterrupt(self.own)
            raise self.pause

    # Calling

    def call(self, node: Node, input: Any) -> Any:
        """Call a @task function: a future of its result, done already if the call finished before."""
        if self.is_over:
            raise calling.refused(self, node.name)
        if self.refusal is not None:
            raise self.refusal
        if self.host.perform is over:
            raise calling.too_late(self, f"The task {node.name!r}")
        if not self.has_room:
            self.make_room()
        self.past = len(self.failed)
        task = call_task(self.task, node, input, len(self.calls))
        calling.find(self, task, sys._getframe(2))
        failures = [one for one in self.failed if one.id == task.id] if self.failed else ()
        outcome = known_call(self.host.run, task, len(failures))
        if outcome is not None:
            future = self._unstarted()
            self.outcome_to(future, outcome)
            self.calls.append(future)
        else:
            future = self._future_of(task)
            self.calls.append(future)  # before it begins: if a signal is heard now, it is called off
            self._start(task, future)
        return future

    def stand_for(self, name: Callable[[], str], input: Any) -> None:
        """From now on the task does itself what a call is for: what it calls goes by the name of that."""
        self.stands_for = name, input

    def also_wait(self, loop: Any = None) -> Any:
        """A future of something that goes on beside the task, as a graph that is called there: the task awaits it.

        loop: the event loop that it is on, if that may be another one than the run's.
        """
        self.make_room()
        future = self._unstarted()
        if loop is not None and loop is not self.host.loop:
            with in_turn:
                self.elsewhere = (*self.elsewhere, (loop, future))
            _stranded().tell_at_thread_end(loop, future)
        self.calls.append(future)
        return future

    def drop_stranded(self) -> None:
        """See that nobody goes on with what was called on an event loop of the node's own that has stopped since."""
        for loop, future in self.elsewhere:
            _stranded().drop(loop, future)

    def _in_turn(self, limit: int) -> Any:
        raise NotImplementedError

    def _unstarted(self) -> Any:
        raise NotImplementedError

    def _future_of(self, task: Task) -> Any:
        raise NotImplementedError

    def _start(self, task: Task, future: Any) -> None:
        raise NotImplementedError

    def outcome_to(self, future: Any, outcome: Outcome) -> None:
        """Hand the outcome of a call to its future."""
        if outcome.untold is not None:
            future.set_exception(outcome.untold)
        elif outcome.is_done:
            future.set_result(returned(outcome))
        elif outcome.questions is not None:
            self.asides.extend([*outcome.asides, asking_call(outcome)])
            is_beside = Mark.read(outcome.task.mark).is_beside
            self.pause = GraphInterrupt(origin.beside(outcome.questions) if is_beside else outcome.questions)
            future.set_exception(self.pause)
        else:
            if isinstance(outcome.signal, SignoffError):
                self.refusal = outcome.signal
            self.hear_of(outcome.signal)
            self.asides.extend(outcome.asides)
            self.left_open(outcome.beside)
            if outcome.error is not None:
                self.fail(outcome.task.id, outcome.error, is_known=outcome.is_known)
            if self.made is not None:
                self.made.fail(outcome.task)
            future.set_exception(outcome.cause)

    def hear_of(self, error: BaseException | None) -> None:
        """Hear what a call has ended with. If the saver has failed, that is no failure of the task."""
        if isinstance(error, Exception) and id(error) == self.host.saver_error_id:
            self.refusal = error

    def left_open(self, questions: Iterable[Interrupt[Any]]) -> None:
        """Note what a call or a graph asks that has failed: if the task fails with it, that is still asked."""
        self.left = (*self.left, *questions)


@cache
def _stranded() -> Any:
    """Loaded when it is needed: few nodes have event loops of their own."""
    from signoff.drivers.calls import stranded

    return stranded
