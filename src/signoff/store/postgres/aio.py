"""AsyncPostgresStore: the procedures of `statements`, performed with psycopg for asyncio."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from signoff._postgres.aio import AsyncConnection
from signoff.store._shells_aio import AsyncServerStore
from signoff.store.base import IndexConfig, TTLConfig
from signoff.store.postgres.schema import MIGRATIONS
from signoff.store.postgres.statements import PROCEDURES
from signoff.store.postgres.store import PoolConfig

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

__all__ = ["AsyncPostgresStore", "PoolConfig"]


class AsyncPostgresStore(AsyncServerStore):
    """Items in Postgres, for asyncio. Create it inside the event loop that uses it.

    Its sync methods may be called from other threads; they wait for the loop. The arguments are those of
    PostgresStore, with an async connection or pool.
    """

    MIGRATIONS = MIGRATIONS

    def __init__(
        self,
        conn: "str | psycopg.AsyncConnection[Any] | AsyncConnectionPool[Any]",
        *,
        deserializer: Callable[[str], dict[str, Any]] | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        connection = AsyncConnection(conn)
        super().__init__(
            lambda: connection.session().perform,
            PROCEDURES,
            deserializer=deserializer,
            index=index,
            ttl=ttl,
            clock=clock,
        )
        self._connection = connection

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls,
        conn_string: str,
        *,
        pipeline: bool = False,
        pool_config: PoolConfig | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> AsyncIterator["AsyncPostgresStore"]:
        """A store at an address, closed at the end of the block; the arguments are PostgresStore's."""
        if pool_config is None:
            async with cls(conn_string, index=index, ttl=ttl, clock=clock)._closing() as store:
                yield store
            return
        from psycopg_pool import AsyncConnectionPool

        async with (
            AsyncConnectionPool(conn_string, open=False, **pool_config) as pool,
            cls(pool, index=index, ttl=ttl, clock=clock)._closing() as store,
        ):
            yield store

    async def close(self) -> None:
        """Stop the sweeper, and close the connections that the store opened."""
        await self.stop_ttl_sweeper()
        await self._connection.close()

    @asynccontextmanager
    async def _closing(self) -> AsyncIterator["AsyncPostgresStore"]:
        try:
            yield self
        finally:
            await self.close()
