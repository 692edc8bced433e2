"""Wires: where the drivers and a saver are tapped, so that a world sees, and can stop, everything that they do.

Outside of a simulated process all of it works as ever.
"""

import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

from signoff._locks import Lock
from signoff.drivers import sync, workers
from signoff.drivers.calls import futures
from signoff.drivers.saving import holding
from signoff.drivers.tasks import sync_tasks
from signoff.engine.effects import Call, Sleep
from signoff.engine.task import Outcome
from signoff.pregel import hosting
from signoff.testing._process import Crash, Process, here

__all__ = ["laid", "let_others_go"]

_lock = Lock()
_users = 0
_undo: list[tuple[Any, str, Any]] = []


@contextmanager
def laid(*, is_async: bool) -> Iterator[None]:
    """Have the wires in place meanwhile."""
    global _users
    with _lock:
        _users += 1
        if _users == 1:
            _lay(_SYNC)
        if is_async and len(_undo) == len(_SYNC):
            _lay(_async_wires())
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                while _undo:
                    setattr(*_undo.pop())


def _lay(wires: list[tuple[Any, str, Callable[[Any], Any]]]) -> None:
    for owner, name, wire in wires:
        original = getattr(owner, name)
        _undo.append((owner, name, original))
        setattr(owner, name, wire(original))


def _instead(own: Callable[..., Any]) -> Callable[[Any], Any]:
    """Of a function: in a simulated process, another one, which is given the process, too."""

    def wire(original: Callable[..., Any]) -> Any:
        def wired(*args: Any) -> Any:
            process = here.get()
            return original(*args) if process is None else own(process, *args)

        return wired

    return wire


# Effects


def _effects(original: Callable[[Any, Any], Any]) -> Any:
    """Of a sync driver: a moment before and after each effect."""

    def perform(driver: Any, effect: Any) -> Any:
        process = here.get()
        if process is None:
            return original(driver, effect)
        process.pass_moment("effects")
        result = original(driver, effect)
        process.pass_moment("effects")
        return result

    return perform


def _next_events(process: Any, driver: Any) -> Any:
    """Of a sync driver: tasks come out one by one, though they were all run on the spot."""
    event = driver.events.get()
    driver._running -= type(event) is Outcome
    return [event]


def _task_effects(original: Callable[[Any, Any], Any]) -> Any:
    """Of a sync task: a moment before and after each call; nobody sleeps."""

    def perform(scope: Any, effect: Any) -> Any:
        process = here.get()
        if process is None:
            return original(scope, effect)
        process.pass_moment("effects")
        _see(process, scope, effect)
        result = None if type(effect) is Sleep else original(scope, effect)
        process.pass_moment("effects")
        return result

    return perform


def _bare(original: Callable[[Any, Any, Any], Any]) -> Any:
    """Of a sync task that is a plain function: a moment before and after its call."""

    def run_bare(task: Any, program: Any, scope: Any) -> Any:
        process = here.get()
        if process is None:
            return original(task, program, scope)
        process.pass_moment("effects")
        process.witness.see_call(process, task, scope.host.run.lease)
        outcome = original(task, program, scope)
        process.pass_moment("effects")
        return outcome

    return run_bare


def _async_effects(original: Callable[[Any, Any], Awaitable[Any]]) -> Any:
    """Of an async driver or task: a moment before and after each effect, where others may go on, too."""

    async def perform(owner: Any, effect: Any) -> Any:
        process = here.get()
        if process is None:
            return await original(owner, effect)
        if process.takes_turns and not process.is_quiet:
            await let_others_go()
        process.pass_moment("effects")
        _see(process, owner, effect)
        if type(effect) is Sleep:
            effect.jitter = False  # luck is a matter of the seed
        result = await original(owner, effect)
        process.pass_moment("effects")
        return result

    return perform


def _async_bare(original: Callable[[Any, Any], Awaitable[Any]]) -> Any:
    """Of an async task that is a plain coroutine function: the same before and after it."""

    async def run_task(host: Any, task: Any) -> Any:
        process = here.get()
        if process is None or not (host.observer is None and task.node.is_abare and task.timeout is None):
            return await original(host, task)
        if process.takes_turns and not process.is_quiet:
            await let_others_go()
        process.pass_moment("effects")
        process.witness.see_call(process, task, host.run.lease)
        outcome = await original(host, task)
        process.pass_moment("effects")
        return outcome

    return run_task


def _see(process: Any, scope: Any, effect: Any) -> None:
    # A conditional edge is called for a task, too; and so are values that a person gives for it.
    if type(effect) is Call and effect.action is scope.task.node.action and not effect.action.runs_inline:
        process.witness.see_call(process, scope.task, scope.host.run.lease)


class let_others_go:  # noqa: N801
    """Awaited, it ends the turn of this process."""

    def __await__(self) -> Any:
        yield


# Threads


class _NoThreads:
    """In the place of the idle threads: a job for one is done on the spot."""

    def __init__(self, idle: Any) -> None:
        self._idle = idle

    def pop(self) -> Any:
        return self if here.get() is not None else self._idle.pop()

    def put(self, job: Callable[[], None]) -> None:
        job()

    def append(self, inbox: Any) -> None:
        self._idle.append(inbox)

    def remove(self, inbox: Any) -> None:
        self._idle.remove(inbox)


def _start_soon(process: Any, future: Any) -> None:
    """The call of a @task function is run as soon as it is made."""
    future.work()


# Who holds a thread


def _hold(process: Any, lease: Any, saver: Any, loop: Any = None) -> None:
    process.held[lease.holder] = saver, lease


def _let_go(process: Any, holder: str) -> None:
    process.held.pop(holder, None)


def _is_gone(process: Any, holder: str) -> bool:
    """A process that is dead may be seen to be; one of its own runs that is over always is."""
    name = holder.rpartition("/")[0]
    return holder not in process.held if name == process.name else name in process.witness.seen_dead


def _unraisable(original: Callable[[Any], Any]) -> Any:
    """What is thrown away in a dead process, such as a half-read stream, may find that the process is dead."""

    def hook(unraisable: Any) -> Any:
        return None if unraisable.exc_type is Crash else original(unraisable)

    return hook


_SYNC: list[tuple[Any, str, Callable[[Any], Any]]] = [
    (sys, "unraisablehook", _unraisable),
    (sync.Driver, "perform", _effects),
    (sync.Driver, "_next_events", _instead(_next_events)),
    (sync_tasks.SyncScope, "perform", _task_effects),
    (sync_tasks, "_run_bare", _bare),
    (futures, "start_soon", _instead(_start_soon)),
    (workers, "_idle", _NoThreads),
    (hosting, "new_holder", _instead(Process.new_holder)),
    (holding, "hold", _instead(_hold)),
    (holding, "let_go", _instead(_let_go)),
    (holding, "is_gone", _instead(_is_gone)),
]


def _async_wires() -> list[tuple[Any, str, Callable[[Any], Any]]]:
    from signoff.drivers import aio
    from signoff.drivers.tasks import aio_tasks

    return [
        (aio.Driver, "perform", _async_effects),
        (aio_tasks.AsyncScope, "perform", _async_effects),
        (aio, "run_task", _async_bare),
        (aio_tasks, "run_task", _async_bare),
    ]
