"""Every cache: the same promises, by a clock the test owns."""

import asyncio
import json
import math
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import TypedDict

import pytest
import redis
import redis.asyncio

from signoff.cache import sqlite as sqlite_room
from signoff.cache.base import BaseCache
from signoff.cache.memory import InMemoryCache
from signoff.cache.redis import RedisCache
from signoff.cache.sqlite import SqliteCache
from signoff.checkpoint.redis import RedisSaver
from signoff.errors import InvalidInput, NeedsAsync, SaverUnavailable, Undecodable
from signoff.graph import START, StateGraph
from signoff.store.redis import RedisStore
from signoff.testing.conformance._saver_words import put
from signoff.types import CachePolicy


class Order(TypedDict):
    name: str
    text: str


class Clock:
    def __init__(self):
        self.now = 1_700_000_000.0

    def __call__(self):
        return self.now


class JsonSerde:
    """A serializer a test can read."""

    def dumps_typed(self, obj):
        return "json", json.dumps(obj).encode()

    def loads_typed(self, data):
        assert data[0] == "json"
        return json.loads(data[1])


class AsyncDoor(BaseCache):
    """A cache whose sync methods go through the async ones of another."""

    def __init__(self, inner, run=asyncio.run):
        self.inner, self.run = inner, run

    def get(self, keys):
        return self.run(self.inner.aget(keys))

    def set(self, pairs):
        self.run(self.inner.aset(pairs))

    def clear(self, namespaces=None):
        self.run(self.inner.aclear(namespaces))

    async def aget(self, keys):
        return await self.inner.aget(keys)

    async def aset(self, pairs):
        await self.inner.aset(pairs)

    async def aclear(self, namespaces=None):
        await self.inner.aclear(namespaces)


@contextmanager
def opened(url, *, is_async):
    """A client of Redis, and what runs coroutines that use it."""
    if not is_async:
        with redis.Redis.from_url(url, decode_responses=True) as client:  # whatever else it is used for
            yield client, asyncio.run
        return
    with asyncio.Runner() as runner:
        client = redis.asyncio.Redis.from_url(url)
        try:
            yield client, runner.run
        finally:
            runner.run(client.aclose())


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "memory_aio", "sqlite", "sqlite_aio", "redis", "redis_aio", "redis_aio_client"])
def cache(request, clock, tmp_path):
    kind, _, door = request.param.partition("_")
    if kind == "memory":
        cache = InMemoryCache(serde=JsonSerde(), clock=clock)
        yield AsyncDoor(cache) if door else cache
    elif kind == "redis":
        url, prefix = (request.getfixturevalue(name) for name in ("redis_url", "redis_prefix"))
        with opened(url, is_async=door == "aio_client") as (client, run):
            cache = RedisCache(client, serde=JsonSerde(), prefix=prefix, clock=clock)
            yield AsyncDoor(cache, run) if door else cache
    else:
        with SqliteCache(path=str(tmp_path / "cache.db"), serde=JsonSerde(), clock=clock) as cache:
            yield AsyncDoor(cache) if door else cache


A, B, C = (("node",), "a"), (("node", "inner"), "b"), (("nodes",), "c")


def test_what_was_set_is_got_and_the_rest_is_missing(cache):
    cache.set({A: ({"x": [1]}, None), B: ("text", 10), C: (None, None)})
    assert cache.get([A, C, (("node",), "other")]) == {A: {"x": [1]}, C: None}
    assert cache.get([A, A]) == {A: {"x": [1]}}
    assert cache.get([]) == {}


def test_setting_again_replaces_the_value_and_its_time(cache, clock):
    cache.set({A: (1, 5)})
    cache.set({A: (2, None)})
    clock.now += 6
    assert cache.get([A]) == {A: 2}


def test_an_expired_value_is_gone(cache, clock):
    cache.set({A: (1, 5), B: (2, None), C: (3, 0.5)})
    clock.now += 4.9
    assert cache.get([A, B, C]) == {A: 1, B: 2}
    clock.now += 0.1
    assert cache.get([A, B, C]) == {B: 2}


def test_a_value_that_lives_no_time_is_never_found(cache):
    cache.set({A: (1, 0), B: (2, -1)})
    assert cache.get([A, B]) == {}


def test_clearing_a_namespace_leaves_those_below_and_beside_it(cache):
    cache.set({A: (1, None), B: (2, None), C: (3, None)})
    cache.clear([("node",)])
    assert cache.get([A, B, C]) == {B: 2, C: 3}


