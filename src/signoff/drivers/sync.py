"""The sync driver: effects are performed by calling; several tasks run in threads, a lone one in place."""

import contextvars
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from signoff._forks import free
from signoff._locks import Lock
from signoff.checkpoint.serde.own import reading_for
from signoff.drivers.host import Host, over
from signoff.drivers.saving import holding
from signoff.drivers.saving.background import Background
from signoff.drivers.saving.piecewise import with_commits
from signoff.drivers.tasks.sync_tasks import run_task
from signoff.drivers.workers import Crew
from signoff.engine.effects import Await, Check, Chunk, Emit, Load, Look, Recall, Remember, Save, Stop, Tell
from signoff.engine.planning.error_handlers import ends_step
from signoff.engine.task import Outcome, Task

MAX_THREADS = 64
"""How many tasks of one run are worked on at a time, unless the caller sets max_concurrency."""

_first = free(Lock())


class Driver:
    """Performs the effects of one run."""

    def __init__(self, host: Host) -> None:
        self.host = host
        host.perform = self.perform
        self.events: SimpleQueue[Any] = SimpleQueue()
        """What happens in tasks."""
        self._background: Background | None = None
        self._saver = with_commits(host.saver) if host.saver is not None else None
        self._crew: Crew | None = None
        self._running = 0
        self._ended: list[Outcome] = []
        """What the tasks of a step have come to: a signal may be heard in the moment in which the run hears of one."""
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
            if self.host.run.holder and self.host.parent is None:
                holding.let_go(self.host.run.holder)

    # Tasks

    def await_(self, effect: Await) -> Sequence[Outcome | Chunk]:
        start = effect.start
        if len(start) == 1 and self.host.runs_in_place and not self._running:
            self._ended = []
            outcome = run_task(self.host, start[0], self._ended)
            return (outcome,) if self.events.empty() else [*self._drained(), outcome]
        if start:
            self._start(start)
        return self._next_events()

    def _start(self, tasks: Sequence[Task]) -> None:
        if self._crew is None:
            self._crew = Crew(self._work, self.host.max_concurrency or MAX_THREADS)
        if not self._running and self.host.step_timeout is not None:
            self._deadline = time.monotonic() + self.host.step_timeout
        if not self._running:
            self._ended = []
        self._running += len(tasks)
        self._crew.start([(contextvars.copy_context(), task) for task in tasks])

    def _work(self, job: tuple[contextvars.Context, Task]) -> None:
        context, task = job
        try:
            outcome = context.run(run_task, self.host, task, self._ended)
        except BaseException as error:  # SystemExit and the like end the run, not just this thread
            outcome = Outcome(task, signal=error)
        if self.host.max_concurrency is not None and ends_step(outcome):
            self._forget_rest()
        self.events.put(outcome)

    def _forget_rest(self) -> None:
        """Nothing more of the step begins. Without a limit all of it has, though one thread may do it in a row."""
        if self._crew is not None:
            self._crew.forget()

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
            # Not by counting what was heard of: a signal may have been, in the moment in which a task was.
            at_rest: SimpleQueue[None] = SimpleQueue()
            self._crew.call_off(partial(at_rest.put, None))
            at_rest.get()
        return self._ended

    # Storage and streams

    def look(self, effect: Look) -> Any:
        with reading_for(self.host.run.program.types):
            saved, standing = self.host.the_saver.look(effect.config)
        return saved, holding.seen(standing)

    def load(self, effect: Load) -> Any:
        if self._background is not None:
            self._background.wait()
        saver, config = self.host.the_saver, self.host.told(effect.config)
        try:
            with reading_for((effect.program or self.host.run.program).types):
                if effect.before is not None:
                    return next(iter(saver.list(config, before=effect.before, limit=1)), None)
                return saver.get_tuple(config)
        except Exception as error:
            self.host.load_failed(error, config)
            raise

    def save(self, effect: Save) -> None:
        saver, lease = self._saver, self.host.run.lease
        assert saver is not None, "only a run with a saver saves"
        if not saver.has_leases:
            self.host.tell(effect.commits)
        if lease is not None and lease.epoch == 0:
            holding.hold(lease, saver)
        try:
            if saver.saves_at_once:
                saver.save(effect.commits, lease, ends=effect.ends)
            elif effect.wait or not saver.stores_together:
                prepared = saver.prepare(effect.commits)
                if self._background is not None:
                    self._background.wait()
                saver.store(prepared, lease, ends=effect.ends)
            else:
                prepared = saver.prepare(effect.commits)
                self._beside(saver).save(prepared, lease, ends=effect.ends)
            effect.is_handed_over = True
        except Exception as error:
            self.host.saver_failed(error)
            raise

    def _beside(self, saver: Any) -> Background:
        """What stores beside the run: one thing, though calls in several threads may be the first to need it."""
        if self._background is None:
            with _first:
                self._background = self._background or Background(saver)
        return self._background

    def check(self, effect: Check) -> None:
        self.host.check_writes(effect.writes)

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
