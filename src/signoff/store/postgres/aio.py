"""AsyncPostgresStore: the procedures of `statements`, performed with psycopg for asyncio."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from typing_extensions import Unpack

from signoff._postgres.aio import AsyncConnection
from signoff.steps import Steps
from signoff.store._shells import Options
from signoff.store._shells_aio import AsyncShell
from signoff.store.postgres.pools import PoolConfig, pool_at
from signoff.store.postgres.schema import MIGRATIONS
from signoff.store.postgres.statements import PROCEDURES

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

__all__ = ["AsyncPostgresStore", "PoolConfig"]

T = TypeVar("T")


class AsyncPostgresStore(AsyncShell):
    """Items in Postgres, for asyncio. Create it inside the event loop that uses it.

    Its sync methods may be called from other threads; they wait for the loop. The arguments are those of
    PostgresStore, with an async connection or pool.
    """

    MIGRATIONS = MIGRATIONS

    def __init__(
        self,
        conn: "str | psycopg.AsyncConnection[Any] | AsyncConnectionPool[Any]",
        *,
        pipe: Any = None,
        **options: Unpack[Options],
    ) -> None:
        connection = AsyncConnection(conn)
        super().__init__(PROCEDURES, **options)
        self._connection = connection

    async def _run(self, steps: Steps[T]) -> T:
        session = self._connection.session()
        try:
            return await self._driven(steps, session.perform)
        finally:
            await session.end()

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls,
        conn_string: str,
        *,
        pipeline: bool = False,
        pool_config: PoolConfig | None = None,
        **options: Unpack[Options],
    ) -> AsyncIterator["AsyncPostgresStore"]:
        """A store at an address, closed at the end of the block; the arguments are PostgresStore's."""
        if pool_config is None:
            async with cls(conn_string, **options)._closing() as store:
                yield store
            return
        from psycopg_pool import AsyncConnectionPool

        pool, process = pool_at(conn_string, pool_config, AsyncConnectionPool), os.getpid()
        await pool.open()
        try:
            async with cls(pool, **options)._closing() as store:
                yield store
        finally:
            if os.getpid() == process:  # a forked child would close the connections of its parent
                await pool.close()

    async def close(self) -> None:
        """Stop the sweeper, and close the connections that the store opened."""
        await super().close()
        await self._connection.close()
