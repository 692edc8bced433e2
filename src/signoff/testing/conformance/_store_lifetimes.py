"""Time to live, by a clock the check owns."""

from typing import Any

from signoff.errors import InvalidInput
from signoff.store.base import PutOp
from signoff.testing.conformance._store_words import Clock, OpenStore
from signoff.testing.conformance.checks import cases, raises

NS = ("t",)


def an_expired_item_is_gone(store: Any, clock: Clock) -> None:
    store.put(NS, "short", {"v": 1}, ttl=1)
    store.put(NS, "long", {"v": 2}, ttl=10)
    store.put(("only", "short"), "k", {"v": 3}, ttl=1)
    clock.advance(minutes=1)
    assert store.get(NS, "short") is None
    assert [item.key for item in store.search(())] == ["long"]
    assert store.list_namespaces() == [NS]


def an_item_lives_to_the_last_moment(store: Any, clock: Clock) -> None:
    store.put(NS, "k", {}, ttl=1)
    clock.advance(minutes=0.999)
    assert store.get(NS, "k", refresh_ttl=False) is not None


@cases("ttl", [10**20, 10**299, 1e300])
def a_very_long_ttl_is_as_good_as_none(store: Any, clock: Clock, ttl: float) -> None:
    store.put(("a",), "long", {"v": 1}, ttl=ttl)
    assert store.get(("a",), "long", refresh_ttl=True).value == {"v": 1}


def an_item_without_a_ttl_lives_for_good(store: Any, clock: Clock) -> None:
    store.put(NS, "k", {})
    clock.advance(minutes=10_000_000)
    assert store.get(NS, "k") is not None
    assert store.sweep_ttl() == 0


def the_default_ttl_holds_where_a_put_does_not_say(open_store: OpenStore, clock: Clock) -> None:
    store = open_store(ttl={"default_ttl": 1})
    store.put(NS, "default", {})
    store.put(NS, "own", {}, ttl=3)
    store.put(NS, "forever", {}, ttl=None)
    clock.advance(minutes=2)
    assert [item.key for item in store.search(NS)] == ["own", "forever"]


@cases("read", ["get", "search"])
def reading_starts_the_time_anew(store: Any, clock: Clock, read: Any) -> None:
    store.put(NS, "k", {}, ttl=2)
    for _ in range(5):
        clock.advance(minutes=1)
        assert store.get(NS, "k") if read == "get" else store.search(NS)
    clock.advance(minutes=2)
    assert store.get(NS, "k") is None


@cases("read", ["get", "search"])
def reading_by_a_clock_that_is_behind_does_not_make_the_time_shorter(store: Any, clock: Clock, read: Any) -> None:
    store.put(NS, "k", {}, ttl=3)
    clock.advance(minutes=-2)
    assert store.get(NS, "k") if read == "get" else store.search(NS)
    clock.advance(minutes=4)
    assert store.get(NS, "k", refresh_ttl=False) is not None


@cases("read", ["get", "search"])
def reading_leaves_the_time_alone_if_asked_to(store: Any, clock: Clock, read: Any) -> None:
    store.put(NS, "k", {}, ttl=2)
    clock.advance(minutes=1)
    assert store.get(NS, "k", refresh_ttl=False) if read == "get" else store.search(NS, refresh_ttl=False)
    clock.advance(minutes=1)
    assert store.get(NS, "k") is None


def the_config_says_whether_reads_refresh_and_the_call_has_the_last_word(open_store: OpenStore, clock: Clock) -> None:
    store = open_store(ttl={"default_ttl": 2, "refresh_on_read": False})
    store.put(NS, "left alone", {})
    store.put(NS, "refreshed", {})
    clock.advance(minutes=1)
    assert store.get(NS, "left alone")
    assert store.get(NS, "refreshed", refresh_ttl=True)
    clock.advance(minutes=1)
    assert [item.key for item in store.search(NS)] == ["refreshed"]


def only_what_a_search_shows_is_refreshed(store: Any, clock: Clock) -> None:
    store.batch([PutOp(NS, str(at), {"at": at}, ttl=2) for at in range(3)])
    clock.advance(minutes=1)
    store.search(NS, limit=1, offset=1)
    clock.advance(minutes=1)
    assert [item.key for item in store.search(NS)] == ["1"]


def an_expired_item_is_not_brought_back_by_reading_it(store: Any, clock: Clock) -> None:
    store.put(NS, "k", {}, ttl=1)
    clock.advance(minutes=1)
    assert store.get(NS, "k", refresh_ttl=True) is None
    assert store.search(NS, refresh_ttl=True) == []
    assert store.sweep_ttl() == 1


def putting_over_an_expired_item_makes_a_new_one(store: Any, clock: Clock) -> None:
    store.put(NS, "k", {"v": 1}, ttl=1)
    clock.advance(minutes=1)
    store.put(NS, "k", {"v": 2})
    item = store.get(NS, "k")
    assert item.value == {"v": 2}
    assert item.created_at == item.updated_at


def a_put_replaces_the_time_to_live(store: Any, clock: Clock) -> None:
    store.put(NS, "k", {"v": 1}, ttl=1)
    store.put(NS, "k", {"v": 2}, ttl=None)
    clock.advance(minutes=2)
    assert store.get(NS, "k").value == {"v": 2}


def expired_items_can_be_kept_in_sight_until_they_are_swept(open_store: OpenStore, clock: Clock) -> None:
    store = open_store(ttl={"default_ttl": 1, "omit_expired": False, "refresh_on_read": False})
    store.put(NS, "k", {})
    clock.advance(minutes=5)
    assert store.get(NS, "k") is not None
    assert len(store.search(NS)) == 1
    assert store.list_namespaces() == [NS]
    assert store.sweep_ttl() == 1
    assert store.get(NS, "k") is None


def a_sweep_removes_what_expired_and_counts_it(open_store: OpenStore, clock: Clock, index: dict[str, Any]) -> None:
    store = open_store(index=index)
    store.put(NS, "1", {"text": "a"}, ttl=1)
    store.put(("other",), "2", {"text": "a"}, ttl=1)
    store.put(NS, "3", {"text": "a"})
    assert store.sweep_ttl() == 0
    clock.advance(minutes=1)
    assert store.sweep_ttl() == 2
    assert store.sweep_ttl() == 0
    assert [item.key for item in store.search((), query="a")] == ["3"]


@cases(
    "config",
    [
        {"default_tll": 5},
        {"default_ttl": 0},
        {"default_ttl": "5"},
        {"sweep_interval_minutes": -1},
        {"default_ttl": True},
    ],
)
def a_ttl_config_with_a_mistake_is_refused(open_store: OpenStore, config: Any) -> None:
    with raises(InvalidInput, match=next(iter(config))):
        open_store(ttl=config)
