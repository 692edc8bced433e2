"""Steps that are stored: on every saver, in every durability, sync and async; and what a bare INSERT costs."""

import sqlite3
from typing import Any, TypedDict

import msgpack

from bench.library import Library
from bench.measuring import CPU, WALL, Clock, Run, Work
from bench.meters import sqlite_bytes
from bench.programs.words import aadd_one, between, chain
from bench.storage import MEMORY, SQLITE_FULL, Kind, Storage, new_folder


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
    """A value, encoded and inserted into a SQLite file by hand: what a step that is stored cannot be cheaper than."""
    conn = sqlite3.connect(lib.enter(new_folder()) / "bare.db", isolation_level=None)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute(f"PRAGMA synchronous = {kind.synchronous}")
    conn.execute("CREATE TABLE steps (thread_id TEXT, step INTEGER, body BLOB, PRIMARY KEY (thread_id, step))")
    numbers = iter(range(1, 10**9))

    def insert() -> None:
        for _ in range(30):
            number = next(numbers)
            body = msgpack.packb({"x": number})
            conn.execute("INSERT INTO steps (thread_id, step, body) VALUES (?, ?, ?)", ("1", number, body))

    return Work(insert, 30, clock=clock)


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
