"""What is special about the saver in Postgres: its trips, its server's deaths, its neighbours."""

import asyncio

import psycopg
import pytest

from servers.relay import relayed
from signoff.checkpoint.base import Commit, Lease, TaskWrites
from signoff.checkpoint.postgres import AsyncPostgresSaver, PostgresSaver
from signoff.checkpoint.postgres.schema import MIGRATIONS, SaverTooNew
from signoff.errors import InvalidInput, SaverUnavailable, Undecodable
from signoff.testing.conformance._saver_words import T, after, at, made, put, values_of

TABLES = ["checkpoints", "writes", "items", "blobs", "threads", "questions"]


@pytest.fixture
def saver(postgres_url):
    with PostgresSaver.from_conn_string(postgres_url) as saver:
        yield saver


def prepared(saver, id, parent, count):
    """A step that adds to a list."""
    checkpoint = made(id, {"list": list(range(count))}, {"list": count})
    return saver.prepare([Commit(after(parent), [TaskWrites(f"t{id}", [("list", [count])])], checkpoint, {}, {"list"})])


def trips(saver, action):
    """How often the server was asked."""
    counted = []
    run = saver._connection.session

    class Counting:
        def __init__(self, session):
            self.session = session

        def perform(self, effect):
            if type(effect).__name__ in ("Execute", "Write", "Read", "Begin", "Commit"):
                counted.append(effect)
            return self.session.perform(effect)

    saver._connection.session = lambda: Counting(run())
    try:
        action()
    finally:
        saver._connection.session = run
    return len(counted)


@pytest.mark.parametrize("fails", [False, True], ids=["at once", "after a failure"])
def test_tables_are_made_once_however_many_tasks_begin_at_the_same_time(postgres_url, fails):
    made = []

    class Counts(AsyncPostgresSaver):
        async def setup(self):
            made.append(1)
            if fails and len(made) == 1:
                raise ConnectionError
            await super().setup()

    async def program():
        async with Counts.from_conn_string(postgres_url) as saver:
            threads = [{"configurable": {"thread_id": str(number)}} for number in range(50)]
            first = asyncio.create_task(saver.aget_tuple(threads[0]))
            await asyncio.sleep(0)
            first.cancel()
            if fails:
                with pytest.raises(ConnectionError):
                    await saver.aget_tuple(threads[0])
            return await asyncio.gather(*map(saver.aget_tuple, threads))

    assert asyncio.run(program()) == [None] * 50
    assert len(made) == (2 if fails else 1)


def test_a_step_is_one_trip_and_taking_a_thread_is_two(saver):
    saver.store(prepared(saver, "1", None, 20))
    looked = []
    assert trips(saver, lambda: looked.append(saver.look(at()))) == 1
    lease = Lease(T, "ana", looked[0][1].seen)
    step = prepared(saver, "2", "1", 21)
    assert trips(saver, lambda: saver.store(step, lease)) == 1
    step = prepared(saver, "3", "2", 22)
    assert trips(saver, lambda: saver.store(step, lease, ends=True)) == 1
    assert values_of(saver) == {"list": list(range(22))}


def test_what_was_done_already_is_not_done_again(saver):
    """The answer to a write may be lost, and then it is sent once more."""
    lease = Lease(T, "ana", saver.look(at())[1].seen)
    step = prepared(saver, "1", None, 20)
    saver.store(step, lease)
    before, epoch, lease.epoch = list(saver.list(None)), lease.epoch, 0
    saver.store(step, lease)
    assert (lease.epoch, list(saver.list(None))) == (epoch, before)
    lease = Lease(T, "bo", saver.look(at())[1].seen)
    saver.store([], lease)
    epoch, lease.epoch = lease.epoch, 0
    saver.store([], lease)
    assert (lease.epoch, saver.look(at())[1].holder) == (epoch, "bo")


