"""SqliteSaver: the procedures of the log, performed on a sqlite3 connection."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from signoff._sqlite.connection import Connection, connect
from signoff.checkpoint._halves import AsyncOfSync
from signoff.checkpoint.base import CheckpointTuple, Lease, Standing
from signoff.checkpoint.log.reading import pages
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.sqlite.log import SqliteLogSaver
from signoff.config import RunnableConfig
from signoff.steps import Steps

__all__ = ["SqliteSaver"]

T = TypeVar("T")


class SqliteSaver(AsyncOfSync, SqliteLogSaver):
    """Checkpoints in a SQLite file. Threads share its connection in turns; processes share the file.

        with SqliteSaver.from_conn_string("runs.db") as saver:
            graph = builder.compile(checkpointer=saver)

    A checkpoint that was stored survives the death of the process. Whether it survives a loss of power is
    SQLite's `PRAGMA synchronous`, which is left as the connection has it: by default, FULL, it does; with
    NORMAL the last ones may be gone, the file is never broken, and a step costs no wait for the disk.

    Its async methods work in threads. AsyncSqliteSaver has one thread for all of them.

    Args:
        conn: A connection of the saver's own, opened with check_same_thread=False, with no transaction open.
        serde: What turns values into bytes; JsonPlusSerializer by default.
    """

    def __init__(self, conn: sqlite3.Connection, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self.conn = conn
        self._connection = Connection(conn)
        self.lock = self._connection.lock

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str, *, serde: Any = None) -> Iterator["SqliteSaver"]:
        """A saver in the file of this name, or in memory with ":memory:", closed at the end of the `with` block."""
        saver = cls(connect(conn_string), serde=serde)
        try:
            yield saver
        finally:
            saver.close()

    def close(self) -> None:
        """Close the connection, once what is being stored is stored."""
        with self.lock:
            self.conn.close()

    def setup(self) -> None:
        """Create or update the tables. The first use of the saver does it too."""
        self._run(self._set_up())

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; the newest of its thread and namespace if it names none."""
        return self._run(self._read(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first."""
        for page in pages(self._run(self._find(config, filter, before, limit))):
            yield from self._run(self._load(page))

    def find_questions(self, wanted: Wanted) -> Sequence[Question]:
        """The open questions of all threads that are wanted, oldest first."""
        return self._run(self._find_questions(wanted))

    def look(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        """The checkpoint that the config names, and how its thread stands."""
        return self._run(self._look(config))

    def store(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        """Store what `prepare` made, in one transaction."""
        self._run(self._append(prepared, lease, ends))

    def renew(self, lease: Lease) -> None:
        """Give a sign of life: the lease begins anew."""
        self._run(self._renew(lease))

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread, nested graphs included."""
        self._run(self._delete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the checkpoints that these runs made, by the run_id in their metadata."""
        self._run(self._delete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history to a thread that has not begun."""
        self._run(self._copy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget all but the newest checkpoint of each namespace of threads ("keep_latest"), or all ("delete")."""
        self._run(self._prune(thread_ids, strategy))

    def _run(self, steps: Steps[T]) -> T:
        return self._connection.run(steps)
