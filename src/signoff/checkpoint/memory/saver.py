"""InMemorySaver: checkpoints in this process."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from signoff._forks import whole
from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint._halves import AsyncOfSync, PutsByCommit
from signoff.checkpoint.base import CheckpointTuple, Commit, Lease, Moment, Standing, checkpoint_config
from signoff.checkpoint.memory import packing as packs
from signoff.checkpoint.memory.packing import Packed, Packing, is_plain, refuse, unpacked
from signoff.checkpoint.memory.shelf import Shelf
from signoff.checkpoint.memory.threads import Space, Thread, WholeMoment
from signoff.checkpoint.places import (
    Selection,
    already_there,
    checked_limit,
    checked_names,
    checked_strategy,
    place_of,
    selection_of,
)
from signoff.checkpoint.questions import Filing, Question, Wanted
from signoff.checkpoint.reopening import asked_again, graph_of
from signoff.checkpoint.serde.unread import is_showing
from signoff.config import RunnableConfig
from signoff.constants import ATOMS, TASKS
from signoff.errors import NotStorable, Undecodable

if TYPE_CHECKING:
    from signoff.checkpoint.log.retention import Freed

__all__ = ["InMemorySaver"]

T = TypeVar("T")

Unpack = Callable[[Space, Mapping[str, Any]], dict[str, Any]]

Prepared = tuple[Commit, Sequence[Any], Moment | None, Sequence[Any]]
"""A commit, what tasks wrote, the checkpoint and the questions that are asked, all of them packed."""

_NOBODY = Standing((0, 0))


class InMemorySaver(AsyncOfSync, PutsByCommit):
    """Keeps checkpoints in a dict. Safe to share between threads and event loops of one process."""

    saves_at_once: ClassVar[bool] = True
    has_leases: ClassVar[bool] = True
    has_questions: ClassVar[bool] = True
    takes_moments: ClassVar[bool] = True
    lease_s: float | None = None

    def __init__(self, *, serde: Any = None) -> None:
        super().__init__(serde=serde)
        self.clock: Callable[[], float] = time.time
        self._plain = ATOMS if serde is None else frozenset()
        """What need not be encoded; with a serializer of the caller's, nothing."""
        self._threads = Shelf()
        self._lock = whole(threading.RLock())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """There is nothing to close."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """There is nothing to close."""

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; the newest of its thread and namespace if it names none."""
        thread_id, ns, id = place_of(config)
        with self._lock:
            thread = self._threads.get(thread_id)
            return None if thread is None else self._at(thread, ns, id, self._cold)

    def look(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        """The checkpoint that the config names, and how its thread stands."""
        thread_id, ns, id = place_of(config)
        with self._lock:
            thread = self._threads.get(thread_id)
            if thread is None:
                return None, _NOBODY
            is_expired = thread.holder is not None and thread.expires_at < self.clock()
            return self._at(thread, ns, id, self._warm), Standing(thread.seen, thread.holder, is_expired)

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
        for space, id in found[: checked_limit(limit)]:
            with self._lock:
                one = self._tuple(space, id, self._cold) if id in space.moments else None
            if one is not None:
                yield one

    def _found(self, selection: Selection, filter: dict[str, Any]) -> Sequence[tuple[Space, str]]:
        one = selection.thread_id
        named = None if one is None else self._threads.get(one)
        found = [
            (space, id)
            for thread in ([named] if named else [] if one is not None else self._threads.every())
            for space in thread.spaces.values()
            for id, moment in space.moments.items()
            if selection.has(space.thread_id, space.ns, id)
            and (not filter or _metadata.has_all(moment.metadata(), filter))
        ]
        found.sort(key=lambda one: (one[0].thread_id, one[0].ns))
        found.sort(key=lambda one: one[1], reverse=True)
        return found

    def _at(self, thread: Thread, ns: str, id: str | None, unpack: Unpack) -> CheckpointTuple | None:
        space = thread.spaces.get(ns)
        if space is None:
            return None
        id = id or space.newest
        return self._tuple(space, id, unpack) if id in space.moments else None

    def _tuple(self, space: Space, id: str, unpack: Unpack) -> CheckpointTuple:
        thread_id, ns, moment = space.thread_id, space.ns, space.moments[id]
        values, versions = space.all_of(id)
        checkpoint: Any = moment.heading()
        try:
            checkpoint["channel_values"] = unpack(space, values)
            pending_writes = packs.unpacked_writes(self.serde, space.kept(id))
        except Undecodable as error:
            raise packs.placed(self.serde, error, thread_id, values, space.kept(id)) from error
        checkpoint["channel_versions"] = dict(versions)
        return CheckpointTuple(
            checkpoint_config(thread_id, ns, id),
            checkpoint,
            moment.metadata(),  # type: ignore[arg-type]
            checkpoint_config(thread_id, ns, moment.parent_id) if moment.parent_id else None,
            pending_writes,
        )

    def _cold(self, space: Space, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values that nobody else has."""
        return {name: unpacked(self.serde, value) for name, value in values.items()}

    def _warm(self, space: Space, values: Mapping[str, Any]) -> dict[str, Any]:
        """Values for a run. What the last one had in its lists is handed on, if nobody has touched it."""
        if is_showing():
            return self._cold(space, values)
        return {name: space.lists.unpack(self.serde, name, value) for name, value in values.items()}

    def find_questions(self, wanted: Wanted) -> Sequence[Question]:
        """The open questions of all threads that are wanted, oldest first."""
        with self._lock:
            everything = [entry for thread in self._threads.every() for entry in thread.questions.values()]
        questions = (packs.unpacked_question(self.serde, question, packed) for question, packed in everything)
        found = sorted(filter(wanted.has, questions), key=lambda one: (one.asked_at, one.id))
        return found[: checked_limit(wanted.limit)]

    # Writing

    def prepare(self, commits: Sequence[Commit]) -> Any:
        """Encode commits, at once, so that what the program changes afterwards is not stored."""
        prepared: list[Prepared] = []
        packing = Packing(self.serde, self._plain)
        for commit in commits:
            prepared.append(self._prepared(packing, commit, prepared))
        return prepared

    def _prepared(self, packing: Packing, commit: Commit, earlier: Sequence[Prepared]) -> Prepared:
        moment = commit.moment
        if is_plain(self._plain, commit):
            return commit, tuple(commit.writes), moment, ()
        try:
            if moment is not None:
                self._pack_values(packing, commit, moment, earlier)
            elif commit.has_checkpoint:
                moment = _whole(packing, commit)
            records = [packing.record(record) for record in commit.writes]
            asked = [packing.question(one.interrupt) for one in commit.filing.asked] if commit.filing else ()
        except NotStorable:
            refuse(self.serde, commit)
            raise
        return commit, records, moment, asked

    def _pack_values(self, packing: Packing, commit: Commit, moment: Moment, earlier: Sequence[Prepared]) -> None:
        """Pack what a moment changed. Of a list that grew, that is what is new."""
        values = moment.changed
        for name, value in values.items():
            if type(value) is list and value and name != TASKS:
                with self._lock:  # others may be about to append to the same items
                    values[name] = self._packed_list(packing, commit, name, value, earlier)
            elif type(value) not in self._plain:
                values[name] = packing.pack(name, value)

    def _packed_list(
        self, packing: Packing, commit: Commit, name: str, value: Any, earlier: Sequence[Prepared]
    ) -> Packed:
        space = self._space(*commit.place[:2])
        before = _stored_before(space, name, commit.place, earlier)
        return space.lists.pack(packing, name, value, before, commit.writes, is_told=commit.is_told)

    def _space(self, thread_id: str, ns: str) -> Space:
        thread = self._threads.get(thread_id) or self._threads.new(thread_id)
        return thread.spaces.get(ns) or thread.new_space(thread_id, ns)

    def save(self, commits: Sequence[Commit], lease: Lease | None = None, *, ends: bool = False) -> None:
        """Prepare and store commits in one go. On the way of every step, which mostly is one commit of plain values."""
        commit = commits[0] if len(commits) == 1 and not ends and self.lease_s is None else None
        if commit is None or lease is None or lease.epoch == 0 or not is_plain(self._plain, commit):
            return self.store(self.prepare(commits), lease, ends=ends)
        _, ns, parent_id = commit.place
        with self._lock:
            thread = self._checked(lease)
            thread.changes += 1
            space = thread.spaces.get(ns) or thread.new_space(lease.thread_id, ns)
            if commit.writes and parent_id is not None:
                space.keep(parent_id, tuple(commit.writes))
            if commit.moment is not None:
                space.add(commit.moment, parent_id)
        return None

    def store(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        """Store what `prepare` made: all of it, or, if the lease is refused, nothing."""
        with self._lock:
            holds = None if lease is None else self._checked(lease)
            for commit, records, moment, asked in prepared:
                thread_id, ns, parent_id = commit.place
                thread = self._threads.get(thread_id) or self._threads.new(thread_id)
                thread.changes += 1
                space = thread.spaces.get(ns) or thread.new_space(thread_id, ns)
                if records and parent_id is not None:
                    space.keep(parent_id, records)
                if moment is not None:
                    space.add(moment, parent_id)
                if commit.filing is not None:
                    thread.file(commit.filing, asked)
            if holds is not None and lease is not None and (ends or lease.epoch == 0 or self.lease_s is not None):
                holds.follow(lease, self._until(), ends=ends)

    def _checked(self, lease: Lease) -> Thread:
        """The thread of a lease, which may write to it."""
        thread = self._threads.get(lease.thread_id) or self._threads.new(lease.thread_id)
        if lease.epoch != thread.epoch or lease.epoch == 0:
            thread.check(lease)
        return thread

    def renew(self, lease: Lease) -> None:
        """Give a sign of life."""
        with self._lock:
            thread = self._threads.get(lease.thread_id) or self._threads.new(lease.thread_id)
            thread.check(lease)
            thread.expires_at = self._until()

    def _until(self) -> float:
        return float("inf") if self.lease_s is None else self.clock() + self.lease_s

    # Forgetting

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread, nested graphs included."""
        with self._lock:
            self._threads.remove(str(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the checkpoints that these runs made, by the run_id in their metadata."""
        runs = set(checked_names(run_ids, "runs"))
        with self._lock:
            for thread_id in self._threads.ids():
                thread = self._threads.get(thread_id) or Thread()
                for ns, space in thread.spaces.items():
                    moments = space.moments.items()
                    going = {id for id, moment in moments if _metadata.run_id_of(moment.metadata()) in runs}
                    has_head = not ns and space.newest in going
                    space.drop(going)
                    if has_head:
                        self._reopen(thread, space)

    def _reopen(self, thread: Thread, space: Space) -> None:
        """A thread has lost its newest checkpoint, and what it asked there: it asks what it asked before."""
        graph = graph_of([question for question, _ in thread.questions.values()])
        thread.questions.clear()
        if not space.newest:
            return
        head = self._tuple(space, space.newest, self._cold)
        asked = asked_again(space.thread_id, graph, head.checkpoint["ts"], head.pending_writes or ())
        packing = Packing(self.serde, self._plain)
        thread.file(Filing(asked), [packing.question(one.interrupt) for one in asked])

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history to a thread that has not begun."""
        source, target = str(source_thread_id), str(target_thread_id)
        with self._lock:
            there = self._threads.get(target)
            if there is not None and any(space.moments or space.writes for space in there.spaces.values()):
                raise already_there(target)
            copied_from = self._threads.get(source)
            if copied_from is not None:
                copied = self._threads.new(target)
                copied.spaces = {ns: space.copy_to(target) for ns, space in copied_from.spaces.items()}
                copied.questions = {
                    id: (replace(question, thread_id=target), packed)
                    for id, (question, packed) in copied_from.questions.items()
                }

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget all but the newest checkpoint of each namespace of threads ("keep_latest"), or all ("delete")."""
        keeps_one, names = checked_strategy(strategy) == "keep_latest", checked_names(thread_ids, "threads")
        with self._lock:
            for thread_id in names:
                thread = self._threads.get(thread_id)
                for space in thread.spaces.values() if keeps_one and thread is not None else ():
                    space.keep_newest()
                if not keeps_one:
                    self.delete_thread(thread_id)

    def cleanup_before(self, cutoff: datetime, *, dry_run: bool = False, with_questions: bool = False) -> "Freed":
        """Remove the threads in which nothing was stored since the cutoff, with all that is theirs.

        dry_run: only say what it would free.
        with_questions: also threads that have an open question. One that a run has just now is never removed.
        """
        from signoff.checkpoint.memory.retention import cleanup_before

        rules = {"dry_run": dry_run, "with_questions": with_questions}
        with self._lock:
            return cleanup_before(self._threads, cutoff, self.clock(), **rules)

    def keep_last(
        self,
        count: int,
        thread_ids: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        with_questions: bool = False,
    ) -> "Freed":
        """Remove all but the newest checkpoints of threads, of all if none are named; see cleanup_before."""
        from signoff.checkpoint.memory.retention import keep_last

        rules = {"dry_run": dry_run, "with_questions": with_questions}
        with self._lock:
            return keep_last(self._threads, count, thread_ids, self.clock(), **rules)

    async def acleanup_before(
        self, cutoff: datetime, *, dry_run: bool = False, with_questions: bool = False
    ) -> "Freed":
        """The same as `cleanup_before`."""
        return self.cleanup_before(cutoff, dry_run=dry_run, with_questions=with_questions)

    async def akeep_last(
        self,
        count: int,
        thread_ids: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        with_questions: bool = False,
    ) -> "Freed":
        """The same as `keep_last`."""
        return self.keep_last(count, thread_ids, dry_run=dry_run, with_questions=with_questions)

    async def _call(self, method: Callable[..., T], *args: Any, **named: Any) -> T:
        # There is nothing to wait for.
        return method(*args, **named)


def _stored_before(space: Space, name: str, place: Sequence[Any], earlier: Sequence[Prepared]) -> Any:
    """What the checkpoint that a commit stands on has in a channel; it may be about to be stored, too."""
    *where, id = place
    for commit, _, moment, _ in reversed(earlier):
        if moment is not None and moment.id == id and [*commit.place[:2]] == where:
            if name in moment.changed:
                return moment.changed[name]
            id = commit.place[2]
    return space.all_of(id)[0].get(name) if id in space.moments else None


def _whole(packing: Packing, commit: Commit) -> Moment:
    """A checkpoint that was put as a whole."""
    head: dict[str, Any] = {**commit.checkpoint}  # type: ignore[dict-item]
    values = {name: packing.pack(name, value) for name, value in head.pop("channel_values").items()}
    versions = head.pop("channel_versions")
    return WholeMoment(head, commit.metadata, dict.fromkeys(commit.changed), values, versions)
