"""The sync driver: effects are performed by calling; several tasks run in threads, a lone one in place."""

import contextvars
import random
import sys
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from queue import Empty, SimpleQueue
from typing import Any

from signoff import _scope
from signoff.checkpoint.serde.own import reading_for
from signoff.drivers import holding
from signoff.drivers.background import Background
from signoff.drivers.host import Host, over
from signoff.drivers.saving import with_commits
from signoff.drivers.scope import Scope, cancelled_inside, questions_of
from signoff.drivers.workers import Crew
from signoff.engine.attempt import at_once, attempt, paused_at_once
from signoff.engine.calls import perform_call
from signoff.engine.effects import (
    Await,
    Call,
    Check,
    Chunk,
    Emit,
    Load,
    Look,
    Recall,
    Remember,
    Save,
    Settle,
    Sleep,
    Stop,
    Tell,
)
from signoff.engine.program import Program
from signoff.engine.task import Outcome, Task
from signoff.errors import GraphInterrupt, NeedsAsync
from signoff.steps import drive

MAX_THREADS = 64
"""How many tasks of one run are worked on at a time, unless the caller sets max_concurrency."""


class Driver:
    """Performs the effects of one run."""

    def __init__(self, host: Host) -> None:
        self.host = host
        host.perform = self.perform
        self.events: SimpleQueue[Outcome | Chunk] = SimpleQueue()
        self._background: Background | None = None
        self._saver = with_commits(host.saver) if host.saver is not None else None
        self._crew: Crew | None = None
        self._running = 0
        self._deadline: float | None = None

    def perform(self, effect: Any) -> Any:
        """Do what the engine asks."""
        return _PERFORM[type(effect)](self, effect)

    def push(self, chunk: Chunk) -> None:
        """Take a chunk that arose inside of a task, in whichever thread."""
        self.events.put(chunk)

    def close(self) -> None:
        """Wait until all is stored, and let go of the thread."""
        try:
            if self._background is not None:
                self._background.wait()
        except Exception as error:
            self.host.saver_failed(error)
            self.host.tell_around(error)
            raise
        finally:
            # Else these keep each other, and all of the run, in memory.
            self.host.perform, self.host.sink, self._crew = over, None, None
            if self.host.run.lease is not None and self.host.parent is None:
                holding.let_go(self.host.run.lease)

    # Tasks

    def await_(self, effect: Await) -> Sequence[Outcome | Chunk]:
        start = effect.start
        if len(start) == 1 and self.host.runs_in_place and not self._running:
            outcome = run_task(self.host, start[0])
            return (outcome,) if self.events.empty() else [*self._drained(), outcome]
        if start:
            self._start(start)
        return self._next_events()

    def _start(self, tasks: Sequence[Task]) -> None:
        if self._crew is None:
            self._crew = Crew(self._work, self.host.max_concurrency or MAX_THREADS)
        if not self._running and self.host.step_timeout is not None:
            self._deadline = time.monotonic() + self.host.step_timeout
        self._running += len(tasks)
        self._crew.start([(contextvars.copy_context(), task) for task in tasks])

    def _work(self, job: tuple[contextvars.Context, Task]) -> None:
        context, task = job
        try:
            outcome = context.run(run_task, self.host, task)
        except BaseException as error:  # SystemExit and the like end the run, not just this thread
            outcome = Outcome(task, signal=error)
        self.events.put(outcome)

    def _next_events(self) -> list[Outcome | Chunk]:
        """What has happened since; waits until something has."""
        try:
            events = [self.events.get(timeout=self._time_left())]
        except Empty:
            raise TimeoutError(f"The step took longer than its step_timeout of {self.host.step_timeout} s.") from None
        events += self._drained()
        self._running -= sum(type(event) is Outcome for event in events)
        return events

    def _drained(self) -> list[Outcome | Chunk]:
        events = []
        while not self.events.empty():
            events.append(self.events.get())
        return events

    def _time_left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def stop(self, effect: Stop) -> list[Outcome]:
        """Threads cannot be cancelled: what runs is waited for."""
        if self._crew is not None:
            self._running -= self._crew.call_off()
        self._deadline = None
        finished: list[Outcome] = []
        while self._running:
            finished += [event for event in self._next_events() if isinstance(event, Outcome)]
        return finished

    # Storage and streams

    def look(self, effect: Look) -> Any:
        with reading_for(self.host.run.program.types):
            saved, standing = self.host.the_saver.look(effect.config)
        return saved, holding.seen(standing)

    def load(self, effect: Load) -> Any:
        if self._background is not None:
            self._background.wait()
        saver = self.host.the_saver
        try:
            with reading_for((effect.program or self.host.run.program).types):
                if effect.before is not None:
                    return next(iter(saver.list(effect.config, before=effect.before, limit=1)), None)
                return saver.get_tuple(effect.config)
        except Exception as error:
            self.host.saver_failed(error)
            raise

    def save(self, effect: Save) -> None:
        saver, lease = self._saver, self.host.run.lease
        assert saver is not None, "only a run with a saver saves"
        if lease is not None and lease.epoch == 0:
            holding.hold(lease, saver)
        try:
            if saver.saves_at_once:
                return saver.save(effect.commits, lease, ends=effect.ends)
            prepared = saver.prepare(effect.commits)
            if effect.wait:
                if self._background is not None:
                    self._background.wait()
                return saver.store(prepared, lease, ends=effect.ends)
            if self._background is None:
                self._background = Background(saver)
            return self._background.save(prepared, lease, ends=effect.ends)
        except Exception as error:
            self.host.saver_failed(error)
            raise

    def check(self, effect: Check) -> None:
        self.host.the_saver.serde.dumps_typed(dict(effect.writes))

    def recall(self, effect: Recall) -> Any:
        assert self.host.cache is not None, "only a run with a cache recalls"
        with reading_for(self.host.run.program.types):
            return self.host.cache.get(effect.keys)

    def remember(self, effect: Remember) -> None:
        assert self.host.cache is not None, "only a run with a cache remembers"
        self.host.cache.set(effect.pairs)

    def emit(self, effect: Emit) -> None:
        """In a nested run: to whoever reads the outer one."""
        self.host.pass_on(effect.chunks)

    def tell(self, effect: Tell) -> Any:
        return effect.notify()


