"""What every saver promises. The tests know nothing of a saver but its public methods."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signoff.checkpoint.base import Commit, TaskWrites, checkpoint_config, empty_checkpoint
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.places import Place
from signoff.constants import ERROR, INTERRUPT, RESUME
from signoff.errors import InvalidInput, MissingThreadId, NotStorable, Undecodable

T = "thread"


def at(id=None, *, thread=T, ns=""):
    """The config of a checkpoint."""
    return checkpoint_config(thread, ns, id)


def after(id=None):
    """The place of what follows a checkpoint, or of the first one."""
    return Place(T, "", id)


def made(id, values=None, versions=None, **more):
    """A checkpoint with some values, each with version 1 if not said."""
    values = values or {}
    return {
        **empty_checkpoint(),
        "id": id,
        "ts": "2030-01-01T00:00:00+00:00",
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


class Upside:
    """A serializer of somebody else's: JSON, turned around."""

    def dumps(self, obj):
        return json.dumps(obj).encode()[::-1]

    def loads(self, data):
        return json.loads(data[::-1])


def test_a_saver_may_have_a_serializer_of_somebody_elses(open_saver):
    saver = open_saver(serde=Upside())
    put(saver, "1", {"a": [1, None], "b": "x"})
    put(saver, "2", {"a": [1, None], "b": "y"}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    saver.put_writes(at("2"), [("a", {"k": 1})], "task")
    found = saver.get_tuple(at())
    assert found.checkpoint["channel_values"] == {"a": [1, None], "b": "y"}
    assert found.pending_writes == [("task", "a", {"k": 1})]


class Forgetful(Upside):
    """One that cannot read what it wrote."""

    def loads(self, data):
        raise KeyError("forgotten")


def test_whatever_a_serializer_says_what_it_cannot_read_is_undecodable(open_saver):
    saver = open_saver(serde=Forgetful())
    put(saver, "1", {"a": [1]})
    with pytest.raises(Undecodable, match="another serializer"):
        saver.get_tuple(at())


# Writes


def test_writes_come_back_by_path_task_and_position(saver):
    put(saver, "1")
    saver.put_writes(at("1"), [("x", 1), ("y", 2)], "task b", "path 1")
    saver.put_writes(at("1"), [("z", 3)], "task a", "path 2")
    saver.put_writes(at("1"), [("w", 4)], "task c", "path 1")
    saver.put_writes(at("1"), [("v", 5)], "task d")
    assert saver.get_tuple(at()).pending_writes == [
        ("task d", "v", 5),
        ("task b", "x", 1),
        ("task b", "y", 2),
        ("task c", "w", 4),
        ("task a", "z", 3),
    ]


def test_what_a_task_writes_twice_is_kept_once(saver):
    put(saver, "1")
    saver.put_writes(at("1"), [("x", 1), ("y", 2)], "task", "path")
    saver.put_writes(at("1"), [("x", "no"), ("y", "no"), ("z", 3)], "task", "other path")
    assert sorted(saver.get_tuple(at()).pending_writes) == [("task", "x", 1), ("task", "y", 2), ("task", "z", 3)]


@pytest.mark.parametrize("channel", [ERROR, INTERRUPT, RESUME])
def test_errors_questions_and_answers_of_a_task_replace_each_other(saver, channel):
    put(saver, "1")
    saver.put_writes(at("1"), [("x", 1), (channel, "old")], "task")
    saver.put_writes(at("1"), [(channel, "new")], "task")
    saver.put_writes(at("1"), [(channel, "another's")], "task 2")
    assert saver.get_tuple(at()).pending_writes == [
        ("task", channel, "new"),
        ("task", "x", 1),
        ("task 2", channel, "another's"),
    ]


@pytest.mark.parametrize("value", [None, False, 0, "", {}, b"", [None]], ids=repr)
def test_a_write_of_nothing_much_is_a_write(saver, value):
    put(saver, "1")
    saver.put_writes(at("1"), [("x", value)], "task")
    assert saver.get_tuple(at()).pending_writes == [("task", "x", value)]


def test_writes_stay_with_their_checkpoint(saver):
    put(saver, "1")
    put(saver, "2", parent="1")
    put(saver, "1", ns="nested")
    saver.put_writes(at("1"), [("x", 1)], "task")
    assert saver.get_tuple(at("1")).pending_writes == [("task", "x", 1)]
    assert saver.get_tuple(at("2")).pending_writes == []
    assert saver.get_tuple(at("1", ns="nested")).pending_writes == []
    assert [one.pending_writes for one in saver.list(at())] == [[], [("task", "x", 1)]]


def test_writes_that_come_before_their_checkpoint_wait_for_it(saver):
    saver.put_writes(at("1"), [("x", 1)], "task")
    assert saver.get_tuple(at()) is None
    put(saver, "1")
    assert saver.get_tuple(at()).pending_writes == [("task", "x", 1)]


def test_writes_without_a_checkpoint_to_belong_to_are_refused(saver):
    with pytest.raises(InvalidInput, match="checkpoint_id"):
        saver.put_writes(at(), [("x", 1)], "task")


# Commits


def test_a_commit_stores_writes_and_the_checkpoint_they_led_to(saver):
    first, second = made("1", {"a": 1, "b": 1}), made("2", {"a": 2, "b": 1}, {"a": 2, "b": 1})
    writes = [TaskWrites("task", [("a", 2)], "path"), TaskWrites("other", [], "path")]
    saver.commit(
        [
            Commit(after(), (), first, {"step": 0}, {"a", "b"}),
            Commit(after("1"), writes, second, {"step": 1}, {"a"}),
        ]
    )
    newest, oldest = saver.list(at())
    assert (oldest.checkpoint, oldest.metadata, oldest.parent_config) == (first, {"step": 0}, None)
    assert (newest.checkpoint, newest.metadata, newest.parent_config) == (second, {"step": 1}, at("1"))
    assert (oldest.pending_writes, newest.pending_writes) == ([("task", "a", 2)], [])


def test_a_commit_stores_all_of_it_or_nothing(saver):
    put(saver, "1", {"a": 1})
    bad = made("3", {"a": 1, "bad": Odd()}, {"a": 1, "bad": 1})
    with pytest.raises(NotStorable, match=r"values\.bad"):
        saver.commit(
            [
                Commit(after("1"), [TaskWrites("task", [("a", 2)])], made("2", {"a": 1}), {}, ()),
                Commit(after("2"), (), bad, {}, (), is_exact=False),
            ]
        )
    assert ids(saver.list(None)) == ["1"]
    assert saver.get_tuple(at()).pending_writes == []


def test_writes_of_a_commit_that_has_no_checkpoint_before_it_are_dropped(saver):
    saver.commit([Commit(after(), [TaskWrites("task", [("a", 1)])], made("1", {"a": 1}), {}, {"a"})])
    assert saver.get_tuple(at()).pending_writes == []


def test_a_fleeting_channel_may_go_without_being_called_changed(saver):
    saver.commit([Commit(after(), (), made("1", {"a": 1, "trigger": None}), {}, {"a", "trigger"})])
    saver.commit([Commit(after("1"), (), made("2", {"a": 1}, {"a": 1, "trigger": 1}), {}, ())])
    assert values_of(saver) == {"a": 1}
    assert saver.get(at())["channel_versions"] == {"a": 1, "trigger": 1}


# Lists


@pytest.fixture
def crowd(saver):
    """Six checkpoints in two threads and three namespaces."""
    put(saver, "1", {"a": 1}, metadata={"source": "input", "step": -1})
    put(saver, "2", {"a": 2}, parent="1", metadata={"source": "loop", "step": 0, "who": "ana"})
    put(saver, "3", ns="node:1", metadata={"source": "input", "step": -1, "parents": {"": "2"}})
    put(saver, "4", thread="u", metadata={"source": "input", "step": -1, "who": None})
    put(saver, "5", ns="node:1", parent="3", metadata={"source": "loop", "step": 0})
    put(saver, "6", {"a": 3}, parent="2", metadata={"source": "update", "step": 1, "who": "bo"})
    return saver


def test_a_list_has_the_newest_first_whatever_thread_and_namespace(crowd):
    assert ids(crowd.list(None)) == ["6", "5", "4", "3", "2", "1"]
    assert ids(crowd.list({"configurable": {"thread_id": T}})) == ["6", "5", "3", "2", "1"]
    assert ids(crowd.list(at())) == ["6", "2", "1"]
    assert ids(crowd.list(at(ns="node:1"))) == ["5", "3"]
    assert ids(crowd.list(at(thread="nobody"))) == []


def test_a_list_has_whole_checkpoints(crowd):
    crowd.put_writes(at("2"), [("a", 3)], "task")
    listed = list(crowd.list(at()))
    assert listed == [crowd.get_tuple(at(id)) for id in ("6", "2", "1")]
    assert [one.config for one in listed] == [at("6"), at("2"), at("1")]
    assert [one.parent_config for one in listed] == [at("2"), at("1"), None]
    assert [one.pending_writes for one in listed] == [[], [("task", "a", 3)], []]


def test_a_list_may_be_of_one_checkpoint(crowd):
    assert ids(crowd.list(at("2"))) == ["2"]
    assert ids(crowd.list(at("2"), filter={"step": 5})) == []


def test_a_list_may_end_before_a_checkpoint(crowd):
    assert ids(crowd.list(at(), before=at("6"))) == ["2", "1"]
    assert ids(crowd.list(None, before=at("4"))) == ["3", "2", "1"]
    assert ids(crowd.list(at(), before=at("1"))) == []
    assert ids(crowd.list(at(), before=at())) == ["6", "2", "1"]


def test_a_list_may_be_limited(crowd):
    assert ids(crowd.list(None, limit=2)) == ["6", "5"]
    assert ids(crowd.list(at(), limit=0)) == []
    assert ids(crowd.list(at(), limit=99)) == ["6", "2", "1"]
    assert ids(crowd.list(None, filter={"source": "input"}, limit=2)) == ["4", "3"]
    with pytest.raises(InvalidInput, match="limit"):
        list(crowd.list(at(), limit=-1))


@pytest.mark.parametrize(
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
    ids=repr,
)
def test_a_list_may_be_filtered_by_metadata(crowd, filter, expected):
    assert ids(crowd.list(None, filter=filter)) == list(expected)


def test_what_is_stored_while_a_list_is_read_does_not_disturb_it(saver):
    for step in range(100):
        put(saver, f"{step:03}", {"a": step})
    seen = []
    for found in saver.list(at()):
        seen.append(found.checkpoint["id"])
        put(saver, f"later {found.checkpoint['id']}", {"a": 0})
    assert seen == [f"{step:03}" for step in reversed(range(100))]


def test_what_is_deleted_while_a_list_is_read_does_not_disturb_it(saver):
    for step in range(100):
        put(saver, f"{step:03}", {"a": step})
    found = saver.list(at())
    first = next(found)
    saver.prune([T])
    assert all(one.checkpoint["channel_values"] == {"a": int(one.checkpoint["id"])} for one in [first, *found])
    assert ids(saver.list(at())) == ["099"]


# Forgetting


def test_a_deleted_thread_is_gone_with_its_namespaces_and_writes(crowd):
    crowd.put_writes(at("2"), [("a", 3)], "task")
    crowd.delete_thread(T)
    crowd.delete_thread("nobody")
    assert ids(crowd.list(None)) == ["4"]
    assert crowd.get_tuple(at("2")) is None
    put(crowd, "2")
    assert crowd.get_tuple(at("2")).pending_writes == []


def test_a_run_goes_on_though_its_thread_was_deleted(saver):
    put(saver, "1", {"a": 1, "b": 1})
    saver.delete_thread(T)
    put(saver, "2", {"a": 1, "b": 2}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    assert values_of(saver) == {"a": 1, "b": 2}


@pytest.fixture
def runs(saver):
    """A thread in which three runs took turns."""
    for id, run in zip("12345", ("r1", "r1", "r2", "r2", "r3"), strict=True):
        parent = str(int(id) - 1) if id != "1" else None
        put(
            saver,
            id,
            {"a": id, "b": "1"},
            parent=parent,
            versions={"a": int(id), "b": 1},
            new={"a": int(id), "b": 1} if id == "1" else {"a": int(id)},
            metadata={"run_id": run},
        )
        saver.put_writes(at(id), [("a", "w")], f"task {id}")
    put(saver, "9", thread="u", metadata={"run_id": "r2"})
    return saver


def test_what_a_run_made_can_be_deleted_and_what_others_made_keeps_its_values(runs):
    runs.delete_for_runs(["r2", "no such run"])
    found = {one.checkpoint["id"]: one for one in runs.list(None)}
    assert sorted(found) == ["1", "2", "5"]
    assert [found[id].checkpoint["channel_values"] for id in "125"] == [{"a": id, "b": "1"} for id in "125"]
    assert [found[id].parent_config for id in "125"] == [None, at("1"), None]
    assert [found[id].pending_writes for id in "125"] == [[(f"task {id}", "a", "w")] for id in "125"]
    runs.delete_for_runs([])
    assert len(list(runs.list(None))) == 3
    runs.delete_for_runs(["r1", "r3"])
    assert list(runs.list(None)) == []


def test_a_thread_goes_on_after_its_newest_run_was_deleted(runs):
    runs.delete_for_runs(["r3"])
    assert runs.get_tuple(at()).checkpoint["id"] == "4"
    put(runs, "6", {"a": "6", "b": "1"}, parent="4", versions={"a": 6, "b": 1}, new={"a": 6})
    assert values_of(runs) == {"a": "6", "b": "1"}


def test_a_copied_thread_has_the_whole_history_and_a_life_of_its_own(crowd):
    crowd.put_writes(at("2"), [("a", 3)], "task")
    crowd.copy_thread(T, "copy")
    copies = {one.checkpoint["id"]: one for one in crowd.list({"configurable": {"thread_id": "copy"}})}
    for id, ns in (("1", ""), ("2", ""), ("3", "node:1"), ("5", "node:1"), ("6", "")):
        original = crowd.get_tuple(at(id, ns=ns))
        assert copies[id].config == at(id, thread="copy", ns=ns)
        assert copies[id].checkpoint == original.checkpoint
        assert copies[id].metadata == original.metadata
        assert copies[id].pending_writes == original.pending_writes
        assert (copies[id].parent_config is None) == (original.parent_config is None)
    crowd.delete_thread(T)
    put(crowd, "7", {"a": 7}, parent="6", thread="copy", versions={"a": 2})
    assert ids(crowd.list(at(thread="copy"))) == ["7", "6", "2", "1"]
    assert values_of(crowd, "2", thread="copy") == {"a": 2}


def test_a_thread_is_not_copied_onto_another(crowd):
    for target in ("u", T):
        with pytest.raises(InvalidInput, match=f"'{target}' is not empty"):
            crowd.copy_thread(T, target)
    assert len(list(crowd.list(None))) == 6
    crowd.delete_thread("u")
    crowd.copy_thread(T, "u")
    assert ids(crowd.list(at(thread="u"))) == ["6", "2", "1"]


def test_copying_a_thread_that_is_not_there_is_nothing(saver):
    saver.copy_thread("nobody", "copy")
    assert list(saver.list(None)) == []


def test_pruning_leaves_the_newest_checkpoint_of_each_namespace_whole(crowd):
    for id in ("2", "6"):
        crowd.put_writes(at(id), [("a", id)], "task")
    crowd.prune([T, "nobody"])
    assert ids(crowd.list(None)) == ["6", "5", "4"]
    newest = crowd.get_tuple(at())
    assert newest.checkpoint["channel_values"] == {"a": 3}
    assert newest.metadata == {"source": "update", "step": 1, "who": "bo"}
    assert newest.pending_writes == [("task", "a", "6")]
    assert newest.parent_config is None
    put(crowd, "2")
    assert crowd.get_tuple(at("2")).pending_writes == []


def test_a_pruned_thread_goes_on(saver):
    for step in range(40):
        id, parent = f"{step:02}", f"{step - 1:02}" if step else None
        new = {"a": step} if step else {"a": 0, "b": 1}
        put(saver, id, {"a": step, "b": "same"}, parent=parent, versions={"a": step, "b": 1}, new=new)
    saver.prune([T], strategy="keep_latest")
    put(saver, "40", {"a": 40, "b": "same"}, parent="39", versions={"a": 40, "b": 1}, new={"a": 40})
    assert [one.checkpoint["channel_values"] for one in saver.list(at())] == [
        {"a": 40, "b": "same"},
        {"a": 39, "b": "same"},
    ]
    assert saver.get_tuple(at()).parent_config == at("39")


def test_pruning_may_leave_nothing(crowd):
    crowd.prune([T], strategy="delete")
    assert ids(crowd.list(None)) == ["4"]
    crowd.prune([])
    assert ids(crowd.list(None)) == ["4"]


def test_an_unknown_way_to_prune_is_refused(crowd):
    with pytest.raises(InvalidInput, match="keep_latest"):
        crowd.prune([T], strategy="keep_some")
    assert len(list(crowd.list(None))) == 6


# Many at once


def test_nothing_stored_by_many_threads_is_lost(saver):
    threads, steps = 6, 20
    start = threading.Barrier(threads)

    def work(number):
        start.wait()
        for step in range(steps):
            parent = f"{step - 1:02}" if step else None
            put(saver, f"{step:02}", {"a": step, "n": number}, parent=parent, thread=str(number))
            saver.put_writes(at(f"{step:02}", thread=str(number)), [("a", step)], "task")
            assert values_of(saver, thread=str(number)) == {"a": step, "n": number}

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(threads)))
    listed = list(saver.list(None))
    assert len(listed) == threads * steps
    assert all(one.pending_writes == [("task", "a", int(one.checkpoint["id"]))] for one in listed)


