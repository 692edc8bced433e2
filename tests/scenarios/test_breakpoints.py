"""Scenario 7: static breakpoints stop a graph between its nodes."""

import operator
from typing import Annotated, TypedDict

import pytest

from signoff.graph import START, StateGraph


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


def a(state):
    return {"log": ["a"]}


def b(state):
    return {"log": ["b"]}


def c(state):
    return {"log": ["c"]}


@pytest.fixture
def graph():
    return StateGraph(Log).add_sequence([a, b, c]).add_edge(START, "a")


WHEN = pytest.mark.parametrize("when", ["compile", "call"])


def opened(open_app, graph, when, **breakpoints):
    """An app with breakpoints, and what to say at each call of it."""
    if when == "compile":
        return open_app(graph, **breakpoints), {}
    return open_app(graph), breakpoints


@WHEN
def test_it_stops_before_a_node_and_goes_on(open_app, graph, when):
    app, said = opened(open_app, graph, when, interrupt_before=["b"])
    assert app.invoke({"log": []}, **said) == {"log": ["a"]}
    assert app.get_state().next == ("b",)
    assert app.invoke(None, **said) == {"log": ["a", "b", "c"]}


@WHEN
def test_it_stops_after_a_node_and_goes_on(open_app, graph, when):
    app, said = opened(open_app, graph, when, interrupt_after=["b"])
    assert app.invoke({"log": []}, **said) == {"log": ["a", "b"]}
    assert app.get_state().next == ("c",)
    assert app.invoke(None, **said) == {"log": ["a", "b", "c"]}


@WHEN
@pytest.mark.parametrize(("where", "stops"), [("interrupt_before", "abc"), ("interrupt_after", "bc")])
def test_a_star_walks_step_by_step(open_app, graph, when, where, stops):
    app, said = opened(open_app, graph, when, **{where: "*"})
    app.invoke({"log": []}, **said)
    seen = []
    while waiting := app.get_state().next:
        seen += waiting
        app.invoke(None, **said)
    assert "".join(seen) == stops
    assert app.get_state().values == {"log": ["a", "b", "c"]}


def test_the_stream_ends_with_an_empty_question(open_app, graph):
    app = open_app(graph, interrupt_before=["b"])
    assert app.stream({"log": []}, stream_mode="updates") == [{"a": {"log": ["a"]}}, {"__interrupt__": ()}]
    assert app.questions() == []


def test_what_is_changed_at_a_breakpoint_is_what_the_next_node_sees(open_app, graph):
    app = open_app(graph, interrupt_before=["b"])
    app.invoke({"log": []})
    app.update_state({"log": ["looked"]})
    assert app.invoke(None) == {"log": ["a", "looked", "b", "c"]}


def test_an_empty_list_at_the_call_lifts_the_breakpoints_of_the_graph(open_app, graph):
    app = open_app(graph, interrupt_before=["b"])
    assert app.invoke({"log": []}, interrupt_before=[]) == {"log": ["a", "b", "c"]}


def test_a_breakpoint_stops_once_where_a_run_has_failed(open_app):
    def fail(state):
        raise LookupError("not today")

    app = open_app(StateGraph(Log).add_sequence([a, fail]).add_edge(START, "a"))
    with pytest.raises(LookupError):
        app.invoke({"log": []})
    assert app.invoke(None, interrupt_before=["fail"]) == {"log": ["a"]}
    with pytest.raises(LookupError):
        app.invoke(None, interrupt_before=["fail"])


def test_a_breakpoint_inside_of_a_nested_graph_stops_the_whole_run(open_app, graph):
    nested = graph.compile(interrupt_before=["b"])
    app = open_app(StateGraph(Log).add_sequence([("nested", nested), c]).add_edge(START, "nested"))
    assert app.invoke({"log": []}) == {"log": []}
    assert app.get_state(subgraphs=True).tasks[0].state.next == ("b",)
    assert app.invoke(None) == {"log": ["a", "b", "c", "c"]}
