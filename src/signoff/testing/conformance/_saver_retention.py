"""Retention by age and by count."""

from datetime import UTC, datetime, timedelta
from typing import Any

from signoff._words.questions import Interrupt
from signoff.checkpoint.base import Commit, Lease, TaskWrites
from signoff.checkpoint.questions import Filing, Question
from signoff.constants import ERROR, INTERRUPT, RESUME
from signoff.errors import InvalidInput
from signoff.testing.conformance._saver_words import T, after, at, ids, made, put, real, store, values_of
from signoff.testing.conformance.checks import cases, raises

NEW, OLD = "2030-06-01T00:00:00.000000+00:00", "2030-01-01T00:00:00.000000+00:00"
CUTOFF = datetime(2030, 3, 1, tzinfo=UTC)


def _crowd(saver: Any) -> None:
    for thread, ts in (("old", OLD), ("new", NEW), ("asks", OLD), ("runs", OLD)):
        put(saver, "1", {"a": [f"{number} {'x' * 100}" for number in range(20)]}, thread=thread, ts=OLD)
        put(saver, "2", {"a": 2}, parent="1", thread=thread, ts=ts, versions={"a": 2})
        put(saver, "3", {"b": 3}, thread=thread, ns="node:1", ts=ts, metadata={"parents": {"": "1"}})
    question = Question("q", "asks", "g", "node", NEW, Interrupt(value="?", id="q"))
    store(saver, Commit(after(thread="asks"), filing=Filing([question])))
    saver.store([], Lease("runs", "ana", saver.look(at(thread="runs"))[1].seen))


def _threads(saver: Any) -> list[str]:
    return sorted({one.config["configurable"]["thread_id"] for one in saver.list(None)})


def old_threads_go_but_not_those_that_wait_or_run(saver: Any) -> None:
    _crowd(saver)
    before = list(saver.list(None))
    would = saver.cleanup_before(CUTOFF, dry_run=True)
    assert list(saver.list(None)) == before
    assert (would.threads, would.checkpoints) == (1, 3)
    assert would.bytes > 2000
    assert saver.cleanup_before(CUTOFF) == would
    assert _threads(saver) == ["asks", "new", "runs"]
    assert saver.cleanup_before(CUTOFF) == (0, 0, 0)
    assert saver.cleanup_before(CUTOFF, with_questions=True).threads == 1
    assert _threads(saver) == ["new", "runs"]
    assert saver.cleanup_before(datetime.now(UTC) + timedelta(days=365 * 100)).threads == 1
    assert _threads(saver) == ["runs"]


@cases("channel", [INTERRUPT, RESUME])
def what_was_asked_and_answered_piece_by_piece_is_waited_for_as_well(saver: Any, channel: str) -> None:
    for id, parent in (("1", None), ("2", "1")):
        put(saver, id, parent=parent, ts=OLD)
    saver.put_writes(at("2"), [(channel, ["?"])], "task")
    assert saver.cleanup_before(CUTOFF) == saver.keep_last(1) == (0, 0, 0)
    assert saver.keep_last(1, with_questions=True).checkpoints == 1
    assert saver.cleanup_before(CUTOFF, with_questions=True).threads == 1


@cases("at_once", [True, False])
def a_thread_that_a_run_had_since_then_stays_though_it_came_to_no_checkpoint(saver: Any, at_once: bool) -> None:
    for thread in ("tried again", "left alone"):
        put(saver, "1", thread=thread, ts="2020-01-01T00:00:00.000000+00:00")
    lease = Lease("tried again", "ana", saver.look(at(thread="tried again"))[1].seen)
    if not at_once:
        saver.store([], lease)
    failed = TaskWrites("task", [(ERROR, "no network")])
    store(saver, Commit(after("1", thread="tried again"), [failed]), lease, ends=True)
    assert saver.cleanup_before(datetime(2021, 1, 1, tzinfo=UTC)).threads == 1
    assert _threads(saver) == ["tried again"]
    assert saver.cleanup_before(datetime.now(UTC) + timedelta(minutes=1)).threads == 1


