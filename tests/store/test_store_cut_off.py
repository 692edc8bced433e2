"""A signal whose handler raises, or a cancellation, at any moment of a call: the store goes on, with no half batch."""

import asyncio
import threading
from itertools import count

import pytest

from interrupting import interrupted_at
from signoff._sqlite.aio import in_its_thread
from signoff.store.base import GetOp, PutOp, SearchOp
from signoff.store.memory import InMemoryStore
from signoff.store.postgres import AsyncPostgresStore
from signoff.store.sqlite import AsyncSqliteStore

# A connection that is left in its middle says so.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
    pytest.mark.usefixtures("collected"),
]

BEFORE = [PutOp(("n",), "a", {"v": 0}), PutOp(("n",), "b", {"v": 0}), PutOp(("n",), "c", {"v": 0}, ttl=5)]
CHANGES = [PutOp(("n",), "b", {"v": 1}), PutOp(("n",), "d", {"v": 1}), PutOp(("n",), "a", None)]
READS = [GetOp(("n",), "c"), SearchOp((), {"v": 0})]
OLD, NEW = {"a": 0, "b": 0, "c": 0}, {"b": 1, "c": 0, "d": 1}


def kept(items):
    return {item.key: item.value["v"] for item in items}


def test_a_batch_in_memory_that_hears_a_signal_is_stored_whole_or_not_at_all():
    seen = []
    for moment in count(1):
        store = InMemoryStore(clock=iter(range(9)).__next__)
        store.batch(BEFORE)
        is_cut_off = interrupted_at(moment, ["/store/memory"], lambda store=store: store.batch(CHANGES))
        found = store.search(())
        assert kept(found) in (OLD, NEW), f"moment {moment}"
        assert {item.created_at.second for item in found if item.key in OLD} == {0}, f"moment {moment}"
        seen.append(kept(found))
        if not is_cut_off:
            break
    assert OLD in seen[:-1]
    assert NEW in seen[:-1]


async def cancel_again_and_again(turns, coroutine):
    """Cancel something at every turn of the loop, after some; the error that it ended with, if there was one."""
    task = asyncio.ensure_future(coroutine)
    for _ in range(turns):
        await asyncio.sleep(0)
    while not task.done():
        task.cancel()
        await asyncio.sleep(0)
    return None if task.cancelled() else task.exception()


async def cut_off_everywhere(store, stride=1):
    for turns in range(0, 25, stride):
        await store.abatch(BEFORE)
        error = await cancel_again_and_again(turns, store.abatch([*READS, *CHANGES]))
        assert error is None, f"after {turns} turns"
        assert kept(await store.asearch(())) in (OLD, NEW), f"after {turns} turns"
        await store.adelete(("n",), "d")


def test_a_store_on_sqlite_that_is_cancelled_again_and_again_goes_on(tmp_path):
    async def program():
        async with AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
            await cut_off_everywhere(store)

    asyncio.run(program())


def test_nobody_has_the_connection_before_a_transaction_that_was_cancelled_is_undone(tmp_path):
    async def program():
        async with AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db")) as store:
            await store.abatch(BEFORE)
            batch = asyncio.ensure_future(store.abatch([*READS, *CHANGES]))
            while not store.conn.in_transaction:
                await asyncio.sleep(0)
            go_on = threading.Event()
            late = asyncio.ensure_future(in_its_thread(store.conn, go_on.wait))
            while not batch.done():
                await asyncio.sleep(0)
                batch.cancel()
            other = asyncio.ensure_future(store.aput(("n",), "a", {"v": 2}))
            await asyncio.sleep(0)
            go_on.set()
            await asyncio.gather(late, other)
            assert kept(await store.asearch(())) == {**OLD, "a": 2}

    asyncio.run(program())


def test_a_store_on_postgres_that_is_cancelled_again_and_again_goes_on(postgres_url):
    async def program():
        async with AsyncPostgresStore.from_conn_string(postgres_url) as store:
            await store.setup()
            await cut_off_everywhere(store)

    asyncio.run(program())


def test_a_store_on_sqlite_is_used_in_several_event_loops_at_once(tmp_path, portal):
    async def several(name):
        await asyncio.gather(*(store.aput(("n",), f"{name}{at}", {"v": at}) for at in range(10)))
        return await asyncio.gather(*(store.asearch(("n",), filter={"v": 3}) for _ in range(10)))

    context = AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db"))
    store = portal.run(context.__aenter__())
    there = [threading.Thread(target=lambda name=name: asyncio.run(several(name)), daemon=True) for name in "ab"]
    for thread in there:
        thread.start()
    portal.run(several("c"))
    for thread in there:
        thread.join(20)
    assert not any(thread.is_alive() for thread in there)
    assert len(portal.run(store.asearch((), limit=100))) == 30
    portal.run(context.__aexit__(None, None, None))


def test_a_store_on_sqlite_that_is_cancelled_in_another_event_loop_goes_on(tmp_path, portal):
    context = AsyncSqliteStore.from_conn_string(str(tmp_path / "store.db"))
    store = portal.run(context.__aenter__())
    asyncio.run(cut_off_everywhere(store, stride=8))
    assert not store.lock.locked()
    portal.run(context.__aexit__(None, None, None))
