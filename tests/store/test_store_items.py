"""Items, and what BaseStore does for any store."""

import asyncio
from datetime import UTC, datetime

import pytest

from signoff.store.base import (
    NOT_PROVIDED,
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    TTLNotSupported,
)
from signoff.store.memory import InMemoryStore
from signoff.store.sqlite import SqliteStore

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


def test_who_performs_batches_in_a_way_of_their_own_is_given_single_operations_too():
    seen = []

    class Loud(InMemoryStore):
        def batch(self, ops):
            seen.extend(type(op) for op in ops)
            return super().batch(ops)

        async def abatch(self, ops):
            return self.batch(ops)

    store = Loud()
    store.put(NS, "k", {"v": 1})
    assert store.get(NS, "k").value == {"v": 1}
    assert len(store.search(NS)) == len(store.list_namespaces()) == 1
    store.delete(NS, "k")
    assert seen == [PutOp, GetOp, SearchOp, ListNamespacesOp, PutOp]
    seen.clear()
    asyncio.run(store.aput(NS, "k", {"v": 1}))
    assert asyncio.run(store.aget(NS, "k")).value == {"v": 1}
    assert seen == [PutOp, GetOp]


def test_who_mixes_batches_of_their_own_into_a_store_is_given_single_operations_too():
    seen = []

    class Counted:
        def batch(self, ops):
            seen.append(len(ops))
            return super().batch(ops)

    class Both(Counted, SqliteStore):
        pass

    with Both.from_conn_string(":memory:") as store:
        store.put(NS, "k", {"v": 1})
        assert store.get(NS, "k").value == {"v": 1}
    assert seen == [1, 1]


def test_an_argument_left_out_is_false_and_is_not_none():
    assert not NOT_PROVIDED
    assert repr(NOT_PROVIDED) == "NOT_GIVEN"


def test_a_store_without_time_to_live_accepts_none():
    store = KeepsForGood()
    store.put(NS, "k", {"v": 1}, ttl=None)
    store.put(NS, "k", {"v": 1})
    assert store.ops == [PutOp(NS, "k", {"v": 1})] * 2
