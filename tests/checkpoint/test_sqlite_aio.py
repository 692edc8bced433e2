"""What is special about the async saver: its loop, its callers from other threads, its cancellations."""

import asyncio
import sqlite3

import aiosqlite
import pytest

from signoff._loops import LoopNotRunning
from signoff.checkpoint.base import Commit
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver
from signoff.checkpoint.sqlite.aio import SyncCallInLoop
from signoff.errors import InvalidInput
from signoff.graph import START, StateGraph
from signoff.testing.conformance._saver_words import after, at, made


def run(program, path=":memory:", cls=AsyncSqliteSaver, **options):
    async def with_saver():
        async with cls.from_conn_string(str(path), **options) as saver:
            return await program(saver)

    return asyncio.run(with_saver())


async def put(saver, id, values, parent=None, **place):
    return await saver.aput(at(parent, **place), made(id, values), {}, dict.fromkeys(values, 1))


async def values_of(saver, **place):
    return (await saver.aget(at(**place)))["channel_values"]


def test_a_sync_call_inside_the_loop_is_refused_instead_of_waiting_for_ever():
    async def program(saver):
        for call in (
            lambda: saver.get_tuple(at()),
            lambda: list(saver.list(None)),
            lambda: saver.put(at(), made("1"), {}, {}),
            lambda: saver.delete_thread("thread"),
        ):
            with pytest.raises(SyncCallInLoop, match="AsyncSqliteSaver.*await the async one"):
                call()
        with pytest.raises(asyncio.InvalidStateError):
            saver.prune([])

    run(program)


def test_a_batch_of_threads_inside_the_loop_is_refused_instead_of_waiting_for_ever():
    async def program(saver):
        inner = StateGraph(dict).add_node("a", lambda state: {}).add_edge(START, "a")

        async def node(state):
            inner.compile().batch([{}, {}])

        outer = StateGraph(dict).add_node("node", node).add_edge(START, "node").compile(saver)
        with pytest.raises(SyncCallInLoop, match="await the async one"):
            await outer.ainvoke({}, at())
        with pytest.raises(SyncCallInLoop, match="await the async one"):
            inner.compile(saver).batch([{}, {}], at())
        assert await asyncio.to_thread(inner.compile(saver).batch, [{}], at())

    run(program)


def test_a_sync_call_after_the_loop_has_ended_is_refused_instead_of_waiting_for_ever():
    savers = []

    async def program(saver):
        savers.append(saver)

    run(program)
    with pytest.raises(LoopNotRunning, match="AsyncSqliteSaver.*does not run any more"):
        savers[0].get_tuple(at())
    loop = asyncio.new_event_loop()  # not closed: it only stands still
    opening = AsyncSqliteSaver.from_conn_string(":memory:")
    saver = loop.run_until_complete(opening.__aenter__())
    with pytest.raises(RuntimeError, match="call it while the loop runs"):
        saver.get_tuple(at())
    loop.run_until_complete(opening.__aexit__(None, None, None))
    loop.close()


def test_a_sync_call_from_another_thread_or_loop_is_answered():
    async def program(saver):
        await put(saver, "1", {"a": 1})

        async def elsewhere():
            return saver.get(at())["channel_values"]

        def by_thread():
            return saver.get(at())["channel_values"], [one.checkpoint["id"] for one in saver.list(None)]

        assert await asyncio.to_thread(by_thread) == ({"a": 1}, ["1"])
        assert await asyncio.to_thread(asyncio.run, elsewhere()) == {"a": 1}

    run(program)


def test_an_async_call_from_another_loop_is_answered():
    async def program(saver):
        await put(saver, "1", {"a": 1})
        return await asyncio.to_thread(asyncio.run, values_of(saver))

    assert run(program) == {"a": 1}


def test_a_saver_on_a_connection_of_ones_own_sets_itself_up():
    async def program():
        async with aiosqlite.connect(":memory:") as conn:
            conn.row_factory = aiosqlite.Row
            saver = AsyncSqliteSaver(conn)
            await saver.setup()
            assert saver.is_setup
            await put(saver, "1", {"a": 1})
            return await values_of(saver)

    assert asyncio.run(program()) == {"a": 1}


