"""Order: who stands beside whom in a layer, so that few lines cross."""

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import pairwise

__all__ = ["crossings", "order_by_barycenter"]

_SWEEPS = 12

Rows = list[list[int]]


def order_by_barycenter(rows: Rows, links: Sequence[tuple[int, int]]) -> Rows:
    """The rows in an order with few crossings; links join neighbouring rows, from the upper to the lower."""
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for upper, lower in links:
        above.setdefault(lower, []).append(upper)
        below.setdefault(upper, []).append(lower)
    best, fewest = rows, crossings(rows, below)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        rows = _swept(rows, above) if sweep % 2 == 0 else _swept(rows[::-1], below)[::-1]
        count = crossings(rows, below)
        if count < fewest:
            best, fewest = rows, count
    return best


def crossings(rows: Rows, below: dict[int, list[int]]) -> int:
    """How many pairs of links cross."""
    return sum(_crossings_between(upper, lower, below) for upper, lower in pairwise(rows))


def _crossings_between(upper: list[int], lower: list[int], below: dict[int, list[int]]) -> int:
    place = {node: at for at, node in enumerate(lower)}
    ends: list[int] = []
    count = 0
    for node in upper:
        own = [place[target] for target in below.get(node, ())]
        count += sum(len(ends) - bisect_right(ends, end) for end in own)
        for end in own:
            insort(ends, end)
    return count


def _swept(rows: Rows, neighbours: dict[int, list[int]]) -> Rows:
    """Each row sorted by where its neighbours in the row before stand on average."""
    result = rows[:1]
    for row in rows[1:]:
        place = {node: at for at, node in enumerate(result[-1])}
        middle = {node: at + 0.0 for at, node in enumerate(row)}
        for node in row:
            if near := neighbours.get(node):
                middle[node] = sum(place[other] for other in near) / len(near)
        result.append(sorted(row, key=middle.__getitem__))
    return result
