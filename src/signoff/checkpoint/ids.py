"""Ids that grow with time, and the time itself."""

import random
from datetime import UTC, datetime
from time import time_ns

from signoff._forks import free, in_child
from signoff._locks import Lock

__all__ = ["as_text", "is_time_in", "now", "stamp", "time_in", "uuid6"]

_GREGORIAN_OFFSET = 0x01B21DD213814000  # 100 ns ticks between 1582-10-15 and the Unix epoch
_lock = free(Lock())
_last_ticks = 0
_last_id = ""
_exact = ("", 0)  # the last id with the very time of its stamp in it, and that time
_tail = ""
_high = -1
_high_text = ""
_shown = (-1, "")  # a second, and its text: together, since other threads may be in another one


def _choose_tail() -> None:
    """The half of an id that tells processes apart; a forked child gets another one than its parent."""
    global _tail, _high
    bits = random.SystemRandom().getrandbits(62) | 0x8000000000000000
    _tail = f"{bits >> 48:04x}-{bits & 0xFFFFFFFFFFFF:012x}"
    _high = -1  # a thread of the parent may have been about to write its text


_choose_tail()
in_child(_choose_tail)


def now() -> str:
    """The time, as checkpoints write it."""
    return as_text(time_ns())


def uuid6(after: str | None = None) -> str:
    """A version 6 UUID as text: ids of one process grow, and so do those made `after` another one.

    The second matters when two machines whose clocks disagree take turns on a thread: its head is the
    checkpoint with the greatest id, and must be the one that was written last.
    """
    return stamp(after)[0]


def stamp(after: str | None = None) -> tuple[str, int]:
    """A new checkpoint id, greater than the one given, and the time in ns. On the way of every step that is saved."""
    global _last_ticks, _last_id, _exact, _high, _high_text
    ns = time_ns()
    ticks = now = ns // 100 + _GREGORIAN_OFFSET
    with _lock:
        if ticks <= _last_ticks:
            ticks = _last_ticks + 1
        if after is not None and after != _last_id:
            ticks = max(ticks, _ticks(after) + 1)
        _last_ticks = ticks
        high = ticks >> 12
        if high != _high:  # the same for 0.4 ms, so mostly for several ids
            _high = high
            digits = f"{high:012x}"
            _high_text = f"{digits[:8]}-{digits[8:]}-6"
        _last_id = id = f"{_high_text}{ticks & 0xFFF:03x}-{_tail}"
        if ticks == now:
            _exact = id, ns
    return id, ns


def is_time_in(id: str, ns: int) -> bool:
    """Whether an id has this time in it, to the µs. On the way of every step: mostly it was made right before."""
    return _exact == (id, ns) or time_in(id) == ns // 1000


def time_in(id: str) -> int | None:
    """The time in a version 6 UUID, in µs; None for an id of another kind."""
    ticks = _ticks(id)
    return (ticks - _GREGORIAN_OFFSET) // 10 if ticks else None


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
    global _shown
    second, rest = divmod(ns, 1_000_000_000)
    known, text = _shown
    if second != known:
        text = datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%S")
        _shown = second, text
    return f"{text}.{rest // 1000:06d}+00:00"
