"""Tasks on an event loop: coroutines right there, sync functions in threads."""

import asyncio
import contextvars
import random
from collections.abc import Awaitable
from concurrent.futures import InvalidStateError
from contextlib import suppress
from functools import partial
from inspect import isawaitable
from typing import Any

from signoff import _scope
from signoff._ambient import OF_TASK
from signoff._loops import begun, hear, running_loop
from signoff._words.questions import Interrupt
from signoff.drivers.calls.aio_futures import CallFuture, CallOfThread, ThreadFuture
from signoff.drivers.calls.turns import Turns
from signoff.drivers.host import Host
from signoff.drivers.scopes.calling import questions_of
from signoff.drivers.scopes.scope import Scope
from signoff.drivers.tasks.aio_threads import in_thread
from signoff.drivers.tasks.watchdog import awaited_in_time
from signoff.engine.attempts.attempt import at_once, attempt, paused_at_once
from signoff.engine.calls.task_calls import perform_call
from signoff.engine.effects import Await, Call, Settle, Sleep, Tell
from signoff.engine.program import Program
from signoff.engine.task import Outcome, Task
from signoff.errors import GraphBubbleUp, GraphInterrupt, NeedsAsync
from signoff.steps import adrive


async def told(effect: Tell) -> Any:
    """Notify somebody who watches."""
    said = effect.notify()
    return await said if isawaitable(said) else said


async def run_task(host: Host, task: Task) -> Outcome:
    """Run a task to its outcome, with its scope in the context."""
    scope = AsyncScope(host, task)
    token = _scope.running.set(scope)
    outside = host.ambient.set(OF_TASK) if host.ambient is not None else None
    try:
        if host.observer is None and task.node.is_abare and task.timeout is None:
            try:
                output = await task.node.action.afunc(task.input)  # type: ignore[misc]
                outcome = at_once(task, scope, output)
            except BaseException as error:
                return await _come_out(task, host.run.program, scope, failure=error)
            return outcome or await _come_out(task, host.run.program, scope, output)
        steps = attempt(task, host.run.program, scope)
        if host.observer is not None:
            steps = host.observer.watched(steps, scope)
        return scope.come_to(await adrive(steps, scope.perform))
    except BaseException:
        scope.is_over = True
        if task.is_call and scope.calls:
            await scope.end_calls()
        raise
    finally:
        _scope.running.reset(token)
        if outside is not None:
            host.ambient.reset(outside)


async def _come_out(
    task: Task, program: Program, scope: "AsyncScope", output: Any = None, failure: BaseException | None = None
) -> Outcome:
    """The outcome of a task whose coroutine function was awaited already, if there is more to it than a result."""
    if isinstance(failure, GraphInterrupt) and (outcome := paused_at_once(task, scope, failure)) is not None:
        return scope.come_to(outcome)
    steps = attempt(task, program, scope)
    next(steps)  # asks for the call that was made already
    try:
        outcome = await adrive(
            steps, scope.perform, lambda: steps.send(output) if failure is None else steps.throw(failure)
        )
        return scope.come_to(outcome)
    finally:
        failure = None  # an error that its own traceback leads to is not freed at once


async def late_outcome(scope: "AsyncScope", function: "asyncio.Future[Any]") -> Outcome | None:
    """What a task came to whose function, or edge, was still at work, in a thread, when its run was called off."""
    token = _scope.running.set(scope)
    failure = scope.led_by if scope.is_at_edges else function.exception()
    try:
        output = scope.output if scope.is_at_edges else function.result() if failure is None else None
        return await _come_out(scope.task, scope.host.run.program, scope, output, failure)
    except (asyncio.CancelledError, GraphBubbleUp):
        return None  # nothing is tried again, and no call begins any more
    finally:
        failure = None
        _scope.running.reset(token)


