"""The sync methods of a saver with a log."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any, TypeVar

from signoff.checkpoint._halves import AsyncOfSync
from signoff.checkpoint.base import CheckpointTuple, Lease, Standing
from signoff.checkpoint.log.reading import pages
from signoff.checkpoint.log.retention import Freed
from signoff.checkpoint.log.saver import LogSaver
from signoff.checkpoint.questions import Question, Wanted
from signoff.config import RunnableConfig
from signoff.steps import Steps

__all__ = ["SyncLogSaver"]

T = TypeVar("T")


class SyncLogSaver(AsyncOfSync, LogSaver):
    """A saver that performs the procedures of its log by calling. Its async methods work in threads."""

    _connection: Any
    """What performs procedures; a subclass has it."""

    def _run(self, steps: Steps[T]) -> T:
        """Perform a procedure."""
        return self._connection.run(steps)  # type: ignore[no-any-return]

    def setup(self) -> None:
        """Create or update the tables. The first use of the saver does it too."""
        self._run(self._set_up())

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; the newest of its thread and namespace if it names none."""
        return self._run(self._read(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first."""
        for page in pages(self._run(self._find(config, filter, before, limit))):
            yield from self._run(self._load(page))

    def heads(self) -> Iterator[CheckpointTuple]:
        """The newest checkpoint of each thread, those that changed last first."""
        for page in pages(self._run(self._find_heads())):
            yield from self._run(self._load(page))

    def find_questions(self, wanted: Wanted) -> Sequence[Question]:
        """The open questions of all threads that are wanted, oldest first."""
        return self._run(self._find_questions(wanted))

    def look(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        """The checkpoint that the config names, and how its thread stands."""
        return self._run(self._look(config))

    def store(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        """Store what `prepare` made, in one transaction."""
        self._run(self._append(prepared, lease, ends))

    def renew(self, lease: Lease) -> None:
        """Give a sign of life: the lease begins anew."""
        self._run(self._renew(lease))

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread, nested graphs included."""
        self._run(self._delete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the checkpoints that these runs made, by the run_id in their metadata."""
        self._run(self._delete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history to a thread that has not begun."""
        self._run(self._copy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget all but the newest checkpoint of each namespace of threads ("keep_latest"), or all ("delete")."""
        self._run(self._prune(thread_ids, strategy))

    def cleanup_before(self, cutoff: datetime, *, dry_run: bool = False, with_questions: bool = False) -> Freed:
        """Remove the threads in which nothing was stored since the cutoff, with all that is theirs.

        dry_run: only say what it would free.
        with_questions: also threads that have an open question, or an answer that nothing has come of yet. One that a
            run has just now is never removed.
        """
        return self._run(self._cleanup_before(cutoff, dry_run, with_questions))

    def keep_last(
        self,
        count: int,
        thread_ids: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        with_questions: bool = False,
    ) -> Freed:
        """Remove all but the newest checkpoints of threads, of all if none are named; see cleanup_before."""
        return self._run(self._keep_last(count, thread_ids, dry_run, with_questions))