def test_clearing_no_namespaces_clears_nothing_and_clearing_all_clears_all(cache):
    cache.set({A: (1, None), B: (2, None)})
    cache.clear([])
    assert cache.get([A, B]) == {A: 1, B: 2}
    cache.clear()
    assert cache.get([A, B]) == {}
    cache.clear([("nowhere",)])


def test_labels_are_never_taken_for_something_else(cache):
    keys = [((label,), "k") for label in ["a,b", "a.b", "a/b", '["a","b"]', "a' OR 1=1 --", "", "*", "\ud800"]]
    keys += [(("a", "b"), "k"), ((), "k")]
    cache.set({key: (at, None) for at, key in enumerate(keys)})
    assert cache.get(keys) == {key: at for at, key in enumerate(keys)}


def test_a_cached_value_cannot_be_changed_in_place(cache):
    value = {"list": [1]}
    cache.set({A: (value, None)})
    value["list"].append(2)
    cache.get([A])[A]["list"].append(3)
    assert cache.get([A]) == {A: {"list": [1]}}


def test_a_value_that_cannot_be_encoded_leaves_the_cache_as_it_was(cache):
    cache.set({A: (1, None)})
    with pytest.raises(TypeError):
        cache.set({A: (2, None), B: (object(), None)})
    assert cache.get([A, B]) == {A: 1}


def test_keys_and_namespaces_may_come_one_by_one(cache):
    cache.set({A: (1, None)})
    assert cache.get(iter([A])) == {A: 1}
    cache.clear(iter([A[0]]))
    assert cache.get([A]) == {}


@pytest.mark.parametrize("key", ["text", ("text", "k"), (("a",), 1), ((1,), "k"), (["a"], "k"), (("a",),)], ids=repr)
def test_a_bad_key_is_refused(cache, key):
    with pytest.raises(InvalidInput):
        cache.get([key])


@pytest.mark.parametrize(
    "pair", [1, (1,), (1, "5"), [1, None], (1, math.nan), (1, 10**400)], ids=lambda pair: repr(pair)[:12]
)
def test_a_bad_pair_is_refused(cache, pair):
    with pytest.raises(InvalidInput, match="seconds to live"):
        cache.set({A: pair})


@pytest.mark.parametrize("namespaces", ["node", ["node"], [(1,)], 5, 0], ids=repr)
def test_a_bad_namespace_is_refused_by_clear(cache, namespaces):
    cache.set({A: (1, None)})
    with pytest.raises(InvalidInput):
        cache.clear(namespaces)
    assert cache.get([A]) == {A: 1}


@pytest.mark.parametrize("kind", ["memory", "sqlite", "redis"])
def test_values_of_many_types_come_back_equal_by_default(kind, redis_url, redis_prefix):
    value = {"pair": (1, 2), "at": datetime(2024, 1, 1, tzinfo=UTC), "set": {1, 2}, "bytes": b"x\n"}
    if kind == "memory":
        cache = InMemoryCache()
    else:
        cache = SqliteCache(path=":memory:") if kind == "sqlite" else RedisCache(redis_url, prefix=redis_prefix)
    cache.set({A: (value, None)})
    assert cache.get([A]) == {A: value}
    assert cache.serde is cache.serde


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_many_threads_use_one_cache_at_once(kind, tmp_path):
    cache = (
        InMemoryCache(serde=JsonSerde()) if kind == "memory" else SqliteCache(path=tmp_path / "c.db", serde=JsonSerde())
    )
    start = threading.Barrier(8)

    def work(number):
        start.wait()
        for round in range(25):
            mine, shared = (("n", str(number)), str(round)), (("n",), "shared")
            cache.set({mine: (round, None), shared: (round, 100)})
            assert cache.get([mine, shared])[mine] == round
            cache.clear([("nowhere",)])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    keys = [(("n", str(number)), str(round)) for number in range(8) for round in range(25)]
    assert len(cache.get(keys)) == 200


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_expired_values_do_not_pile_up(kind, clock):
    cache = (
        InMemoryCache(serde=JsonSerde(), clock=clock)
        if kind == "memory"
        else SqliteCache(path=":memory:", serde=JsonSerde(), clock=clock)
    )
    for round in range(20):
        cache.set({(("n",), f"{round}-{at}"): (at, 1) for at in range(200)})
        clock.now += 2
    cache.set({(("n",), f"last-{at}"): (at, None) for at in range(1200)})
    kept = (
        len(cache._entries)
        if kind == "memory"
        else cache._conn.execute("SELECT COUNT(*) FROM signoff_cache").fetchone()[0]
    )
    assert kept <= 2400


