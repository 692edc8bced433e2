"""What is special about the store in Postgres: its connections, its tables, what it says when the server is away."""

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from servers.postgres import seeing_one_moment, wait_for_waiting
from servers.relay import relayed
from signoff._postgres.effects import Give, Take
from signoff._postgres.failures import DoneBefore
from signoff.errors import InvalidInput, SaverUnavailable
from signoff.steps import drive
from signoff.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp
from signoff.store.postgres import AsyncPostgresStore, PostgresStore
from signoff.store.postgres.rows import lock_of
from signoff.store.postgres.schema import MIGRATIONS, StoreTooNew
from store.losing import LATER, NS, WRITES, check_not_done_again


@pytest.fixture
def conn(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        yield conn


# The tables


def test_setup_may_be_called_often_or_not_at_all(postgres_url, conn):
    with PostgresStore.from_conn_string(postgres_url) as store:
        store.setup()
        store.setup()
        store.put(NS, "k", {"v": 1})
    with PostgresStore.from_conn_string(postgres_url) as store:
        assert store.get(NS, "k").value == {"v": 1}
    numbers = conn.execute("SELECT number FROM signoff_store_migrations ORDER BY number").fetchall()
    assert numbers == [(number,) for number in range(1, len(MIGRATIONS) + 1)]


@pytest.mark.parametrize("done", range(len(MIGRATIONS)))
def test_a_database_at_any_earlier_migration_is_brought_up_to_date(postgres_url, conn, done):
    conn.execute("CREATE TABLE signoff_store_migrations (number INTEGER PRIMARY KEY)")
    for number, statement in enumerate(MIGRATIONS[:done], start=1):
        conn.execute(statement)
        conn.execute("INSERT INTO signoff_store_migrations VALUES (%s)", (number,))
    with PostgresStore.from_conn_string(postgres_url) as store:
        store.put(NS, "k", {"v": 1})
        assert store.get(NS, "k").value == {"v": 1}


def test_a_database_of_a_newer_version_is_left_alone(postgres_url, conn):
    with PostgresStore.from_conn_string(postgres_url) as store:
        store.setup()
    conn.execute("INSERT INTO signoff_store_migrations VALUES (999)")
    with (
        PostgresStore.from_conn_string(postgres_url) as store,
        pytest.raises(StoreTooNew, match=r"999.*upgrade signoff"),
    ):
        store.put(NS, "k", {"v": 1})


def test_nothing_is_compiled_for_a_put_that_is_the_first_of_its_lane(postgres_url, conn):
    """To read a table through is taken for costly there, and what is costly is compiled: a put took 150 ms."""
    with PostgresStore.from_conn_string(postgres_url) as store:
        store.setup()
    functions = "SELECT proconfig FROM pg_proc WHERE pronamespace = current_schema()::regnamespace"
    [[settings]] = conn.execute(f"{functions} AND 'enable_seqscan=off' = ANY (proconfig)").fetchall()
    assert "jit=off" in settings


PUTTING = """
import sys
from signoff.store.postgres import PostgresStore
url, name = sys.argv[1:]
with PostgresStore.from_conn_string(url) as store:
    for at in range(30):
        store.put(("shared",), f"{name}{at}", {"at": at})
        store.put(("shared",), "latest", {"name": name, "at": at})
"""


def test_several_processes_set_a_database_up_at_once_and_share_it(postgres_url):
    running = [subprocess.Popen([sys.executable, "-c", PUTTING, postgres_url, name]) for name in "abc"]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    with PostgresStore.from_conn_string(postgres_url) as store:
        assert len(store.search(("shared",), limit=1000)) == 3 * 30 + 1
        assert store.get(("shared",), "latest").value["at"] == 29


# Connections


@pytest.mark.parametrize(
    "options",
    [{}, {"autocommit": True}, {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}],
    ids=["plain", "autocommit", "as LangGraph wants it"],
)
def test_a_connection_of_any_kind_will_do_and_is_left_as_it_was(postgres_url, options):
    with psycopg.connect(postgres_url, **options) as conn:
        store = PostgresStore(conn)
        for at in range(3):
            store.put(NS, str(at), {"v": at}, ttl=5)
        assert len(store.search(NS, filter={"v": {"$gte": 1}})) == 2
        assert conn.autocommit == options.get("autocommit", False)
        assert conn.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def test_a_connection_in_the_middle_of_something_is_refused_and_left_as_it_is(postgres_url):
    with psycopg.connect(postgres_url) as conn:
        conn.execute("CREATE TABLE mine AS SELECT 1 AS a")
        store = PostgresStore(conn)
        for _ in range(2):  # the second time shows that the turn was given back
            with pytest.raises(InvalidInput, match="open transaction"):
                store.put(NS, "k", {"v": 1})
        conn.commit()
        store.put(NS, "k", {"v": 1})
        assert conn.execute("SELECT a FROM mine").fetchall() == [(1,)]


def test_a_connection_that_its_owner_closed_is_refused(postgres_url):
    conn = psycopg.connect(postgres_url)
    store = PostgresStore(conn)
    conn.close()
    with pytest.raises(InvalidInput, match="closed"):
        store.get(NS, "k")
    with pytest.raises(InvalidInput, match="closed"):
        PostgresStore(conn)


def test_what_is_no_way_to_postgres_is_refused():
    with pytest.raises(InvalidInput, match="ConnectionPool"):
        PostgresStore(7)


def test_a_pool_can_be_given_or_asked_for(postgres_url):
    with ConnectionPool(postgres_url, min_size=1, open=True) as pool:
        PostgresStore(pool).put(NS, "k", {"v": 1})
    with pytest.raises(InvalidInput, match="open it"):
        PostgresStore(pool).get(NS, "k")
    with PostgresStore.from_conn_string(postgres_url, pool_config={"min_size": 1, "max_size": 2}) as store:
        assert store.get(NS, "k").value == {"v": 1}


@pytest.mark.parametrize("config", [5, [], {"a": 1}, {"min_size": 3, "max_size": 1}, {"min_size": "x"}], ids=repr)
def test_a_pool_that_cannot_be_made_is_refused(postgres_url, config):
    async def program():
        async with AsyncPostgresStore.from_conn_string(postgres_url, pool_config=config):
            pass

    with (
        pytest.raises(InvalidInput, match="pool_config"),
        PostgresStore.from_conn_string(postgres_url, pool_config=config),
    ):
        pass
    with pytest.raises(InvalidInput, match="pool_config"):
        asyncio.run(program())


@pytest.mark.parametrize("address", [5, "nonsense", "\ud800"], ids=ascii)
def test_an_address_that_cannot_be_read_is_refused_for_a_pool_too(address):
    with pytest.raises(InvalidInput, match="address"), PostgresStore.from_conn_string(address, pool_config={}):
        pass


def test_an_async_pool_can_be_given_or_asked_for(postgres_url):
    async def program():
        async with AsyncConnectionPool(postgres_url, min_size=1, open=False) as pool:
            await AsyncPostgresStore(pool).aput(NS, "k", {"v": 1})
        with pytest.raises(InvalidInput, match="open it"):
            await AsyncPostgresStore(pool).aget(NS, "k")
        async with AsyncPostgresStore.from_conn_string(postgres_url, pool_config={"min_size": 1}) as store:
            return (await store.aget(NS, "k")).value

    assert asyncio.run(program()) == {"v": 1}


def test_nothing_is_left_in_a_session_so_a_transaction_pooler_may_stand_in_between(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True, prepare_threshold=0) as conn:
        settings = dict(conn.execute("SELECT name, setting FROM pg_settings WHERE source = 'session'").fetchall())
        store = PostgresStore(conn, index={"embed": lambda texts: [[1.0] for _ in texts]})
        for _ in range(10):
            store.batch([PutOp(NS, "k", {"v": 1}, ttl=5), GetOp(NS, "k"), SearchOp(NS, query="q", filter={"v": 1})])
            store.batch([GetOp(NS, "k"), SearchOp(NS)])
        left = """
            SELECT (SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%signoff%')
                + (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())
                + (SELECT count(*) FROM pg_listening_channels())
                + (SELECT count(*) FROM pg_cursors)
        """
        assert conn.execute(left, prepare=False).fetchone() == (0,)
        assert (
            dict(conn.execute("SELECT name, setting FROM pg_settings WHERE source = 'session'").fetchall()) == settings
        )


def effects_of(store, ops):
    """The names of what a batch asks of a connection, once it has one."""
    seen, perform = [], store._connection.session().perform

    def noted(effect):
        seen.append(type(effect).__name__)
        return perform(effect)

    drive(store._procedures.batch(store._settings, ops, 0.0), noted)
    return [name for name in seen if name not in ("Take", "Give")]


class Meddler:
    """Reads values, and has somebody else change the item in hand while the first one is read."""

    def __init__(self, change):
        self.change = change

    def __call__(self, text):
        change, self.change = self.change, None
        if change is not None:
            change()
        return json.loads(text)


@pytest.mark.parametrize("is_deleted", [True, False], ids=["deleted", "changed"])
def test_what_a_search_shows_is_what_its_filter_let_pass_also_beside_puts(postgres_url, is_deleted):
    with PostgresStore.from_conn_string(postgres_url) as other:
        other.put(("orders",), "1", {"status": "open"})

        def change():
            return other.delete(("orders",), "1") if is_deleted else other.put(("orders",), "1", {"status": "closed"})

        with PostgresStore.from_conn_string(postgres_url, deserializer=Meddler(change)) as store:
            found = store.batch([PutOp(("log",), "1", {"looked": True}), SearchOp(("orders",), {"status": "open"})])[1]
    assert [item.value for item in found] == [{"status": "open"}]


READS = {
    "gets": [GetOp(("accounts",), "a"), GetOp(("accounts",), "b")],
    "searches": [SearchOp(("accounts",), {"owner": "a"}), SearchOp(("accounts",), {"owner": "b"})],
    "pages": [SearchOp(("accounts",), limit=1), SearchOp(("accounts",), limit=1, offset=1)],
}


@pytest.mark.parametrize("reads", READS.values(), ids=READS)
def test_the_reads_of_a_batch_see_the_same_moment_also_beside_puts(postgres_url, reads):
    def balances(a, b):
        return [PutOp(("accounts",), key, {"owner": key, "euros": euros}) for key, euros in (("a", a), ("b", b))]

    with PostgresStore.from_conn_string(postgres_url) as other:
        other.batch(balances(100, 0))
        meddler = Meddler(lambda: other.batch(balances(0, 100)))
        with PostgresStore.from_conn_string(postgres_url, deserializer=meddler) as store:
            _, *found = store.batch([PutOp(("log",), "1", {"looked": True}), *reads])
    a, b = (one[0] if isinstance(one, list) else one for one in found)
    assert (a.value["euros"], b.value["euros"]) == (100, 0)


def test_a_batch_reads_much_and_writes_in_one(postgres_url):
    with PostgresStore.from_conn_string(
        postgres_url, index={"dims": 1, "embed": lambda texts: [[1.0]] * len(texts)}
    ) as store:
        store.batch([PutOp(("n", str(at % 3)), str(at), {"at": at}) for at in range(1200)])
        reads = [GetOp(("n", str(at % 3)), str(at)) for at in range(1200)]
        reads += [SearchOp(("n",), {"at": {"$gte": 1100}}, limit=3, offset=1), SearchOp(("n", "1"), query="x", limit=2)]
        reads += [SearchOp(("n", "2"), limit=2, offset=398), ListNamespacesOp(limit=2), GetOp(("n",), "none")]
        alone = store.batch(reads)
        _, *beside = store.batch([PutOp(("n", "0"), "0", {"at": -1}), *reads])
    assert beside == alone
    assert [item.key for item in beside[1200]] == ["1104", "1107", "1110"]
    assert [item.key for item in beside[1202]] == ["1196", "1199"]


def test_most_batches_are_one_trip_to_the_server(postgres_url):
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        store = PostgresStore(conn)
        store.setup()
        assert effects_of(store, [PutOp(NS, "a", {})]) == ["Write"]
        assert effects_of(store, [PutOp(NS, "a", {}), PutOp(NS, "b", None)]) == ["Write"]
        assert effects_of(store, [GetOp(NS, "a"), SearchOp(NS)]) == ["Read"]


# Connections that die, servers that go away


@pytest.fixture
def fresh(own_postgres):
    """A database of its own server, in the common schema: one that survives the server's restarts."""
    with psycopg.connect(own_postgres.url, autocommit=True) as conn:
        conn.execute("DROP TABLE IF EXISTS signoff_store, signoff_store_lanes, signoff_store_migrations")
        conn.execute("DROP SEQUENCE IF EXISTS signoff_store_ranks")
        conn.execute("DROP FUNCTION IF EXISTS signoff_store_put, signoff_store_begin, signoff_store_put_once")
    return own_postgres


@pytest.mark.parametrize("given", ["address", "connection", "pool"])
def test_connections_that_died_between_two_uses_are_replaced_unseen(fresh, given):
    url = fresh.url
    pool = ConnectionPool(url, min_size=3, open=given == "pool")
    conn = psycopg.connect(url, autocommit=True)
    store = PostgresStore({"address": url, "connection": conn, "pool": pool}[given])
    for at, interrupt in enumerate(fresh.interruptions()):
        store.put(NS, str(at), {"v": at})
        interrupt()
        assert store.get(NS, str(at)).value == {"v": at}
        interrupt()
        store.put(NS, f"again {at}", {"v": at})
        interrupt()
        assert len(store.search(NS, filter={"v": at})) == 2
    store.close()
    pool.close()
    conn.close()


@pytest.mark.parametrize("given", ["address", "connection", "pool"])
def test_async_connections_that_died_between_two_uses_are_replaced_unseen(fresh, given):
    url = fresh.url

    async def program():
        pool = AsyncConnectionPool(url, min_size=3, open=False)
        if given == "pool":
            await pool.open()
        conn = await psycopg.AsyncConnection.connect(url, autocommit=True)
        store = AsyncPostgresStore({"address": url, "connection": conn, "pool": pool}[given])
        for at, interrupt in enumerate(fresh.interruptions()):
            await store.aput(NS, str(at), {"v": at})
            interrupt()
            assert (await store.aget(NS, str(at))).value == {"v": at}
            interrupt()
            await store.aput(NS, f"again {at}", {"v": at})
            interrupt()
            assert len(await store.asearch(NS, filter={"v": at})) == 2
        await store.close()
        await pool.close()
        await conn.close()

    asyncio.run(program())


@pytest.mark.parametrize("words", [b'{"of": "ben"}', b"COMMIT\0"])
def test_a_batch_whose_answer_was_lost_tells_what_was_there_before_it(fresh, words):
    with relayed(fresh) as (relay, url), PostgresStore.from_conn_string(url) as store:
        store.put(NS, "seat", {"of": "ana"})
        relay.lose_answer_to(words)
        taken, _ = store.batch([GetOp(NS, "seat"), PutOp(NS, "seat", {"of": "ben"})])
        assert relay.has_lost
        assert (taken.value, store.get(NS, "seat").value) == ({"of": "ana"}, {"of": "ben"})


def test_a_batch_of_which_nothing_was_written_says_so_also_if_it_reads_what_has_a_time_to_live(fresh):
    batch = [GetOp(NS, "seat"), PutOp(NS, "seat", {"of": "ben"})]
    with relayed(fresh) as (relay, url), PostgresStore.from_conn_string(url) as store:
        store.put(NS, "seat", {"of": "ana"}, ttl=5)
        relay.lose_answer_to(b"greatest(expires_at", and_stay_away=True)
        with pytest.raises(SaverUnavailable, match="Nothing was written"):
            store.batch(batch)
        relay.come_back()
        assert store.batch(batch)[0].value == {"of": "ana"}


@pytest.mark.parametrize("later", LATER.values(), ids=LATER)
@pytest.mark.parametrize("ops", WRITES.values(), ids=WRITES)
def test_a_write_whose_answer_was_lost_is_not_done_again_over_what_others_wrote_since(fresh, ops, later):
    with (
        PostgresStore.from_conn_string(fresh.url) as other,
        relayed(fresh) as (relay, url),
        PostgresStore.from_conn_string(url) as store,
    ):
        check_not_done_again(relay, store, other, ops, later)


def test_a_write_that_was_given_up_and_arrives_after_the_next_one_is_not_done(postgres_url):
    with PostgresStore.from_conn_string(postgres_url) as store:
        store.setup()
        steps = store._procedures.batch(store._settings, [PutOp(NS, "k", {"v": "given up"})], 0.0)
        assert isinstance(next(steps), Take)
        late = steps.send(None)
        assert isinstance(steps.throw(SaverUnavailable()), Give)
        with pytest.raises(SaverUnavailable):
            steps.send(None)
        store.put(NS, "k", {"v": "next"})
        session = store._connection.session()
        session.perform(Take())
        with pytest.raises(DoneBefore):
            session.perform(late)
        session.perform(Give())
        assert store.get(NS, "k").value == {"v": "next"}


def test_no_more_is_remembered_of_writes_than_were_under_way_at_the_same_time(postgres_url, conn):
    with PostgresStore.from_conn_string(postgres_url) as store:
        for at in range(5):
            store.put(NS, str(at), {})
            store.delete(NS, str(at))
        assert conn.execute("SELECT count(*) FROM signoff_store_lanes").fetchone() == (1,)
        conn.execute("UPDATE signoff_store_lanes SET name = 'old', used_at = now() - interval '2 days'")
        store.put(NS, "k", {})
    assert [name == "old" for (name,) in conn.execute("SELECT name FROM signoff_store_lanes")] == [False]


def test_a_sweep_whose_answer_was_lost_says_how_many_it_removed(fresh):
    now = 1_700_000_000.0
    with relayed(fresh) as (relay, url), PostgresStore.from_conn_string(url, clock=lambda: now) as store:
        store.batch([PutOp(NS, key, {}, ttl=1) for key in "abc"])
        now += 61
        relay.lose_answer_to(b"swept")
        removed = store.sweep_ttl()
        assert relay.has_lost
    with psycopg.connect(fresh.url) as conn:  # what the lost connection has locked is left to the next sweep
        assert conn.execute("SELECT count(*) FROM signoff_store").fetchone() == (3 - removed,)


@pytest.mark.parametrize("given", ["address", "connection", "pool"])
def test_a_server_that_is_down_is_a_typed_error_and_leaves_nothing_half_done(fresh, given):
    url = fresh.url
    pool = ConnectionPool(url, min_size=1, timeout=0.3, open=given == "pool", reconnect_timeout=60)
    conn = psycopg.connect(url, autocommit=True)
    store = PostgresStore({"address": url, "connection": conn, "pool": pool}[given])
    store.put(NS, "k", {"v": 1})
    fresh.stop()
    for _ in range(2):  # the second time shows that nothing is left locked
        with pytest.raises(SaverUnavailable, match="cannot be reached"):
            store.batch([PutOp(NS, "k", {"v": 2}), PutOp(NS, "x", {"v": 2})])
    fresh.start()
    if given == "pool":
        pool.wait(timeout=60)  # it tries again by itself, and takes its time
    assert [(item.key, item.value) for item in store.search(NS)] == [("k", {"v": 1})]
    store.close()
    pool.close()
    conn.close()


def test_a_down_server_is_a_connection_error_too():
    with (
        PostgresStore.from_conn_string("host=/nowhere dbname=none") as store,
        pytest.raises(ConnectionError, match="cannot be reached"),
    ):
        store.get(NS, "k")


# Async


@pytest.mark.parametrize("cancel_at", range(6))
def test_a_cancelled_batch_is_done_or_undone_and_the_store_goes_on(postgres_url, cancel_at):
    async def program():
        async with AsyncPostgresStore.from_conn_string(postgres_url) as store:
            await store.aput(NS, "1", {"v": 0})
            task = asyncio.create_task(
                store.abatch([PutOp(NS, "1", {"v": 1}), PutOp(NS, "2", {"v": 1}), GetOp(NS, "1")])
            )
            for _ in range(cancel_at):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            seen = [item.value["v"] for item in await store.asearch(NS)]
            assert seen in ([0], [1, 1])
            await store.aput(NS, "3", {"v": 3})
            assert (await store.aget(NS, "3")).value == {"v": 3}

    asyncio.run(program())


def test_a_sync_call_inside_the_loop_is_refused_and_from_another_thread_is_answered(postgres_url):
    async def program():
        async with AsyncPostgresStore.from_conn_string(postgres_url) as store:
            with pytest.raises(asyncio.InvalidStateError, match="await the async one"):
                store.get(NS, "k")
            await asyncio.to_thread(store.put, NS, "k", {"v": 1})
            return (await asyncio.to_thread(store.get, NS, "k")).value

    assert asyncio.run(program()) == {"v": 1}


def test_many_tasks_use_one_store_at_once(postgres_url):
    async def program():
        async with AsyncPostgresStore.from_conn_string(postgres_url) as store:
            await store.setup()
            await asyncio.gather(*(store.aput(NS, str(at), {"at": at}) for at in range(60)))
            found = await asyncio.gather(*(store.aget(NS, str(at)) for at in range(60)))
            return [item.value["at"] for item in found]

    assert asyncio.run(program()) == list(range(60))


def test_tables_are_made_once_however_many_tasks_begin_at_the_same_time(postgres_url):
    made = []

    class Counts(AsyncPostgresStore):
        async def setup(self):
            made.append(1)
            await super().setup()

    async def program():
        async with Counts.from_conn_string(postgres_url) as store:
            return await asyncio.gather(*(store.aget(NS, str(at)) for at in range(50)))

    assert asyncio.run(program()) == [None] * 50
    assert made == [1]


def test_the_async_store_is_found_beside_the_sync_one():
    import signoff.store.postgres as room

    assert room.AsyncPostgresStore is AsyncPostgresStore
    with pytest.raises(AttributeError, match="NoSuchStore"):
        room.NoSuchStore  # noqa: B018


def test_a_connection_and_its_pipeline_may_be_given_as_in_langgraph(conn):
    with conn.pipeline() as pipe, PostgresStore(conn, pipe=pipe)._closing() as store:
        store.put(NS, "k", {"v": 1})
        assert store.get(NS, "k").value == {"v": 1}


def test_an_async_connection_and_its_pipeline_may_be_given_as_in_langgraph(postgres_url):
    async def program():
        async with (
            await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as conn,
            conn.pipeline() as pipe,
            AsyncPostgresStore(conn, pipe=pipe)._closing() as store,
        ):
            await store.aput(NS, "k", {"v": 1})
            return await store.aget(NS, "k")

    assert asyncio.run(program()).value == {"v": 1}


@pytest.mark.parametrize("isolation", ["serializable", r"repeatable\ read"])
def test_a_namespace_that_two_begin_at_once_has_one_place_where_transactions_see_one_moment(postgres_url, isolation):
    lock = f"SELECT pg_advisory_xact_lock({lock_of('n')})"
    with (
        PostgresStore.from_conn_string(seeing_one_moment(postgres_url, isolation)) as store,
        PostgresStore.from_conn_string(postgres_url) as other,
        psycopg.connect(postgres_url) as holding,
        ThreadPoolExecutor() as pool,
    ):
        store.setup()
        holding.execute(lock)
        puts = []
        for waiting, one in enumerate((other, store), start=1):
            puts.append(pool.submit(one.put, NS, str(waiting), {}))
            wait_for_waiting(holding, waiting)
        holding.commit()
        for put in puts:
            put.result()
        assert holding.execute("SELECT count(DISTINCT namespace_rank) FROM signoff_store").fetchone() == (1,)
        assert {item.key for item in store.search(NS)} == {"1", "2"}
