"""Savers that were opened before a fork: what the child may do with them, and what the parent has of it."""

import asyncio
import multiprocessing
import os
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TypedDict

import aiosqlite
import psycopg
import pytest
import redis.asyncio
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from forking import WAIT_S, is_refused, said_by_child
from signoff.checkpoint.postgres import AsyncPostgresSaver, PostgresSaver
from signoff.checkpoint.redis import AsyncRedisSaver, RedisSaver
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class State(TypedDict, total=False):
    answer: str


def graph(saver: Any) -> Any:
    def ask(state: State) -> State:
        return {"answer": interrupt("Well?")}

    return StateGraph(State).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=saver)


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def answered(app: Any, name: str, answer: str) -> str:
    return str(app.invoke(Command(resume=answer), thread(name))["answer"])


async def aanswered(app: Any, name: str, answer: str) -> str:
    return str((await app.ainvoke(Command(resume=answer), thread(name)))["answer"])


# SQLite


@pytest.fixture
def sqlite_saver(tmp_path: Path) -> Iterator[SqliteSaver]:
    with SqliteSaver.from_conn_string(tmp_path / "saver.db") as saver:
        yield saver


def test_a_child_may_not_use_a_sqlite_connection_and_the_parent_goes_on(sqlite_saver: SqliteSaver):
    app = graph(sqlite_saver)
    app.invoke({}, thread("1"))
    before = list(sqlite_saver.conn.iterdump())
    assert is_refused(lambda: app.invoke(Command(resume="child"), thread("1")))
    assert is_refused(lambda: app.invoke({}, thread("2")))
    assert is_refused(lambda: app.get_state(thread("1")))
    assert is_refused(lambda: asyncio.run(app.ainvoke({}, thread("2"))))
    assert is_refused(lambda: sqlite_saver.conn.execute("SELECT 1"))
    assert list(sqlite_saver.conn.iterdump()) == before
    assert answered(app, "1", "parent") == "parent"


def test_a_sqlite_saver_that_nobody_has_used_yet_is_refused_in_a_child_too(sqlite_saver: SqliteSaver):
    assert is_refused(sqlite_saver.setup)
    sqlite_saver.setup()


def test_a_child_does_not_close_the_sqlite_connection_of_its_parent(sqlite_saver: SqliteSaver):
    app = graph(sqlite_saver)
    app.invoke({}, thread("1"))
    assert said_by_child(sqlite_saver.close) == "None"
    assert answered(app, "1", "parent") == "parent"


def test_a_child_does_not_wait_for_a_write_of_its_parent(sqlite_saver: SqliteSaver):
    sqlite_saver.setup()
    with sqlite_saver.lock:
        assert is_refused(lambda: graph(sqlite_saver).invoke({}, thread("1")))
        assert said_by_child(sqlite_saver.close) == "None"


def test_a_child_opens_the_file_for_itself(sqlite_saver: SqliteSaver, tmp_path: Path):
    app = graph(sqlite_saver)
    app.invoke({}, thread("1"))

    def work() -> str:
        with SqliteSaver.from_conn_string(tmp_path / "saver.db") as own:
            return answered(graph(own), "1", "child")

    assert said_by_child(work) == "child"
    assert app.get_state(thread("1")).values == {"answer": "child"}


def test_a_grandchild_is_refused_as_its_parent_was(sqlite_saver: SqliteSaver):
    sqlite_saver.setup()
    said = said_by_child(lambda: is_refused(lambda: graph(sqlite_saver).invoke({}, thread("1"))))
    assert said == "True"


def test_a_connection_of_the_programs_own_is_refused_in_a_child(tmp_path: Path):
    with closing(sqlite3.connect(tmp_path / "a.db", check_same_thread=False)) as conn:
        app = graph(SqliteSaver(conn))
        app.invoke({}, thread("1"))
        assert is_refused(lambda: app.invoke(Command(resume="child"), thread("1")))
        assert answered(app, "1", "parent") == "parent"


# On event loops


@contextmanager
def loop_in_a_thread() -> Iterator[Callable[[Any], Any]]:
    """What runs coroutines in an event loop of another thread."""
    loop = asyncio.new_event_loop()
    running = threading.Thread(target=loop.run_forever)
    running.start()
    yield lambda coroutine: asyncio.run_coroutine_threadsafe(coroutine, loop).result()
    loop.call_soon_threadsafe(loop.stop)
    running.join()
    loop.close()


