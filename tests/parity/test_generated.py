"""Random graphs: the same result, stream and history on both libraries.

A graph is data: nodes with a behaviour each (write, count, go somewhere, send, ask nothing), edges, joins,
branches, loops that a counter bounds. What LangGraph makes of it is the reference, whatever it is.
"""

import operator
from dataclasses import dataclass, replace
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypedDict

from .harness import Library, by_step, observe, thread

pytestmark = pytest.mark.parity

NAMES = ("a", "b", "c", "d", "e")
LIMIT = 12


class State(TypedDict):
    log: Annotated[list[str], operator.add]
    total: Annotated[int, operator.add]
    last: Annotated[str, lambda left, right: f"{left}{right}"[-8:]]


@dataclass(frozen=True)
class Node:
    """What a node does: `kind` is one of update, silent, goto, send."""

    kind: str
    targets: tuple[str, ...]
    defer: bool


@dataclass(frozen=True)
class Shape:
    """A graph as data."""

    nodes: dict[str, Node]
    edges: tuple[tuple[str, str], ...]
    joins: tuple[tuple[tuple[str, ...], str], ...]
    branches: dict[str, tuple[str, ...]]
    before: tuple[str, ...]


@st.composite
def shapes(draw: Any) -> Shape:
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    some = st.lists(st.sampled_from(names), max_size=2, unique=True).map(tuple)
    ends = st.lists(st.sampled_from((*names, "END")), min_size=1, max_size=2, unique=True).map(tuple)
    kinds = st.sampled_from(("update", "update", "update", "silent", "goto", "send"))
    nodes = {name: Node(draw(kinds), draw(some), draw(st.integers(0, 7)) == 0) for name in names}
    if any(node.kind == "send" for node in nodes.values()):
        # signoff's deferred nodes wait for Sends, LangGraph's do not: test_differences has it.
        nodes = {name: replace(node, defer=False) for name, node in nodes.items()}
    edges = draw(st.lists(st.tuples(st.sampled_from(names), st.sampled_from((*names, "END"))), max_size=5, unique=True))
    starts = draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True))
    pairs = st.tuples(some.filter(lambda starts: len(starts) == 2), st.sampled_from(names))
    joins = draw(st.lists(pairs, max_size=2)) if len(names) > 1 else []
    branches = draw(st.dictionaries(st.sampled_from(names), ends, max_size=2))
    before = draw(st.one_of(st.just(()), some))
    return Shape(nodes, (*(("START", start) for start in starts), *edges), tuple(joins), branches, before)


def _action(lib: Library, name: str, node: Node) -> Any:
    """The function of a node. It stops going anywhere once the log is long: every graph comes to an end or a limit."""

    def act(state: State) -> Any:
        size = len(state.get("log") or ())
        update = {"log": [f"{name}{size}"], "total": size, "last": name}
        goes_on = size < 6
        if node.kind == "silent":
            return None
        if node.kind == "goto" and goes_on:
            return lib.Command(update=update, goto=list(node.targets))
        if node.kind == "send" and goes_on:
            return lib.Command(update=update, goto=[lib.Send(target, {"log": ["sent"] * 3}) for target in node.targets])
        return update

    return act


def _path(lib: Library, targets: tuple[str, ...]) -> Any:
    def path(state: State) -> Any:
        if len(state["log"]) >= 8:
            return lib.END
        chosen = targets[len(state["log"]) % len(targets)]
        return lib.END if chosen == "END" else chosen

    return path


def _built(lib: Library, shape: Shape) -> Any:
    graph = lib.StateGraph(State)
    for name, node in shape.nodes.items():
        graph.add_node(name, _action(lib, name, node), defer=node.defer)
    ends = {"START": lib.START, "END": lib.END}
    for start, end in shape.edges:
        graph.add_edge(ends.get(start, start), ends.get(end, end))
    for starts, end in shape.joins:
        graph.add_edge(list(starts), end)
    for name, targets in shape.branches.items():
        graph.add_conditional_edges(name, _path(lib, targets))
    return graph


def _seen(shape: Shape):
    """The program: run the graph in one go with a limit, then with a saver and breakpoints, and read its history."""

    def program(lib: Library):
        config = {**thread(), "recursion_limit": LIMIT}
        plain = lib.app(_built(lib, shape))
        chunks = plain.stream({"log": ["in"], "total": 1}, config, mode=["updates", "values"], fails="maybe")
        failure = chunks.pop() if not isinstance(chunks[-1], tuple) else None
        yield by_step(chunks), failure
        saved = lib.saved(_built(lib, shape), interrupt_before=list(shape.before))
        yield saved.invoke({"log": ["in"], "total": 1}, config, fails="maybe")
        yield saved.invoke(None, config, fails="maybe")
        history = saved.history(thread())
        yield [(snapshot.values, snapshot.metadata) for snapshot in history]
        # LangGraph's history shows nodes behind a join as next that did not run; its runs are right.
        yield [] if shape.joins else [snapshot.next for snapshot in history]

    return program


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(shapes())
def test_a_random_graph_is_the_same(shape: Shape) -> None:
    assert observe(_seen(shape), "signoff") == observe(_seen(shape), "langgraph")


@settings(max_examples=25, deadline=None, derandomize=True, database=None)
@given(shapes())
def test_a_random_graph_is_the_same_in_async(shape: Shape) -> None:
    ours = observe(_seen(shape), "signoff", is_async=True)
    assert ours == observe(_seen(shape), "langgraph", is_async=True)
