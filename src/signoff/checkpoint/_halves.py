"""Halves of a saver's interface, made out of the other half."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    Commit,
    Lease,
    Standing,
    TaskWrites,
    checkpoint_config,
    get_checkpoint_metadata,
)
from signoff.checkpoint.places import place_of, place_of_writes
from signoff.checkpoint.questions import Question, Wanted
from signoff.config import RunnableConfig

if TYPE_CHECKING:
    from signoff.checkpoint.log.retention import Freed

__all__ = ["AsyncOfSync", "PutsByCommit", "SyncOfAsync"]

T = TypeVar("T")

_PUTS = ("put", "put_writes", "aput", "aput_writes")
_READS = ("get_tuple", "aget_tuple", "look", "alook")


class PutsByCommit(BaseCheckpointSaver[int]):
    """LangGraph's ways to write, for a saver that has `prepare`, `store` and `astore`.

    A subclass that changes `put` or `put_writes`, to count or to refuse, wants every write to come that way. So
    its commits are taken apart, one call for each piece, as with a saver that knows no commits. One that changes
    `get_tuple` wants every read to come that way: it gets those of runs, too.
    """

    _whole: ClassVar[Any] = None
    """The class that stores commits as they are, if this one takes them apart."""
    _looks_by: ClassVar[Any] = None
    """The class whose way of looking is unchanged, if this one reads in its own way."""

    def __init_subclass__(cls, **named: Any) -> None:
        super().__init_subclass__(**named)
        base = next(base for base in cls.__mro__[1:] if issubclass(base, PutsByCommit))
        changed = {name for name in (*_PUTS, *_READS) if getattr(cls, name) is not getattr(base, name)}
        if "get_tuple" in changed and "look" not in changed:
            cls._looks_by = cls._looks_by or base
            cls.look = _by_tuple(cls._looks_by)  # type: ignore[method-assign]
        if "aget_tuple" in changed and "alook" not in changed:
            cls._looks_by = cls._looks_by or base
            cls.alook = _by_tuple_aio(cls._looks_by)  # type: ignore[method-assign]
        if changed.intersection(_PUTS) and not {"store", "astore"} & cls.__dict__.keys():
            cls._whole = cls._whole or base
            cls.saves_at_once = cls.has_leases = cls.has_questions = cls.takes_moments = cls.stores_together = False
            for name in ("prepare", "store", "astore"):
                setattr(cls, name, getattr(BaseCheckpointSaver, name))

    def _store_whole(self, commits: Sequence[Commit]) -> None:
        saver = self._whole or type(self)
        saver.store(self, saver.prepare(self, commits))

    async def _astore_whole(self, commits: Sequence[Commit]) -> None:
        saver = self._whole or type(self)
        await saver.astore(self, saver.prepare(self, commits))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint as the child of the one that the config names."""
        self._store_whole([_one(config, checkpoint, metadata, new_versions)])
        return _named(config, checkpoint)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint as the child of the one that the config names."""
        await self._astore_whole([_one(config, checkpoint, metadata, new_versions)])
        return _named(config, checkpoint)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, with the checkpoint that the config names."""
        self._store_whole([_of_task(config, writes, task_id, task_path)])

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, with the checkpoint that the config names."""
        await self._astore_whole([_of_task(config, writes, task_id, task_path)])


# How a thread stands is looked up first: what changes before the checkpoint is read is seen when the thread is taken.
# It is not looked up in the other half's way, which may be changed, too, and would read a second time.


def _by_tuple(base: Any) -> Any:
    def look(self: Any, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        by_other_half = issubclass(base, SyncOfAsync)
        _, standing = self._wait(base.alook(self, config)) if by_other_half else base.look(self, config)
        return self.get_tuple(config), standing

    return look


def _by_tuple_aio(base: Any) -> Any:
    async def alook(self: Any, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        by_other_half = issubclass(base, AsyncOfSync)
        _, standing = await (self._call(base.look, self, config) if by_other_half else base.alook(self, config))
        return await self.aget_tuple(config), standing

    return alook


class AsyncOfSync(BaseCheckpointSaver[int]):
    """The async methods of a saver that has the sync ones."""

    cleanup_before: Callable[..., "Freed"]
    keep_last: Callable[..., "Freed"]

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


def _one(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    new_versions: ChannelVersions,
) -> Commit:
    own = _metadata.copied({name: value for name, value in checkpoint.items() if name != "channel_values"})
    own["channel_values"] = dict(checkpoint["channel_values"])
    told = _metadata.checked(get_checkpoint_metadata(config, metadata))
    return Commit(place_of(config), (), own, told, new_versions.keys(), is_exact=False)


def _of_task(config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str) -> Commit:
    return Commit(place_of_writes(config), [TaskWrites(task_id, writes, task_path)])


def _named(config: RunnableConfig, checkpoint: Checkpoint) -> RunnableConfig:
    thread_id, ns, _ = place_of(config)
    return checkpoint_config(thread_id, ns, checkpoint["id"])


async def _collected(found: AsyncIterator[T]) -> list[T]:
    return [one async for one in found]
