"""Stores and caches that were opened before a fork."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from forking import WAIT_S, is_refused, said_by_child
from signoff.cache.sqlite import SqliteCache
from signoff.store.memory import InMemoryStore
from signoff.store.postgres import AsyncPostgresStore, PostgresStore
from signoff.store.redis import AsyncRedisStore, RedisStore
from signoff.store.sqlite import AsyncSqliteStore, SqliteStore

USERS = ("users",)


def names(store: Any) -> list[str]:
    return sorted(item.key for item in store.search(USERS))


async def anames(store: Any) -> list[str]:
    return sorted(item.key for item in await store.asearch(USERS))


async def kept(store: Any, name: str) -> list[str]:
    await store.aput(USERS, name, {})
    return await anames(store)


def test_a_child_may_not_use_a_sqlite_store_and_the_parent_goes_on(tmp_path: Path):
    with SqliteStore.from_conn_string(tmp_path / "store.db") as store:
        store.put(USERS, "ana", {})
        assert is_refused(lambda: store.put(USERS, "child", {}))
        assert is_refused(lambda: names(store))
        assert said_by_child(store.close) == "None"
        store.put(USERS, "ben", {})
        assert names(store) == ["ana", "ben"]


def test_a_sqlite_store_that_nobody_has_used_yet_is_refused_in_a_child_too(tmp_path: Path):
    with SqliteStore.from_conn_string(tmp_path / "store.db") as store:
        assert is_refused(store.setup)


def test_a_child_may_not_use_an_async_sqlite_store_and_does_not_hang(tmp_path: Path):
    async def main() -> list[str]:
        async with AsyncSqliteStore.from_conn_string(tmp_path / "store.db") as store:
            assert is_refused(lambda: asyncio.run(store.aget(USERS, "ana")))  # before anybody has used it
            await store.aput(USERS, "ana", {})
            assert is_refused(lambda: asyncio.run(store.aput(USERS, "child", {})))
            assert is_refused(lambda: store.get(USERS, "ana"))
            async with store.lock:
                assert is_refused(lambda: asyncio.run(store.aget(USERS, "ana")))
            return await kept(store, "ben")

    assert asyncio.run(main()) == ["ana", "ben"]


def test_a_child_may_not_use_a_sqlite_cache_and_the_parent_goes_on(tmp_path: Path):
    first, second = ((("a",), "1"), (("a",), "2"))
    with SqliteCache[str](path=tmp_path / "cache.db") as cache:
        cache.set({first: ("one", None)})
        assert is_refused(lambda: cache.get([first]))
        assert is_refused(lambda: cache.set({second: ("child", None)}))
        assert is_refused(cache.clear)
        assert said_by_child(cache.close) == "None"
        cache.set({second: ("two", None)})
        assert cache.get([first, second]) == {first: "one", second: "two"}


# Where an address was given


def test_a_child_opens_connections_of_its_own_to_postgres(postgres_url: str):
    with PostgresStore.from_conn_string(postgres_url) as store:
        store.put(USERS, "ana", {})
        assert said_by_child(lambda: store.put(USERS, "child", {})) == "None"
        assert said_by_child(store.close) == "None"
        assert names(store) == ["ana", "child"]


def test_a_child_opens_connections_of_its_own_to_postgres_on_its_own_loop(postgres_url: str):
    async def main() -> list[str]:
        async with AsyncPostgresStore.from_conn_string(postgres_url) as store:
            await store.aput(USERS, "ana", {})
            assert said_by_child(lambda: asyncio.run(kept(store, "child"))) == "['ana', 'child']"
            assert is_refused(lambda: names(store))
            return await kept(store, "ben")

    assert asyncio.run(main()) == ["ana", "ben", "child"]


def test_a_child_opens_connections_of_its_own_to_redis(redis_url: str, redis_prefix: str):
    with RedisStore.from_conn_string(redis_url, prefix=redis_prefix) as store:
        store.put(USERS, "ana", {})
        assert said_by_child(lambda: store.put(USERS, "child", {})) == "None"
        assert names(store) == ["ana", "child"]


def test_a_child_opens_connections_of_its_own_to_redis_on_its_own_loop(redis_url: str, redis_prefix: str):
    async def main() -> list[str]:
        async with AsyncRedisStore.from_conn_string(redis_url, prefix=redis_prefix) as store:
            await store.aput(USERS, "ana", {})
            assert said_by_child(lambda: asyncio.run(kept(store, "child"))) == "['ana', 'child']"
            return await kept(store, "ben")

    assert asyncio.run(main()) == ["ana", "ben", "child"]


# Pools that a store has opened


@contextmanager
def left_by_a_child(opened: Any) -> Iterator[Any]:
    """A store, out of whose block a forked child has gone meanwhile."""
    parent = os.getpid()
    try:
        with opened as store:
            store.put(USERS, "ana", {})
            if child := os.fork():
                assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
                yield store
            else:
                signal.alarm(WAIT_S)
    finally:
        if os.getpid() != parent:
            os._exit(7)


def test_a_child_that_leaves_the_block_of_a_pool_does_not_close_it(postgres_url: str):
    with left_by_a_child(PostgresStore.from_conn_string(postgres_url, pool_config={"min_size": 1})) as store:
        numbers = {conn.info.backend_pid for conn in store._connection._source._pool._pool}
        store.put(USERS, "ben", {})
        assert names(store) == ["ana", "ben"]
        assert numbers & {conn.info.backend_pid for conn in store._connection._source._pool._pool}


def test_a_child_may_not_use_a_pool_that_a_store_has_opened(postgres_url: str):
    async def main() -> list[str]:
        pool: Any = {"min_size": 1}
        async with AsyncPostgresStore.from_conn_string(postgres_url, pool_config=pool) as store:
            await store.aput(USERS, "ana", {})
            assert is_refused(lambda: asyncio.run(store.aput(USERS, "child", {})))
            return await kept(store, "ben")

    assert asyncio.run(main()) == ["ana", "ben"]


# Sweepers


@pytest.mark.parametrize("is_locked", [True, False])
def test_a_child_has_no_sweeper_until_it_starts_one(is_locked: bool):
    store = InMemoryStore(ttl={"default_ttl": 1})
    parents = store.start_ttl_sweeper(60)
    lock = store._sweeper._lock if is_locked else threading.Lock()

    def work() -> object:
        assert store.stop_ttl_sweeper(1)
        own = store.start_ttl_sweeper(60)
        return own is not parents and store.stop_ttl_sweeper(1) and own.done()

    with lock:
        said = said_by_child(work)
    assert said == "True"
    assert not parents.done()
    assert store.stop_ttl_sweeper(5)
