"""Odd names, filters and large values: nothing that is stored can say anything but what it says."""

from typing import Any

from signoff.testing.conformance._saver_words import at, ids, put, values_of
from signoff.testing.conformance.checks import cases

ODD = [
    "' OR 1=1 --",
    '"; DROP TABLE signoff_checkpoints; --',
    "%",
    "%s",
    "%(a)s",
    "_",
    "*",
    "?",
    "?1",
    "$1",
    "\\",
    "{a}",
    "}{",
    "a:b|c:d",
    "\x00",
    "\x01",
    "\x00\x01\x02",
    "NULL",
    "a\nb",
    " ",
    "ü",
    "日本",
    "😀",
]


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
    saver.copy_thread(name, f"copy of {name}")
    saver.delete_thread(name)
    assert saver.get_tuple(at(thread=name, ns=name)) is None
    assert values_of(saver, thread=f"copy of {name}", ns=name) == {name: 1}


@cases("name", ODD)
def a_filter_finds_only_what_is_equal(crowd: Any, name: Any) -> None:
    assert ids(crowd.list(None, filter={"who": name})) == []
    assert ids(crowd.list(None, filter={name: name})) == []
    assert ids(crowd.list(None, filter={"who": "ana", name: None})) == ["2"]


@cases("size", [0, 5_000, 3_000_000])
def a_value_of_any_size_comes_back(saver: Any, size: Any) -> None:
    value = {"data": bytes(range(256)) * (size // 256 + 1), "text": "ü" * size}
    put(saver, "1", {"a": value})
    saver.put_writes(at("1"), [("a", value)], "task")
    put(saver, "2", {"a": value, "b": 1}, parent="1", new={"b": 1})
    assert values_of(saver) == {"a": value, "b": 1}
    assert saver.get_tuple(at("1")).pending_writes == [("task", "a", value)]


def a_long_history_is_listed_and_read(saver: Any) -> None:
    for step in range(200):
        parent = f"{step - 1:05}" if step else None
        put(saver, f"{step:05}", {"a": step}, parent=parent, versions={"a": step + 1}, metadata={"step": step})
    assert ids(saver.list(at(), limit=3)) == ["00199", "00198", "00197"]
    assert ids(saver.list(at(), filter={"step": 7})) == ["00007"]
    assert [one.checkpoint["channel_values"]["a"] for one in saver.list(at())] == list(reversed(range(200)))
    assert values_of(saver, "00100") == {"a": 100}
