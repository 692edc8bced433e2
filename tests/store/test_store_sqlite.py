"""What is special about the store in a file: its tables, its transactions, its neighbours."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections import UserDict
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum

import pytest

from signoff._sqlite.effects import Execute, ExecuteMany
from signoff.errors import InvalidInput, NotStorable, Undecodable
from signoff.store.base import GetOp, PutOp
from signoff.store.sqlite import SqliteStore
from signoff.store.sqlite.schema import MIGRATIONS, StoreTooNew

NS = ("n",)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "store.db")


def test_what_was_put_is_there_when_the_file_is_opened_again(path):
    with SqliteStore.from_conn_string(path) as store:
        store.put(NS, "k", {"v": 1})
    with SqliteStore.from_conn_string(path) as store:
        assert store.get(NS, "k").value == {"v": 1}


def test_setup_may_be_called_often_or_not_at_all(path):
    with SqliteStore.from_conn_string(path) as store:
        store.setup()
        store.setup()
        store.put(NS, "k", {"v": 1})
    with SqliteStore.from_conn_string(path) as store:
        assert store.sweep_ttl() == 0
        store.setup()
        assert store.get(NS, "k") is not None


def test_every_migration_has_a_number_in_the_file(path):
    with SqliteStore.from_conn_string(path) as store:
        store.setup()
        numbers = store.conn.execute("SELECT number FROM signoff_store_migrations ORDER BY number").fetchall()
    assert numbers == [(number,) for number in range(1, len(MIGRATIONS) + 1)]


@pytest.mark.parametrize("done", range(len(MIGRATIONS)))
def test_a_file_at_any_earlier_migration_is_brought_up_to_date(path, done):
    with SqliteStore.from_conn_string(path) as store:
        store.conn.execute("CREATE TABLE signoff_store_migrations (number INTEGER PRIMARY KEY)")
        for number, statement in enumerate(MIGRATIONS[:done], start=1):
            store.conn.execute(statement)
            store.conn.execute("INSERT INTO signoff_store_migrations VALUES (?)", (number,))
        store.put(NS, "k", {"v": 1})
        assert store.get(NS, "k").value == {"v": 1}


def test_a_file_of_a_newer_version_is_left_alone(path):
    with SqliteStore.from_conn_string(path) as store:
        store.setup()
        store.conn.execute("INSERT INTO signoff_store_migrations VALUES (999)")
    with (
        SqliteStore.from_conn_string(path) as store,
        pytest.raises(StoreTooNew, match="999.*upgrade signoff"),
    ):
        store.put(NS, "k", {"v": 1})


def test_the_file_has_a_write_ahead_log(path):
    with SqliteStore.from_conn_string(path) as store:
        store.setup()
        assert store.conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert store.conn.execute("PRAGMA busy_timeout").fetchone() == (30_000,)


def test_a_file_that_another_connection_reads_in_its_old_mode_can_be_used(path):
    with SqliteStore.from_conn_string(path) as store:
        store.put(NS, "k", {"v": 1})
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("PRAGMA journal_mode=DELETE")
    holder.execute("BEGIN")
    holder.execute("SELECT * FROM signoff_store").fetchall()
    conn = sqlite3.connect(path, timeout=0)
    assert SqliteStore(conn).get(NS, "k").value == {"v": 1}
    holder.close()
    conn.close()


def test_a_file_uri_is_a_conn_string():
    with SqliteStore.from_conn_string("file:shared?mode=memory&cache=shared") as store:
        store.put(NS, "k", {"v": 1})
        with SqliteStore.from_conn_string("file:shared?mode=memory&cache=shared") as other:
            assert other.get(NS, "k").value == {"v": 1}


@pytest.mark.parametrize("isolation_level", [None, "", "DEFERRED", "EXCLUSIVE"])
def test_a_connection_of_any_isolation_level_will_do(path, isolation_level):
    conn = sqlite3.connect(path, isolation_level=isolation_level)
    SqliteStore(conn).put(NS, "k", {"v": 1})
    assert not conn.in_transaction
    conn.close()
    with SqliteStore.from_conn_string(path) as store:
        assert store.get(NS, "k") is not None


def test_a_connection_with_another_row_factory_will_do():
    conn = sqlite3.connect(":memory:")
    conn.row_factory = lambda cursor, row: {"row": row}
    store = SqliteStore(conn)
    store.put(NS, "k", {"v": 1})
    assert store.search(())[0].value == {"v": 1}
    conn.close()


def test_a_connection_in_the_middle_of_something_is_refused_and_left_as_it_is():
    conn = sqlite3.connect(":memory:")
    conn.execute("CREATE TABLE mine (a)")
    conn.execute("INSERT INTO mine VALUES (1)")
    store = SqliteStore(conn)
    for _ in range(2):  # the second time shows that the store's lock was given back
        with pytest.raises(InvalidInput, match="open transaction"):
            store.put(NS, "k", {"v": 1})
    conn.commit()
    store.put(NS, "k", {"v": 1})
    assert conn.execute("SELECT * FROM mine").fetchall() == [(1,)]
    conn.close()


class Color(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    "value",
    [
        {"int": 2**70},
        {"float": float("inf")},
        {"surrogate": "\ud800", "text": "ü"},
        {"other way round": "\ude00\ud83d", "two texts": ["\ud83d", "\ude00"]},
        {"nul": "a\x00b"},
        {"": {"": ""}},
        {"enum": Color.RED},
        UserDict({"a": 1}),
    ],
    ids=repr,
)
def test_odd_but_plain_values_come_back_equal(path, value):
    with SqliteStore.from_conn_string(path) as store:
        store.put(NS, "k", value)
        assert store.get(NS, "k").value == value


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"a": {"b": [1, {1, 2}]}}, r"value\['a'\]\['b'\]\[1\] of 'k' is a set"),
        ({"a": (1, 2)}, r"value\['a'\] of 'k' is a tuple"),
        ({"a": b"x"}, "bytes"),
        ({"a": {1: 2}}, r"value\['a'\] of 'k' has the key 1"),
        ({"a": object()}, "object"),
        ({"a": ["\ud83d\ude00"]}, r"value\['a'\]\[0\] of 'k' has the two halves"),
        ({"a": {"\ud83d\ude00": 1}}, r"the key .* in value\['a'\] of 'k' has the two halves"),
    ],
    ids=["set", "tuple", "bytes", "key", "object", "parted", "parted key"],
)
def test_a_value_that_would_not_come_back_equal_is_refused_by_its_path(path, value, named):
    with SqliteStore.from_conn_string(path) as store:
        with pytest.raises(NotStorable, match=named):
            store.batch([PutOp(NS, "good", {}), PutOp(NS, "k", value)])
        assert store.search(()) == []


def test_a_deserializer_reads_the_values():
    conn = sqlite3.connect(":memory:")
    store = SqliteStore(conn, deserializer=lambda text: {"raw": text})
    store.put(NS, "k", {"v": 1})
    assert store.get(NS, "k").value == {"raw": '{"v": 1}'}
    conn.close()


def test_async_methods_of_the_sync_store_work_in_a_thread(path):
    async def program(store):
        await store.aput(NS, "k", {"v": 1})
        return await store.abatch([GetOp(NS, "k")])

    with SqliteStore.from_conn_string(path) as store:
        assert asyncio.run(program(store))[0].value == {"v": 1}


class Failing(SqliteStore):
    """Fails at the n-th effect it is asked for."""

    fail_at = None

    def _driven(self, steps, perform):
        return super()._driven(steps, lambda effect: self.is_on_fire(effect) or perform(effect))

    def is_on_fire(self, effect):
        if self.fail_at is not None:
            self.fail_at -= 1
            if self.fail_at < 0 and isinstance(effect, Execute | ExecuteMany):
                self.fail_at = None
                raise OSError("disk on fire")


OPS = [
    PutOp(NS, "new", {"text": "a"}),
    PutOp(NS, "old", {"text": "b"}),
    PutOp(NS, "gone", None),
    GetOp(NS, "old"),
]


LAST_STATEMENT = 6  # of a batch of OPS: the commit; after it only the lock is given back


@pytest.mark.parametrize("fail_at", range(LAST_STATEMENT + 1))
def test_a_batch_that_fails_anywhere_leaves_everything_as_it_was(path, index, fail_at):
    with Failing.from_conn_string(path, index=index) as store:
        store.put(NS, "old", {"text": "a"})
        store.put(NS, "gone", {"text": "c"})
        store.fail_at = fail_at
        before = [(item.key, item.value, item.score) for item in _as_found(store.conn, index)]
        with pytest.raises(OSError, match="disk on fire"):
            store.batch(OPS)
        assert [(item.key, item.value, item.score) for item in store.search((), query="a")] == before
        store.batch(OPS)
        assert {item.key for item in store.search(())} == {"old", "new"}


def test_a_batch_has_no_statement_after_its_commit(path, index):
    with Failing.from_conn_string(path, index=index) as store:
        store.setup()
        store.fail_at = LAST_STATEMENT + 1
        store.batch(OPS)


def _as_found(conn, index):
    return SqliteStore(conn, index=index).search((), query="a")


PUTTING = """
import sys
from signoff.store.sqlite import SqliteStore
path, name = sys.argv[1:]
with SqliteStore.from_conn_string(path) as store:
    for at in range(40):
        store.put(("shared", name), str(at), {"at": at})
        store.put(("shared",), "latest", {"name": name, "at": at})
