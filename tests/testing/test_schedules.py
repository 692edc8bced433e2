"""Random schedules: several processes on one thread, killed, stalled, late, in an order that a seed decides."""

import pytest
from tests.testing.graphs import PROGRAMS

from signoff.testing import sqlite

EACH = 120
"""How many of each graph: more than 5,000 of all. No two have the same seed, which would decide the same fates."""

IN_FILES = ["several_questions_in_one_node", "questions_in_branches", "nested_three_deep", "an_entrypoint"]


def test_there_are_more_than_five_thousand():
    assert EACH * len(PROGRAMS) >= 5_000


@pytest.mark.parametrize("name", PROGRAMS)
def test_processes_that_work_on_one_thread_do_not_hurt_each_other(name):
    first = EACH * [*PROGRAMS].index(name)
    report = PROGRAMS[name].world(rebuilds=False).schedules(EACH, first)
    assert report.kills > 30
    assert report.stalls > 50
    assert report.takeovers > 20


@pytest.mark.parametrize("name", IN_FILES)
def test_processes_that_share_a_file_do_not_hurt_each_other(name, tmp_path):
    report = PROGRAMS[name].world(store=sqlite(tmp_path)).schedules(30)
    assert report.takeovers > 0


def test_who_wakes_up_late_is_refused():
    assert PROGRAMS["nested_three_deep"].world(rebuilds=False).schedules(100).refused > 3


def test_a_seed_replays_its_schedule():
    world = PROGRAMS["questions_in_sends"].world(rebuilds=False)
    first, second = world.schedule(7), world.schedule(7)
    assert first.turns == second.turns
    assert first.scene.witness.done == second.scene.witness.done
    assert world.schedule(8).turns != first.turns
