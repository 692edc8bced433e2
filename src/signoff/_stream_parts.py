"""The types of what `stream(..., version="v2")` yields, and of what the streams of tasks and checkpoints show."""

from typing import Any, Generic, Literal, NotRequired, TypedDict

from typing_extensions import TypeAliasType, TypeVar

from signoff._snapshots import OutputT, StateSnapshot
from signoff._words.questions import Interrupt
from signoff.config import RunnableConfig

__all__ = [
    "CheckpointPayload",
    "CheckpointStreamPart",
    "CheckpointTask",
    "CustomStreamPart",
    "DebugPayload",
    "DebugStreamPart",
    "MessagesStreamPart",
    "StreamPart",
    "TaskPayload",
    "TaskResultPayload",
    "TasksStreamPart",
    "UpdatesStreamPart",
    "ValuesStreamPart",
]

StateT = TypeVar("StateT", default=Any)


class _Part(TypedDict):
    ns: tuple[str, ...]
    """The nested graph that it comes from; empty for the graph itself."""


class ValuesStreamPart(_Part, Generic[OutputT]):
    """The state, and the questions that are open."""

    type: Literal["values"]
    data: OutputT
    interrupts: tuple[Interrupt[Any], ...]


class UpdatesStreamPart(_Part):
    """What nodes have changed, by their names; questions come under `__interrupt__`."""

    type: Literal["updates"]
    data: dict[str, Any]


class MessagesStreamPart(_Part):
    """A message or a token, and the metadata of where it comes from."""

    type: Literal["messages"]
    data: tuple[Any, dict[str, Any]]


class CustomStreamPart(_Part):
    """What a node wrote to its stream writer."""

    type: Literal["custom"]
    data: Any


class CheckpointTask(TypedDict):
    """A task of a checkpoint: what it came to, as far as that is known, and the state of the graph nested in it."""

    id: str
    name: str
    error: NotRequired[str]
    result: NotRequired[Any]
    interrupts: NotRequired[list[dict[str, Any]]]
    state: StateSnapshot | RunnableConfig | None


class CheckpointPayload(TypedDict, Generic[StateT]):
    """What the stream `checkpoints` shows."""

    config: RunnableConfig | None
    parent_config: RunnableConfig | None
    metadata: dict[str, Any]
    values: StateT
    next: list[str]
    tasks: list[CheckpointTask]


class CheckpointStreamPart(_Part, Generic[StateT]):
    """A checkpoint that was saved."""

    type: Literal["checkpoints"]
    data: CheckpointPayload[StateT]


class TaskPayload(TypedDict):
    """What the stream `tasks` shows of a task that begins."""

    id: str
    name: str
    input: Any
    triggers: list[str]
    metadata: NotRequired[dict[str, Any]]


class TaskResultPayload(TypedDict):
    """What the stream `tasks` shows of a task that is over."""

    id: str
    name: str
    error: str | None
    interrupts: list[dict[str, Any]]
    result: dict[str, Any]


class TasksStreamPart(_Part):
    """A task that begins, or that is over."""

    type: Literal["tasks"]
    data: TaskPayload | TaskResultPayload


class DebugPayload(TypedDict, Generic[StateT]):
    """What the stream `debug` shows: a checkpoint or a task, and when."""

    type: Literal["checkpoint", "task", "task_result"]
    step: int
    timestamp: str
    payload: CheckpointPayload[StateT] | TaskPayload | TaskResultPayload


class DebugStreamPart(_Part, Generic[StateT]):
    """A checkpoint or a task."""

    type: Literal["debug"]
    data: DebugPayload[StateT]


StreamPart = TypeAliasType(
    "StreamPart",
    ValuesStreamPart[OutputT]
    | UpdatesStreamPart
    | MessagesStreamPart
    | CustomStreamPart
    | CheckpointStreamPart[StateT]
    | TasksStreamPart
    | DebugStreamPart[StateT],
    type_params=(StateT, OutputT),
)
"""One chunk of `stream(..., version="v2")`: its `type` says which."""
