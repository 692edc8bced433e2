"""Rows of writes: what a task wrote, packed."""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff.checkpoint.encoding import packed, unpacked
from signoff.checkpoint.log.values import check_stored, is_span
from signoff.errors import Undecodable

__all__ = ["merged", "packed_writes", "unpacked_writes"]

StoredWrite = tuple[int, str, Any]
"""(index, channel, value). The value is stored as in a checkpoint, or is (lineage, place): one item of a list."""


def packed_writes(writes: Sequence[StoredWrite]) -> bytes:
    """Writes as bytes."""
    return packed(writes)


def unpacked_writes(data: Any) -> list[StoredWrite]:
    """The writes in these bytes."""
    try:
        writes = list(unpacked(data))
        for index, channel, stored in writes:
            if type(index) is not int or type(channel) is not str:
                raise ValueError(f"{index!r} and {channel!r} are no index and channel")
            if not is_item(stored):
                check_stored(channel, stored)
    except Exception as error:
        raise Undecodable(f"Writes of a task are broken or were changed ({type(error).__name__}: {error}).") from error
    return writes


def is_item(stored: Any) -> bool:
    """Whether a written value is one item of a list."""
    return type(stored) is tuple and [type(part) for part in stored] == [int, int] and is_span((*stored, stored[1] + 1))


def merged(old: Iterable[StoredWrite], new: Iterable[StoredWrite]) -> list[StoredWrite]:
    """What a task wrote twice is kept once, as it was first."""
    kept = {write[0]: write for write in old}
    return sorted({**{write[0]: write for write in new}, **kept}.values(), key=lambda write: write[0])
