"""SqliteStore: the procedures of `statements`, performed on a sqlite3 connection."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

from typing_extensions import Unpack

from signoff._sqlite.connection import Connection, OnConnection, connecting
from signoff.steps import Steps
from signoff.store._shells import Options, SyncShell
from signoff.store.sqlite.schema import MIGRATIONS
from signoff.store.sqlite.statements import PROCEDURES

__all__ = ["SqliteStore"]

T = TypeVar("T")


class SqliteStore(OnConnection, SyncShell):
    """Items in a SQLite file. Threads share its connection in turns; processes share the file.

    Args:
        conn: A connection of the store's own, with no transaction open, and with check_same_thread=False if
            several threads use the store.
        deserializer: What reads a stored value, given as JSON text; `json.loads` if not said.
        index: Makes items searchable by meaning.
        ttl: How long items live.
        clock: What tells the time, in seconds.
    """

    MIGRATIONS = MIGRATIONS

    def __init__(self, conn: sqlite3.Connection, **options: Unpack[Options]) -> None:
        connection = Connection(conn)
        super().__init__(PROCEDURES, **options)
        self._connection = connection

    def _run(self, steps: Steps[T]) -> T:
        try:
            return self._driven(steps, self._connection.perform_or_explain)
        finally:
            self._connection.release()

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, conn_string: str | os.PathLike[str], **options: Unpack[Options]
    ) -> Iterator["SqliteStore"]:
        """A store in the file of this name, closed at the end of the `with` block."""
        with connecting(conn_string) as conn, cls(conn, **options)._closing() as store:
            yield store
