"""Reading what was stored."""

from typing import Any

from signoff.errors import MissingThreadId
from signoff.testing.conformance._saver_words import at, ids, made, put, values_of
from signoff.testing.conformance.checks import raises


def a_thread_that_has_not_begun_has_nothing(saver: Any) -> None:
    assert saver.get_tuple(at()) is None
    assert saver.get_tuple(at("1")) is None
    assert saver.get(at()) is None
    assert list(saver.list(at())) == []
    assert list(saver.list(None)) == []


def a_checkpoint_comes_back_as_it_was(saver: Any) -> None:
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


def every_key_of_a_checkpoint_comes_back_known_or_not(saver: Any) -> None:
    put(saver, "1", {"a": 1}, writers=["node"], stopped=["b"], later={"what": ("ever", 1)})
    found = saver.get(at())
    assert (found["writers"], found["stopped"], found["later"]) == (["node"], ["b"], {"what": ("ever", 1)})


def the_newest_checkpoint_is_the_one_with_the_greatest_id(saver: Any) -> None:
    for id, newest in (("2", "2"), ("9", "9"), ("5", "9"), ("91", "91"), ("88", "91")):
        put(saver, id, {"a": id})
        assert saver.get_tuple(at()).checkpoint["id"] == newest


def a_checkpoint_is_found_by_its_id(saver: Any) -> None:
    for id in ("1", "2", "3"):
        put(saver, id, {"a": id})
    assert values_of(saver, "2") == {"a": "2"}
    assert saver.get_tuple(at("4")) is None
    assert saver.get_tuple(at("2", ns="other")) is None
    assert saver.get_tuple(at("2", thread="other")) is None


def a_parent_comes_back_whatever_its_id_has_in_common_with_that_of_the_child(saver: Any) -> None:
    child = "1f1e0ca5-0000-6000-8000-00000000000a"
    for place in (0, 3, 7, 10, 12, 17, 21, 24, 35):  # where the two differ
        parent = f"{child[:place]}7{child[place + 1 :]}"
        put(saver, parent, thread=f"t{place}")
        put(saver, child, parent=parent, thread=f"t{place}")
        assert saver.get_tuple(at(child, thread=f"t{place}")).parent_config == at(parent, thread=f"t{place}")


def threads_and_namespaces_are_apart(saver: Any) -> None:
    put(saver, "1", {"a": "root"})
    put(saver, "2", {"a": "nested"}, ns="node:1")
    put(saver, "3", {"a": "other"}, thread="other")
    assert values_of(saver) == {"a": "root"}
    assert values_of(saver, ns="node:1") == {"a": "nested"}
    assert values_of(saver, thread="other") == {"a": "other"}


def threads_that_are_listed_together_are_apart(saver: Any) -> None:
    for thread in ("a", "b"):
        put(saver, "1", {"of": thread}, thread=thread)
        saver.put_writes(at("1", thread=thread), [("of", thread)], "task")
    for one in saver.list(None):
        name = one.config["configurable"]["thread_id"]
        assert (one.checkpoint["channel_values"], one.pending_writes) == ({"of": name}, [("task", "of", name)])


def a_thread_id_that_is_a_number_is_taken_as_text(saver: Any) -> None:
    config = saver.put({"configurable": {"thread_id": 7}}, made("1", {"a": 1}), {}, {"a": 1})
    assert config == at("1", thread="7")
    assert saver.get_tuple({"configurable": {"thread_id": 7}}).config == config
    assert ids(saver.list({"configurable": {"thread_id": 7}})) == ["1"]
    saver.delete_thread(7)
    assert saver.get_tuple(config) is None


def a_config_without_a_thread_is_refused(saver: Any) -> None:
    configs: list[Any] = [{}, {"configurable": {}}, {"configurable": {"checkpoint_ns": ""}}]
    for config in configs:
        with raises(MissingThreadId, match="thread_id"):
            saver.get_tuple(config)
        with raises(MissingThreadId, match="thread_id"):
            saver.put(config, made("1"), {}, {})


def the_parent_is_the_checkpoint_that_the_config_named(saver: Any) -> None:
    put(saver, "1", {"a": 1})
    put(saver, "2", {"a": 2}, parent="1")
    assert saver.get_tuple(at()).parent_config == at("1")


def a_parent_that_the_saver_never_saw_is_still_named(saver: Any) -> None:
    put(saver, "2", {"a": 2}, parent="1", new={})
    found = saver.get_tuple(at())
    assert found.parent_config == at("1")
    assert found.checkpoint["channel_values"] == {"a": 2}
