"""Promises 4 and 11: what a graph calls between its tasks is part of none, wherever the graph itself is called.

A reducer, a key_func or the type of a state may not ask: no task would begin again there, and those that have finished
would.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, TypedDict

import pytest

from signoff.cache.memory import InMemoryCache
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import OutsideOfRun
from signoff.func import task
from signoff.graph import END, START, StateGraph
from signoff.types import CachePolicy, Command, interrupt

from .programs import NEW, Log, asking, beside, line


def at_the_root(graph: StateGraph) -> StateGraph:
    return graph


def as_a_node(graph: StateGraph) -> StateGraph:
    return beside(inner=graph.compile(cache=InMemoryCache()))


def with_a_memory(graph: StateGraph) -> StateGraph:
    return beside(inner=graph.compile(checkpointer=True, cache=InMemoryCache()))


def called_on_a_thread_of_its_own(graph: StateGraph) -> StateGraph:
    app = graph.compile(checkpointer=InMemorySaver(), cache=InMemoryCache())
    return beside(inner=lambda state: app.invoke(NEW, {"configurable": {"thread_id": "its own"}}))


AROUND = pytest.mark.parametrize("around", [at_the_root, as_a_node, with_a_memory, called_on_a_thread_of_its_own])


def ask(update):
    return interrupt("May it be?") if update == ["done"] else update


@task
def look_up(update):
    return update


def look(update):
    return look_up(update).result() if update == ["done"] else update


def merging(merge) -> StateGraph:
    class Merged(TypedDict):
        log: Annotated[list, lambda value, update: value + merge(update)]

    return StateGraph(Merged).add_node("work", lambda state: {"log": ["done"]}).add_edge(START, "work")


@pytest.mark.parametrize("merge", [ask, look])
@pytest.mark.parametrize("has_edge", [False, True])
@AROUND
def test_a_reducer_neither_asks_nor_calls_tasks(open_app, around, has_edge, merge):
    graph = merging(merge)
    if has_edge:  # which sees what the reducer makes of its node's result
        graph.add_conditional_edges("work", lambda state: END, [END])
    app = open_app(around(graph))
    with pytest.raises(OutsideOfRun, match="reducers") as refused:
        app.invoke(NEW)
    assert "The reducer of key 'log' failed" in refused.value.__notes__[0]
    assert app.questions() == []


@dataclass
class Picky:
    log: Annotated[list, lambda value, update: value + update]

    def __post_init__(self):
        if self.log:
            interrupt("May it be?")


@dataclass
class Given:
    log: Annotated[list, lambda value, update: value + update]
    by: Any = field(default_factory=lambda: interrupt("Who?"))


KINDS = {
    "the type of a state": lambda done: StateGraph(Picky).add_sequence([("work", done), ("last", lambda state: None)]),
    "a default": lambda done: StateGraph(Given).add_node("work", done),
    "a key_func": lambda done: StateGraph(Log).add_sequence([("work", done)]).add_node(
        "last", done, cache_policy=CachePolicy(key_func=lambda state: interrupt("Which?"))
    ).add_edge("work", "last"),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@AROUND
def test_what_a_state_is_made_of_and_known_by_does_not_ask(open_app, around, kind):
    graph = KINDS[kind](lambda state: {"log": ["done"]}).add_edge(START, "work")
    app = open_app(around(graph), cache=InMemoryCache())
    with pytest.raises(OutsideOfRun, match="types of states and a key_func"):
        app.invoke(NEW)
    assert app.questions() == []


@pytest.mark.parametrize("around", [at_the_root, as_a_node, with_a_memory])
def test_a_graph_that_a_reducer_calls_runs_by_itself(open_app, around):
    """It has not the place of the graph that the reducer belongs to."""
    shorter = line(shorten=lambda state: {"log": ["in", "short"]}).compile()

    class Short(TypedDict):
        log: Annotated[list, lambda value, update: value + shorter.invoke({"log": []})["log"] if update else value]

    graph = StateGraph(Short).add_sequence([("work", lambda state: {"log": ["done"]}), ("ask", asking())])
    app = open_app(around(graph.add_edge(START, "work")))
    assert app.ask(NEW) == ["sure?"]
    assert app.invoke(Command(resume="yes"))["log"] == ["in", "short", "in", "short"]
