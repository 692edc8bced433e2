"""Putting, getting and deleting: the same on every store."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from signoff.errors import InvalidInput
from signoff.store.base import (
    NOT_PROVIDED,
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    PutOp,
    SearchItem,
    SearchOp,
    TTLNotSupported,
)

NS = ("users", "ana")
SOME_TIME = datetime(2024, 1, 1, tzinfo=UTC)


def test_a_value_put_is_the_value_got(store):
    value = {"text": "ü", "n": 1, "f": 1.5, "t": True, "none": None, "list": [1, {"a": []}], "empty": {}}
    store.put(NS, "k", value)
    assert store.get(NS, "k").value == value


def test_an_item_knows_its_place_and_its_times(store, clock):
    store.put(NS, "k", {"v": 1})
    clock.advance(minutes=1)
    store.put(NS, "k", {"v": 2})
    item = store.get(NS, "k")
    assert (item.namespace, item.key, item.value) == (NS, "k", {"v": 2})
    assert item.updated_at == datetime.fromtimestamp(clock.now, UTC)
    assert (item.updated_at - item.created_at).total_seconds() == 60


def test_what_is_not_there_is_none(store):
    assert store.get(NS, "k") is None
    assert store.get(("nowhere",), "k") is None


def test_a_deleted_item_is_gone_and_deleting_it_again_is_fine(store):
    store.put(NS, "k", {"v": 1})
    store.delete(NS, "k")
    store.delete(NS, "k")
    assert store.get(NS, "k") is None
    assert store.list_namespaces() == []


def test_an_item_put_again_after_its_deletion_is_new(store, clock):
    store.put(NS, "k", {"v": 1})
    store.delete(NS, "k")
    clock.advance(minutes=1)
    store.put(NS, "k", {"v": 2})
    item = store.get(NS, "k")
    assert item.created_at == item.updated_at


def test_the_same_key_in_two_namespaces_is_two_items(store):
    store.put(("a",), "k", {"v": 1})
    store.put(("a", "b"), "k", {"v": 2})
    assert store.get(("a",), "k").value == {"v": 1}
    assert store.get(("a", "b"), "k").value == {"v": 2}


def test_changing_a_value_after_putting_it_does_not_change_the_store(store):
    value = {"list": [1], "dict": {"a": 1}}
    store.put(NS, "k", value)
    value["list"].append(2)
    value["dict"]["a"] = 2
    assert store.get(NS, "k").value == {"list": [1], "dict": {"a": 1}}


def test_changing_a_value_got_does_not_change_the_store(store):
    store.put(NS, "k", {"list": [1]})
    store.get(NS, "k").value["list"].append(2)
    store.search(NS)[0].value["list"].append(3)
    assert store.get(NS, "k").value == {"list": [1]}


def test_ids_of_any_kind_are_keys_by_their_text(store):
    uuid = UUID("12345678-1234-5678-1234-567812345678")
    store.put(NS, uuid, {"v": 1})
    store.put(NS, 7, {"v": 2})
    assert store.get(NS, str(uuid)).value == {"v": 1}
    assert store.get(NS, "7").value == {"v": 2}


def test_a_list_is_taken_for_the_namespace_it_means(store):
    store.put(["a", "b"], "k", {"v": 1})
    assert store.get(("a", "b"), "k") is not None
    assert len(store.search(["a"])) == 1


def test_reads_of_a_batch_see_what_was_there_before_it(store):
    store.put(NS, "k", {"v": 1})
    results = store.batch(
        [
            PutOp(NS, "k", {"v": 2}),
            GetOp(NS, "k"),
            PutOp(("new",), "k", {"v": 3}),
            SearchOp(()),
            ListNamespacesOp(),
        ]
    )
    assert results[0] is None
    assert results[1].value == {"v": 1}
    assert [item.value for item in results[3]] == [{"v": 1}]
    assert results[4] == [NS]
    assert store.get(NS, "k").value == {"v": 2}


def test_of_two_puts_in_a_batch_the_last_counts(store):
    store.batch([PutOp(NS, "k", {"v": 1}), PutOp(NS, "x", {"v": 1}), PutOp(NS, "k", {"v": 2}), PutOp(NS, "x", None)])
    assert store.get(NS, "k").value == {"v": 2}
    assert store.get(NS, "x") is None


def test_an_empty_batch_has_no_results(store):
    assert store.batch([]) == []


def test_a_batch_may_be_any_iterable(store):
    store.put(NS, "k", {"v": 1})
    assert [item.key for item in store.batch(GetOp(NS, key) for key in ["k", "k"])] == ["k", "k"]


@pytest.mark.parametrize(
    "namespace", [(), ("",), ("a", ""), ("a.b",), (1,), "abc", None, 3, ("signoff",), ("langgraph", "x")]
)
def test_a_bad_namespace_is_refused_by_put(store, namespace):
    with pytest.raises(InvalidNamespaceError):
        store.put(namespace, "k", {"v": 1})
    assert store.search(()) == []


@pytest.mark.parametrize("namespace", [("",), ("a.b",), (1,), "abc", ("\ud800",)])
def test_a_bad_namespace_is_refused_by_every_operation(store, namespace):
    for op in [
        GetOp(namespace, "k"),
        PutOp(namespace, "k", {}),
        PutOp(namespace, "k", None),
        SearchOp(namespace),
    ]:
        with pytest.raises(InvalidNamespaceError):
            store.batch([op])
    with pytest.raises(InvalidNamespaceError):
        store.list_namespaces(prefix=namespace)


def test_reserved_roots_may_be_used_below_the_public_put(store):
    store.batch([PutOp(("signoff", "x"), "k", {"v": 1})])
    assert store.get(("signoff", "x"), "k").value == {"v": 1}


@pytest.mark.parametrize(
    "op",
    [
        3,
        GetOp(NS, None),
        GetOp(NS, "\ud800"),
        PutOp(NS, 1, {}),
        PutOp((), "k", {}),
        PutOp(NS, "k", ["not", "a", "dict"]),
        PutOp(NS, "k", "text"),
        PutOp(NS, "k", {}, index=True),
        PutOp(NS, "k", {}, index="text"),
        PutOp(NS, "k", {}, ttl=0),
        PutOp(NS, "k", {}, ttl=-1),
        PutOp(NS, "k", {}, ttl="5"),
        PutOp(NS, "k", {}, ttl=float("nan")),
        SearchOp(NS, limit=-1),
        SearchOp(NS, limit=None),
        SearchOp(NS, offset=-1),
        SearchOp(NS, query=3),
        SearchOp(NS, filter="a"),
        ListNamespacesOp(limit=-1),
        ListNamespacesOp(max_depth=-1),
        ListNamespacesOp(match_conditions=(("middle", ("a",)),)),
    ],
    ids=repr,
)
def test_one_bad_operation_leaves_the_whole_batch_undone(store, op):
    if isinstance(op, ListNamespacesOp) and op.match_conditions:
        from signoff.store.base import MatchCondition

        op = op._replace(match_conditions=tuple(MatchCondition(*each) for each in op.match_conditions))
    with pytest.raises(InvalidInput):
        store.batch([PutOp(NS, "good", {"v": 1}), op])
    assert store.get(NS, "good") is None


def test_a_forgotten_key_is_refused(store):
    with pytest.raises(InvalidInput, match="key is None"):
        store.put(NS, None, {})


def test_the_async_methods_are_the_sync_ones(store, portal):
    async def program():
        await store.aput(NS, "k", {"text": "a"}, index=False, ttl=5)
        await store.aput(NS, "gone", {"text": "b"})
        await store.adelete(NS, "gone")
        found = await store.asearch(NS, filter={"text": "a"}, limit=5, offset=0)
        return (await store.aget(NS, "k")).value, [item.key for item in found], await store.alist_namespaces()

    assert portal.run(program()) == ({"text": "a"}, ["k"], [NS])


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
