"""A saver in this process: for tests, scripts and threads that need not outlive it."""

from signoff.checkpoint.memory.saver import InMemorySaver

__all__ = ["InMemorySaver", "MemorySaver"]

MemorySaver = InMemorySaver
