"""What tasks on an event loop wait for: the futures of `@task` calls, and graphs that are called beside them."""

import asyncio
from collections.abc import Callable, Coroutine, Generator
from concurrent.futures import InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from signoff._loops import begun, hear
from signoff.drivers.telling import TellingFuture
from signoff.errors import GraphBubbleUp, InvalidInput

if TYPE_CHECKING:
    from signoff.drivers.scopes.scope import Scope

T = TypeVar("T")


class NotAwaited(InvalidInput, asyncio.InvalidStateError):
    """A coroutine asked for the result of a call that it has not awaited."""


class CallFuture(asyncio.Future[Any]):
    """The result of a call. Whoever gives up on it, as after a timeout, calls it off. A thread cannot be: the task
    waits for it, so that another try does not do the same beside it.

    A pause is no reason to break off what is under way: if a coroutine asks, asyncio.TaskGroup cancels all that run
    beside it. Their calls go on, and the task waits for them.
    """

    scope: "Scope"
    making: "asyncio.Task[None] | None" = None
    """What makes the call; None if it is called from a thread, or is not made at all."""
    is_async = False
    """Whether it can be broken off: a thread cannot."""
    is_given_up = False
    """Whether whoever waits for it was told that it is called off. So they hear nothing else, if it finishes, too."""
    heir: Any = None
    """Who is told the outcome, if whoever waited for it was made to give up."""

    def result(self) -> Any:
        if not self.done():
            raise NotAwaited("The call has no result yet: a coroutine awaits it. Write `await call(...)`.")
        return super().result()

    def cancel(self, msg: Any = None) -> bool:
        if self.making is None or self.done():
            return super().cancel(msg)
        if self.scope.pause is None and self.is_async:
            self.is_given_up = self.scope.host.call_off(self.making, msg)
            return self.is_given_up
        self.heir = self.scope.also_wait()
        return super().cancel(msg)

    def set_exception(self, exception: Any) -> None:
        super().set_exception(exception)
        if isinstance(exception, GraphBubbleUp):
            self.exception()  # a pause that nobody waits for is nothing to warn of: it is asked all the same

    def end(self, making: "asyncio.Task[None] | None" = None) -> None:
        """Hear that nobody makes the call any more: if there is no outcome yet, it was called off."""
        if self.heir is not None:
            self.heir.cancel()
        super().cancel()


class ThreadFuture(TellingFuture):
    """The result of a call for a sync node, which waits for it in its thread."""

    is_given_up = False
    """Threads hear what there is to hear."""

    def __await__(self) -> Generator[Any, None, Any]:
        """A thread may have an event loop of its own."""
        return asyncio.wrap_future(self).__await__()

    def end(self, making: "asyncio.Task[None] | None" = None) -> None:
        """Hear that nobody makes the call any more: if there is no outcome yet, it was called off."""
        with suppress(InvalidStateError):
            self.set_exception(asyncio.CancelledError())


class CallOfThread(ThreadFuture):
    """The same of a call that runs on the event loop of the node's run.

    Whoever gives up on it hears that at once; and what goes on all the same, the task waits for.
    """

    def __init__(self, scope: "Scope", *, is_async: bool) -> None:
        super().__init__()
        self._scope, self._is_async = scope, is_async
        self.making: asyncio.Task[None] | None = None
        """What makes the call, as soon as the loop has begun with it."""
        self.heir: Any = None
        """Who is told the outcome, if whoever waited for it has given up."""

    def cancel(self) -> bool:
        loop = self._scope.host.loop
        if self.done() or loop.is_closed():
            return super().cancel()
        if not self._is_async or self._scope.pause is not None:
            self.heir = self._scope.also_wait()
        is_cancelled = super().cancel()
        if not is_cancelled and self.heir is not None:
            self.heir.end()  # the call has just come to its end
        elif is_cancelled and self.heir is None:
            loop.call_soon_threadsafe(self._call_off)
        return is_cancelled

    def end(self, making: "asyncio.Task[None] | None" = None) -> None:
        super().end(making)
        if self.heir is not None:
            self.heir.end(making)

    def _call_off(self) -> None:
        if self.making is not None:
            self._scope.host.call_off(self.making)


async def in_own_task(scope: "Scope", run: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
    """The result of a graph that a coroutine beside a task calls: it goes on, too, if a pause cancels the coroutine."""
    loop = asyncio.get_running_loop()
    running = begun(loop, run, *args)
    running.add_done_callback(hear)
    if loop is scope.host.loop:  # else it is one that a sync node has in its thread, and waits for
        scope.calls.append(running)  # the task waits for it, though it begins a moment later
        scope.host.calls.add(running)  # and if the task is called off as it waits, the run does
        running.add_done_callback(scope.host.calls.discard)
    is_called_off = False
    while True:
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            if scope.pause is not None or running.done():
                raise
            # Not if its loop has just cancelled everything: whoever is cancelled twice is let go before the end.
            if is_called_off or not running.cancelling():
                scope.host.call_off(running)
            is_called_off = True
