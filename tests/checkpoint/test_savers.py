"""What every saver promises. The tests know nothing of a saver but its public methods."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signoff.checkpoint.base import Commit, TaskWrites, checkpoint_config, empty_checkpoint
from signoff.checkpoint.memory import InMemorySaver
from signoff.constants import ERROR, INTERRUPT, RESUME
from signoff.errors import InvalidInput, MissingThreadId, NotStorable

T = "thread"


def at(id=None, *, thread=T, ns=""):
    """The config of a checkpoint."""
    return checkpoint_config(thread, ns, id)


def made(id, values=None, versions=None, **more):
    """A checkpoint with some values, each with version 1 if not said."""
    values = values or {}
    return {
        **empty_checkpoint(),
        "id": id,
        "channel_values": values,
        "channel_versions": dict.fromkeys(values, 1) if versions is None else versions,
        **more,
    }


def put(saver, id, values=None, *, parent=None, versions=None, new=None, thread=T, ns="", metadata=None, **more):
    """Store a checkpoint; all its channels are new if not said."""
    checkpoint = made(id, values, versions, **more)
    new = checkpoint["channel_versions"] if new is None else new
    return saver.put(at(parent, thread=thread, ns=ns), checkpoint, metadata or {"source": "loop", "step": 0}, new)


def ids(found):
    return [one.checkpoint["id"] for one in found]


def values_of(saver, id=None, **place):
    return saver.get_tuple(at(id, **place)).checkpoint["channel_values"]


# Reading what was stored


def test_a_thread_that_has_not_begun_has_nothing(saver):
    assert saver.get_tuple(at()) is None
    assert saver.get_tuple(at("1")) is None
    assert saver.get(at()) is None
    assert list(saver.list(at())) == []
    assert list(saver.list(None)) == []


def test_a_checkpoint_comes_back_as_it_was(saver):
    checkpoint = made("1", {"a": [1, {"b": None}], "t": (1, 2)}, {"a": 3, "t": 2}, updated_channels=["a"])
    checkpoint["versions_seen"] = {"node": {"a": 2}}
    metadata = {"source": "input", "step": -1, "parents": {"": "0"}, "mine": [1, None, {"x": True}]}
    config = saver.put(at(), checkpoint, metadata, {"a": 3, "t": 2})
    assert config == at("1")
    found = saver.get_tuple(config)
    assert found.checkpoint == checkpoint
    assert found.metadata == metadata
    assert found.config == at("1")
    assert found.parent_config is None
    assert found.pending_writes == []
    assert saver.get(config) == checkpoint


def test_every_key_of_a_checkpoint_comes_back_known_or_not(saver):
    put(saver, "1", {"a": 1}, writers=["node"], stopped=["b"], later={"what": ("ever", 1)})
    found = saver.get(at())
    assert (found["writers"], found["stopped"], found["later"]) == (["node"], ["b"], {"what": ("ever", 1)})


def test_the_newest_checkpoint_is_the_one_with_the_greatest_id(saver):
    for id in ("2", "9", "5"):
        put(saver, id, {"a": id})
    assert saver.get_tuple(at()).checkpoint["id"] == "9"


def test_a_checkpoint_is_found_by_its_id(saver):
    for id in ("1", "2", "3"):
        put(saver, id, {"a": id})
    assert values_of(saver, "2") == {"a": "2"}
    assert saver.get_tuple(at("4")) is None
    assert saver.get_tuple(at("2", ns="other")) is None
    assert saver.get_tuple(at("2", thread="other")) is None


def test_threads_and_namespaces_are_apart(saver):
    put(saver, "1", {"a": "root"})
    put(saver, "2", {"a": "nested"}, ns="node:1")
    put(saver, "3", {"a": "other"}, thread="other")
    assert values_of(saver) == {"a": "root"}
    assert values_of(saver, ns="node:1") == {"a": "nested"}
    assert values_of(saver, thread="other") == {"a": "other"}


def test_a_thread_id_that_is_a_number_is_taken_as_text(saver):
    config = saver.put({"configurable": {"thread_id": 7}}, made("1", {"a": 1}), {}, {"a": 1})
    assert config == at("1", thread="7")
    assert saver.get_tuple({"configurable": {"thread_id": 7}}).config == config
    assert ids(saver.list({"configurable": {"thread_id": 7}})) == ["1"]
    saver.delete_thread(7)
    assert saver.get_tuple(config) is None


def test_a_config_without_a_thread_is_refused(saver):
    for config in ({}, {"configurable": {}}, {"configurable": {"checkpoint_ns": ""}}):
        with pytest.raises(MissingThreadId, match="thread_id"):
            saver.get_tuple(config)
        with pytest.raises(MissingThreadId, match="thread_id"):
            saver.put(config, made("1"), {}, {})


def test_the_parent_is_the_checkpoint_that_the_config_named(saver):
    put(saver, "1", {"a": 1})
    put(saver, "2", {"a": 2}, parent="1")
    assert saver.get_tuple(at()).parent_config == at("1")


def test_a_parent_that_the_saver_never_saw_is_still_named(saver):
    put(saver, "2", {"a": 2}, parent="1", new={})
    found = saver.get_tuple(at())
    assert found.parent_config == at("1")
    assert found.checkpoint["channel_values"] == {"a": 2}


# Values, and what changes in them from one checkpoint to the next


def test_a_channel_of_the_same_version_is_the_parents(saver):
    put(saver, "1", {"a": "first"})
    put(saver, "2", {"a": "ignored", "b": 2}, parent="1", new={"b": 1})
    assert values_of(saver) == {"a": "first", "b": 2}


def test_a_channel_that_the_parent_has_in_another_version_is_stored_though_nobody_called_it_new(saver):
    put(saver, "1", {"a": "first", "b": 1})
    put(saver, "2", {"a": "second", "b": 1}, parent="1", versions={"a": 2, "b": 1}, new={})
    assert values_of(saver) == {"a": "second", "b": 1}


def test_a_channel_that_the_parent_does_not_have_is_stored_though_nobody_called_it_new(saver):
    put(saver, "1", {"a": 1})
    put(saver, "2", {"a": 1, "b": 2, "unversioned": 3}, parent="1", versions={"a": 1, "b": 1}, new={})
    put(saver, "3", {"a": 1, "b": 2, "unversioned": 3}, parent="2", versions={"a": 1, "b": 1}, new={})
    assert values_of(saver, "2") == values_of(saver, "3") == {"a": 1, "b": 2, "unversioned": 3}
    assert saver.get(at("3"))["channel_versions"] == {"a": 1, "b": 1}


def test_a_channel_that_is_gone_is_gone_and_may_come_back(saver):
    put(saver, "1", {"a": 1, "b": 1})
    put(saver, "2", {"b": 1}, parent="1", versions={"a": 2, "b": 1}, new={"a": 2})
    put(saver, "3", {"a": None, "b": 1}, parent="2", versions={"a": 3, "b": 1}, new={"a": 3})
    put(saver, "4", {"a": None}, parent="3", versions={"a": 3}, new={})
    found = {one.checkpoint["id"]: one.checkpoint for one in saver.list(at())}
    assert [found[id]["channel_values"] for id in "1234"] == [
        {"a": 1, "b": 1},
        {"b": 1},
        {"a": None, "b": 1},
        {"a": None},
    ]
    assert [found[id]["channel_versions"] for id in "1234"] == [
        {"a": 1, "b": 1},
        {"a": 2, "b": 1},
        {"a": 3, "b": 1},
        {"a": 3},
    ]


@pytest.mark.parametrize("versions", [(1, 2), (0.5, 1.5), ("0001.a", "0002.b")], ids=repr)
def test_versions_may_be_whole_numbers_fractions_or_texts(saver, versions):
    first, second = versions
    put(saver, "1", {"a": 1}, versions={"a": first})
    put(saver, "2", {"a": 2}, parent="1", versions={"a": second})
    assert saver.get(at("1"))["channel_versions"] == {"a": first}
    assert saver.get(at("2"))["channel_versions"] == {"a": second}


def test_each_checkpoint_of_a_long_history_holds_what_it_held(saver):
    expected, parent, values, versions = {}, None, {}, {}
    for step in range(100):
        id, name = f"{step:03}", f"channel {step % 7}"
        values, versions = {**values, name: step}, {**versions, name: step}
        if step % 5 == 4:
            values.pop(f"channel {step % 3}", None)
        put(saver, id, values, parent=parent, versions=versions, new={name: step})
        expected[id], parent = values, id
    assert values_of(saver) == values
    assert {one.checkpoint["id"]: one.checkpoint["channel_values"] for one in saver.list(at())} == expected
    assert all(values_of(saver, id) == held for id, held in expected.items())


def test_branches_of_a_history_do_not_touch_each_other(saver):
    put(saver, "1", {"a": 1, "b": 1})
    put(saver, "2", {"a": 2, "b": 1}, parent="1", versions={"a": 2, "b": 1}, new={"a": 2})
    put(saver, "3", {"a": 1, "b": 3}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    put(saver, "4", {"a": 2, "b": 1}, parent="2", versions={"a": 2, "b": 1}, new={})
    assert [values_of(saver, id) for id in "234"] == [{"a": 2, "b": 1}, {"a": 1, "b": 3}, {"a": 2, "b": 1}]
    assert [saver.get_tuple(at(id)).parent_config for id in "234"] == [at("1"), at("1"), at("2")]


def test_a_checkpoint_that_is_stored_again_takes_the_place_of_the_old_one(saver):
    put(saver, "1", {"a": 1, "b": 1})
    put(saver, "2", {"a": 1, "b": 2}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    saver.put_writes(at("1"), [("a", "w")], "task")
    put(saver, "1", {"a": "again"}, versions={"a": 9}, metadata={"step": 5})
    first = saver.get_tuple(at("1"))
    assert first.checkpoint["channel_values"] == {"a": "again"}
    assert first.metadata == {"step": 5}
    assert first.pending_writes == [("task", "a", "w")]
    assert values_of(saver, "2") == {"a": 1, "b": 2}
    assert ids(saver.list(at())) == ["2", "1"]


def test_a_checkpoint_may_be_stored_again_as_its_own_parent(saver):
    put(saver, "1", {"a": 1})
    put(saver, "1", {"a": 1, "b": 2}, parent="1", new={"b": 1})
    put(saver, "2", {"a": 1, "b": 3}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    assert values_of(saver, "1") == {"a": 1, "b": 2}
    assert values_of(saver, "2") == {"a": 1, "b": 3}


def test_what_was_stored_does_not_change_with_the_objects_it_came_from(saver):
    checkpoint, metadata = made("1", {"a": [1]}, updated_channels=["a"]), {"parents": {"x": "1"}}
    writes = [("a", ["w"])]
    saver.put(at(), checkpoint, metadata, {"a": 1})
    saver.put_writes(at("1"), writes, "task")
    before = saver.get_tuple(at())
    checkpoint["channel_values"]["a"].append(2)
    checkpoint["channel_versions"]["a"] = 2
    checkpoint["updated_channels"].append("b")
    metadata["parents"]["x"] = "2"
    writes[0][1].append("v")
    assert saver.get_tuple(at()) == before


def test_what_was_read_may_be_changed_without_changing_what_is_stored(saver):
    put(saver, "1", {"a": [1]}, metadata={"parents": {"x": "1"}}, updated_channels=["a"])
    saver.put_writes(at("1"), [("a", ["w"])], "task")
    first, again = saver.get_tuple(at()), saver.get_tuple(at())
    first.checkpoint["channel_values"]["a"].append(2)
    first.checkpoint["channel_versions"]["b"] = 1
    first.checkpoint["updated_channels"].append("b")
    first.metadata["parents"].clear()
    first.pending_writes[0][2].append("v")
    assert saver.get_tuple(at()) == again
    put(saver, "2", {"a": [1]}, parent="1", new={})
    assert values_of(saver, "2") == {"a": [1]}


class Odd:
    """Something that no serializer knows."""


def test_a_value_that_cannot_be_stored_is_refused_by_its_channel_and_nothing_is_stored(saver):
    with pytest.raises(NotStorable, match=r"values\.bad\[1\]"):
        put(saver, "1", {"good": 1, "bad": [1, Odd()]})
    assert saver.get_tuple(at()) is None
    put(saver, "1", {"good": 1})
    with pytest.raises(NotStorable, match=r"values\.bad"):
        put(saver, "2", {"good": 1, "bad": Odd()}, parent="1", new={})
    with pytest.raises(NotStorable, match=r"values\.bad"):
        saver.put_writes(at("1"), [("good", 1), ("bad", Odd())], "task")
    assert ids(saver.list(at())) == ["1"]
    assert saver.get_tuple(at()).pending_writes == []


@pytest.mark.parametrize(
    ("metadata", "named"),
    [
        ({"a": {"b": (1, 2)}}, r"metadata\['a'\]\['b'\].*tuple"),
        ({"a": [1, Odd()]}, r"metadata\['a'\]\[1\].*Odd"),
        ({"a": {1: 2}}, r"metadata\['a'\].*key 1"),
    ],
    ids=["tuple", "object", "key"],
)
def test_metadata_that_would_not_come_back_equal_is_refused(saver, metadata, named):
    with pytest.raises(NotStorable, match=named):
        put(saver, "1", metadata=metadata)
    assert saver.get_tuple(at()) is None


# Writes


def test_writes_come_back_by_path_task_and_position(saver):
    put(saver, "1")
    saver.put_writes(at("1"), [("x", 1), ("y", 2)], "task b", "path 1")
    saver.put_writes(at("1"), [("z", 3)], "task a", "path 2")
    saver.put_writes(at("1"), [("w", 4)], "task a", "path 1")
    saver.put_writes(at("1"), [("v", 5)], "task c")
    assert saver.get_tuple(at()).pending_writes == [
        ("task c", "v", 5),
        ("task a", "z", 3),
        ("task b", "x", 1),
        ("task b", "y", 2),
    ] or saver.get_tuple(at()).pending_writes == [
        ("task c", "v", 5),
        ("task a", "z", 3),
        ("task b", "x", 1),
        ("task b", "y", 2),
    ]
