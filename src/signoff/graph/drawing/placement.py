"""Columns: where the blocks of each row stand, and where the lines between them begin and end."""

from collections.abc import Callable
from itertools import pairwise

from signoff.graph.drawing.blocks import Grid, Web
from signoff.graph.drawing.docking import dock_lower, dock_upper
from signoff.graph.drawing.fitting import fit

__all__ = ["place"]

_SWEEPS = 2

Ends = list[tuple[int, int]]
"""For each link the columns in which it leaves its upper and reaches its lower block."""


def place(web: Web, grid: Grid) -> tuple[list[int], Ends]:
    """The anchor column of each block, from column 0 on, and the ends of each link."""
    placing = _Placing(web, grid)
    for _ in range(_SWEEPS):
        placing.sweep_down()
        placing.sweep_up()
    placing.sweep_down()
    ends = placing.settle()
    begins = [column - block.left for column, block in zip(placing.columns, web.blocks, strict=True)]
    shift = -min(begins, default=0)
    return [column + shift for column in placing.columns], [(up + shift, low + shift) for up, low in ends]


class _Placing:
    """Blocks that are moved, row by row, towards their neighbours in the row before."""

    def __init__(self, web: Web, grid: Grid) -> None:
        self.web = web
        self.grid = grid
        self.columns = [0] * len(web.blocks)
        self.above: list[list[int]] = [[] for _ in web.blocks]  # the links that come from above
        self.below: list[list[int]] = [[] for _ in web.blocks]  # the links that lead down
        for at, link in enumerate(web.links):
            self.above[link.lower].append(at)
            self.below[link.upper].append(at)

    def sweep_down(self) -> None:
        for row in self.web.rows:
            self._pull(row, [self._wish(block, self.above[block], self._upper_end) for block in row])

    def sweep_up(self) -> None:
        for row in reversed(self.web.rows):
            self._pull(row, [self._wish(block, self.below[block], self._lower_end) for block in row])

    def settle(self) -> Ends:
        """Go down once more, with blocks straight below the very columns in which lines leave for them."""
        uppers: dict[int, int] = {}
        for row in self.web.rows:
            self._pull(row, [self._wish(block, self.above[block], uppers.__getitem__) for block in row])
            leaving = [link for block in row for link in self.below[block]]
            uppers |= dock_upper(self.web, leaving, self.columns, self.grid)
        self._straighten(self.web.rows[::-1], self.below, self._lower_end)
        self._straighten(self.web.rows, self.above, self._upper_end)
        uppers = dock_upper(self.web, range(len(self.web.links)), self.columns, self.grid)
        lowers = dock_lower(self.web, uppers, self.columns, self.grid)
        return [(uppers[link], lowers[link]) for link in range(len(self.web.links))]

    def _straighten(self, rows: list[list[int]], links: list[list[int]], far_end: Callable[[int], int]) -> None:
        """Move lines, and their labels, in line with the row before, where they have the room for it."""
        for row in rows:
            places = range(len(row))
            for at in (*reversed(places), *places):  # the right ones first, to make room, then the left ones
                block = row[at]
                if self._goes_on(block, links[block]) and self._has_room(row, at, far_end(links[block][0])):
                    self.columns[block] = far_end(links[block][0])

    def _goes_on(self, block: int, links: list[int]) -> bool:
        """Whether the block is part of a line that passes the next row too."""
        is_part = self.web.blocks[block].is_line or self.web.blocks[block].kind == "label"
        return is_part and bool(links) and self._rank_of_neighbour(block, links[0]) < 2

    def _has_room(self, row: list[int], at: int, column: int) -> bool:
        """Whether a block may be moved there without touching its neighbours."""
        lowest = self.columns[row[at - 1]] + self._step(row[at - 1], row[at]) if at else column
        highest = self.columns[row[at + 1]] - self._step(row[at], row[at + 1]) if row[at + 1 :] else column
        return lowest <= column <= highest

    def _upper_end(self, link: int) -> int:
        return self.columns[self.web.links[link].upper] + (self.web.links[link].upper_at or 0)

    def _lower_end(self, link: int) -> int:
        return self.columns[self.web.links[link].lower] + (self.web.links[link].lower_at or 0)

    def _wish(self, block: int, links: list[int], far_end: Callable[[int], int]) -> float:
        """Where a block would like to be: in the middle of where its links come from."""
        if not links:
            return self.columns[block]
        if not self.web.blocks[block].is_line:
            # A box stands under boxes; labels, and then lines that pass by, count if there is nothing else.
            best = max(self._rank_of_neighbour(block, link) for link in links)
            links = [link for link in links if self._rank_of_neighbour(block, link) == best]
        return sum(far_end(link) - self._own_shift(block, link) for link in links) / len(links)

    def _rank_of_neighbour(self, block: int, link: int) -> int:
        upper, lower = self.web.links[link].upper, self.web.links[link].lower
        neighbour = self.web.blocks[upper if lower == block else lower]
        return 0 if neighbour.is_line else 1 if neighbour.kind == "label" else 2

    def _own_shift(self, block: int, link: int) -> int:
        end = self.web.links[link]
        return (end.lower_at if end.lower == block else end.upper_at) or 0

    def _pull(self, row: list[int], wanted: list[float]) -> None:
        steps = [self._step(one, other) for one, other in pairwise(row)]
        weights = [self._weight(block) for block in row]
        for block, column in zip(row, fit(wanted, weights, steps), strict=True):
            self.columns[block] = column

    def _weight(self, block: int) -> float:
        """How hard a block holds its place: lines give way where they begin and are straight from there."""
        if self.web.blocks[block].is_line:
            goes_on = any(self._rank_of_neighbour(block, link) == 0 for link in self.above[block])
            return 16.0 if goes_on else 0.05
        return {"title": 0.01, "label": 0.1}.get(self.web.blocks[block].kind, 4.0)

    def _step(self, one: int, other: int) -> int:
        """The least distance from the anchor of a block to that of the next in the row."""
        left, right = self.web.blocks[one], self.web.blocks[other]
        return self.grid.port if left.is_line and right.is_line else left.right + self.grid.gap + right.left
