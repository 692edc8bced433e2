"""The room of Postgres: what happens to a transaction, whenever its connection dies."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool

from servers import postgres
from servers.relay import Farewell, relayed
from signoff._postgres import arrays
from signoff._postgres.aio import AsyncConnection
from signoff._postgres.connection import Connection
from signoff._postgres.effects import Begin, Commit, Execute, Give, Take
from signoff._postgres.failures import Conflict, Lost
from signoff._postgres.migrations import Schema, set_up
from signoff._postgres.transactions import read, transaction, write
from signoff._postgres.wire import OwnConnection
from signoff.errors import InvalidInput, OutcomeUnknown, SaverUnavailable, SignoffError
from signoff.steps import adrive, drive

ADD_ONE = Execute("UPDATE counter SET n = n + 1 RETURNING n")
DIE = Execute("SELECT pg_terminate_backend(pg_backend_pid())")
COUNT = Execute("SELECT n FROM counter")
MAKE = Execute("CREATE TABLE another (n INTEGER)")
MUCH = Execute("SELECT n FROM generate_series(1, 100000) AS n ORDER BY n DESC")


@pytest.fixture
def url(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        conn.execute("CREATE TABLE counter AS SELECT 0 AS n")
        conn.execute("CREATE TABLE items (key TEXT PRIMARY KEY, value BYTEA)")
    return postgres_url


@pytest.fixture
def room(url):
    room = Connection(url)
    yield room
    room.close()


class Blocking:
    """An async room, one event loop for each procedure."""

    def __init__(self, url):
        self.url = url

    def run(self, steps):
        async def program():
            room = AsyncConnection(self.url)
            try:
                return await room.run(steps)
            finally:
                await room.close()

        return asyncio.run(program())


@pytest.fixture(params=["sync", "async"])
def either(request, url, room):
    return room if request.param == "sync" else Blocking(url)


def count(room):
    return room.run(read(COUNT))[0][0][0]


def put(key, value):
    return Execute(
        "INSERT INTO items VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
    )


# What comes back


def test_a_write_returns_the_rows_of_each_statement_and_a_read_too(either):
    values = "SELECT %s::text, %s::bytea, %s::float8, %s::bigint, %s::text[], NULL, '100%%'"
    params = ("ü'\\", bytes(range(256)), float("-inf"), 2**62, ["a", "b"])
    expected = (*params, None, "100%")
    insert = Execute("INSERT INTO items VALUES ('k', NULL)")
    assert either.run(write(insert, Execute(values, params), ADD_ONE)) == [[], [expected], [(1,)]]
    assert either.run(write(Execute(values, params))) == [[expected]]
    assert either.run(read(Execute(values, params), COUNT)) == [[expected], [(1,)]]
    assert either.run(read(COUNT)) == [[(1,)]]


def test_all_of_a_write_happens_or_nothing(either):
    broken = Execute("INSERT INTO items VALUES ('k', 1 / %s)", (0,))
    for repeatable in (True, False):
        with pytest.raises(psycopg.Error):
            either.run(write(ADD_ONE, broken, repeatable=repeatable))
        assert count(either) == 0
    either.run(write(ADD_ONE, ADD_ONE))
    assert count(either) == 2


def test_a_read_that_fails_leaves_a_connection_that_works(either):
    with pytest.raises(psycopg.Error):
        either.run(read(COUNT, Execute("SELECT 1 / 0")))
    assert count(either) == 0


def test_a_statement_that_the_server_refuses_says_why_and_leaves_a_connection_that_works(room):
    for do in (read, write):
        with pytest.raises(psycopg.errors.DivisionByZero):
            room.run(do(Execute("SELECT 1 / %s", (0,))))
        assert room.run(do(COUNT)) == [[(0,)]]


def named(url, **settings):
    """The same address, with settings of the server."""
    return make_conninfo(
        url, options=" ".join([conninfo_to_dict(url)["options"], *(f"-c{k}={v}" for k, v in settings.items())])
    )


REFUSALS = [
    ({"default_transaction_read_only": "on"}, ADD_ONE, "takes no writes.*address of the primary"),
    ({"statement_timeout": "1"}, Execute("SELECT pg_sleep(60)"), "gave a statement up.*Try again"),
    ({"lock_timeout": "1"}, ADD_ONE, "holds a lock.*Try again"),
    ({"temp_file_limit": "0", "work_mem": "64"}, MUCH, "run out of something.*Let it have more"),
    ({"role": "pg_monitor"}, Execute("SELECT * FROM pg_authid"), "does not let this role.*Grant it"),
    ({}, Execute("SELECT * FROM no_such_table"), r"has not got the tables.*setup\(\)"),
    ({"search_path": "nowhere"}, MAKE, "no schema to make tables in.*search_path"),
]
"""Settings, what is asked for, and what is said."""


@pytest.mark.parametrize(("settings", "statement", "words"), REFUSALS)
def test_a_server_that_does_not_do_what_it_is_asked_is_a_typed_error_that_says_what_to_do(
    url, settings, statement, words
):
    rooms = Connection(named(url, **settings)), Blocking(named(url, **settings))
    with psycopg.connect(url) as other:
        other.execute("SELECT n FROM counter FOR UPDATE")  # what a lock is waited for
        for room in rooms:
            with pytest.raises(SaverUnavailable, match=words) as caught:
                room.run(write(statement))
            assert isinstance(caught.value.__cause__, psycopg.Error)
    rooms[0].close()


def test_a_transaction_that_takes_too_long_was_not_done_and_is_not_taken_for_a_server_that_is_away(url):
    with psycopg.connect(url) as other:
        if other.info.server_version < 170000:
            pytest.skip("Postgres has had transaction_timeout since 17")
        other.execute("SELECT n FROM counter FOR UPDATE")
        hasty = named(url, transaction_timeout=20)
        rooms = Connection(hasty), Blocking(hasty)
        for room in rooms:
            for steps in (write(ADD_ONE), transaction("write", lambda: iter_one(ADD_ONE))):
                with pytest.raises(SaverUnavailable, match="gave a statement up.*nothing was written") as caught:
                    room.run(steps)
                assert not isinstance(caught.value, OutcomeUnknown)
    rooms[0].close()


def test_a_connection_to_a_server_that_takes_no_writes_is_not_kept(url):
    """Another one may lead to the server that has taken over."""
    room = Connection(url)
    pid = Execute("SELECT pg_backend_pid()")
    before = room.run(read(pid))
    with pytest.raises(SaverUnavailable, match="takes no writes"):
        room.run(transaction("read", lambda: iter_one(ADD_ONE)))
    assert room.run(read(pid)) != before
    room.close()


def test_a_standby_says_that_it_takes_no_writes_whatever_is_asked_of_it(own_postgres):
    steps = (lambda: write(MAKE), lambda: transaction("write", lambda: iter_one(MAKE)))
    rooms = Connection(own_postgres.url), Blocking(own_postgres.url)
    with own_postgres.as_standby():
        for room in rooms:
            for make in steps:
                with pytest.raises(SaverUnavailable, match="takes no writes.*address of the primary"):
                    room.run(make())
            assert room.run(read(MARKED)) == [[("marked", 1)]]
    rooms[0].close()


def test_a_pool_without_a_connection_to_give_says_so(url, room):
    with ConnectionPool(url, min_size=1, max_size=1, open=True, timeout=0.3, max_waiting=1) as pool:
        pool.wait()
        pooled = Connection(pool)
        pooled.run(write(ADD_ONE))
        with pool.connection(), pytest.raises(SaverUnavailable, match="pool is large enough"):
            pooled.run(write(ADD_ONE))
        pooled.run(write(ADD_ONE))
    assert count(room) == 2


def test_values_of_every_kind_go_to_the_server_and_come_back_as_they_were(either):
    values = (None, True, -1, 2**40, 0.5, b"\0\xff", "50% é '\"", ["a", None], [])
    kinds = "%s::text, %s::boolean, %s::integer, %s::bigint, %s::float8, %s::bytea, %s::text, %s::text[], %s::bytea[]"
    assert either.run(read(Execute(f"SELECT {kinds}, '100%%'", values))) == [[(*values, "100%")]]


def test_a_connection_in_another_encoding_is_used_in_it(url):
    with psycopg.connect(url, autocommit=True, client_encoding="latin1") as conn:
        assert Connection(conn).run(read(Execute("SELECT %s::text", ("é",)))) == [[("é",)]]


def test_a_transaction_that_fails_is_undone(either):
    def failing():
        yield ADD_ONE
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        either.run(transaction("write", failing))
    assert count(either) == 0


def test_a_read_sees_one_moment_in_all_its_statements(url, room):
    def looking():
        first = yield COUNT
        with psycopg.connect(url, autocommit=True) as other:
            other.execute(ADD_ONE.sql)
        second = yield COUNT
        return first == second

    assert room.run(transaction("read", looking))
    assert count(room) == 1


def test_two_transactions_in_each_others_way_both_happen(url):
    room = Connection(named(url, deadlock_timeout="10ms"))
    room.run(write(put("a", b""), put("b", b"")))
    both = threading.Barrier(2)
    met = set()

    def work(first, second):
        def steps():
            yield Execute("SELECT 1 FROM items WHERE key = %s FOR UPDATE", (first,))
            if first not in met:  # only the first time: the second time one of them is alone
                met.add(first)
                both.wait(timeout=30)
            yield Execute("UPDATE items SET value = value || 'x' WHERE key = %s", (second,))
            yield ADD_ONE

        room.run(transaction("write", steps))

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(work, "ab", "ba"))
    assert count(room) == 2
    room.close()


# Connections that die


@pytest.mark.parametrize("deaths", [1, 2], ids=["one", "and that of the next one"])
def test_a_connection_that_dies_in_a_transaction_is_replaced_and_all_of_it_done_again(either, deaths):
    attempts = []

    def dying():
        yield ADD_ONE
        attempts.append(1)
        if len(attempts) <= deaths:
            yield DIE
        return (yield ADD_ONE)

    assert either.run(transaction("write", dying)) == [(2,)]
    assert len(attempts) == deaths + 1
    assert count(either) == 2


MARKED = Execute("SELECT 'marked', %s::int", (1,))


@pytest.mark.parametrize("statements", [(MARKED,), (MARKED, Execute("SELECT 'other', %s::int", (2,)))])
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_a_read_whose_session_is_ended_anywhere_in_its_answer_is_done_again(own_postgres, kind, statements):
    with relayed(own_postgres, Farewell) as (relay, url):
        room = Connection(url) if kind == "sync" else Blocking(url)
        expected = room.run(read(*statements))
        relay.are_more, after = True, 0
        while relay.are_more:
            relay.say_goodbye_in_answer_to(b"'marked'", after=after)
            assert room.run(read(*statements)) == expected, f"after {after} messages"
            after += 1
        assert after > 5
        assert relay.has_lost
        if kind == "sync":
            room.close()


def test_a_socket_that_the_driver_finds_closed_is_a_connection_that_died(url, monkeypatch):
    """It may hear of that before the library does that keeps the connection, for which it is open then."""
    wait, first = OwnConnection.wait, []

    def waiting(conn, answering, *args, **options):
        if not first:
            first.append(conn)
            next(answering)
            raise psycopg.OperationalError("connection socket closed")
        return wait(conn, answering, *args, **options)

    room = Connection(url)
    room.run(read(Execute("SELECT 1")))
    monkeypatch.setattr(OwnConnection, "wait", waiting)
    assert room.run(read(Execute("SELECT 2"))) == [[(2,)]]
    assert first[0].closed
    room.close()


@pytest.mark.parametrize("repeatable", [True, False])
def test_a_connection_that_dies_every_time_is_a_typed_error_and_nothing_is_half_done(either, repeatable):
    with pytest.raises(SaverUnavailable, match="lost three times") as caught:
        either.run(write(ADD_ONE, DIE, repeatable=repeatable))
    assert isinstance(caught.value, OutcomeUnknown) == repeatable, "its commit may have been heard"
    with pytest.raises(SaverUnavailable, match="lost three times.*Nothing was written"):
        either.run(read(COUNT, DIE))
    assert count(either) == 0


@pytest.mark.parametrize("repeatable", [True, False])
def test_what_is_always_undone_in_favour_of_others_is_a_typed_error_and_nothing_is_half_done(either, repeatable):
    undone = Execute("DO $$ BEGIN RAISE 'in the way' USING ERRCODE = '40001'; END $$")
    with pytest.raises(
        SaverUnavailable, match=r"in favour of others \(in the way\), and nothing was written"
    ) as caught:
        either.run(write(ADD_ONE, undone, repeatable=repeatable))
    assert not isinstance(caught.value, OutcomeUnknown)
    with pytest.raises(SaverUnavailable, match="in favour of others"):
        either.run(read(COUNT, undone))
    assert count(either) == 0


def test_what_is_undone_in_favour_of_others_after_a_lost_answer_may_have_been_done():
    errors = iter([Lost("gone"), *[Conflict("in the way")] * 11])

    def perform(effect):
        if not isinstance(effect, Take | Give):
            raise next(errors)

    with pytest.raises(OutcomeUnknown, match="all of it was written, or nothing"):
        drive(write(ADD_ONE), perform)


class Death:
    """Performs the effects of a procedure, and kills the connection before or after the n-th that is no Take."""

    def __init__(self, url, session, at, when):
        self.url, self.session, self.at, self.when, self.seen = url, session, at, when, []

    def __call__(self, effect):
        if isinstance(effect, Take):
            return self.session.perform(effect)
        at = len(self.seen)
        self.seen.append(effect)
        if at == self.at and self.when == "before":
            self.kill()
        try:
            return self.session.perform(effect)
        finally:
            if at == self.at and self.when == "after" and not isinstance(effect, Give):
                self.kill()

    def kill(self):
        if self.session._conn is not None and not self.session._conn.closed:
            with psycopg.connect(self.url, autocommit=True) as conn:
                conn.execute("SELECT pg_terminate_backend(%s, 10000)", (self.session._conn.info.backend_pid,))


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", range(5))  # begin, two statements, commit, give
def test_work_that_must_not_be_done_twice_is_done_once_wherever_its_connection_dies(url, room, at, when):
    death = Death(url, room.session(), at, when)
    assert drive(write(ADD_ONE, ADD_ONE, repeatable=False), death) == [[(1,)], [(2,)]]
    assert count(room) == 2


class SilentCommit:
    """Performs the effects of a procedure; at the first commit the server hears it, and is not heard any more."""

    def __init__(self, url, session, is_heard):
        self.url, self.session, self.is_heard, self.commits = url, session, is_heard, 0

    def __call__(self, effect):
        if not isinstance(effect, Commit):
            return self.session.perform(effect)
        self.commits += 1
        if self.commits > 1:
            return self.session.perform(effect)
        conn = self.session._conn
        pid = conn.info.backend_pid
        if self.is_heard:
            conn.execute("COMMIT")
        with psycopg.connect(self.url, autocommit=True) as other:
            other.execute("SELECT pg_terminate_backend(%s, 10000)", (pid,))
        return self.session.perform(effect)  # of which nothing will be heard


@pytest.mark.parametrize("is_heard", [True, False])
def test_after_a_commit_without_an_answer_the_server_is_asked_what_became_of_it(url, room, is_heard):
    silent = SilentCommit(url, room.session(), is_heard)
    drive(write(ADD_ONE, repeatable=False), silent)
    assert count(room) == 1
    assert silent.commits == (1 if is_heard else 2)


def test_an_outcome_that_the_server_does_not_know_yet_is_said(url, room):
    session = room.session()

    def perform(effect):
        if not isinstance(effect, Commit):
            return session.perform(effect)
        kept.append(session._having)
        session._conn = session._having = None  # cut off from here, and still open at the server
        raise Lost("the network is gone")

    kept = []
    with pytest.raises(OutcomeUnknown, match="read what is stored"):
        drive(write(ADD_ONE, repeatable=False), perform)
    kept[0].close()
    assert count(room) == 0


def test_an_outcome_that_a_server_that_took_over_never_heard_of_is_said(url, room):
    session = room.session()

    def perform(effect):
        result = session.perform(effect)
        if isinstance(effect, Begin):
            return result + 1_000_000  # the number of another server, which was ahead
        if isinstance(effect, Commit):
            raise Lost("the server is gone")
        return result

    with pytest.raises(OutcomeUnknown, match="read what is stored"):
        drive(write(ADD_ONE, repeatable=False), perform)


def test_an_async_procedure_that_is_cancelled_gives_its_connection_back(url):
    async def program():
        room = AsyncConnection(url)
        for _ in range(20):  # more than there are connections
            task = asyncio.create_task(room.run(write(Execute("SELECT pg_sleep(60)"), ADD_ONE)))
            await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        rows = await room.run(read(COUNT))
        await room.close()
        return rows

    assert asyncio.run(program()) == [[(0,)]]


def test_effects_are_values():
    steps = transaction("write", lambda: iter_one(ADD_ONE))
    told = {Begin: 7, Execute: [(1,)]}
    seen = []

    def perform(effect):
        seen.append(effect)
        return told.get(type(effect))

    drive(steps, perform)
    assert seen == [Take(), Begin("write"), ADD_ONE, Commit(), Give()]


def iter_one(effect):
    return (yield effect)


def test_the_async_shell_performs_the_same_effects(url):
    async def program():
        room = AsyncConnection(url)
        seen, session = [], room.session()

        async def perform(effect):
            seen.append(type(effect).__name__)
            return await session.perform(effect)

        await adrive(write(ADD_ONE, repeatable=False), perform)
        await room.close()
        return seen

    assert asyncio.run(program()) == ["Take", "Begin", "Execute", "Commit", "Give"]


# Texts, migrations, sources


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"], ids=["nul", "surrogate"])
def test_a_text_that_postgres_cannot_store_is_a_typed_error(either, text):
    for statements in ([put(text, b"")], [put(text, b""), ADD_ONE]):
        with pytest.raises(InvalidInput, match="Postgres cannot store"):
            either.run(write(*statements))
    assert count(either) == 0


class TooNew(SignoffError):
    pass


def test_many_threads_set_one_database_up_at_once(url):
    schema = Schema("thing", "thing_migrations", ["CREATE TABLE thing (a INT)", "INSERT INTO thing VALUES (1)"], TooNew)
    start = threading.Barrier(6)

    def work(_):
        room = Connection(url)
        start.wait(timeout=30)
        room.run(set_up(schema))
        room.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    with psycopg.connect(url) as conn:
        assert conn.execute("SELECT * FROM thing").fetchall() == [(1,)]


def test_tables_are_brought_up_to_date_where_they_are_though_a_schema_has_come_before_theirs(url, room):
    older = Schema("thing", "thing_migrations", ["CREATE TABLE thing (a INT)"], TooNew)
    newer = replace(older, migrations=[*older.migrations, "CREATE TABLE more (a INT)", "INSERT INTO thing VALUES (1)"])
    room.run(set_up(older))
    with postgres.schema(url) as in_front, psycopg.connect(url) as conn:
        paths = [conninfo_to_dict(one)["options"].partition("=")[2] for one in (in_front, url)]
        before = Connection(make_conninfo(url, options=f"-csearch_path={','.join(paths)}"))
        before.run(set_up(newer))
        before.close()
        assert conn.execute("SELECT * FROM thing").fetchall() == [(1,)]
        assert conn.execute("SELECT * FROM more").fetchall() == []


@pytest.mark.parametrize(("said", "expected"), [({}, "30"), ({"keepalives_idle": "7"}, "7")])
def test_a_connection_that_nobody_uses_is_kept_alive_as_the_address_says_or_by_itself(url, said, expected):
    room = Connection(make_conninfo(url, **said))
    session = room.session()
    session.perform(Take())
    parameters = session._conn.info.get_parameters()
    assert (parameters["keepalives_idle"], parameters["tcp_user_timeout"]) == (expected, "60000")
    session.perform(Give())
    room.close()


def test_no_more_connections_are_opened_than_are_used_at_once(url):
    room = Connection(url)
    for _ in range(5):
        room.run(write(ADD_ONE))
    assert len(room._source._spare) == 1
    with ThreadPoolExecutor(40) as pool:
        list(pool.map(lambda _: room.run(write(ADD_ONE)), range(200)))
    assert len(room._source._spare) <= 16
    assert count(room) == 205
    room.close()


def test_what_was_closed_is_not_opened_again_and_what_is_given_back_late_is_closed_too(url):
    room = Connection(url)
    late = room.session()
    late.perform(Take())
    conn = late._conn
    room.close()
    late.perform(Give())
    assert conn.closed
    with pytest.raises(InvalidInput, match="The connection is closed"):
        room.run(read(COUNT))


def test_what_was_closed_is_not_opened_again_in_async_either(url):
    async def program():
        room = AsyncConnection(url)
        await room.run(write(ADD_ONE))
        await room.close()
        with pytest.raises(InvalidInput, match="The connection is closed"):
            await room.run(read(COUNT))

    asyncio.run(program())


NUMBERS = st.lists(st.none() | st.integers(-(2**63), 2**63 - 1))
TEXTS = st.lists(
    st.none() | st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])) | st.text('{}",\\')
)
BYTES = st.lists(st.none() | st.binary())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers=NUMBERS, texts=TEXTS, items=BYTES)
def test_a_list_comes_to_the_server_as_it_is(room, numbers, texts, items):
    sent = arrays.of_numbers(numbers), arrays.of_texts(texts), arrays.of_bytes(items)
    one = Execute("SELECT %s::bigint[], %s::text[], %s::bytea[]", sent)
    for rows in (room.run(read(one)), room.run(write(one, Execute("SELECT 1")))):
        assert rows[0][0] == (numbers, texts, items)


def test_a_long_list_of_bytes_comes_to_the_server_as_it_is(room):
    items = [b"x" * arrays.MUCH, None, b"y"]
    assert room.run(read(Execute("SELECT %s::bytea[]", (arrays.of_bytes(items),))))[0] == [(items,)]


def test_a_connection_in_pipeline_mode_is_left_to_its_owner_and_another_like_it_is_used(url):
    with psycopg.connect(url, autocommit=True) as conn, conn.pipeline():
        room = Connection(conn)
        assert room.run(write(ADD_ONE, ADD_ONE)) == [[(1,)], [(2,)]]
        assert count(room) == 2
        room.close()
        assert conn.execute("SELECT n FROM counter").fetchone() == (2,)


def test_an_async_connection_in_pipeline_mode_is_left_to_its_owner_too(url):
    async def program():
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as conn, conn.pipeline():
            room = AsyncConnection(conn)
            assert await room.run(write(ADD_ONE, ADD_ONE)) == [[(1,)], [(2,)]]
            assert (await room.run(read(COUNT)))[0][0][0] == 2
            await room.close()
            return await (await conn.execute("SELECT n FROM counter")).fetchone()

    assert asyncio.run(program()) == (2,)
