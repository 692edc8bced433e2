"""What tasks wrote, packed: in rows of its own, or along with the checkpoint that it led to."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from signoff.checkpoint.encoding import packed, unpacked
from signoff.checkpoint.log.shortening import long_path, long_task
from signoff.checkpoint.log.values import check_stored, is_blob, is_span
from signoff.errors import Undecodable

__all__ = ["Carried", "is_item", "merged", "packed_writes", "unpacked_carried", "unpacked_writes"]

StoredWrite = tuple[int, str, Any]
"""(index, channel, value). The value is stored as in a checkpoint, or is (lineage, place): one item of a list."""


Carried = tuple[str, str, Sequence[StoredWrite]]
"""(task, path, writes): what a task wrote that the next checkpoint carries. The id and the path are short."""


packed_writes: Callable[[Sequence[StoredWrite] | Sequence[Carried]], bytes] = packed
"""Writes as bytes."""


def unpacked_writes(data: Any) -> list[StoredWrite]:
    """The writes in these bytes."""
    try:
        writes = unpacked(data)
    except Exception as error:
        raise _broken(error) from error
    return _checked(writes)


def _checked(found: Any) -> list[StoredWrite]:
    try:
        writes = list(found)
        for index, channel, stored in writes:
            if type(index) is not int or type(channel) is not str:
                raise ValueError(f"{index!r} and {channel!r} are no index and channel")
            if not is_blob(stored) and not is_item(stored):
                check_stored(channel, stored)
    except Exception as error:
        raise _broken(error) from error
    return writes


def _broken(error: Exception) -> Undecodable:
    return Undecodable(f"Writes of a task are broken or were changed ({type(error).__name__}: {error}).")


def unpacked_carried(data: Any, checkpoint_id: str) -> list[Carried]:
    """What the checkpoint after this one has carried, with the ids and paths of tasks as they are."""
    try:
        found = [(long_task(task, checkpoint_id), long_path(path), writes) for task, path, writes in unpacked(data)]
    except Exception as error:
        raise _broken(error) from error
    return [(task_id, path, _checked(writes)) for task_id, path, writes in found]


def is_item(stored: Any) -> bool:
    """Whether a written value is one item of a list."""
    if type(stored) is not tuple or len(stored) != 2 or type(stored[0]) is not int or type(stored[1]) is not int:
        return False
    return is_span((*stored, stored[1] + 1))


def merged(old: Iterable[StoredWrite], new: Iterable[StoredWrite]) -> list[StoredWrite]:
    """What a task wrote twice is kept once, as it was first."""
    kept = {write[0]: write for write in old}
    return sorted({**{write[0]: write for write in new}, **kept}.values(), key=lambda write: write[0])