@contextmanager
def opened(context: Any) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    """An async saver in the event loop of another thread, and what runs coroutines there."""
    with loop_in_a_thread() as run:
        saver = run(context.__aenter__())
        yield saver, run
        run(context.__aexit__(None, None, None))


@pytest.mark.parametrize("is_used", [True, False])
def test_a_child_may_not_use_an_aiosqlite_connection_and_does_not_hang(tmp_path: Path, is_used: bool):
    with opened(AsyncSqliteSaver.from_conn_string(tmp_path / "saver.db")) as (saver, run):
        app = graph(saver)
        if is_used:
            run(app.ainvoke({}, thread("1")))
        assert is_refused(lambda: asyncio.run(app.ainvoke({}, thread("2"))))
        assert is_refused(lambda: app.invoke({}, thread("2")))
        assert is_refused(lambda: saver.get_tuple(thread("1")))
        run(app.ainvoke({}, thread("3")))
        assert run(aanswered(app, "3", "parent")) == "parent"
        assert run(app.aget_state(thread("2"))).created_at is None


def test_a_child_that_leaves_the_block_of_an_aiosqlite_connection_does_not_hang(tmp_path: Path):
    async def main() -> str:
        parent = os.getpid()
        async with AsyncSqliteSaver.from_conn_string(tmp_path / "saver.db") as saver:
            app = graph(saver)
            await app.ainvoke({}, thread("1"))
            if child := os.fork():
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
                return await aanswered(app, "1", "parent")
            signal.alarm(WAIT_S)
        os._exit(7 if os.getpid() != parent else 1)

    assert asyncio.run(main()) == "parent"


def test_an_aiosqlite_connection_of_the_programs_own_is_refused_in_a_child(tmp_path: Path):
    async def main() -> str:
        async with aiosqlite.connect(tmp_path / "a.db") as conn:
            app = graph(AsyncSqliteSaver(conn))
            await app.ainvoke({}, thread("1"))
            assert is_refused(lambda: asyncio.run(app.ainvoke({}, thread("2"))))
            return await aanswered(app, "1", "parent")

    assert asyncio.run(main()) == "parent"


# Postgres


def test_a_child_opens_connections_of_its_own_where_an_address_was_given(postgres_url: str):
    with PostgresSaver.from_conn_string(postgres_url) as saver:
        app = graph(saver)
        app.invoke({}, thread("1"))
        app.invoke({}, thread("2"))
        ours = saver._connection._source._spare[0]
        assert said_by_child(lambda: answered(app, "1", "child")) == "child"
        assert said_by_child(saver.close) == "None"
        assert answered(app, "2", "parent") == "parent"
        assert app.get_state(thread("1")).values == {"answer": "child"}
        assert saver._connection._source._spare[0] is ours  # it was not closed, or it would have been replaced


def test_processes_of_multiprocessing_share_an_address(postgres_url: str):
    context = multiprocessing.get_context("fork")
    with PostgresSaver.from_conn_string(postgres_url) as saver:
        app = graph(saver)
        for number in range(4):
            app.invoke({}, thread(str(number)))
        children = [context.Process(target=answered, args=(app, str(number), "child")) for number in range(3)]
        for child in children:
            child.start()
        assert answered(app, "3", "parent") == "parent"
        for child in children:
            child.join()
        found = [app.get_state(thread(str(number))).values["answer"] for number in range(4)]
        assert found == ["child", "child", "child", "parent"]


def test_a_child_does_not_run_out_of_places_that_threads_of_its_parent_had(postgres_url: str):
    with PostgresSaver.from_conn_string(postgres_url) as saver:
        app = graph(saver)
        app.invoke({}, thread("1"))
        source = saver._connection._source
        taken = [source.having() for _ in range(16)]
        for having in taken:
            next(having)
        assert said_by_child(lambda: answered(app, "1", "child")) == "child"
        for having in taken:
            having.close()


