"""Validating: what compile() refuses, and how it says so."""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff.constants import END, START
from signoff.errors import InvalidGraph
from signoff.graph.description import Description
from signoff.graph.routing import guessed
from signoff.pregel.terms import named


def validate(graph: Description, breakpoints: Sequence[str] = ()) -> None:
    """Refuse a graph that names nodes it does not have, or that has no beginning."""
    starts = [start for start, _ in graph.edges] + [start for several, _ in graph.waiting_edges for start in several]
    _check_known(graph, starts, "An edge begins at")
    _check_known(graph, graph.branches, "A conditional edge begins at")
    _check_known(graph, [end for _, end in graph.edges | graph.waiting_edges], "An edge ends at")
    for source, branches in graph.branches.items():
        for branch in branches.values():
            ends = (branch.ends or {}).values()
            _check_known(graph, ends, f"The conditional edge {branch.name!r} behind {source!r} leads to")
    _check_known(graph, breakpoints, "A breakpoint is set at")
    if START not in starts and START not in graph.branches:
        first = next(iter(graph.nodes), "first_node")
        raise InvalidGraph(f"The graph has no beginning. Add one: add_edge(START, {first!r}).")
    for name, spec in graph.nodes.items():
        _check_known(graph, spec.ends, f"Node {name!r} has a destination")


def breakpoints_of(before: Any, after: Any) -> list[str]:
    """The nodes that breakpoints name."""
    return [node for names in (before, after) if names and names != "*" for node in named(names, InvalidGraph)]


def _check_known(graph: Description, names: Iterable[str], what: str) -> None:
    for name in names:
        if name not in graph.nodes and name not in (START, END):
            mend = guessed(name, graph.nodes) or f"Add it with add_node({name!r}, function)."
            raise InvalidGraph(f"{what} {name!r}, which is not a node of this graph. {mend}")