def test_a_deleted_thread_leaves_no_row(saver, postgres_url):
    put(saver, "1", {"list": list(range(50)), "big": "x" * 10_000})
    put(saver, "2", ns="nested")
    saver.store(prepared(saver, "3", "1", 51), Lease(T, "ana", saver.look(at())[1].seen))
    saver.delete_thread(T)
    with psycopg.connect(postgres_url) as conn:
        counts = [conn.execute(f"SELECT COUNT(*) FROM signoff_{table}").fetchone()[0] for table in TABLES]
    assert counts == [0] * len(TABLES)


def test_a_database_of_a_newer_version_is_left_alone(saver, postgres_url):
    saver.setup()
    with psycopg.connect(postgres_url) as conn:
        conn.execute("INSERT INTO signoff_checkpoint_migrations VALUES (%s)", (len(MIGRATIONS) + 1,))
    with PostgresSaver.from_conn_string(postgres_url) as other, pytest.raises(SaverTooNew, match="upgrade"):
        other.get_tuple(at())


def test_a_broken_row_is_undecodable(saver, postgres_url):
    put(saver, "1", {"list": list(range(50))})
    for sql in ("UPDATE signoff_items SET data = '\\x91'", "UPDATE signoff_checkpoints SET body = '\\x97'"):
        with psycopg.connect(postgres_url) as conn:
            conn.execute(sql)
        saver._memory.forget()
        with pytest.raises(Undecodable):
            saver.get_tuple(at())


def test_a_name_that_is_too_long_for_an_index_is_refused(saver):
    with pytest.raises(InvalidInput, match="too large for Postgres.*name of a thread"):
        put(saver, "1", thread="".join(map(chr, range(200, 12_000))))
    assert list(saver.list(None)) == []


@pytest.mark.parametrize("words", [b"DELETE FROM", b"COMMIT\0"])
def test_a_deletion_whose_answer_was_lost_leaves_alone_what_was_begun_since(own_postgres, words):
    with (
        relayed(own_postgres) as (relay, url),
        PostgresSaver.from_conn_string(url) as saver,
        PostgresSaver.from_conn_string(own_postgres.url) as other,
    ):
        put(saver, "1", {"a": "old"})
        is_done = words == b"COMMIT\0"
        relay.lose_answer_to(words, meanwhile=lambda: is_done and put(other, "2", {"a": "new"}))
        saver.delete_thread(T)
        assert relay.has_lost
        assert (values_of(saver) == {"a": "new"}) if is_done else (saver.get_tuple(at()) is None)
        saver.delete_thread(T)


def test_connections_that_die_between_two_steps_are_replaced(own_postgres):
    with PostgresSaver.from_conn_string(own_postgres.url) as saver:
        saver.store(prepared(saver, "1", None, 20))
        own_postgres.kill_connections()
        saver.store(prepared(saver, "2", "1", 21))
        own_postgres.restart()
        saver.store(prepared(saver, "3", "2", 22))
        assert values_of(saver) == {"list": list(range(22))}
        own_postgres.stop()
        with pytest.raises(SaverUnavailable):
            saver.store(prepared(saver, "4", "3", 23))
        own_postgres.start()
        saver.store(prepared(saver, "4", "3", 23))
        assert values_of(saver) == {"list": list(range(23))}
        saver.delete_thread(T)


def test_a_connection_and_its_pipeline_may_be_given_as_in_langgraph(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as conn, conn.pipeline() as pipe:
        saver = PostgresSaver(conn, pipe=pipe)
        put(saver, "1", {"x": 1})
        assert values_of(saver) == {"x": 1}
        saver.close()


def test_more_threads_than_the_server_has_locks_are_removed_in_one_call(saver, postgres_url):
    put(saver, "1", {"a": 1}, thread="first")
    columns = "seal, depth, branch, ns, id, parent, run, writes, body"
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        conn.execute(
            f"INSERT INTO signoff_checkpoints (thread_id, {columns}) SELECT 'thread ' || number, {columns} "
            "FROM signoff_checkpoints, generate_series(1, 30000) AS number"
        )
    saver.prune([f"thread {number}" for number in range(1, 30_001)], strategy="delete")
    assert [one.config["configurable"]["thread_id"] for one in saver.list(None)] == ["first"]
