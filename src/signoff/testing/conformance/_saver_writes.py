"""Writes of tasks, and commits."""

from typing import Any

from signoff.checkpoint.base import Commit, TaskWrites
from signoff.constants import ERROR, INTERRUPT, RESUME
from signoff.errors import InvalidInput, NotStorable
from signoff.testing.conformance._saver_words import Odd, T, after, at, ids, made, put, values_of
from signoff.testing.conformance.checks import cases, raises


def writes_come_back_by_path_task_and_position(saver: Any) -> None:
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


def what_a_task_writes_twice_is_kept_once(saver: Any) -> None:
    put(saver, "1")
    saver.put_writes(at("1"), [("x", 1), ("y", 2)], "task", "path")
    saver.put_writes(at("1"), [("x", "no"), ("y", "no"), ("z", 3)], "task", "other path")
    assert sorted(saver.get_tuple(at()).pending_writes) == [("task", "x", 1), ("task", "y", 2), ("task", "z", 3)]


@cases("channel", [ERROR, INTERRUPT, RESUME])
def errors_questions_and_answers_of_a_task_replace_each_other(saver: Any, channel: Any) -> None:
    put(saver, "1")
    saver.put_writes(at("1"), [("x", 1), (channel, "old")], "task")
    saver.put_writes(at("1"), [(channel, "new")], "task")
    saver.put_writes(at("1"), [(channel, "another's")], "task 2")
    assert saver.get_tuple(at()).pending_writes == [
        ("task", channel, "new"),
        ("task", "x", 1),
        ("task 2", channel, "another's"),
    ]


@cases("value", [None, False, 0, "", {}, b"", [None]])
def a_write_of_nothing_much_is_a_write(saver: Any, value: Any) -> None:
    put(saver, "1")
    saver.put_writes(at("1"), [("x", value)], "task")
    assert saver.get_tuple(at()).pending_writes == [("task", "x", value)]


def writes_stay_with_their_checkpoint(saver: Any) -> None:
    put(saver, "1")
    put(saver, "2", parent="1")
    put(saver, "1", ns="nested")
    saver.put_writes(at("1"), [("x", 1)], "task")
    assert saver.get_tuple(at("1")).pending_writes == [("task", "x", 1)]
    assert saver.get_tuple(at("2")).pending_writes == []
    assert saver.get_tuple(at("1", ns="nested")).pending_writes == []
    assert [one.pending_writes for one in saver.list(at())] == [[], [("task", "x", 1)]]


def writes_that_come_before_their_checkpoint_wait_for_it(saver: Any) -> None:
    saver.put_writes(at("1"), [("x", 1)], "task")
    assert saver.get_tuple(at()) is None
    put(saver, "1")
    assert saver.get_tuple(at()).pending_writes == [("task", "x", 1)]


def writes_without_a_checkpoint_to_belong_to_are_refused(saver: Any) -> None:
    with raises(InvalidInput, match="checkpoint_id"):
        saver.put_writes(at(), [("x", 1)], "task")


def a_commit_stores_writes_and_the_checkpoint_they_led_to(saver: Any) -> None:
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


_UUID = "1f1e0ca5-0000-6000-8000-00000000000"


def what_led_on_is_that_of_the_same_namespace_whatever_a_nested_graph_stores_in_between(saver: Any) -> None:
    put(saver, "1")
    for id, parent in (("1", None), ("2", "1"), ("5", "2")):
        put(saver, id, parent=parent, ns="nested")
    for ns, id in (("", "3"), ("nested", "4")):  # of which the nested one is a branch
        writes = [TaskWrites("task", [("a", f"{ns} {id}")])]
        saver.commit([Commit(after("1", ns=ns), writes, made(id, {"a": id}), {}, {"a"})])
    assert saver.get_tuple(at("1")).pending_writes == [("task", "a", " 3")]
    assert saver.get_tuple(at("1", ns="nested")).pending_writes == [("task", "a", "nested 4")]


