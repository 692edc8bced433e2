"""Putting, getting and deleting."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from signoff.errors import InvalidInput
from signoff.store.base import (
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)
from signoff.testing.conformance._store_words import Clock, Run
from signoff.testing.conformance.checks import cases, raises

NS = ("users", "ana")


def a_value_put_is_the_value_got(store: Any) -> None:
    value = {"text": "ü", "n": 1, "f": 1.5, "t": True, "none": None, "list": [1, {"a": []}], "empty": {}}
    store.put(NS, "k", value)
    assert store.get(NS, "k").value == value


def an_item_knows_its_place_and_its_times(store: Any, clock: Clock) -> None:
    store.put(NS, "k", {"v": 1})
    clock.advance(minutes=1)
    store.put(NS, "k", {"v": 2})
    item = store.get(NS, "k")
    assert (item.namespace, item.key, item.value) == (NS, "k", {"v": 2})
    assert item.updated_at == datetime.fromtimestamp(clock.now, UTC)
    assert (item.updated_at - item.created_at).total_seconds() == 60


def what_is_not_there_is_none(store: Any) -> None:
    assert store.get(NS, "k") is None
    assert store.get(("nowhere",), "k") is None


def a_deleted_item_is_gone_and_deleting_it_again_is_fine(store: Any) -> None:
    store.put(NS, "k", {"v": 1})
    store.delete(NS, "k")
    store.delete(NS, "k")
    assert store.get(NS, "k") is None
    assert store.list_namespaces() == []


def an_item_put_again_after_its_deletion_is_new(store: Any, clock: Clock) -> None:
    store.put(NS, "k", {"v": 1})
    store.delete(NS, "k")
    clock.advance(minutes=1)
    store.put(NS, "k", {"v": 2})
    item = store.get(NS, "k")
    assert item.created_at == item.updated_at


def the_same_key_in_two_namespaces_is_two_items(store: Any) -> None:
    store.put(("a",), "k", {"v": 1})
    store.put(("a", "b"), "k", {"v": 2})
    assert store.get(("a",), "k").value == {"v": 1}
    assert store.get(("a", "b"), "k").value == {"v": 2}


def changing_a_value_after_putting_it_does_not_change_the_store(store: Any) -> None:
    value: dict[str, Any] = {"list": [1], "dict": {"a": 1}}
    store.put(NS, "k", value)
    value["list"].append(2)
    value["dict"]["a"] = 2
    assert store.get(NS, "k").value == {"list": [1], "dict": {"a": 1}}


def changing_a_value_got_does_not_change_the_store(store: Any) -> None:
    store.put(NS, "k", {"list": [1]})
    store.get(NS, "k").value["list"].append(2)
    store.search(NS)[0].value["list"].append(3)
    assert store.get(NS, "k").value == {"list": [1]}


def changing_a_value_without_lists_or_dicts_does_not_change_the_store_either(store: Any) -> None:
    value = {"v": 1}
    store.put(NS, "k", value)
    value["v"] = 2
    store.get(NS, "k").value["v"] = 3
    store.search(NS)[0].value["v"] = 4
    assert store.get(NS, "k").value == {"v": 1}


def ids_of_any_kind_are_keys_by_their_text(store: Any) -> None:
    uuid = UUID("12345678-1234-5678-1234-567812345678")
    store.put(NS, uuid, {"v": 1})
    store.put(NS, 7, {"v": 2})
    assert store.get(NS, str(uuid)).value == {"v": 1}
    assert store.get(NS, "7").value == {"v": 2}


def a_list_is_taken_for_the_namespace_it_means(store: Any) -> None:
    store.put(["a", "b"], "k", {"v": 1})
    assert store.get(("a", "b"), "k") is not None
    assert len(store.search(["a"])) == 1


def reads_of_a_batch_see_what_was_there_before_it(store: Any) -> None:
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


def of_two_puts_in_a_batch_the_last_counts(store: Any) -> None:
    store.batch([PutOp(NS, "k", {"v": 1}), PutOp(NS, "x", {"v": 1}), PutOp(NS, "k", {"v": 2}), PutOp(NS, "x", None)])
    assert store.get(NS, "k").value == {"v": 2}
    assert store.get(NS, "x") is None


def an_empty_batch_has_no_results(store: Any) -> None:
    assert store.batch([]) == []


def a_batch_may_be_any_iterable(store: Any) -> None:
    store.put(NS, "k", {"v": 1})
    assert [item.key for item in store.batch(GetOp(NS, key) for key in ["k", "k"])] == ["k", "k"]


@cases("namespace", [(), ("",), ("a", ""), ("a.b",), (1,), "abc", None, 3, ("signoff",), ("langgraph", "x")])
def a_bad_namespace_is_refused_by_put(store: Any, namespace: Any) -> None:
    with raises(InvalidNamespaceError):
        store.put(namespace, "k", {"v": 1})
    assert store.search(()) == []


@cases("namespace", [("",), ("a.b",), (1,), "abc", ("\ud800",)])
def a_bad_namespace_is_refused_by_every_operation(store: Any, namespace: Any) -> None:
    for op in [
        GetOp(namespace, "k"),
        PutOp(namespace, "k", {}),
        PutOp(namespace, "k", None),
        SearchOp(namespace),
    ]:
        with raises(InvalidNamespaceError):
            store.batch([op])
    with raises(InvalidNamespaceError):
        store.list_namespaces(prefix=namespace)


def reserved_roots_may_be_used_below_the_public_put(store: Any) -> None:
    store.batch([PutOp(("signoff", "x"), "k", {"v": 1})])
    assert store.get(("signoff", "x"), "k").value == {"v": 1}


_get: Any = GetOp
_put: Any = PutOp
_search: Any = SearchOp
_list: Any = ListNamespacesOp
_match: Any = MatchCondition


@cases(
    "op",
    [
        3,
        _get(NS, None),
        _get(NS, "\ud800"),
        _put(NS, 1, {}),
        _put((), "k", {}),
        _put(NS, "k", ["not", "a", "dict"]),
        _put(NS, "k", "text"),
        _put(NS, "k", {}, index=True),
        _put(NS, "k", {}, index="text"),
        _put(NS, "k", {}, ttl=0),
        _put(NS, "k", {}, ttl=-1),
        _put(NS, "k", {}, ttl="5"),
        _put(NS, "k", {}, ttl=float("nan")),
        _search(NS, limit=-1),
        _search(NS, limit=None),
        _search(NS, offset=-1),
        _search(NS, query=3),
        _search(NS, filter="a"),
        _list(limit=-1),
        _list(max_depth=-1),
        _list(match_conditions=(_match("middle", ("a",)),)),
    ],
)
def one_bad_operation_leaves_the_whole_batch_undone(store: Any, op: Any) -> None:
    with raises(InvalidInput):
        store.batch([PutOp(NS, "good", {"v": 1}), op])
    assert store.get(NS, "good") is None


def a_forgotten_key_is_refused(store: Any) -> None:
    with raises(InvalidInput, match="key is None"):
        store.put(NS, None, {})


def the_async_methods_are_the_sync_ones(store: Any, run: Run) -> None:
    async def program() -> Any:
        await store.aput(NS, "k", {"text": "a"}, index=False, ttl=5)
        await store.aput(NS, "gone", {"text": "b"})
        await store.adelete(NS, "gone")
        found = await store.asearch(NS, filter={"text": "a"}, limit=5, offset=0)
        return (await store.aget(NS, "k")).value, [item.key for item in found], await store.alist_namespaces()

    assert run(program()) == ({"text": "a"}, ["k"], [NS])
