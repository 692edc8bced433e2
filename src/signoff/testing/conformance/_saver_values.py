"""Values, and what changes in them from one checkpoint to the next."""

from typing import Any

from signoff.errors import NotStorable, Undecodable
from signoff.testing.conformance._saver_words import Forgetful, Odd, Upside, at, ids, made, put, values_of
from signoff.testing.conformance.checks import cases, raises


def a_channel_of_the_same_version_is_the_parents(saver: Any) -> None:
    put(saver, "1", {"a": "first"})
    put(saver, "2", {"a": "ignored", "b": 2}, parent="1", new={"b": 1})
    assert values_of(saver) == {"a": "first", "b": 2}


def a_channel_that_the_parent_has_in_another_version_is_stored_though_nobody_called_it_new(saver: Any) -> None:
    put(saver, "1", {"a": "first", "b": 1})
    put(saver, "2", {"a": "second", "b": 1}, parent="1", versions={"a": 2, "b": 1}, new={})
    assert values_of(saver) == {"a": "second", "b": 1}


def a_channel_that_the_parent_does_not_have_is_stored_though_nobody_called_it_new(saver: Any) -> None:
    put(saver, "1", {"a": 1})
    put(saver, "2", {"a": 1, "b": 2, "unversioned": 3}, parent="1", versions={"a": 1, "b": 1}, new={})
    put(saver, "3", {"a": 1, "b": 2, "unversioned": 3}, parent="2", versions={"a": 1, "b": 1}, new={})
    assert values_of(saver, "2") == values_of(saver, "3") == {"a": 1, "b": 2, "unversioned": 3}
    assert saver.get(at("3"))["channel_versions"] == {"a": 1, "b": 1}


@cases("value", [list(range(100)), "x" * 10_000])
def whatever_nobody_called_new_is_stored_beside_what_is(saver: Any, value: Any) -> None:
    put(saver, "1", {"a": 1})
    put(saver, "2", {"a": 2, "b": value}, parent="1", versions={"a": 2, "b": 1}, new={"a": 2})
    put(saver, "3", {"a": 3, "b": value}, parent="2", versions={"a": 3, "b": 1}, new={"a": 3})
    assert [values_of(saver, id) for id in "23"] == [{"a": 2, "b": value}, {"a": 3, "b": value}]


def a_channel_that_is_gone_is_gone_and_may_come_back(saver: Any) -> None:
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


@cases("versions", [(1, 2), (0.5, 1.5), ("0001.a", "0002.b")])
def versions_may_be_whole_numbers_fractions_or_texts(saver: Any, versions: Any) -> None:
    first, second = versions
    put(saver, "1", {"a": 1}, versions={"a": first})
    put(saver, "2", {"a": 2}, parent="1", versions={"a": second})
    assert saver.get(at("1"))["channel_versions"] == {"a": first}
    assert saver.get(at("2"))["channel_versions"] == {"a": second}


def each_checkpoint_of_a_long_history_holds_what_it_held(saver: Any) -> None:
    expected: dict[str, Any] = {}
    values: dict[str, Any] = {}
    versions: dict[str, Any] = {}
    parent = None
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


def branches_of_a_history_do_not_touch_each_other(saver: Any) -> None:
    put(saver, "1", {"a": 1, "b": 1})
    put(saver, "2", {"a": 2, "b": 1}, parent="1", versions={"a": 2, "b": 1}, new={"a": 2})
    put(saver, "3", {"a": 1, "b": 3}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    put(saver, "4", {"a": 2, "b": 1}, parent="2", versions={"a": 2, "b": 1}, new={})
    assert [values_of(saver, id) for id in "234"] == [{"a": 2, "b": 1}, {"a": 1, "b": 3}, {"a": 2, "b": 1}]
    assert [saver.get_tuple(at(id)).parent_config for id in "234"] == [at("1"), at("1"), at("2")]


def a_checkpoint_that_is_stored_again_takes_the_place_of_the_old_one(saver: Any) -> None:
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


def a_checkpoint_may_be_stored_again_as_its_own_parent(saver: Any) -> None:
    put(saver, "1", {"a": 1})
    put(saver, "1", {"a": 1, "b": 2}, parent="1", new={"b": 1})
    put(saver, "2", {"a": 1, "b": 3}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    assert values_of(saver, "1") == {"a": 1, "b": 2}
    assert values_of(saver, "2") == {"a": 1, "b": 3}


def what_was_stored_does_not_change_with_the_objects_it_came_from(saver: Any) -> None:
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


def what_was_read_may_be_changed_without_changing_what_is_stored(saver: Any) -> None:
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


def a_value_that_cannot_be_stored_is_refused_by_its_channel_and_nothing_is_stored(saver: Any) -> None:
    with raises(NotStorable, match=r"values\.bad\[1\]"):
        put(saver, "1", {"good": 1, "bad": [1, Odd()]})
    assert saver.get_tuple(at()) is None
    put(saver, "1", {"good": 1})
    with raises(NotStorable, match=r"values\.bad"):
        put(saver, "2", {"good": 1, "bad": Odd()}, parent="1", new={})
    with raises(NotStorable, match=r"values\.bad"):
        saver.put_writes(at("1"), [("good", 1), ("bad", Odd())], "task")
    assert ids(saver.list(at())) == ["1"]
    assert saver.get_tuple(at()).pending_writes == []


@cases(
    ("metadata", "named"),
    [
        ({"a": {"b": (1, 2)}}, r"metadata\['a'\]\['b'\].*tuple"),
        ({"a": [1, Odd()]}, r"metadata\['a'\]\[1\].*Odd"),
        ({"a": {1: 2}}, r"metadata\['a'\].*key 1"),
        ({"a": ["\ud83d\ude00"]}, r"metadata with \['a'\].*two halves"),
        ({"a": 10**5000}, r"metadata with \['a'\]"),
    ],
)
def metadata_that_would_not_come_back_equal_is_refused(saver: Any, metadata: Any, named: Any) -> None:
    with raises(NotStorable, match=named):
        put(saver, "1", metadata=metadata)
    assert saver.get_tuple(at()) is None


@cases("version", [None, (1,), 2**70, 10**5000, b"1"])
def a_version_that_cannot_be_stored_is_refused(saver: Any, version: Any) -> None:
    with raises(NotStorable, match=r"'a' has the version"):
        put(saver, "1", {"a": 1}, versions={"a": version})
    assert saver.get_tuple(at()) is None


def a_saver_may_have_a_serializer_of_somebody_elses(open_saver: Any) -> None:
    saver = open_saver(serde=Upside())
    put(saver, "1", {"a": [1, None], "b": "x"})
    put(saver, "2", {"a": [1, None], "b": "y"}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    saver.put_writes(at("2"), [("a", {"k": 1})], "task")
    found = saver.get_tuple(at())
    assert found.checkpoint["channel_values"] == {"a": [1, None], "b": "y"}
    assert found.pending_writes == [("task", "a", {"k": 1})]


def whatever_a_serializer_says_what_it_cannot_read_is_undecodable(open_saver: Any) -> None:
    saver = open_saver(serde=Forgetful())
    put(saver, "1", {"a": [1]})
    with raises(Undecodable, match="another serializer"):
        saver.get_tuple(at())
