"""Events: what happens in a run, each in the same envelope."""

import time
from typing import Any, Literal, NotRequired, TypedDict

__all__ = ["EventParams", "ProtocolEvent", "event_of", "made"]


class EventParams(TypedDict):
    """What an event says."""

    namespace: list[str]
    """Where it happened: the tasks of nested graphs from the root down; nothing for the graph that was called."""
    timestamp: int
    """When, in ms since 1970. Clocks may go back: `seq` tells what came first."""
    data: Any
    interrupts: NotRequired[tuple[Any, ...]]
    """The open questions, in events of the state."""


class ProtocolEvent(TypedDict):
    """Something that happened in a run."""

    type: Literal["event"]
    method: str
    """The stream mode that it belongs to, or the name of the channel that somebody has pushed it to."""
    params: EventParams
    seq: NotRequired[int]
    """Its number among those that readers of the run get."""
    event_id: NotRequired[str]


def event_of(part: dict[str, Any]) -> ProtocolEvent:
    """A part of a stream of the second version as an event."""
    event = made(part["type"], list(part["ns"]), part["data"])
    if "interrupts" in part:
        event["params"]["interrupts"] = part["interrupts"]
    return event


def made(method: str, namespace: list[str], data: Any) -> ProtocolEvent:
    """An event that happens now."""
    return {
        "type": "event",
        "method": method,
        "params": {"namespace": namespace, "timestamp": time.time_ns() // 1_000_000, "data": data},
    }