_PERFORM: dict[type, Callable[[Driver, Any], Any]] = {
    Await: Driver.await_,
    Stop: Driver.stop,
    Look: Driver.look,
    Load: Driver.load,
    Save: Driver.save,
    Check: Driver.check,
    Recall: Driver.recall,
    Remember: Driver.remember,
    Emit: Driver.emit,
    Tell: Driver.tell,
}


def run_task(host: Host, task: Task) -> Outcome:
    """Run a task to its outcome, with its scope in the context."""
    scope = SyncScope(host, task)
    token = _scope.running.set(scope)
    try:
        if host.observer is None and task.node.action.is_bare:
            return _run_bare(task, host.run.program, scope)
        steps = attempt(task, host.run.program, scope)
        if host.observer is not None:
            steps = host.observer.watched(steps, scope)
        return scope.come_to(drive(steps, scope.perform))
    except BaseException as error:  # SystemExit and the like
        scope.call_off()
        if _is_cancellation(error):
            return cancelled_inside(task, error)
        raise
    finally:
        _scope.running.reset(token)


def _run_bare(task: Task, program: Program, scope: "SyncScope") -> Outcome:
    """Run a task that is a function of its input. The procedure is made only if that is not all."""
    failure: BaseException | None = None
    try:
        output = task.node.action.func(task.input)  # type: ignore[misc]
        if (outcome := at_once(task, scope, output)) is not None:
            return outcome
    except GraphInterrupt as pause:
        if (outcome := paused_at_once(task, scope, pause)) is not None:
            return scope.come_to(outcome)
        failure = pause
    except BaseException as error:
        failure = error
    steps = attempt(task, program, scope)
    next(steps)  # asks for the call that was made already
    try:
        outcome = drive(steps, scope.perform, lambda: steps.throw(failure) if failure else steps.send(output))
        return scope.come_to(outcome)
    finally:
        failure = None  # an error that its own traceback leads to is not freed at once


class SyncScope(Scope):
    """The scope of a task that runs in a thread."""

    __slots__ = ()

    def perform(self, effect: Any) -> Any:
        """Do what an attempt asks."""
        if type(effect) is Call:
            action = effect.action
            if action.func is None:
                raise _is_async(action.name)
            if action.takes:
                return action.func(effect.input, **{name: self.argument(name) for name in action.takes})
            return action.func(effect.input)
        if type(effect) is Sleep:
            return time.sleep(effect.seconds + (random.uniform(0, 1) if effect.jitter else 0))
        if type(effect) is Settle:
            unclear = (future for future in self.calls if not (future.has_result or future.cancelled()))
            return questions_of(future.exception() for future in unclear)
        return effect.notify()

    def call_off(self) -> None:
        """The run ends: the calls that nobody has begun with are not made, and those under way are waited for."""
        self.is_over = True
        for future in self.calls:
            if not (future.cancel() or future.has_result):
                future.exception()

    def _unstarted(self) -> Any:
        return _futures().CallFuture.of_known()

    def _start(self, task: Task) -> Any:
        future = _futures().CallFuture(partial(self._run_call, task), contextvars.copy_context())
        future.start()
        return future

    def _run_call(self, task: Task, future: Any) -> None:
        try:
            self.outcome_to(future, drive(perform_call(self.host.run, task), self._perform_for_call))
        except BaseException as error:
            self.hear_of(error)
            future.set_exception(error)

    def _perform_for_call(self, effect: Any) -> Any:
        if type(effect) is Await:
            return (run_task(self.host, effect.start[0]),)
        return self.host.perform(effect)


def _is_cancellation(error: BaseException) -> bool:
    """Whether an event loop inside of a task was cancelled. Nobody can cancel the task itself."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and isinstance(error, asyncio.CancelledError)


@cache
def _futures() -> Any:
    """Loaded when they are needed: most runs are graphs without calls."""
    from signoff.drivers import futures

    return futures


def _is_async(name: str) -> NeedsAsync:
    return NeedsAsync(f"{name!r} is async, and this is a sync run. Call the graph with ainvoke, astream or abatch.")
