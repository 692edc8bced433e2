"""Files that cannot be used: the error names the file, says what to do, and is still one of sqlite3's."""

import asyncio
import contextlib
import operator
import sqlite3
from typing import Annotated, TypedDict

import aiosqlite
import pytest

from signoff.cache.sqlite import SqliteCache
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver
from signoff.errors import InvalidInput, NotStorable, SaverUnavailable, Undecodable
from signoff.graph import START, StateGraph
from signoff.store.sqlite import AsyncSqliteStore, SqliteStore

CONFIG = {"configurable": {"thread_id": "1"}}


class Log(TypedDict):
    log: Annotated[list, operator.add]


def graph(saver):
    builder = StateGraph(Log).add_node("work", lambda state: {"log": ["worked"]}).add_edge(START, "work")
    return builder.compile(saver)


def run(path):
    with SqliteSaver.from_conn_string(path) as saver:
        return graph(saver).invoke({"log": []}, CONFIG)


def arun(path):
    async def main():
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            return await graph(saver).ainvoke({"log": []}, CONFIG)

    return asyncio.run(main())


def keep(path):
    with SqliteStore.from_conn_string(path) as store:
        store.put(("users",), "ana", {"likes": "tea"})


def akeep(path):
    async def main():
        async with AsyncSqliteStore.from_conn_string(path) as store:
            await store.aput(("users",), "ana", {"likes": "tea"})

    asyncio.run(main())


everybody = pytest.mark.parametrize("use", [run, arun, keep, akeep])
own = pytest.mark.parametrize("use", [run, arun, keep, akeep, lambda path: SqliteCache(path=path)])


@own
def test_a_path_may_be_a_path_object(use, tmp_path):
    use(tmp_path / "a.db")
    assert (tmp_path / "a.db").exists()


@own
def test_a_folder_that_is_not_there_is_named(use, tmp_path):
    with pytest.raises(SaverUnavailable, match="nowhere/a.db.*folder must exist") as refused:
        use(str(tmp_path / "nowhere" / "a.db"))
    assert isinstance(refused.value, sqlite3.OperationalError)


@everybody
def test_a_url_is_no_path(use):
    with pytest.raises(SaverUnavailable, match="without sqlite:///"):
        use("sqlite:///nowhere/a.db")


@everybody
def test_a_file_that_is_no_database_is_left_as_it_is(use, tmp_path):
    file = tmp_path / "notes.txt"
    file.write_text("This is not a database. " * 50)
    with pytest.raises(Undecodable, match="notes.txt.* is no SQLite database") as refused:
        use(str(file))
    assert isinstance(refused.value, sqlite3.DatabaseError)
    assert file.read_text() == "This is not a database. " * 50


@pytest.mark.parametrize("use", [run, arun])
def test_a_damaged_file_is_told(use, tmp_path):
    file = tmp_path / "a.db"
    run(str(file))
    with contextlib.closing(sqlite3.connect(file)) as conn:
        size = conn.execute("PRAGMA page_size").fetchone()[0]
    whole = file.read_bytes()
    file.write_bytes(whole[:size] + b"\xff" * (len(whole) - size))
    with pytest.raises(Undecodable, match="a.db.* is damaged"):
        use(str(file))


def test_a_connection_that_may_only_read_reads(tmp_path):
    file = tmp_path / "a.db"
    run(str(file))
    conn = sqlite3.connect(f"file:{file}?mode=ro", uri=True, check_same_thread=False)
    with contextlib.closing(conn):
        app = graph(SqliteSaver(conn))
        assert app.get_state(CONFIG).values == {"log": ["worked"]}
        with pytest.raises(SaverUnavailable, match="a.db.* cannot be written"):
            app.invoke({"log": []}, CONFIG)
        assert app.get_state(CONFIG).values == {"log": ["worked"]}


def test_a_file_that_somebody_else_keeps_locked_is_told(tmp_path):
    file = tmp_path / "a.db"
    run(str(file))
    with contextlib.closing(sqlite3.connect(file)) as other, SqliteSaver.from_conn_string(str(file)) as saver:
        other.execute("BEGIN IMMEDIATE")
        saver.conn.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(SaverUnavailable, match="a.db.* is locked.*try again"):
            graph(saver).invoke({"log": []}, CONFIG)
        other.rollback()
        assert graph(saver).invoke({"log": []}, CONFIG)["log"] == ["worked", "worked"]


@own
def test_a_name_that_no_file_can_have_is_refused(use, tmp_path):
    with pytest.raises(InvalidInput, match="is no name of a file.*null"):
        use(str(tmp_path / "a\0b.db"))


def limit(conn):
    conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 5000)


def forbid(conn):
    conn.set_authorizer(lambda action, *_: int(action == sqlite3.SQLITE_INSERT))


def stop(conn):
    conn.set_progress_handler(lambda: 1, 1)


def bound(conn):
    conn.execute("PRAGMA max_page_count = 1")


def release(conn):
    conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    conn.set_authorizer(None)
    conn.set_progress_handler(None, 1)
    conn.execute("PRAGMA max_page_count = 10000")