def a_task_that_wrote_nothing_leaves_nothing(saver: Any) -> None:
    put(saver, "1", {"a": 1}, thread="source")
    saver.put_writes(at("1"), [], "task")
    saver.copy_thread("source", T)
    assert ids(saver.list(at())) == ["1"], "the thread had not begun"


@cases("first", ["1", f"{_UUID}1"])
def a_checkpoint_that_is_stored_again_keeps_the_writes_that_led_on(saver: Any, first: Any) -> None:
    second = f"{first[:-1]}2"
    put(saver, first, {"a": 1})
    saver.commit([Commit(after(first), [TaskWrites("task", [("a", 2)])], made(second, {"a": 2}), {}, {"a"})])
    put(saver, first, {"a": "again"}, versions={"a": 9})
    assert saver.get_tuple(at(first)).pending_writes == [("task", "a", 2)]
    assert (saver.get_tuple(at()).parent_config, values_of(saver)) == (at(first), {"a": 2})


def a_checkpoint_that_is_stored_again_on_another_takes_no_writes_there(saver: Any) -> None:
    put(saver, "1")
    put(saver, "2")
    saver.commit([Commit(after("1"), [TaskWrites("task", [("a", 1)])], made("3", {"a": 1}), {}, {"a"})])
    put(saver, "3", {"a": 1}, parent="2")
    assert saver.get_tuple(at("3")).parent_config == at("2")
    assert saver.get_tuple(at("2")).pending_writes == []


def a_commit_stores_all_of_it_or_nothing(saver: Any) -> None:
    put(saver, "1", {"a": 1})
    bad = made("3", {"a": 1, "bad": Odd()}, {"a": 1, "bad": 1})
    with raises(NotStorable, match=r"values\.bad"):
        saver.commit(
            [
                Commit(after("1"), [TaskWrites("task", [("a", 2)])], made("2", {"a": 1}), {}, ()),
                Commit(after("2"), (), bad, {}, (), is_exact=False),
            ]
        )
    assert ids(saver.list(None)) == ["1"]
    assert saver.get_tuple(at()).pending_writes == []


@cases("has_checkpoint", [False, True])
def what_a_task_writes_twice_in_one_commit_is_kept_once(saver: Any, has_checkpoint: Any) -> None:
    put(saver, "1", {"a": 1})
    writes = [
        TaskWrites("task", [("x", 1), (ERROR, "old")]),
        TaskWrites("task", [("y", "no"), ("z", 3), (ERROR, "new")]),
    ]
    saver.commit([Commit(after("1"), writes, made("2", {"a": 1}) if has_checkpoint else None, {}, ())])
    assert saver.get_tuple(at("1")).pending_writes == [("task", ERROR, "new"), ("task", "x", 1), ("task", "z", 3)]


def what_a_task_writes_in_two_commits_that_are_stored_together_is_kept_once(saver: Any) -> None:
    put(saver, "1", {"a": 1})
    written = [[("x", 1), (ERROR, "old")], [("y", "no"), ("z", 3), (ERROR, "new")]]
    saver.commit([Commit(after("1"), [TaskWrites("task", writes)]) for writes in written])
    assert saver.get_tuple(at("1")).pending_writes == [("task", ERROR, "new"), ("task", "x", 1), ("task", "z", 3)]


def writes_of_a_commit_that_has_no_checkpoint_before_it_are_dropped(saver: Any) -> None:
    saver.commit([Commit(after(), [TaskWrites("task", [("a", 1)])], made("1", {"a": 1}), {}, {"a"})])
    assert saver.get_tuple(at()).pending_writes == []


def a_fleeting_channel_may_go_without_being_called_changed(saver: Any) -> None:
    saver.commit([Commit(after(), (), made("1", {"a": 1, "trigger": None}), {}, {"a", "trigger"})])
    saver.commit([Commit(after("1"), (), made("2", {"a": 1}, {"a": 1, "trigger": 1}), {}, ())])
    assert values_of(saver) == {"a": 1}
    assert saver.get(at())["channel_versions"] == {"a": 1, "trigger": 1}
