"""Steps without a saver: in a row, in a loop, in large graphs and wide states, nested; and compiling."""

from functools import partial
from typing import Any, TypedDict

from bench.library import Library
from bench.measuring import Run, Work
from bench.programs.words import LONG, UNLIMITED, Count, aadd_one, add_one, ainvoking, between, chain, invoking


def step(lib: Library) -> Work:
    """A step in a row."""
    return between(lambda length: invoking(chain(lib, length)))


def async_step(lib: Library) -> Work:
    """A step of an async node in a row."""
    return between(lambda length: ainvoking(lib, chain(lib, length, aadd_one)))


def looping_step(lib: Library) -> Work:
    """A step of a loop that a conditional edge closes."""
    END = lib.END
    graph = lib.StateGraph(Count)
    graph.add_node("again", add_one)
    graph.add_edge(lib.START, "again")
    graph.add_conditional_edges("again", lambda state: END if state["x"] >= LONG else "again")
    app = graph.compile()
    return between(lambda length: partial(app.invoke, {"x": LONG - length}, UNLIMITED))


def one_node(lib: Library) -> Work:
    """A whole call of a graph with one node."""
    return Work(invoking(chain(lib, 1)))


def async_one_node(lib: Library) -> Work:
    """A whole call of a graph with one async node."""
    return Work(ainvoking(lib, chain(lib, 1, aadd_one)))


def whole_chain(lib: Library, nodes: int) -> Work:
    """A whole call of a chain."""
    return Work(invoking(chain(lib, nodes)))


def step_among(lib: Library, nodes: int) -> Work:
    """A step in a chain of many nodes, or of few; what a call costs is left out."""
    return Work(invoking(chain(lib, nodes)), nodes - 1, invoking(chain(lib, 1)))


def step_with_keys(lib: Library, keys: int) -> Work:
    """A step in a graph whose state has many keys, all of them there, one of them written."""
    names = ["x", *(f"key_{number}" for number in range(1, keys))]
    make: Any = TypedDict
    state = make("Wide", dict.fromkeys(names, int))
    values = dict.fromkeys(names, 0)

    def running(length: int) -> Run:
        app = chain(lib, length, state=state).compile()
        return lambda: app.invoke(values, UNLIMITED)

    return between(running, long=22, short=2)


def nested_call(lib: Library) -> Work:
    """A step that is a graph of its own, with one node."""
    inner = chain(lib, 1).compile()
    return between(lambda length: invoking(chain(lib, length, inner)), long=22, short=2)


def async_nested_call(lib: Library) -> Work:
    """The same with async nodes."""
    inner = chain(lib, 1, aadd_one).compile()
    return between(lambda length: ainvoking(lib, chain(lib, length, inner)), long=22, short=2)


def compiling(lib: Library, nodes: int) -> Work:
    """Describing and compiling a chain."""
    return Work(lambda: chain(lib, nodes).compile())