class AsyncScope(Scope):
    """The scope of a task that runs on an event loop."""

    __slots__ = ()

    def perform(self, effect: Any) -> Awaitable[Any]:
        """Do what an attempt asks."""
        if type(effect) is Call:
            if effect.concludes:
                return self._choose(effect)
            if effect.timeout is not None:
                if effect.action.afunc is None and not effect.action.runs_inline:
                    raise _is_endless(effect.action.name)
                return self._call_in_time(effect)
            return self._call(effect)
        if type(effect) is Sleep:
            return self._sleep(effect)
        if type(effect) is Settle:
            return self._settle(effect.concludes) if not effect.fails else self._give_up()
        return told(effect) if not effect.concludes else self._told_at_last(effect)

    async def _told_at_last(self, effect: Tell) -> Any:
        """What the task came to counts, whether everybody has heard of it or not."""
        try:
            return None if self.host.is_stopping else await told(effect)
        except asyncio.CancelledError:
            if not (self.host.is_stopping or self.task.is_call):
                raise
            return None

    async def _choose(self, effect: Call) -> Any:
        """Where a conditional edge leads. Its task has done its work: if the run is called off, it is asked again."""
        self.is_at_edges = True
        try:
            return await self._call_in_time(effect)
        except asyncio.CancelledError:
            if self.host.is_stopping:
                return await self._call(effect)
            if effect.action.afunc is not None and is_called_off():
                self.host.left[_done(self.output)] = self
            raise

    async def _sleep(self, effect: Sleep) -> None:
        if self.host.is_stopping:
            raise asyncio.CancelledError  # nothing is tried again
        await asyncio.sleep(effect.seconds + (random.uniform(0, 1) if effect.jitter else 0))

    async def _settle(self, concludes: bool = False) -> tuple[Interrupt[Any], ...]:
        self.drop_stranded()
        while await self._has_more(concludes):
            running = [call for call in self.calls if not call.done()]
            await asyncio.wait([call if asyncio.isfuture(call) else _wrapped(call) for call in running])
        return questions_of(None if call.cancelled() else call.exception() for call in self.calls)

    async def _give_up(self) -> tuple[Interrupt[Any], ...]:
        """The same where the task has failed: calls whose turn has not come are not made."""
        if self.turns is None:
            return await self._settle()
        with self.turns.over():
            return await self._settle()

    async def _has_more(self, concludes: bool) -> bool:
        """Whether calls are under way. What others have woken, beside the task, goes on and may make the next one."""
        if self.is_branched and all(call.done() for call in self.calls):
            try:
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                # A task that has failed, or asks, need not end if its run is called off: it would start over.
                if not (self.host.is_stopping or (concludes and self._counts())):
                    raise
        return not all(call.done() for call in self.calls)

    def _counts(self) -> bool:
        """Whether a task that has done its work comes to its end though it is called off. So does a call.

        One that is called off with its run, since it is in the place of that, does not; but the run hears of it.
        """
        if not self.task.is_call and is_called_off():
            self.host.left[_done(self.output)] = self
        return self.task.is_call

    async def end_calls(self) -> None:
        """Call off the calls of a call that is called off itself, and wait for those that threads are at."""
        for call in list(self.calls):
            if not isinstance(call, CallFuture) or call.making is not None:  # else others tell when it is over
                call.cancel()
        await self._settle()

    def _in_turn(self, limit: int) -> Any:
        return Turns(limit)

    def _unstarted(self) -> Any:
        return CallFuture(loop=self.host.loop) if self._is_on_loop() else ThreadFuture()

    def _future_of(self, task: Task) -> Any:
        is_async = task.node.action.afunc is not None and not task.node.in_thread
        if not self._is_on_loop():
            return CallOfThread(self, is_async=is_async)
        future = CallFuture(loop=self.host.loop)
        future.scope, future.is_async = self, is_async
        return future

    def _is_on_loop(self) -> bool:
        """Whether it is the loop of the run that somebody is on, and not a thread, which may have a loop of its own."""
        return running_loop() is self.host.loop

    def _start(self, task: Task, future: Any) -> None:
        context = contextvars.copy_context()
        if isinstance(future, CallFuture):
            self._make(task, future, context)
        else:
            self.host.loop.call_soon_threadsafe(self._make, task, future, context)

    def _make(self, task: Task, future: Any, context: contextvars.Context) -> None:
        """Make a call on the event loop, unless a thread has given up on it before that."""
        if future.cancelled():
            future.end()
            return
        run = self._run_call if self.turns is None else self._run_in_turn
        future.making = making = begun(self.host.loop, run, task, future, context=context)
        # The loop itself keeps only weak references to its tasks.
        self.host.calls.add(making)
        making.add_done_callback(self.host.calls.discard)
        making.add_done_callback(future.end)  # also if it was called off before it had begun

    async def _run_in_turn(self, task: Task, future: Any) -> None:
        """Make a call when there is room for it."""
        await self.turns.come()
        try:
            await self._run_call(task, future)
        finally:
            self.turns.release()

    async def _run_call(self, task: Task, future: Any) -> None:
        try:
            outcome = await adrive(perform_call(self.host.run, task), self._perform_for_call)
        except asyncio.CancelledError:
            if self.made is not None:
                self.made.fail(task)
            raise
        except BaseException as error:  # whoever waits for the call hears of it
            self.hear_of(error)
            if (hearer := _hearer(future)) is not None:
                hearer.set_exception(error)
        else:
            if future.is_given_up:
                return  # it has finished all the same, and is kept
            if (hearer := _hearer(future)) is not None:
                with suppress(InvalidStateError):  # the thread that made the call has called it off just now
                    self.outcome_to(hearer, outcome)

    async def _perform_for_call(self, effect: Any) -> Any:
        if type(effect) is Await:
            return (await run_task(self.host, effect.start[0]),)
        return await self.host.perform(effect)

    def _call_in_time(self, effect: Call) -> Awaitable[Any]:
        """The result of a call, if it comes as soon as its node says; an edge has as much time as its node."""
        if effect.timeout is None:
            return self._call(effect)
        return awaited_in_time(self, effect.timeout, lambda: self._call(effect))

    def _call(self, effect: Call) -> Awaitable[Any]:
        action = effect.action
        if action.afunc is not None and not action.takes:
            return action.afunc(effect.input)  # type: ignore[no-any-return]
        extra = {name: self.argument(name) for name in action.takes}
        if action.afunc is not None:
            return action.afunc(effect.input, **extra)  # type: ignore[no-any-return]
        assert action.func is not None, "an action is sync, async or both"
        call = partial(action.func, effect.input, **extra)
        return in_thread(call, self.host, self, inline=action.runs_inline, concludes=effect.concludes)


def _is_endless(name: str) -> NeedsAsync:
    return NeedsAsync(
        f"{name!r} is a sync function, and a Send gives it a timeout: a thread cannot be stopped from outside. Make it "
        "`async def`, or leave the timeout out."
    )


def is_called_off() -> bool:
    """Whether it is the run that was cancelled, and not a node that has cancelled itself."""
    current = asyncio.current_task()
    return current is not None and bool(current.cancelling())


def _done(output: Any) -> "asyncio.Future[Any]":
    """A future of something that need not be waited for."""
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.set_result(output)
    return future


def _wrapped(call: Any) -> "asyncio.Future[Any]":
    """The future of a call that a thread makes, for the loop to wait for. What it comes to is asked of the call."""
    future = asyncio.wrap_future(call)
    future.add_done_callback(hear)
    return future


def _hearer(future: Any) -> Any:
    """Who is still to hear what a call came to."""
    hearer = getattr(future, "heir", None) or future
    return None if hearer.done() else hearer
