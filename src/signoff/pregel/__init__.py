"""Compiled graphs, and the low-level way to write one: nodes that listen to channels."""

from signoff.pregel.builder import NodeBuilder
from signoff.pregel.lowlevel import Pregel

__all__ = ["NodeBuilder", "Pregel"]
