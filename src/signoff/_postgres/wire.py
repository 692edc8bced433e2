"""A statement, sent and answered, on a connection of psycopg but without a cursor: to make one and to have it
think about the statement takes longer than the whole rest of what a client does. Written once, for sync and async:

    conn.wait(answer(conn, statement))
"""

import re
from collections.abc import Generator
from functools import cached_property, lru_cache
from itertools import count
from typing import Any

import psycopg
from psycopg import generators
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ExecStatus, Format

from signoff._postgres.effects import Execute, Row

__all__ = ["OwnAsyncConnection", "OwnConnection", "answer"]

TUPLES_OK, FATAL_ERROR, BINARY = ExecStatus.TUPLES_OK, ExecStatus.FATAL_ERROR, Format.BINARY

_MARKS = re.compile("%[s%]")


def answer(conn: Any, statement: Execute) -> Generator[Any, Any, list[Row]]:
    """Send a statement, which is not prepared; its rows. Whoever waits for them has the lock of the connection."""
    pgconn, adapted = conn.pgconn, getattr(conn, "adapted", None) or Transformer(conn)
    sql, formats = _numbered(statement.sql)
    values = adapted.dump_sequence(statement.params, formats)
    pgconn.send_query_params(sql, values, adapted.types, adapted.formats, BINARY)
    *_, result = yield from generators.execute(pgconn)  # behind the rows, a server may still say that it goes
    if result.status == FATAL_ERROR:
        raise error_from_result(result, encoding=conn.info.encoding)
    if result.status != TUPLES_OK:
        return []
    adapted.set_pgresult(result)
    rows: list[Row] = adapted.load_rows(0, result.ntuples, tuple)
    adapted.set_pgresult(None)
    return rows


class _Own:
    """A connection that nobody else has: how values are written and read on it does not change, and is kept."""

    @cached_property
    def adapted(self) -> Any:
        return Transformer(self)  # type: ignore[arg-type]


class OwnConnection(_Own, psycopg.Connection[Any]):
    """A connection of our own."""


class OwnAsyncConnection(_Own, psycopg.AsyncConnection[Any]):
    """The same for asyncio."""


@lru_cache(maxsize=1024)
def _numbered(sql: str) -> tuple[bytes, list[PyFormat]]:
    """A statement with its parameters numbered, as the server wants them, and how each of them is sent."""
    numbers = count(1)
    text = _MARKS.sub(lambda mark: "%" if mark[0] == "%%" else f"${next(numbers)}", sql)
    return text.encode(), [PyFormat.AUTO] * (next(numbers) - 1)
