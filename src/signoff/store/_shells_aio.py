"""Stores on a server, for asyncio. The same as _shells.py, in the same order."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

from signoff.steps import Steps, adrive
from signoff.store import _indexing
from signoff.store._indexing import EmbedQuery, EmbedTexts
from signoff.store._lifetimes import sweep_interval_s
from signoff.store._shells import Procedures, settings_of
from signoff.store._sweeper import report_failed_sweep
from signoff.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig

__all__ = ["AsyncServerStore"]

T = TypeVar("T")


class AsyncServerStore(BaseStore):
    """The half of an async store that is the same for every kind of server."""

    supports_ttl = True

    def __init__(
        self,
        performer: Callable[[], Callable[[Any], Awaitable[Any]]],
        procedures: Procedures,
        *,
        deserializer: Callable[[str], dict[str, Any]] | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.loop = asyncio.get_running_loop()
        self._performer = performer
        self._procedures = procedures
        self._settings = settings_of(index, ttl, deserializer)
        self.index_config, self.ttl_config = index, ttl
        self.embeddings = self._settings.index.embeddings if self._settings.index else None
        self.is_setup = False
        self._clock = clock
        self._sweeper: asyncio.Task[None] | None = None

    async def setup(self) -> None:
        """Make the database ready. The first use of the store does it too."""
        await self._run(self._procedures.set_up())
        self.is_setup = True

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""
        await self._ensure_setup()
        return await self._run(self._procedures.batch(self._settings, ops, self._clock()))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The same as `abatch`, for other threads than the event loop's."""
        # Imported here: it waits for any loop, but lives in the room of SQLite.
        from signoff._sqlite.aio import wait_for

        return wait_for(self.abatch(ops), self.loop, self)

    async def sweep_ttl(self) -> int:
        """Remove expired items and say how many."""
        await self._ensure_setup()
        return await self._run(self._procedures.sweep(self._clock()))

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> "asyncio.Task[None]":
        """Remove expired items now and then, in a task of the event loop."""
        interval_s = sweep_interval_s(self.ttl_config, sweep_interval_minutes)
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep_every(interval_s), name="ttl-sweeper")
        return self._sweeper

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the task; whether it has ended within the timeout (in seconds)."""
        if self._sweeper is None:
            return True
        self._sweeper.cancel()
        done, _ = await asyncio.wait([self._sweeper], timeout=timeout)
        return bool(done)

    async def _sweep_every(self, interval_s: float) -> None:
        while True:
            await asyncio.sleep(interval_s)
            try:
                await self.sweep_ttl()
            except Exception:
                report_failed_sweep()

    async def _ensure_setup(self) -> None:
        if not self.is_setup:
            await self.setup()

    async def _run(self, steps: Steps[T]) -> T:
        perform = self._performer()

        async def perform_or_embed(effect: Any) -> Any:
            if isinstance(effect, EmbedTexts | EmbedQuery):
                assert self._settings.index is not None, "only a store with an index asks for vectors"
                return await _indexing.aperform(self._settings.index, effect)
            return await perform(effect)

        return await adrive(steps, perform_or_embed)
