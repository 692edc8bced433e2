"""What the programs have in common: states, nodes, graphs in a row."""

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

from bench.library import Library
from bench.measuring import CPU, Clock, Run, Work
from bench.storage import MANY, Storage

LONG = 110
SHORT = 10
"""The cost of a step is the difference between a long and a short chain, so that what a call costs is left out."""

UNLIMITED: dict[str, Any] = {"recursion_limit": MANY}


class Count(TypedDict):
    x: int


class Log(TypedDict):
    log: Annotated[list[int], operator.add]


def add_one(state: Count) -> Count:
    return {"x": state["x"] + 1}


async def aadd_one(state: Count) -> Count:
    return {"x": state["x"] + 1}


def chain(lib: Library, length: int, node: Any = add_one, state: Any = Count) -> Any:
    """A graph of nodes in a row, not compiled yet."""
    graph = lib.StateGraph(state)
    names = [f"node_{number}" for number in range(length)]
    for name in names:
        graph.add_node(name, node)
    for start, end in zip([lib.START, *names], [*names, lib.END], strict=True):
        graph.add_edge(start, end)
    return graph


def invoking(graph: Any) -> Run:
    """Running a graph without a saver."""
    app = graph.compile()
    return lambda: app.invoke({"x": 0}, UNLIMITED)


def ainvoking(lib: Library, graph: Any) -> Run:
    """The same on the event loop."""
    app = graph.compile()
    return lambda: lib.run(app.ainvoke({"x": 0}, UNLIMITED))


def between(
    run_of: Callable[[int], Run],
    *,
    long: int = LONG,
    short: int = SHORT,
    storage: Storage | None = None,
    clock: Clock = CPU,
) -> Work:
    """The work that lies between a short and a long run."""
    tidy, meter = (storage.forget, storage.meter) if storage else (None, None)
    return Work(run_of(long), long - short, run_of(short), tidy, clock, meter)
