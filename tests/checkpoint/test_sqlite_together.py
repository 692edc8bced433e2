"""Writers that wait for each other share a transaction; what is refused is refused for one of them."""

import asyncio
import sqlite3
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import pytest

from signoff import StateGraph
from signoff._sqlite.connection import Connection, connect
from signoff._sqlite.effects import Execute, Expect, Write, WriteOne
from signoff.checkpoint.base import Commit, Lease
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver
from signoff.errors import InvalidInput, LeaseLost
from signoff.testing.conformance._saver_words import after, at, made, values_of
from signoff.types import Command, interrupt

WRITERS = 20


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "saver.db")


@pytest.fixture
def connection(path):
    conn = connect(path)
    conn.execute("PRAGMA journal_mode = WAL")
    conn.execute("CREATE TABLE notes (text TEXT PRIMARY KEY)")
    yield Connection(conn)
    conn.close()


def note(text):
    return Write([Execute("INSERT INTO notes VALUES (?)", (text,))])


def noted(connection):
    return {text for (text,) in connection.conn.execute("SELECT text FROM notes")}


def counting_commits(conn):
    commits = []
    conn.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    return commits


def at_once(lock, waiting, calls):
    """Make calls in threads, all of which wait for the lock before any of them may go on."""

    def outcome(call):
        try:
            return call()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        with lock:
            futures = [pool.submit(outcome, call) for call in calls]
            while len(waiting) < len(calls):
                threading.Event().wait(0.001)
        return [future.result() for future in futures]


def written_at_once(connection, effects):
    calls = [lambda effect=effect: connection.perform(effect) for effect in effects]
    return at_once(connection.lock, connection._waiting, calls)


def one(effect):
    return (yield effect)


def test_writers_that_wait_share_one_transaction(connection):
    commits = counting_commits(connection.conn)
    outcomes = written_at_once(connection, [note(str(number)) for number in range(WRITERS)])
    assert outcomes == [None] * WRITERS
    assert noted(connection) == {str(number) for number in range(WRITERS)}
    assert len(commits) == 1


def test_each_writer_hears_how_many_rows_its_own_statement_changed(connection):
    insert = "INSERT OR IGNORE INTO notes VALUES (?)"
    outcomes = written_at_once(connection, [WriteOne(insert, (text,)) for text in "aabbb"])
    assert sorted(outcomes) == [0, 0, 0, 1, 1]


def test_what_one_writer_is_refused_the_others_have_all_the_same(connection):
    half = Write([Execute("INSERT INTO notes VALUES ('half')"), Expect("SELECT 1 WHERE 0", (), lambda: KeyError("no"))])
    outcomes = written_at_once(connection, [note("a"), half, note("b"), note("a")])
    assert [type(outcome) for outcome in outcomes[1:3]] == [KeyError, type(None)]
    assert {type(outcomes[0]), type(outcomes[3])} == {type(None), sqlite3.IntegrityError}, "one of two is the first"
    assert noted(connection) == {"a", "b"}


def test_when_the_transaction_fails_as_a_whole_each_writer_tries_for_itself(connection):
    pages = connection.conn.execute("PRAGMA page_count").fetchone()[0]
    connection.conn.execute(f"PRAGMA max_page_count = {pages + 2}")
    outcomes = written_at_once(connection, [note("a"), note("x" * 1_000_000), note("b")])
    assert (outcomes[0], outcomes[2]) == (None, None)
    assert "full" in str(outcomes[1])
    assert noted(connection) == {"a", "b"}


def test_when_the_transaction_cannot_be_committed_each_writer_tries_for_itself(connection):
    connection.conn.execute("PRAGMA foreign_keys = ON")
    connection.conn.execute("CREATE TABLE signs (text REFERENCES notes DEFERRABLE INITIALLY DEFERRED)")
    stray = Write([Execute("INSERT INTO signs VALUES ('of nothing')")])
    outcomes = written_at_once(connection, [note("a"), stray, note("b")])
    assert [type(outcome) for outcome in outcomes] == [type(None), sqlite3.IntegrityError, type(None)]
    side_by_side = connection.run_together([one(effect) for effect in (note("c"), stray, note("d"))])
    assert [type(each.error) for each in side_by_side] == [type(None), sqlite3.IntegrityError, type(None)]
    assert noted(connection) == {"a", "b", "c", "d"}


def test_the_transaction_of_the_connections_owner_is_left_alone(connection):
    connection.conn.execute("BEGIN")
    connection.conn.execute("INSERT INTO notes VALUES ('mine')")
    outcomes = written_at_once(connection, [note("a"), note("b")])
    assert [type(outcome) for outcome in outcomes] == [InvalidInput, InvalidInput]
    connection.conn.execute("COMMIT")
    assert noted(connection) == {"mine"}


