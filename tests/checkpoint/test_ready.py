"""Steps whose rows are made when they are prepared: what happens if something else is there when they are stored."""

import sqlite3
from collections import Counter
from contextlib import ExitStack, closing
from typing import TypedDict

import pytest

from signoff.checkpoint.base import Lease
from signoff.checkpoint.log.body import Changes
from signoff.checkpoint.log.known import Known
from signoff.checkpoint.log.memory import Memory
from signoff.checkpoint.log.plans import MAX_DEPTH
from signoff.checkpoint.log.ready import Ready
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.errors import LeaseLost
from signoff.graph import START, StateGraph

CONFIG = {"configurable": {"thread_id": "1"}}
STEPS = MAX_DEPTH + 8

FIRST = 2
"""What a run begins with is ready, too: its input, and the state in which the first node finds it. That is no step."""

GIVEN = pytest.mark.parametrize("given", [{"count": 0, "text": "x"}, {"count": 0}], ids=["partial", "whole"])
"""What runs begin with: a step leaves the text as it was, so that its row stands on others; else it stands alone."""


class State(TypedDict):
    count: int
    text: str


def line(length):
    builder = StateGraph(State)
    for number in range(length):
        builder.add_node(f"node {number}", lambda state: {"count": state["count"] + 1})
        builder.add_edge(f"node {number - 1}" if number else START, f"node {number}")
    return builder


class Watched(SqliteSaver):
    """Calls something before it stores the n-th step of a run that is ready."""

    def __init__(self, *args, **named):
        super().__init__(*args, **named)
        self.steps, self.at, self.meddle = -FIRST, None, None

    def store(self, prepared, lease=None, *, ends=False):
        self.steps += sum(type(one) is Ready for one in prepared)
        if self.at is not None and self.steps >= self.at:
            self.at = None
            self.meddle()
        super().store(prepared, lease, ends=ends)


@pytest.fixture
def savers(tmp_path):
    with ExitStack() as stack:
        path = str(tmp_path / "threads.db")
        yield tuple(stack.enter_context(kind.from_conn_string(path)) for kind in (Watched, SqliteSaver))


def put_again(saver):
    """Store the newest checkpoint once more, as it is: it has another seal then."""
    found = saver.get_tuple(CONFIG)
    parent = found.parent_config or {"configurable": {"thread_id": "1", "checkpoint_ns": ""}}
    saver.put(parent, found.checkpoint, found.metadata, {})


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_most_steps_are_ready(savers, durability):
    saver, _ = savers
    line(STEPS).compile(checkpointer=saver).invoke({"count": 0, "text": "x"}, CONFIG, durability=durability)
    assert saver.steps == STEPS


def test_a_step_in_the_middle_of_a_run_is_one_statement(savers):
    saver, _ = savers
    app = line(5).compile(checkpointer=saver)
    app.get_state(CONFIG)
    seen = []
    saver.conn.set_trace_callback(lambda sql: seen.append(sql.split()[0]))
    app.invoke({"count": 0, "text": "x"}, CONFIG, durability="sync")
    start, end = ["SELECT", "BEGIN", "INSERT", "INSERT", "INSERT", "COMMIT"], ["BEGIN", "UPDATE", "INSERT", "COMMIT"]
    assert seen == [*start, *["INSERT"] * 4, *end]


def test_a_step_that_leaves_nothing_as_it_was_stands_alone(savers):
    saver, other = savers
    app = line(5).compile(checkpointer=saver)
    for _ in range(3):
        app.invoke({"count": 0}, CONFIG)
    depths = [depth for (depth,) in saver.conn.execute("SELECT depth FROM signoff_checkpoints ORDER BY id")]
    assert depths == [0, *[0] * 6, *[1, *[0] * 6] * 2]  # only the input has something beside it
    assert line(5).compile(checkpointer=other).get_state(CONFIG).values == {"count": 5}


def test_a_step_of_a_run_that_has_lost_its_thread_is_refused(savers):
    saver, other = savers

    def take():
        other.store([], Lease("1", "other", other.look(CONFIG)[1].seen))

    saver.at, saver.meddle = 3, take
    with pytest.raises(LeaseLost):
        line(5).compile(checkpointer=saver).invoke({"count": 0, "text": "x"}, CONFIG, durability="sync")
    assert other.get_tuple(CONFIG).checkpoint["channel_values"]["count"] == 2


@GIVEN
@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize("at", [1, 2, MAX_DEPTH - 2, MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, STEPS - 1])
def test_a_step_whose_parent_was_stored_again_meanwhile_stands_on_what_is_there(savers, at, durability, given):
    saver, other = savers
    saver.at, saver.meddle = at, lambda: put_again(other)
    app = line(STEPS).compile(checkpointer=saver)
    assert app.invoke(given, CONFIG, durability=durability) == {**given, "count": STEPS}
    again = line(STEPS).compile(checkpointer=other)
    history = list(again.get_state_history(CONFIG))
    assert [one.values.get("count") for one in history] == [*range(STEPS, -1, -1), None]
    assert [len(one.tasks) for one in history] == [0] + [1] * (STEPS + 1)
    assert all(task.result == {"count": one.values["count"] + 1} for one in history[1:-1] for task in one.tasks)


