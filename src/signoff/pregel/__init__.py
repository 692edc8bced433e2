"""Compiled graphs, and the low-level way to write one: nodes that listen to channels."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from signoff.pregel.builder import ChannelWriteEntry, NodeBuilder
    from signoff.pregel.lowlevel import Pregel

__all__ = ["ChannelWriteEntry", "NodeBuilder", "Pregel"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: describing a graph needs some of this room, not yet all that runs one.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "Pregel":
        from signoff.pregel.lowlevel import Pregel

        return Pregel
    from signoff.pregel import builder

    return getattr(builder, name)
