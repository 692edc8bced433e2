"""AsyncSqliteStore: the procedures of `statements`, performed on an aiosqlite connection."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from typing_extensions import Unpack

from signoff._loops import SyncCallInLoop
from signoff._sqlite.aio import AsyncConnection, connecting
from signoff.steps import Steps
from signoff.store._shells import Options
from signoff.store._shells_aio import AsyncShell
from signoff.store.sqlite.schema import MIGRATIONS
from signoff.store.sqlite.statements import PROCEDURES

if TYPE_CHECKING:
    import aiosqlite

__all__ = ["AsyncSqliteStore", "SyncCallInLoop"]

T = TypeVar("T")


class AsyncSqliteStore(AsyncShell):
    """Items in a SQLite file, for asyncio. Create it inside the event loop that uses it.

    Its sync methods may be called from other threads; they wait for the loop. The arguments are those of
    SqliteStore, with an aiosqlite connection.
    """

    MIGRATIONS = MIGRATIONS

    def __init__(self, conn: "aiosqlite.Connection", **options: Unpack[Options]) -> None:
        connection = AsyncConnection(conn)
        super().__init__(PROCEDURES, **options)
        self._connection = connection

    async def _run(self, steps: Steps[T]) -> T:
        return await self._driven(steps, self._connection.perform)

    @property
    def conn(self) -> "aiosqlite.Connection":
        """The connection."""
        return self._connection.conn

    @property
    def lock(self) -> asyncio.Lock:
        """What whoever uses the connection has."""
        return self._connection.lock

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, conn_string: str | os.PathLike[str], **options: Unpack[Options]
    ) -> AsyncIterator["AsyncSqliteStore"]:
        """A store in the file of this name, closed at the end of the `async with` block."""
        async with connecting(conn_string) as conn, cls(conn, **options)._closing() as store:
            yield store
