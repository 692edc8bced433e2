"""InMemorySaver: checkpoints in this process, for tests, scripts and threads that need not outlive it."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint._halves import AsyncOfSync, PutsByCommit
from signoff.checkpoint.base import (
    WRITES_IDX_MAP,
    CheckpointMetadata,
    CheckpointTuple,
    Commit,
    Lease,
    PendingWrite,
    Standing,
    checkpoint_config,
)
from signoff.checkpoint.encoding import Blob, decoded, encoded_values, encoded_writes
from signoff.checkpoint.lease import lost, moved
from signoff.checkpoint.places import (
    Selection,
    already_there,
    checked_limit,
    checked_strategy,
    place_of,
    selection_of,
)
from signoff.checkpoint.questions import Filing, Question, Wanted
from signoff.config import RunnableConfig
from signoff.errors import NotStorable

__all__ = ["InMemorySaver", "MemorySaver"]

T = TypeVar("T")

_Kept = dict[int, tuple[str, Blob]]
"""index -> (channel, value)"""

_Writes = dict[str, tuple[str, _Kept]]
"""task id -> (path, what is kept)"""


@dataclass(slots=True)
class _Record:
    """A checkpoint."""

    head: dict[str, Any]
    """All of it but its values."""
    values: dict[str, Blob]
    metadata: CheckpointMetadata
    parent_id: str | None


@dataclass(slots=True)
class _Namespace:
    """The checkpoints of one thread and namespace, and the writes kept with them, both by checkpoint id."""

    thread_id: str
    ns: str
    records: dict[str, _Record] = field(default_factory=dict)
    writes: dict[str, _Writes] = field(default_factory=dict)
    newest: str = ""

    def drop(self, ids: Set[str]) -> None:
        """Forget checkpoints. Where a parent goes, the history begins."""
        for id in ids:
            self.records.pop(id, None)
            self.writes.pop(id, None)
        for record in self.records.values():
            if record.parent_id in ids:
                record.parent_id = None
        self.newest = max(self.records, default="")

    def keep_newest(self) -> None:
        """Forget all checkpoints but one, with which the history begins."""
        self.drop((self.records.keys() | self.writes.keys()) - {self.newest})
        for record in self.records.values():
            record.parent_id = None

    def copy_to(self, thread_id: str) -> "_Namespace":
        """The same in another thread."""
        records = {id: replace(record) for id, record in self.records.items()}
        writes = {
            id: {task_id: (path, dict(kept)) for task_id, (path, kept) in tasks.items()}
            for id, tasks in self.writes.items()
        }
        return _Namespace(thread_id, self.ns, records, writes, self.newest)


@dataclass(slots=True)
class _Thread:
    """Who has a thread, and how often anything was stored in it."""

    epoch: int = 0
    holder: str | None = None
    expires_at: float = 0.0
    changes: int = 0

    @property
    def seen(self) -> tuple[int, int]:
        return self.epoch, self.changes

    def check(self, lease: Lease) -> None:
        """Refuse a lease that cannot be taken, or that was lost."""
        if lease.epoch == 0 and self.seen != lease.seen:
            raise moved(lease)
        if lease.epoch not in (0, self.epoch):
            raise lost(lease)

    def follow(self, lease: Lease, until: float, *, ends: bool) -> None:
        """Note that the holder of a lease has stored something."""
        if lease.epoch == 0:
            self.epoch += 1
            lease.epoch = self.epoch
        self.holder, self.expires_at = None if ends else lease.holder, until


class _Quick:
    """Encodes what a program could change later; what it cannot change is kept as it is."""

    def __init__(self, serde: Any) -> None:
        self._encode = serde.dumps_typed

    def dumps_typed(self, value: Any) -> tuple[str, Any]:
        return (_AS_IT_IS, value) if type(value) in _UNCHANGEABLE else self._encode(value)


_AS_IT_IS = ""
_UNCHANGEABLE = frozenset({type(None), bool, int, float, str, bytes})


def _decoded(serde: Any, blob: Blob) -> Any:
    return blob[1] if blob[0] == _AS_IT_IS else decoded(serde, blob)


def _unchanged(commit: Commit, values: dict[str, Any], parent: _Record) -> dict[str, Blob]:
    """What the parent has in the same version."""
    assert commit.checkpoint is not None, "asked only for a commit with a checkpoint"
    versions, before = commit.checkpoint["channel_versions"], parent.head["channel_versions"]
    return {
        name: blob for name, blob in parent.values.items() if name in values and versions.get(name) == before.get(name)
    }


class InMemorySaver(AsyncOfSync, PutsByCommit):
    """Keeps checkpoints in a dict. Safe to share between threads and event loops of one process."""

    saves_at_once: ClassVar[bool] = True
    has_leases: ClassVar[bool] = True
    has_questions: ClassVar[bool] = True
    lease_s: float | None = None

    def __init__(self, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self.clock: Callable[[], float] = time.time
        self._leases: dict[str, _Thread] = {}
        self._questions: dict[str, dict[str, Question]] = {}
        """The open questions of each thread, by id."""
        self._quick = _Quick(self.serde) if serde is None else self.serde
        self._keeps_as_it_is = _UNCHANGEABLE if serde is None else frozenset()
        self._threads: dict[str, dict[str, _Namespace]] = {}
        self._lock = threading.RLock()

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; the newest of its thread and namespace if it names none."""
        thread_id, ns, id = place_of(config)
        with self._lock:
            namespace = self._threads.get(thread_id, {}).get(ns)
            if namespace is None:
                return None
            id = id or namespace.newest
            return self._tuple(namespace, id) if id in namespace.records else None

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first."""
        with self._lock:
            found = self._found(selection_of(config, before), filter or {})
        for namespace, id in found[: checked_limit(limit)]:
            with self._lock:
                one = self._tuple(namespace, id) if id in namespace.records else None
            if one is not None:
                yield one

    def _found(self, selection: Selection, filter: dict[str, Any]) -> Sequence[tuple[_Namespace, str]]:
        one = selection.thread_id
        threads = self._threads.values() if one is None else [self._threads.get(one, {})]
        found = [
            (namespace, id)
            for namespaces in threads
            for namespace in namespaces.values()
            for id, record in namespace.records.items()
            if selection.has(namespace.thread_id, namespace.ns, id) and _metadata.has_all(record.metadata, filter)
        ]
        found.sort(key=lambda one: (one[0].thread_id, one[0].ns))
        found.sort(key=lambda one: one[1], reverse=True)
        return found

    def _tuple(self, namespace: _Namespace, id: str) -> CheckpointTuple:
        thread_id, ns, record = namespace.thread_id, namespace.ns, namespace.records[id]
        checkpoint = _metadata.copied(record.head)
        checkpoint["channel_values"] = {name: _decoded(self.serde, blob) for name, blob in record.values.items()}
        return CheckpointTuple(
            checkpoint_config(thread_id, ns, id),
            checkpoint,
            _metadata.copied(record.metadata),
            checkpoint_config(thread_id, ns, record.parent_id) if record.parent_id else None,
            self._pending(namespace.writes.get(id, {})),
        )

    def _pending(self, writes: _Writes) -> "list[PendingWrite]":  # type: ignore[valid-type]
        tasks = sorted((path, task_id, kept) for task_id, (path, kept) in writes.items())
        return [
            (task_id, channel, _decoded(self.serde, blob))
            for _, task_id, kept in tasks
            for _, (channel, blob) in sorted(kept.items())
        ]

    def find_questions(self, wanted: Wanted) -> Sequence[Question]:
        """The open questions of all threads that are wanted, oldest first."""
        with self._lock:
            everything = [question for asked in self._questions.values() for question in asked.values()]
        found = sorted(filter(wanted.has, everything), key=lambda one: (one.asked_at, one.id))
        return found[: wanted.limit]

    def look(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        """The checkpoint that the config names, and how its thread stands."""
        with self._lock:
            thread = self._leases.get(place_of(config).thread_id) or _Thread()
            is_expired = thread.holder is not None and thread.expires_at < self.clock()
            return self.get_tuple(config), Standing(thread.seen, thread.holder, is_expired)

    # Writing

    def prepare(self, commits: Sequence[Commit]) -> Any:
        """Encode commits, at once, so that what the program changes afterwards is not stored."""
        encode, as_it_is = self._quick.dumps_typed, self._keeps_as_it_is
        prepared = []
        for commit in commits:
            try:
                tasks = []
                for task_id, writes, path in commit.writes:
                    kept = {}
                    for index, (channel, value) in enumerate(writes):
                        blob = (_AS_IT_IS, value) if type(value) in as_it_is else encode(value)
                        kept[WRITES_IDX_MAP.get(channel, index)] = (channel, blob)
                    tasks.append((task_id, path, kept))
                changed = {}
                if commit.checkpoint is not None:
                    values = commit.checkpoint["channel_values"]
                    for name in commit.changed:
                        if name in values:
                            value = values[name]
                            changed[name] = (_AS_IT_IS, value) if type(value) in as_it_is else encode(value)
            except NotStorable:
                _refuse(self._quick, commit)
                raise
            prepared.append((commit, tasks, changed))
        return prepared

    def store(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        """Store what `prepare` made: all of it, or, if a value or the lease is refused, nothing."""
        made: list[tuple[_Namespace, str, _Record]] = []
        with self._lock:
            if lease is not None:
                self._lease(lease.thread_id).check(lease)
            for commit, _, changed in prepared:
                if commit.checkpoint is not None:
                    made.append(self._made(commit, changed, made))
            for commit, tasks, _ in prepared:
                thread_id, ns, parent_id = commit.place
                if tasks and parent_id is not None:
                    _keep_writes(self._namespace(thread_id, ns).writes, parent_id, tasks)
            for namespace, id, record in made:
                namespace.records[id] = record
                if id > namespace.newest:
                    namespace.newest = id
            for commit, _, _ in prepared:
                self._lease(commit.place[0]).changes += 1
                if commit.filing is not None:
                    self._file(commit.place[0], commit.filing)
            if lease is not None:
                self._lease(lease.thread_id).follow(lease, self._until(), ends=ends)

    def renew(self, lease: Lease) -> None:
        """Give a sign of life."""
        with self._lock:
            thread = self._lease(lease.thread_id)
            thread.check(lease)
            thread.expires_at = self._until()

    def _until(self) -> float:
        return float("inf") if self.lease_s is None else self.clock() + self.lease_s

    def _lease(self, thread_id: str) -> _Thread:
        thread = self._leases.get(thread_id)
        if thread is None:
            thread = self._leases[thread_id] = _Thread()
        return thread

    def _file(self, thread_id: str, filing: Filing) -> None:
        open_ones = self._questions.setdefault(thread_id, {})
        for id in list(open_ones) if filing.closed is None else filing.closed:
            open_ones.pop(id, None)
        for question in filing.asked:
            value = decoded(self.serde, self.serde.dumps_typed(question.interrupt))
            open_ones.setdefault(question.id, replace(question, interrupt=value))
        if not open_ones:
            del self._questions[thread_id]

    def _made(
        self, commit: Commit, changed: dict[str, Blob], earlier: Sequence[tuple[_Namespace, str, _Record]]
    ) -> tuple[_Namespace, str, _Record]:
        """The record of a commit's checkpoint, and where it belongs."""
        assert commit.checkpoint is not None, "asked only for a commit with a checkpoint"
        thread_id, ns, parent_id = commit.place
        namespace = self._namespace(thread_id, ns)
        parent = namespace.records.get(parent_id) if parent_id else None
        if parent is None and earlier:
            parent = next((record for space, id, record in earlier if space is namespace and id == parent_id), None)
        head: dict[str, Any] = {**commit.checkpoint}
        blobs = self._blobs(commit, head.pop("channel_values"), changed, parent)
        return namespace, head["id"], _Record(head, blobs, commit.metadata, parent_id)

    def _blobs(
        self, commit: Commit, values: dict[str, Any], changed: dict[str, Blob], parent: _Record | None
    ) -> dict[str, Blob]:
        """All values of a checkpoint: those that changed, and those that its parent has."""
        if parent is not None and commit.is_exact:
            blobs = {**parent.values, **changed}
            if len(blobs) != len(values):
                blobs = {name: blob for name, blob in blobs.items() if name in values}
            return blobs
        same = _unchanged(commit, values, parent) if parent is not None else {}
        missing = values.keys() - changed.keys() - same.keys()
        return {**same, **changed, **encoded_values(self._quick, values, missing)}

    def _namespace(self, thread_id: str, ns: str) -> _Namespace:
        try:
            return self._threads[thread_id][ns]
        except KeyError:
            return self._threads.setdefault(thread_id, {}).setdefault(ns, _Namespace(thread_id, ns))

    # Forgetting

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread, nested graphs included."""
        with self._lock:
            for kept in (self._threads, self._leases, self._questions):
                kept.pop(str(thread_id), None)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the checkpoints that these runs made, by the run_id in their metadata."""
        runs = {str(id) for id in run_ids}
        with self._lock:
            for namespaces in self._threads.values():
                for namespace in namespaces.values():
                    records = namespace.records.items()
                    namespace.drop({id for id, record in records if _metadata.run_id_of(record.metadata) in runs})

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history to a thread that has not begun."""
        source, target = str(source_thread_id), str(target_thread_id)
        with self._lock:
            if any(namespace.records or namespace.writes for namespace in self._threads.get(target, {}).values()):
                raise already_there(target)
            if source in self._threads:
                copies = {ns: namespace.copy_to(target) for ns, namespace in self._threads[source].items()}
                self._threads[target] = copies

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget all but the newest checkpoint of each namespace of threads ("keep_latest"), or all ("delete")."""
        keeps_one = checked_strategy(strategy) == "keep_latest"
        with self._lock:
            for thread_id in map(str, thread_ids):
                for namespace in self._threads.get(thread_id, {}).values() if keeps_one else ():
                    namespace.keep_newest()
                if not keeps_one:
                    self.delete_thread(thread_id)

    async def _call(self, method: Callable[..., T], *args: Any, **named: Any) -> T:
        # There is nothing to wait for.
        return method(*args, **named)


MemorySaver = InMemorySaver


def _keep_writes(
    namespace_writes: dict[str, _Writes],
    checkpoint_id: str,
    tasks: Sequence[tuple[str, str, dict[int, tuple[str, Blob]]]],
) -> None:
    """What a task writes twice is kept once, but its errors, questions and answers replace each other."""
    writes = namespace_writes.get(checkpoint_id)
    if writes is None:
        writes = namespace_writes[checkpoint_id] = {}
    for task_id, path, kept in tasks:
        if task_id not in writes:
            writes[task_id] = (path, kept)
            continue
        before = writes[task_id][1]
        before.update({index: write for index, write in kept.items() if index < 0 or index not in before})


def _refuse(serde: Any, commit: Commit) -> None:
    """Raise the refusal of a value again, with its channel in the path."""
    for _, writes, _ in commit.writes:
        encoded_writes(serde, writes)
    if commit.checkpoint is not None:
        encoded_values(serde, commit.checkpoint["channel_values"], commit.changed)
