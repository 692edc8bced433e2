"""Searching by field, and listing namespaces: the same on every store."""

import pytest

from signoff.errors import InvalidInput
from signoff.store.base import ListNamespacesOp, MatchCondition, PutOp, SearchItem


def keys(items):
    return [item.key for item in items]


def test_a_search_finds_what_is_in_a_namespace_and_below_it_only(store):
    for namespace in [("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("a-b",), ("a ",), ("b", "a")]:
        store.put(namespace, "/".join(namespace), {})
    assert keys(store.search(("a",))) == ["a", "a/b", "a/b/c"]
    assert keys(store.search(("a", "b"))) == ["a/b", "a/b/c"]
    assert len(store.search(())) == 7
    assert store.search(("nowhere",)) == []


def test_a_star_is_an_ordinary_label_in_a_search(store):
    store.put(("a",), "k", {})
    store.put(("*",), "star", {})
    store.put(("%",), "percent", {})
    assert keys(store.search(("*",))) == ["star"]
    assert keys(store.search(("%",))) == ["percent"]


def test_found_items_come_in_the_order_they_were_first_put_namespace_by_namespace(store):
    store.put(("z",), "3", {})
    store.put(("a",), "2", {})
    store.put(("z",), "1", {})
    store.put(("a",), "2", {"changed": True})
    assert [(item.namespace, item.key) for item in store.search(())] == [
        (("z",), "3"),
        (("z",), "1"),
        (("a",), "2"),
    ]


def test_a_namespace_that_was_emptied_is_new_when_it_is_used_again(store):
    store.put(("z",), "1", {})
    store.put(("a",), "2", {})
    store.delete(("z",), "1")
    store.put(("z",), "3", {})
    assert keys(store.search(())) == ["2", "3"]


def test_limit_and_offset_cut_a_page_out(store):
    store.batch([PutOp(("n",), str(at), {"at": at}) for at in range(12)])
    assert keys(store.search(("n",))) == [str(at) for at in range(10)]
    assert keys(store.search(("n",), limit=3, offset=2)) == ["2", "3", "4"]
    assert keys(store.search(("n",), limit=3, offset=11)) == ["11"]
    assert store.search(("n",), limit=0) == []
    assert store.search(("n",), offset=12) == []


def test_limit_and_offset_count_what_passes_the_filter(store):
    store.batch([PutOp(("n",), str(at), {"even": at % 2 == 0}) for at in range(12)])
    assert keys(store.search(("n",), filter={"even": True}, limit=2, offset=1)) == ["2", "4"]


def test_more_items_than_one_statement_can_name_are_found(store):
    store.batch([PutOp(("n",), str(at), {"at": at}) for at in range(1203)])
    assert len(store.search(("n",), limit=2000)) == 1203
    assert keys(store.search(("n",), filter={"at": {"$gte": 1201}})) == ["1201", "1202"]
    assert keys(store.search(("n",), limit=2, offset=1100)) == ["1100", "1101"]


def test_found_items_have_no_score_without_a_query(store):
    store.put(("n",), "k", {})
    found = store.search(("n",))[0]
    assert isinstance(found, SearchItem)
    assert found.score is None


def test_a_query_without_an_index_finds_everything_unscored(store):
    store.put(("n",), "k", {"text": "a"})
    assert [(item.key, item.score) for item in store.search(("n",), query="zzz")] == [("k", None)]


def test_a_filter_with_a_mistake_is_refused_even_when_nothing_is_stored(store):
    with pytest.raises(InvalidInput, match=r"\$in"):
        store.search((), filter={"a": {"$in": [1]}})


def test_namespaces_are_listed_once_and_sorted(store):
    for namespace in [("b",), ("a", "x"), ("a",), ("a", "x", "y"), ("a!",)]:
        store.put(namespace, "1", {})
        store.put(namespace, "2", {})
    assert store.list_namespaces() == [("a",), ("a", "x"), ("a", "x", "y"), ("a!",), ("b",)]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"prefix": ("a",)}, ["a/x/1", "a/y/1", "a/y/2"]),
        ({"prefix": ("a", "y")}, ["a/y/1", "a/y/2"]),
        ({"prefix": ("*", "y")}, ["a/y/1", "a/y/2", "b/y/1"]),
        ({"prefix": ("a", "*", "1")}, ["a/x/1", "a/y/1"]),
        ({"suffix": ("1",)}, ["a/x/1", "a/y/1", "b/y/1"]),
        ({"suffix": ("y", "*")}, ["a/y/1", "a/y/2", "b/y/1"]),
        ({"prefix": ("a",), "suffix": ("1",)}, ["a/x/1", "a/y/1"]),
        ({"prefix": ("a", "x", "1", "deeper")}, []),
        ({"prefix": ()}, ["a/x/1", "a/y/1", "a/y/2", "b/y/1"]),
        ({"max_depth": 2}, ["a/x", "a/y", "b/y"]),
        ({"max_depth": 1, "prefix": ("*", "y")}, ["a", "b"]),
        ({"max_depth": 9}, ["a/x/1", "a/y/1", "a/y/2", "b/y/1"]),
        ({"limit": 2}, ["a/x/1", "a/y/1"]),
        ({"limit": 2, "offset": 1}, ["a/y/1", "a/y/2"]),
        ({"limit": 0}, []),
    ],
    ids=str,
)
def test_namespaces_are_listed_by_prefix_suffix_depth_and_page(store, asked, expected):
    for name in ["a/x/1", "a/y/1", "a/y/2", "b/y/1"]:
        store.put(tuple(name.split("/")), "k", {})
    assert ["/".join(namespace) for namespace in store.list_namespaces(**asked)] == expected


def test_several_match_conditions_all_have_to_hold(store):
    for name in ["a/x/1", "a/y/1", "b/x/1"]:
        store.put(tuple(name.split("/")), "k", {})
    conditions = (
        MatchCondition("suffix", ("1",)),
        MatchCondition("prefix", ("a",)),
        MatchCondition("prefix", ("*", "x")),
    )
    assert store.batch([ListNamespacesOp(match_conditions=conditions)]) == [[("a", "x", "1")]]


def test_reading_where_nothing_is_makes_no_namespace(store):
    store.get(("ghost",), "k")
    store.search(("ghost",))
    store.delete(("ghost",), "k")
    assert store.list_namespaces() == []
