"""What is special about the async store: its loop, its callers from other threads, its cancellations."""

import asyncio
import sqlite3
from contextlib import closing

import aiosqlite
import pytest
from test_store_ttl import AsyncSwept

from signoff._sqlite.effects import Execute, ExecuteMany
from signoff.errors import InvalidInput
from signoff.store.base import GetOp, PutOp
from signoff.store.sqlite import AsyncSqliteStore, SqliteStore
from signoff.store.sqlite.aio import SyncCallInLoop

NS = ("n",)


def run(program, path=":memory:", cls=AsyncSqliteStore, **options):
    async def with_store():
        async with cls.from_conn_string(str(path), **options) as store:
            return await program(store)

    return asyncio.run(with_store())


def test_a_sync_call_inside_the_loop_is_refused_instead_of_waiting_for_ever():
    async def program(store):
        with pytest.raises(SyncCallInLoop, match="await the async one"):
            store.get(NS, "k")
        with pytest.raises(asyncio.InvalidStateError):
            store.put(NS, "k", {})

    run(program)


def test_a_sync_call_from_another_thread_waits_for_the_loop():
    async def program(store):
        await asyncio.to_thread(store.put, NS, "k", {"v": 1})
        return (await asyncio.to_thread(store.get, NS, "k")).value

    assert run(program) == {"v": 1}


def test_a_sync_call_from_another_loop_is_answered_too():
    async def program(store):
        async def elsewhere():
            return store.get(NS, "k")

        await store.aput(NS, "k", {"v": 1})
        return (await asyncio.to_thread(asyncio.run, elsewhere())).value

    assert run(program) == {"v": 1}


def test_a_store_on_a_connection_of_ones_own_sets_itself_up():
    async def program():
        async with aiosqlite.connect(":memory:") as conn:
            store = AsyncSqliteStore(conn)
            await store.setup()
            await store.aput(NS, "k", {"v": 1})
            return (await store.aget(NS, "k")).value

    assert asyncio.run(program()) == {"v": 1}


def test_a_connection_in_the_middle_of_something_is_refused():
    async def program():
        async with aiosqlite.connect(":memory:") as conn:
            await conn.execute("CREATE TABLE mine (a)")
            await conn.execute("INSERT INTO mine VALUES (1)")
            store = AsyncSqliteStore(conn)
            with pytest.raises(InvalidInput, match="open transaction"):
                await store.aput(NS, "k", {"v": 1})
            await conn.commit()
            await store.aput(NS, "k", {"v": 1})

    asyncio.run(program())


def test_a_connection_of_the_other_kind_is_refused():
    async def program():
        refused = pytest.raises(InvalidInput, match=r"connection of sqlite3.*take the sync")
        with closing(sqlite3.connect(":memory:")) as conn, refused:
            AsyncSqliteStore(conn)
        async with aiosqlite.connect(":memory:") as conn:
            with pytest.raises(InvalidInput, match=r"connection of aiosqlite.*take the async"):
                SqliteStore(conn)

    asyncio.run(program())


def test_many_tasks_use_one_store_at_once():
    async def program(store):
        await asyncio.gather(*(store.aput(NS, str(at), {"at": at}) for at in range(50)))
        found = await asyncio.gather(*(store.aget(NS, str(at)) for at in range(50)))
        return [item.value["at"] for item in found]

    assert run(program) == list(range(50))


class Cancelled(AsyncSqliteStore):
    """Cancels its own task while it waits for the n-th effect."""

    cancel_at = None

    def _driven(self, steps, perform):
        return super()._driven(steps, lambda effect: self.cancel_or_not(effect) or perform(effect))

    def cancel_or_not(self, effect):
        if self.cancel_at is not None:
            self.cancel_at -= 1
            if self.cancel_at < 0 and isinstance(effect, Execute | ExecuteMany):
                self.cancel_at = None
                asyncio.current_task().cancel()


