"""Event loops: what lives in one of them is used from others by asking there."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from contextvars import Context
from typing import Any, TypeVar

from signoff._forks import Inherited, forked_off
from signoff.errors import SignoffError

__all__ = [
    "Home",
    "LoopNotRunning",
    "Once",
    "SyncCallInLoop",
    "begun",
    "hear",
    "loop_of",
    "no_loop",
    "running_loop",
    "sync_call_in_loop",
    "to_its_end",
    "wait_for",
]

T = TypeVar("T")


class LoopNotRunning(SignoffError, RuntimeError):
    """Something was asked of an event loop that is closed, stands still, or is not there."""


class SyncCallInLoop(SignoffError, asyncio.InvalidStateError):
    """A sync method was called where it would have waited for its own event loop for ever."""


class Home:
    """The event loop in which something lives that works in no other: the one that it was made in.

    begin_anew: is called when that loop has ended and another one asks.
    """

    __slots__ = ("_begin_anew", "loop")

    def __init__(self, begin_anew: Callable[[], None]) -> None:
        self.loop = running_loop()
        self._begin_anew = begin_anew

    async def run(self, function: Callable[[Any], Coroutine[Any, Any, T]], argument: Any) -> T:
        """Call a coroutine function there, from wherever."""
        here = asyncio.get_running_loop()
        if self.loop is not None and self.loop is not here:
            if self.loop.is_running():
                return await _asked(self.loop, function, argument)
            self._begin_anew()
        self.loop = here
        return await function(argument)

    def tell(self, function: Callable[[], object]) -> None:
        """Call a function there, now or soon, and wait for nothing."""
        if self.loop is None or self.loop is running_loop() or not self.loop.is_running():
            function()
        else:
            self.loop.call_soon_threadsafe(function)


_STILL_RUNS_S = 1.0
"""How often whoever waits for another loop sees whether that still runs."""


async def _asked(
    loop: asyncio.AbstractEventLoop, function: Callable[[Any], Coroutine[Any, Any, T]], argument: Any
) -> T:
    """Call a coroutine function in another loop.

    Whoever is cancelled calls it off there, and goes on when it has ended: it may have something by then, to be given
    back, or be in the middle of giving something back.
    """
    ended: Future[asyncio.Task[T]] = Future()
    tasks: list[asyncio.Task[T]] = []

    def begin() -> None:
        tasks.append(begun(loop, function, argument))
        tasks[0].add_done_callback(ended.set_result)

    loop.call_soon_threadsafe(begin)
    waiter = asyncio.wrap_future(ended)
    try:
        await _heard_of(waiter, loop)
    except asyncio.CancelledError:
        if not waiter.done() and loop.is_running():
            # Not before it has begun: it may be there to give something back, and would not if it never did.
            loop.call_soon_threadsafe(lambda: loop.call_soon(tasks[0].cancel))
        while not waiter.done() and loop.is_running():
            with suppress(asyncio.CancelledError):  # once more: it is on its way out already
                await asyncio.wait([waiter], timeout=_STILL_RUNS_S)
        raise
    if not waiter.done() or waiter.result().cancelled():
        raise LoopNotRunning(
            "The event loop that a saver or a store works in, which is not the one here, has ended in the middle of "
            "something, and it is not known whether that was done: keep the loop running as long as others need it."
        )
    return waiter.result().result()


async def _heard_of(waiter: "asyncio.Future[Any]", loop: asyncio.AbstractEventLoop) -> None:
    """Wait for something in another loop, as long as that runs. One that ends may begin once more, for a moment."""
    is_there = True
    while not waiter.done() and is_there:
        was_running = loop.is_running()
        await asyncio.wait([waiter], timeout=_STILL_RUNS_S)
        is_there = was_running or loop.is_running()


class Once:
    """Something that is done once, however many tasks of an event loop want it at the same time.

    Whoever is cancelled waits no more. If it fails, all who wait for it hear of that, and the next one tries again.
    """

    __slots__ = ("_under_way",)

    def __init__(self) -> None:
        self._under_way: asyncio.Task[Any] | None = None

    async def do(self, function: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        """Have it done, or wait until it is."""
        here, task = asyncio.get_running_loop(), self._under_way
        if task is None or task.done() or task.get_loop() is not here:
            task = self._under_way = begun(here, function)
            task.add_done_callback(hear)
        await asyncio.shield(task)


async def to_its_end(function: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
    """Call a coroutine function to its end: whoever is cancelled meanwhile leaves when it has come to that."""
    task = begun(asyncio.get_running_loop(), function, *args)
    try:
        return await asyncio.shield(task)
    finally:
        while not task.done():
            with suppress(asyncio.CancelledError):  # once more: it is on its way out already
                await asyncio.wait([task])


def begun(
    loop: asyncio.AbstractEventLoop,
    function: Callable[..., Coroutine[Any, Any, T]],
    *args: Any,
    context: Context | None = None,
) -> "asyncio.Task[T]":
    """A task that calls a coroutine function. It begins when whoever has made it lets the loop go on, and not before.

    Task factories of others, as `asyncio.eager_task_factory` of Python 3.12, begin at once, and may have ended it when
    they hand it out.
    """
    if loop.get_task_factory() is None:
        return loop.create_task(function(*args), context=context)
    is_handed_out = False

    async def later() -> T:
        if not is_handed_out:
            await asyncio.sleep(0)
        return await function(*args)

    task = loop.create_task(later(), context=context)
    is_handed_out = True
    return task


def hear(future: "asyncio.Future[Any]") -> None:
    """Hear how something has ended: if nobody is left who waits for it, a failure is nothing to warn of."""
    if not future.cancelled():
        future.exception()


def loop_of(what: str, instead: str) -> asyncio.AbstractEventLoop:
    """The event loop that runs here. If none does, what needs one is named, and what there is instead."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError as error:
        raise no_loop(what, instead) from error


def no_loop(what: str, instead: str) -> LoopNotRunning:
    """The error for something that needs an event loop where none runs."""
    return LoopNotRunning(
        f"{what} needs the event loop of asyncio, and none runs here: do this inside of an async function that "
        f"asyncio.run(...) runs, or {instead}. Under trio, and loops that are not asyncio's, do that in a thread."
    )


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop that runs here, if one does."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def sync_call_in_loop(owner: object) -> SyncCallInLoop:
    """The error for a call that would keep its own event loop waiting."""
    return SyncCallInLoop(
        f"A sync method of {type(owner).__name__} was called inside its event loop, which it would wait "
        "for for ever: await the async one (ainvoke of a graph; aget, aput, ...), or call it with "
        "asyncio.to_thread."
    )


def wait_for(coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, owner: object) -> T:
    """The result of a coroutine of another thread's event loop."""
    if isinstance(loop, Inherited):
        coroutine.close()
        raise forked_off(type(owner).__name__)
    if running_loop() is loop:
        coroutine.close()
        raise sync_call_in_loop(owner)
    if not loop.is_running():
        coroutine.close()
        raise LoopNotRunning(
            f"A sync method of {type(owner).__name__} works in the event loop that it was opened in, and that one does "
            "not run any more: call it while the loop runs, or open a sync one (SqliteSaver, PostgresStore, ...)."
        )
    return asyncio.run_coroutine_threadsafe(coroutine, loop).result()
