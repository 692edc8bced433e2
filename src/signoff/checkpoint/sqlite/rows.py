"""Between checkpoints and rows: what a commit becomes before it is stored, and what is read becomes again."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from signoff._sqlite.effects import Row
from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import Checkpoint, CheckpointTuple, Commit, PendingWrite, TaskWrites, checkpoint_config
from signoff.checkpoint.delta import Delta, Shape, folded, unpacked
from signoff.checkpoint.encoding import Blob, changed_values, decoded, encoded_values, encoded_writes, joined, parted
from signoff.checkpoint.places import Place, place_of
from signoff.errors import Undecodable

__all__ = [
    "COLUMNS",
    "Entry",
    "Key",
    "NewCheckpoint",
    "Record",
    "as_entry",
    "as_tuple",
    "chain_of",
    "record_of",
    "snapshot_of",
]

Key = tuple[str, str, str]
"""A thread, a namespace and the id of a checkpoint."""

COLUMNS = "thread_id, ns, id, parent_id, depth, metadata, head, changes"
"""The columns of a Record."""

_IN_CHANGES = frozenset({"id", "channel_values", "channel_versions"})


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
    """A row of the log."""

    thread_id: str
    ns: str
    id: str
    parent_id: str | None
    depth: int
    metadata: str
    head: bytes
    changes: bytes

    @property
    def key(self) -> Key:
        """What the row is found by."""
        return self.thread_id, self.ns, self.id


def as_entry(serde: Any, commit: Commit) -> Entry:
    """A commit, encoded."""
    place = place_of(commit.config)
    # Without a checkpoint there is nothing that writes could be kept with.
    writes = [row for task in commit.writes for row in _write_rows(serde, place, task)] if place.id else []
    return Entry(place, writes, _new(serde, commit, place.id) if commit.checkpoint is not None else None)


def _write_rows(serde: Any, place: Place, task: TaskWrites) -> Iterable[tuple[Any, ...]]:
    task_id, writes, path = task
    return [
        (*place, task_id, index, path, channel, tag, data)
        for index, channel, (tag, data) in encoded_writes(serde, writes)
    ]


def _new(serde: Any, commit: Commit, parent_id: str | None) -> NewCheckpoint:
    checkpoint = commit.checkpoint
    assert checkpoint is not None, "asked only for a commit with a checkpoint"
    values = checkpoint["channel_values"]
    head = {name: value for name, value in checkpoint.items() if name not in _IN_CHANGES}
    return NewCheckpoint(
        checkpoint["id"],
        _metadata.as_text(commit.metadata),
        _metadata.run_id_of(commit.metadata),
        joined(serde.dumps_typed(head)),
        Shape(checkpoint["channel_versions"], frozenset(values)),
        encoded_values(serde, changed_values(commit) if parent_id else list(values.items())),
        values,
    )


def record_of(row: Row) -> Record:
    """The record in a row of COLUMNS."""
    record = Record(*row)
    if [type(part) for part in row[4:]] != [int, str, bytes, bytes]:
        raise Undecodable(f"Checkpoint {record.id!r} of thread {record.thread_id!r} is broken or was changed.")
    return record


def chain_of(key: Key, records: Mapping[Key, Record]) -> list[Record]:
    """The rows that make up a checkpoint, from its snapshot on."""
    record = records[key]
    chain = [record]
    while record.depth > 0:
        parent = records.get((record.thread_id, record.ns, record.parent_id or ""))
        if parent is None or parent.depth >= record.depth:
            raise Undecodable(
                f"Checkpoint {key[2]!r} of thread {key[0]!r} stands on {record.parent_id!r}, which is gone or was "
                "changed by somebody else than signoff."
            )
        chain.append(parent)
        record = parent
    return chain[::-1]


def snapshot_of(chain: Sequence[Record]) -> Delta:
    """All that the last checkpoint of a chain holds."""
    return folded(unpacked(record.changes) for record in chain)


def as_tuple(serde: Any, record: Record, whole: Delta, writes: Iterable[Row]) -> CheckpointTuple:
    """The checkpoint of a row, with all that it holds, as a saver hands it out."""
    thread_id, ns, id = record.key
    parent = checkpoint_config(thread_id, ns, record.parent_id) if record.parent_id is not None else None
    return CheckpointTuple(
        checkpoint_config(thread_id, ns, id),
        _checkpoint(serde, record, whole),
        _metadata.of_text(record.metadata),
        parent,
        [_pending(serde, row) for row in writes],
    )


def _checkpoint(serde: Any, record: Record, whole: Delta) -> Checkpoint:
    head = decoded(serde, parted(record.head))
    if not isinstance(head, dict):
        raise Undecodable(f"The head of checkpoint {record.id!r} is broken or was changed.")
    return {
        **head,
        "id": record.id,
        "channel_values": {name: decoded(serde, blob) for name, blob in whole.values.items()},
        "channel_versions": dict(whole.versions),
    }  # type: ignore[typeddict-item]


def _pending(serde: Any, row: Row) -> PendingWrite:
    task_id, channel, tag, data = row
    if [type(part) for part in row] != [str, str, str, bytes]:
        raise Undecodable(f"A write of task {task_id!r} is broken or was changed.")
    return task_id, channel, decoded(serde, (tag, data))
