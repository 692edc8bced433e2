"""The inbox: open questions over all threads, their answers, and conversations request by request."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from signoff.inbox.conversation import aconverse, converse
    from signoff.inbox.desk import Inbox
    from signoff.inbox.events import Event
    from signoff.inbox.outcomes import Failed, Finished, Outcome, Paused
    from signoff.inbox.page import Page
    from signoff.inbox.scanning import NoQuestionIndex
    from signoff.inbox.threads import Thread

_HOMES = {
    "Event": "events",
    "Failed": "outcomes",
    "Finished": "outcomes",
    "Inbox": "desk",
    "NoQuestionIndex": "scanning",
    "Outcome": "outcomes",
    "Page": "page",
    "Paused": "outcomes",
    "Thread": "threads",
    "aconverse": "conversation",
    "converse": "conversation",
}

__all__ = [
    "Event",
    "Failed",
    "Finished",
    "Inbox",
    "NoQuestionIndex",
    "Outcome",
    "Page",
    "Paused",
    "Thread",
    "aconverse",
    "converse",
]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: whoever only reads the inbox does not need what runs a graph.
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
