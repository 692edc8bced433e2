"""AsyncRedisStore: the procedures, performed with redis-py for asyncio."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from typing_extensions import Unpack

from signoff._redis.aio import AsyncConnection
from signoff.steps import Steps
from signoff.store._shells import Options
from signoff.store._shells_aio import AsyncShell
from signoff.store.redis.procedures import procedures_of
from signoff.store.redis.store import PREFIX

if TYPE_CHECKING:
    import redis.asyncio

__all__ = ["AsyncRedisStore"]

T = TypeVar("T")


class AsyncRedisStore(AsyncShell):
    """Items in Redis or Valkey, for asyncio. Create it inside the event loop that uses it.

    Its sync methods may be called from other threads; they wait for the loop. The arguments are those of
    RedisStore, with an async client.
    """

    def __init__(self, conn: "str | redis.asyncio.Redis", *, prefix: str = PREFIX, **options: Unpack[Options]) -> None:
        connection = AsyncConnection(conn)
        super().__init__(procedures_of(prefix), **options)
        self._connection = connection

    async def _run(self, steps: Steps[T]) -> T:
        return await self._driven(steps, self._connection.perform)

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, conn_string: str, *, prefix: str = PREFIX, **options: Unpack[Options]
    ) -> AsyncIterator["AsyncRedisStore"]:
        """A store at an address, closed at the end of the block."""
        async with cls(conn_string, prefix=prefix, **options)._closing() as store:
            yield store

    async def close(self) -> None:
        """Stop the sweeper, and close the client if the store made it."""
        await super().close()
        await self._connection.close()
