"""The words users write with: interrupt, Command, Send, policies, snapshots."""

import sys
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias, final

from typing_extensions import TypeVar

from signoff import _scope
from signoff.constants import MISSING, OVERWRITE
from signoff.errors import InvalidInput, NodeTimeoutError, SignoffError

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
    from signoff.checkpoint.base import BaseCheckpointSaver, CheckpointMetadata
    from signoff.config import RunnableConfig

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
    "interrupt",
    "omit_payload",
]

All = Literal["*"]
"""Every node, for interrupt_before and interrupt_after."""

StreamMode = Literal["values", "updates", "checkpoints", "tasks", "debug", "messages", "tools", "custom"]
"""What a stream shows: whole states, changes, saved checkpoints, tasks, both, tokens, the nodes' own words."""

StreamWriter = Callable[[Any], None]
"""What a node writes its own words to; they arrive in the `custom` stream."""

Durability = Literal["sync", "async", "exit"]
"""When a step is stored: before the next one starts, beside it, or when the run stops."""

OnPending = Literal["raise", "answer", "discard"]
"""What new input means for a thread with open questions: a mistake, the answer, or that nobody waits for one."""

OnChanged = Literal["raise", "accept"]
"""Whether an answer is handed over although the program asks something else in its place by now."""

Checkpointer: TypeAlias = "BaseCheckpointSaver[Any] | bool | None"
"""A saver; or True / False / None: how a nested graph uses its parent's."""

ResponseT = TypeVar("ResponseT")
OutputT = TypeVar("OutputT", default=Any)
StateT = TypeVar("StateT", default=Any)
N = TypeVar("N", bound=Hashable)
KeyFuncT = TypeVar("KeyFuncT", bound=Callable[..., str | bytes], default=Any)


def default_retry_on(error: Exception) -> bool:
    """Whether an error may go away by itself: broken connections and 5xx answers, not mistakes in the code."""
    if isinstance(error, ConnectionError | NodeTimeoutError):
        return True
    if _is_http(error):
        answer = getattr(error, "response", None)
        return answer is None or 500 <= answer.status_code < 600
    return not isinstance(error, _MISTAKES)


def _is_http(error: Exception) -> bool:
    """Whether httpx or requests, if the program uses them, say that a server has refused something."""
    kinds = (getattr(sys.modules.get(library), name, None) for library, name in _HTTP)
    return any(kind is not None and isinstance(error, kind) for kind in kinds)


_HTTP = (("httpx", "HTTPStatusError"), ("requests", "HTTPError"))

_MISTAKES = (
    ValueError, TypeError, ArithmeticError, ImportError, LookupError, NameError, SyntaxError, RuntimeError,
    ReferenceError, StopIteration, StopAsyncIteration, OSError, SignoffError,
)  # fmt: skip


class RetryPolicy(NamedTuple):
    """How often, how long after, and for which errors a failed task is tried again."""

    initial_interval: float = 0.5
    backoff_factor: float = 2.0
    max_interval: float = 128.0
    max_attempts: int = 3
    jitter: bool = True
    retry_on: type[Exception] | Sequence[type[Exception]] | Callable[[Exception], bool] = default_retry_on


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeoutPolicy:
    """How long an async node may run, or be silent, before it is cancelled."""

    run_timeout: float | timedelta | None = None
    idle_timeout: float | timedelta | None = None
    refresh_on: Literal["auto", "heartbeat"] = "auto"

    def __post_init__(self) -> None:
        for name in ("run_timeout", "idle_timeout"):
            seconds = as_seconds(getattr(self, name))
            if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
                raise InvalidInput(f"{name} must be more than 0 seconds, not {seconds!r}.")
            object.__setattr__(self, name, seconds)

    @classmethod
    def coerce(cls, value: "float | timedelta | TimeoutPolicy | None") -> "TimeoutPolicy | None":
        """A plain number of seconds is a run timeout."""
        if value is None or isinstance(value, TimeoutPolicy):
            return value
        return cls(run_timeout=value)


