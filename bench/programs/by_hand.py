"""A question and its answer with no engine around them: one node with one key, written out by hand.

It keeps what is promised of a question, and knows nothing else: a lease with an epoch that every write carries, two
commits a call, an index of what is open, the place in the code and the words of what was asked.
"""

import sys
import time
from contextvars import ContextVar
from hashlib import blake2b
from itertools import count
from threading import RLock
from types import CodeType
from typing import Any
from zlib import crc32

import msgpack

from bench.library import Library
from bench.measuring import Work
from signoff.checkpoint.ids import stamp
from signoff.errors import AlreadyAnswered, GraphInterrupt, InvalidInput, LeaseLost, QuestionsOpen, ThreadBusy
from signoff.types import Interrupt

Values = dict[str, Any]


class Thread:
    """All that is stored of a thread."""

    __slots__ = ("changes", "epoch", "holder", "moments", "newest", "open", "values", "writes")

    def __init__(self) -> None:
        self.epoch = self.changes = 0
        self.holder: str | None = None
        self.moments: dict[str, Any] = {}
        self.writes: dict[str, list[Any]] = {}
        self.values: Values = {}
        self.open: dict[str, Interrupt] = {}
        self.newest: str | None = None


class Task:
    """One execution of the node."""

    __slots__ = ("answers", "id", "place")

    def __init__(self, id: str, answers: dict[str, Any]) -> None:
        self.id, self.answers, self.place = id, answers, 0


_running: ContextVar[Task] = ContextVar("running")
_digests: dict[CodeType, str] = {}


def _digest(data: bytes, size: int) -> str:
    return blake2b(data, digest_size=size).hexdigest()


def ask(value: Any) -> Any:
    """What `interrupt` does: the answer, if there is one for what is asked here; else the task ends."""
    task = _running.get()
    id = _digest(f"{task.id}\0{task.place}".encode(), 16)
    task.place += 1
    origin = {"site": _site(), "payload": _digest(msgpack.packb(value), 8)}
    if id not in task.answers:
        raise GraphInterrupt((Interrupt(value, id, origin={**origin, "at": time.time_ns()}),))
    answer = task.answers[id]
    asked = answer["asked"]
    assert asked["site"] == origin["site"] or asked["payload"] == origin["payload"], "the same is asked as before"
    return answer["value"]


def _site() -> list[list[Any]]:
    """The way from the question out to the node."""
    frame, site = sys._getframe(2), []
    while frame is not None and frame.f_code is not ByHand.run.__code__:
        code = frame.f_code
        digest = _digests.get(code) or _digests.setdefault(code, _digest(code.co_code, 6))
        site.append([code.co_name, digest, frame.f_lasti])
        frame = frame.f_back  # type: ignore[assignment]
    return site


def node(state: Values) -> Values:
    """The node."""
    return {"x": ask("how much?")}


class ByHand:
    """The program, and what it stores."""

    def __init__(self) -> None:
        self.threads: dict[str, Thread] = {}
        self.lock = RLock()
        self.runs = count()

    def begin(self, input: Values, thread_id: str) -> Values:
        """A call with new input."""
        holder, thread, seen = self.look(thread_id)
        if thread.open:
            raise QuestionsOpen(thread_id)
        if not input.keys() <= {"x"}:
            raise InvalidInput(repr(input))
        first, first_at = stamp(thread.newest)
        second, second_at = stamp(first)
        with self.lock:
            epoch = self.take(thread, seen, holder)
            self.threads[thread_id] = thread
            thread.moments[first] = first_at, "input", -1, thread.newest, {"__start__": {**input}}
            thread.moments[second] = second_at, "loop", 0, first, {**input}
            thread.values.update(input)
            thread.newest = second
        return self.step(thread, epoch, second, {})

    def answer(self, value: Any, thread_id: str) -> Values:
        """A call with an answer."""
        holder, thread, seen = self.look(thread_id)
        at = thread.newest or ""
        asked = [one for _, questions in thread.writes.get(at, ()) for one in questions if one.id in thread.open]
        if len(asked) != 1:
            raise AlreadyAnswered(thread_id)
        answer = {"value": value, "at": time.time_ns(), "asked": asked[0].origin, "shown": repr(asked[0].value)}
        with self.lock:
            epoch = self.take(thread, seen, holder)
            thread.writes[at].append((asked[0].id, (answer,)))
            del thread.open[asked[0].id]
        return self.step(thread, epoch, at, {asked[0].id: answer})

    def look(self, thread_id: str) -> tuple[str, Thread, tuple[int, int]]:
        """A name for this run, and the thread as it stands."""
        with self.lock:
            thread = self.threads.get(thread_id) or Thread()
            if thread.holder is not None:
                raise ThreadBusy(thread_id)
            return f"run {next(self.runs)}", thread, (thread.epoch, thread.changes)

    def take(self, thread: Thread, seen: tuple[int, int], holder: str) -> int:
        """Take the thread, if it stands as it was seen."""
        if (thread.epoch, thread.changes) != seen:
            raise ThreadBusy(holder)
        thread.epoch += 1 + (crc32(holder.encode()) >> 12)
        thread.changes += 1
        thread.holder = holder
        return thread.epoch

    def step(self, thread: Thread, epoch: int, at: str, answers: dict[str, Any]) -> Values:
        """Run the node, and store what it comes to."""
        task, values = Task(f"{at[:24]}000000000001", answers), {**thread.values}
        result, asked = self.run(task, values)
        id, at_ns = stamp(at) if not asked else (at, 0)
        with self.lock:
            if thread.epoch != epoch:
                raise LeaseLost(at)
            thread.changes += 1
            thread.holder = None
            thread.writes.setdefault(at, []).append((task.id, asked or (result,)))
            thread.open = {one.id: one for one in asked}
            if not asked:
                thread.moments[id] = at_ns, "loop", 1, at, result
                thread.values.update(result)
                thread.newest = id
        return {**values, "__interrupt__": [*asked]} if asked else {**values, **result}

    def run(self, task: Task, state: Values) -> tuple[Values, tuple[Interrupt, ...]]:
        """The result of the node, or what it asks."""
        token = _running.set(task)
        try:
            return node(state), ()
        except GraphInterrupt as pause:
            return {}, pause.interrupts
        finally:
            _running.reset(token)


def question(lib: Library) -> Work:
    """A call that pauses with a question, and the one that answers it."""
    program, names = ByHand(), map(str, count())

    def ask_and_answer() -> None:
        thread_id = next(names)
        program.begin({"x": 0}, thread_id)
        assert program.answer(5, thread_id) == {"x": 5}, "the answer arrived"

    return Work(ask_and_answer, tidy=program.threads.clear)
