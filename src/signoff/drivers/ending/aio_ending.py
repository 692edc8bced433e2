"""The end of an async run, however it comes: all is stored, nothing goes on beside it, and its thread is let go."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from signoff._loops import begun
from signoff.drivers.host import Host, over
from signoff.drivers.saving import holding
from signoff.drivers.saving.aio_background import AsyncBackground
from signoff.drivers.tasks.aio_tasks import is_called_off
from signoff.steps import Abandoned, Steps, adrive

T = TypeVar("T")

_endings: set[Any] = set()
"""The rests of runs that are under way: the loop itself keeps only weak references to its tasks."""


class Ending:
    """Ends a run, in a task of its own where whoever waits for that may be cancelled."""

    loop: asyncio.AbstractEventLoop

    def __init__(self, host: Host) -> None:
        self.host = host
        self._background: AsyncBackground | None = None
        self._is_called_off = False

    def perform(self, effect: Any) -> Awaitable[Any]:
        """Do what the engine asks."""
        raise NotImplementedError

    async def _end_calls(self) -> None:
        raise NotImplementedError

    def end(self, steps: Steps[T], error: BaseException) -> Awaitable[T] | None:
        """The rest of a run that its caller has called off, or its reader has left; None if it goes on.

        It is done in a task of its own. Whoever cancels once waits for it; whoever cancels again, as anyio does all the
        time, is let go, and the thread stays taken until the rest is done.
        """
        if not isinstance(error, Abandoned) and not (isinstance(error, asyncio.CancelledError) and is_called_off()):
            return None
        self._is_called_off = True
        ending = self._by_itself(self._end, steps, error)
        self._left_to_parent(ending)
        return self._waited_for(ending, error)

    async def _waited_for(self, ending: "asyncio.Task[T]", error: BaseException) -> T:
        if not self.host.is_left:
            try:
                return await asyncio.shield(ending)
            except asyncio.CancelledError as again:
                error = error if isinstance(error, asyncio.CancelledError) else again
                if ending.done():
                    raise _as_before(error) from None
        if self.host.parent is not None:
            self.host.parent.host.is_left = True
        raise _as_before(error)

    async def _end(self, steps: Steps[T], error: BaseException) -> T:
        try:
            return await adrive(steps, self.perform, lambda: steps.throw(error))
        finally:
            await self._close()

    async def close(self) -> None:
        """Wait until all is stored, and let go of the thread. Whoever is cancelled meanwhile waits for that as well."""
        if self._is_called_off:
            return  # that is part of the rest, which may take longer
        if not self.host.calls and (self._background is None or not self._background.is_busy):
            await self._close()
            return
        closing = self._by_itself(self._close)
        try:
            await asyncio.shield(closing)
        except asyncio.CancelledError as error:
            self._left_to_parent(closing)
            await self._waited_for(closing, error)
            raise

    async def _close(self) -> None:
        try:
            if self.host.calls:
                await self._end_calls()
            if self._background is not None:
                await self._background.wait()
        except Exception as error:
            self.host.saver_failed(error)
            self.host.tell_around(error)
            raise
        finally:
            # Else these keep each other, and all of the run, in memory.
            self.host.perform, self.host.sink = over, None
            if self.host.run.holder and self.host.parent is None:
                holding.let_go(self.host.run.holder)

    def _by_itself(self, function: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> "asyncio.Task[T]":
        """Something that is done in a task of its own, whatever becomes of whoever waits for it."""
        doing = begun(self.loop, function, *args)
        _endings.add(doing)
        doing.add_done_callback(_endings.discard)
        return doing

    def _left_to_parent(self, ending: "asyncio.Task[Any]") -> None:
        """Have the run around this one wait for something that whoever has called this one may not wait for."""
        if self.host.parent is not None:
            self.host.parent.host.left[ending] = None


def _as_before(error: BaseException) -> asyncio.CancelledError:
    """What a caller is told who has called the run off: a scope of anyio knows its own cancellation by the message."""
    return asyncio.CancelledError(*(error.args if isinstance(error, asyncio.CancelledError) else ()))
