"""Tasks of a sync run: each in the thread that it is started in, a call of a @task function in one of its own."""

import contextvars
import random
import sys
import time
from functools import cache, partial
from threading import current_thread, main_thread
from typing import Any

from signoff import _scope
from signoff._ambient import OF_TASK
from signoff.constants import MISSING
from signoff.drivers.host import Host
from signoff.drivers.scopes.calling import questions_of
from signoff.drivers.scopes.failing import cancelled_inside
from signoff.drivers.scopes.scope import Scope
from signoff.drivers.workers import Crew
from signoff.engine.attempts.attempt import at_once, attempt, paused_at_once
from signoff.engine.calls.task_calls import perform_call
from signoff.engine.effects import Await, Call, Settle, Sleep
from signoff.engine.program import Program
from signoff.engine.task import Outcome, Task
from signoff.errors import GraphInterrupt, NeedsAsync
from signoff.steps import drive


def run_task(host: Host, task: Task, ended: list[Outcome] | None = None) -> Outcome:
    """Run a task to its outcome, with its scope in the context.

    ended: where that is noted, too: a signal may be heard while it is returned.
    """
    scope = SyncScope(host, task)
    around = _scope.running.get()
    ambient = host.ambient.get() if host.ambient is not None else None
    try:
        _scope.running.set(scope)  # in here, and without a token: a signal may be heard before that is noted
        if host.ambient is not None:
            host.ambient.set(OF_TASK)
        if host.observer is None and task.node.is_bare and task.timeout is None:
            outcome = _run_bare(task, host.run.program, scope)
        else:
            steps = attempt(task, host.run.program, scope)
            if host.observer is not None:
                steps = host.observer.watched(steps, scope)
            outcome = scope.come_to(drive(steps, scope.perform))
        if ended is not None:
            ended.append(outcome)
        return outcome
    except BaseException as error:  # SystemExit and the like
        scope.call_off()
        if _is_cancellation(error):
            return cancelled_inside(task, error)
        if ended is not None:
            _note_returned(scope, ended, error)
        raise
    finally:
        _scope.running.set(around)
        if host.ambient is not None:
            host.ambient.set(ambient)


def _note_returned(scope: "SyncScope", ended: list[Outcome], error: BaseException) -> None:
    """Note what a task comes to whose function had returned when a signal was heard: it is not run again."""
    if scope.output is MISSING or scope.calls or any(outcome.task is scope.task for outcome in ended):
        return

    def perform(effect: Any) -> Any:
        if type(effect) is Sleep:
            raise error  # nothing is tried again any more
        return scope.perform(effect)

    steps = attempt(scope.task, scope.host.run.program, scope)
    next(steps)  # asks for the call that was made already
    ended.append(scope.come_to(drive(steps, perform, lambda: steps.send(scope.output))))


def _run_bare(task: Task, program: Program, scope: "SyncScope") -> Outcome:
    """Run a task that is a function of its input. The procedure is made only if that is not all."""
    failure: BaseException | None = None
    try:
        output = scope.output = task.node.action.func(task.input)  # type: ignore[misc]
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
        outcome = drive(steps, scope.perform, lambda: steps.send(output) if failure is None else steps.throw(failure))
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
            if effect.timeout is not None and not action.runs_inline:
                raise _is_timed(action.name)
            if action.takes:
                output = action.func(effect.input, **{name: self.argument(name) for name in action.takes})
            else:
                output = action.func(effect.input)
            if not effect.concludes:
                self.output = output  # here already: a signal may be heard on its way to whoever has asked
            return output
        if type(effect) is Sleep:
            return time.sleep(effect.seconds + (random.uniform(0, 1) if effect.jitter else 0))
        if type(effect) is Settle:
            self.drop_stranded()
            if effect.fails and self.turns is not None:
                for future in self.calls:
                    future.cancel()
            unclear = (future for future in self.calls if not (future.has_result or future.cancelled()))
            return questions_of(future.exception() for future in unclear)
        return effect.notify()

    def call_off(self) -> None:
        """The run ends: the calls that nobody has begun with are not made, and those under way are waited for."""
        self.is_over = True
        self.drop_stranded()
        under_way = [future for future in self.calls if not future.cancel()]
        for future in under_way:
            if not future.has_result:
                future.exception()

    def _in_turn(self, limit: int) -> Any:
        return Crew(_futures().CallInTurn.work, limit)

    def _unstarted(self) -> Any:
        return _futures().CallFuture()

    def _future_of(self, task: Task) -> Any:
        kind = _futures().CallFuture if self.turns is None else _futures().CallInTurn
        return kind(partial(self._run_call, task), contextvars.copy_context())

    def _start(self, task: Task, future: Any) -> None:
        if self.turns is None:
            future.start()
        else:
            self.turns.start([future])

    def _run_call(self, task: Task, future: Any) -> None:
        try:
            self.outcome_to(future, drive(perform_call(self.host.run, task), self._perform_for_call))
        except BaseException as error:
            self.hear_of(error)
            is_told = future.done()
            if not is_told:
                future.set_exception(error)
            if (is_told or not isinstance(error, Exception)) and current_thread() is main_thread():
                raise  # a signal, perhaps: it ends the run, whoever waits for the call

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
    from signoff.drivers.calls import futures

    return futures


def _is_async(name: str) -> NeedsAsync:
    return NeedsAsync(f"{name!r} is async, and this is a sync run. Call the graph with ainvoke, astream or abatch.")


def _is_timed(name: str) -> NeedsAsync:
    return NeedsAsync(
        f"{name!r} has a timeout, and a sync run can break nothing off. Call the graph with ainvoke, astream or abatch."
    )
