"""Halves of a saver's interface, made out of the other half."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from signoff.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    Lease,
    Standing,
)
from signoff.checkpoint.questions import Question, Wanted
from signoff.config import RunnableConfig

if TYPE_CHECKING:
    from signoff.checkpoint.log.retention import Freed

__all__ = ["AsyncOfSync", "SyncOfAsync"]

T = TypeVar("T")


class AsyncOfSync(BaseCheckpointSaver[int]):
    """The async methods of a saver that has the sync ones."""

    cleanup_before: Callable[..., "Freed"]
    keep_last: Callable[..., "Freed"]
    heads: Callable[[], Iterator[CheckpointTuple]]

    async def _call(self, method: Callable[..., T], *args: Any, **named: Any) -> T:
        """Call a sync method. In a thread, so that the event loop goes on meanwhile."""
        import asyncio

        return await asyncio.to_thread(method, *args, **named)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await self._call(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        found = self.list(config, filter=filter, before=before, limit=limit)
        while (one := await self._call(next, found, None)) is not None:
            yield one

    async def aheads(self) -> AsyncIterator[CheckpointTuple]:
        """The same as `heads`."""
        found = self.heads()
        while (one := await self._call(next, found, None)) is not None:
            yield one

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await self._call(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        await self._call(self.put_writes, config, writes, task_id, task_path)

    async def afind_questions(self, wanted: Wanted) -> Sequence[Question]:
        return await self._call(self.find_questions, wanted)

    async def alook(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        return await self._call(self.look, config)

    async def astore(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        await self._call(self.store, prepared, lease, ends=ends)

    async def arenew(self, lease: Lease) -> None:
        await self._call(self.renew, lease)

    async def adelete_thread(self, thread_id: str) -> None:
        await self._call(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        await self._call(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        await self._call(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        await self._call(self.prune, thread_ids, strategy=strategy)

    async def acleanup_before(
        self, cutoff: datetime, *, dry_run: bool = False, with_questions: bool = False
    ) -> "Freed":
        """The same as `cleanup_before`."""
        return await self._call(self.cleanup_before, cutoff, dry_run=dry_run, with_questions=with_questions)

    async def akeep_last(
        self,
        count: int,
        thread_ids: Sequence[str] | None = None,
        *,
        dry_run: bool = False,
        with_questions: bool = False,
    ) -> "Freed":
        """The same as `keep_last`."""
        return await self._call(self.keep_last, count, thread_ids, dry_run=dry_run, with_questions=with_questions)


class SyncOfAsync(BaseCheckpointSaver[int]):
    """The sync methods of a saver that has the async ones, for other threads than its event loop's."""

    aheads: Callable[[], AsyncIterator[CheckpointTuple]]

    def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of a coroutine that runs in the saver's event loop."""
        raise NotImplementedError

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._wait(self.aget_tuple(config))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        yield from self._wait(_collected(self.alist(config, filter=filter, before=before, limit=limit)))

    def heads(self) -> Iterator[CheckpointTuple]:
        """The same as `aheads`."""
        yield from self._wait(_collected(self.aheads()))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self._wait(self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._wait(self.aput_writes(config, writes, task_id, task_path))

    def find_questions(self, wanted: Wanted) -> Sequence[Question]:
        return self._wait(self.afind_questions(wanted))

    def look(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        return self._wait(self.alook(config))

    def store(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        self._wait(self.astore(prepared, lease, ends=ends))

    def renew(self, lease: Lease) -> None:
        self._wait(self.arenew(lease))

    def delete_thread(self, thread_id: str) -> None:
        self._wait(self.adelete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._wait(self.adelete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._wait(self.acopy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self._wait(self.aprune(thread_ids, strategy=strategy))


async def _collected(found: AsyncIterator[T]) -> list[T]:
    return [one async for one in found]
