"""The world finds what is wrong with a saver."""

import pytest
from tests.testing.graphs import PROGRAMS

from signoff.checkpoint.base import Commit
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import LeaseLost, ThreadMoved
from signoff.testing import Violation, shared


class Filtering(InMemorySaver):
    """A saver that can leave something out of what it stores."""

    def prepare(self, commits):
        return list(commits)

    def store(self, prepared, lease=None, *, ends=False):
        kept = [self.left(commit, ends) for commit in prepared]
        super().store(super().prepare([commit for commit in kept if commit is not None]), lease, ends=ends)

    def left(self, commit, ends):
        return commit


class ForgetsAWrite(Filtering):
    def left(self, commit, ends):
        return commit if commit.has_checkpoint else Commit(commit.place, commit.writes[1:], filing=commit.filing)


class LosesTheLastCheckpoint(Filtering):
    def left(self, commit, ends):
        return None if ends and commit.has_checkpoint else commit


class ForgetsToFileQuestions(Filtering):
    def left(self, commit, ends):
        commit.filing = None
        return commit


class HasNoFence(InMemorySaver):
    def store(self, prepared, lease=None, *, ends=False):
        try:
            super().store(prepared, lease, ends=ends)
        except LeaseLost:
            super().store(prepared)


class TakesWithoutLooking(InMemorySaver):
    def store(self, prepared, lease=None, *, ends=False):
        try:
            super().store(prepared, lease, ends=ends)
        except ThreadMoved:
            lease.seen = InMemorySaver.look(self, {"configurable": {"thread_id": lease.thread_id}})[1].seen
            super().store(prepared, lease, ends=ends)


def crashed(name, saver):
    with pytest.raises(Violation) as caught:
        PROGRAMS[name].world(store=shared(saver)).crash_everywhere()
    return str(caught.value)


def scheduled(name, saver):
    with pytest.raises(Violation) as caught:
        PROGRAMS[name].world(store=shared(saver), rebuilds=False).schedules(300)
    return str(caught.value)


def test_a_saver_that_forgets_a_write_is_caught():
    found = crashed("branches_and_a_join", ForgetsAWrite)
    assert "was run again by last, though its result had been stored" in found
    assert "world.crash(" in found


def test_a_saver_that_loses_the_last_checkpoint_is_caught():
    found = crashed("linear", LosesTheLastCheckpoint)
    assert "task 'c' was run again by first, though its result had been stored" in found
    assert "the thread has not come to rest" in found


def test_a_saver_that_does_not_file_questions_is_caught():
    found = crashed("several_questions_in_one_node", ForgetsToFileQuestions)
    assert "the index of open questions has [] and not ['name?']" in found


def test_a_saver_without_a_fence_is_caught():
    found = scheduled("nested_three_deep", HasNoFence)
    assert "was accepted, though thread '1' had epoch" in found
    assert "world.schedule(" in found


def test_a_saver_that_takes_a_thread_without_looking_is_caught():
    found = scheduled("several_questions_in_one_node", TakesWithoutLooking)
    assert "took thread '1', which was not any more as it was seen" in found
