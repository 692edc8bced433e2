"""What is special about the saver in Postgres: its trips, its server's deaths, its neighbours."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from servers.postgres import seeing_one_moment, wait_for_waiting
from servers.relay import relayed
from signoff.checkpoint.base import Commit, Lease, TaskWrites
from signoff.checkpoint.postgres import AsyncPostgresSaver, PostgresSaver
from signoff.checkpoint.postgres.schema import MIGRATIONS, SaverTooNew
from signoff.errors import InvalidInput, LeaseLost, SaverUnavailable, Undecodable
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
            self.session, self.end = session, session.end

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


def test_a_table_that_was_measured_while_it_was_small_is_not_read_through_when_it_has_grown(saver_url):
    """The server keeps the plans of a session. For a table of one page the best is to read all of it."""

    def scans():
        conn.execute("SELECT pg_stat_force_next_flush()")
        return conn.execute("SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE schemaname = %s", (schema,)).fetchone()

    with psycopg.connect(saver_url, autocommit=True) as conn:
        [schema] = conn.execute("SELECT current_schema()").fetchone()
        conn.execute(f"ANALYZE {', '.join(f'signoff_{name}' for name in TABLES)}")
        saver = PostgresSaver(conn)
        saver.setup()
        before = scans()
        lease = None
        for number in range(10):
            lease = lease or Lease(T, "ana", saver.look(at())[1].seen)
            saver.store(prepared(saver, str(number), str(number - 1) if number else None, 1), lease)
        saver.look(at())
        assert scans() == before


def test_what_was_done_already_is_not_done_again(saver):
    """The answer to a write may be lost, and then it is sent once more."""
    lease = Lease(T, "ana", saver.look(at())[1].seen)
    step = prepared(saver, "1", None, 20)
    saver.store(step, lease)
    before, epoch, lease.epoch = list(saver.list(None)), lease.epoch, 0
    saver.store(step, lease)
    assert (lease.epoch, list(saver.list(None))) == (epoch, before)


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


@pytest.mark.parametrize("isolation", [r"repeatable\ read", "serializable"])
def test_the_fence_holds_where_transactions_see_one_moment(saver_url, isolation):
    with (
        PostgresSaver.from_conn_string(seeing_one_moment(saver_url, isolation)) as saver,
        psycopg.connect(saver_url) as other,
    ):
        lease = Lease(T, "ana", saver.look(at())[1].seen)
        saver.store(prepared(saver, "1", None, 1), lease)
        other.execute("SELECT signoff_lock(%s)", (T,))
        other.execute("UPDATE signoff_threads SET epoch = epoch + 1")
        with ThreadPoolExecutor() as pool:
            step = pool.submit(saver.store, prepared(saver, "2", "1", 2), lease)
            wait_for_waiting(other)
            other.commit()
            with pytest.raises(LeaseLost):
                step.result()
        assert values_of(saver) == {"list": [0]}


def test_a_thread_that_grows_while_somebody_waits_to_delete_it_is_deleted_as_a_whole(saver_url):
    with PostgresSaver.from_conn_string(seeing_one_moment(saver_url, "serializable")) as saver:
        saver.store(prepared(saver, "1", None, 1))
        with psycopg.connect(saver_url) as other, ThreadPoolExecutor() as pool:
            other.execute("SELECT signoff_lock(%s)", (T,))
            other.execute("INSERT INTO signoff_blobs (thread_id, digest, data) VALUES (%s, '1', '2')", (T,))
            deletion = pool.submit(saver.delete_thread, T)
            wait_for_waiting(other)
            other.commit()
            deletion.result()
            for table in TABLES:
                assert not other.execute(f"SELECT 1 FROM signoff_{table}").fetchall()


def store_and_read(saver, thread="ключ"):
    """See that what is stored comes back, a list and a history included."""
    put(saver, "1", {"list": ["ü"] * 20}, thread=thread)
    put(saver, "2", {"list": ["ü"] * 30}, parent="1", thread=thread)
    assert values_of(saver, thread=thread) == {"list": ["ü"] * 30}
    assert len(list(saver.list({"configurable": {"thread_id": thread}}))) == 2


def test_an_address_takes_any_text_whatever_it_says(saver_url):
    with PostgresSaver.from_conn_string(make_conninfo(saver_url, client_encoding="latin1")) as saver:
        store_and_read(saver)


def test_a_connection_that_has_not_all_characters_says_so(saver_url):
    with psycopg.connect(saver_url, client_encoding="latin1") as conn, pytest.raises(InvalidInput, match="utf8"):
        store_and_read(PostgresSaver(conn))


@pytest.mark.parametrize("setting", ["client_encoding = sql_ascii", "standard_conforming_strings = off"])
def test_a_connection_that_changes_texts_or_bytes_is_refused(saver_url, setting):
    with psycopg.connect(saver_url, autocommit=True) as conn:
        conn.execute(f"SET {setting}")
        with pytest.raises(InvalidInput, match="connect with"):
            store_and_read(PostgresSaver(conn))


@pytest.mark.parametrize("cursor_factory", [psycopg.ClientCursor, psycopg.RawCursor])
def test_a_connection_may_have_cursors_of_any_kind(saver_url, cursor_factory):
    with psycopg.connect(saver_url, cursor_factory=cursor_factory) as conn:
        store_and_read(PostgresSaver(conn))
