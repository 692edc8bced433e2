"""signoff: durable workflows and agents that stop for people.

The names that programs use every day are here; each is loaded when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from signoff.checkpoint.memory import InMemorySaver
    from signoff.checkpoint.sqlite import SqliteSaver
    from signoff.config import get_config, get_store, get_stream_writer
    from signoff.constants import END, START
    from signoff.errors import GraphInterrupt, InvalidAnswer, InvalidUpdateError, SignoffError
    from signoff.func import entrypoint, task
    from signoff.graph import MessagesState, StateGraph, add_messages
    from signoff.runtime import RunControl, Runtime, get_runtime
    from signoff.store.memory import InMemoryStore
    from signoff.types import CachePolicy, Command, Interrupt, RetryPolicy, Send, StateSnapshot, interrupt

_ROOMS = {
    "signoff.checkpoint.memory": ("InMemorySaver",),
    "signoff.checkpoint.sqlite": ("SqliteSaver",),
    "signoff.config": ("get_config", "get_store", "get_stream_writer"),
    "signoff.constants": ("END", "START"),
    "signoff.errors": ("GraphInterrupt", "InvalidAnswer", "InvalidUpdateError", "SignoffError"),
    "signoff.func": ("entrypoint", "task"),
    "signoff.graph": ("MessagesState", "StateGraph", "add_messages"),
    "signoff.runtime": ("RunControl", "Runtime", "get_runtime"),
    "signoff.store.memory": ("InMemoryStore",),
    "signoff.types": (
        "CachePolicy",
        "Command",
        "Interrupt",
        "RetryPolicy",
        "Send",
        "StateSnapshot",
        "interrupt",
    ),
}

_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = [
    "CachePolicy",
    "Command",
    "END",
    "GraphInterrupt",
    "InMemorySaver",
    "InMemoryStore",
    "Interrupt",
    "InvalidAnswer",
    "InvalidUpdateError",
    "MessagesState",
    "RetryPolicy",
    "RunControl",
    "Runtime",
    "START",
    "Send",
    "SignoffError",
    "SqliteSaver",
    "StateGraph",
    "StateSnapshot",
    "add_messages",
    "entrypoint",
    "get_config",
    "get_runtime",
    "get_store",
    "get_stream_writer",
    "interrupt",
    "task",
]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'signoff' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