def test_a_connection_that_nobody_opened_is_refused():
    async def program():
        saver = AsyncSqliteSaver(aiosqlite.connect(":memory:"))
        with pytest.raises(InvalidInput, match="await it first"):
            await saver.aget_tuple(at())

    asyncio.run(program())


def test_a_connection_whose_texts_are_no_texts_is_refused():
    async def program():
        async with aiosqlite.connect(":memory:") as conn:
            conn.text_factory = bytes
            with pytest.raises(InvalidInput, match="text_factory"):
                await AsyncSqliteSaver(conn).aget_tuple(at())

    asyncio.run(program())


def test_a_connection_in_the_middle_of_something_is_refused():
    async def program():
        async with aiosqlite.connect(":memory:") as conn:
            await conn.execute("CREATE TABLE mine (a)")
            await conn.execute("INSERT INTO mine VALUES (1)")
            saver = AsyncSqliteSaver(conn)
            with pytest.raises(InvalidInput, match="open transaction"):
                await put(saver, "1", {"a": 1})
            await conn.commit()
            await put(saver, "1", {"a": 1})

    asyncio.run(program())


def test_many_tasks_use_one_saver_at_once():
    async def program(saver):
        await asyncio.gather(*(put(saver, "1", {"a": number}, thread=str(number)) for number in range(50)))
        return [await values_of(saver, thread=str(number)) for number in range(50)]

    assert run(program) == [{"a": number} for number in range(50)]


class Counting(AsyncSqliteSaver):
    """Counts its trips to the thread of the connection."""

    trips = 0

    async def _run(self, steps):
        self.trips += 1
        return await super()._run(steps)


def test_a_commit_is_one_trip_to_the_thread_of_the_connection(tmp_path):
    async def program(saver):
        await put(saver, "1", {"a": 1})
        seen = []
        await saver.conn.set_trace_callback(seen.append)
        saver.trips = 0
        commit = Commit(after("1"), [("task", [("a", 2)], "")], made("2", {"a": 2}, {"a": 2}), {}, {"a"})
        await saver.acommit([commit])
        await saver.conn.set_trace_callback(None)
        return saver.trips, [statement.split()[0] for statement in seen]

    assert run(program, tmp_path / "saver.db", Counting) == (1, ["BEGIN", "INSERT", "COMMIT"])


@pytest.mark.parametrize("turns", range(4))
def test_a_cancelled_commit_is_done_or_undone_and_the_saver_goes_on(tmp_path, turns):
    async def program(saver):
        await put(saver, "1", {"a": 1})
        commits = [
            Commit(after("1"), [("task", [("a", 2)], "")], made("2", {"a": 2}, {"a": 2}), {}, {"a"}),
            Commit(after("2"), (), made("3", {"a": 3}, {"a": 3}), {}, {"a"}),
        ]
        task = asyncio.create_task(saver.acommit(commits))
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        ids = [one.checkpoint["id"] async for one in saver.alist(None)]
        assert ids in (["1"], ["3", "2", "1"])
        await put(saver, "4", {"a": 4}, parent="1")
        assert await values_of(saver) == {"a": 4}

    run(program, tmp_path / "saver.db")


def test_the_sync_and_the_async_saver_share_a_file(tmp_path):
    async def program(saver):
        await put(saver, "1", {"a": 1})
        with SqliteSaver.from_conn_string(str(tmp_path / "saver.db")) as other:
            assert other.get(at())["channel_values"] == {"a": 1}
            other.put(at("1"), made("2", {"a": 2}), {}, {"a": 1})
        return await values_of(saver)

    assert run(program, tmp_path / "saver.db") == {"a": 2}


def test_the_file_is_closed_behind_the_block(tmp_path):
    async def program(saver):
        await put(saver, "1", {"a": 1})
        return saver

    saver = run(program, tmp_path / "saver.db")
    with pytest.raises((ValueError, sqlite3.ProgrammingError)):
        asyncio.run(saver.aget_tuple(at()))
