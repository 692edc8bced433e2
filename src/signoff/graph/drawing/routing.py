"""Lines between two rows: each goes down, along a track, and down again, and no two lie on each other."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import count

__all__ = ["Bend", "route"]

Bend = tuple[int, int]
"""A turn of a line: the track it moves along, and the column it moves to."""


@dataclass(frozen=True, slots=True, order=True)
class _Wire:
    """A piece of a line that moves along one track."""

    line: int
    begin: int
    end: int

    def meets(self, other: "_Wire") -> bool:
        """Whether the two would touch on one track, or stand so close that they seem to."""
        low, high = sorted((self.begin, self.end))
        other_low, other_high = sorted((other.begin, other.end))
        return low <= other_high + 1 and other_low <= high + 1


def route(lines: Sequence[tuple[int, int]]) -> tuple[list[list[Bend]], int]:
    """The bends of each line from its upper to its lower column, and how many tracks they take together.

    No two lines may share their upper, or their lower column.
    """
    wires = _untangled([_Wire(i, begin, end) for i, (begin, end) in enumerate(lines) if begin != end], lines)
    bends: list[list[Bend]] = [[] for _ in lines]
    placed: list[tuple[_Wire, int]] = []
    for wire in _from_above(wires):
        track = 1 + max((at for other, at in placed if other.meets(wire)), default=-1)
        placed.append((wire, track))
        bends[wire.line].append((track, wire.end))
    return bends, 1 + max((track for _, track in placed), default=-1)


def _untangled(wires: list[_Wire], lines: Sequence[tuple[int, int]]) -> list[_Wire]:
    """The wires, with one of each circle (each must be above the next) cut in two at a free column."""
    used = {column for line in lines for column in line}
    for wire in wires.copy():
        if not _is_in_circle(wire, wires):
            continue
        column = _free_column(used, (wire.begin + wire.end) // 2)
        used.add(column)
        wires.remove(wire)
        wires += [_Wire(wire.line, wire.begin, column), _Wire(wire.line, column, wire.end)]
    return wires


def _is_in_circle(wire: _Wire, wires: list[_Wire]) -> bool:
    by_end = {other.end: other for other in wires}
    below = by_end.get(wire.begin)
    for _ in wires:
        if below is None or below is wire:
            break
        below = None if below.line == wire.line else by_end.get(below.begin)
    return below is wire


def _free_column(used: set[int], near: int) -> int:
    near = max(near, 0)
    columns = (column for distance in count() for column in (near - distance, near + distance))
    return next(column for column in columns if column >= 0 and column not in used)


def _from_above(wires: list[_Wire]) -> Iterator[_Wire]:
    """The wires in the order of their tracks: what must be above comes first."""
    above = _direct_above(wires)
    below: dict[_Wire, list[_Wire]] = {wire: [] for wire in wires}
    for wire, others in above.items():
        for other in others:
            below[other].append(wire)
    waiting = {wire: len(others) for wire, others in above.items()}
    ready = [(_inner_first(wire), wire) for wire in wires if not waiting[wire]]
    heapify(ready)
    while ready:
        _, wire = heappop(ready)
        yield wire
        for other in below[wire]:
            waiting[other] -= 1
            if not waiting[other]:
                heappush(ready, (_inner_first(other), other))


def _direct_above(wires: list[_Wire]) -> dict[_Wire, list[_Wire]]:
    """For each wire those that must be above it.

    That is the wire that comes down in the column by which it leaves, and the first half of its own line.
    """
    cuts = _cuts(wires)
    by_begin = {wire.begin: wire for wire in wires if wire.begin not in cuts}
    first_halves = {wire.end: wire for wire in wires if wire.end in cuts}
    found = {wire: [by_begin.get(wire.end), first_halves.get(wire.begin)] for wire in wires}
    return {wire: [other for other in others if other] for wire, others in found.items()}


def _cuts(wires: list[_Wire]) -> set[int]:
    """The columns at which lines were cut in two."""
    begins = {(wire.line, wire.begin) for wire in wires}
    return {wire.end for wire in wires if (wire.line, wire.end) in begins}


def _inner_first(wire: _Wire) -> tuple[bool, int]:
    # Of two wires to the right, the one that begins further right is above, or they would cross twice.
    goes_right = wire.begin < wire.end
    return goes_right, -wire.begin if goes_right else wire.begin
