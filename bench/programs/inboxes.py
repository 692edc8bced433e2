"""Open questions: found among many threads that are done."""

import sqlite3
from collections.abc import Callable
from statistics import median
from typing import Any

from bench.library import Library
from bench.measuring import WALL
from bench.programs.words import Count, chain
from bench.storage import POSTGRES, Kind, Storage

THREADS, OPEN, PAGE = 100_000, 1000, 50

_TABLES = {
    True: "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()",
    False: "SELECT name FROM sqlite_master WHERE type = 'table'",
}
"""The names of the tables in Postgres, and not."""


def first_page(lib: Library, kind: Kind) -> float:
    """The oldest of all questions."""
    from signoff.checkpoint.questions import Wanted

    return _seconds(lib, kind, lambda questions: Wanted(limit=PAGE))


def next_page(lib: Library, kind: Kind) -> float:
    """Some in the middle, of one node, with a word in it."""
    from signoff.checkpoint.questions import Wanted

    def wanted(questions: Any) -> Any:
        last = questions[len(questions) // 2]
        return Wanted(node="node_0", text="MANY", limit=PAGE, after=(last.asked_at, last.id))

    return _seconds(lib, kind, wanted)


def _seconds(lib: Library, kind: Kind, wanted_of: Callable[[Any], Any]) -> float:
    """The wall time until a page of questions is there."""
    from signoff.checkpoint.questions import Wanted

    saver = lib.once(("full", kind), lambda: _full(lib, kind)).saver
    wanted = wanted_of(saver.find_questions(Wanted(limit=None)))
    times = []
    for _ in range(21):
        started = WALL()
        found = saver.find_questions(wanted)
        times.append(WALL() - started)
        assert len(found) == PAGE, "a page is full"
    return median(times)


def _full(lib: Library, kind: Kind) -> Storage:
    """A storage with many threads that are done, and some that wait. Threads that are done are copies of one."""
    interrupt = lib.interrupt

    def ask(state: Count) -> Count:
        return {"x": interrupt("how many?") if state["x"] else 1}

    storage = Storage(lib, kind)
    app = chain(lib, 1, ask).compile(checkpointer=storage.saver)
    app.invoke({"x": 0}, storage.new_thread(), durability="exit")
    _copy(storage, "0", THREADS - OPEN - 1, is_postgres=kind is POSTGRES)
    for _ in range(OPEN):
        app.invoke({"x": 1}, storage.new_thread(), durability="exit")
    return storage


def _copy(storage: Storage, thread_id: str, times: int, *, is_postgres: bool) -> None:
    conn = _connected(storage, is_postgres)
    for (table,) in conn.execute(_TABLES[is_postgres]).fetchall():
        columns = [column[0] for column in conn.execute(f"SELECT * FROM {table} LIMIT 0").description]
        if "thread_id" in columns:
            source = ", ".join("'copy ' || n" if column == "thread_id" else column for column in columns)
            conn.execute(
                f"WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < {times}) "
                f"INSERT INTO {table} ({', '.join(columns)}) "
                f"SELECT {source} FROM {table}, copies WHERE thread_id = '{thread_id}'"
            )
    conn.commit()
    conn.close()


def _connected(storage: Storage, is_postgres: bool) -> Any:
    if not is_postgres:
        return sqlite3.connect(storage.address)
    import psycopg

    return psycopg.connect(storage.address.url)
