"""What annotations tell of a graph, and those that tell nothing: names that are not there when somebody looks."""

import operator
import sys
import types
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict, get_type_hints

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.graph.state import StateNode
from signoff.types import Command


class State(TypedDict):
    log: Annotated[list, operator.add]


def test_a_function_that_makes_nodes_can_be_annotated():
    def saying(word) -> StateNode[State, None]:
        return lambda state: {"log": [word]}

    assert get_type_hints(saying)["return"] == StateNode[State, None] != StateNode
    nodes: list[StateNode] = [saying("a")]
    assert StateGraph(State).add_node("a", nodes[0]).add_edge(START, "a").compile().invoke({"log": []}) == {
        "log": ["a"]
    }


B, C = Literal["b"], Literal["c"]


@pytest.mark.parametrize(
    ("hint", "ends"),
    [
        (Literal["b", "c"], ["b", "c"]),
        (B | C, ["b", "c"]),
        (B | Literal["c", "b"], ["b", "c"]),
        (B | str, []),
        (str, []),
    ],
    ids=["one", "two", "union", "or any text", "any text"],
)
def test_literals_say_where_a_node_or_a_conditional_edge_leads(hint, ends):
    def node(state) -> Command[hint]: ...

    def path(state) -> hint: ...

    def built(a, *paths):
        graph = StateGraph(State).add_node("a", a).add_node("b", saying_nothing).add_node("c", saying_nothing)
        graph.add_edge(START, "a")
        for one in paths:
            graph.add_conditional_edges("a", one)
        return graph.compile().get_graph().edges

    for edges in (built(node), built(saying_nothing, path)):
        assert [edge.target for edge in edges if edge.conditional] == ends


def saying_nothing(state):
    return None


@dataclass
class Go:
    """A node with a field."""

    to: str

    def __call__(self, state: State) -> Command[Literal["b", "c"]]:
        return Command(goto=self.to, update={"log": ["go"]})


@dataclass
class Choose:
    """A path with a field."""

    to: str

    def __call__(self, state: State) -> Literal["b", "c"]:
        return self.to


def graph(node):
    built = StateGraph(State).add_node("a", node).add_edge(START, "a")
    return built.add_node("b", said("b")).add_node("c", said("c"))


def said(text):
    return lambda state: {"log": [text]}


def ways(app):
    return [(edge.target, edge.conditional) for edge in app.get_graph().edges if edge.source == "a"]


@pytest.mark.parametrize(
    "built",
    [lambda: graph(Go("c")), lambda: graph(said("go")).add_conditional_edges("a", Choose("c"))],
    ids=["node", "path"],
)
def test_an_object_with_fields_says_where_it_leads(built):
    app = built().compile()

    assert ways(app) == [("b", True), ("c", True)]
    assert app.invoke({"log": []}) == {"log": ["go", "c"]}


PROGRAM = """
class Result:
    amount: Amount
    def __init__(self, log):
        self.log = log

def a(state: Checked) -> Command[Checked]:
    return Result(["go"])

def choose(state: Checked) -> Checked:
    return "c"

@task
def double(given: Checked, *, by: Later = None) -> Later:
    return Later(2 * given)

@entrypoint(checkpointer=InMemorySaver())
def flow(given: Checked, *, config: Checked) -> Later:
    return double(given).result()

@dataclass
class Later:
    amount: int
"""


@pytest.fixture
def program():
    """A program whose annotations name what comes further below, and `Checked`, which only type checkers see.

    From Python 3.14 on it may be written like this. Before, it says that annotations are not to be read yet.
    """
    head = "" if sys.version_info >= (3, 14) else "from __future__ import annotations"
    module = types.ModuleType("program")
    vars(module).update(task=task, entrypoint=entrypoint, InMemorySaver=InMemorySaver, dataclass=dataclass)
    sys.modules["program"] = module
    exec(head + PROGRAM, vars(module))
    yield module
    del sys.modules["program"]


def test_nodes_and_paths_whose_annotations_name_what_is_not_there_run(program):
    app = graph(program.a).add_conditional_edges("a", program.choose).compile()

    assert app.invoke({"log": []})["log"][-1] == "c"


def test_tasks_whose_annotations_name_what_is_not_there_run(program):
    assert program.flow.invoke(1, {"configurable": {"thread_id": "1"}}) == program.Later(2)