def test_a_child_may_not_use_a_postgres_connection_and_the_parent_goes_on(postgres_url: str):
    with psycopg.connect(postgres_url, autocommit=True) as conn:
        saver = PostgresSaver(conn)
        app = graph(saver)
        app.invoke({}, thread("1"))
        assert is_refused(lambda: app.invoke(Command(resume="child"), thread("1")))
        assert is_refused(lambda: app.invoke({}, thread("2")))
        assert said_by_child(saver.close) == "None"
        assert answered(app, "1", "parent") == "parent"
        assert app.get_state(thread("2")).created_at is None


def test_a_child_may_not_use_an_open_pool_and_the_parent_goes_on(postgres_url: str):
    with ConnectionPool(postgres_url, min_size=1, open=True) as pool:
        app = graph(PostgresSaver(pool))
        app.invoke({}, thread("1"))
        assert is_refused(lambda: app.invoke(Command(resume="child"), thread("1")))
        assert answered(app, "1", "parent") == "parent"


def test_a_pool_may_be_opened_in_each_process(postgres_url: str):
    pool: Any = ConnectionPool(postgres_url, min_size=1, open=False)
    app = graph(PostgresSaver(pool))

    def work() -> str:
        with pool:
            app.invoke({}, thread("1"))
            return answered(app, "1", "child")

    assert said_by_child(work) == "child"
    with pool:
        assert app.get_state(thread("1")).values == {"answer": "child"}


def test_an_async_saver_at_an_address_connects_anew_in_a_child(postgres_url: str):
    with opened(AsyncPostgresSaver.from_conn_string(postgres_url)) as (saver, run):
        app = graph(saver)
        run(app.ainvoke({}, thread("1")))
        run(app.ainvoke({}, thread("2")))
        assert said_by_child(lambda: asyncio.run(aanswered(app, "1", "child"))) == "child"
        assert is_refused(lambda: saver.get_tuple(thread("1")))  # it would wait for an event loop that nobody runs
        assert run(aanswered(app, "2", "parent")) == "parent"


def test_a_child_may_not_use_an_async_postgres_connection(postgres_url: str):
    async def main() -> str:
        async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as conn:
            app = graph(AsyncPostgresSaver(conn))
            await app.ainvoke({}, thread("1"))
            assert is_refused(lambda: asyncio.run(app.ainvoke({}, thread("2"))))
            return await aanswered(app, "1", "parent")

    assert asyncio.run(main()) == "parent"


def test_a_child_may_not_use_an_open_async_pool(postgres_url: str):
    async def main() -> str:
        async with AsyncConnectionPool(postgres_url, min_size=1, open=False) as pool:
            app = graph(AsyncPostgresSaver(pool))
            await app.ainvoke({}, thread("1"))
            assert is_refused(lambda: asyncio.run(app.ainvoke({}, thread("2"))))
            return await aanswered(app, "1", "parent")

    assert asyncio.run(main()) == "parent"


# Redis


def test_a_redis_client_connects_anew_in_a_child(redis_url: str, redis_prefix: str):
    with RedisSaver.from_conn_string(redis_url, prefix=redis_prefix) as saver:
        app = graph(saver)
        app.invoke({}, thread("1"))
        app.invoke({}, thread("2"))
        assert said_by_child(lambda: answered(app, "1", "child")) == "child"
        assert said_by_child(saver.close) == "None"
        assert answered(app, "2", "parent") == "parent"


def test_an_async_saver_at_an_address_of_redis_connects_anew_in_a_child(redis_url: str, redis_prefix: str):
    with opened(AsyncRedisSaver.from_conn_string(redis_url, prefix=redis_prefix)) as (saver, run):
        app = graph(saver)
        run(app.ainvoke({}, thread("1")))
        run(app.ainvoke({}, thread("2")))

        async def work() -> str:
            said = await aanswered(app, "1", "child")
            await saver.close()
            return said

        assert said_by_child(lambda: asyncio.run(work())) == "child"
        assert run(aanswered(app, "2", "parent")) == "parent"


def test_a_child_may_not_use_an_async_redis_client(redis_url: str, redis_prefix: str):
    async def main() -> str:
        async with redis.asyncio.Redis.from_url(redis_url) as client:
            app = graph(AsyncRedisSaver(client, prefix=redis_prefix))
            await app.ainvoke({}, thread("1"))
            assert is_refused(lambda: asyncio.run(app.ainvoke({}, thread("2"))))
            return await aanswered(app, "1", "parent")

    assert asyncio.run(main()) == "parent"
