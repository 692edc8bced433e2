"""Searching by field, and listing namespaces."""

from collections.abc import Iterable
from sys import maxsize
from typing import Any

from signoff.errors import InvalidInput
from signoff.store.base import Item, ListNamespacesOp, MatchCondition, PutOp, SearchItem, SearchOp
from signoff.testing.conformance.checks import cases, raises


def _keys(items: Iterable[Item]) -> list[str]:
    return [item.key for item in items]


def a_search_finds_what_is_in_a_namespace_and_below_it_only(store: Any) -> None:
    for namespace in [("a",), ("a", "b"), ("a", "b", "c"), ("ab",), ("a-b",), ("a ",), ("b", "a")]:
        store.put(namespace, "/".join(namespace), {})
    assert _keys(store.search(("a",))) == ["a", "a/b", "a/b/c"]
    assert _keys(store.search(("a", "b"))) == ["a/b", "a/b/c"]
    assert len(store.search(())) == 7
    assert store.search(("nowhere",)) == []


def a_star_is_an_ordinary_label_in_a_search(store: Any) -> None:
    store.put(("a",), "k", {})
    store.put(("*",), "star", {})
    store.put(("%",), "percent", {})
    assert _keys(store.search(("*",))) == ["star"]
    assert _keys(store.search(("%",))) == ["percent"]


def found_items_come_in_the_order_they_were_first_put_namespace_by_namespace(store: Any) -> None:
    store.put(("z",), "3", {})
    store.put(("a",), "2", {})
    store.put(("z",), "1", {})
    store.put(("a",), "2", {"changed": True})
    assert [(item.namespace, item.key) for item in store.search(())] == [
        (("z",), "3"),
        (("z",), "1"),
        (("a",), "2"),
    ]


def a_namespace_that_was_emptied_is_new_when_it_is_used_again(store: Any) -> None:
    store.put(("z",), "1", {})
    store.put(("a",), "2", {})
    store.delete(("z",), "1")
    store.put(("z",), "3", {})
    assert _keys(store.search(())) == ["2", "3"]


def limit_and_offset_cut_a_page_out(store: Any) -> None:
    store.batch([PutOp(("n",), str(at), {"at": at}) for at in range(12)])
    assert _keys(store.search(("n",))) == [str(at) for at in range(10)]
    assert _keys(store.search(("n",), limit=3, offset=2)) == ["2", "3", "4"]
    assert _keys(store.search(("n",), limit=3, offset=11)) == ["11"]
    assert _keys(store.search(("n",), limit=maxsize, offset=10)) == ["10", "11"]
    assert _keys(store.search(("n",), limit=10**30, offset=10)) == ["10", "11"]
    assert _keys(store.batch([PutOp(("o",), "x", {}), SearchOp(("n",), limit=10**30, offset=10)])[1]) == ["10", "11"]
    assert store.search(("n",), offset=10**30) == []
    assert store.search(("n",), limit=0) == []
    assert store.search(("n",), offset=12) == []


def limit_and_offset_count_what_passes_the_filter(store: Any) -> None:
    store.batch([PutOp(("n",), str(at), {"even": at % 2 == 0}) for at in range(12)])
    assert _keys(store.search(("n",), filter={"even": True}, limit=2, offset=1)) == ["2", "4"]


def more_items_than_one_statement_can_name_are_found(store: Any) -> None:
    store.batch([PutOp(("n",), str(at), {"at": at}) for at in range(1203)])
    assert len(store.search(("n",), limit=2000)) == 1203
    assert _keys(store.search(("n",), filter={"at": {"$gte": 1201}})) == ["1201", "1202"]
    assert _keys(store.search(("n",), limit=2, offset=1100)) == ["1100", "1101"]


