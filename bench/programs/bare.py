"""What storing costs with no engine around it: a table, statements by hand, and the same commits."""

import sqlite3
from collections.abc import Callable
from itertools import count
from typing import Any

import msgpack
import psycopg

from bench import postgres
from bench.library import Library
from bench.measuring import WALL, Clock, Work
from bench.storage import POSTGRES, Kind, new_folder


def bare_insert(lib: Library, kind: Kind, clock: Clock) -> Work:
    """A value, encoded and inserted into a table by hand: what a step that is stored cannot be cheaper than."""
    insert, _ = _table(lib, kind)
    numbers = count(1)

    def insert_some() -> None:
        for _ in range(30):
            insert("1", next(numbers))

    return Work(insert_some, 30, clock=clock)


def bare_waiting(lib: Library, threads: int, kind: Kind) -> Work:
    """The commits and reads of threads that ask and are answered: two calls each, a read and two commits a call."""
    insert, read = _table(lib, kind)
    names = map(str, count())

    def ask_and_answer() -> None:
        ids = [next(names) for _ in range(threads)]
        for call in (0, 1):
            for id in ids:
                read(id)
                insert(id, 2 * call)
                insert(id, 2 * call + 1)

    return Work(ask_and_answer, threads, clock=WALL)


def _table(lib: Library, kind: Kind) -> tuple[Callable[[str, int], Any], Callable[[str], Any]]:
    """How to insert a step of a thread into a new table, and to read the last one."""
    conn, mark, bytes = (*_postgres(lib), "BYTEA") if kind is POSTGRES else (*_sqlite(lib, kind), "BLOB")
    conn.execute(f"CREATE TABLE steps (thread_id TEXT, step INTEGER, body {bytes}, PRIMARY KEY (thread_id, step))")
    insertion = f"INSERT INTO steps (thread_id, step, body) VALUES ({mark}, {mark}, {mark})"
    query = f"SELECT body FROM steps WHERE thread_id = {mark} ORDER BY step DESC LIMIT 1"

    def insert(id: str, step: int) -> None:
        conn.execute(insertion, (id, step, msgpack.packb({"x": step})))

    return insert, lambda id: conn.execute(query, (id,)).fetchall()


def _sqlite(lib: Library, kind: Kind) -> tuple[Any, str]:
    conn = sqlite3.connect(lib.enter(new_folder()) / "bare.db", isolation_level=None)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute(f"PRAGMA synchronous = {kind.synchronous}")
    return conn, "?"


def _postgres(lib: Library) -> tuple[Any, str]:
    return lib.enter(psycopg.connect(lib.enter(postgres.schema()).url, autocommit=True)), "%s"
