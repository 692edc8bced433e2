"""Ids that grow with time, and the time itself."""

import os
import random
import threading
import time
from datetime import UTC, datetime

__all__ = ["now", "stamp", "uuid6"]

_GREGORIAN_OFFSET = 0x01B21DD213814000  # 100 ns ticks between 1582-10-15 and the Unix epoch
_lock = threading.Lock()
_last = 0
_process = os.getpid()
_random = random.Random()


def now() -> str:
    """The time, as checkpoints write it."""
    return datetime.now(UTC).isoformat()


def stamp(after: str | None = None) -> tuple[str, str]:
    """A new checkpoint id, greater than the one given, and the time."""
    return uuid6(after), now()


def uuid6(after: str | None = None) -> str:
    """A version 6 UUID as text: ids of one process grow, and so do those made `after` another one.

    The second matters when two machines whose clocks disagree take turns on a thread: its head is the
    checkpoint with the greatest id, and must be the one that was written last.
    """
    global _last
    with _lock:
        ticks = max(time.time_ns() // 100 + _GREGORIAN_OFFSET, _last + 1)
        if after is not None:
            ticks = max(ticks, _ticks(after) + 1)
        _last = ticks
    return _format(ticks)


def _format(ticks: int) -> str:
    head = f"{ticks >> 12:012x}"
    tail = f"{_tail():016x}"
    return f"{head[:8]}-{head[8:]}-6{ticks & 0xFFF:03x}-{tail[:4]}-{tail[4:]}"


def _tail() -> int:
    """62 random bits behind the variant's two; seeded anew in a forked child."""
    global _process
    if _process != os.getpid():
        _process = os.getpid()
        _random.seed()
    return 0x8000000000000000 | _random.getrandbits(62)


def _ticks(id: str) -> int:
    """The time in a version 6 UUID; 0 for an id of another kind."""
    if len(id) != 36 or id[14] != "6":
        return 0
    try:
        return int(id[:8] + id[9:13] + id[15:18], 16)
    except ValueError:
        return 0
