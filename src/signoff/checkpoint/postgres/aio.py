"""AsyncPostgresSaver: the procedures of the log, performed with psycopg for asyncio."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg

from signoff._loops import Once
from signoff._postgres.aio import AsyncConnection
from signoff.checkpoint.log.shell_aio import AsyncLogSaver
from signoff.checkpoint.postgres.schema import MIGRATIONS
from signoff.checkpoint.postgres.tables import PostgresTables
from signoff.steps import Steps

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

__all__ = ["AsyncPostgresSaver"]

T = TypeVar("T")


class AsyncPostgresSaver(AsyncLogSaver):
    """Checkpoints in Postgres, for asyncio. Create it inside the event loop that uses it.

        async with AsyncPostgresSaver.from_conn_string("postgresql://localhost/app") as saver:
            graph = builder.compile(checkpointer=saver)

    What PostgresSaver says is true here, too; the connection or pool is an async one.
    """

    MIGRATIONS = MIGRATIONS

    def __init__(
        self,
        conn: "str | psycopg.AsyncConnection[Any] | AsyncConnectionPool[Any]",
        pipe: Any = None,
        *,
        serde: Any = None,
    ) -> None:
        super().__init__(PostgresTables(self), serde=serde)
        self.conn = conn
        self._connection = AsyncConnection(conn)
        self._setting_up = Once()

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, conn_string: str, *, pipeline: bool = False, serde: Any = None
    ) -> AsyncIterator["AsyncPostgresSaver"]:
        """A saver at an address, closed at the end of the block."""
        saver = cls(conn_string, serde=serde)
        try:
            yield saver
        finally:
            await saver.close()

    async def close(self) -> None:
        """Close the connections that the saver opened; a connection or pool that was given is its owner's."""
        await self._connection.close()

    async def setup(self) -> None:
        """Create or update the tables. The first use of the saver does it too."""
        await self._connection.run(self._set_up())

    async def _run(self, steps: Steps[T]) -> T:
        if not self.is_setup:
            await self._setting_up.do(self.setup)
        return await self._connection.run(steps)