def test_a_file_cache_outlives_its_object_and_is_shared_by_processes(tmp_path):
    path = str(tmp_path / "cache.db")
    program = """
import sys, json
sys.path.insert(0, sys.argv[2])
from test_cache import JsonSerde
from signoff.cache.sqlite import SqliteCache
with SqliteCache(path=sys.argv[1], serde=JsonSerde()) as cache:
    for at in range(30):
        cache.set({(("n", sys.argv[3]), str(at)): (at, None)})
"""
    here = str(__file__).rpartition("/")[0]
    running = [subprocess.Popen([sys.executable, "-c", program, path, here, name]) for name in "abc"]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    with SqliteCache(path=path, serde=JsonSerde()) as cache:
        assert len(cache.get([(("n", name), str(at)) for name in "abc" for at in range(30)])) == 90


def test_a_transaction_that_fails_is_undone_and_the_cache_goes_on(clock):
    class BrokenOnce(Clock):
        broken = False

        def __call__(self):
            if self.broken:
                self.broken = False
                raise OSError("no time")
            return super().__call__()

    broken = BrokenOnce()
    with SqliteCache(path=":memory:", serde=JsonSerde(), clock=broken) as cache:
        broken.broken = True
        with pytest.raises(OSError, match="no time"):
            cache.set({A: (1, None)})
        cache.set({B: (2, None)})
        assert cache.get([A, B]) == {B: 2}


def test_a_cache_opens_although_another_connection_holds_the_file(tmp_path):
    SqliteCache(path=tmp_path / "c.db").close()
    holder = sqlite3.connect(tmp_path / "c.db", isolation_level=None)
    holder.execute("PRAGMA journal_mode=DELETE")
    holder.execute("BEGIN")
    holder.execute("SELECT * FROM signoff_cache").fetchall()
    with patient_for(0), SqliteCache(path=tmp_path / "c.db", serde=JsonSerde()) as cache:
        assert cache.get([A]) == {}
    holder.close()


@contextmanager
def patient_for(seconds):
    before, sqlite_room.BUSY_TIMEOUT_S = sqlite_room.BUSY_TIMEOUT_S, seconds
    try:
        yield
    finally:
        sqlite_room.BUSY_TIMEOUT_S = before


def test_a_file_that_cannot_be_opened_is_an_error_and_nothing_else(tmp_path):
    with pytest.raises(Exception, match="unable to open"):
        SqliteCache(path=tmp_path / "no" / "such" / "folder.db")


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("These are notes, and no database. " * 50)
    with pytest.raises(Undecodable, match=r"notes\.txt' is no SQLite database"):
        SqliteCache(path=path)
    assert path.read_text().startswith("These are notes")


@pytest.mark.parametrize("use", [lambda cache: cache.get([(("a",), "b")]), lambda cache: cache.clear()])
def test_a_cache_that_was_closed_says_so(use):
    cache = SqliteCache(path=":memory:")
    cache.close()
    with pytest.raises(InvalidInput, match="closed"):
        use(cache)


@pytest.mark.parametrize(
    "use", [lambda cache: cache.get([(("a",), "k")]), lambda cache: cache.set({(("a",), "k"): (1, None)})]
)
def test_a_cache_that_another_thread_closes_does_first_what_it_is_at(use):
    closing = []

    def clock():  # it is asked while the cache is at work
        if closing and not closing[0].is_alive():
            closing[0].start()
            closing[0].join(0.05)
        return 1.0

    cache = SqliteCache(path=":memory:", clock=clock)
    closing.append(threading.Thread(target=cache.close))
    use(cache)
    closing[0].join(30)
    with pytest.raises(InvalidInput, match="closed"):
        cache.clear()


def test_redis_forgets_by_itself_what_has_expired(redis_url, redis_prefix):
    with RedisCache(redis_url, serde=JsonSerde(), prefix=redis_prefix) as cache:
        cache.set({A: (1, 100), B: (2, None), C: (3, math.inf)})
    with redis.Redis.from_url(redis_url) as client:
        left = sorted(client.pttl(key) for key in client.scan_iter(match=f"*{redis_prefix}*"))
    assert left[0] == -1
    assert 0 < left[1] <= 100_000 < left[2]


def test_clearing_one_cache_leaves_what_others_have_in_the_same_redis(redis_url, redis_prefix):
    with (
        RedisCache(redis_url, serde=JsonSerde(), prefix=f"{redis_prefix}*") as cache,
        RedisCache(redis_url, serde=JsonSerde(), prefix=f"{redis_prefix}**") as other,
    ):
        many = {(("n",), str(at)): (at, None) for at in range(2500)}
        cache.set(many)
        other.set({A: (1, None)})
        cache.clear()
        assert (cache.get(list(many)), other.get([A])) == ({}, {A: 1})


