"""The async driver: effects are awaited."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from signoff._loops import begun, no_loop
from signoff.checkpoint.serde.own import reading_for
from signoff.drivers.ending.aio_ending import Ending
from signoff.drivers.ending.leaving import has_left
from signoff.drivers.host import Host
from signoff.drivers.saving import holding
from signoff.drivers.saving.aio_background import AsyncBackground
from signoff.drivers.saving.piecewise import with_commits
from signoff.drivers.scopes.failing import cancelled_inside
from signoff.drivers.tasks.aio_tasks import is_called_off, late_outcome, run_task, told
from signoff.engine.effects import Await, Check, Chunk, Emit, Load, Look, Recall, Remember, Save, Stop, Tell
from signoff.engine.planning.error_handlers import ends_step
from signoff.engine.task import Outcome, Task


class Driver(Ending):
    """Performs the effects of one run."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        host.perform = self.perform
        try:
            self.loop = host.loop = asyncio.get_running_loop()
        except RuntimeError as error:
            raise no_loop("An async run", "call the sync method (invoke, stream, ...)") from error
        self._events: deque[Outcome | Chunk] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._tasks: dict[Task, asyncio.Task[None]] = {}
        self._todo: deque[Task] = deque()
        self._saver = with_commits(host.saver)
        self._deadline: float | None = None
        self._stopping: asyncio.Task[list[Outcome]] | None = None

    def perform(self, effect: Any) -> Awaitable[Any]:
        """Do what the engine asks."""
        return _PERFORM[type(effect)](self, effect)

    def push(self, chunk: Chunk) -> None:
        """Take a chunk that arose inside of a task, in whichever thread."""
        self._events.append(chunk)
        self.loop.call_soon_threadsafe(self._wake)

    # Tasks

    async def await_(self, effect: Await) -> Sequence[Outcome | Chunk]:
        start = effect.start
        if len(start) == 1 and self.host.runs_in_place and not self._tasks and not start[0].node.action.runs_apart:
            try:
                outcome = await run_task(self.host, start[0])
            except asyncio.CancelledError as error:
                if is_called_off():
                    raise
                outcome = cancelled_inside(start[0], error)
            return (outcome,) if not self._events else [*self._drained(), outcome]
        if start:
            self._start(start)
        return await self._next_events()

    def _start(self, tasks: Sequence[Task]) -> None:
        if not self._tasks and self.host.step_timeout is not None:
            self._deadline = self.loop.time() + self.host.step_timeout
        self._todo.extend(tasks)
        self._start_more()

    def _start_more(self) -> None:
        limit, is_plain = self.host.max_concurrency, self.loop.get_task_factory() is None
        while self._todo and (limit is None or len(self._tasks) < limit):
            task = self._todo.popleft()
            # What `begun` does on most loops, without a call for each of many tasks.
            work = self.loop.create_task(self._work(task)) if is_plain else begun(self.loop, self._work, task)
            self._tasks[task] = work

    async def _work(self, task: Task) -> None:
        try:
            outcome = await run_task(self.host, task)
        except asyncio.CancelledError as error:
            if self.host.is_stopping:
                return
            outcome = cancelled_inside(task, error)
        except BaseException as error:  # SystemExit and the like end the run, not just this task
            outcome = Outcome(task, signal=error)
        finally:
            del self._tasks[task]
        self._events.append(outcome)
        if self._todo:
            if ends_step(outcome):
                self._todo.clear()
            self._start_more()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _next_events(self) -> list[Outcome | Chunk]:
        """What has happened since; waits until something has."""
        while not self._events:
            self._waiter = self.loop.create_future()
            timeout = None if self._deadline is None else max(0.0, self._deadline - self.loop.time())
            try:
                await (self._waiter if timeout is None else asyncio.wait_for(self._waiter, timeout))
            except TimeoutError:
                raise TimeoutError(
                    f"The step took longer than its step_timeout of {self.host.step_timeout} s."
                ) from None
            finally:
                self._waiter = None
        return self._drained()

    def _drained(self) -> list[Outcome | Chunk]:
        events = list(self._events)
        self._events.clear()
        return events

    async def stop(self, effect: Stop) -> list[Outcome]:
        """Cancel what runs, and wait until it has ended. A run that is called off meanwhile asks for that again."""
        if self._stopping is None:
            self._todo.clear()
            self.host.is_stopping = True
            running = list(self._tasks.values())
            for task in running:
                task.cancel()
            self._stopping = begun(self.loop, self._stopped, running)
        return await asyncio.shield(self._stopping)

    async def _stopped(self, running: "Sequence[asyncio.Task[None]]") -> list[Outcome]:
        """What has finished when nothing runs any more."""
        await asyncio.gather(*running, return_exceptions=True)
        await self._end_calls()
        await self._wait_for_left()
        finished = [event for event in self._events if isinstance(event, Outcome)]
        self._events.clear()
        return finished

    async def _wait_for_left(self) -> None:
        """A thread cannot be called off. What it comes to is not lost."""
        while self.host.left:
            future, scope = self.host.left.popitem()
            await asyncio.wait({future})
            if scope is not None and (outcome := await late_outcome(scope, future)) is not None:
                self._events.append(outcome)

    async def _end_calls(self) -> None:
        """Call off the calls that tasks have made: what runs on after the run would be done again by the next one."""
        self.host.is_stopping = True
        while calls := [call for call in self.host.calls if not call.done()]:
            for call in calls:
                self.host.call_off(call)
            await asyncio.gather(*calls, return_exceptions=True)

    # Storage and streams

    async def look(self, effect: Look) -> Any:
        with reading_for(self.host.run.program.types):
            saved, standing = await self.host.the_saver.alook(effect.config)
            if standing.holder is not None and holding.is_here(standing.holder) and await has_left(standing.holder):
                saved, standing = await self.host.the_saver.alook(effect.config)
        return saved, holding.seen(standing)

    async def load(self, effect: Load) -> Any:
        if self._background is not None:
            await self._background.wait()
        saver, config = self.host.the_saver, self.host.told(effect.config)
        try:
            with reading_for((effect.program or self.host.run.program).types):
                if effect.before is None:
                    return await saver.aget_tuple(config)
                found = [saved async for saved in saver.alist(config, before=effect.before, limit=1)]
        except Exception as error:
            self.host.load_failed(error, config)
            raise
        return found[0] if found else None

    async def save(self, effect: Save) -> None:
        saver, lease = self._saver, self.host.run.lease
        assert saver is not None, "only a run with a saver saves"
        if not saver.has_leases:
            self.host.tell(effect.commits)
        if lease is not None and lease.epoch == 0:
            holding.hold(lease, saver, self.loop)
        try:
            if saver.saves_at_once:
                saver.save(effect.commits, lease, ends=effect.ends)
                effect.is_handed_over = True
                return
            if self._background is None:
                self._background = AsyncBackground(saver, self.loop)
            self._background.save(saver.prepare(effect.commits), lease, ends=effect.ends)
            effect.is_handed_over = True
            if effect.wait or not saver.stores_together:
                await self._background.wait()
        except Exception as error:
            self.host.saver_failed(error)
            raise

    async def check(self, effect: Check) -> None:
        self.host.check_writes(effect.writes)

    async def recall(self, effect: Recall) -> Any:
        assert self.host.cache is not None, "only a run with a cache recalls"
        with reading_for(self.host.run.program.types):
            return await self.host.cache.aget(effect.keys)

    async def remember(self, effect: Remember) -> None:
        assert self.host.cache is not None, "only a run with a cache remembers"
        await self.host.cache.aset(effect.pairs)

    async def emit(self, effect: Emit) -> None:
        """In a nested run: to whoever reads the outer one."""
        self.host.pass_on(effect.chunks)

    async def tell(self, effect: Tell) -> Any:
        return await told(effect)


_PERFORM: dict[type, Callable[[Driver, Any], Awaitable[Any]]] = {
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
