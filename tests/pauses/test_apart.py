"""Threads of one graph have nothing in common, whatever somebody does in place to what one of them has."""

import operator
from typing import Annotated, Any, TypedDict

import pytest

from signoff.errors import InvalidUpdateError
from signoff.graph import END, START, StateGraph

ANA, BEN = ({"configurable": {"thread_id": name}} for name in ("ana", "ben"))


class State(TypedDict, total=False):
    log: Annotated[list[Any], operator.add]
    notes: Annotated[dict[str, Any], operator.ior]
    x: int


def reading(node: Any = lambda state: None) -> StateGraph:
    return StateGraph(State).add_node("node", node).add_edge(START, "node")


def test_what_a_caller_adds_to_a_result_is_in_no_other_thread(open_app):
    app = open_app(reading())
    app.invoke({"x": 1}, ANA)["log"].append("ana's card")
    assert app.invoke({"x": 1}, BEN) == {"log": [], "notes": {}, "x": 1}
    assert app.get_state(BEN).values == {"log": [], "notes": {}, "x": 1}


def test_nor_what_a_reader_adds_to_a_snapshot(open_app):
    app = open_app(reading())
    for config in (ANA, BEN):
        app.invoke({"x": 1}, config)
    app.get_state(ANA).values["log"].append("ana's card")
    app.history(ANA)[-1].values["log"].append("ana's card")
    assert (app.get_state(BEN).values["log"], app.invoke({"x": 2}, BEN)["log"]) == ([], [])


def test_nor_what_a_node_adds_to_its_state(open_app):
    def node(state):
        if state["x"] == 1:
            state["log"].append("ana's card")

    app = open_app(reading(node))
    app.invoke({"x": 1}, ANA)
    assert app.invoke({"x": 2}, BEN)["log"] == []


def test_nor_what_a_reducer_merges_in_place(open_app):
    app = open_app(reading(lambda state: {"notes": {"seen": 1}}))
    app.invoke({"notes": {"ana": 1}}, ANA)
    assert app.invoke({"notes": {"ben": 1}}, BEN)["notes"] == {"ben": 1, "seen": 1}


def test_nor_what_an_update_says(open_app):
    app = open_app(reading())
    for config, name in ((ANA, "ana"), (BEN, "ben")):
        app.update_state({"notes": {name: 1}}, config, as_node="node")
    assert app.get_state(BEN).values["notes"] == {"ben": 1}


# Nor does a step merge anything twice


def merge(old: list[Any], new: list[Any]) -> list[Any]:
    old.extend(new)
    return old


@pytest.mark.parametrize("reducer", [merge, operator.iadd])
def test_an_edge_sees_ahead_without_merging_anything(open_app, reducer):
    class Lists(TypedDict):
        log: Annotated[list[Any], reducer]

    graph = StateGraph(Lists).add_node("node", lambda state: {"log": ["node"]}).add_edge(START, "node")
    app = open_app(graph.add_conditional_edges("node", lambda state: END, [END]))
    assert app.invoke({"log": ["in"]}) == {"log": ["in", "node"]}


def test_a_step_that_is_refused_has_merged_nothing(open_app):
    class Both(TypedDict, total=False):
        log: Annotated[list[Any], merge]
        x: int

    graph = StateGraph(Both)
    for name in "ab":
        graph.add_node(name, lambda state, name=name: {"log": [name], "x": 1}).add_edge(START, name)
    app = open_app(graph)
    for durability in ("sync", "exit"):
        config = {"configurable": {"thread_id": durability}}
        with pytest.raises(InvalidUpdateError, match="'x' can take one value"):
            app.invoke({"log": ["in"]}, config, durability=durability)
        app.update_state(None, config, as_node="b")
        assert app.invoke(None, config)["log"] == ["in", "a"]
