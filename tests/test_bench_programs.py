"""What is measured is what is said: the programs run, the meters count, and both libraries have the same settings."""

import asyncio
import gc
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from bench import instructions, postgres
from bench.cases import Comparison
from bench.groups import GROUPS
from bench.library import OURS, Library, both
from bench.measuring import Precision, Work, costs
from bench.meters import Traced, postgres_meter, sqlite_bytes, sqlite_contents
from bench.programs import by_hand
from bench.storage import SQLITE_FULL, SQLITE_NORMAL, Storage

from signoff.errors import AlreadyAnswered, QuestionsOpen

SHORT = [case for cases in GROUPS.values() for case in cases if isinstance(case, Comparison) and case.rounds is None]


@pytest.fixture
def frozen():
    """To measure brings everything back to the garbage collector."""
    yield
    gc.freeze()


@pytest.fixture
def libraries():
    with asyncio.Runner() as runner:
        opened = both(runner)
        yield opened
        for library in opened:
            library.close()


@pytest.fixture
def signoff(libraries) -> Library:
    return libraries[0]


@pytest.mark.parametrize("case", SHORT, ids=lambda case: case.name)
def test_a_program_runs(case, signoff):
    work = case.build(signoff)
    work.run()
    if work.tidy:
        work.tidy()


def test_the_program_by_hand_asks_and_takes_one_answer():
    program = by_hand.ByHand()
    (asked,) = program.begin({"x": 0}, "1")["__interrupt__"]
    assert asked.value == "how much?"
    with pytest.raises(QuestionsOpen):
        program.begin({"x": 1}, "1")
    assert program.answer(5, "1") == {"x": 5}
    with pytest.raises(AlreadyAnswered):
        program.answer(6, "1")


def test_the_table_ends_with_the_budgets_that_are_kept():
    command = [sys.executable, "-m", "bench", "--quick", "--only", "nested"]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, check=True)
    *_, last = done.stdout.splitlines()
    assert re.fullmatch(r"must: [01] of 1 met; stretch: [01] of 1 met", last)
    assert "step that is a nested graph" in done.stdout


def test_whoever_counts_instructions_is_told_how_much_was_done(capsys):
    for which, times in (("less", 100), ("more", 300)):
        instructions.work("one-node invoke", OURS, which)
        assert capsys.readouterr().out == f"{times}\n"
    for which, calls in (("less", 0), ("more", 250)):
        instructions.work("@task call, memory", OURS, which)
        assert capsys.readouterr().out == f"{calls}\n"


def test_whoever_counts_instructions_without_valgrind_is_told_to_install_it(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="apt-get install valgrind"):
        instructions.main([])


def test_whoever_counts_the_instructions_of_something_else_is_told_what_there_is():
    with pytest.raises(SystemExit, match="'invoke' is no piece of work. There are: 'one-node invoke', "):
        instructions.main(["invoke"])


def test_no_two_rows_have_the_same_name():
    names = [case.name for cases in GROUPS.values() for case in cases]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(("kind", "level"), [(SQLITE_FULL, 2), (SQLITE_NORMAL, 1)], ids=["FULL", "NORMAL"])
def test_both_libraries_wait_for_the_disk_in_the_same_way(libraries, kind, level):
    for library in libraries:
        conn = Storage(library, kind).saver.conn
        assert conn.execute("PRAGMA synchronous").fetchone() == (level,)
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.parametrize(("kind", "level"), [(SQLITE_FULL, 2), (SQLITE_NORMAL, 1)], ids=["FULL", "NORMAL"])
def test_both_libraries_wait_for_the_disk_in_the_same_way_when_async(libraries, kind, level):
    async def setting(conn, name):
        cursor = await conn.execute(f"PRAGMA {name}")
        return (await cursor.fetchone())[0]

    for library in libraries:
        conn = Storage(library, kind, is_async=True).saver.conn
        assert library.run(setting(conn, "synchronous")) == level
        assert library.run(setting(conn, "journal_mode")) == "wal"


@pytest.mark.parametrize(
    ("statements", "commits"),
    [
        (["INSERT INTO t VALUES (1)"], 1),
        (["BEGIN", "INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (2)", "COMMIT"], 1),
        (["BEGIN", "SELECT * FROM t", "COMMIT"], 0),
        (["BEGIN", "INSERT INTO t VALUES (1)", "ROLLBACK", "BEGIN", "COMMIT"], 0),
        (["WITH one AS (SELECT 1) INSERT INTO t SELECT * FROM one", "SELECT * FROM t"], 1),
    ],
)
def test_commits_that_write_are_counted(statements, commits):
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        conn.execute("CREATE TABLE t (x)")
        traced = Traced(conn)
        conn.set_trace_callback(traced.note)
        for statement in statements:
            conn.execute(statement)
        assert (traced.statements, traced.commits) == (len(statements), commits)


def test_bytes_of_a_file_are_its_pages_and_its_contents(tmp_path):
    with closing(sqlite3.connect(tmp_path / "some.db", isolation_level=None)) as conn:
        conn.execute("CREATE TABLE t (x, y)")
        empty = sqlite_bytes(tmp_path / "some.db")
        conn.execute("INSERT INTO t VALUES (?, ?)", (b"x" * 100_000, "é"))
    assert sqlite_contents(tmp_path / "some.db") == 100_002
    assert 95_000 < sqlite_bytes(tmp_path / "some.db") - empty < 110_000  # whole pages, some of them half full before


def test_what_is_told_to_postgres_is_counted():
    assert postgres.setting("fsync") == "on"
    with postgres.schema(is_logged=True) as schema, psycopg.connect(schema.url, autocommit=True) as conn:
        conn.execute("CREATE TABLE t (x int)")
        meter = postgres_meter(schema.name)
        before = meter()
        conn.execute("INSERT INTO t VALUES (%s)", [1])
        conn.execute("SELECT * FROM t")
        after = meter()
    told = {name: after[name] - before[name] for name in before}
    assert told["statements"] == 2
    assert told["commits"] == 1
    assert told["bytes"] > 0


@pytest.mark.usefixtures("frozen")
def test_a_unit_of_work_costs_what_lies_between_a_run_and_the_rest():
    now = [0.0]

    def lasting(seconds: float):
        return lambda: now.__setitem__(0, now[0] + seconds)

    work = Work(lasting(12), units=2, minus=lasting(10), clock=lambda: now[0])
    assert costs([work, work], Precision(rounds=3, least_s=0.01)) == [1, 1]
