"""Ctrl-C, or a handler of SIGTERM that raises, at any moment of a procedure: no connection, place or lock is lost."""

import asyncio
from contextlib import asynccontextmanager, contextmanager
from itertools import count

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from interrupting import interrupted_at
from signoff._postgres.aio import AsyncConnection
from signoff._postgres.connection import Connection
from signoff._postgres.effects import TAKE, Execute
from signoff._postgres.sources import MOST_CONNECTIONS
from signoff._postgres.transactions import read, transaction, write
from signoff.store.postgres import PostgresStore

# A connection, or a generator, that is left in its middle says so.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
    pytest.mark.usefixtures("collected"),
]

ONE, OTHER = Execute("SELECT %s::int", (1,)), Execute("SELECT %s::int", (2,))


def each(*statements):
    for statement in statements:
        yield statement


@contextmanager
def address(url):
    room = Connection(url)
    yield room, lambda: room._source._places.qsize() == MOST_CONNECTIONS
    room.close()


@contextmanager
def one(url):
    with psycopg.connect(url) as conn:  # whose owner begins a transaction with each statement
        room = Connection(conn)
        yield room, lambda: not room._source._lock.locked() and (conn.closed or not conn.autocommit)
        room.close()


@contextmanager
def pool(url):
    with ConnectionPool(url, min_size=1, max_size=1, open=True) as pool:
        pool.wait()
        yield Connection(pool), lambda: _has_all(pool)


def _has_all(pool):
    with pool.connection(timeout=5):  # there is only one
        return True


PROCEDURES = {
    "read": lambda: read(ONE),
    "reads": lambda: read(ONE, OTHER),
    "write": lambda: write(ONE),
    "transaction": lambda: transaction("write", lambda: each(ONE, OTHER)),
}


@pytest.mark.parametrize("source", [address, one, pool])
@pytest.mark.parametrize("procedure", PROCEDURES.values(), ids=PROCEDURES)
def test_a_procedure_that_is_interrupted_gives_its_connection_back(postgres_url, procedure, source):
    with source(postgres_url) as (room, is_free):
        for moment in count(1):
            is_cut_off = interrupted_at(moment, ["signoff"], lambda: room.run(procedure()))
            assert is_free(), f"at moment {moment}"
            if not is_cut_off:
                break
        assert moment > 5
        assert room.run(read(ONE, OTHER)) == [[(1,)], [(2,)]]


def test_a_store_that_is_interrupted_gives_its_connection_back(postgres_url):
    with PostgresStore.from_conn_string(postgres_url) as store:
        store.setup()
        for moment in count(1):
            is_cut_off = interrupted_at(moment, ["signoff"], lambda: store.put(("a",), "b", {"c": 1}))
            assert store._connection._source._places.qsize() == MOST_CONNECTIONS, f"at moment {moment}"
            if not is_cut_off:
                break
        assert moment > 30


# On an event loop


@asynccontextmanager
async def async_address(url):
    room = AsyncConnection(url)
    yield room, lambda: room._source.turns._value == MOST_CONNECTIONS
    await room.close()


@asynccontextmanager
async def async_one(url):
    async with await psycopg.AsyncConnection.connect(url) as conn:
        room = AsyncConnection(conn)
        yield room, lambda: not room._source.turns.locked() and (conn.closed or not conn.autocommit)
        await room.close()


@asynccontextmanager
async def async_pool(url):
    async with AsyncConnectionPool(url, min_size=1, max_size=1, open=False, timeout=5) as pool:
        await pool.wait()
        yield AsyncConnection(pool), lambda: True  # there is one only: without it, nothing is read


class BusyPool(AsyncConnectionPool):
    """A pool that many use at once: whoever gives a connection back waits until it is his turn."""

    async def putconn(self, conn):
        for _ in range(2):
            await asyncio.sleep(0)
        await super().putconn(conn)


@asynccontextmanager
async def async_busy_pool(url):
    async with BusyPool(url, min_size=1, max_size=1, open=False, timeout=5) as pool:
        await pool.wait()
        yield AsyncConnection(pool), lambda: True


async def cancelled_after(turns, coroutine, is_relentless):
    """Cancel something after some turns of the loop, once or at every turn from then on; whether it came to that."""
    task = asyncio.ensure_future(coroutine)
    for _ in range(turns):
        await asyncio.sleep(0)
    is_cut_off = task.cancel()
    while is_relentless and not task.done():
        await asyncio.sleep(0)
        task.cancel()
    await asyncio.wait([task])
    return is_cut_off


@pytest.mark.parametrize("is_relentless", [False, True], ids=["once", "again and again"])
@pytest.mark.parametrize("source", [async_address, async_one, async_pool, async_busy_pool])
@pytest.mark.parametrize("procedure", PROCEDURES.values(), ids=PROCEDURES)
def test_a_procedure_that_is_cancelled_gives_its_connection_back(postgres_url, procedure, source, is_relentless):
    async def program():
        async with source(postgres_url) as (room, is_free):
            for turns in count():
                is_cut_off = await cancelled_after(turns, room.run(procedure()), is_relentless)
                assert is_free(), f"after {turns} turns"
                assert await room.run(read(ONE, OTHER)) == [[(1,)], [(2,)]], f"after {turns} turns"
                if not is_cut_off:
                    break
            return turns

    assert asyncio.run(program()) > 1, "it was cut off at several moments"


@pytest.mark.parametrize("is_relentless", [False, True], ids=["once", "again and again"])
def test_a_procedure_that_is_cancelled_in_another_loop_gives_its_connection_back(postgres_url, portal, is_relentless):
    async def made():
        return AsyncConnection(postgres_url)

    async def given_back():
        """Where it lives, it may still be under way when whoever called has left."""
        async with asyncio.timeout(10):
            while room._source.turns._value != MOST_CONNECTIONS:
                await asyncio.sleep(0)

    async def program():
        for turns in range(0, 60, 4):
            await cancelled_after(turns, room.run(PROCEDURES["transaction"]()), is_relentless)
            await asyncio.to_thread(portal.run, given_back())
        assert await room.run(read(ONE, OTHER)) == [[(1,)], [(2,)]]

    room = portal.run(made())
    asyncio.run(program())
    portal.run(room.close())


@pytest.mark.parametrize("is_one", [True, False], ids=["connection", "address"])
def test_a_connection_may_be_given_back_though_the_loop_that_it_was_taken_in_has_ended(postgres_url, is_one):
    async def taken():
        conn = await psycopg.AsyncConnection.connect(postgres_url) if is_one else postgres_url
        room = AsyncConnection(conn)
        session = room.session()
        await session.perform(TAKE)
        await session.perform(ONE)
        return room, session, conn

    async def given(room, session, conn):
        await room.run(read(ONE))
        await session.end()
        assert await room.run(read(ONE, OTHER)) == [[(1,)], [(2,)]]
        await room.close()
        return await conn.close() if is_one else room._source.turns._value

    assert asyncio.run(given(*asyncio.run(taken()))) in (None, MOST_CONNECTIONS)