@cases(
    ("wanted", "passing"),
    [
        (1, "one one-point-zero true"),
        (1.0, "one one-point-zero true"),
        (True, "one one-point-zero true"),
        (0, "zero minus-zero false"),
        (False, "zero minus-zero false"),
        (0.5, "half"),
        ("ä", "umlaut umlaut-escaped"),
        ("😀", "smile smile-escaped"),
    ],
)
def a_filter_means_the_same_however_a_value_is_spelt(store: Any, wanted: Any, passing: Any) -> None:
    half = {"b": "\ud83d"}
    values: dict[str, dict[str, Any]] = {
        "one": {"a": 1}, "one-point-zero": {"a": 1.0}, "true": {"a": True},
        "zero": {"a": 0}, "minus-zero": {"a": -0.0}, "false": {"a": False},
        "half": {"a": 0.5}, "ten": {"a": 10}, "none": {"a": None}, "text": {"a": "1"}, "nothing": {},
        "umlaut": {"a": "ä"}, "umlaut-escaped": {"a": "ä", **half},
        "smile": {"a": "😀"}, "smile-escaped": {"a": "😀", **half},
    }  # fmt: skip
    store.batch([PutOp(("n",), key, value) for key, value in values.items()])
    assert _keys(store.search(("n",), filter={"a": wanted}, limit=99)) == passing.split()
    store.batch([PutOp(("deep",), key, {"x": {"ä": value}}) for key, value in values.items()])
    for filter in ({"x.ä.a": wanted}, {"x": {"ä": {"a": {"$eq": wanted}}}}):
        assert _keys(store.search(("deep",), filter=filter, limit=99)) == passing.split()


def what_a_field_has_to_equal_is_no_filter(store: Any) -> None:
    store.put(("n",), "named", {"a": {"$eq": 5}})
    store.put(("n",), "deep", {"a": {"b": {"$eq": 5}}})
    store.put(("n",), "plain", {"a": 5})
    assert _keys(store.search(("n",), filter={"a": {"$eq": {"$eq": 5}}})) == ["named"]
    assert _keys(store.search(("n",), filter={"a": {"$eq": {"b": {"$eq": 5}}}})) == ["deep"]


def a_filter_may_be_long(store: Any) -> None:
    many = [str(number) for number in range(2000)]
    store.put(("n",), "k", {"list": many, **dict.fromkeys(many, "x")})
    store.put(("n",), "other", {"list": many[1:]})
    assert _keys(store.search(("n",), filter={"list": many})) == ["k"]
    assert _keys(store.search(("n",), filter=dict.fromkeys(many, "x"))) == ["k"]
    assert _keys(store.search(("n",), filter={".".join(many): "x"})) == []


def found_items_have_no_score_without_a_query(store: Any) -> None:
    store.put(("n",), "k", {})
    found = store.search(("n",))[0]
    assert isinstance(found, SearchItem)
    assert found.score is None


def a_query_without_an_index_finds_everything_unscored(store: Any) -> None:
    store.put(("n",), "k", {"text": "a"})
    assert [(item.key, item.score) for item in store.search(("n",), query="zzz")] == [("k", None)]


def a_filter_with_a_mistake_is_refused_even_when_nothing_is_stored(store: Any) -> None:
    with raises(InvalidInput, match=r"\$in"):
        store.search((), filter={"a": {"$in": [1]}})


def namespaces_are_listed_once_and_sorted(store: Any) -> None:
    for namespace in [("b",), ("a", "x"), ("a",), ("a", "x", "y"), ("a!",)]:
        store.put(namespace, "1", {})
        store.put(namespace, "2", {})
    assert store.list_namespaces() == [("a",), ("a", "x"), ("a", "x", "y"), ("a!",), ("b",)]


@cases(
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
)
def namespaces_are_listed_by_prefix_suffix_depth_and_page(store: Any, asked: Any, expected: Any) -> None:
    for name in ["a/x/1", "a/y/1", "a/y/2", "b/y/1"]:
        store.put(tuple(name.split("/")), "k", {})
    assert ["/".join(namespace) for namespace in store.list_namespaces(**asked)] == expected


def several_match_conditions_all_have_to_hold(store: Any) -> None:
    for name in ["a/x/1", "a/y/1", "b/x/1"]:
        store.put(tuple(name.split("/")), "k", {})
    conditions = (
        MatchCondition("suffix", ("1",)),
        MatchCondition("prefix", ("a",)),
        MatchCondition("prefix", ("*", "x")),
    )
    assert store.batch([ListNamespacesOp(match_conditions=conditions)]) == [[("a", "x", "1")]]


def reading_where_nothing_is_makes_no_namespace(store: Any) -> None:
    store.get(("ghost",), "k")
    store.search(("ghost",))
    store.delete(("ghost",), "k")
    assert store.list_namespaces() == []