# Whatever happens, in whatever order

names = st.sampled_from("ab")
steps = st.one_of(
    st.tuples(
        st.just("put"),
        names,  # thread
        st.sampled_from(["", "n"]),  # namespace
        st.integers(-1, 12),  # parent
        st.dictionaries(st.sampled_from("xyz"), st.one_of(st.none(), st.integers(0, 3)), max_size=3),
        st.sampled_from(["r1", "r2", None]),  # run
    ),
    st.tuples(st.just("put_writes"), names, st.integers(0, 12), st.sampled_from([ERROR, "x", "y"])),
    st.tuples(st.just("again"), names, st.integers(0, 12), st.integers(0, 3)),
    st.tuples(st.just("prune"), names, st.sampled_from(["keep_latest", "delete"])),
    st.tuples(st.just("delete_for_runs"), st.sampled_from(["r1", "r2"])),
    st.tuples(st.just("copy_thread"), names, names),
    st.tuples(st.just("get_tuple"), names),
)


class Story:
    """Things that happen to several savers alike."""

    def __init__(self, savers):
        self.savers = savers
        self.states = {}
        self.next_id = 0

    def tell(self, step):
        kind, *rest = step
        outcomes = list(map(getattr(self, kind)(*rest), self.savers))
        assert all(outcome == outcomes[0] for outcome in outcomes), (step, outcomes)
        listings = [list(saver.list(None)) for saver in self.savers]
        assert all(listing == listings[0] for listing in listings), step

    def put(self, thread, ns, parent, changes, run):
        """A checkpoint after one that was there at some time, or after none; a None in changes removes."""
        parent = f"{parent:02}" if parent >= 0 else None
        values, versions = self.states.get((thread, ns, parent), ({}, {}))
        values, versions = {**values, **changes}, {**versions, **dict.fromkeys(changes, self.next_id)}
        values = {name: value for name, value in values.items() if value is not None}
        id, self.next_id = f"{self.next_id:02}", self.next_id + 1
        self.states[thread, ns, id] = values, versions
        new = {name: versions[name] for name in changes}
        checkpoint, metadata = made(id, values, versions), {"run_id": run}
        return lambda saver: saver.put(at(parent, thread=thread, ns=ns), checkpoint, metadata, new)

    def again(self, thread, number, value):
        """A checkpoint that is stored once more, with other values."""
        id = f"{number:02}"
        checkpoint = made(id, {"x": value}, {"x": 100 + number})
        return lambda saver: saver.put(at(thread=thread), checkpoint, {}, {"x": 100 + number})

    def put_writes(self, thread, number, channel):
        return lambda saver: saver.put_writes(at(f"{number:02}", thread=thread), [(channel, self.next_id)], "t")

    def prune(self, thread, strategy):
        return lambda saver: saver.prune([thread], strategy=strategy)

    def delete_for_runs(self, run):
        return lambda saver: saver.delete_for_runs([run])

    def get_tuple(self, thread):
        return lambda saver: saver.get_tuple(at(thread=thread))

    def copy_thread(self, source, target):
        def copy(saver):
            try:
                return saver.copy_thread(source, target)
            except InvalidInput as error:
                return str(error)

        return copy


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=st.lists(steps, max_size=25))
def test_whatever_happens_every_saver_holds_the_same(openers, monkeypatch, told):
    from signoff.checkpoint.log import plans

    monkeypatch.setattr(plans, "MAX_DEPTH", 2)  # so that snapshots and deltas take turns in a short story
    story = Story([InMemorySaver(), openers["sqlite"](":memory:")])
    for step in told:
        story.tell(step)
