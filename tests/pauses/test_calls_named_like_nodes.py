"""A `@task` call that has the name of a node, with a nested graph in both: none is taken for the other."""

import operator
from typing import Annotated, Any, TypedDict

import pytest

from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Log(TypedDict):
    log: Annotated[list, operator.add]


def asking(word: str, remembers: bool) -> Any:
    """A graph that asks, and says what it knew before."""

    def ask(state: Log) -> Any:
        return {"log": [interrupt({"ask": word, "knows": state["log"]})]}

    graph = StateGraph(Log).add_node(f"ask_{word}", ask).add_edge(START, f"ask_{word}")
    return graph.compile(checkpointer=True if remembers else None)


def beside(node_graph: Any, call_graph: Any) -> StateGraph:
    """A node that is a graph, and beside it one that makes a call of its name."""

    def other(state: Log) -> Any:
        return {"log": task(lambda: last_of(call_graph, "call"), name="desk")().result()}

    graph = StateGraph(Log).add_node("desk", lambda state: {"log": last_of(node_graph, "node")})
    return graph.add_node(other).add_edge(START, "desk").add_edge(START, "other")


def behind(node_graph: Any, call_graph: Any) -> StateGraph:
    """The same, one after the other."""
    graph = beside(node_graph, call_graph)
    graph.edges.clear()
    return graph.add_edge(START, "desk").add_edge("desk", "other")


def inside(node_graph: Any, call_graph: Any) -> StateGraph:
    """A node that calls a graph, and makes a call of its own name."""

    def desk(state: Log) -> Any:
        called = task(lambda: last_of(call_graph, "call"), name="desk")().result()
        return {"log": [*last_of(node_graph, "node"), *called]}

    return StateGraph(Log).add_node(desk).add_edge(START, "desk")


def first_inside(node_graph: Any, call_graph: Any) -> StateGraph:
    """The same, the call last."""

    def desk(state: Log) -> Any:
        said = last_of(node_graph, "node")
        return {"log": [*said, *task(lambda: last_of(call_graph, "call"), name="desk")().result()]}

    return StateGraph(Log).add_node(desk).add_edge(START, "desk")


def last_of(graph: Any, word: str) -> list[Any]:
    return [graph.invoke({"log": [f"for {word}"]})["log"][-1]]


@pytest.mark.parametrize("remembers", [True, False], ids=["remembers", "forgets"])
@pytest.mark.parametrize("program", [beside, behind, inside, first_inside])
def test_each_graph_knows_and_asks_its_own(open_app, program, remembers):
    app = open_app(program(asking("node", remembers), asking("call", remembers)))
    known: dict[str, list[Any]] = {"node": [], "call": []}
    for turn in range(3):
        app.invoke({"log": []})
        while (state := app.get_state()).interrupts:
            question = state.interrupts[-1]
            word = question.value["ask"]
            before = known[word] if remembers else []
            assert question.value["knows"] == [*before, f"for {word}"]
            known[word] = [*before, f"for {word}", f"{word} {turn}"]
            app.invoke(Command(resume={question.id: f"{word} {turn}"}))
    assert app.get_state().values["log"] == [f"{word} {turn}" for turn in range(3) for word in ("node", "call")]


def test_what_a_graph_remembers_that_a_call_makes_belongs_to_the_node_that_makes_it(open_app):
    graph = asking("both", remembers=True)

    def called(state: Log) -> Any:
        return {"log": task(lambda: last_of(graph, "both"), name="call")().result()}

    app = StateGraph(Log).add_node("one", called).add_node("two", called).add_edge(START, "one").add_edge("one", "two")
    app = open_app(app)
    app.invoke({"log": []})
    for turn in range(4):
        before = ["for both", f"answer {turn - 2}"] if turn > 1 else []
        assert app.get_state().interrupts[0].value["knows"] == [*before, "for both"]
        app.invoke(Command(resume=f"answer {turn}"))
        if turn == 1:
            app.invoke({"log": []})
