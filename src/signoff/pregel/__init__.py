"""Compiled graphs, and the low-level way to write one: nodes that listen to channels."""

from typing import TYPE_CHECKING, Any

from signoff._elsewhere import OF_CHANNEL_WRITES, tell_where

if TYPE_CHECKING:
    from signoff.pregel.builder import NodeBuilder
    from signoff.pregel.lowlevel import Pregel

__all__ = ["NodeBuilder", "Pregel"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: describing a graph needs some of this room, not yet all that runs one.
    if name not in __all__:
        tell_where(__name__, name, OF_CHANNEL_WRITES)
    if name == "NodeBuilder":
        from signoff.pregel.builder import NodeBuilder

        return NodeBuilder
    from signoff.pregel.lowlevel import Pregel

    return Pregel
