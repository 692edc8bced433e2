"""Nodes may be named by an Enum of texts, wherever a name stands."""

import operator
from enum import Enum, StrEnum
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import START, StateGraph
from signoff.types import Command, Send

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


class Bare(str, Enum):  # noqa: UP042
    A = "a"
    B = "b"


class Texts(StrEnum):
    A = "a"
    B = "b"


BOTH = pytest.mark.parametrize("names", [Bare, Texts])


def run(graph: StateGraph, tmp_path: Any, **settings: Any) -> list[str]:
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        app = graph.compile(checkpointer=saver, **settings)
        app.invoke({"log": []}, CONFIG)
        return app.invoke(None, CONFIG)["log"] if settings else app.get_state(CONFIG).values["log"]


def nodes(names: Any) -> StateGraph:
    graph = StateGraph(Log).add_node(names.A, lambda state: {"log": ["a"]})
    return graph.add_node(names.B, lambda state: {"log": ["b"]})


@BOTH
def test_in_edges_and_joins(names, tmp_path):
    graph = nodes(names).add_node("c", lambda state: {"log": ["c"]}).add_edge(START, names.A).add_edge(START, names.B)
    assert run(graph.add_edge([names.A, names.B], "c"), tmp_path) == ["a", "b", "c"]


@BOTH
def test_in_what_nodes_return(names, tmp_path):
    for number, way in enumerate((Command(goto=names.B), Send(names.B, {}), Command(goto=[Send(names.B, {})]))):
        graph = nodes(names).add_node("go", lambda state, way=way: way).add_edge(START, "go")
        (tmp_path / str(number)).mkdir()
        assert run(graph, tmp_path / str(number)) == ["b"]


@BOTH
@pytest.mark.parametrize("is_mapped", [False, True])
def test_in_conditional_edges_and_breakpoints(names, tmp_path, is_mapped):
    graph = nodes(names).add_edge(START, names.A)
    if is_mapped:
        graph.add_conditional_edges(names.A, lambda state: "on", {"on": names.B})
    else:
        graph.add_conditional_edges(names.A, lambda state: names.B)
    assert run(graph, tmp_path, interrupt_before=[names.B]) == ["a", "b"]