def as_seconds(value: float | timedelta | None) -> float | None:
    """A length of time as a number of seconds."""
    return value.total_seconds() if isinstance(value, timedelta) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePolicy(Generic[KeyFuncT]):
    """When a task's result may be taken from an earlier run with the same input."""

    key_func: KeyFuncT | None = None
    """From the task's input to its key; by default a digest of the input's stored form."""
    ttl: int | None = None
    """Seconds until a result is forgotten; None keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracePolicy:
    """What traces record of a node. What it calls is recorded as ever, and so is the graph around it."""

    process_inputs: Callable[[Any], Any] | None = None
    """From what the node is given to what is recorded of it."""
    process_outputs: Callable[[Any], Any] | None = None
    """From what the node returns to what is recorded of it."""


def omit_payload(value: Any) -> dict[str, Any]:
    """For a TracePolicy: nothing is recorded."""
    return {}


@final
@dataclass(frozen=True, slots=True, init=False)
class Interrupt(Generic[ResponseT]):
    """An open question: what was asked, and the id to answer it by."""

    value: Any
    id: str
    response_schema: dict[str, Any] | None = field(default=None, compare=False)
    """What the answer must look like, as JSON Schema."""
    key: str | None = field(default=None, compare=False)
    """The name that the program gave the question."""
    origin: Any = field(default=None, compare=False, repr=False)
    """Where it was asked."""

    def __init__(
        self,
        value: Any,
        id: str = "placeholder-id",
        *,
        response_schema: dict[str, Any] | None = None,
        key: str | None = None,
        origin: Any = None,
    ) -> None:
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "response_schema", response_schema)
        object.__setattr__(self, "key", key)
        object.__setattr__(self, "origin", origin)


class StateUpdate(NamedTuple):
    """One write of `bulk_update_state`: these values, as if this node had returned them."""

    values: dict[str, Any] | Any | None
    as_node: str | None = None
    task_id: str | None = None


class PregelTask(NamedTuple):
    """A task as a snapshot shows it."""

    id: str
    name: str
    path: tuple[Any, ...]
    error: Any | None = None
    interrupts: tuple[Interrupt[Any], ...] = ()
    state: "RunnableConfig | StateSnapshot | None" = None
    result: Any | None = None


class StateSnapshot(NamedTuple):
    """The state of a thread at one checkpoint, and what is due next."""

    values: dict[str, Any] | Any
    next: tuple[str, ...]
    config: "RunnableConfig"
    metadata: "CheckpointMetadata | None"
    created_at: str | None
    parent_config: "RunnableConfig | None"
    tasks: tuple[PregelTask, ...]
    interrupts: tuple[Interrupt[Any], ...]


@final
class Send:
    """Run `node` once in the next step with `arg` as its input, whatever the state says."""

    __slots__ = ("arg", "node", "timeout")

    def __init__(self, /, node: str, arg: Any, *, timeout: "float | timedelta | TimeoutPolicy | None" = None) -> None:
        self.node = node
        self.arg = arg
        self.timeout = None if timeout is None else TimeoutPolicy.coerce(timeout)

    def __hash__(self) -> int:
        return hash(self.node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Send) and (self.node, self.arg) == (other.node, other.arg)

    def __repr__(self) -> str:
        return f"Send(node={self.node!r}, arg={self.arg!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command(Generic[N]):
    """From a node: change the state and say where to go. As input: answer a question, change, go."""

    PARENT: ClassVar[Literal["__parent__"]] = "__parent__"

    graph: str | None = None
    update: Any | None = None
    resume: Any = MISSING
    """The answer. None is one, too; without `resume=` there is none."""
    goto: Send | Sequence[Send | N] | N = ()
    by: str | None = None
    """Who answers, for the history."""

    def __repr__(self) -> str:
        said = {name: getattr(self, name) for name in ("graph", "update", "goto", "by") if getattr(self, name)}
        if self.resume is not MISSING:
            said["resume"] = self.resume
        return f"Command({', '.join(f'{name}={value!r}' for name, value in said.items())})"


@dataclass(frozen=True, slots=True)
class Overwrite:
    """A write that replaces a key's value instead of going through its reducer."""

    value: Any
    type: Literal["__overwrite__"] = OVERWRITE


@dataclass(frozen=True, slots=True)
class GraphOutput(Generic[OutputT]):
    """What `invoke(..., version="v2")` returns: the value and the questions, apart."""

    value: OutputT
    interrupts: tuple[Interrupt[Any], ...] = ()


def interrupt(
    value: Any,
    *,
    response_schema: Any = None,
    key: str | None = None,
    update: dict[str, Any] | None = None,
) -> Any:
    """Ask a person, and return the answer.

    The first time, the run is saved and stops here. When an answer comes with `Command(resume=...)`, the node
    starts again from its first line and this call returns the answer.

    Args:
        value: What to ask: anything that can be stored.
        response_schema: What the answer must look like: a pydantic model, TypedDict, dataclass, plain type or JSON
            Schema. A wrong answer is refused, and the right one is returned as this type.
        key: A name that stays with the question when the program asks it in another place or order.
        update: What to write to the state now, as if the node had returned it: saved with the pause.
    """
    if key is not None and not (key and isinstance(key, str)):
        raise InvalidInput(f"The key of a question is a name, such as key='amount', not {key!r}.")
    return _scope.current("interrupt()").ask(value, response_schema=response_schema, key=key, update=update)


def __getattr__(name: str) -> Any:
    """The types of chunks, which only type annotations need."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from signoff import _stream_parts

    return getattr(_stream_parts, name)
