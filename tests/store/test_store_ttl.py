"""Time to live: the same on every store, by a clock the test owns."""

import logging
import threading

import pytest

from signoff.errors import InvalidInput
from signoff.store.base import PutOp
from signoff.store.memory import InMemoryStore
from signoff.store.sqlite import SqliteStore

NS = ("t",)


def test_an_expired_item_is_gone(store, clock):
    store.put(NS, "short", {"v": 1}, ttl=1)
    store.put(NS, "long", {"v": 2}, ttl=10)
    store.put(("only", "short"), "k", {"v": 3}, ttl=1)
    clock.advance(minutes=1)
    assert store.get(NS, "short") is None
    assert [item.key for item in store.search(())] == ["long"]
    assert store.list_namespaces() == [NS]


def test_an_item_lives_to_the_last_moment(store, clock):
    store.put(NS, "k", {}, ttl=1)
    clock.advance(minutes=0.999)
    assert store.get(NS, "k", refresh_ttl=False) is not None


def test_an_item_without_a_ttl_lives_for_good(store, clock):
    store.put(NS, "k", {})
    clock.advance(minutes=10_000_000)
    assert store.get(NS, "k") is not None
    assert store.sweep_ttl() == 0


def test_the_default_ttl_holds_where_a_put_does_not_say(open_store, clock):
    store = open_store(ttl={"default_ttl": 1})
    store.put(NS, "default", {})
    store.put(NS, "own", {}, ttl=3)
    store.put(NS, "forever", {}, ttl=None)
    clock.advance(minutes=2)
    assert [item.key for item in store.search(NS)] == ["own", "forever"]


@pytest.mark.parametrize("read", ["get", "search"])
def test_reading_starts_the_time_anew(store, clock, read):
    store.put(NS, "k", {}, ttl=2)
    for _ in range(5):
        clock.advance(minutes=1)
        assert store.get(NS, "k") if read == "get" else store.search(NS)
    clock.advance(minutes=2)
    assert store.get(NS, "k") is None


@pytest.mark.parametrize("read", ["get", "search"])
def test_reading_leaves_the_time_alone_if_asked_to(store, clock, read):
    store.put(NS, "k", {}, ttl=2)
    clock.advance(minutes=1)
    assert store.get(NS, "k", refresh_ttl=False) if read == "get" else store.search(NS, refresh_ttl=False)
    clock.advance(minutes=1)
    assert store.get(NS, "k") is None


def test_the_config_says_whether_reads_refresh_and_the_call_has_the_last_word(open_store, clock):
    store = open_store(ttl={"default_ttl": 2, "refresh_on_read": False})
    store.put(NS, "left alone", {})
    store.put(NS, "refreshed", {})
    clock.advance(minutes=1)
    assert store.get(NS, "left alone")
    assert store.get(NS, "refreshed", refresh_ttl=True)
    clock.advance(minutes=1)
    assert [item.key for item in store.search(NS)] == ["refreshed"]


def test_only_what_a_search_shows_is_refreshed(store, clock):
    store.batch([PutOp(NS, str(at), {"at": at}, ttl=2) for at in range(3)])
    clock.advance(minutes=1)
    store.search(NS, limit=1, offset=1)
    clock.advance(minutes=1)
    assert [item.key for item in store.search(NS)] == ["1"]


def test_an_expired_item_is_not_brought_back_by_reading_it(store, clock):
    store.put(NS, "k", {}, ttl=1)
    clock.advance(minutes=1)
    assert store.get(NS, "k", refresh_ttl=True) is None
    assert store.search(NS, refresh_ttl=True) == []
    assert store.sweep_ttl() == 1


def test_putting_over_an_expired_item_makes_a_new_one(store, clock):
    store.put(NS, "k", {"v": 1}, ttl=1)
    clock.advance(minutes=1)
    store.put(NS, "k", {"v": 2})
    item = store.get(NS, "k")
    assert item.value == {"v": 2}
    assert item.created_at == item.updated_at


def test_a_put_replaces_the_time_to_live(store, clock):
    store.put(NS, "k", {"v": 1}, ttl=1)
    store.put(NS, "k", {"v": 2}, ttl=None)
    clock.advance(minutes=2)
    assert store.get(NS, "k").value == {"v": 2}


def test_expired_items_can_be_kept_in_sight_until_they_are_swept(open_store, clock):
    store = open_store(ttl={"default_ttl": 1, "omit_expired": False, "refresh_on_read": False})
    store.put(NS, "k", {})
    clock.advance(minutes=5)
    assert store.get(NS, "k") is not None
    assert len(store.search(NS)) == 1
    assert store.list_namespaces() == [NS]
    assert store.sweep_ttl() == 1
    assert store.get(NS, "k") is None


def test_a_sweep_removes_what_expired_and_counts_it(open_store, clock, index):
    store = open_store(index=index)
    store.put(NS, "1", {"text": "a"}, ttl=1)
    store.put(("other",), "2", {"text": "a"}, ttl=1)
    store.put(NS, "3", {"text": "a"})
    assert store.sweep_ttl() == 0
    clock.advance(minutes=1)
    assert store.sweep_ttl() == 2
    assert store.sweep_ttl() == 0
    assert [item.key for item in store.search((), query="a")] == ["3"]


@pytest.mark.parametrize(
    "config",
    [
        {"default_tll": 5},
        {"default_ttl": 0},
        {"default_ttl": "5"},
        {"sweep_interval_minutes": -1},
        {"default_ttl": True},
    ],
    ids=str,
)
def test_a_ttl_config_with_a_mistake_is_refused(open_store, config):
    with pytest.raises(InvalidInput, match=next(iter(config))):
        open_store(ttl=config)


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


@pytest.fixture(params=["memory", "sqlite"])
def swept_store(request, clock):
    if request.param == "memory":
        store = SweptMemory(clock=clock, ttl={"sweep_interval_minutes": 0.0001})
        store.swept = threading.Event()
        yield store
        store.stop_ttl_sweeper()
    else:
        config = {"sweep_interval_minutes": 0.0001}
        with SweptSqlite.from_conn_string(":memory:", clock=clock, ttl=config) as store:
            store.swept = threading.Event()
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
