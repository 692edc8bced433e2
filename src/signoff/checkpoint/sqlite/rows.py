"""Between checkpoints and rows: what a commit becomes before it is stored, and what is read becomes again."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from signoff._sqlite.effects import Execute, ExecuteMany, Row
from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import Checkpoint, CheckpointTuple, Commit, PendingWrite, checkpoint_config
from signoff.checkpoint.delta import Delta, Shape, folded, unpacked
from signoff.checkpoint.encoding import (
    Blob,
    decoded,
    encoded_values,
    encoded_writes,
    joined,
    parted,
)
from signoff.checkpoint.places import Place
from signoff.checkpoint.sqlite.filing import filed
from signoff.errors import Undecodable

__all__ = ["Entry", "Key", "NewCheckpoint", "Record", "as_entry", "as_tuple", "chained", "on_top"]

Key = tuple[str, str, str]
"""A thread, a namespace and the id of a checkpoint."""


class NewCheckpoint(NamedTuple):
    """A checkpoint that is to be stored. All but `values` was encoded when it was made."""

    id: str
    metadata: str
    run_id: str | None
    head: bytes
    shape: Shape
    blobs: dict[str, Blob]
    """The values that changed; of a checkpoint without a parent, all."""
    values: Mapping[str, Any]


class Entry(NamedTuple):
    """A commit that is to be stored."""

    place: Place
    writes: list[tuple[Any, ...]]
    checkpoint: NewCheckpoint | None
    filing: Sequence[Execute | ExecuteMany] = ()
    """The statements that change the index of open questions."""


class Record(NamedTuple):
    """A checkpoint as it is stored."""

    key: Key
    parent_id: str | None
    depth: int
    seal: int
    metadata: Any
    head: Any
    held: Delta
    """All that it holds."""


def as_entry(serde: Any, commit: Commit) -> Entry:
    """A commit, encoded."""
    place = commit.place
    writes: list[tuple[Any, ...]] = []
    # Without a checkpoint there is nothing that writes could be kept with.
    for task_id, task_writes, path in commit.writes if place[2] else ():
        for index, channel, (tag, data) in encoded_writes(serde, task_writes):
            writes.append((*place, task_id, index, path, channel, tag, data))
    checkpoint = None if commit.checkpoint is None else _new(serde, commit, commit.checkpoint, place[2])
    filing = () if commit.filing is None else filed(serde, place[0], commit.filing)
    return Entry(Place(*place), writes, checkpoint, filing)


def _new(serde: Any, commit: Commit, checkpoint: Checkpoint, parent_id: str | None) -> NewCheckpoint:
    values, metadata = checkpoint["channel_values"], commit.metadata
    head: dict[str, Any] = {**checkpoint}
    del head["id"], head["channel_values"], head["channel_versions"]
    return NewCheckpoint(
        checkpoint["id"],
        _metadata.as_text(metadata),
        _metadata.run_id_of(metadata),
        joined(serde.dumps_typed(head)),
        Shape(checkpoint["channel_versions"], frozenset(values)),
        encoded_values(serde, values, commit.changed if parent_id else values),
        values,
    )


def chained(thread_id: str, ns: str, rows: Sequence[Row]) -> Record:
    """The record of a checkpoint, from its row and those it stands on, each below the one before."""
    id, parent_id, depth, _, seal, metadata, head = rows[0]
    depths = [row[2] for row in rows]
    if set(map(type, depths)) != {int} or depths != sorted(set(depths), reverse=True) or depths[-1] != 0:
        raise Undecodable(
            f"Checkpoint {id!r} of thread {thread_id!r} is broken: what it stands on is gone, or was changed by "
            "somebody else than signoff."
        )
    held = folded([unpacked(row[3]) for row in reversed(rows)])
    return Record((thread_id, ns, id), parent_id, depth, seal, metadata, head, held)


def on_top(below: Record, row: Row) -> Record | None:
    """The record of a checkpoint, from its row and the record of its parent; None if it does not stand on that."""
    id, parent_id, depth, changes, seal, metadata, head = row
    if type(depth) is not int or depth <= below.depth:
        return None
    held = folded([below.held, unpacked(changes)])
    return Record((*below.key[:2], id), parent_id, depth, seal, metadata, head, held)


def as_tuple(serde: Any, record: Record, writes: Iterable[Row]) -> CheckpointTuple:
    """A checkpoint and the writes kept with it, as a saver hands them out."""
    thread_id, ns, id = record.key
    parent = checkpoint_config(thread_id, ns, record.parent_id) if record.parent_id is not None else None
    return CheckpointTuple(
        checkpoint_config(thread_id, ns, id),
        _checkpoint(serde, record),
        _metadata.of_text(record.metadata),
        parent,
        [_pending(serde, row) for row in writes],
    )


def _checkpoint(serde: Any, record: Record) -> Checkpoint:
    head = decoded(serde, parted(record.head))
    if not isinstance(head, dict):
        raise Undecodable(f"The head of checkpoint {record.key[2]!r} is broken or was changed.")
    values = {name: decoded(serde, blob) for name, blob in record.held.values.items()}
    own = {"id": record.key[2], "channel_values": values, "channel_versions": dict(record.held.versions)}
    return {**head, **own}  # type: ignore[typeddict-item]


def _pending(serde: Any, row: Row) -> PendingWrite:
    task_id, channel, tag, data = row
    if [type(part) for part in row] != [str, str, str, bytes]:
        raise Undecodable(f"A write of task {task_id!r} is broken or was changed.")
    return task_id, channel, decoded(serde, (tag, data))
