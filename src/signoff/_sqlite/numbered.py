"""Statements with `?1`, where Python takes that for a name.

Versions 3.12.0 to 3.12.3 warn of every such statement that is given its values in order. Connections that are opened
here give them by name there; on any other version they are plain ones.
"""

import sqlite3
import sys
from collections.abc import Iterable
from typing import Any

__all__ = ["CONNECTION"]


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


CONNECTION = _Connection if (3, 12) <= sys.version_info < (3, 12, 4) else sqlite3.Connection
"""What connections are made of."""
