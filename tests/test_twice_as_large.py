"""What is twice as large takes about twice as many calls, not four times as many."""

import operator
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, TypedDict

import pytest
from bench.counting import Calls

from signoff.checkpoint.memory import InMemorySaver
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


HOUSEKEEPING = {
    "by count": lambda saver: saver.keep_last(5, dry_run=True),
    "by age": lambda saver: saver.cleanup_before(datetime.now(UTC), dry_run=True),
}


@pytest.mark.parametrize("tidied", HOUSEKEEPING)
def test_a_thread_in_memory_with_twice_as_many_checkpoints_takes_twice_as_many_calls_to_tidy_up(tidied):
    few, many = (calls_of(lambda saver=talked(turns): HOUSEKEEPING[tidied](saver)) for turns in (100, 200))
    assert many < 2.2 * few


def talked(turns: int) -> InMemorySaver:
    saver = InMemorySaver()
    app = StateGraph(Log).add_node("say", say).add_edge(START, "say").compile(checkpointer=saver)
    for number in range(turns):
        app.invoke({"log": [number]}, {"configurable": {"thread_id": "1"}})
    return saver