def test_clearing_a_cache_leaves_savers_and_stores_of_the_same_prefix(redis_url, redis_prefix):
    with (
        RedisCache(redis_url, prefix=redis_prefix) as cache,
        RedisStore.from_conn_string(redis_url, prefix=redis_prefix) as store,
        RedisSaver.from_conn_string(redis_url, prefix=redis_prefix) as saver,
    ):
        cache.set({(("a",), "k"): (1, None)})
        store.put(("users",), "ana", {"likes": "tea"})
        put(saver, "1")
        cache.clear()
        assert cache.get([(("a",), "k")]) == {}
        assert [item.key for item in store.search(())] == ["ana"]
        assert len(list(saver.list(None))) == 1


@pytest.mark.parametrize("prefix", ["", "a{b}", None, "\ud800"], ids=ascii)
def test_a_prefix_that_would_break_the_keys_is_refused(redis_url, prefix):
    with pytest.raises(InvalidInput, match="prefix="):
        RedisCache(redis_url, prefix=prefix)


def test_a_cache_with_an_async_client_is_for_async_runs(redis_url, redis_prefix):
    with asyncio.Runner() as runner:
        client = redis.asyncio.Redis.from_url(redis_url)
        cache = RedisCache(client, prefix=redis_prefix)
        for use in (lambda: cache.get([A]), lambda: cache.set({A: (1, None)}), cache.clear):
            with pytest.raises(NeedsAsync, match="async client of Redis, and this is a sync run"):
                use()
        runner.run(client.aclose())


def test_a_redis_that_is_not_there_is_said_to_be_missing():
    with RedisCache("redis://localhost:1") as cache, pytest.raises(SaverUnavailable, match="Redis cannot be reached"):
        cache.get([A])


@pytest.mark.parametrize(
    "found", [b"something else", b'["json", []]\n1', b'["json", "soon"]\n1', b"[" * 100_000], ids=range(4)
)
def test_something_else_in_the_place_of_a_cached_value_is_refused(redis_url, redis_prefix, found):
    with RedisCache(redis_url, prefix=redis_prefix) as cache, redis.Redis.from_url(redis_url) as client:
        cache.set({A: (1, None)})
        (key,) = client.scan_iter(match=f"*{redis_prefix}*")
        client.set(key, found)
        with pytest.raises(Undecodable, match=r"\(\('node',\), 'a'\) was not put there by the cache"):
            cache.get([A])


def test_what_is_no_client_is_refused():
    with pytest.raises(InvalidInput, match="no way to Redis"):
        RedisCache(3)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_node_runs_once_for_graphs_that_share_a_redis(redis_url, redis_prefix, is_async):
    calls = []

    def look_up(state):
        calls.append(state["name"])
        return {"text": f"{state['name']}: 12 euros"}

    def price(client, run, name):
        """As another machine would do it: with a graph and a cache of its own."""
        graph = StateGraph(Order).add_node(look_up, cache_policy=CachePolicy(ttl=60)).add_edge(START, "look_up")
        app = graph.compile(cache=RedisCache(client, prefix=redis_prefix))
        return (run(app.ainvoke({"name": name})) if is_async else app.invoke({"name": name}))["text"]

    with opened(redis_url, is_async=is_async) as (client, run):
        assert [price(client, run, name) for name in ("tea", "tea", "jam")] == [
            "tea: 12 euros", "tea: 12 euros", "jam: 12 euros",
        ]  # fmt: skip
    assert calls == ["tea", "jam"]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_of_several_results_only_the_one_that_cannot_be_read_is_made_again(tmp_path, is_async):
    ran = []

    def noting(name):
        return lambda state: ran.append(name)

    graph = StateGraph(Order)
    for name in ("a", "b", "c"):
        graph.add_node(name, noting(name), cache_policy=CachePolicy()).add_edge(START, name)
    path = tmp_path / "cache.db"
    with SqliteCache(path=path) as cache:
        app = graph.compile(cache=cache)

        def run():
            asyncio.run(app.ainvoke({"name": "tea"})) if is_async else app.invoke({"name": "tea"})

        run()
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE signoff_cache SET value = x'c1' WHERE namespace LIKE '%\"b\"]'")
        del ran[:]
        run()
        assert ran == ["b"]
        run()
        assert ran == ["b"], "it was cached anew"
