"""InMemorySaver: checkpoints in this process."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from signoff._tuples import made
from signoff.checkpoint._halves import AsyncOfSync
from signoff.checkpoint._puts import PutsByCommit
from signoff.checkpoint.base import CheckpointTuple, Commit, Lease, Standing
from signoff.checkpoint.memory import reading
from signoff.checkpoint.memory.packed import unpacked_question
from signoff.checkpoint.memory.packing import Packing, is_plain
from signoff.checkpoint.memory.preparing import Prepared, packed_commit
from signoff.checkpoint.memory.shelf import Shelf
from signoff.checkpoint.memory.spaces import Space
from signoff.checkpoint.memory.threads import Thread
from signoff.checkpoint.places import (
    already_there,
    checked_filter,
    checked_limit,
    checked_runs,
    checked_strategy,
    checked_thread,
    checked_threads,
    not_there,
    place_of,
    selection_of,
)
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.records import check_each_once
from signoff.config import RunnableConfig
from signoff.constants import ATOMS

if TYPE_CHECKING:
    from signoff.checkpoint.log.retention import Freed

__all__ = ["InMemorySaver"]

T = TypeVar("T")

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
        self._lock = self._threads.lock

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """There is nothing to close."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        """There is nothing to close."""

    @property
    def storage(self) -> Any:
        """What LangGraph's saver of this name keeps its checkpoints in."""
        raise AttributeError(
            "An InMemorySaver has no 'storage'. Remove a thread with delete_thread(thread_id), and see what there is "
            "with list(None).",
            name="storage",
            obj=self,
        )

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; the newest of its thread and namespace if it names none."""
        thread_id, ns, id = place_of(config)
        with self._lock:
            thread = self._threads.get(thread_id)
            return None if thread is None else reading.at(self.serde, thread, ns, id)

    def look(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        """The checkpoint that the config names, and how its thread stands."""
        thread_id, ns, id = place_of(config)
        with self._lock:
            thread = self._threads.get(thread_id)
            if thread is None:
                return None, _NOBODY
            is_expired = thread.holder is not None and self._is_silent(thread)
            found = reading.at(self.serde, thread, ns, id, reading.warm)
            return found, made(Standing, (thread.seen, thread.holder, is_expired))

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
            found = reading.find(self._threads, selection_of(config, before), checked_filter(filter))
        yield from self._each(found[: checked_limit(limit)])

    def heads(self) -> Iterator[CheckpointTuple]:
        """The newest checkpoint of each thread, those that changed last first."""
        with self._lock:
            found = reading.heads(self._threads)
        yield from self._each(found)

    def _each(self, found: Iterable[tuple[Space, str]]) -> Iterator[CheckpointTuple]:
        for space, id in found:
            with self._lock:
                one = reading.tuple_of(self.serde, space, id) if id in space.moments else None
            if one is not None:
                yield one

    def find_questions(self, wanted: Wanted) -> Sequence[Question]:
        """The open questions of all threads that are wanted, oldest first."""
        with self._lock:
            one = None if wanted.thread_id is None else self._threads.get(wanted.thread_id)
            threads = self._threads.every() if wanted.thread_id is None else [one] if one is not None else []
            everything = [entry for thread in threads for entry in thread.questions.values()]
        questions = (unpacked_question(self.serde, question, packed) for question, packed in everything)
        found = sorted(filter(wanted.has, questions), key=lambda one: (one.asked_at, one.id))
        return found[: checked_limit(wanted.limit)]

    # Writing

    def prepare(self, commits: Sequence[Commit]) -> Any:
        """Encode commits, at once, so that what the program changes afterwards is not stored."""
        if len(commits) > 1:
            check_each_once(commits)
        prepared: list[Prepared] = []
        packing = Packing(self.serde, self._plain)
        for commit in commits:
            prepared.append(packed_commit(packing, self._threads, commit, prepared))
        return prepared

    def save(self, commits: Sequence[Commit], lease: Lease | None = None, *, ends: bool = False) -> None:
        """Prepare and store commits in one go. On the way of every step, which mostly is one commit of plain values."""
        commit = commits[0] if len(commits) == 1 and not ends and self.lease_s is None else None
        if (
            commit is None
            or commit.filing is not None
            or lease is None
            or lease.epoch == 0
            or not is_plain(self._plain, commit)
        ):
            return self.store(self.prepare(commits), lease, ends=ends)
        _, ns, parent_id = commit.place
        with self._lock:
            thread = self._checked(lease)
            space = thread.spaces.get(ns) or thread.new_space(lease.thread_id, ns)
            if commit.moment is not None and parent_id is not None and parent_id != space.newest:
                space.check_parent(parent_id)
            try:
                thread.changes += 1
                if commit.writes and parent_id is not None:
                    space.keep(parent_id, commit.writes)
                if commit.moment is not None:
                    space.add(commit.moment, parent_id)
            except BaseException:
                self._put([(commit, tuple(commit.writes), commit.moment, ())], None, lease)
                raise
        return None

    def store(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        """Store what `prepare` made: all of it, or, if the lease is refused, nothing."""
        with self._lock:
            holds = None if lease is None else self._checked(lease)
            self._check_parents(prepared)
            try:
                self._put(prepared, holds, lease, ends=ends)
            except BaseException:
                # A signal was heard in the middle: all of it is stored, or nothing. Done twice, it is done once.
                self._put(prepared, holds, lease, ends=ends)
                raise

    def _put(
        self, prepared: Sequence[Prepared], holds: Thread | None, lease: Lease | None, *, ends: bool = False
    ) -> None:
        for commit, records, moment, asked in prepared:
            thread_id, ns, parent_id = commit.place
            is_held = lease is not None and thread_id == lease.thread_id
            thread = (is_held and holds) or self._threads.get(thread_id) or self._threads.new(thread_id)
            thread.changes += 1
            space = thread.spaces.get(ns) or thread.new_space(thread_id, ns)
            if records and parent_id is not None:
                space.keep(parent_id, records)
            if moment is not None:
                space.add(moment, parent_id)
            if commit.filing is not None:
                thread.file(commit.filing, asked)
        if holds is not None and lease is not None and (ends or lease.epoch == 0 or self.lease_s is not None):
            holds.follow(lease, self.clock(), ends=ends)

    def _check_parents(self, prepared: Sequence[Prepared]) -> None:
        """Refuse what a step changed in a checkpoint that was removed meanwhile: nobody knows the rest."""
        new: set[tuple[str, str, str | None]] = set()
        for commit, _, moment, _ in prepared:
            if moment is not None:
                thread_id, ns, parent_id = commit.place
                is_alone = moment.whole is not None or parent_id is None
                if not is_alone and (thread_id, ns, parent_id) not in new:
                    self._threads.space(thread_id, ns).check_parent(parent_id)
                new.add((thread_id, ns, moment.id))

    def _checked(self, lease: Lease) -> Thread:
        """The thread of a lease, which may write to it."""
        thread = self._threads.get(lease.thread_id) or self._threads.new(lease.thread_id)
        if lease.epoch != thread.epoch or lease.epoch == 0:
            thread.check(lease)
        return thread

    def renew(self, lease: Lease) -> None:
        """Give a sign of life."""
        with self._lock:
            self._checked(lease).heard_at = self.clock()

    def _is_silent(self, thread: Thread) -> bool:
        """Whether no run has given a sign of life in a thread for longer than its lease."""
        return self.lease_s is not None and thread.heard_at + self.lease_s < self.clock()

    # Forgetting

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread, nested graphs included."""
        thread_id = checked_thread(thread_id)
        with self._lock:
            self._threads.remove(thread_id)

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the checkpoints that these runs made, by the run_id in their metadata."""
        from signoff.checkpoint.memory.forgetting import forget_runs

        runs = set(checked_runs(run_ids))
        with self._lock:
            forget_runs(self._threads, runs, Packing(self.serde, self._plain))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history to a thread that has not begun."""
        source, target = checked_thread(source_thread_id), checked_thread(target_thread_id)
        with self._lock:
            there = self._threads.get(target)
            if there is not None and there.has_begun:
                raise already_there(target)
            copied_from = self._threads.get(source)
            if copied_from is None or not copied_from.has_begun:
                raise not_there(source)
            copied_from.copy_to(there if there is not None else self._threads.new(target), target)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget all but the newest checkpoint of each namespace of threads ("keep_latest"), or all ("delete")."""
        from signoff.checkpoint.memory.forgetting import keep_newest

        keeps_one, names = checked_strategy(strategy) == "keep_latest", checked_threads(thread_ids)
        with self._lock:
            for thread_id in names:
                thread = self._threads.get(thread_id)
                if not keeps_one:
                    self.delete_thread(thread_id)
                elif thread is not None:
                    keep_newest(thread.spaces)

    def cleanup_before(self, cutoff: datetime, *, dry_run: bool = False, with_questions: bool = False) -> "Freed":
        """Remove the threads in which nothing was stored since the cutoff, with all that is theirs.

        dry_run: only say what it would free.
        with_questions: also threads that have an open question, or an answer that nothing has come of yet. One that a
            run has just now is never removed.
        """
        from signoff.checkpoint.memory.retention import cleanup_before

        rules = {"dry_run": dry_run, "with_questions": with_questions}
        with self._lock:
            return cleanup_before(self._threads, cutoff, self._is_silent, **rules)

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
            return keep_last(self._threads, count, thread_ids, self._is_silent, **rules)

    async def _call(self, method: Callable[..., T], *args: Any, **named: Any) -> T:
        # There is nothing to wait for.
        return method(*args, **named)
