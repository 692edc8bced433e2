"""Steps that are stored: on every saver, in every durability, sync and async."""

import operator
from typing import Annotated, Any, TypedDict

from bench.library import Library
from bench.measuring import CPU, WALL, Clock, Run, Work
from bench.meters import sqlite_bytes
from bench.programs.words import aadd_one, between, chain
from bench.storage import MEMORY, SQLITE_FULL, Kind, Storage


class Loaded(TypedDict):
    x: int
    load: bytes


class Listed(TypedDict):
    x: int
    records: Annotated[list[Any], operator.add]


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


def given_list(lib: Library, kind: Kind) -> Work:
    """A run of two nodes that is given five thousand records, to which nothing is added."""
    storage = Storage(lib, kind)
    app = chain(lib, 2, state=Listed).compile(checkpointer=storage.saver)
    records = [{"id": number, "text": "x" * 50} for number in range(5000)]
    return Work(lambda: app.invoke({"x": 0, "records": records}, storage.new_thread()), tidy=storage.forget)


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