def test_a_writer_that_is_interrupted_leaves_the_others_to_themselves(connection):
    def stopped():
        me = threading.get_ident()

        def interrupted():
            if threading.get_ident() == me:
                raise KeyboardInterrupt
            return KeyError("written by another one")

        with pytest.raises((KeyboardInterrupt, KeyError)):
            connection.perform(Write([Expect("SELECT 1 WHERE 0", (), interrupted)]))

    calls = [stopped, lambda: connection.perform(note("a")), lambda: connection.perform(note("b"))]
    assert at_once(connection.lock, connection._waiting, calls) == [None, None, None]
    assert noted(connection) == {"a", "b"}


class Interrupting:
    """A lock that somebody has, until who waits for it hears a signal."""

    def locked(self):
        return True

    def __enter__(self):
        raise KeyboardInterrupt

    def __exit__(self, *error): ...


def test_what_a_writer_wanted_that_was_interrupted_as_it_waited_is_not_written_later(connection):
    lock, connection.lock = connection.lock, Interrupting()
    with pytest.raises(KeyboardInterrupt):
        connection.perform(note("before"))
    connection.lock = lock
    assert written_at_once(connection, [note("a"), note("b")]) == [None, None]
    assert noted(connection) == {"a", "b"}


def first_of(name):
    """The first checkpoint of a thread, as a run stores it."""
    return Commit(after(thread=name), (), made("1", {"a": name}), {}, {"a"})


def begin(saver, name):
    saver.commit([first_of(name)])


def test_threads_that_are_stored_at_once_share_a_commit(path):
    with SqliteSaver.from_conn_string(path) as saver:
        saver.setup()
        commits = counting_commits(saver.conn)
        calls = [lambda name=str(n): begin(saver, name) for n in range(WRITERS)]
        at_once(saver.lock, saver._connection._waiting, calls)
        assert len(commits) == 1
        assert [values_of(saver, thread=str(n)) for n in range(WRITERS)] == [{"a": str(n)} for n in range(WRITERS)]


def test_a_lease_that_was_lost_is_fenced_off_among_others(path):
    with SqliteSaver.from_conn_string(path) as saver:
        saver.setup()
        late = Lease("late", "nobody", (None, None, "0/0"))
        late.epoch = 7
        calls = [lambda name=str(n): begin(saver, name) for n in range(3)]
        calls.append(lambda: saver.renew(late))
        *_, refused = at_once(saver.lock, saver._connection._waiting, calls)
        assert isinstance(refused, LeaseLost)
        assert [values_of(saver, thread=str(n)) for n in range(3)] == [{"a": "0"}, {"a": "1"}, {"a": "2"}]


# The async saver


def run(program, path):
    async def with_saver():
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            await saver.setup()
            commits = []
            await saver.conn.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
            return await program(saver, commits)

    return asyncio.run(with_saver())


async def abegin(saver, name):
    await saver.acommit([first_of(name)])


def test_async_writers_that_wait_share_one_transaction(path):
    async def program(saver, commits):
        await asyncio.gather(*[abegin(saver, str(number)) for number in range(WRITERS)])
        assert len(commits) == 2, "the first has nobody to wait for"
        found = [await saver.aget(at(thread=str(number))) for number in range(WRITERS)]
        assert [one["channel_values"]["a"] for one in found] == [str(number) for number in range(WRITERS)]

    run(program, path)


def test_an_async_writer_that_is_cancelled_takes_nobody_along(path):
    async def program(saver, commits):
        tasks = [asyncio.ensure_future(abegin(saver, str(number))) for number in range(3)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert [isinstance(outcome, BaseException) for outcome in outcomes] == [False, True, False]
        assert (await saver.aget(at(thread="2")))["channel_values"] == {"a": "2"}
        assert (await saver.aget(at(thread="1")))["channel_values"] == {"a": "1"}, "it was under way"

    run(program, path)


def test_runs_that_ask_at_once_need_few_commits(path):
    def ask(state: dict):
        return {"x": interrupt("how many?")}

    async def program(saver, commits):
        graph = StateGraph(dict).add_node(ask).set_entry_point("ask").compile(checkpointer=saver)
        configs = [{"configurable": {"thread_id": str(number)}} for number in range(WRITERS)]
        await asyncio.gather(*[graph.ainvoke({"x": 0}, config) for config in configs])
        answered = await asyncio.gather(
            *[graph.ainvoke(Command(resume=number), config) for number, config in enumerate(configs)]
        )
        assert [state["x"] for state in answered] == list(range(WRITERS))
        assert len(commits) < WRITERS, "four for each, one after the other"

    run(program, path)


class GivingUp(deque):
    """Those who wait: the last of them gives up as somebody is about to take it."""

    def popleft(self):
        if len(self) == 1:
            self.clear()
        return super().popleft()


def test_a_writer_that_gives_up_as_another_takes_it_along_hurts_nobody(connection):
    connection._waiting = GivingUp()
    assert written_at_once(connection, [note("a"), note("b")]) == [None, None]
    assert noted(connection) == {"a", "b"}