@pytest.mark.parametrize(
    ("hinder", "error", "says"),
    [
        (limit, NotStorable, "more room than SQLite gives.*nothing was written.*in files"),
        (forbid, SaverUnavailable, "authorizer.*nothing was written.*from_conn_string"),
        (stop, SaverUnavailable, "interrupted.*Nothing was written; try again"),
        (bound, SaverUnavailable, "cannot grow.*Nothing was written. Make room"),
    ],
    ids=["limit", "authorizer", "progress handler", "page count"],
)
def test_a_connection_that_does_not_do_all_is_told_and_what_is_stored_stays(tmp_path, hinder, error, says):
    with contextlib.closing(sqlite3.connect(tmp_path / "a.db", check_same_thread=False)) as conn:
        app = graph(SqliteSaver(conn))
        app.invoke({"log": []}, CONFIG)
        hinder(conn)
        with pytest.raises(error, match=says) as refused:
            app.invoke({"log": [str(at) * 200 for at in range(300)]}, CONFIG)
        assert isinstance(refused.value, sqlite3.Error)
        release(conn)
        assert app.get_state(CONFIG).values == {"log": ["worked"]}
        assert app.invoke({"log": ["again"]}, CONFIG)["log"] == ["worked", "again", "worked"]


def test_a_database_in_memory_that_is_shared_and_locked_is_told():
    address = "file:locked?mode=memory&cache=shared"
    with SqliteSaver.from_conn_string(address) as one, SqliteSaver.from_conn_string(address) as other:
        graph(one).invoke({"log": []}, CONFIG)
        one.conn.execute("BEGIN IMMEDIATE")
        with pytest.raises(SaverUnavailable, match="in memory.*locked.*Nothing was written; try again"):
            graph(other).invoke({"log": []}, CONFIG)
        one.conn.rollback()
        assert graph(other).invoke({"log": []}, CONFIG)["log"] == ["worked", "worked"]


@pytest.mark.parametrize("make", [SqliteSaver, AsyncSqliteSaver, SqliteStore])
def test_a_name_is_no_connection(make, tmp_path):
    for name in ("a.db", tmp_path / "a.db"):
        with pytest.raises(InvalidInput, match=r"from_conn_string\("):
            make(name)


@pytest.mark.parametrize("was_used", [False, True])
def test_an_async_saver_that_was_closed_says_so(tmp_path, was_used):
    async def main():
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "a.db")) as saver:
            if was_used:
                await graph(saver).ainvoke({"log": []}, CONFIG)
        await graph(saver).ainvoke({"log": []}, CONFIG)

    with pytest.raises(InvalidInput, match="is closed, or was never opened.*async with"):
        asyncio.run(main())


@pytest.mark.parametrize("make", [AsyncSqliteSaver, AsyncSqliteStore])
def test_an_async_connection_that_is_closed_or_not_open_yet_is_told(tmp_path, make):
    async def main():
        conn = aiosqlite.connect(tmp_path / "a.db")
        early = make(conn)
        for _ in range(2):  # the second time shows that its lock was given back
            with pytest.raises(InvalidInput, match="is closed, or was never opened.*await it first"):
                await early.setup()
        async with conn:
            await early.setup()
        with pytest.raises(InvalidInput, match="is closed, or was never opened"):
            await make(conn).setup()

    asyncio.run(main())


def take_away(file):
    file.unlink()


def put_another_there(file):
    other = file.with_name("restored.db")
    run(other)
    other.replace(file)


gone = pytest.mark.parametrize("goes", [take_away, put_another_there])


@gone
def test_a_file_that_goes_while_it_is_open_takes_no_more_runs(goes, tmp_path):
    file, ran = tmp_path / "signoff.db", []
    builder = StateGraph(Log).add_node("pay", lambda state: ran.append("paid")).add_edge(START, "pay")
    with SqliteSaver.from_conn_string(file) as saver:
        builder.compile(saver).invoke({"log": []}, CONFIG)
        goes(file)
        with pytest.raises(SaverUnavailable, match=r"signoff\.db' was removed or replaced.*Open it again"):
            builder.compile(saver).invoke({"log": []}, CONFIG)
    assert ran == ["paid"], "what cannot be kept is not begun"
    run(file)


@gone
def test_a_file_that_goes_while_it_is_open_takes_no_more_async_runs(goes, tmp_path):
    file = tmp_path / "signoff.db"

    async def main():
        async with AsyncSqliteSaver.from_conn_string(file) as saver:
            await graph(saver).ainvoke({"log": []}, CONFIG)
            await asyncio.to_thread(goes, file)
            with pytest.raises(SaverUnavailable, match=r"was removed or replaced"):
                await graph(saver).ainvoke({"log": []}, CONFIG)

    asyncio.run(main())


def test_a_file_that_goes_while_it_is_open_takes_no_more_items(tmp_path):
    file = tmp_path / "signoff.db"
    with SqliteStore.from_conn_string(file) as store:
        store.put(("users",), "ana", {"likes": "tea"})
        take_away(file)
        with pytest.raises(SaverUnavailable, match=r"was removed or replaced"):
            store.put(("users",), "ana", {"likes": "cake"})
