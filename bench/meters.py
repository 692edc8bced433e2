"""Meters: how many statements and commits a saver made so far, and how many bytes it stored.

A commit is a transaction that wrote something: each of them waits for the disk, if the database is told to wait.
"""

import re
import sqlite3
from pathlib import Path
from typing import Any

from bench import postgres
from bench.measuring import Meter

_WRITES = re.compile(r"\s*(?:WITH\b.*?)?(INSERT|UPDATE|DELETE|REPLACE|CREATE|DROP|ALTER)\b", re.IGNORECASE | re.DOTALL)


class Traced:
    """What a connection to SQLite was told; `note` is its trace callback."""

    def __init__(self, conn: Any) -> None:
        self.statements = self.commits = 0
        self._conn = getattr(conn, "_conn", conn)  # of aiosqlite's, the one inside
        self._has_written = False

    def note(self, statement: str) -> None:
        """Take down a statement."""
        self.statements += 1
        if _WRITES.match(statement):
            is_alone = not self._conn.in_transaction
            self.commits += is_alone
            self._has_written = not is_alone
        elif statement.startswith("COMMIT"):
            self.commits += self._has_written
            self._has_written = False
        elif statement.startswith("ROLLBACK"):
            self._has_written = False


def sqlite_meter(path: Path, traced: Traced) -> Meter:
    """What was told to a connection, and the bytes of all values in its file."""

    def read() -> dict[str, float]:
        return {"statements": traced.statements, "commits": traced.commits, "bytes": sqlite_contents(path)}

    return read


def sqlite_bytes(path: Path) -> int:
    """The size of a SQLite file, what is still in its log included."""
    conn = sqlite3.connect(path)
    try:
        (pages,), (size,) = (conn.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
        return int(pages) * int(size)
    finally:
        conn.close()


def sqlite_contents(path: Path) -> int:
    """The bytes of all values in a SQLite file: what its pages are filled with, to the byte."""
    conn = sqlite3.connect(path)
    try:
        tables = [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return sum(_bytes_of(conn, table) for table in tables)
    finally:
        conn.close()


def _bytes_of(conn: sqlite3.Connection, table: str) -> int:
    columns = [row[1] for row in conn.execute(f'PRAGMA table_info("{table}")')]
    lengths = " + ".join(f'COALESCE(LENGTH(CAST("{column}" AS BLOB)), 0)' for column in columns)
    return int(conn.execute(f'SELECT COALESCE(SUM({lengths}), 0) FROM "{table}"').fetchone()[0])


def postgres_meter(schema: str) -> Meter:
    """The messages with SQL that the server got, the transactions that wrote, and the bytes of all rows."""

    def read() -> dict[str, float]:
        return {
            "statements": postgres.messages(),
            "commits": postgres.write_transactions(),
            "bytes": postgres.contents_of(schema),
        }

    return read
