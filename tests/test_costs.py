"""The gate: signoff stays cheap. The counts and their limits are those of bench/gate.py.

Counts do not depend on the machine or its load, so growth is noticed here and at once. `python -m bench.gate` counts
without the tests; with `--record` it lets the counts of today be what is compared with from now on.
"""

import json

import pytest
from bench import gate

STEP = "Python calls of a step, no saver"
COMMITS = "commits of a step, sync"

ONE_MORE_CALL = """
from inspect import iscoroutinefunction
from signoff.graph import StateGraph

def add_node(self, name, action, *, plain=StateGraph.add_node, **options):
    within = action if iscoroutinefunction(action) else lambda state: action(state)
    return plain(self, name, within, **options)

StateGraph.add_node = add_node
"""
"""A change of signoff that puts every node into one more function."""

ONE_MORE_COMMIT = """
from signoff.checkpoint.sqlite import SqliteSaver

def run(self, steps, *, plain=SqliteSaver._run):
    before = self.conn.total_changes
    result = plain(self, steps)
    if self.conn.total_changes > before:
        if not vars(self).setdefault("is_planted", False):
            self.is_planted = self.conn.execute("CREATE TABLE planted (x)")
        self.conn.execute("INSERT INTO planted VALUES (1)")
    return result

SqliteSaver._run = run
"""
"""A change of signoff that stores something more, in a transaction of its own, whenever it has stored something."""


@pytest.fixture(scope="module")
def counts():
    return gate.counted()


@pytest.mark.parametrize("name", gate.LIMITS)
def test_a_count_is_within_its_limit_and_has_not_grown(counts, name):
    assert gate.failures({name: counts[name]}, gate.recorded()) == []


def test_a_step_takes_no_more_calls_in_a_large_graph(counts):
    assert counts["Python calls of a step among 1,000 nodes"] <= 1.05 * counts[STEP]


def test_a_step_takes_no_more_calls_with_many_keys(counts):
    assert counts["Python calls of a step, 1,000 keys"] <= 1.05 * counts[STEP]


def test_an_async_task_takes_no_more_calls_among_many(counts):
    assert counts["Python calls of an async task of 1,000"] <= 1.05 * counts["Python calls of an async task of 100"]


def test_an_answer_takes_two_calls_more_for_each_question_beside_it(counts):
    few, many = (counts[f"Python calls of an answer among {questions}"] for questions in (10, 100))
    assert many - few <= 2 * 90


# The gate itself


def test_one_more_call_in_a_step_is_noticed(counts):
    planted = gate.counted(ONE_MORE_CALL, [STEP])
    assert planted[STEP] == counts[STEP] + 1
    (failure,) = gate.failures(planted, counts)
    assert failure.startswith(f"{STEP}: {planted[STEP]:g}, it was {counts[STEP]:g}.")


def test_one_more_commit_in_a_step_is_noticed(counts):
    planted = gate.counted(ONE_MORE_COMMIT, [COMMITS])
    (failure,) = gate.failures(planted, counts)
    assert failure == f"{COMMITS}: 2, and at most 1 are allowed."


def test_a_count_above_its_limit_is_refused_whatever_was_recorded():
    (failure,) = gate.failures({STEP: 61}, {STEP: 100})
    assert failure == f"{STEP}: 61, and at most 60 are allowed."


def test_a_count_that_fell_is_fine():
    assert gate.failures({STEP: 20}, {STEP: 26}) == []


def test_counts_that_the_system_decides_may_differ_below_their_limit():
    name = "Python calls of a task of 100"
    assert gate.failures({name: 30}, {name: 20}) == []


def test_every_count_is_recorded():
    assert json.loads(gate.RECORDED.read_text(encoding="utf-8"))["counts"].keys() == gate.LIMITS.keys()
