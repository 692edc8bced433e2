"""What is stored: checkpoints and writes, in LangGraph's shapes, and the commits that they come in."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict

from signoff.checkpoint.ids import now, uuid6
from signoff.checkpoint.moment import Moment
from signoff.checkpoint.places import Place
from signoff.checkpoint.questions import Filing
from signoff.config import RunnableConfig
from signoff.constants import (
    ASKS,
    CALLED,
    CHECKPOINT_ID,
    CHECKPOINT_NS,
    CONF,
    ERROR,
    ERROR_SOURCE,
    INTERRUPT,
    RESUME,
    THREAD_ID,
)
from signoff.errors import InvalidInput

__all__ = [
    "ChannelVersions",
    "Checkpoint",
    "CheckpointMetadata",
    "CheckpointTuple",
    "Commit",
    "PendingWrite",
    "SHAPE_VERSION",
    "TaskWrites",
    "WRITES_IDX_MAP",
    "check_each_once",
    "checkpoint_config",
    "copy_checkpoint",
    "create_checkpoint",
    "empty_checkpoint",
    "get_checkpoint_id",
    "get_checkpoint_metadata",
    "with_own",
]

PendingWrite = tuple[str, str, Any]
"""(task id, channel, value): something a task wrote since the checkpoint."""

ChannelVersions = dict[str, str | int | float]

WRITES_IDX_MAP = {ERROR: -1, INTERRUPT: -3, RESUME: -4, ERROR_SOURCE: -5, ASKS: -6, CALLED: -7}
"""Writes of a task to these channels replace each other; all others are kept in the order they came."""

SHAPE_VERSION = 4


class Checkpoint(TypedDict):
    """The state of a thread, or of one nested graph, after a step."""

    v: int
    id: str
    ts: str
    channel_values: dict[str, Any]
    channel_versions: ChannelVersions
    versions_seen: dict[str, ChannelVersions]
    updated_channels: list[str] | None


class Branch(TypedDict):
    """A branch of a thread: what was made after it begins and before its own first checkpoint was left behind."""

    at: str
    """The checkpoint that it begins at."""
    first: str
    """Its first checkpoint of its own."""
    inside: dict[str, str]
    """The checkpoints that nested graphs begin at, where the caller chose them, by the nodes around these graphs."""
    on: NotRequired["Branch"]
    """The branch that it begins on, once the checkpoint that it begins at was removed: that said so before."""


class CheckpointMetadata(TypedDict, total=False):
    """How a checkpoint came about."""

    source: Literal["input", "loop", "update", "fork"]
    step: int
    parents: dict[str, str]
    run_id: str
    discarded: list[str]
    """The questions that were open, and that new input has dropped."""
    unread_answers: list[str]
    """The questions that were answered, and whose tasks have finished without taking the answers."""
    branched_off: Branch
    """On a thread that went back: the branch that the checkpoint is on."""
    paused: bool
    questions: list[str]
    """In snapshots: the questions that are open, or were, at this checkpoint."""
    answered: list[str]
    """In snapshots of the head of a thread: the questions whose answers nothing has come of yet."""


class CheckpointTuple(NamedTuple):
    """A checkpoint as a saver hands it out."""

    config: RunnableConfig
    checkpoint: Checkpoint
    metadata: CheckpointMetadata
    parent_config: RunnableConfig | None = None
    pending_writes: list[PendingWrite] | None = None


class TaskWrites(NamedTuple):
    """What one task wrote, to be kept with the checkpoint that the task started from."""

    task_id: str
    writes: Sequence[tuple[str, Any]]
    path: str = ""


class Commit:
    """What is stored in one go: writes of finished tasks, then the checkpoint they led to, or either alone."""

    __slots__ = (
        "_checkpoint",
        "_metadata",
        "changed",
        "filing",
        "is_exact",
        "is_told",
        "moment",
        "own",
        "place",
        "writes",
    )

    def __init__(
        self,
        place: Place | tuple[str, str, str | None],
        writes: Sequence[TaskWrites | tuple[str, Sequence[tuple[str, Any]], str]] = (),
        checkpoint: Checkpoint | None = None,
        metadata: CheckpointMetadata | None = None,
        changed: Collection[str] = (),
        is_exact: bool = True,
        filing: Filing | None = None,
        moment: Moment | None = None,
        is_told: bool = True,
    ) -> None:
        self.place = place
        """The thread, the namespace, and the checkpoint that the writes belong to."""
        self.writes = writes
        self._checkpoint = checkpoint
        self._metadata = metadata
        self.changed = changed
        """The channels whose values differ from those of the checkpoint before."""
        self.is_exact = is_exact
        """Whether no other channel differs; LangGraph's `put` does not promise that."""
        self.filing = filing
        """What becomes of the open questions of the thread; None if nothing."""
        self.moment = moment
        """The checkpoint as what it changed, where the engine made it."""
        self.is_told = is_told
        """Whether the writes are all that led to the checkpoint; some may have been stored before, one by one."""
        self.own: Mapping[str, Any] | None = None
        """The caller's own settings, for a saver of another kind."""

    @property
    def has_checkpoint(self) -> bool:
        return self._checkpoint is not None or self.moment is not None

    @property
    def checkpoint_id(self) -> str | None:
        """The id of the checkpoint, if there is one."""
        if self.moment is not None:
            return self.moment.id
        return self._checkpoint["id"] if self._checkpoint is not None else None

    @property
    def checkpoint(self) -> Checkpoint | None:
        """The checkpoint, all of it. It is made when somebody asks, before the run goes on."""
        if self._checkpoint is None and self.moment is not None and self.moment.make is not None:
            self._checkpoint = self.moment.make()
        return self._checkpoint

    @property
    def metadata(self) -> CheckpointMetadata:
        """How the checkpoint came about."""
        if self._metadata is None:
            self._metadata = self.moment.metadata() if self.moment is not None else {}  # type: ignore[assignment]
        return self._metadata  # type: ignore[return-value]

    def freeze(self) -> None:
        """Keep all of the checkpoint as it is now, whatever the run does before it is stored."""
        _ = self.checkpoint, self.metadata

    @property
    def config(self) -> RunnableConfig:
        """The place as a config."""
        config = checkpoint_config(*self.place)
        return config if self.own is None else with_own(config, self.own)

    @property
    def new_versions(self) -> ChannelVersions:
        """The versions of the changed channels."""
        assert self.checkpoint is not None, "only a checkpoint has versions"
        versions = self.checkpoint["channel_versions"]
        return {name: versions[name] for name in self.changed if name in versions}


