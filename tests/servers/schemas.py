"""Schemas with tables in them, for one test after the other: to make tables takes longer than most tests do.

A schema is used again only if nothing of the last test is left in it. Its tables and functions must be as they were
made, else it is dropped. It is emptied, which waits for those who are still at it, and has another name each time, so
that who comes late finds nothing, as if it had been dropped.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo

LARGE = 2_000_000
"""So many bytes are dropped rather than emptied: rows that were deleted keep their place for a while."""

# The rows of the catalogue change whenever a table, a column, an index, a function or a right does; each has the
# number of the transaction that wrote it.
SHAPE = """
    WITH relations AS (SELECT oid, xmin FROM pg_class WHERE relnamespace = %(schema)s::regnamespace)
    SELECT sum(hashtextextended(fact, 0)) FROM (
        SELECT oid || ' ' || xmin FROM relations
        UNION ALL SELECT attrelid || '.' || attnum || ' ' || xmin FROM pg_attribute
            WHERE attrelid IN (SELECT oid FROM relations)
        UNION ALL SELECT oid || ' ' || xmin FROM pg_trigger WHERE tgrelid IN (SELECT oid FROM relations)
        UNION ALL SELECT oid || ' ' || xmin FROM pg_constraint WHERE connamespace = %(schema)s::regnamespace
        UNION ALL SELECT oid || ' ' || xmin FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace
        UNION ALL SELECT 'may ' || nspacl::text FROM pg_namespace WHERE oid = %(schema)s::regnamespace
    ) AS facts (fact)
"""
TABLES = """
    SELECT relname, pg_total_relation_size(oid) FROM pg_class
    WHERE relnamespace = %(schema)s::regnamespace AND relkind = 'r'
"""


class Schemas:
    """Those of one process, on one server.

    make: makes the tables, given an address.
    migrations: the table with the numbers of the migrations. It is not emptied, and must be as it was, too.
    """

    def __init__(self, url: str, make: Callable[[str], None], migrations: str) -> None:
        self._url, self._make, self._migrations = url, make, migrations
        self._conn = psycopg.connect(url, autocommit=True)
        self._conn.execute("SET client_min_messages = error")  # not a line for each table that is dropped
        self._conn.execute("SET lock_timeout = '30s'")
        self._spare: list[tuple[str, Any]] = []

    @contextmanager
    def one(self) -> Iterator[str]:
        """An address with a schema of its own: tables, and nothing in them."""
        name, shape = self._spare.pop() if self._spare else self._new()
        try:
            yield self._address(name)
        finally:
            if self._is_as_it_was(name, shape):
                self._spare.append((self._emptied(name), shape))
            else:
                self._drop(name)

    def close(self) -> None:
        for name, _ in self._spare:
            self._drop(name)
        self._conn.close()

    def _new(self) -> tuple[str, Any]:
        name = _name()
        self._conn.execute(f"CREATE SCHEMA {name}")
        self._make(self._address(name))
        return name, self._shape(name)

    def _is_as_it_was(self, name: str, shape: Any) -> bool:
        try:
            return self._shape(name) == shape and sum(size for _, size in self._tables(name)) < LARGE
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedObject):
            return False

    def _emptied(self, name: str) -> str:
        """Empty it. Returns its new name."""
        tables, new_name = [table for table, _ in self._tables(name)], _name()
        lock = f"LOCK TABLE {', '.join(f'{name}.{table}' for table in tables)}"
        delete = [f"DELETE FROM {name}.{table}" for table in tables if table != self._migrations]
        tell = "SELECT pg_stat_force_next_flush()"  # and not when somebody else counts what happens to the tables
        with self._conn.transaction():
            self._conn.execute("; ".join([lock, *delete, f"ALTER SCHEMA {name} RENAME TO {new_name}", tell]))
        return new_name

    def _drop(self, name: str) -> None:
        self._conn.execute(f"DROP SCHEMA IF EXISTS {name} CASCADE")

    def _shape(self, name: str) -> Any:
        numbers = f"SELECT array_agg(number ORDER BY number) FROM {name}.{self._migrations}"
        return self._ask(SHAPE, name), self._ask(numbers, name)

    def _tables(self, name: str) -> list[tuple[Any, ...]]:
        return self._ask(TABLES, name)

    def _ask(self, sql: str, name: str) -> list[tuple[Any, ...]]:
        return self._conn.execute(sql, {"schema": name}).fetchall()

    def _address(self, name: str) -> str:
        return make_conninfo(self._url, options=f"-csearch_path={name}")


def _name() -> str:
    return f"signoff_test_{uuid.uuid4().hex[:16]}"
