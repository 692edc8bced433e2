"""Scenario 14: durability on a dial. A pause is stored in all three; what a kill costs is in tests/pauses."""

import operator
from typing import Annotated, TypedDict

import pytest

from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

ALL = pytest.mark.parametrize("durability", ["exit", "async", "sync"])


class Log(TypedDict):
    log: Annotated[list, operator.add]


@pytest.fixture
def graph():
    def ask(state):
        return {"log": [interrupt("sure?")]}

    graph = StateGraph(Log).add_sequence(
        [("a", lambda state: {"log": ["a"]}), ("b", lambda state: {"log": ["b"]}), ask]
    )
    return graph.add_edge(START, "a")


@ALL
def test_a_pause_is_always_stored(open_app, graph, durability):
    app = open_app(graph)
    app.invoke({"log": []}, durability=durability)
    state = app.get_state()
    assert (state.values, state.next, app.questions()) == ({"log": ["a", "b"]}, ("ask",), ["sure?"])
    assert state.metadata["paused"] is True


@ALL
def test_the_dial_can_be_another_one_for_each_call(open_app, graph, durability):
    app = open_app(graph)
    app.invoke({"log": []}, durability="exit")
    assert app.invoke(Command(resume="yes"), durability=durability) == {"log": ["a", "b", "yes"]}
    assert app.get_state().values == {"log": ["a", "b", "yes"]}


def test_exit_stores_when_the_run_pauses_and_ends_and_the_others_each_step(open_app, graph):
    app = open_app(graph)
    for thread, durability in (("e", "exit"), ("s", "sync"), ("a", "async")):
        config = {"configurable": {"thread_id": thread}}
        app.invoke({"log": []}, config, durability=durability)
        app.invoke(Command(resume="yes"), config, durability=durability)
    steps = {thread: len(app.history({"configurable": {"thread_id": thread}})) for thread in "esa"}
    assert steps == {"e": 2, "s": 5, "a": 5}
