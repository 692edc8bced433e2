"""One frame of a picture: its blocks in rows, and the lines between them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from signoff.graph.drawing.blocks import Block, Grid, Point, Tie, Web
from signoff.graph.drawing.placement import place
from signoff.graph.drawing.routing import Bend, route
from signoff.graph.drawing.weaving import weave

__all__ = ["Arrangement", "arrange", "straighten"]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Where everything is, counted from (0, 0)."""

    width: int
    height: int
    spots: list[Point]  # the anchor and the top of each block
    labels: list[Point | None]  # the anchor and the top of each tie's label
    paths: list[list[Point]]  # the line of each tie, from its upper to its lower end


def arrange(blocks: Sequence[Block], ties: Sequence[Tie], grid: Grid, limit: int | None = None) -> Arrangement:
    """Arrange blocks so that every tie leads down; with a limit, try to stay that narrow."""
    web = weave(blocks, ties, grid, limit)
    columns, ends = place(web, grid)
    below = _links_below(web)
    routes = [route([ends[link] for link in links]) for links in below]
    tops = _tops(web, [tracks for _, tracks in routes], grid)
    spots = _spots(web, columns, tops)
    lines = [[(0, 0)]] * len(web.links)
    for row, links in enumerate(below):
        first_track = tops[row] + _height(web, row) + grid.lead
        for link, bends in zip(links, routes[row][0], strict=True):
            turns = _turns(ends[link][0], bends, first_track, grid.track)
            lines[link] = _line(web, link, ends[link], turns, spots)
    return _result(web, len(blocks), spots, tops[-1], _paths(web, lines))


def _links_below(web: Web) -> list[list[int]]:
    """For each row the links that lead down from it."""
    row_of = {block: at for at, row in enumerate(web.rows) for block in row}
    below: list[list[int]] = [[] for _ in web.rows]
    for at, link in enumerate(web.links):
        below[row_of[link.upper]].append(at)
    return below


def _tops(web: Web, tracks: list[int], grid: Grid) -> list[int]:
    """The top of each row, and the bottom of the last."""
    tops = [0]
    for row in range(len(web.rows)):
        bottom = tops[-1] + _height(web, row)
        if row + 1 < len(web.rows):
            ends_arrows = any(web.blocks[block].kind == "box" for block in web.rows[row + 1])
            bottom += grid.lead + tracks[row] * grid.track + ends_arrows * grid.tail
        tops.append(bottom)
    return tops


def _height(web: Web, row: int) -> int:
    return max(web.blocks[block].height for block in web.rows[row])


def _spots(web: Web, columns: list[int], tops: list[int]) -> list[Point]:
    """The anchor and the top of each block; blocks stand in the middle of their row."""
    spots = [(0, 0)] * len(web.blocks)
    for row, blocks in enumerate(web.rows):
        for block in blocks:
            above = (_height(web, row) - web.blocks[block].height) // 2
            spots[block] = (columns[block], tops[row] + above)
    return spots


def _turns(column: int, bends: list[Bend], first_track: int, step: int) -> list[Point]:
    """The corners of a line that comes down in this column."""
    turns = []
    for track, to in bends:
        y = first_track + track * step
        turns += [(column, y), (to, y)]
        column = to
    return turns


def _line(web: Web, link: int, ends: tuple[int, int], turns: list[Point], spots: list[Point]) -> list[Point]:
    upper, lower = web.links[link].upper, web.links[link].lower
    bottom = spots[upper][1] + web.blocks[upper].height
    return [(ends[0], bottom), *turns, (ends[1], spots[lower][1])]


def _paths(web: Web, lines: list[list[Point]]) -> list[list[Point]]:
    """The lines of the links of each tie, one after the other."""
    rest = iter(lines)
    return [straighten(point for _ in way[1:] for point in next(rest)) for way in web.ways]


def straighten(points: Iterable[Point]) -> list[Point]:
    """The points without those on the way from the one before to the one after."""
    result: list[Point] = []
    for point in points:
        while len(result) > 1 and any(result[-2][axis] == result[-1][axis] == point[axis] for axis in (0, 1)):
            result.pop()
        if not result or result[-1] != point:
            result.append(point)
    return result


def _result(web: Web, count: int, spots: list[Point], height: int, paths: list[list[Point]]) -> Arrangement:
    rights = [spot[0] + block.right for spot, block in zip(spots, web.blocks, strict=True)]
    corners = [x + 1 for path in paths for x, _ in path]
    labels = [next((spots[block] for block in way if web.blocks[block].kind == "label"), None) for way in web.ways]
    return Arrangement(max([0, *rights, *corners]), height, spots[:count], labels, paths)
