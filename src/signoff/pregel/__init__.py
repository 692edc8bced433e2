"""Compiled graphs, and the low-level way to write one."""

from signoff.pregel.main import Pregel

__all__ = ["Pregel"]
