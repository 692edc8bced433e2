"""Deleting, copying and pruning."""

from typing import Any

from signoff.checkpoint.base import Commit, TaskWrites
from signoff.errors import InvalidInput
from signoff.testing.conformance._saver_words import T, after, at, ids, made, put, values_of
from signoff.testing.conformance.checks import cases, raises


def a_deleted_thread_is_gone_with_its_namespaces_and_writes(crowd: Any) -> None:
    crowd.put_writes(at("2"), [("a", 3)], "task")
    crowd.delete_thread(T)
    crowd.delete_thread("nobody")
    assert ids(crowd.list(None)) == ["4"]
    assert crowd.get_tuple(at("2")) is None
    put(crowd, "2")
    assert crowd.get_tuple(at("2")).pending_writes == []


def a_run_goes_on_though_its_thread_was_deleted(saver: Any) -> None:
    put(saver, "1", {"a": 1, "b": 1})
    saver.delete_thread(T)
    put(saver, "2", {"a": 1, "b": 2}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    assert values_of(saver) == {"a": 1, "b": 2}


def what_a_run_made_can_be_deleted_and_what_others_made_keeps_its_values(runs: Any) -> None:
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


@cases("value", ["small", "x" * 10_000])
def what_led_to_a_checkpoint_that_is_deleted_stays_with_the_one_before(saver: Any, value: Any) -> None:
    put(saver, "1", {"a": 1})
    next_one = made("2", {"a": 2}, {"a": 2})
    saver.commit([Commit(after("1"), [TaskWrites("task", [("a", value)])], next_one, {"run_id": "r"}, {"a"})])
    saver.delete_for_runs(["r"])
    assert ids(saver.list(at())) == ["1"]
    assert saver.get_tuple(at("1")).pending_writes == [("task", "a", value)]


def what_led_on_stays_though_the_checkpoint_is_deleted_that_its_branch_begins_at(saver: Any) -> None:
    put(saver, "1")
    put(saver, "2", parent="1", metadata={"run_id": "r", "branched_off": {"at": "1"}})
    branch: Any = {"branched_off": {"at": "2"}}
    put(saver, "3", parent="2", metadata=branch)
    saver.commit([Commit(after("3"), [TaskWrites("task", [("a", 4)])], made("4", {"a": 4}), branch, {"a"})])
    saver.delete_for_runs(["r"])
    assert ids(saver.list(at())) == ["4", "3", "1"]
    assert saver.get_tuple(at("3")).pending_writes == [("task", "a", 4)]


def a_thread_goes_on_after_its_newest_run_was_deleted(runs: Any) -> None:
    runs.delete_for_runs(["r3"])
    assert runs.get_tuple(at()).checkpoint["id"] == "4"
    put(runs, "6", {"a": "6", "b": "1"}, parent="4", versions={"a": 6, "b": 1}, new={"a": 6})
    assert values_of(runs) == {"a": "6", "b": "1"}


def a_copied_thread_has_the_whole_history_and_a_life_of_its_own(crowd: Any) -> None:
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


def a_thread_is_not_copied_onto_another(crowd: Any) -> None:
    crowd.put_writes(at("1", thread="only writes"), [("a", 1)], "task")
    for target in ("u", "only writes", T):
        with raises(InvalidInput, match=f"'{target}' is not empty"):
            crowd.copy_thread(T, target)
    assert len(list(crowd.list(None))) == 6
    crowd.delete_thread("u")
    crowd.copy_thread(T, "u")
    assert ids(crowd.list(at(thread="u"))) == ["6", "2", "1"]


def copying_a_thread_that_is_not_there_is_refused(saver: Any) -> None:
    with raises(InvalidInput, match="There is no thread 'nobody' here"):
        saver.copy_thread("nobody", "copy")
    assert list(saver.list(None)) == []


def pruning_leaves_the_newest_checkpoint_of_each_namespace_whole(crowd: Any) -> None:
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


def a_pruned_thread_goes_on(saver: Any) -> None:
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


def pruning_may_leave_nothing(crowd: Any) -> None:
    crowd.prune([T], strategy="delete")
    assert ids(crowd.list(None)) == ["4"]
    crowd.prune([])
    assert ids(crowd.list(None)) == ["4"]


def an_unknown_way_to_prune_is_refused(crowd: Any) -> None:
    with raises(InvalidInput, match="keep_latest"):
        crowd.prune([T], strategy="keep_some")
    assert len(list(crowd.list(None))) == 6
