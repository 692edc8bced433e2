"""AsyncRedisSaver: the procedures of the log, performed with redis-py for asyncio."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import redis.asyncio

from signoff._redis.aio import AsyncConnection
from signoff.checkpoint.log.shell_aio import AsyncLogSaver
from signoff.checkpoint.redis.keys import RedisKeys
from signoff.checkpoint.redis.saver import PREFIX
from signoff.steps import Steps

__all__ = ["AsyncRedisSaver"]

T = TypeVar("T")


class AsyncRedisSaver(AsyncLogSaver):
    """Checkpoints in Redis, for asyncio. Create it inside the event loop that uses it.

        async with AsyncRedisSaver.from_conn_string("redis://localhost:6379") as saver:
            graph = builder.compile(checkpointer=saver)

    What RedisSaver says is true here, too; the client is one of redis.asyncio.
    """

    def __init__(self, conn: "str | redis.asyncio.Redis", *, prefix: str = PREFIX, serde: Any = None) -> None:
        super().__init__(RedisKeys(self, prefix), serde=serde)
        self._connection = AsyncConnection(conn)

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, conn_string: str, *, prefix: str = PREFIX, serde: Any = None
    ) -> AsyncIterator["AsyncRedisSaver"]:
        """A saver at an address, closed at the end of the block."""
        saver = cls(conn_string, prefix=prefix, serde=serde)
        try:
            yield saver
        finally:
            await saver.close()

    async def close(self) -> None:
        """Close the client if the saver made it."""
        await self._connection.close()

    async def _run(self, steps: Steps[T]) -> T:
        return await self._connection.run(steps)
