"""Lists of checkpoints."""

from typing import Any

from signoff.errors import InvalidInput
from signoff.testing.conformance._saver_words import T, at, ids, put
from signoff.testing.conformance.checks import cases, raises


def a_list_has_the_newest_first_whatever_thread_and_namespace(crowd: Any) -> None:
    assert ids(crowd.list(None)) == ["6", "5", "4", "3", "2", "1"]
    assert ids(crowd.list({"configurable": {"thread_id": T}})) == ["6", "5", "3", "2", "1"]
    assert ids(crowd.list(at())) == ["6", "2", "1"]
    assert ids(crowd.list(at(ns="node:1"))) == ["5", "3"]
    assert ids(crowd.list(at(thread="nobody"))) == []


def a_list_has_whole_checkpoints(crowd: Any) -> None:
    crowd.put_writes(at("2"), [("a", 3)], "task")
    listed = list(crowd.list(at()))
    assert listed == [crowd.get_tuple(at(id)) for id in ("6", "2", "1")]
    assert [one.config for one in listed] == [at("6"), at("2"), at("1")]
    assert [one.parent_config for one in listed] == [at("2"), at("1"), None]
    assert [one.pending_writes for one in listed] == [[], [("task", "a", 3)], []]


def a_list_may_be_of_one_checkpoint(crowd: Any) -> None:
    assert ids(crowd.list(at("2"))) == ["2"]
    assert ids(crowd.list(at("2"), filter={"step": 5})) == []


def a_list_may_end_before_a_checkpoint(crowd: Any) -> None:
    assert ids(crowd.list(at(), before=at("6"))) == ["2", "1"]
    assert ids(crowd.list(None, before=at("4"))) == ["3", "2", "1"]
    assert ids(crowd.list(at(), before=at("1"))) == []
    assert ids(crowd.list(at(), before=at())) == ["6", "2", "1"]


def a_list_may_be_limited(crowd: Any) -> None:
    assert ids(crowd.list(None, limit=2)) == ["6", "5"]
    assert ids(crowd.list(at(), limit=0)) == []
    assert ids(crowd.list(at(), limit=99)) == ["6", "2", "1"]
    assert ids(crowd.list(None, filter={"source": "input"}, limit=2)) == ["4", "3"]
    with raises(InvalidInput, match="limit"):
        list(crowd.list(at(), limit=-1))


@cases(
    ("filter", "expected"),
    [
        ({}, "654321"),
        ({"source": "loop"}, "52"),
        ({"source": "loop", "step": 0, "who": "ana"}, "2"),
        ({"step": -1}, "431"),
        ({"step": "-1"}, ""),
        ({"parents": {"": "2"}}, "3"),
        ({"who": None}, "5431"),
        ({"no such key": None}, "654321"),
        ({"who": "ana' OR '1'='1"}, ""),
        ({"source') = 'loop' OR ('1'='1": "x"}, ""),
    ],
)
def a_list_may_be_filtered_by_metadata(crowd: Any, filter: Any, expected: Any) -> None:
    assert ids(crowd.list(None, filter=filter)) == list(expected)


def what_is_stored_while_a_list_is_read_does_not_disturb_it(saver: Any) -> None:
    for step in range(100):
        put(saver, f"{step:03}", {"a": step})
    seen = []
    for found in saver.list(at()):
        seen.append(found.checkpoint["id"])
        put(saver, f"later {found.checkpoint['id']}", {"a": 0})
    assert seen == [f"{step:03}" for step in reversed(range(100))]


def what_is_deleted_while_a_list_is_read_does_not_disturb_it(saver: Any) -> None:
    for step in range(100):
        put(saver, f"{step:03}", {"a": step})
    found = saver.list(at())
    first = next(found)
    saver.prune([T])
    assert all(one.checkpoint["channel_values"] == {"a": int(one.checkpoint["id"])} for one in [first, *found])
    assert ids(saver.list(at())) == ["099"]
