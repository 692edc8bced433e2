"""Pictures as SVG: one file, no script, no font to load, readable on light and on dark paper.

All words stand on a fill of their own, and all lines have a middle grey, so the paper may have any colour.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from signoff.graph.drawing.blocks import Grid, Point
from signoff.graph.drawing.labels import edge_label, lines_of, loop_label, title_of
from signoff.graph.drawing.layout import Layout, Rect, Route, lay_out
from signoff.graph.drawing.parts import Edge, Node, first_node, last_node

__all__ = ["draw_svg"]

_GRID = Grid(
    letter=8, line=18, text_pad=5, pad_x=14, pad_y=9, inset=10, port=14, gap=26,
    lead=14, track=12, tail=16, frame_x=14, frame_y=10, loop=38,
)  # fmt: skip
_MARGIN = 12
_CORNER = 6
_HEAD = 8
_LINE = "#7d8590"
_INK = "#1f2328"
_FILLS = {"box": "#eceaff", "first": "#ffffff", "last": "#cfc8ff", "words": "#f6f8fa"}


def draw_svg(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> str:
    """The picture as the text of an SVG file."""
    layout = lay_out(nodes, edges, _GRID)
    width, height = layout.width + 2 * _MARGIN, layout.height + 2 * _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="{-_MARGIN} {-_MARGIN} {width} {height}" role="img" font-size="13" text-anchor="middle" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace">'
    )
    return "\n".join([head, "<title>Graph</title>", *_body(layout, nodes, edges), "</svg>", ""])


def _body(layout: Layout, nodes: Mapping[str, Node], edges: Sequence[Edge]) -> Iterator[str]:
    """Everything, from the back to the front."""
    for rect in layout.frames.values():
        yield _rectangle(rect, f'rx="8" fill="{_LINE}" fill-opacity="0.1" stroke="{_LINE}"')
    for number, route in layout.routes.items():
        yield from _edge(route, edges[number])
    for node_id, rect in layout.loops.items():
        yield from _loop(rect, [edge for edge in edges if edge.source == edge.target == node_id])
    for number, rect in layout.labels.items():
        yield from _words(edge_label(edges[number].data), rect)
    for frame_id, rect in layout.titles.items():
        yield from _words(title_of(frame_id), rect)
    first, last = first_node(nodes, edges), last_node(nodes, edges)
    for node_id, rect in layout.boxes.items():
        kind = "last" if nodes[node_id] is last else "first" if nodes[node_id] is first else "box"
        yield from _box(nodes[node_id], rect, kind)


def _box(node: Node, rect: Rect, kind: str) -> Iterator[str]:
    radius = _CORNER if kind == "box" else rect.height // 2
    yield f"<g><title>{_text(node.id)}</title>"
    yield _rectangle(rect, f'rx="{radius}" fill="{_FILLS[kind]}" stroke="{_LINE}"')
    middle = rect.x + rect.width / 2
    for at, line in enumerate(lines_of(node)):
        style = ' font-weight="600"' if at == 0 else ' font-size="11"'
        baseline = rect.y + _GRID.pad_y + at * _GRID.line + 13
        yield f'<text x="{middle:.1f}" y="{baseline}" fill="{_INK}"{style}>{_text(line)}</text>'
    yield "</g>"


def _words(words: str, rect: Rect) -> Iterator[str]:
    yield _rectangle(rect, f'rx="4" fill="{_FILLS["words"]}"')
    middle = rect.x + rect.width / 2
    yield f'<text x="{middle:.1f}" y="{rect.y + 13}" fill="{_INK}" font-size="12">{_text(words)}</text>'


def _edge(route: Route, edge: Edge) -> Iterator[str]:
    # Backwards for a line that leads up, so that every arrow is drawn from its source.
    points = route.points[::-1] if route.leads_up else route.points
    yield _path(points, edge.conditional)
    yield _head(points[-1], points[-2])


def _loop(rect: Rect, edges: list[Edge]) -> Iterator[str]:
    top, bottom, right = rect.y + _GRID.pad_y, rect.y + rect.height - _GRID.pad_y, rect.x + 20
    points = [(rect.x, top), (right, top), (right, bottom), (rect.x, bottom)]
    yield _path(points, all(edge.conditional for edge in edges))
    yield _head(points[-1], points[-2])
    if label := loop_label(edges, edges[0].source):
        x, y = right + 4, rect.y + (rect.height - _GRID.line) // 2
        yield from _words(label, Rect(x, y, rect.x + rect.width - x, _GRID.line))


def _path(points: Sequence[Point], dashed: bool) -> str:
    """A line with round corners."""
    steps = [f"M{points[0][0]} {points[0][1]}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        (x, y), (to_x, to_y) = _towards(corner, before), _towards(corner, after)
        steps.append(f"L{x:.1f} {y:.1f}Q{corner[0]} {corner[1]} {to_x:.1f} {to_y:.1f}")
    steps.append(f"L{points[-1][0]} {points[-1][1]}")
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path d="{"".join(steps)}" fill="none" stroke="{_LINE}" stroke-width="1.5"{dash}/>'


def _towards(corner: Point, other: Point) -> tuple[float, float]:
    """The point where the round corner begins, on the way to the other point."""
    length = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    share = min(_CORNER, length / 2) / length
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


def _head(tip: Point, before: Point) -> str:
    """The head of an arrow that comes straight from the point before."""
    (x, y), half = tip, _HEAD // 2
    if before[0] == x:
        base = y - _HEAD if before[1] < y else y + _HEAD
        corners = f"{x},{y} {x - half},{base} {x + half},{base}"
    else:
        base = x - _HEAD if before[0] < x else x + _HEAD
        corners = f"{x},{y} {base},{y - half} {base},{y + half}"
    return f'<polygon points="{corners}" fill="{_LINE}"/>'


def _rectangle(rect: Rect, attributes: str) -> str:
    return f'<rect x="{rect.x}" y="{rect.y}" width="{rect.width}" height="{rect.height}" {attributes}/>'


def _text(words: str) -> str:
    return escape("".join(character if _is_xml(character) else "\ufffd" for character in words))


def _is_xml(character: str) -> bool:
    return character >= " " and character not in "\ufffe\uffff" and not "\ud800" <= character <= "\udfff"
