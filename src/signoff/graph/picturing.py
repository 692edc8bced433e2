"""Picturing: the nodes and edges of a graph as a drawing shows them, nested graphs included."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from signoff.constants import END, START
from signoff.graph.description import Description
from signoff.graph.drawing import Edge, Graph

if TYPE_CHECKING:
    from signoff.graph.nodes import NodeSpec


def picture_of(
    builder: Description, nested: Mapping[str, Any], stops: Mapping[str, str], xray: int | bool = False
) -> Graph:
    """The picture of a graph; with `xray`, nested graphs are opened, to any depth or to that many levels.

    nested: the graph that each node is, or that its function calls.
    stops: at which nodes there is a breakpoint, and whether before or after them.
    """
    graph = Graph()
    graph.add_node(None, START)
    opened = {name: inner for name, inner in nested.items() if xray and hasattr(inner, "get_graph")}
    for name, spec in builder.nodes.items():
        if name not in opened:
            graph.add_node(spec.action, name, metadata=_notes(spec, stops.get(name)))
    edges = sorted(_edges(builder), key=_order)
    if any(edge.target == END for edge in edges):
        graph.add_node(None, END)
    ends = {name: _open(graph, name, inner, xray) for name, inner in opened.items()}
    own = [
        edge._replace(
            source=ends[edge.source][1] if edge.source in ends else edge.source,
            target=ends[edge.target][0] if edge.target in ends else edge.target,
        )
        for edge in edges
    ]
    graph.edges[:0] = own
    return graph


def _order(edge: Edge) -> tuple[bool, str, str, str]:
    """Where an edge stands among the others: by names, and last those that only say that a run is over."""
    is_over = edge.target == END and not edge.conditional
    return is_over, edge.source, edge.target, str(edge.data)


def _notes(spec: "NodeSpec", stop: str | None) -> dict[str, Any] | None:
    notes = dict(spec.metadata or {})
    if spec.defer:
        notes["defer"] = True
    if stop:
        notes["__interrupt"] = stop
    tools = getattr(spec.action, "tools_by_name", None)
    if isinstance(tools, Mapping) and tools:
        notes["__tools"] = list(tools)
    return notes or None


def _open(graph: Graph, name: str, nested: Any, xray: int | bool) -> tuple[str, str]:
    """Draw a nested graph in place of its node. Returns the ids of its first and its last node."""
    inner = nested.get_graph(xray=xray if xray is True else xray - 1)
    inner.trim_first_node()
    inner.trim_last_node()
    if inner.last_node() is None and END not in inner.nodes:
        inner.add_node(None, END)  # it may end in a way that no edge tells
    first, last = graph.extend(inner, prefix=name)
    return first.id if first else f"{name}:{START}", last.id if last else f"{name}:{END}"


def _edges(builder: Description) -> list[Edge]:
    fixed = [Edge(start, end) for start, end in builder.edges]
    fixed += [Edge(start, end) for starts, end in builder.waiting_edges for start in starts]
    chosen = [edge for source, branches in builder.branches.items() for edge in _branch_edges(source, branches)]
    led = [edge for name, spec in builder.nodes.items() for edge in _led_edges(name, spec)]
    edges = [*dict.fromkeys([*fixed, *chosen, *led])]  # a node may lead to another one in two ways
    return edges + [Edge(name, END) for name in _dead_ends(builder, edges)]


def _branch_edges(source: str, branches: dict[str, Any]) -> list[Edge]:
    return [
        Edge(source, target, str(label) if label != target else None, True)
        for branch in branches.values()
        for label, target in (branch.ends or {}).items()
    ]


def _led_edges(name: str, spec: "NodeSpec") -> list[Edge]:
    labels = spec.ends if isinstance(spec.ends, dict) else dict.fromkeys(spec.ends)
    return [Edge(name, target, label if label != target else None, True) for target, label in labels.items()]


def _dead_ends(builder: Description, edges: list[Edge]) -> list[str]:
    """The nodes behind which nothing comes: a run ends there."""
    return sorted(set(builder.nodes) - {edge.source for edge in edges} - set(builder.branches))
