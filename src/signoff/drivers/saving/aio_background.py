"""Saving in the background of an event loop."""

import asyncio
from typing import TYPE_CHECKING, Any

from signoff._loops import begun
from signoff.drivers.saving.background import Waiting

if TYPE_CHECKING:
    from signoff.checkpoint.base import BaseCheckpointSaver, Lease
    from signoff.drivers.saving.piecewise import PieceByPiece


class AsyncBackground:
    """Stores what it is given, in a task. The first error is raised at the next call.

    A run that is cancelled still finishes what it began to store.
    """

    def __init__(self, saver: "BaseCheckpointSaver[Any] | PieceByPiece", loop: asyncio.AbstractEventLoop) -> None:
        self._saver = saver
        self._loop = loop
        self._waiting = Waiting(saver)
        self._working: asyncio.Task[None] | None = None
        self._waiters: list[asyncio.Future[None]] = []

    def save(self, prepared: Any, lease: "Lease | None", *, ends: bool) -> None:
        """Have something stored soon."""
        self._waiting.raise_error()
        self._waiting.add((prepared, lease, ends))
        if self._working is None or self._working.done():  # a signal may have been heard when it was about to end
            self._working = begun(self._loop, self._work)

    @property
    def is_busy(self) -> bool:
        """Whether something is still to be stored."""
        return self._working is not None and not self._working.done()

    async def wait(self) -> None:
        """Go on when everything is stored. Calls of a task that run side by side may wait together."""
        if self.is_busy:
            waiter = self._loop.create_future()
            self._waiters.append(waiter)
            await waiter
        self._waiting.raise_error()

    async def _work(self) -> None:
        error: BaseException | None = None
        try:
            while self._waiting:
                prepared, lease, ends = self._waiting.next()
                await self._saver.astore(prepared, lease, ends=ends)
        except BaseException as failure:
            error = failure
        self._waiting.clear()
        self._working = None
        if not self._wake(error):
            self._waiting.error = error

    def _wake(self, error: BaseException | None) -> bool:
        """Let those go on who wait. Returns whether there was anybody."""
        waiters, self._waiters = [waiter for waiter in self._waiters if not waiter.done()], []
        for waiter in waiters:
            if error is None:
                waiter.set_result(None)
            else:
                waiter.set_exception(error)
        return bool(waiters)
