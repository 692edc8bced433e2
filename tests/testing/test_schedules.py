"""Random schedules: several processes on one thread, killed, stalled, late, in an order that a seed decides."""

from itertools import accumulate

import pytest
from tests.testing.graphs import PROGRAMS

from signoff.testing import sqlite

LONG = [
    "a_changed_past", "a_memory_on_a_changed_past", "a_second_branch", "a_memory_on_a_second_branch",
    "a_failure_beside_work", "graphs_in_another_order", "calls_in_another_order", "branches_stored_on_exit",
    "an_error_handler_that_asks", "an_error_handler_that_asks_in_a_branch", "questions_answered_together",
    "branches_that_go_on", "nested_three_deep", "stored_on_exit", "two_turns", "sends", "a_route_by_answer",
    "a_command_beside_an_answer", "nested_tasks_stored_on_exit", "several_questions_in_one_node",
]  # fmt: skip
"""The graphs whose schedules take longest."""

SCHEDULES = {name: 100 if name in LONG else 300 for name in PROGRAMS}
"""How many of each graph; more than 10,000 of all."""

FIRST = dict(zip(SCHEDULES, accumulate([0, *SCHEDULES.values()]), strict=False))
"""The first seed of each graph. No two graphs have the same seeds, which would decide the same fates."""

IN_FILES = ["several_questions_in_one_node", "questions_in_branches", "nested_three_deep", "an_entrypoint"]


def test_there_are_more_than_ten_thousand():
    assert sum(SCHEDULES.values()) >= 10_000
    assert SCHEDULES.keys() >= {*LONG}


@pytest.mark.parametrize("name", PROGRAMS)
def test_processes_that_work_on_one_thread_do_not_hurt_each_other(name):
    report = PROGRAMS[name].world(rebuilds=False).schedules(SCHEDULES[name], FIRST[name])
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
