"""SqliteSaver: the procedures of the log, performed on a sqlite3 connection."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

from signoff._sqlite.connection import Connection, OnConnection, connect
from signoff.checkpoint.log.shell import SyncLogSaver
from signoff.checkpoint.sqlite.tables import SqliteTables

__all__ = ["SqliteSaver"]


class SqliteSaver(OnConnection, SyncLogSaver):
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
        super().__init__(SqliteTables(self), serde=serde)
        self.clock: Callable[[], float] = time.time
        self._connection = Connection(conn)

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str | os.PathLike[str], *, serde: Any = None) -> Iterator["SqliteSaver"]:
        """A saver in the file of this name, or in memory with ":memory:", closed at the end of the `with` block."""
        with closing(cls(connect(conn_string), serde=serde)) as saver:
            yield saver

    def close(self) -> None:
        """Close the connection, once what is being stored is stored."""
        self._connection.close()
