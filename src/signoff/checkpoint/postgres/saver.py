"""PostgresSaver: the procedures of the log, performed with psycopg."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from signoff._postgres.connection import Connection
from signoff.checkpoint.log.shell import SyncLogSaver
from signoff.checkpoint.postgres.schema import MIGRATIONS
from signoff.checkpoint.postgres.tables import PostgresTables

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

__all__ = ["PostgresSaver"]


class PostgresSaver(SyncLogSaver):
    """Checkpoints in Postgres. Threads, processes and machines may share them.

        with PostgresSaver.from_conn_string("postgresql://localhost/app") as saver:
            graph = builder.compile(checkpointer=saver)

    A step is one trip to the server. A connection that has died is replaced. Nothing needs a session, so a
    transaction pooler may stand in between.

    Its async methods work in threads; AsyncPostgresSaver needs none.

    Args:
        conn: An address, a connection, or an open psycopg_pool.ConnectionPool. A connection is used in turns.
        pipe: Taken for LangGraph's sake, and not needed: a step is one trip anyway. A connection in pipeline mode is
            left to its owner, and another one like it is opened.
        serde: What turns values into bytes; JsonPlusSerializer by default.
    """

    MIGRATIONS = MIGRATIONS

    def __init__(
        self, conn: "str | psycopg.Connection[Any] | ConnectionPool[Any]", pipe: Any = None, *, serde: Any = None
    ) -> None:
        super().__init__(PostgresTables(self), serde=serde)
        self.conn = conn
        self._connection = Connection(conn)

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, conn_string: str, *, pipeline: bool = False, serde: Any = None
    ) -> Iterator["PostgresSaver"]:
        """A saver at an address, closed at the end of the `with` block. Connections are opened as they are needed.

        pipeline: makes no difference, since a step is one trip to the server anyway.
        """
        with closing(cls(conn_string, serde=serde)) as saver:
            yield saver

    def close(self) -> None:
        """Close the connections that the saver opened; a connection or pool that was given is its owner's."""
        self._connection.close()