def a_thread_whose_run_gives_no_sign_of_life_any_more_is_not_kept_for_it(saver: Any) -> None:
    put(saver, "1", ts=OLD)
    put(saver, "2", parent="1", ts=OLD)
    real(saver).lease_s = -5.0  # it is over when it begins
    saver.store([], Lease(T, "ana", saver.look(at())[1].seen))
    assert saver.keep_last(1).checkpoints == 1
    assert saver.cleanup_before(CUTOFF).threads == 1


def the_last_checkpoints_stay_and_of_nested_graphs_what_belongs_to_them(saver: Any) -> None:
    for step in range(6):
        parent = str(step) if step else None
        put(saver, str(step + 1), {"a": list(range(step + 20))}, parent=parent, versions={"a": step})
        put(saver, f"{step + 1}.5", ns=f"node:{step}", metadata={"parents": {"": str(step + 1)}})
    would = saver.keep_last(2, dry_run=True)
    assert (would.threads, would.checkpoints) == (0, 8)
    assert len(list(saver.list(None))) == 12
    assert saver.keep_last(2, ["nobody"]).checkpoints == 0
    assert saver.keep_last(2) == would
    assert ids(saver.list(None)) == ["6.5", "6", "5.5", "5"]
    assert values_of(saver, "5") == {"a": list(range(24))}
    put(saver, "7", {"a": list(range(26))}, parent="6", versions={"a": 6})
    assert values_of(saver) == {"a": list(range(26))}


def a_parent_that_is_not_there_is_not_named_any_more(saver: Any) -> None:
    put(saver, "2", {"a": 2}, parent="1")
    put(saver, "2", {"a": 2}, parent="2")
    put(saver, "4", {"a": 4}, parent="3", versions={"a": 4})
    put(saver, "5", {"a": 5}, parent="4", versions={"a": 5})
    assert saver.keep_last(3).checkpoints == 0
    assert [saver.get_tuple(at(id)).parent_config for id in "245"] == [None, None, at("4")]
    assert [values_of(saver, id) for id in "245"] == [{"a": 2}, {"a": 4}, {"a": 5}]


def what_tasks_wrote_stays_with_the_checkpoints_that_stay(saver: Any) -> None:
    large = [letter * 10_000 for letter in "abc"]
    put(saver, "1", {"a": 1})
    for step, value in ((2, large[0]), (3, large[1])):
        values, versions = {"a": step, "b": "b" * 3000}, {"a": step, "b": 1}
        writes, checkpoint = [TaskWrites("task", [("a", value)])], made(str(step), values, versions)
        saver.commit([Commit(after(str(step - 1)), writes, checkpoint, {}, {"a", "b"} if step == 2 else {"a"})])
    saver.put_writes(at("3"), [("a", large[2])], "task")
    assert 10_000 < saver.keep_last(2).bytes < 12_000
    assert [saver.get_tuple(at(id)).pending_writes for id in "23"] == [[("task", "a", one)] for one in large[1:]]


def what_nothing_needs_any_more_is_removed_with_the_checkpoints_that_go(saver: Any) -> None:
    put(saver, "1", {"a": [f"{number} {'x' * 100}" for number in range(100)], "b": "x" * 10_000})
    put(saver, "2", {"a": 2}, parent="1", versions={"a": 2})
    assert saver.keep_last(1).bytes > 20_000
    left = saver.cleanup_before(CUTOFF, dry_run=True)
    assert left.checkpoints == 1
    assert left.bytes < 1000


@cases("cutoff", [None, "2030-01-01", datetime(2030, 1, 1)])
def a_cutoff_that_is_no_time_with_a_zone_is_refused(saver: Any, cutoff: Any) -> None:
    with raises(InvalidInput, match="zone"):
        saver.cleanup_before(cutoff)


@cases("count", [0, -1, None, 1.5, True])
def fewer_than_one_checkpoint_cannot_be_kept(saver: Any, count: Any) -> None:
    with raises(InvalidInput, match="from 1 on"):
        saver.keep_last(count)
