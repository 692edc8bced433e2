"""AsyncSqliteSaver: the procedures of the log, performed on an aiosqlite connection."""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from signoff._sqlite.aio import SyncCallInLoop, in_its_thread, performer_of, wait_for
from signoff._sqlite.connection import Connection, connect_options
from signoff.checkpoint._halves import SyncOfAsync
from signoff.checkpoint.base import CheckpointTuple, Lease, Standing
from signoff.checkpoint.log.reading import pages
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.sqlite.log import SqliteLogSaver
from signoff.config import RunnableConfig
from signoff.steps import Steps

if TYPE_CHECKING:
    import aiosqlite

__all__ = ["AsyncSqliteSaver", "SyncCallInLoop"]

T = TypeVar("T")


class AsyncSqliteSaver(SyncOfAsync, SqliteLogSaver):
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
        super().__init__(serde=serde)
        self.conn = conn
        self.loop = asyncio.get_running_loop()
        self._connection: Connection | None = None

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, conn_string: str, *, serde: Any = None) -> AsyncIterator["AsyncSqliteSaver"]:
        """A saver in the file of this name, or in memory with ":memory:", closed at the end of the block."""
        import aiosqlite

        async with aiosqlite.connect(conn_string, **connect_options(conn_string)) as conn:
            yield cls(conn, serde=serde)

    async def setup(self) -> None:
        """Create or update the tables. The first use of the saver does it too."""
        await self._run(self._set_up())

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; the newest of its thread and namespace if it names none."""
        return await self._run(self._read(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Checkpoints, newest first."""
        for page in pages(await self._run(self._find(config, filter, before, limit))):
            for found in await self._run(self._load(page)):
                yield found

    async def afind_questions(self, wanted: Wanted) -> Sequence[Question]:
        """The open questions of all threads that are wanted, oldest first."""
        return await self._run(self._find_questions(wanted))

    async def alook(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        """The checkpoint that the config names, and how its thread stands."""
        return await self._run(self._look(config))

    async def astore(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        """Store what `prepare` made, in one transaction."""
        await self._run(self._append(prepared, lease, ends))

    async def arenew(self, lease: Lease) -> None:
        """Give a sign of life: the lease begins anew."""
        await self._run(self._renew(lease))

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget a thread, nested graphs included."""
        await self._run(self._delete_thread(thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the checkpoints that these runs made, by the run_id in their metadata."""
        await self._run(self._delete_for_runs(run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history to a thread that has not begun."""
        await self._run(self._copy_thread(source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget all but the newest checkpoint of each namespace of threads ("keep_latest"), or all ("delete")."""
        await self._run(self._prune(thread_ids, strategy))

    async def _run(self, steps: Steps[T]) -> T:
        """Run a procedure in the connection's thread: whole, even if whoever waits for it is cancelled."""
        if self._connection is None:
            self._connection = performer_of(self.conn)
        return await in_its_thread(self.conn, self._connection.run, steps)

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return wait_for(coroutine, self.loop, self)
