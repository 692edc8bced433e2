"""The shape of a checkpoint, and what every saver can do.

The records are LangGraph's, so that savers written for it run under this engine. `commit` is ours: everything
that one moment of a run stores, in one transaction.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

from signoff.checkpoint.answered import note_of
from signoff.checkpoint.ids import as_text
from signoff.checkpoint.lease import Lease, Standing
from signoff.checkpoint.moment import Moment
from signoff.checkpoint.others import check_answers, lacks, path_for
from signoff.checkpoint.places import Place
from signoff.checkpoint.questions import Filing, Question, Wanted
from signoff.checkpoint.records import (
    SHAPE_VERSION,
    WRITES_IDX_MAP,
    Branch,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    Commit,
    PendingWrite,
    TaskWrites,
    checkpoint_config,
    copy_checkpoint,
    create_checkpoint,
    empty_checkpoint,
    get_checkpoint_id,
    get_checkpoint_metadata,
    get_serializable_checkpoint_metadata,
)
from signoff.checkpoint.remembered import made_at, start_of
from signoff.config import RunnableConfig

__all__ = [
    "BaseCheckpointSaver",
    "Branch",
    "ChannelVersions",
    "Checkpoint",
    "CheckpointMetadata",
    "CheckpointTuple",
    "Commit",
    "PendingWrite",
    "Filing",
    "Lease",
    "Moment",
    "Place",
    "Question",
    "SHAPE_VERSION",
    "Standing",
    "TaskWrites",
    "WRITES_IDX_MAP",
    "as_text",
    "checkpoint_config",
    "copy_checkpoint",
    "create_checkpoint",
    "empty_checkpoint",
    "get_checkpoint_id",
    "get_checkpoint_metadata",
    "get_serializable_checkpoint_metadata",
    "made_at",
    "note_of",
    "start_of",
]

V = TypeVar("V", int, float, str)


class BaseCheckpointSaver(Generic[V]):
    """Where checkpoints are kept. Subclass it for a backend; sync methods, async ones (`a...`), or both."""

    saves_at_once: ClassVar[bool] = False
    """Whether storing is so quick that doing it in the background would only cost."""

    stores_together: ClassVar[bool] = False
    """Whether what `prepare` made is a list that the program cannot change any more, and several can be added up and
    stored in one go. Where not, a run goes on when all is stored, also with `durability="async"`."""

    has_questions: ClassVar[bool] = False
    """Whether it keeps an index of open questions."""

    takes_moments: ClassVar[bool] = False
    """Whether it wants to know only what a checkpoint changed, and never all of it."""

    has_leases: ClassVar[bool] = False
    """Whether it knows which run has a thread. Without that, two runs of one thread can get into each other's way."""

    lease_s: float | None = 30.0
    """For how many seconds a run keeps its thread without a sign of life; None if only its process's end ends it."""

    def __init__(self, *, serde: Any = None) -> None:
        from signoff.checkpoint.serde.base import maybe_add_typed_methods

        if serde is not None:
            self.serde = maybe_add_typed_methods(serde)

    @cached_property
    def serde(self) -> Any:
        """What turns values into bytes. A saver that does not call `super().__init__()` has one, too."""
        from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer

        return JsonPlusSerializer()

    # Reading

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The checkpoint that the config names; the newest of its thread and namespace if it names none."""
        raise NotImplementedError(lacks(self, "get_tuple"))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Checkpoints, newest first."""
        raise NotImplementedError(lacks(self, "list"))

    def get(self, config: RunnableConfig) -> Checkpoint | None:
        """The bare checkpoint."""
        found = self.get_tuple(config)
        return found.checkpoint if found else None

    def find_questions(self, wanted: Wanted) -> Sequence[Question]:
        """The open questions of all threads that are wanted, oldest first."""
        raise NotImplementedError(lacks(self, "find_questions"))

    def look(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        """The checkpoint that the config names, and how its thread stands, both at the same moment."""
        raise NotImplementedError(lacks(self, "look"))

    # Writing

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint as the child of the one that the config names."""
        raise NotImplementedError(lacks(self, "put"))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task wrote, with the checkpoint that the config names."""
        raise NotImplementedError(lacks(self, "put_writes"))

    def commit(self, commits: Sequence[Commit]) -> None:
        """Store all of it, or nothing."""
        self.save(commits)

    def save(self, commits: Sequence[Commit], lease: Lease | None = None, *, ends: bool = False) -> None:
        """Prepare and store commits in one go."""
        self.store(self.prepare(commits), lease, ends=ends)

    def prepare(self, commits: Sequence[Commit]) -> Any:
        """Turn commits into what `store` takes. Values are encoded here, before the program changes them."""
        for commit in commits:
            commit.freeze()
        check_answers(self, commits)
        return commits

    def store(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        """Store what `prepare` made. A saver that can does it in one transaction; this one goes piece by piece.

        With a lease: if its epoch is 0, the thread is taken in the same transaction; if not, the thread must still
        have that epoch. With `ends`, the thread is given back.
        """
        for commit in prepared:
            for task_id, writes, path in commit.writes:
                self.put_writes(commit.config, writes, task_id, *path_for(self.put_writes, path))
            if commit.checkpoint is not None:
                self.put(commit.config, commit.checkpoint, commit.metadata, commit.new_versions)

    def renew(self, lease: Lease) -> None:
        """Give a sign of life: the lease begins anew."""
        raise NotImplementedError(lacks(self, "renew"))

    def delete_thread(self, thread_id: str) -> None:
        """Forget a thread, nested graphs included."""
        raise NotImplementedError(lacks(self, "delete_thread"))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Forget the checkpoints that these runs made."""
        raise NotImplementedError(lacks(self, "delete_for_runs"))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy a thread with its whole history."""
        raise NotImplementedError(lacks(self, "copy_thread"))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Forget all but the newest checkpoint of each thread ("keep_latest"), or all ("delete")."""
        raise NotImplementedError(lacks(self, "prune"))

    # The same, async

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        raise NotImplementedError(lacks(self, "aget_tuple"))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        raise NotImplementedError(lacks(self, "alist"))
        yield

    async def afind_questions(self, wanted: Wanted) -> Sequence[Question]:
        raise NotImplementedError(lacks(self, "afind_questions"))

    async def alook(self, config: RunnableConfig) -> tuple[CheckpointTuple | None, Standing]:
        raise NotImplementedError(lacks(self, "alook"))

    async def aget(self, config: RunnableConfig) -> Checkpoint | None:
        found = await self.aget_tuple(config)
        return found.checkpoint if found else None

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        raise NotImplementedError(lacks(self, "aput"))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        raise NotImplementedError(lacks(self, "aput_writes"))

    async def acommit(self, commits: Sequence[Commit]) -> None:
        await self.astore(self.prepare(commits))

    async def astore(self, prepared: Any, lease: Lease | None = None, *, ends: bool = False) -> None:
        for commit in prepared:
            for task_id, writes, path in commit.writes:
                await self.aput_writes(commit.config, writes, task_id, *path_for(self.aput_writes, path))
            if commit.checkpoint is not None:
                await self.aput(commit.config, commit.checkpoint, commit.metadata, commit.new_versions)

    async def arenew(self, lease: Lease) -> None:
        raise NotImplementedError(lacks(self, "arenew"))

    async def adelete_thread(self, thread_id: str) -> None:
        raise NotImplementedError(lacks(self, "adelete_thread"))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        raise NotImplementedError(lacks(self, "adelete_for_runs"))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        raise NotImplementedError(lacks(self, "acopy_thread"))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        raise NotImplementedError(lacks(self, "aprune"))

    def get_next_version(self, current: V | None, channel: None) -> V:
        """The version after this one; versions of a channel only grow."""
        if isinstance(current, str):
            raise NotImplementedError(f"{type(self).__name__} uses string versions and must define get_next_version.")
        return current + 1 if current is not None else 1  # type: ignore[return-value]


def __getattr__(name: str) -> Any:
    """Serializers, which savers of others import from here. Most programs do without."""
    if name not in ("SerializerProtocol", "JsonPlusSerializer"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from signoff.checkpoint.serde.base import SerializerProtocol
    from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer

    return SerializerProtocol if name == "SerializerProtocol" else JsonPlusSerializer
