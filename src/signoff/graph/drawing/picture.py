"""Graph: the picture of a graph, with LangChain's names, and every way to draw it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from signoff.errors import InvalidGraph, SignoffError, Unsupported
from signoff.graph.drawing import parts
from signoff.graph.drawing.ascii import draw_ascii
from signoff.graph.drawing.mermaid import CurveStyle, NodeStyles, draw_mermaid
from signoff.graph.drawing.parts import Edge, Node
from signoff.graph.drawing.svg import draw_svg

__all__ = ["Graph", "NeedsNetwork"]


class NeedsNetwork(SignoffError):
    """A picture was asked for that only a service in the network could draw."""


class NeedsGraphviz(Unsupported, ImportError):
    """A picture was asked for that only Graphviz could draw: an ImportError, as where it is not installed."""


@dataclass(slots=True)
class Graph:
    """The nodes and edges of a graph, to be looked at."""

    nodes: dict[str, Node] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.nodes)

    def add_node(self, data: Any, id: str | None = None, *, metadata: dict[str, Any] | None = None) -> Node:
        """Add a node; without an id it is called like its data."""
        node_id = id if id is not None else _name_of(data)
        if node_id in self.nodes:
            raise InvalidGraph(f"The picture already has a node {node_id!r}. Give the new one another id.")
        self.nodes[node_id] = Node(node_id, node_id, data, metadata)
        return self.nodes[node_id]

    def add_edge(self, source: Node, target: Node, data: Any = None, conditional: bool = False) -> Edge:
        """Add an edge between two nodes of this picture; `data` is its label."""
        edge = Edge(source.id, target.id, data, conditional)
        parts.refuse_unknown_ends(self.nodes, [edge])
        self.edges.append(edge)
        return edge

    def remove_node(self, node: Node) -> None:
        """Remove a node and its edges."""
        self.nodes.pop(node.id, None)
        self.edges = [edge for edge in self.edges if node.id not in (edge.source, edge.target)]

    def extend(self, graph: "Graph", *, prefix: str = "") -> tuple[Node | None, Node | None]:
        """Add all of another picture under the prefix; returns its first and its last node, as added."""
        head = f"{prefix}:" if prefix else ""
        added = {node.id: node._replace(id=head + node.id) for node in graph.nodes.values()}
        for node in added.values():
            if node.id in self.nodes:
                raise InvalidGraph(f"The picture already has a node {node.id!r}. Use another prefix.")
        self.nodes |= {node.id: node for node in added.values()}
        self.edges += [edge._replace(source=head + edge.source, target=head + edge.target) for edge in graph.edges]
        first, last = graph.first_node(), graph.last_node()
        return first and added[first.id], last and added[last.id]

    def first_node(self) -> Node | None:
        """The one node that no edge leads to, if there is just one."""
        return parts.first_node(self.nodes, self.edges)

    def last_node(self) -> Node | None:
        """The one node that no edge leaves, if there is just one."""
        return parts.last_node(self.nodes, self.edges)

    def trim_first_node(self) -> None:
        """Remove the first node if it has one edge, and the node it leads to becomes the first."""
        first = self.first_node()
        if first and _are_one([edge for edge in self.edges if edge.source == first.id]):
            self._remove_if(first, Graph.first_node)

    def trim_last_node(self) -> None:
        """Remove the last node if one edge leads to it, and the node it comes from becomes the last."""
        last = self.last_node()
        if last and _are_one([edge for edge in self.edges if edge.target == last.id]):
            self._remove_if(last, Graph.last_node)

    def _remove_if(self, node: Node, remains: "Callable[[Graph], Node | None]") -> None:
        rest = Graph(self.nodes.copy(), self.edges)
        rest.remove_node(node)
        if remains(rest):
            self.nodes, self.edges = rest.nodes, rest.edges

    def to_json(self) -> dict[str, list[dict[str, Any]]]:
        """The picture as plain dicts, for JSON."""
        return {
            "nodes": [_node_json(node) for node in self.nodes.values()],
            "edges": [_edge_json(edge) for edge in self.edges],
        }

    def draw_mermaid(
        self,
        *,
        with_styles: bool = True,
        curve_style: CurveStyle = CurveStyle.LINEAR,
        node_colors: NodeStyles | None = None,
        wrap_label_n_words: int = 9,
        frontmatter_config: Mapping[str, Any] | None = None,
    ) -> str:
        """The picture as the text of a mermaid flowchart."""
        parts.refuse_unknown_ends(self.nodes, self.edges)
        return draw_mermaid(
            self.nodes,
            self.edges,
            with_styles=with_styles,
            curve_style=curve_style,
            node_colors=node_colors,
            wrap_label_n_words=wrap_label_n_words,
            frontmatter_config=frontmatter_config,
        )

    def draw_ascii(self, *, width: int = 80) -> str:
        """The picture in letters; a list of edges if it does not fit the width."""
        parts.refuse_unknown_ends(self.nodes, self.edges)
        return draw_ascii(self.nodes, self.edges, width)

    def print_ascii(self) -> None:
        """Print the picture in letters."""
        print(self.draw_ascii())

    def draw_svg(self) -> str:
        """The picture as the text of an SVG file, which needs nothing else to be shown."""
        parts.refuse_unknown_ends(self.nodes, self.edges)
        return draw_svg(self.nodes, self.edges)

    def _repr_svg_(self) -> str:
        return self.draw_svg()

    def draw_mermaid_png(self, **options: Any) -> bytes:
        """Not done: mermaid pictures are drawn by a service in the network. Use `draw_svg()`."""
        raise NeedsNetwork(
            "draw_mermaid_png() would send the graph to a service in the network, which signoff does not do. "
            "Use draw_svg() for a picture, or paste draw_mermaid() where mermaid is shown."
        )

    def draw_png(self, *given: Any, **options: Any) -> bytes:
        """Not done: it would take Graphviz. Use `draw_svg()`."""
        raise NeedsGraphviz("draw_png() would take Graphviz, which signoff does without. Use draw_svg() for a picture.")


def _are_one(edges: list[Edge]) -> bool:
    """Whether there is one edge, or several that are the same."""
    return bool(edges) and all(edge == edges[0] for edge in edges)


def _name_of(data: Any) -> str:
    if data is None:
        raise InvalidGraph("A node without data needs an id. Pass one: add_node(None, 'name').")
    name = getattr(data, "name", None) or getattr(data, "__name__", None) or type(data).__name__
    return str(name)


def _node_json(node: Node) -> dict[str, Any]:
    result: dict[str, Any] = {"id": node.id}
    if isinstance(node.data, type):
        result |= {"type": "schema", "data": node.name}
    elif node.data is not None:
        kind = node.data if hasattr(node.data, "__qualname__") else type(node.data)
        result |= {
            "type": "runnable",
            "data": {"id": [*kind.__module__.split("."), kind.__qualname__], "name": node.name},
        }
    return result | ({"metadata": node.metadata} if node.metadata is not None else {})


def _edge_json(edge: Edge) -> dict[str, Any]:
    result: dict[str, Any] = {"source": edge.source, "target": edge.target}
    if edge.data is not None:
        result["data"] = edge.data
    if edge.conditional:
        result["conditional"] = True
    return result
