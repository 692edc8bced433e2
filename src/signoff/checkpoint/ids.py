"""Ids that grow with time, and the time itself."""

import os
import random
from datetime import UTC, datetime
from threading import get_ident
from time import time_ns

__all__ = ["as_text", "now", "stamp", "uuid6"]

_GREGORIAN_OFFSET = 0x01B21DD213814000  # 100 ns ticks between 1582-10-15 and the Unix epoch
_second = -1
_second_text = ""


class _Clock:
    """The ids of one thread: each is greater than the one before, and no other thread makes any of them."""

    __slots__ = ("high", "high_text", "id", "tail", "ticks")

    def __init__(self) -> None:
        bits = random.SystemRandom().getrandbits(62) | 0x8000000000000000
        self.tail = f"-{bits >> 48:04x}-{bits & 0xFFFFFFFFFFFF:012x}"
        self.ticks = self.high = -1
        self.high_text = self.id = ""


_clocks: dict[int, _Clock] = {}
"""By thread."""

os.register_at_fork(after_in_child=_clocks.clear)  # the child must not go on with the ids of its parent


def now() -> str:
    """The time, as checkpoints write it."""
    return as_text(time_ns())


def uuid6(after: str | None = None) -> str:
    """A version 6 UUID as text: ids of one thread grow, and so do those made `after` another one.

    The second matters when two machines whose clocks disagree take turns on a thread: its head is the
    checkpoint with the greatest id, and must be the one that was written last.
    """
    return stamp(after)[0]


def stamp(after: str | None = None) -> tuple[str, int]:
    """A new checkpoint id, greater than the one given, and the time in ns. On the way of every step that is saved."""
    clock = _clocks.get(get_ident())
    if clock is None:
        clock = _clocks[get_ident()] = _Clock()
    ns = time_ns()
    ticks = ns // 100 + _GREGORIAN_OFFSET
    if ticks <= clock.ticks:
        ticks = clock.ticks + 1
    if after is not None and after != clock.id:
        ticks = max(ticks, _ticks(after) + 1)
    clock.ticks = ticks
    high = ticks >> 12
    if high != clock.high:  # the same for 0.4 ms, so mostly for several ids
        digits = f"{high:012x}"
        clock.high, clock.high_text = high, f"{digits[:8]}-{digits[8:]}-6"
    clock.id = id = clock.high_text + "%03x" % (ticks & 0xFFF) + clock.tail
    return id, ns


def _ticks(id: str) -> int:
    """The time in a version 6 UUID; 0 for an id of another kind."""
    if len(id) != 36 or id[14] != "6":
        return 0
    try:
        return int(id[:8] + id[9:13] + id[15:18], 16)
    except ValueError:
        return 0


def as_text(ns: int) -> str:
    """An ISO time in UTC. The text of a second is made once."""
    global _second, _second_text
    second, rest = divmod(ns, 1_000_000_000)
    if second != _second:
        text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        _second_text, _second = text, second
    else:
        text = _second_text
    return f"{text}.{rest // 1000:06d}+00:00"
