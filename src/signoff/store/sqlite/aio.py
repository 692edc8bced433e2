"""AsyncSqliteStore: the procedures of `statements`, performed on an aiosqlite connection."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from signoff._sqlite.aio import AsyncConnection, SyncCallInLoop, wait_for
from signoff._sqlite.connection import connect_options
from signoff._sqlite.migrations import set_up
from signoff.steps import adrive
from signoff.store import _indexing
from signoff.store._indexing import EmbedQuery, EmbedTexts, Index
from signoff.store._lifetimes import check_ttl_config, sweep_interval_s
from signoff.store._sweeper import report_failed_sweep
from signoff.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig
from signoff.store.sqlite import schema, statements

if TYPE_CHECKING:
    import aiosqlite

__all__ = ["AsyncSqliteStore", "SyncCallInLoop"]


class AsyncSqliteStore(BaseStore):
    """Items in a SQLite file, for asyncio. Create it inside the event loop that uses it.

    Its sync methods may be called from other threads; they wait for the loop. The arguments are those of
    SqliteStore, with an aiosqlite connection.
    """

    MIGRATIONS = schema.MIGRATIONS
    supports_ttl = True

    def __init__(
        self,
        conn: "aiosqlite.Connection",
        *,
        deserializer: Callable[[str], dict[str, Any]] | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.conn = conn
        self.loop = asyncio.get_running_loop()
        self._connection = AsyncConnection(conn)
        self.lock = self._connection.lock
        self.is_setup = False
        self.index_config = index
        self.ttl_config = check_ttl_config(ttl)
        self._settings = statements.Settings(Index.of(index), ttl, deserializer or json.loads)
        self.embeddings = self._settings.index.embeddings if self._settings.index else None
        self._clock = clock
        self._sweeper: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls,
        conn_string: str,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> AsyncIterator["AsyncSqliteStore"]:
        """A store in the file of this name, closed at the end of the `async with` block."""
        import aiosqlite

        async with aiosqlite.connect(conn_string, **connect_options(conn_string)) as conn:
            store = cls(conn, index=index, ttl=ttl, clock=clock)
            try:
                yield store
            finally:
                await store.stop_ttl_sweeper()

    async def setup(self) -> None:
        """Create or update the tables. The first use of the store does it too."""
        await adrive(set_up(schema.SCHEMA), self._perform)
        self.is_setup = True

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations in one transaction and answer them in order. Reads see what was there before."""
        await self._ensure_setup()
        return await adrive(statements.batch(self._settings, ops, self._clock()), self._perform)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """The same as `abatch`, for other threads than the event loop's."""
        return wait_for(self.abatch(ops), self.loop, self)

    async def sweep_ttl(self) -> int:
        """Remove expired items and say how many."""
        await self._ensure_setup()
        return await adrive(statements.sweep(self._clock()), self._perform)

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

    async def _perform(self, effect: object) -> Any:
        if isinstance(effect, EmbedTexts | EmbedQuery):
            assert self._settings.index is not None, "only a store with an index asks for vectors"
            return await _indexing.aperform(self._settings.index, effect)
        return await self._connection.perform(effect)
