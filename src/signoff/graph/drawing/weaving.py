"""Rows: every block gets a row and a place in it, and long ties get a place in each row they pass."""

from collections.abc import Sequence
from itertools import pairwise

from signoff.graph.drawing.blocks import BEND, Block, Grid, Link, Tie, Web
from signoff.graph.drawing.layering import longest_path_layers
from signoff.graph.drawing.ordering import order_by_barycenter

__all__ = ["weave"]


def weave(blocks: Sequence[Block], ties: Sequence[Tie], grid: Grid, limit: int | None = None) -> Web:
    """Put the blocks into rows so that every tie leads down; with a limit, try to keep rows that narrow."""
    all_blocks = list(blocks)
    layers = _layers(blocks, ties, grid, limit)
    ways = [_way(tie, all_blocks, layers) for tie in ties]
    links = [link for tie, way in zip(ties, ways, strict=True) for link in _links(tie, way)]
    rows: list[list[int]] = [[] for _ in range(max(layers, default=-1) + 1)]
    for block, layer in enumerate(layers):
        rows[layer].append(block)
    rows = order_by_barycenter(rows, [(link.upper, link.lower) for link in links])
    return Web(all_blocks, rows, ways, links)


def _layers(blocks: Sequence[Block], ties: Sequence[Tie], grid: Grid, limit: int | None) -> list[int]:
    # In a frame the first row is for its title and for lines that come in, the last for those that go out.
    framed = any(block.kind == "title" for block in blocks)
    lowest = [int(framed and block.kind not in ("title", "top")) for block in blocks]
    edges = [(tie.upper, tie.lower, 2 if tie.label else 1) for tie in ties]
    widths = [_width(block, grid) for block in blocks]
    layers = longest_path_layers(lowest, edges, widths, limit)
    last = max(layers, default=0)
    return [last if block.kind == "bottom" else at for block, at in zip(blocks, layers, strict=True)]


def _width(block: Block, grid: Grid) -> int:
    # Titles and lines through the border must stay in their row, however full it is.
    return block.left + block.right + grid.gap if block.kind in ("box", "frame") else 0


def _way(tie: Tie, blocks: list[Block], layers: list[int]) -> list[int]:
    """The blocks that a tie passes; those between its ends are added."""
    between = range(layers[tie.upper] + 1, layers[tie.lower])
    first = len(blocks)
    blocks += [BEND] * len(between)
    if tie.label:
        blocks[-1 if tie.label_is_low else first] = tie.label
    layers += between
    return [tie.upper, *range(first, len(blocks)), tie.lower]


def _links(tie: Tie, way: list[int]) -> list[Link]:
    last = len(way) - 2
    return [
        Link(upper, lower, tie.upper_at if at == 0 else 0, tie.lower_at if at == last else 0)
        for at, (upper, lower) in enumerate(pairwise(way))
    ]
