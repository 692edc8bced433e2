"""What is twice as large takes about twice as many calls, not four times as many."""

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest
from bench.counting import Calls

from signoff.graph import START, StateGraph


class Log(TypedDict):
    log: Annotated[list[Any], operator.add]


def say(state):
    return {"log": ["said"]}


def calls_of(work: Callable[[], Any]) -> int:
    work()
    return Calls().during(work)


def one_join_of_many(nodes: int) -> StateGraph:
    names = [f"n{number}" for number in range(nodes)]
    graph = StateGraph(Log).add_node("end", say).add_edge(names, "end")
    for name in names:
        graph.add_node(name, say).add_edge(START, name)
    return graph


def many_joins_of_two(nodes: int) -> StateGraph:
    graph = StateGraph(Log)
    for number in range(nodes):
        graph.add_node(f"n{number}", say).add_edge(START, f"n{number}")
        graph.add_node(f"m{number}", say).add_edge([f"n{number}", f"n{(number + 1) % nodes}"], f"m{number}")
    return graph


@pytest.mark.parametrize("described", [one_join_of_many, many_joins_of_two])
def test_a_graph_with_twice_as_many_nodes_to_join_takes_twice_as_many_calls_to_compile(described):
    few, many = (calls_of(described(nodes).compile) for nodes in (100, 200))
    assert many < 2.2 * few