@GIVEN
def test_a_run_whose_checkpoint_was_removed_meanwhile_stores_nothing_and_says_so(savers, given):
    saver, other = savers
    saver.at, saver.meddle = 3, lambda: other.delete_for_runs(["r"])
    config = {**CONFIG, "metadata": {"run_id": "r"}}
    with pytest.raises(LeaseLost, match="deleted, or the checkpoint that the run stood on"):
        line(5).compile(checkpointer=saver).invoke(given, config, durability="sync")
    assert list(other.list(CONFIG)) == []


def before_step(saver, number, meddle):
    """Have something done when the n-th step of a run that is ready is to be stored."""
    store, steps = saver.store, []

    def watched(prepared, lease=None, *, ends=False):
        steps.extend(ready := [one for one in prepared if type(one) is Ready])
        if ready and len(steps) == FIRST + number:
            meddle(lambda: store(prepared, lease, ends=ends))
        store(prepared, lease, ends=ends)

    saver.store = watched


def test_on_a_server_a_step_whose_parent_was_stored_again_meanwhile_stands_on_it(openers):
    saver, other = openers["postgres"](), openers["postgres"]()
    before_step(saver, 3, lambda store: put_again(other))
    given = {"count": 0, "text": "x"}
    assert line(5).compile(checkpointer=saver).invoke(given, CONFIG, durability="sync") == {"count": 5, "text": "x"}
    history = line(5).compile(checkpointer=other).get_state_history(CONFIG)
    assert [one.values for one in history] == [*({"count": count, "text": "x"} for count in range(5, -1, -1)), {}]


def test_a_step_that_a_server_has_done_is_not_refused_when_it_is_sent_again(openers):
    saver, other = openers["postgres"](), openers["postgres"]()
    answers = []

    def lose_the_answer(store):
        answers.extend([store(), store()])
        other.store([], Lease("1", "other", other.look(CONFIG)[1].seen))
        answers.append(store())

    before_step(saver, 3, lose_the_answer)
    with pytest.raises(LeaseLost):
        line(5).compile(checkpointer=saver).invoke({"count": 0, "text": "x"}, CONFIG, durability="sync")
    assert answers == [None] * 3
    assert other.get_tuple(CONFIG).checkpoint["channel_values"]["count"] == 3


def test_a_value_that_cannot_be_stored_is_named_as_ever(savers):
    builder = StateGraph(State)
    builder.add_node("one", lambda state: {"count": 1})
    builder.add_node("two", lambda state: {"text": print})
    builder.add_edge(START, "one").add_edge("one", "two")
    with pytest.raises(TypeError, match=r"text.*print|text: builtin"):
        builder.compile(checkpointer=savers[0]).invoke({"count": 0, "text": "x"}, CONFIG, durability="sync")


class Forgetting(dict):
    """What is on its way; another thread forgets all of it as soon as somebody has looked."""

    def get(self, where):
        found = super().get(where)
        self.clear()
        return found


def test_what_others_forget_as_it_is_learned_is_learned():
    where, known, memory = ("1", ""), Known("1", 0, 0, Changes({}, {})), Memory()
    memory._ahead = Forgetting({where: known})
    memory.learn({where: known})
    assert memory.known(where, "1") is known


class Counting(JsonPlusSerializer):
    """Counts which texts it has encoded, and how often."""

    def __init__(self):
        super().__init__()
        self.encoded = Counter()

    def dumps_typed(self, obj):
        self.encoded.update([obj] if isinstance(obj, str) else [])
        return super().dumps_typed(obj)


@pytest.mark.parametrize("durability", ["sync", "exit"])
@pytest.mark.parametrize("given", ["small", "x" * 5000], ids=["small", "large"])
def test_what_is_stored_is_encoded_once_though_some_of_it_is_large(given, durability):
    def write(state):
        return {"count": 1, "text": "y" * 5000}

    serde = Counting()
    with closing(sqlite3.connect(":memory:", check_same_thread=False)) as conn:
        app = StateGraph(State).add_node(write).add_edge(START, "write")
        app = app.compile(checkpointer=SqliteSaver(conn, serde=serde))
        app.invoke({"count": 0, "text": given}, CONFIG, durability=durability)
        assert app.get_state(CONFIG).values == {"count": 1, "text": "y" * 5000}
    assert serde.encoded["y" * 5000] == 1
    assert set(serde.encoded.values()) == {1}
