"""InMemorySaver: checkpoints in this process, for tests, scripts and threads that need not outlive it."""

import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from signoff.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    Commit,
    PendingWrite,
    TaskWrites,
    checkpoint_config,
    get_checkpoint_id,
)
from signoff.config import RunnableConfig
from signoff.constants import CHECKPOINT_NS, CONF, THREAD_ID

__all__ = ["InMemorySaver", "MemorySaver"]

Blob = tuple[str, bytes]
"""A value as the serialiser wrote it: nothing that a program changes later changes what was saved."""

_Writes = dict[tuple[str, int], tuple[str, str, Blob]]
"""(task id, index) -> (path, channel, value)"""


@dataclass(slots=True)
class _Record:
    checkpoint: dict[str, Any]
    """All of a checkpoint but its values."""
    values: dict[str, Blob]
    metadata: CheckpointMetadata
    parent_id: str | None
    writes: _Writes = field(default_factory=dict)


_Records = dict[str, _Record]
"""The checkpoints of one thread and namespace, by id, in the order in which they came."""


class InMemorySaver(BaseCheckpointSaver[int]):
    """Keeps checkpoints in a dict. Safe to share between threads and event loops of one process."""

    saves_at_once: ClassVar[bool] = True

    def __init__(self, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self._threads: dict[str, dict[str, _Records]] = {}
        self._lock = threading.RLock()

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        with self._lock:
            records = self._records(config)
            checkpoint_id = get_checkpoint_id(config) or max(records, default=None)
            record = records.get(checkpoint_id) if checkpoint_id else None
            return self._tuple(config[CONF][THREAD_ID], _ns(config), record) if record else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        with self._lock:
            found = [
                (thread_id, ns, record)
                for thread_id, ns, records in self._selected(config)
                for _, record in sorted(records.items(), reverse=True)
                if _matches(record, config, filter, before)
            ]
        for thread_id, ns, record in found[:limit]:
            yield self._tuple(thread_id, ns, record)

    def _records(self, config: RunnableConfig) -> _Records:
        return self._threads.get(config[CONF][THREAD_ID], {}).get(_ns(config), {})

    def _selected(self, config: RunnableConfig | None) -> Sequence[tuple[str, str, _Records]]:
        """The namespaces that a config asks for: of one thread or of all, one of them or each."""
        place = (config or {}).get(CONF, {})
        return [
            (thread_id, ns, records)
            for thread_id, namespaces in self._threads.items()
            if place.get(THREAD_ID) in (None, thread_id)
            for ns, records in namespaces.items()
            if place.get(CHECKPOINT_NS) in (None, ns)
        ]

    def _tuple(self, thread_id: str, ns: str, record: _Record) -> CheckpointTuple:
        values = {name: self.serde.loads_typed(blob) for name, blob in record.values.items()}
        checkpoint: Checkpoint = {**record.checkpoint, "channel_values": values}  # type: ignore[typeddict-item]
        parent = checkpoint_config(thread_id, ns, record.parent_id) if record.parent_id else None
        return CheckpointTuple(
            checkpoint_config(thread_id, ns, checkpoint["id"]),
            checkpoint,
            record.metadata.copy(),
            parent,
            self._pending(record),
        )

    def _pending(self, record: _Record) -> "list[PendingWrite]":  # type: ignore[valid-type]
        ordered = sorted(record.writes.items(), key=lambda item: (item[1][0], item[0]))
        return [(task_id, channel, self.serde.loads_typed(blob)) for (task_id, _), (_, channel, blob) in ordered]

    # Writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        own = CheckpointMetadata(**metadata)
        self.commit([Commit(config, (), checkpoint, own, new_versions.keys())])
        return checkpoint_config(config[CONF][THREAD_ID], _ns(config), checkpoint["id"])

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self.commit([Commit(config, [TaskWrites(task_id, writes, task_path)])])

    def prepare(self, commits: Sequence[Commit]) -> Any:
        encode = self.serde.dumps_typed
        return [
            (
                commit,
                [
                    (task_id, path, [(channel, encode(value)) for channel, value in writes])
                    for task_id, writes, path in commit.writes
                ],
                {name: encode(value) for name, value in _changed_values(commit)},
            )
            for commit in commits
        ]

    def store(self, prepared: Any) -> None:
        with self._lock:
            for commit, writes, values in prepared:
                records = self._threads.setdefault(commit.config[CONF][THREAD_ID], {}).setdefault(
                    _ns(commit.config), {}
                )
                parent_id = get_checkpoint_id(commit.config)
                parent = records.get(parent_id) if parent_id else None
                for task_id, path, encoded in writes:
                    if parent is not None:
                        _keep_writes(parent.writes, task_id, path, encoded)
                if commit.checkpoint is not None:
                    record = self._record(commit, values, parent)
                    records[commit.checkpoint["id"]] = record

    def _record(self, commit: Commit, values: dict[str, Blob], parent: _Record | None) -> _Record:
        checkpoint = commit.checkpoint
        assert checkpoint is not None, "asked only for a commit with a checkpoint"
        kept = parent.values if parent else {}
        blobs = {
            name: values[name] if name in values else kept.get(name) or self.serde.dumps_typed(value)
            for name, value in checkpoint["channel_values"].items()
        }
        rest = {name: value for name, value in checkpoint.items() if name != "channel_values"}
        return _Record(rest, blobs, commit.metadata, get_checkpoint_id(commit.config))

    def delete_thread(self, thread_id: str) -> None:
        with self._lock:
            self._threads.pop(thread_id, None)

    # The same, async: there is nothing to wait for

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self.get_tuple(config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        for found in self.list(config, filter=filter, before=before, limit=limit):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self.put(config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self.put_writes(config, writes, task_id, task_path)

    async def astore(self, prepared: Any) -> None:
        self.store(prepared)

    async def adelete_thread(self, thread_id: str) -> None:
        self.delete_thread(thread_id)


MemorySaver = InMemorySaver


def _ns(config: RunnableConfig) -> str:
    ns: str = config[CONF].get(CHECKPOINT_NS, "")
    return ns


def _changed_values(commit: Commit) -> Sequence[tuple[str, Any]]:
    if commit.checkpoint is None:
        return []
    values = commit.checkpoint["channel_values"]
    return [(name, values[name]) for name in commit.changed if name in values]


def _keep_writes(kept: _Writes, task_id: str, path: str, encoded: Sequence[tuple[str, Blob]]) -> None:
    """What a task writes twice is kept once, but its errors, questions and answers replace each other."""
    for index, (channel, blob) in enumerate(encoded):
        key = (task_id, WRITES_IDX_MAP.get(channel, index))
        if key[1] < 0 or key not in kept:
            kept[key] = (path, channel, blob)


def _matches(
    record: _Record,
    config: RunnableConfig | None,
    filter: dict[str, Any] | None,
    before: RunnableConfig | None,
) -> bool:
    id = record.checkpoint["id"]
    wanted = get_checkpoint_id(config) if config else None
    bound = get_checkpoint_id(before) if before else None
    if (wanted and id != wanted) or (bound and id >= bound):
        return False
    metadata: Any = record.metadata
    return all(name in metadata and metadata[name] == value for name, value in (filter or {}).items())
