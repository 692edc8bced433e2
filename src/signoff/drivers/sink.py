"""The sink: where chunks go that arise while a task runs, on their way to the reader of the stream."""

from collections.abc import Callable
from typing import Any

from signoff.engine.effects import Chunk


class Sink:
    """Takes chunks from any thread and passes on those that the reader asked for."""

    __slots__ = ("modes", "push", "seen", "with_nested")

    def __init__(self, push: Callable[[Chunk], None], modes: frozenset[str], with_nested: bool) -> None:
        self.push = push
        self.modes = modes
        self.with_nested = with_nested
        """Whether chunks of nested graphs are wanted, too."""
        self.seen: set[str] = set()
        """The ids of the messages that were shown already."""

    def wants(self, ns: tuple[str, ...], mode: str) -> bool:
        return mode in self.modes and (self.with_nested or not ns)

    def send(self, ns: tuple[str, ...], mode: str, payload: Any) -> None:
        """Show something, if the reader wants it."""
        if self.wants(ns, mode):
            self.push((ns, mode, payload))
