"""Odd values and names: nothing that is stored can say anything but what it says."""

from enum import StrEnum
from typing import Any

from signoff.store.base import PutOp
from signoff.testing.conformance._odd_names import ODD
from signoff.testing.conformance.checks import cases

NS = ("n",)


class _Color(StrEnum):
    RED = "red"


@cases(
    "value",
    [
        {"int": 2**70},
        {"float": float("inf")},
        {"tiny": 5e-324, "many": 0.1 + 0.2},
        {"surrogate": "\ud800", "text": "ü"},
        {"nul": "a\x00b", "\x00": 1},
        {"": {"": ""}},
        {"enum": _Color.RED},
        {"big": "x" * 1_000_000},
    ],
)
def odd_but_plain_values_come_back_equal(store: Any, value: Any) -> None:
    store.put(NS, "k", value)
    assert store.get(NS, "k").value == value
    assert store.search(NS)[0].value == value


@cases("text", ODD)
def an_odd_name_is_a_name_like_any_other(store: Any, text: str) -> None:
    store.put(("other",), "other", {"v": 0})
    namespace = (text.replace(".", "-"), "n", text.replace(".", "-"))
    store.batch([PutOp(namespace, text, {text: text}, ttl=5)])
    item = store.get(namespace, text)
    assert (item.namespace, item.key, item.value) == (namespace, text, {text: text})
    assert [one.key for one in store.search(namespace[:1])] == [text]
    assert store.list_namespaces(prefix=namespace[:2]) == [namespace]
    assert [one.key for one in store.search((), filter={"a": text})] == []
    store.delete(namespace, text)
    assert [one.key for one in store.search(())] == ["other"]


def an_odd_filter_value_is_only_compared(store: Any) -> None:
    store.batch([PutOp(NS, str(at), {"text": text, "in": {"text": text}}) for at, text in enumerate(ODD)])
    for at, text in enumerate(ODD):
        assert [one.key for one in store.search(NS, filter={"text": text})] == [str(at)]
        assert [one.key for one in store.search(NS, filter={"in": {"text": {"$eq": text}}})] == [str(at)]


def names_that_look_alike_when_joined_are_kept_apart(store: Any) -> None:
    places = [(("a", "b"), "c"), (("a",), "b.c"), (("a",), "b"), (("ab",), "c"), (("a",), "bc"), (("1:a",), "b")]
    store.batch([PutOp(*place, {"place": at}) for at, place in enumerate(places)])
    assert [store.get(*place).value["place"] for place in places] == list(range(len(places)))
    store.delete(*places[1])
    assert [store.get(*place) is None for place in places] == [False, True, False, False, False, False]
