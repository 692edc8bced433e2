"""The sweeper."""

import asyncio
import logging
import threading

import pytest

from signoff.errors import InvalidInput
from signoff.store.memory import InMemoryStore
from signoff.store.postgres import AsyncPostgresStore, PostgresStore
from signoff.store.redis import AsyncRedisStore, RedisStore
from signoff.store.sqlite import SqliteStore

NS = ("t",)


class Swept:
    """Makes a store say when it was swept."""

    fails = 0

    def sweep_ttl(self):
        self.sweeps = getattr(self, "sweeps", 0) + 1
        try:
            if self.sweeps <= self.fails:
                raise OSError("disk on fire")
            return super().sweep_ttl()
        finally:
            self.swept.set()


class SweptMemory(Swept, InMemoryStore):
    pass


class SweptSqlite(Swept, SqliteStore):
    pass


class SweptPostgres(Swept, PostgresStore):
    pass


class SweptRedis(Swept, RedisStore):
    pass


OPTIONS = {"ttl": {"sweep_interval_minutes": 0.0001}}


@pytest.fixture(params=["memory", "sqlite", "postgres", "redis"])
def swept_store(request, clock):
    asked = request.getfixturevalue
    if request.param == "sqlite":
        store = asked("swept_sqlite")
    elif request.param == "postgres":
        store = SweptPostgres(asked("postgres_url"), clock=clock, **OPTIONS)
    elif request.param == "redis":
        store = SweptRedis(asked("redis_url"), prefix=asked("redis_prefix"), clock=clock, **OPTIONS)
    else:
        store = SweptMemory(clock=clock, **OPTIONS)
    store.swept = threading.Event()
    yield store
    store.stop_ttl_sweeper()
    if hasattr(store, "close"):
        store.close()


@pytest.fixture
def swept_sqlite(clock):
    with SweptSqlite.from_conn_string(":memory:", clock=clock, **OPTIONS) as store:
        yield store


def wait_for_a_sweep(store):
    store.swept.clear()
    assert store.swept.wait(timeout=30)


def test_the_sweeper_sweeps_until_it_is_stopped(swept_store, clock):
    swept_store.put(NS, "k", {}, ttl=1)
    clock.advance(minutes=1)
    done = swept_store.start_ttl_sweeper()
    assert swept_store.start_ttl_sweeper() is done
    wait_for_a_sweep(swept_store)
    wait_for_a_sweep(swept_store)
    assert swept_store.stop_ttl_sweeper(timeout=30)
    assert done.done()
    assert swept_store.sweep_ttl() == 0


def test_a_stopped_sweeper_can_be_started_again(swept_store):
    first = swept_store.start_ttl_sweeper()
    assert swept_store.stop_ttl_sweeper()
    assert swept_store.start_ttl_sweeper(0.0001) is not first
    wait_for_a_sweep(swept_store)


def test_who_cancels_what_a_sweeper_was_started_with_stops_it(swept_store):
    others = threading.enumerate()
    first = swept_store.start_ttl_sweeper()
    (sweeper,) = [thread for thread in threading.enumerate() if thread not in others]
    assert first.cancel()
    sweeper.join(timeout=30)
    assert not sweeper.is_alive()
    assert swept_store.start_ttl_sweeper() is not first
    wait_for_a_sweep(swept_store)


class Slow(InMemoryStore):
    """Takes long to sweep."""

    def sweep_ttl(self):
        self.is_under_way.set()
        assert self.may_end.wait(30)
        return super().sweep_ttl()


def test_a_sweeper_that_is_started_while_a_stopped_one_comes_to_its_end_sweeps():
    store = Slow()
    store.is_under_way, store.may_end = threading.Event(), threading.Event()
    first = store.start_ttl_sweeper(0.0001)
    assert store.is_under_way.wait(30)
    assert not store.stop_ttl_sweeper(timeout=0)
    second = store.start_ttl_sweeper(0.0001)
    assert second is not first
    store.may_end.set()
    assert first.result(timeout=30) is None
    store.is_under_way.clear()
    assert store.is_under_way.wait(30)
    assert store.stop_ttl_sweeper(timeout=30)
    assert second.done()


def test_stopping_a_sweeper_that_never_ran_is_fine(swept_store):
    assert swept_store.stop_ttl_sweeper()


def test_a_sweep_that_fails_is_reported_and_tried_again(swept_store, caplog):
    swept_store.fails = 1
    with caplog.at_level(logging.ERROR, logger="signoff.store"):
        swept_store.start_ttl_sweeper()
        wait_for_a_sweep(swept_store)
        wait_for_a_sweep(swept_store)
    assert "disk on fire" in caplog.text
    assert swept_store.sweeps >= 2


def test_a_store_nobody_holds_any_more_ends_its_sweeper(clock):
    store = SweptMemory(clock=clock)
    store.swept = threading.Event()
    done = store.start_ttl_sweeper(0.0001)
    del store
    assert done.result(timeout=30) is None


def test_a_sweep_interval_that_makes_no_sense_is_refused(swept_store):
    with pytest.raises(InvalidInput, match="sweep_interval_minutes=0"):
        swept_store.start_ttl_sweeper(0)


def test_a_sweeper_may_wait_longer_than_any_clock_counts(swept_store):
    done = swept_store.start_ttl_sweeper(1e200)
    assert swept_store.stop_ttl_sweeper(timeout=1e200)
    assert done.result() is None


class AsyncSwept:
    """Makes an async store say when it was swept."""

    fails = 0
    sweeps = 0

    async def sweep_ttl(self):
        self.sweeps += 1
        try:
            if self.sweeps <= self.fails:
                raise OSError("disk on fire")
            return await super().sweep_ttl()
        finally:
            self.swept.set()


class AsyncSweptPostgres(AsyncSwept, AsyncPostgresStore):
    pass


class AsyncSweptRedis(AsyncSwept, AsyncRedisStore):
    pass


@pytest.mark.parametrize("kind", ["postgres", "redis"])
def test_the_async_sweeper_sweeps_until_it_is_stopped_whatever_fails(request, clock, caplog, kind):
    asked = request.getfixturevalue

    async def program():
        if kind == "postgres":
            store = AsyncSweptPostgres(asked("postgres_url"), clock=clock, **OPTIONS)
        else:
            store = AsyncSweptRedis(asked("redis_url"), prefix=asked("redis_prefix"), clock=clock, **OPTIONS)
        store.swept, store.fails = asyncio.Event(), 1
        assert await store.stop_ttl_sweeper()
        await store.aput(NS, "k", {}, ttl=1)
        clock.advance(minutes=1)
        task = await store.start_ttl_sweeper()
        assert await store.start_ttl_sweeper() is task
        while store.sweeps < 3:  # the second one has ended
            await asyncio.wait_for(store.swept.wait(), timeout=30)
            store.swept.clear()
        assert await store.stop_ttl_sweeper(timeout=30)
        swept = await store.sweep_ttl()
        await store.close()
        return task.done(), swept

    assert asyncio.run(program()) == (True, 0)
    assert "disk on fire" in caplog.text
