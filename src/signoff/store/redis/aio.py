"""AsyncRedisStore: the procedures, performed with redis-py for asyncio."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from signoff._redis.aio import AsyncConnection
from signoff.store._shells_aio import AsyncServerStore
from signoff.store.base import IndexConfig, TTLConfig
from signoff.store.redis.procedures import procedures_of
from signoff.store.redis.store import PREFIX

if TYPE_CHECKING:
    import redis.asyncio

__all__ = ["AsyncRedisStore"]


class AsyncRedisStore(AsyncServerStore):
    """Items in Redis or Valkey, for asyncio. Create it inside the event loop that uses it.

    Its sync methods may be called from other threads; they wait for the loop. The arguments are those of
    RedisStore, with an async client.
    """

    def __init__(
        self,
        conn: "str | redis.asyncio.Redis",
        *,
        prefix: str = PREFIX,
        deserializer: Callable[[str], dict[str, Any]] | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        connection = AsyncConnection(conn)
        super().__init__(
            lambda: connection.perform,
            procedures_of(prefix),
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
        prefix: str = PREFIX,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> AsyncIterator["AsyncRedisStore"]:
        """A store at an address, closed at the end of the block."""
        store = cls(conn_string, prefix=prefix, index=index, ttl=ttl, clock=clock)
        try:
            yield store
        finally:
            await store.close()

    async def close(self) -> None:
        """Stop the sweeper, and close the client if the store made it."""
        await self.stop_ttl_sweeper()
        await self._connection.close()