"""


def test_several_processes_share_a_file(path):
    names = ["a", "b", "c"]
    running = [subprocess.Popen([sys.executable, "-c", PUTTING, path, name]) for name in names]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    with SqliteStore.from_conn_string(path) as store:
        assert len(store.search(("shared",), limit=1000)) == 3 * 40 + 1
        assert store.get(("shared",), "latest").value["at"] == 39


def test_a_reader_is_not_held_up_by_a_writer(path):
    with SqliteStore.from_conn_string(path) as store, SqliteStore.from_conn_string(path) as writer:
        store.put(NS, "k", {"v": 1}, ttl=None)
        writer.conn.execute("BEGIN IMMEDIATE")
        writer.conn.execute("UPDATE signoff_store SET value = '{}'")
        assert store.get(NS, "k").value == {"v": 1}
        writer.conn.rollback()


def test_many_threads_set_one_file_up_at_once(path):
    start = threading.Barrier(8)

    def work(number):
        start.wait(timeout=30)
        with SqliteStore.from_conn_string(path) as store:
            store.put(NS, str(number), {})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    with SqliteStore.from_conn_string(path) as store:
        assert len(store.search(())) == 8


BROKEN = [("value", b"\xc1"), ("value", "{"), ("value", '{"a":' * 2000), ("created_at", b""), ("updated_at", 2**62)]


@pytest.mark.parametrize(("column", "broken"), BROKEN)
def test_an_item_that_is_broken_is_named_and_the_others_are_read(tmp_path, column, broken):
    with SqliteStore.from_conn_string(str(tmp_path / "items.db")) as store:
        store.put(("orders",), "broken", {"a": 1})
        store.put(("letters",), "whole", {"a": 1})
        with sqlite3.connect(tmp_path / "items.db") as conn:
            conn.execute(f"UPDATE signoff_store SET {column} = ? WHERE key = 'broken'", (broken,))
        conn.close()
        for read in (lambda: store.get(("orders",), "broken"), lambda: store.search(())):
            with pytest.raises(Undecodable, match=r"Item 'broken' of \('orders',\) cannot be read"):
                read()
        assert store.get(("letters",), "whole").value == {"a": 1}
        assert [item.key for item in store.search(("letters",))] == ["whole"]
        store.delete(("orders",), "broken")
        assert [item.key for item in store.search(())] == ["whole"]


def test_a_batch_is_one_transaction_also_if_it_reads_what_has_a_time_to_live(path):
    now, said = 0.0, []
    with SqliteStore.from_conn_string(path, clock=lambda: now) as store:
        store.batch([PutOp(NS, key, {"v": 1}, ttl=1) for key in "ab"])
        now = 30.0
        store.conn.set_trace_callback(said.append)
        store.batch([GetOp(NS, "a"), PutOp(NS, "b", None)])
        assert [one for one in said if one.startswith(("BEGIN", "COMMIT"))] == ["BEGIN IMMEDIATE", "COMMIT"]
        now = 61.0
        assert store.get(NS, "a") is not None
