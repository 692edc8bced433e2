"""Between checkpoints and rows: what a commit becomes before it is stored, and what is read becomes again."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from signoff._sqlite.effects import Row
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
from signoff.checkpoint.places import Place, place_of
from signoff.errors import Undecodable

__all__ = ["Entry", "Key", "NewCheckpoint", "Record", "as_entry", "as_tuple", "chain_of", "record_of", "whole"]

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


class Record(NamedTuple):
    """A row of the log. Of one that others stand on, only the changes are read."""

    key: Key
    parent_id: str | None
    depth: int
    delta: Delta
    metadata: Any
    head: Any


def as_entry(serde: Any, commit: Commit) -> Entry:
    """A commit, encoded."""
    place = place_of(commit.config)
    writes: list[tuple[Any, ...]] = []
    # Without a checkpoint there is nothing that writes could be kept with.
    for task_id, task_writes, path in commit.writes if place.id else ():
        for index, channel, (tag, data) in encoded_writes(serde, task_writes):
            writes.append((*place, task_id, index, path, channel, tag, data))
    return Entry(place, writes, None if commit.checkpoint is None else _new(serde, commit, commit.checkpoint, place.id))


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


def record_of(thread_id: str, ns: str, row: Row) -> Record:
    """The record in a row of id, parent_id, depth, changes, metadata and head."""
    id, parent_id, depth, changes, metadata, head = row
    if type(depth) is not int:
        raise Undecodable(f"Checkpoint {id!r} of thread {thread_id!r} has the depth {depth!r}: it was changed.")
    return Record((thread_id, ns, id), parent_id, depth, unpacked(changes), metadata, head)


def chain_of(key: Key, records: Mapping[Key, Record]) -> list[Record]:
    """The rows that make up a checkpoint, from its snapshot on."""
    chain = [records[key]]
    while chain[-1].depth > 0:
        above = chain[-1]
        record = records.get((key[0], key[1], above.parent_id or ""))
        if record is None or record.depth >= above.depth:
            raise Undecodable(
                f"Checkpoint {key[2]!r} of thread {key[0]!r} stands on {above.parent_id!r}, which is gone or was "
                "changed by somebody else than signoff."
            )
        chain.append(record)
    return chain[::-1]


def whole(chain: Iterable[Record]) -> Delta:
    """All that the last checkpoint of a chain holds."""
    return folded(record.delta for record in chain)


def as_tuple(serde: Any, record: Record, held: Delta, writes: Iterable[Row]) -> CheckpointTuple:
    """The checkpoint of a row, with all that it holds, as a saver hands it out."""
    thread_id, ns, id = record.key
    parent = checkpoint_config(thread_id, ns, record.parent_id) if record.parent_id is not None else None
    return CheckpointTuple(
        checkpoint_config(thread_id, ns, id),
        _checkpoint(serde, record, held),
        _metadata.of_text(record.metadata),
        parent,
        [_pending(serde, row) for row in writes],
    )


def _checkpoint(serde: Any, record: Record, held: Delta) -> Checkpoint:
    head = decoded(serde, parted(record.head))
    if not isinstance(head, dict):
        raise Undecodable(f"The head of checkpoint {record.key[2]!r} is broken or was changed.")
    values = {name: decoded(serde, blob) for name, blob in held.values.items()}
    own = {"id": record.key[2], "channel_values": values, "channel_versions": dict(held.versions)}
    return {**head, **own}  # type: ignore[typeddict-item]


def _pending(serde: Any, row: Row) -> PendingWrite:
    task_id, channel, tag, data = row
    if [type(part) for part in row] != [str, str, str, bytes]:
        raise Undecodable(f"A write of task {task_id!r} is broken or was changed.")
    return task_id, channel, decoded(serde, (tag, data))
