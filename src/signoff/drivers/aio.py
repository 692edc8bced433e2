"""The async driver: effects are awaited; tasks run on the event loop, sync functions in threads."""

import asyncio
import contextvars
import random
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from inspect import isawaitable
from typing import Any

from signoff import _scope
from signoff.drivers import holding
from signoff.drivers.host import Host, over
from signoff.drivers.saving import with_commits
from signoff.drivers.scope import Scope, questions_of
from signoff.drivers.watchdog import awaited_in_time
from signoff.drivers.workers import submit
from signoff.engine.attempt import at_once, attempt, paused_at_once
from signoff.engine.calls import perform_call
from signoff.engine.effects import (
    Await,
    Call,
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
from signoff.errors import GraphInterrupt, NodeCancelledError
from signoff.steps import adrive
from signoff.types import Interrupt


class Driver:
    """Performs the effects of one run."""

    def __init__(self, host: Host) -> None:
        self.host = host
        host.perform = self.perform
        host.loop = asyncio.get_running_loop()
        self.loop = asyncio.get_running_loop()
        self._events: deque[Outcome | Chunk] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._tasks: dict[Task, asyncio.Task[None]] = {}
        self._todo: deque[Task] = deque()
        self._saving: asyncio.Task[None] | None = None
        self._saver = with_commits(host.saver)
        self._deadline: float | None = None
        self._is_stopping = False

    def perform(self, effect: Any) -> Awaitable[Any]:
        """Do what the engine asks."""
        return _PERFORM[type(effect)](self, effect)

    def push(self, chunk: Chunk) -> None:
        """Take a chunk that arose inside of a task, in whichever thread."""
        self._events.append(chunk)
        self.loop.call_soon_threadsafe(self._wake)

    async def close(self) -> None:
        """Wait until all is stored, and let go of the thread."""
        try:
            if self.host.calls:
                await self._end_calls()
            await self._all_stored()
        finally:
            # Else these keep each other, and all of the run, in memory.
            self.host.perform, self.host.sink = over, None
            if self.host.run.lease is not None and self.host.parent is None:
                holding.let_go(self.host.run.lease)

    async def _all_stored(self) -> None:
        if self._saving is not None:
            saving, self._saving = self._saving, None
            await asyncio.shield(saving)

    # Tasks

    async def await_(self, effect: Await) -> Sequence[Outcome | Chunk]:
        start = effect.start
        if len(start) == 1 and self.host.runs_in_place and not self._tasks:
            outcome = await self._in_place(start[0])
            return (outcome,) if not self._events else [*self._drained(), outcome]
        if start:
            self._start(start)
        return await self._next_events()

    async def _in_place(self, task: Task) -> Outcome:
        try:
            return await run_task(self.host, task)
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            return Outcome(task, error=NodeCancelledError(task.name))

    def _start(self, tasks: Sequence[Task]) -> None:
        if not self._tasks and self.host.step_timeout is not None:
            self._deadline = self.loop.time() + self.host.step_timeout
        self._todo.extend(tasks)
        self._start_more()

    def _start_more(self) -> None:
        limit = self.host.max_concurrency
        while self._todo and (limit is None or len(self._tasks) < limit):
            task = self._todo.popleft()
            self._tasks[task] = self.loop.create_task(self._work(task))

    async def _work(self, task: Task) -> None:
        try:
            outcome = await run_task(self.host, task)
        except asyncio.CancelledError:
            if self._is_stopping:
                return
            outcome = Outcome(task, error=NodeCancelledError(task.name))
        except BaseException as error:  # SystemExit and the like end the run, not just this task
            outcome = Outcome(task, signal=error)
        finally:
            del self._tasks[task]
        self._events.append(outcome)
        if self._todo:
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
        """Cancel what runs, and wait until it has ended."""
        self._todo.clear()
        self._deadline = None
        self._is_stopping = self.host.is_stopping = True
        running = list(self._tasks.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._end_calls()
        finished = [event for event in self._events if isinstance(event, Outcome)]
        self._events.clear()
        return finished

    async def _end_calls(self) -> None:
        """Call off the calls that tasks have made: what runs on after the run would be done again by the next one."""
        self.host.is_stopping = True
        while calls := list(self.host.calls):
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    # Storage and streams

    async def look(self, effect: Look) -> Any:
        saved, standing = await self.host.the_saver.alook(effect.config)
        return saved, holding.seen(standing)

    async def load(self, effect: Load) -> Any:
        await self._all_stored()
        saver = self.host.the_saver
        if effect.before is None:
            return await saver.aget_tuple(effect.config)
        found = [saved async for saved in saver.alist(effect.config, before=effect.before, limit=1)]
        return found[0] if found else None

    async def save(self, effect: Save) -> None:
        saver, lease = self._saver, self.host.run.lease
        assert saver is not None, "only a run with a saver saves"
        if lease is not None and lease.epoch == 0:
            holding.hold(lease, saver)
        if saver.saves_at_once:
            return saver.save(effect.commits, lease, ends=effect.ends)
        prepared = saver.prepare(effect.commits)
        before = self._saving
        self._saving = self.loop.create_task(self._store(prepared, effect.ends, before))
        if effect.wait:
            # A cancelled run still finishes what it began to store.
            await self._all_stored()
        return None

    async def _store(self, prepared: Any, ends: bool, before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await before
        assert self._saver is not None, "only a run with a saver saves"
        await self._saver.astore(prepared, self.host.run.lease, ends=ends)

    async def recall(self, effect: Recall) -> Any:
        assert self.host.cache is not None, "only a run with a cache recalls"
        return await self.host.cache.aget(effect.keys)

    async def remember(self, effect: Remember) -> None:
        assert self.host.cache is not None, "only a run with a cache remembers"
        await self.host.cache.aset(effect.pairs)

    async def emit(self, effect: Emit) -> None:
        """In a nested run: to whoever reads the outer one."""
        self.host.pass_on(effect.chunks)

    async def tell(self, effect: Tell) -> Any:
        return await _told(effect)


_PERFORM: dict[type, Callable[[Driver, Any], Awaitable[Any]]] = {
    Await: Driver.await_,
    Stop: Driver.stop,
    Look: Driver.look,
    Load: Driver.load,
    Save: Driver.save,
    Recall: Driver.recall,
    Remember: Driver.remember,
    Emit: Driver.emit,
    Tell: Driver.tell,
}


async def _told(effect: Tell) -> Any:
    said = effect.notify()
    return await said if isawaitable(said) else said


async def run_task(host: Host, task: Task) -> Outcome:
    """Run a task to its outcome, with its scope in the context."""
    scope = AsyncScope(host, task)
    token = _scope.running.set(scope)
    try:
        if host.observer is None and task.node.action.is_abare and task.timeout is None:
            return await _run_bare(task, host.run.program, scope)
        steps = attempt(task, host.run.program, scope)
        if host.observer is not None:
            steps = host.observer.watched(steps, scope)
        return await adrive(steps, scope.perform)
    finally:
        _scope.running.reset(token)


async def _run_bare(task: Task, program: Program, scope: "AsyncScope") -> Outcome:
    """Run a task that is a coroutine function of its input. The procedure is made only if that is not all."""
    failure: BaseException | None = None
    try:
        output = await task.node.action.afunc(task.input)  # type: ignore[misc]
        if (outcome := at_once(task, scope, output)) is not None:
            return outcome
    except GraphInterrupt as pause:
        if (outcome := paused_at_once(task, scope, pause)) is not None:
            return outcome
        failure = pause
    except BaseException as error:
        failure = error
    steps = attempt(task, program, scope)
    next(steps)  # asks for the call that was made already
    try:
        return await adrive(steps, scope.perform, lambda: steps.throw(failure) if failure else steps.send(output))
    finally:
        failure = None  # an error that its own traceback leads to is not freed at once


class AsyncScope(Scope):
    """The scope of a task that runs on an event loop."""

    __slots__ = ()

    def perform(self, effect: Any) -> Awaitable[Any]:
        """Do what an attempt asks."""
        if type(effect) is Call:
            called = self._call(effect)
            return called if effect.timeout is None else awaited_in_time(self, effect.timeout, called)
        if type(effect) is Sleep:
            return asyncio.sleep(effect.seconds + (random.random() if effect.jitter else 0))
        if type(effect) is Settle:
            return self._settle()
        return _told(effect)

    async def _settle(self) -> tuple[Interrupt[Any], ...]:
        calls = [asyncio.wrap_future(call) if not asyncio.isfuture(call) else call for call in self.calls]
        return questions_of(await asyncio.gather(*map(_error_of, calls)))

    def _unstarted(self) -> Any:
        return self._new_future()

    def _start(self, task: Task) -> Any:
        future = self._new_future()
        context = contextvars.copy_context()
        if asyncio.isfuture(future):
            self._keep(self.host.loop.create_task(self._run_call(task, future), context=context))
        else:
            self.host.loop.call_soon_threadsafe(
                lambda: self._keep(self.host.loop.create_task(self._run_call(task, future), context=context))
            )
        return future

    def _keep(self, running: "asyncio.Task[None]") -> None:
        """The loop itself keeps only weak references to its tasks."""
        self.host.calls.add(running)
        running.add_done_callback(self.host.calls.discard)

    def _new_future(self) -> Any:
        """A future to await on the loop, or to wait for in a thread that a sync node runs in."""
        try:
            return asyncio.get_running_loop().create_future()
        except RuntimeError:
            from concurrent.futures import Future

            return Future()

    async def _run_call(self, task: Task, future: Any) -> None:
        try:
            outcome = await adrive(perform_call(self.host.run, task), self._perform_for_call)
        except BaseException as error:
            if not future.done():
                future.set_exception(error)
            if isinstance(error, asyncio.CancelledError):
                raise
            return  # whoever waits for the call hears of it
        if not future.done():
            self.outcome_to(future, outcome)

    async def _perform_for_call(self, effect: Any) -> Any:
        if type(effect) is Await:
            return (await run_task(self.host, effect.start[0]),)
        return await self.host.perform(effect)

    def _call(self, effect: Call) -> Awaitable[Any]:
        action = effect.action
        if action.afunc is not None and not action.takes:
            return action.afunc(effect.input)  # type: ignore[no-any-return]
        extra = {name: self.argument(name) for name in action.takes}
        if action.afunc is not None:
            return action.afunc(effect.input, **extra)  # type: ignore[no-any-return]
        assert action.func is not None, "an action is sync, async or both"
        return in_thread(partial(action.func, effect.input, **extra), self.host, inline=action.runs_inline)


async def _error_of(future: "asyncio.Future[Any]") -> BaseException | None:
    """How a call ended, without raising it."""
    await asyncio.wait({future})
    return None if future.cancelled() else future.exception()


async def in_thread(func: Callable[[], Any], host: Host, *, inline: bool = False) -> Any:
    """The result of a sync function, called in a worker thread with this context."""
    if host.is_stopping:
        raise asyncio.CancelledError  # the run is over: nothing begins any more
    if inline:
        return func()
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(func)
        except BaseException as error:
            _post(loop, future, future.set_exception, error)
        else:
            _post(loop, future, future.set_result, result)

    submit(work)
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        if not host.is_stopping:
            raise
        # A thread cannot be called off. What it comes to is not lost, though its siblings made the run stop.
        await asyncio.wait({future})
        return future.result()


def _post(
    loop: asyncio.AbstractEventLoop, future: "asyncio.Future[Any]", put: Callable[[Any], None], value: Any
) -> None:
    """Hand a result to the loop, which may have closed, or given up on it, meanwhile."""
    if isinstance(value, StopIteration):
        value = RuntimeError("a node raised StopIteration")
    try:
        loop.call_soon_threadsafe(lambda: None if future.done() else put(value))
    except RuntimeError:
        pass
