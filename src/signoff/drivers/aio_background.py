"""Saving in the background of an event loop."""

import asyncio
from typing import TYPE_CHECKING, Any

from signoff.drivers.background import Waiting

if TYPE_CHECKING:
    from signoff.checkpoint.base import BaseCheckpointSaver, Lease
    from signoff.drivers.saving import PieceByPiece


class AsyncBackground:
    """Stores what it is given, in a task. The first error is raised at the next call.

    A run that is cancelled still finishes what it began to store.
    """

    def __init__(self, saver: "BaseCheckpointSaver[Any] | PieceByPiece", loop: asyncio.AbstractEventLoop) -> None:
        self._saver = saver
        self._loop = loop
        self._waiting = Waiting(saver)
        self._working: asyncio.Task[None] | None = None

    def save(self, prepared: Any, lease: "Lease | None", *, ends: bool) -> None:
        """Have something stored soon."""
        if self._working is not None and self._working.done():
            self._end(self._working)
        self._waiting.add((prepared, lease, ends))
        if self._working is None:
            self._working = self._loop.create_task(self._work())

    async def wait(self) -> None:
        """Go on when everything is stored. Calls of a task that run side by side may wait together."""
        working = self._working
        if working is not None:
            await asyncio.wait((working,))
            self._end(working)

    async def _work(self) -> None:
        while self._waiting:
            prepared, lease, ends = self._waiting.next()
            await self._saver.astore(prepared, lease, ends=ends)

    def _end(self, working: asyncio.Task[None]) -> None:
        if self._working is working:
            self._working = None
            self._waiting.clear()
        working.result()
