"""LangGraph's ways to write, `put` and `put_writes`, for savers that store commits."""

from collections.abc import Sequence
from typing import Any, ClassVar

from signoff._reprs import repr_of
from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint._halves import AsyncOfSync, SyncOfAsync
from signoff.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    Commit,
    Standing,
    TaskWrites,
    checkpoint_config,
    get_checkpoint_metadata,
)
from signoff.checkpoint.places import place_of, place_of_writes
from signoff.checkpoint.reopening import filing_with
from signoff.config import RunnableConfig
from signoff.errors import NotStorable
from signoff.steps import adrive, drive

__all__ = ["PutsByCommit"]

_PUTS = ("put", "put_writes", "aput", "aput_writes")
_READS = ("get_tuple", "aget_tuple", "look", "alook")


class PutsByCommit(BaseCheckpointSaver[int]):
    """LangGraph's ways to write, for a saver that has `prepare`, `store` and `astore`.

    A subclass that changes `put` or `put_writes`, to count or to refuse, wants every write to come that way. So
    its commits are taken apart, one call for each piece, as with a saver that knows no commits; and the index of open
    questions is told of each piece together with it, as it is stored. One that changes `get_tuple` wants every read
    to come that way: it gets those of runs, too.
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

    def _store_whole(self, commit: Commit) -> None:
        saver = self._whole or type(self)
        commit.filing = drive(filing_with(commit), lambda ask: getattr(saver, ask.method)(self, *ask.args))
        saver.store(self, saver.prepare(self, [commit]))

    async def _astore_whole(self, commit: Commit) -> None:
        saver = self._whole or type(self)
        steps = filing_with(commit)
        commit.filing = await adrive(steps, lambda ask: getattr(saver, f"a{ask.method}")(self, *ask.args))
        await saver.astore(self, saver.prepare(self, [commit]))

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint as the child of the one that the config names."""
        self._store_whole(_one(config, checkpoint, metadata, new_versions))
        return _named(config, checkpoint)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint as the child of the one that the config names."""
        await self._astore_whole(_one(config, checkpoint, metadata, new_versions))
        return _named(config, checkpoint)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, with the checkpoint that the config names."""
        self._store_whole(_of_task(config, writes, task_id, task_path))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, with the checkpoint that the config names."""
        await self._astore_whole(_of_task(config, writes, task_id, task_path))


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


def _one(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    new_versions: ChannelVersions,
) -> Commit:
    own = _metadata.copied({name: value for name, value in checkpoint.items() if name != "channel_values"})
    own["channel_values"] = dict(checkpoint["channel_values"])
    _check_versions(own["channel_versions"])
    told = _metadata.checked(get_checkpoint_metadata(config, metadata))
    return Commit(place_of(config), (), own, told, new_versions.keys(), is_exact=False)


def _check_versions(versions: ChannelVersions) -> None:
    """Refuse a version that cannot be stored."""
    for name, version in versions.items():
        if not isinstance(version, int | float | str) or (isinstance(version, int) and not -_MOST <= version < _MOST):
            raise NotStorable(
                f"Cannot store a checkpoint where channel {name!r} has the version {repr_of(version):.50}: a version "
                "is a whole number of at most 64 bits, a float or a text."
            )


_MOST = 1 << 63


def _of_task(config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str) -> Commit:
    written = [TaskWrites(task_id, [*writes], task_path)] if writes else []
    return Commit(place_of_writes(config), written)


def _named(config: RunnableConfig, checkpoint: Checkpoint) -> RunnableConfig:
    thread_id, ns, _ = place_of(config)
    return checkpoint_config(thread_id, ns, checkpoint["id"])
