"""A server may have done what it was asked for, and its answer is lost: it is asked again, and done once."""

import pytest

from signoff.checkpoint.base import Commit, Lease, TaskWrites
from signoff.errors import LeaseLost
from signoff.testing.conformance._saver_words import T, after, at, ids, made

pytestmark = pytest.mark.parametrize("name", ["postgres", "redis"])


def lease_of(saver, holder):
    return Lease(T, holder, saver.look(at())[1].seen)


def step(saver, id, parent=None):
    return saver.prepare([Commit(after(parent), (), made(id, {"a": id}, {"a": int(id)}), {}, {"a"})])


def written(saver, value="x", task="task", id="1", ns=""):
    return saver.prepare([Commit(after(id, ns=ns), [TaskWrites(task, [("a", value)])])])


def test_the_last_step_of_a_run_is_there_though_another_run_has_the_thread_by_now(openers, name):
    saver = openers[name]()
    ana = lease_of(saver, "ana")
    saver.store(step(saver, "1"), ana)
    last = step(saver, "2", "1")
    saver.store(last, ana, ends=True)
    saver.store(step(saver, "3", "2"), lease_of(saver, "bo"))
    before = list(saver.list(at()))
    saver.store(last, ana, ends=True)
    assert list(saver.list(at())) == before
    assert saver.look(at())[1].holder == "bo"


def test_what_is_there_already_does_not_keep_others_from_being_stored_with_it(openers, name):
    saver = openers[name]()
    first = step(saver, "1")
    saver.store(first)
    saver.store([*first, *step(saver, "2", "1")])
    assert ids(saver.list(at())) == ["2", "1"]


def test_a_step_that_was_written_alone_is_there(openers, name):
    saver = openers[name]()
    ana = lease_of(saver, "ana")
    saver.store(step(saver, "1"), ana)
    last = step(saver, "2", "1")
    for _ in range(2):
        saver.store(last, ana)
    saver.store([], lease_of(saver, "bo"))
    saver.store(last, ana)
    assert ids(saver.list(at())) == ["2", "1"]


def test_a_thread_that_a_run_has_taken_is_its_own_though_it_has_stored_next_to_nothing(openers, name):
    saver = openers[name]()
    saver.store(step(saver, "1"))
    for holder, stored in {"ana": [], "bo": written(saver)}.items():
        lease = lease_of(saver, holder)
        saver.store(stored, lease)
        epoch, lease.epoch = lease.epoch, 0  # nobody has told it
        saver.store(stored, lease)
        assert (lease.epoch, saver.look(at())[1].holder) == (epoch, holder)


@pytest.mark.parametrize("is_first", [False, True])
def test_the_last_writes_of_a_run_are_there_though_another_run_has_the_thread_by_now(openers, name, is_first):
    saver = openers[name]()
    saver.store(step(saver, "1"))
    ana = lease_of(saver, "ana")
    if not is_first:
        saver.store([], ana)
    epoch, last = ana.epoch, written(saver)
    saver.store(last, ana, ends=True)
    saver.store([], lease_of(saver, "bo"))
    ana.epoch = epoch  # nobody has told it
    saver.store(last, ana, ends=True)
    assert saver.look(at())[1].holder == "bo"


def lost_to_bo(saver):
    """The lease of a run that has lost its thread, and what it had written before."""
    ana, same = lease_of(saver, "ana"), written(saver)
    saver.store(step(saver, "1"), ana)
    saver.store(same, ana)
    saver.store([], lease_of(saver, "bo"))
    return ana, same


OTHERS = {
    "another value": {"value": "y"},
    "another task": {"task": "another"},
    "another checkpoint": {"id": "2"},
    "another namespace": {"ns": "nested"},
}


@pytest.mark.parametrize("other", OTHERS)
def test_other_writes_of_a_run_that_has_lost_its_thread_are_refused(openers, name, other):
    saver = openers[name]()
    ana, _ = lost_to_bo(saver)
    with pytest.raises(LeaseLost):
        saver.store(written(saver, **OTHERS[other]), ana, ends=True)
    assert saver.get_tuple(at("1")).pending_writes == [("task", "a", "x")]


def test_a_last_step_that_is_not_there_is_refused_though_what_was_written_before_it_is(openers, name):
    saver = openers[name]()
    ana, same = lost_to_bo(saver)
    with pytest.raises(LeaseLost):
        saver.store([*same, *step(saver, "2", "1")], ana, ends=True)
    assert ids(saver.list(at())) == ["1"]


def test_writes_of_a_run_that_goes_on_are_refused_once_it_has_lost_its_thread_though_they_are_there(openers, name):
    saver = openers[name]()
    ana, same = lost_to_bo(saver)
    with pytest.raises(LeaseLost):
        saver.store(same, ana)