@pytest.mark.parametrize("cancel_at", range(4))  # acquire, begin, two puts, commit
def test_a_cancelled_batch_is_done_or_undone_and_the_store_goes_on(tmp_path, cancel_at):
    async def program(store):
        await store.aput(NS, "1", {"v": 0})
        store.cancel_at = cancel_at
        ops = [PutOp(NS, "1", {"v": 1}), PutOp(NS, "2", {"v": 1})]
        task = asyncio.create_task(store.abatch(ops))
        await asyncio.wait([task])
        store.cancel_at = None
        seen = [item.value["v"] for item in await store.asearch(NS)]
        assert seen in ([0], [1, 1])
        await store.aput(NS, "3", {"v": 3})
        return task.cancelled()

    assert run(program, tmp_path / "store.db", Cancelled)
    conn = sqlite3.connect(tmp_path / "store.db")
    assert ("3",) in conn.execute("SELECT key FROM signoff_store").fetchall()
    conn.close()


@pytest.mark.parametrize("turns", range(5))
def test_a_single_put_that_is_cancelled_is_whole_and_the_store_goes_on(tmp_path, turns):
    """With a connection whose owner lets Python open transactions: there a put has one around it."""

    async def program():
        async with aiosqlite.connect(tmp_path / "store.db") as conn:
            store = AsyncSqliteStore(conn)
            await store.setup()
            putting = asyncio.create_task(store.aput(NS, "1", {"v": 1}))
            for _ in range(turns):
                await asyncio.sleep(0)
            putting.cancel()
            await store.abatch([PutOp(NS, "2", {"v": 2}), GetOp(NS, "1")])
            await asyncio.wait([putting])
            return {item.key: item.value["v"] for item in await store.asearch(NS)}

    assert asyncio.run(program()) in ({"2": 2}, {"1": 1, "2": 2})


def test_single_operations_wait_for_a_batch_in_the_middle_of_its_transaction(tmp_path):
    async def program(store):
        batches = [store.abatch([GetOp(NS, "k"), PutOp(NS, str(at), {"v": at})]) for at in range(20)]
        singles = [store.aput(NS, "k", {"v": 0}), store.aget(NS, "k"), store.adelete(NS, "nothing")]
        await asyncio.gather(*batches, *singles)
        return len(await store.asearch(NS, limit=100))

    assert run(program, tmp_path / "store.db") == 21


class Swept(AsyncSwept, AsyncSqliteStore):
    pass


def test_the_sweeper_sweeps_until_it_is_stopped_whatever_fails(clock, caplog):
    async def program(store):
        store.swept, store.fails = asyncio.Event(), 1
        await store.aput(NS, "k", {}, ttl=1)
        clock.advance(minutes=1)
        task = await store.start_ttl_sweeper()
        assert await store.start_ttl_sweeper() is task
        while store.sweeps < 2:
            await asyncio.wait_for(store.swept.wait(), timeout=30)
            store.swept.clear()
        assert await store.stop_ttl_sweeper(timeout=30)
        assert task.done()
        return await store.sweep_ttl()

    assert run(program, cls=Swept, clock=clock, ttl={"sweep_interval_minutes": 0.0001}) == 0
    assert "disk on fire" in caplog.text


class Slow(AsyncSqliteStore):
    """Takes long to be called off as it sweeps."""

    async def sweep_ttl(self):
        self.is_under_way.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await self.may_end.wait()
            raise


def test_a_sweeper_that_is_started_while_a_stopped_one_comes_to_its_end_sweeps():
    async def program(store):
        store.is_under_way, store.may_end = asyncio.Event(), asyncio.Event()
        first = await store.start_ttl_sweeper(0.0001)
        await asyncio.wait_for(store.is_under_way.wait(), timeout=30)
        store.is_under_way.clear()
        assert not await store.stop_ttl_sweeper(timeout=0)
        second = await store.start_ttl_sweeper(0.0001)
        store.may_end.set()
        await asyncio.wait([first])
        await asyncio.wait_for(store.is_under_way.wait(), timeout=30)
        return second is not first and await store.stop_ttl_sweeper(timeout=30)

    assert run(program, cls=Slow)


def test_stopping_a_sweeper_that_never_ran_is_fine():
    async def program(store):
        return await store.stop_ttl_sweeper()

    assert run(program)


def test_leaving_the_block_stops_the_sweeper():
    async def program(store):
        return await store.start_ttl_sweeper(1)

    assert run(program).done()


def test_the_async_store_is_found_beside_the_sync_one():
    import signoff.store.sqlite as room
    from signoff.store.sqlite.aio import AsyncSqliteStore as direct

    assert room.AsyncSqliteStore is direct
    with pytest.raises(AttributeError, match="NoSuchStore"):
        room.NoSuchStore  # noqa: B018
