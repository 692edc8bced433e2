"""Items, and what BaseStore does for any store."""

from datetime import UTC, datetime

import pytest

from signoff.store.base import (
    NOT_PROVIDED,
    BaseStore,
    Item,
    PutOp,
    SearchItem,
    TTLNotSupported,
)

NS = ("users", "ana")
SOME_TIME = datetime(2024, 1, 1, tzinfo=UTC)


def test_an_item_reads_iso_times_and_shows_plain_json():
    item = Item(value={"a": 1}, key="k", namespace=["x", "y"], created_at=SOME_TIME.isoformat(), updated_at=SOME_TIME)
    assert item.namespace == ("x", "y")
    assert item.created_at == SOME_TIME
    assert item.dict() == {
        "namespace": ["x", "y"],
        "key": "k",
        "value": {"a": 1},
        "created_at": "2024-01-01T00:00:00+00:00",
        "updated_at": "2024-01-01T00:00:00+00:00",
    }
    assert repr(item).startswith("Item(namespace=['x', 'y'], key='k', value={'a': 1}, created_at=")


def test_items_are_equal_by_place_times_and_value_and_hash_by_place():
    item = Item(value={"a": 1}, key="k", namespace=("x",), created_at=SOME_TIME, updated_at=SOME_TIME)
    found = SearchItem(("x",), "k", {"a": 1}, SOME_TIME, SOME_TIME, score=0.5)
    other = Item(value={"a": 2}, key="k", namespace=("x",), created_at=SOME_TIME, updated_at=SOME_TIME)
    assert item == found
    assert item != other
    assert item != "item"
    assert hash(item) == hash(other)
    assert found.dict()["score"] == 0.5


class KeepsForGood(BaseStore):
    """A store somebody else might write: without time to live."""

    def __init__(self):
        self.ops = []

    def batch(self, ops):
        self.ops += ops
        return [None] * len(self.ops)

    async def abatch(self, ops):
        return self.batch(ops)


def test_a_store_without_time_to_live_refuses_one_and_writes_nothing():
    store = KeepsForGood()
    with pytest.raises(TTLNotSupported, match="KeepsForGood"):
        store.put(NS, "k", {}, ttl=5)
    with pytest.raises(NotImplementedError):
        store.put(NS, "k", {}, ttl=5)
    assert store.ops == []


def test_an_argument_left_out_is_false_and_is_not_none():
    assert not NOT_PROVIDED
    assert repr(NOT_PROVIDED) == "NOT_GIVEN"


def test_a_store_without_time_to_live_accepts_none():
    store = KeepsForGood()
    store.put(NS, "k", {"v": 1}, ttl=None)
    store.put(NS, "k", {"v": 1})
    assert store.ops == [PutOp(NS, "k", {"v": 1})] * 2
