"""The words users write with: interrupt, Command, Send, policies, snapshots."""

from typing import TYPE_CHECKING, Any, TypeAlias

from signoff._elsewhere import OF_TYPES, tell_where
from signoff._snapshots import GraphOutput, PregelTask, StateSnapshot, StateUpdate
from signoff._words.choices import All, Durability, OnChanged, OnPending, StreamMode
from signoff._words.commands import Command, Overwrite, Send
from signoff._words.policies import (
    CachePolicy,
    RetryPolicy,
    TimeoutPolicy,
    TracePolicy,
    default_retry_on,
    omit_payload,
)
from signoff._words.questions import Interrupt, interrupt
from signoff.config import StreamWriter

if TYPE_CHECKING:
    from signoff._stream_parts import (
        CheckpointPayload,
        CheckpointStreamPart,
        CheckpointTask,
        CustomStreamPart,
        DebugPayload,
        DebugStreamPart,
        MessagesStreamPart,
        StreamPart,
        TaskPayload,
        TaskResultPayload,
        TasksStreamPart,
        UpdatesStreamPart,
        ValuesStreamPart,
    )
    from signoff.checkpoint.base import BaseCheckpointSaver

    Checkpointer: TypeAlias = BaseCheckpointSaver[Any] | bool | None
    """A saver; or True / False / None: how a nested graph uses its parent's."""

__all__ = [
    "All",
    "CachePolicy",
    "CheckpointPayload",
    "CheckpointStreamPart",
    "CheckpointTask",
    "Checkpointer",
    "Command",
    "CustomStreamPart",
    "DebugPayload",
    "DebugStreamPart",
    "Durability",
    "GraphOutput",
    "Interrupt",
    "MessagesStreamPart",
    "OnChanged",
    "OnPending",
    "Overwrite",
    "PregelTask",
    "RetryPolicy",
    "Send",
    "StateSnapshot",
    "StateUpdate",
    "StreamMode",
    "StreamPart",
    "StreamWriter",
    "TaskPayload",
    "TaskResultPayload",
    "TasksStreamPart",
    "TimeoutPolicy",
    "TracePolicy",
    "UpdatesStreamPart",
    "ValuesStreamPart",
    "default_retry_on",
    "interrupt",
    "omit_payload",
]


def __getattr__(name: str) -> Any:
    """What only type annotations need."""
    if name not in __all__:
        tell_where(__name__, name, OF_TYPES)
    if name == "Checkpointer":
        from signoff.checkpoint.base import BaseCheckpointSaver

        return BaseCheckpointSaver[Any] | bool | None
    from signoff import _stream_parts

    return getattr(_stream_parts, name)
