"""The async methods of a saver with a log. The same as shell.py, in the same order."""

from collections.abc import AsyncIterator, Coroutine, Sequence
from datetime import datetime
from typing import Any, TypeVar

from signoff._forks import left, watch
from signoff._loops import loop_of, wait_for
from signoff.checkpoint._halves import SyncOfAsync
from signoff.checkpoint.base import CheckpointTuple, Lease, Standing
from signoff.checkpoint.log.backend import Backend
from signoff.checkpoint.log.reading import pages
from signoff.checkpoint.log.retention import Freed
from signoff.checkpoint.log.saver import LogSaver
from signoff.checkpoint.questions import Question, Wanted
from signoff.config import RunnableConfig
from signoff.steps import Steps

__all__ = ["AsyncLogSaver"]

T = TypeVar("T")


class AsyncLogSaver(SyncOfAsync, LogSaver):
    """A saver that performs the procedures of its log by awaiting, in the event loop that it was made in.

    Its sync methods may be called from other threads; they wait for the loop.
    """

    def __init__(self, backend: Backend, *, serde: Any = None) -> None:
        super().__init__(backend, serde=serde)
        self.loop = loop_of(type(self).__name__, "take the sync saver")
        watch(self)

    def after_fork(self) -> None:
        """In a forked child: the loop is the parent's, and nobody runs it here."""
        self.loop = left(self.loop)

    async def _run(self, steps: Steps[T]) -> T:
        """Perform a procedure."""
        raise NotImplementedError

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return wait_for(coroutine, self.loop, self)

    async def setup(self) -> None:
        """Create or update the tables. The first use of the saver does it too."""
        await self._run(self._set_up())

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; the newest of its thread and namespace if it names none."""
        return await self._run(self._read(config))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Checkpoints, newest first."""
        for page in pages(await self._run(self._find(config, filter, before, limit))):
            for found in await self._run(self._load(page)):
                yield found

    async def aheads(self) -> AsyncIterator[CheckpointTuple]:
        """The newest checkpoint of each thread, those that changed last first."""
        for page in pages(await self._run(self._find_heads())):
            for found in await self._run(self._load(page)):
                yield found

    async def afind_questions(self, wanted: Wanted) -> Sequence[Question]:
        """The open questions of all threads that are wanted, oldest first."""
        return await self._run(self._find_questions(wanted))

    async def alook(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        """The checkpoint that the config names, and how its thread stands."""
        return await self._run(self._look(config))

    async def astore(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        """Store what `prepare` made, in one transaction."""
        await self._run(self._append(prepared, lease, ends))

    async def arenew(self, lease: Lease) -> None:
        """Give a sign of life: the lease begins anew."""
        await self._run(self._renew(lease))

    async def adelete_thread(self, thread_id: str) -> None:
        """Forget a thread, nested graphs included."""
        await self._run(self._delete_thread(thread_id))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the checkpoints that these runs made, by the run_id in their metadata."""
        await self._run(self._delete_for_runs(run_ids))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history to a thread that has not begun."""
        await self._run(self._copy_thread(source_thread_id, target_thread_id))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget all but the newest checkpoint of each namespace of threads ("keep_latest"), or all ("delete")."""
        await self._run(self._prune(thread_ids, strategy))

    async def acleanup_before(self, cutoff: datetime, *, dry_run: bool = False, with_questions: bool = False) -> Freed:
        """Remove the threads in which nothing was stored since the cutoff, with all that is theirs.

        dry_run: only say what it would free.
        with_questions: also threads that have an open question, or an answer that nothing has come of yet. One that a
            run has just now is never removed.
        """
        return await self._run(self._cleanup_before(cutoff, dry_run, with_questions))

    async def akeep_last(
        self,
        count: int,
        thread_ids: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        with_questions: bool = False,
    ) -> Freed:
        """Remove all but the newest checkpoints of threads, of all if none are named; see acleanup_before."""
        return await self._run(self._keep_last(count, thread_ids, dry_run, with_questions))

    def cleanup_before(self, cutoff: datetime, *, dry_run: bool = False, with_questions: bool = False) -> Freed:
        """The same as `acleanup_before`, for other threads than the event loop's."""
        return self._wait(self.acleanup_before(cutoff, dry_run=dry_run, with_questions=with_questions))

    def keep_last(
        self,
        count: int,
        thread_ids: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        with_questions: bool = False,
    ) -> Freed:
        """The same as `akeep_last`, for other threads than the event loop's."""
        return self._wait(self.akeep_last(count, thread_ids, dry_run=dry_run, with_questions=with_questions))
