"""AsyncSqliteSaver: the procedures of the log, performed on an aiosqlite connection."""

import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from signoff._loops import SyncCallInLoop
from signoff._sqlite.aio import Lane, connecting
from signoff._sqlite.explaining import check_connection
from signoff.checkpoint.log.shell_aio import AsyncLogSaver
from signoff.checkpoint.serde.own import carried
from signoff.checkpoint.sqlite.tables import SqliteTables
from signoff.steps import Steps

if TYPE_CHECKING:
    import aiosqlite

__all__ = ["AsyncSqliteSaver", "SyncCallInLoop"]

T = TypeVar("T")


class AsyncSqliteSaver(AsyncLogSaver):
    """Checkpoints in a SQLite file, for asyncio. Create it inside the event loop that uses it.

        async with AsyncSqliteSaver.from_conn_string("runs.db") as saver:
            graph = builder.compile(checkpointer=saver)

    Its sync methods may be called from other threads; they wait for the loop. What SqliteSaver says about the
    file and the loss of power is true here, too.

    Args:
        conn: An open aiosqlite connection of the saver's own.
        serde: What turns values into bytes; JsonPlusSerializer by default.
    """

    def __init__(self, conn: "aiosqlite.Connection", *, serde: Any = None) -> None:
        check_connection(conn, is_async=True)
        super().__init__(SqliteTables(self), serde=serde)
        self.clock: Callable[[], float] = time.time
        self._lane = Lane(conn, self.loop)

    @property
    def conn(self) -> "aiosqlite.Connection":
        """The connection."""
        return self._lane.conn

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, conn_string: str | os.PathLike[str], *, serde: Any = None
    ) -> AsyncIterator["AsyncSqliteSaver"]:
        """A saver in the file of this name, or in memory with ":memory:", closed at the end of the block."""
        async with connecting(conn_string) as conn:
            yield cls(conn, serde=serde)

    async def _run(self, steps: Steps[T]) -> T:
        """Run a procedure in the connection's thread: whole, even if whoever waits for it is cancelled."""
        return await self._lane.run(carried(steps))
