"""Names of reserved writes, and the shapes of channels and Sends that a saver may meet."""

from collections.abc import Sequence
from typing import Any, Final, Protocol, Self, TypeVar, runtime_checkable

from signoff.constants import ERROR, INTERRUPT, RESUME, TASKS

__all__ = ["ERROR", "INTERRUPT", "RESUME", "SCHEDULED", "TASKS", "ChannelProtocol", "SendProtocol"]

SCHEDULED: Final = "__scheduled__"
"""The write that says a task was handed out."""

Value = TypeVar("Value", covariant=True)
Update = TypeVar("Update", contravariant=True)
Stored = TypeVar("Stored")


class ChannelProtocol(Protocol[Value, Update, Stored]):
    """One key of a state with its rule for merging writes."""

    @property
    def ValueType(self) -> Any:  # noqa: N802 - LangGraph's name
        """What `get` returns."""
        ...

    @property
    def UpdateType(self) -> Any:  # noqa: N802 - LangGraph's name
        """What `update` takes."""
        ...

    def checkpoint(self) -> Stored | None:
        """What is stored of this channel."""
        ...

    def from_checkpoint(self, checkpoint: Stored | None) -> Self:
        """A channel as it was stored."""
        ...

    def update(self, values: Sequence[Update]) -> bool:
        """Merge the writes of a step; whether that changed anything."""
        ...

    def get(self) -> Value:
        """The value now."""
        ...

    def consume(self) -> bool:
        """Note that the value was read by a task; whether that changed anything."""
        ...


@runtime_checkable
class SendProtocol(Protocol):
    """A task to run by value: which node, with what."""

    node: str
    arg: Any

    def __hash__(self) -> int: ...

    def __repr__(self) -> str: ...

    def __eq__(self, value: object) -> bool: ...