def check_each_once(commits: Sequence[Commit]) -> None:
    """Refuse commits that are to be stored together and have one checkpoint twice: they cannot both be it."""
    seen: set[tuple[str, str, str]] = set()
    for one in commits:
        id = one.checkpoint_id if one.moment is None else one.moment.id
        if id is None:
            continue
        thread_id, ns, _ = one.place
        if (thread_id, ns, id) in seen:
            raise InvalidInput(
                f"Checkpoint {id!r} of thread {thread_id!r} is twice in one commit, and nothing was stored. Give each "
                "an id of its own, or commit one after the other: then the second takes the place of the first."
            )
        seen.add((thread_id, ns, id))


def checkpoint_config(thread_id: str, ns: str, checkpoint_id: str | None = None) -> RunnableConfig:
    """The config that names a checkpoint; without an id, the newest one."""
    place = {THREAD_ID: thread_id, CHECKPOINT_NS: ns}
    if checkpoint_id is not None:
        place[CHECKPOINT_ID] = checkpoint_id
    return {CONF: place}


def with_own(config: RunnableConfig, own: Mapping[str, Any]) -> RunnableConfig:
    """The config that names a checkpoint, together with the caller's own settings."""
    return {**config, CONF: {**own, **config[CONF]}}


def get_checkpoint_id(config: RunnableConfig) -> str | None:
    """The checkpoint that a config names, if any."""
    checkpoint_id: str | None = config[CONF].get(CHECKPOINT_ID)
    return checkpoint_id


def empty_checkpoint() -> Checkpoint:
    """The checkpoint of a thread that has not begun."""
    return Checkpoint(
        v=SHAPE_VERSION,
        id=uuid6(),
        ts=now(),
        channel_values={},
        channel_versions={},
        versions_seen={},
        updated_channels=None,
    )


def copy_checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    """A copy whose dicts can be changed without changing the original."""
    return {name: value.copy() if isinstance(value, dict) else value for name, value in checkpoint.items()}  # type: ignore[return-value]


def create_checkpoint(
    checkpoint: Checkpoint, channels: Mapping[str, Any] | None, step: int, *, id: str | None = None
) -> Checkpoint:
    """The checkpoint after the given one, with the same values unless channels are given."""
    values = checkpoint["channel_values"] if channels is None else dict(channels)
    return {**checkpoint, "id": id or uuid6(), "ts": now(), "channel_values": values}


def get_checkpoint_metadata(config: RunnableConfig, metadata: CheckpointMetadata) -> CheckpointMetadata:
    """The metadata together with the caller's own settings out of the config: those that are plain values."""
    place = config.get(CONF, {})
    if len(place) == 1 and THREAD_ID in place and not config.get("metadata"):
        return metadata  # as almost always: a thread and nothing else
    own = {**place, **(config.get("metadata") or {})}
    kept = {key: value for key, value in own.items() if _is_own(key) and isinstance(value, str | int | float | bool)}
    return {**kept, **metadata}  # type: ignore[typeddict-item]


def get_serializable_checkpoint_metadata(config: RunnableConfig, metadata: CheckpointMetadata) -> CheckpointMetadata:
    """The same without `writes`, which older programs had among the metadata: what nodes wrote, whatever it was."""
    whole = get_checkpoint_metadata(config, metadata)
    return {key: value for key, value in whole.items() if key != "writes"}  # type: ignore[return-value]


def _is_own(key: str) -> bool:
    return not key.startswith("__") and not key.startswith("langgraph_") and key not in _RESERVED_KEYS


_RESERVED_KEYS = {THREAD_ID, CHECKPOINT_NS, CHECKPOINT_ID, "checkpoint_map", "branched_off"}
