"""Leases: of the runs that want a thread, one gets it; one that lost it writes nothing more."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

from signoff.checkpoint.base import Commit, Lease, TaskWrites
from signoff.constants import ERROR
from signoff.errors import LeaseLost, ThreadMoved
from signoff.testing.conformance._saver_words import T, after, at, ids, made, real, store, values_of
from signoff.testing.conformance.checks import cases, raises


def _lease(saver: Any, holder: str) -> Lease:
    _, standing = saver.look(at())
    return Lease(T, holder, standing.seen)


def _store(
    saver: Any, id: str, value: Any, lease: Lease | None, *, parent: str | None = None, ends: bool = False
) -> None:
    store(saver, Commit(after(parent), (), made(id, {"a": value}, {"a": int(id)}), {}, {"a"}), lease, ends=ends)


def a_thread_that_nobody_has_is_free(saver: Any) -> None:
    found, standing = saver.look(at())
    assert found is None
    assert (standing.holder, standing.is_expired) == (None, False)


def a_run_takes_its_thread_with_the_first_thing_that_it_stores_and_gives_it_back_with_the_last(saver: Any) -> None:
    lease = _lease(saver, "ana")
    _store(saver, "1", 1, lease)
    assert lease.epoch > 0
    found, standing = saver.look(at())
    assert (found.checkpoint["id"], standing.holder, standing.is_expired) == ("1", "ana", False)
    _store(saver, "2", 2, lease, parent="1", ends=True)
    assert saver.look(at())[1].holder is None
    assert values_of(saver) == {"a": 2}


@cases("is_first", [False, True])
def a_run_that_gives_its_thread_back_leaves_others_to_theirs(saver: Any, is_first: Any) -> None:
    saver.store([], _lease(saver, "ana"))
    another = Lease("another", "bo", saver.look(at(thread="another"))[1].seen)
    if not is_first:
        saver.store([], another)
    saver.store([], another, ends=True)
    assert (saver.look(at())[1].holder, saver.look(at(thread="another"))[1].holder) == ("ana", None)


def a_run_may_take_and_give_back_with_one_write_or_with_none(saver: Any) -> None:
    _store(saver, "1", 1, _lease(saver, "ana"), ends=True)
    assert saver.look(at())[1].holder is None
    lease = _lease(saver, "bo")
    saver.store([], lease)
    assert (saver.look(at())[1].holder, ids(saver.list(at()))) == ("bo", ["1"])
    saver.store([], lease, ends=True)
    assert saver.look(at())[1].holder is None


@cases(("kind", "runs"), [(kind, runs) for kind in ("take", "checkpoint", "write", "again") for runs in (0, 1)])
def a_thread_that_has_moved_is_not_taken(saver: Any, kind: Any, runs: Any) -> None:
    _store(saver, "1", 1, None)
    saver.put_writes(at("1"), [(ERROR, "x")], "failed")
    for _ in range(runs):
        saver.store([], _lease(saver, "before"), ends=True)
    late = _lease(saver, "late")
    if kind == "take":
        saver.store([], _lease(saver, "ana"), ends=True)
    elif kind == "checkpoint":
        _store(saver, "2", 2, None, parent="1")
    elif kind == "write":
        saver.put_writes(at("1"), [("a", 5)], "task")
    else:
        saver.put_writes(at("1"), [(ERROR, "another one")], "failed")
    with raises(ThreadMoved):
        _store(saver, "3", 3, late, parent="1")
    assert late.epoch == 0
    assert "3" not in ids(saver.list(at()))


def what_happens_in_another_thread_does_not_keep_a_run_from_its_own(saver: Any) -> None:
    _store(saver, "1", 1, None)
    lease = _lease(saver, "ana")
    saver.put(at(thread="another"), made("2"), {}, {})
    saver.put_writes(at("1", thread="another"), [("a", 5)], "task")
    _store(saver, "3", 3, lease, parent="1")
    assert values_of(saver) == {"a": 3}


def a_thread_that_was_deleted_and_begun_anew_is_not_taken_by_whoever_saw_the_old_one(saver: Any) -> None:
    _store(saver, "1", 1, _lease(saver, "old"), ends=True)
    late = _lease(saver, "late")
    saver.delete_thread(T)
    _store(saver, "1", 1, _lease(saver, "new"), ends=True)
    with raises(ThreadMoved):
        _store(saver, "2", 2, late, parent="1")
    assert ids(saver.list(at())) == ["1"]


def a_thread_that_another_was_copied_to_meanwhile_is_not_taken(saver: Any) -> None:
    late = _lease(saver, "late")
    saver.put(at(thread="source"), made("1"), {}, {})
    saver.copy_thread("source", T)
    with raises(ThreadMoved):
        _store(saver, "2", 2, late)
    assert ids(saver.list(at())) == ["1"]


@cases("takes", [False, True])
def a_run_whose_thread_was_taken_over_hears_so_though_another_has_stored_the_same(saver: Any, takes: Any) -> None:
    late = _lease(saver, "late")
    if not takes:
        _store(saver, "1", 1, late)
    another = _lease(saver, "another")
    same = Commit(after("1"), [TaskWrites("task", [("a", 5)])])
    store(saver, same, another, ends=True)
    with raises((LeaseLost, ThreadMoved)):
        store(saver, same, late, ends=True)


def a_run_whose_thread_was_taken_over_writes_nothing_more(saver: Any) -> None:
    old = _lease(saver, "old")
    _store(saver, "1", 1, old)
    _store(saver, "2", 2, _lease(saver, "new"), parent="1")
    before = list(saver.list(None))
    for ends in (False, True):
        with raises(LeaseLost):
            _store(saver, "3", 3, old, parent="1", ends=ends)
    with raises(LeaseLost):
        store(saver, Commit(after("1"), [TaskWrites("task", [("a", 9)])]), old)
    with raises(LeaseLost):
        saver.renew(old)
    assert list(saver.list(None)) == before
    assert saver.look(at())[1].holder == "new"


def of_many_that_want_a_thread_at_once_one_gets_it(saver: Any) -> None:
    _store(saver, "1", 1, None)
    leases = [_lease(saver, str(number)) for number in range(8)]

    def take(lease: Lease) -> bool:
        try:
            saver.store([], lease)
        except ThreadMoved:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(take, leases)) == [False] * 7 + [True]


def a_lease_runs_out_and_a_sign_of_life_begins_it_anew(saver: Any) -> None:
    lease = _lease(saver, "ana")
    real(saver).lease_s = -5.0  # it is over when it begins
    _store(saver, "1", 1, lease)
    assert saver.look(at())[1].is_expired
    real(saver).lease_s = 60.0
    saver.renew(lease)
    standing = saver.look(at())[1]
    assert (standing.holder, standing.is_expired) == ("ana", False)
    real(saver).lease_s = None
    saver.renew(lease)
    assert not saver.look(at())[1].is_expired
    real(saver).lease_s = -5.0
    saver.renew(lease)
    assert saver.look(at())[1].is_expired
    saver.store([], lease, ends=True)
    standing = saver.look(at())[1]
    assert (standing.holder, standing.is_expired) == (None, False)


def whoever_takes_a_thread_has_a_lease_of_its_own_however_old_the_last_one_was(saver: Any) -> None:
    real(saver).lease_s = -5.0
    saver.store([], _lease(saver, "ana"))
    real(saver).lease_s = 60.0
    saver.store([], _lease(saver, "bo"))
    standing = saver.look(at())[1]
    assert (standing.holder, standing.is_expired) == ("bo", False)


def a_deleted_thread_is_lost_to_the_run_that_had_it(saver: Any) -> None:
    for delete, what in ((saver.delete_for_runs, ["r"]), (saver.delete_thread, T)):
        lease = _lease(saver, "ana")
        store(saver, Commit(after(), (), made("1", {"a": 1}), {"run_id": "r"}, {"a"}), lease)
        delete(what)
        with raises(LeaseLost):
            _store(saver, "2", 2, lease, parent="1")
        assert saver.look(at())[1].holder is None


@cases("kind", ["checkpoint", "end", "nothing", "write", "sign of life"])
def a_thread_that_was_deleted_and_begun_anew_is_lost_to_the_run_that_had_it(saver: Any, kind: Any) -> None:
    old, new = _lease(saver, "old"), Lease(T, "new", None)
    _store(saver, "1", 1, old)
    saver.delete_thread(T)
    new.seen = saver.look(at())[1].seen
    _store(saver, "2", 2, new)
    before = list(saver.list(None))
    with raises(LeaseLost):
        if kind == "sign of life":
            saver.renew(old)
        elif kind == "write":
            store(saver, Commit(after("1"), [TaskWrites("task", [("a", 9)])]), old)
        elif kind == "nothing":
            saver.store([], old, ends=True)
        else:
            _store(saver, "3", 3, old, parent="1", ends=kind == "end")
    assert list(saver.list(None)) == before
    assert saver.look(at())[1].holder == "new"
