"""Statements with `?1`, where Python takes that for a name.

Versions 3.12.0 to 3.12.3 warn of every such statement that is given its values in order. There connections give them by
name, those that are opened here and those of others; on any other version they are plain ones. A number that is left
out has no name: a statement uses all of them, from 1 on.
"""

import sqlite3
import sys
from collections.abc import Iterable
from typing import Any, cast

__all__ = ["CONNECTION", "numbered"]


class _Cursor(sqlite3.Cursor):
    def execute(self, sql: str, params: Any = (), /) -> Any:
        return super().execute(sql, _named(sql, params))

    def executemany(self, sql: str, rows: Iterable[Any], /) -> Any:
        return super().executemany(sql, (_named(sql, params) for params in rows))


class _Connection(sqlite3.Connection):
    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)

    def execute(self, sql: str, params: Any = (), /) -> Any:
        return self.cursor().execute(sql, params)

    def executemany(self, sql: str, rows: Iterable[Any], /) -> Any:
        return self.cursor().executemany(sql, rows)


def _named(sql: str, params: Any) -> Any:
    return {str(place): value for place, value in enumerate(params, start=1)} if "?1" in sql else params


_WARNS = (3, 12) <= sys.version_info < (3, 12, 4)

CONNECTION = _Connection if _WARNS else sqlite3.Connection
"""What connections are made of."""


def numbered(conn: sqlite3.Connection) -> sqlite3.Connection:
    """A connection that takes such statements, also if somebody else has opened it."""
    is_theirs = isinstance(conn, sqlite3.Connection) and not isinstance(conn, _Connection)
    return cast(sqlite3.Connection, _Wrapped(conn)) if _WARNS and is_theirs else conn


class _Wrapped:
    """Somebody else's connection."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conn, name)

    def cursor(self) -> sqlite3.Cursor:
        return self._conn.cursor(_Cursor)

    def execute(self, sql: str, params: Any = (), /) -> Any:
        return self.cursor().execute(sql, params)

    def executemany(self, sql: str, rows: Iterable[Any], /) -> Any:
        return self.cursor().executemany(sql, rows)
