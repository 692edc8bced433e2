"""Pictures as mermaid text, the same text that LangGraph prints for the same nodes and edges.

It differs only where LangChain's text loses something: nested graphs without an edge of their own that hold
others, edges between namesakes in two nested graphs, and a second edge from a node to itself; and where mermaid would
take the name of a node for a word of its own.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from signoff.errors import InvalidInput
from signoff.graph.drawing.frontmatter import frontmatter
from signoff.graph.drawing.labels import name_of, notes_of
from signoff.graph.drawing.parts import Edge, Node, common_frame, first_node, last_node, parent_of

__all__ = ["CurveStyle", "NodeStyles", "draw_mermaid"]

_MARKDOWN = ("*", "_", "`")
_KEYWORD = re.compile(
    r"(?:call|class|classDef|click|default|direction|end|flowchart|graph|href|linkStyle|style|subgraph)\b"
)
_CODES = str.maketrans({character: f"#{ord(character)};" for character in "<>#()[]{}|"} | {'"': "#quot;"})


class CurveStyle(Enum):
    """The shapes that mermaid can give to edges."""

    BASIS = "basis"
    BUMP_X = "bumpX"
    BUMP_Y = "bumpY"
    CARDINAL = "cardinal"
    CATMULL_ROM = "catmullRom"
    LINEAR = "linear"
    MONOTONE_X = "monotoneX"
    MONOTONE_Y = "monotoneY"
    NATURAL = "natural"
    STEP = "step"
    STEP_AFTER = "stepAfter"
    STEP_BEFORE = "stepBefore"


@dataclass(frozen=True, slots=True)
class NodeStyles:
    """The CSS of all nodes, of the first and of the last."""

    default: str = "fill:#f2f0ff,line-height:1.2"
    first: str = "fill-opacity:0"
    last: str = "fill:#bfb6fc"


def draw_mermaid(
    nodes: Mapping[str, Node],
    edges: Sequence[Edge],
    *,
    with_styles: bool = True,
    curve_style: CurveStyle = CurveStyle.LINEAR,
    node_colors: NodeStyles | None = None,
    wrap_label_n_words: int = 9,
    frontmatter_config: Mapping[str, Any] | None = None,
) -> str:
    """The nodes and edges as a mermaid flowchart."""
    drawing = _Drawing(nodes, edges, with_styles, wrap_label_n_words)
    lines = "".join(f"\t{line}\n" for line in drawing.frame(""))
    if not with_styles:
        return "graph TD;\n" + lines
    head = frontmatter(_settings(frontmatter_config or {}, curve_style))
    styles = node_colors or NodeStyles()
    classes = "".join(f"\tclassDef {name} {getattr(styles, name)}\n" for name in ("default", "first", "last"))
    return f"{head}graph TD;\n{lines}{classes}"


class _Drawing:
    """The lines of one flowchart, frame by frame."""

    def __init__(self, nodes: Mapping[str, Node], edges: Sequence[Edge], with_nodes: bool, label_words: int) -> None:
        self.nodes = nodes
        self.with_nodes = with_nodes
        self.label_words = label_words
        self.first = first_node(nodes, edges)
        self.last = last_node(nodes, edges)
        self.edges: dict[str, list[Edge]] = {}
        self.loops: dict[str, list[Edge]] = {}
        self.inside: dict[str, dict[str, None]] = {}  # what a frame shows after its own edges, in order
        self._sort_edges(edges)
        self._find_empty_frames()

    def _sort_edges(self, edges: Sequence[Edge]) -> None:
        for edge in edges:
            if edge.source == edge.target:
                self.loops.setdefault(edge.source, []).append(edge)
                self._show(edge.source)
            else:
                frame = common_frame(edge)
                self.edges.setdefault(frame, []).append(edge)
                self._show(frame)

    def _find_empty_frames(self) -> None:
        """Show the frames that no edge of their own has shown yet."""
        for node_id in self.nodes if self.with_nodes else [*self.edges, *self.loops]:
            frame = parent_of(node_id)
            while frame:
                self._show(frame)
                frame = parent_of(frame)

    def _show(self, what: str) -> None:
        if what:
            self.inside.setdefault(parent_of(what), {})[what] = None

    def frame(self, frame: str) -> Iterator[str]:
        """The nodes, the edges and the frames inside of one frame."""
        if self.with_nodes:
            yield from (self._node(node) for node in self.nodes.values() if parent_of(node.id) == frame)
        yield from map(self._edge, self.edges.get(frame, []))
        for child in self.inside.get(frame, {}):
            yield from map(self._edge, self.loops.get(child, []))
            if child in self.inside or child in self.edges or self._holds_a_node(child):
                name = child.rpartition(":")[2]
                yield f'subgraph {_identifier(name)}["{name}"]' if _KEYWORD.match(name) else f"subgraph {name}"
                yield from self.frame(child)
                yield "end"

    def _holds_a_node(self, frame: str) -> bool:
        return self.with_nodes and any(parent_of(node_id) == frame for node_id in self.nodes)

    def _node(self, node: Node) -> str:
        if node is self.last:
            return f"{_identifier(node.id)}([{_label(node)}]):::last"
        if node is self.first:
            return f"{_identifier(node.id)}([{_label(node)}]):::first"
        return f"{_identifier(node.id)}({_label(node)})"

    def _edge(self, edge: Edge) -> str:
        begin, end = ("-.", ".->") if edge.conditional else ("--", "-->")
        arrow = "-.->" if edge.conditional else "-->"
        if edge.data is not None:
            arrow = f"{begin} &nbsp;{self._wrap(str(edge.data))}&nbsp; {end}"
        return f"{_identifier(edge.source)} {arrow} {_identifier(edge.target)};"

    def _wrap(self, text: str) -> str:
        words, count = text.split(), self.label_words
        if len(words) <= count:
            return text
        lines = (" ".join(words[at : at + count]) for at in range(0, len(words), count))
        return "&nbsp<br>&nbsp".join(lines)


def _identifier(node_id: str) -> str:
    rest = re.sub(r"[^a-zA-Z0-9_-]", _code, node_id)
    return re.sub("^.", _code, rest) if _KEYWORD.match(rest) else rest


def _code(match: re.Match[str]) -> str:
    return f"\\{ord(match[0]):x}"


def _label(node: Node) -> str:
    label = name_of(node)
    # In a paragraph of its own, so that mermaid does not take the name for markdown.
    if label.startswith(_MARKDOWN) and label.endswith(_MARKDOWN):
        label = f"<p>{label}</p>"
    notes = "\n".join(f"{key} = {value}" for key, value in notes_of(node))
    return f"{label}<hr/><small><em>{notes.translate(_CODES)}</em></small>" if notes else label


def _settings(given: Mapping[str, Any], curve_style: CurveStyle) -> dict[str, Any]:
    """The given settings with the curve among them."""
    config = given.get("config", {})
    flowchart = config.get("flowchart", {}) if isinstance(config, Mapping) else None
    if not isinstance(flowchart, Mapping):
        raise InvalidInput(
            "In frontmatter_config, 'config' and 'config.flowchart' must be dicts, as in "
            "{'config': {'theme': 'neutral'}}."
        )
    return {**given, "config": {**config, "flowchart": {**flowchart, "curve": curve_style.value}}}
