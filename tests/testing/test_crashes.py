"""Crash everywhere: before and after every effect, every call of the saver, every statement that it sends."""

import pytest
from tests.testing.graphs import PROGRAMS

from signoff.testing import sqlite

ASYNC = [
    "two_turns", "questions_in_branches", "questions_in_sends", "a_question_that_tells_the_state",
    "branches_that_go_on", "questions_in_nested_branches", "an_entrypoint", "nested_tasks_that_ask",
    "a_failure_beside_work", "an_error_handler", "stored_on_exit", "a_memory_on_a_changed_past",
    "calls_in_another_order", "calls_at_another_time", "graphs_in_another_order",
]  # fmt: skip

STREAMS = ["branches_and_a_join", "a_question_beside_work", "an_entrypoint", "an_error_handler"]

LONG = [
    "a_memory_on_a_second_branch", "a_memory_on_a_changed_past", "graphs_in_another_order",
    "questions_in_nested_branches", "an_error_handler_that_asks_in_a_branch", "branches_stored_on_exit",
]  # fmt: skip
"""Those that take longest are crashed at every third moment."""

IN_FILES = [
    "a_question_beside_work", "a_route_by_answer", "tasks_in_a_node", "a_graph_called_in_a_node",
]  # fmt: skip


def test_there_are_graphs_of_every_shape():
    assert len(PROGRAMS.keys() - LONG) >= 30


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in LONG])
def test_a_run_survives_a_crash_at_any_moment(name):
    report = PROGRAMS[name].world(rebuilds=False).crash_everywhere()
    assert report.crashes == report.effects + report.saver_calls > 20


@pytest.mark.parametrize("name", [name for name in ASYNC if name not in LONG])
def test_an_async_run_survives_a_crash_at_any_moment(name):
    report = PROGRAMS[name].world(is_async=True, rebuilds=False).crash_everywhere()
    assert report.crashes == report.effects + report.saver_calls > 20


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", LONG)
def test_a_long_run_survives_a_crash_now_and_then(name, is_async):
    assert PROGRAMS[name].world(is_async=is_async, rebuilds=False).crash_everywhere(every=6).crashes > 10


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_shows_nothing_false_after_a_crash(name, is_async):
    world = PROGRAMS[name].world(streams=True, is_async=is_async, rebuilds=False)
    assert world.crash_everywhere().crashes > 30


@pytest.mark.parametrize("name", IN_FILES)
def test_a_run_in_a_file_survives_a_crash_at_any_statement(name, tmp_path):
    report = PROGRAMS[name].world(store=sqlite(tmp_path), rebuilds=False).crash_everywhere()
    assert report.statements > 30


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in IN_FILES])
def test_a_run_in_a_file_survives_a_crash_now_and_then(name, tmp_path):
    report = PROGRAMS[name].world(store=sqlite(tmp_path), rebuilds=False).crash_everywhere(every=97)
    assert report.statements >= 18


def test_an_async_run_in_a_file_survives_a_crash_at_any_statement(tmp_path):
    world = PROGRAMS["a_route_by_answer"].world(store=sqlite(tmp_path), is_async=True, rebuilds=False)
    assert world.crash_everywhere().statements > 30
