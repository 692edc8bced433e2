"""Lanes: how a database knows a write that is sent a second time, since its answer was lost.

A lane has one write under way at a time, and its writes are numbered. The database keeps the last number of each lane,
in the same transaction as what was written: one that comes again, or too late, is not done. So there is no more to
remember than writes at the same time, however many there are one after the other.
"""

from collections import deque
from typing import NamedTuple
from uuid import uuid4

from signoff._forks import watch

__all__ = ["LANES", "Lane", "Lanes"]


class Lane(NamedTuple):
    """A lane, and the number of the write that it has under way."""

    name: str
    number: int


class Lanes:
    """The lanes of this process. Threads and tasks may share them, and so may databases."""

    def __init__(self) -> None:
        self._free: deque[Lane] = deque()
        watch(self)

    def after_fork(self) -> None:
        """In a forked child: those that are free are the parent's."""
        self._free = deque()

    def take(self) -> Lane:
        """A lane for one write."""
        try:
            return self._free.pop()
        except IndexError:
            return Lane(uuid4().hex, 1)

    def give(self, lane: Lane) -> None:
        """Let others have a lane. A write of it that failed, and comes to be only after the next one, is not done."""
        self._free.append(Lane(lane.name, lane.number + 1))


LANES = Lanes()
