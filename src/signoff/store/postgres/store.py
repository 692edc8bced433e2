"""PostgresStore: the procedures of `statements`, performed with psycopg."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from typing_extensions import Unpack

from signoff._postgres.connection import Connection
from signoff.steps import Steps
from signoff.store._shells import Options, SyncShell
from signoff.store.postgres.pools import PoolConfig, pool_at
from signoff.store.postgres.schema import MIGRATIONS
from signoff.store.postgres.statements import PROCEDURES

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

__all__ = ["PoolConfig", "PostgresStore"]

T = TypeVar("T")


class PostgresStore(SyncShell):
    """Items in Postgres. Threads, processes and machines may share them.

        with PostgresStore.from_conn_string("postgresql://localhost/app") as store:
            store.put(("users", "ana"), "likes", {"text": "tea"})

    Args:
        conn: An address, a connection, or an open psycopg_pool.ConnectionPool. A connection is used in turns.
        pipe: Taken for LangGraph's sake, and not needed: a batch is one trip anyway. A connection in pipeline mode is
            left to its owner, and another one like it is opened.
        deserializer: What reads a stored value, given as JSON text; `json.loads` if not said.
        index: Makes items searchable by meaning. Vectors are compared here, not in the database.
        ttl: How long items live.
        clock: What tells the time, in seconds.
    """

    MIGRATIONS = MIGRATIONS

    def __init__(
        self,
        conn: "str | psycopg.Connection[Any] | ConnectionPool[Any]",
        *,
        pipe: Any = None,
        **options: Unpack[Options],
    ) -> None:
        connection = Connection(conn)
        super().__init__(PROCEDURES, **options)
        self._connection = connection

    def _run(self, steps: Steps[T]) -> T:
        session = self._connection.session()
        try:
            return self._driven(steps, session.perform)
        finally:
            session.end()

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        pipeline: bool = False,
        pool_config: PoolConfig | None = None,
        **options: Unpack[Options],
    ) -> Iterator["PostgresStore"]:
        """A store at an address, closed at the end of the `with` block.

        pipeline: makes no difference, since a batch is one trip to the server anyway.
        pool_config: has a psycopg_pool; without it, connections are opened as they are needed, up to 16.
        """
        if pool_config is None:
            with cls(conn_string, **options)._closing() as store:
                yield store
            return
        from psycopg_pool import ConnectionPool

        pool, process = pool_at(conn_string, pool_config, ConnectionPool), os.getpid()
        pool.open()
        try:
            with cls(pool, **options)._closing() as store:
                yield store
        finally:
            if os.getpid() == process:  # a forked child would close the connections of its parent
                pool.close()

    def close(self) -> None:
        """Stop the sweeper, and close the connections that the store opened."""
        super().close()
        self._connection.close()
