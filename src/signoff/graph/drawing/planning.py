"""A frame on its way to a picture: what its blocks and ties are, and how they are arranged.

Frames are planned from the inside out: a frame that is done is one block of the frame around it. A line
between two frames passes their borders through ports: blocks in the first or the last row of the frame.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from signoff.graph.drawing import sizing
from signoff.graph.drawing.arrangement import Arrangement, arrange
from signoff.graph.drawing.blocks import Block, Grid, Point, Tie
from signoff.graph.drawing.labels import edge_label, loop_label, title_of
from signoff.graph.drawing.nesting import Frame, Item
from signoff.graph.drawing.parts import Edge, Node

__all__ = ["Plan", "Planner"]

Thing = Item | tuple[str, int]
"""What a block stands for: an item, ("title", frame), or ("top" or "bottom", number of an edge)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A frame whose things have found their places."""

    blocks: dict[Thing, Block]
    spots: dict[Thing, Point]  # anchor and top
    arrangement: Arrangement

    def anchor(self, thing: Thing) -> int:
        """The column of a thing, counted from the left of what the frame holds."""
        return self.spots[thing][0]


class Planner:
    """Plans the frames of one picture, inner ones first."""

    def __init__(
        self,
        nodes: Mapping[str, Node],
        edges: Sequence[Edge],
        leads_up: set[int],
        grid: Grid,
        limit: int | None,
    ) -> None:
        self.nodes = nodes
        self.edges = edges
        self.leads_up = leads_up
        self.grid = grid
        self.limit = limit
        self.plans: dict[str, Plan] = {}

    def plan(self, frame: Frame) -> None:
        """Arrange a frame; the frames in it must have been planned."""
        blocks = dict(self._blocks(frame))
        places = {thing: at for at, thing in enumerate(blocks)}
        ties = list(self._ties(frame, places))
        arrangement = arrange(list(blocks.values()), ties, self.grid, self.limit)
        self.plans[frame.id] = Plan(blocks, dict(zip(places, arrangement.spots, strict=True)), arrangement)

    def _blocks(self, frame: Frame) -> Iterator[tuple[Thing, Block]]:
        if frame.id:
            yield ("title", frame.id), sizing.text(title_of(frame.id), "title", self.grid)
        for number, _ in frame.comes_in:
            yield ("top", number), Block(0, 1, 0, "top")
        lines = _lines_on_a_side(frame)
        for item in frame.items:
            yield item, self._block(item, lines[item])
        for number, _ in frame.goes_out:
            yield ("bottom", number), Block(0, 1, 0, "bottom")

    def _block(self, item: Item, lines: int) -> Block:
        kind, name = item
        if kind == "frame":
            inner = self.plans[name].arrangement
            return sizing.frame(inner.width, inner.height, self.grid)
        return sizing.box(self.nodes[name], lines, loop_label(self.edges, name), self.grid)

    def _ties(self, frame: Frame, places: dict[Thing, int]) -> Iterator[Tie]:
        """A tie for each line, in the order of `frame.comes_in`, `frame.edges` and `frame.goes_out`."""
        for number, item in frame.comes_in:
            yield Tie(places["top", number], places[item], 0, self._port(item, "top", number))
        for number, upper, lower in frame.edges:
            ends = self._port(upper, "bottom", number), self._port(lower, "top", number)
            yield Tie(places[upper], places[lower], *ends, self._label(number), number in self.leads_up)
        for number, item in frame.goes_out:
            yield Tie(places[item], places["bottom", number], self._port(item, "bottom", number), 0)

    def _port(self, item: Item, side: str, number: int) -> int | None:
        """Where a line passes the border of a frame, counted from its anchor; it may touch a box anywhere."""
        kind, name = item
        if kind == "node":
            return None
        plan = self.plans[name]
        left = sizing.frame(plan.arrangement.width, 0, self.grid).left
        return self.grid.frame_x + plan.anchor((side, number)) - left

    def _label(self, number: int) -> Block | None:
        label = edge_label(self.edges[number].data)
        return sizing.text(label, "label", self.grid) if label else None


def _lines_on_a_side(frame: Frame) -> Counter[Item]:
    """How many lines touch the upper or the lower side of each item, whichever has more."""
    above = Counter([item for _, item in frame.comes_in] + [lower for _, _, lower in frame.edges])
    below = Counter([item for _, item in frame.goes_out] + [upper for _, upper, _ in frame.edges])
    return above | below
