"""What a picture is made of: nodes, edges, and the questions every drawing asks about them."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from signoff.errors import InvalidGraph

__all__ = ["Edge", "Node", "common_frame", "first_node", "last_node", "parent_of", "refuse_unknown_ends"]


class Node(NamedTuple):
    """A node of a picture; the ids of nested nodes have the ids of their graphs in front: `child:a`."""

    id: str
    name: str
    data: Any = None
    metadata: dict[str, Any] | None = None


class Edge(NamedTuple):
    """An arrow of a picture; `data` is its label."""

    source: str
    target: str
    data: Any = None
    conditional: bool = False


def first_node(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> Node | None:
    """The one node that no edge leads to, if there is just one."""
    return _only_missing(nodes, {edge.target for edge in edges})


def last_node(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> Node | None:
    """The one node that no edge leaves, if there is just one."""
    return _only_missing(nodes, {edge.source for edge in edges})


def parent_of(node_id: str) -> str:
    """The id of the nested graph that a node or a nested graph is in; "" for the outermost."""
    return node_id.rpartition(":")[0]


def common_frame(edge: Edge) -> str:
    """The id of the innermost nested graph that has both ends of an edge."""
    frame, other = parent_of(edge.source), parent_of(edge.target) + ":"
    while frame and not other.startswith(frame + ":"):
        frame = parent_of(frame)
    return frame


def refuse_unknown_ends(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> None:
    """Raise if an edge begins or ends at a node that is not in the picture."""
    for edge in edges:
        for end in (edge.source, edge.target):
            if end not in nodes:
                raise InvalidGraph(
                    f"The edge from {edge.source!r} to {edge.target!r} needs a node {end!r}. "
                    f"Add it with add_node(None, {end!r}), or take the edge out."
                )


def _only_missing(nodes: Mapping[str, Node], known: Collection[str]) -> Node | None:
    missing = [node for node_id, node in nodes.items() if node_id not in known]
    return missing[0] if len(missing) == 1 else None
