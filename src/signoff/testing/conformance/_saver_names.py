"""Odd names, filters and large values: nothing that is stored can say anything but what it says."""

from typing import Any

from signoff.checkpoint.base import Commit
from signoff.testing.conformance._odd_names import ODD
from signoff.testing.conformance._saver_words import after, at, ids, made, put, values_of
from signoff.testing.conformance.checks import cases


@cases("name", ODD)
def an_odd_name_is_a_name_like_any_other(saver: Any, name: Any) -> None:
    put(saver, name, {name: 1}, thread=name, ns=name, metadata={name: name})
    put(saver, "other", {"a": 2}, thread="other", metadata={"other": 1})
    saver.put_writes(at(name, thread=name, ns=name), [(name, name)], name, name)
    found = saver.get_tuple(at(thread=name, ns=name))
    assert (found.checkpoint["id"], found.checkpoint["channel_values"]) == (name, {name: 1})
    assert found.metadata == {name: name}
    assert found.pending_writes == [(name, name, name)]
    assert ids(saver.list(None, filter={name: name})) == [name]
    put(saver, f"{name}+", {name: 1, "b": 2}, parent=name, new={"b": 1}, thread=name, ns=name)
    saver.copy_thread(name, f"copy of {name}")
    saver.delete_thread(name)
    assert saver.get_tuple(at(thread=name, ns=name)) is None
    assert values_of(saver, thread=f"copy of {name}", ns=name) == {name: 1, "b": 2}


@cases("name", ODD)
def a_filter_finds_only_what_is_equal(crowd: Any, name: Any) -> None:
    assert ids(crowd.list(None, filter={"who": name})) == []
    assert ids(crowd.list(None, filter={name: name})) == []
    assert ids(crowd.list(None, filter={"who": "ana", name: None})) == ["2"]


@cases("size", [0, 5_000, 1_000_000])
def a_value_of_any_size_comes_back(saver: Any, size: Any) -> None:
    value = {"data": bytes(range(256)) * (size // 256 + 1), "text": "ü" * size}
    put(saver, "1", {"a": value})
    saver.put_writes(at("1"), [("a", value)], "task")
    put(saver, "2", {"a": value, "b": 1}, parent="1", new={"b": 1})
    assert values_of(saver) == {"a": value, "b": 1}
    assert saver.get_tuple(at("1")).pending_writes == [("task", "a", value)]


def a_long_history_is_listed_and_read(saver: Any, checkpoints: Any) -> None:
    for start in range(0, checkpoints, 100):
        saver.commit([_step(number) for number in range(start, start + 100)])
    assert ids(saver.list(at(), limit=3)) == [_id(checkpoints - 1), _id(checkpoints - 2), _id(checkpoints - 3)]
    assert ids(saver.list(at(), filter={"step": 7})) == [_id(7)]
    middle = checkpoints // 2
    found = [one.checkpoint["channel_values"] for one in saver.list(at(), before=at(_id(middle)), limit=500)]
    assert found == [{"a": number} for number in reversed(range(max(0, middle - 500), middle))]
    assert [values_of(saver, _id(number)) for number in (0, middle)] == [{"a": 0}, {"a": middle}]


def _step(number: int) -> Commit:
    parent = _id(number - 1) if number else None
    return Commit(after(parent), (), made(_id(number), {"a": number}, {"a": number + 1}), {"step": number}, {"a"})


def _id(number: int) -> str:
    return f"{number:05}"
