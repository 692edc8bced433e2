"""Snapshots: what a person sees of a thread, and writes to it; and what a run returns."""

from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, NoReturn, Union

from typing_extensions import TypeVar

from signoff._words.naming import public
from signoff._words.questions import Interrupt
from signoff.checkpoint.records import CheckpointMetadata
from signoff.config import RunnableConfig

__all__ = ["GraphOutput", "PregelTask", "StateSnapshot", "StateUpdate"]

OutputT = TypeVar("OutputT", default=Any)


@public
class StateUpdate(NamedTuple):
    """One write of `bulk_update_state`: these values, as if this node had returned them."""

    values: dict[str, Any] | Any | None
    as_node: str | None = None
    task_id: str | None = None


@public
class PregelTask(NamedTuple):
    """A task as a snapshot shows it."""

    id: str
    name: str
    path: tuple[Any, ...]
    error: Any | None = None
    interrupts: tuple[Interrupt[Any], ...] = ()
    state: Union[RunnableConfig, "StateSnapshot", None] = None
    result: Any | None = None


@public
class StateSnapshot(NamedTuple):
    """The state of a thread at one checkpoint, and what is due next."""

    values: dict[str, Any] | Any
    next: tuple[str, ...]
    config: RunnableConfig
    metadata: CheckpointMetadata | None
    created_at: str | None
    parent_config: RunnableConfig | None
    tasks: tuple[PregelTask, ...]
    interrupts: tuple[Interrupt[Any], ...]


@public
@dataclass(frozen=True, slots=True)
class GraphOutput(Generic[OutputT]):
    """What `invoke(..., version="v2")` returns: the value and the questions, apart."""

    value: OutputT
    interrupts: tuple[Interrupt[Any], ...] = ()

    def __getitem__(self, key: Any) -> NoReturn:
        raise TypeError(f"A GraphOutput has two parts: look for {key!r} in its value, for questions in its interrupts.")

    __contains__ = __getitem__
