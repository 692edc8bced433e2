"""Pictures in letters, for a terminal of 80 columns.

Boxes are nodes, lines of `|` and `-` are edges, dotted lines of `:` and `.` are conditional edges. A picture
that does not fit becomes a list of edges.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from signoff.graph.drawing.blocks import Grid
from signoff.graph.drawing.labels import edge_label, lines_of, loop_label, title_of, width_of
from signoff.graph.drawing.layout import Layout, Rect, Route, lay_out
from signoff.graph.drawing.parts import Edge, Node

__all__ = ["draw_ascii"]

_GRID = Grid(
    letter=1, line=1, text_pad=0, pad_x=2, pad_y=1, inset=1, port=2, gap=3,
    lead=1, track=1, tail=1, frame_x=2, frame_y=1, loop=4,
)  # fmt: skip


def draw_ascii(nodes: Mapping[str, Node], edges: Sequence[Edge], width: int = 80) -> str:
    """The picture in lines of at most `width` letters; a list of edges where that would not be readable."""
    layout = lay_out(nodes, edges, _GRID)
    highest = 2 * layout.height  # folded more often than that, it is all lines
    for limit in (width, width * 2 // 3):
        if layout.width <= width:
            break
        layout = lay_out(nodes, edges, _GRID, limit)
    if layout.width > width or layout.height > highest:
        return "\n".join(_listing(nodes, edges))
    return _Canvas(layout).draw(nodes, edges)


class _Canvas:
    """A sheet of letters."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.cells = [[" "] * layout.width for _ in range(layout.height)]

    def draw(self, nodes: Mapping[str, Node], edges: Sequence[Edge]) -> str:
        """Draw everything, what must stay readable last."""
        for frame in self.layout.frames.values():
            self._border(frame, "=")
        for axis in (1, 0):
            for number, route in self.layout.routes.items():
                self._line(route, edges[number].conditional, axis)
        for number, route in self.layout.routes.items():
            self._corners_and_head(route)
            if number in self.layout.labels:
                self._text(edge_label(edges[number].data), self.layout.labels[number])
        for frame_id, rect in self.layout.titles.items():
            self._text(title_of(frame_id), rect)
        for node_id, rect in self.layout.boxes.items():
            self._box(lines_of(nodes[node_id]), rect)
        for node_id, rect in self.layout.loops.items():
            dotted = all(edge.conditional for edge in edges if edge.source == edge.target == node_id)
            self._loop(loop_label(edges, node_id) or "", rect, dotted)
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def _border(self, rect: Rect, side: str) -> None:
        left, right = rect.x, rect.x + rect.width - 1
        for y in range(rect.y, rect.y + rect.height):
            self.cells[y][left] = self.cells[y][right] = "|"
        for y in (rect.y, rect.y + rect.height - 1):
            self.cells[y][left : right + 1] = ["+", *side * (rect.width - 2), "+"]

    def _box(self, lines: list[str], rect: Rect) -> None:
        self._border(rect, "-")
        for at, line in enumerate(lines, start=1):
            self._text(line, Rect(rect.x + 1, rect.y + at, rect.width - 2, 1))

    def _text(self, text: str, rect: Rect) -> None:
        row, x = self.cells[rect.y], rect.x + (rect.width - width_of(text) + 1) // 2
        for character in text:
            match width_of(character):
                case 0:  # an accent shares the cell of its letter
                    row[x - 1] += character
                case columns:
                    row[x : x + columns] = [character, *[""] * (columns - 1)]
                    x += columns

    def _line(self, route: Route, dotted: bool, axis: int) -> None:
        """The pieces of a line that lead down (axis 0) or aside (axis 1)."""
        for (x, y), (to_x, to_y) in pairwise(route.points):
            if axis == 0 and x == to_x:
                for row in range(y, to_y):
                    self.cells[row][x] = ":" if dotted else "|"
            elif axis == 1 and y == to_y:
                for column in range(min(x, to_x), max(x, to_x) + 1):
                    self.cells[y][column] = "." if dotted else "-"

    def _corners_and_head(self, route: Route) -> None:
        for x, y in route.points[1:-1]:
            self.cells[y][x] = "+"
        (first_x, first_y), (last_x, last_y) = route.points[0], route.points[-1]
        if route.leads_up:
            self.cells[first_y][first_x] = "^"
        else:
            self.cells[last_y - 1][last_x] = "v"

    def _loop(self, label: str, rect: Rect, dotted: bool) -> None:
        across = ".." if dotted else "--"
        bottom = rect.y + rect.height - 1
        self.cells[rect.y][rect.x : rect.x + 3] = [*across, "+"]
        for y in range(rect.y + 1, bottom):
            self.cells[y][rect.x + 2] = ":" if dotted else "|"
        self.cells[bottom][rect.x : rect.x + 3] = ["<", across[0], "+"]
        middle = rect.y + rect.height // 2
        self._text(label, Rect(rect.x + 4, middle, width_of(label), 1))


def _listing(nodes: Mapping[str, Node], edges: Sequence[Edge]) -> Iterator[str]:
    for node_id in nodes:
        yield " ".join(node_id.split())
        for edge in edges:
            if edge.source == node_id:
                label = edge_label(edge.data)
                arrow = "..>" if edge.conditional else "-->"
                yield f"  {arrow} {' '.join(edge.target.split())}" + (f"  ({label})" if label else "")
