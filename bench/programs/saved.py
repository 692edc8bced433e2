"""Steps that are stored: on every saver, in every durability, sync and async; and what a bare INSERT costs."""

import sqlite3
from typing import Any, TypedDict

import msgpack
import psycopg

from bench import postgres
from bench.library import Library
from bench.measuring import CPU, WALL, Clock, Run, Work
from bench.meters import sqlite_bytes
from bench.programs.words import aadd_one, between, chain
from bench.storage import MEMORY, POSTGRES, SQLITE_FULL, Kind, Storage, new_folder


class Loaded(TypedDict):
    x: int
    load: bytes


def saved_step(lib: Library, kind: Kind, durability: str, clock: Clock = CPU) -> Work:
    """A step that is stored."""
    storage = Storage(lib, kind)

    def running(length: int) -> Run:
        app = chain(lib, length).compile(checkpointer=storage.saver)
        return lambda: app.invoke({"x": 0}, storage.new_thread(), durability=durability)

    return between(running, **_lengths(clock), storage=storage, clock=clock)


def async_saved_step(lib: Library, kind: Kind, durability: str, clock: Clock = CPU) -> Work:
    """A step of an async node that is stored."""
    storage = Storage(lib, kind, is_async=True)

    def running(length: int) -> Run:
        app = chain(lib, length, aadd_one).compile(checkpointer=storage.saver)
        return lambda: lib.run(app.ainvoke({"x": 0}, storage.new_thread(), durability=durability))

    return between(running, **_lengths(clock), storage=storage, clock=clock)


def _lengths(clock: Clock) -> dict[str, int]:
    """By the wall, short runs that take turns often: how long a disk takes changes from moment to moment."""
    return {"long": 35, "short": 5} if clock is WALL else {}


def saved_one_node(lib: Library, kind: Kind = MEMORY) -> Work:
    """A whole call of a graph with one node, stored."""
    storage = Storage(lib, kind)
    app = chain(lib, 1).compile(checkpointer=storage.saver)
    return Work(lambda: app.invoke({"x": 0}, storage.new_thread()), tidy=storage.forget, meter=storage.meter)


def bare_insert(lib: Library, kind: Kind, clock: Clock) -> Work:
    """A value, encoded and inserted into a table by hand: what a step that is stored cannot be cheaper than."""
    conn, mark = _bare_postgres(lib) if kind is POSTGRES else _bare_sqlite(lib, kind)
    sql = f"INSERT INTO steps (thread_id, step, body) VALUES ({mark}, {mark}, {mark})"
    numbers = iter(range(1, 10**9))

    def insert() -> None:
        for _ in range(30):
            number = next(numbers)
            conn.execute(sql, ("1", number, msgpack.packb({"x": number})))

    return Work(insert, 30, clock=clock)


def _bare_sqlite(lib: Library, kind: Kind) -> tuple[Any, str]:
    conn = sqlite3.connect(lib.enter(new_folder()) / "bare.db", isolation_level=None)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute(f"PRAGMA synchronous = {kind.synchronous}")
    conn.execute(f"CREATE TABLE steps {_COLUMNS.format(bytes='BLOB')}")
    return conn, "?"


def _bare_postgres(lib: Library) -> tuple[Any, str]:
    conn = lib.enter(psycopg.connect(lib.enter(postgres.schema()).url, autocommit=True))
    conn.execute(f"CREATE TABLE steps {_COLUMNS.format(bytes='BYTEA')}")
    return conn, "%s"


_COLUMNS = "(thread_id TEXT, step INTEGER, body {bytes}, PRIMARY KEY (thread_id, step))"


def loaded_step(lib: Library, kind: Kind = SQLITE_FULL) -> Work:
    """A step beside a value of one megabyte that does not change."""
    storage = Storage(lib, kind)
    values: Any = {"x": 0, "load": b"x" * 1_000_000}

    def running(length: int) -> Run:
        app = chain(lib, length, state=Loaded).compile(checkpointer=storage.saver)
        return lambda: app.invoke(values, storage.new_thread())

    return between(running, long=22, short=2, storage=storage)


def bytes_beside_a_load(lib: Library, steps: int = 100) -> float:
    """What a step stores beside a value of one megabyte that does not change."""
    storage = Storage(lib, SQLITE_FULL)
    app = chain(lib, steps, state=Loaded).compile(checkpointer=storage.saver)
    app.invoke({"x": 0, "load": b"x" * 1_000_000}, storage.new_thread())
    return sqlite_bytes(storage.address) / steps
