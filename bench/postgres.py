"""A Postgres for the benchmarks: a throw-away one of the tests, which waits for the disk as a real one does."""

import re
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

sys.path.append(str(Path(__file__).parent.parent / "tests"))

from servers import postgres, run  # type: ignore[import-not-found]

SETTINGS = {"listen_addresses": "", "max_connections": "200"}
"""Of a fresh server otherwise: fsync and synchronous_commit are on."""


@contextmanager
def server_of_this_run() -> Iterator[None]:
    """Inside of it there is a server, also for the processes that are started; it is started when it is needed."""
    held = run.Run()
    try:
        yield
    finally:
        held.end()


def url() -> str:
    """Where the server is."""
    return str(run.once("bench-postgres", lambda: postgres.PostgresServer.new(SETTINGS).url))


class Schema(NamedTuple):
    """A place of its own in the database."""

    name: str
    url: str


@contextmanager
def schema(*, is_logged: bool = False) -> Iterator[Schema]:
    """A new and empty schema; where it is logged, the server writes down every message that it gets."""
    name = f"bench_{uuid.uuid4().hex[:16]}"
    options = f"-csearch_path={name}{' -clog_statement=all' * is_logged}"
    _ask(f"CREATE SCHEMA {name}")
    yield Schema(name, make_conninfo(url(), options=options))
    _ask("SET client_min_messages = error", f"DROP SCHEMA {name} CASCADE")


def messages() -> int:
    """How many messages with SQL the server has written down."""
    log = Path(str(conninfo_to_dict(url())["host"]), "log")
    return len(re.findall(r"LOG:  (?:statement|execute [^:]*):", log.read_text(errors="replace")))


def write_transactions() -> int:
    """How many transactions have written something: only those get a number."""
    return int(_ask("SELECT pg_snapshot_xmax(pg_current_snapshot())::text"))


def bytes_in(schema: str) -> int:
    """The size of the tables of a schema, their indexes included."""
    size = (
        "SELECT SUM(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = %s::regnamespace"
    )
    return int(_ask(size, params=(schema,)) or 0)


def contents_of(schema: str) -> int:
    """The bytes of all rows of a schema: what its pages are filled with."""
    tables = _ask("SELECT array_agg(tablename::text) FROM pg_tables WHERE schemaname = %s", params=(schema,))
    return sum(int(_ask(f"SELECT COALESCE(SUM(pg_column_size(t.*)), 0) FROM {schema}.{table} t")) for table in tables)


def setting(name: str) -> str:
    """A setting of the server."""
    return str(_ask(f"SHOW {name}"))


def _ask(*statements: str, params: Any = None) -> Any:
    with psycopg.connect(url(), autocommit=True) as conn:
        for statement in statements:
            cursor = conn.execute(statement, params)
        row = cursor.fetchone() if cursor.description else None
        return row[0] if row else None
