"""The sink: where chunks go that arise while a task runs, on their way to the reader of the stream."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

from signoff.engine.effects import Chunk


class Sink:
    """Takes chunks from any thread and passes on those that the reader asked for, and the readers around it."""

    __slots__ = ("depth", "forms", "inner_modes", "modes", "outer", "push", "seen", "with_events", "with_nested")

    def __init__(
        self,
        push: Callable[[Chunk], None],
        modes: frozenset[str],
        with_nested: bool,
        depth: int,
        outer: "Sink | None",
        with_events: bool,
    ) -> None:
        self.push = push
        self.modes = modes
        self.with_nested = with_nested
        """Whether chunks of nested graphs are wanted, too."""
        self.depth = depth
        """How deep the graph that is read is nested itself."""
        self.outer = outer
        """The sink of the run around this one, which has a reader of its own."""
        self.with_events = with_events
        """Whether the messages of chat models come as LangChain's events, and not token by token."""
        around: frozenset[str] = outer.inner_modes if outer is not None else frozenset()
        self.inner_modes: frozenset[str] = around | modes if with_nested else around
        """What is wanted of nested graphs, by any reader."""
        self.forms: dict[tuple[str, ...], Any] = {}
        """From a place to the forms of the graph that runs there."""
        self.seen: set[str] = set()
        """The ids of the messages that were shown already."""

    def listens_to(self, mode: str) -> bool:
        """Whether any reader asked for a mode."""
        return any(mode in sink.modes for sink in self._all())

    def wants(self, ns: tuple[str, ...], mode: str) -> bool:
        """Whether any reader wants a mode from a place."""
        return any(sink._takes(ns, mode) for sink in self._all())

    def send(self, ns: tuple[str, ...], mode: str, payload: Any, shown_ns: tuple[str, ...] | None = None) -> None:
        """Show something to the readers that want it, as what comes from its place, or from another one."""
        if self._takes(ns, mode):
            self.push((ns if shown_ns is None else shown_ns, mode, payload))
        if self.outer is not None:
            self.outer.send(ns, mode, payload, shown_ns)

    def send_message(
        self, ns: tuple[str, ...], message: Any, metadata: Any, *, is_token: bool = False, is_result: bool = False
    ) -> None:
        """Show a message to the readers that want it and have not seen it; a token of it is always news.

        Those who get events learn of tokens from these, and of the results of tools from the events of tools. What
        says of itself where it comes from, as a summary does, was said by nobody.
        """
        is_told = is_token or (is_result and (message.type == "tool" or "lc_source" in message.additional_kwargs))
        for sink in self._all():
            is_wanted = sink._takes(ns, "messages") and not (is_told and sink.with_events)
            if is_wanted and (sink._is_news(message) or is_token):
                sink.push((ns, "messages", (message, metadata)))

    def wants_events(self, ns: tuple[str, ...]) -> bool:
        """Whether any reader wants what chat models tell of their messages at a place."""
        return any(sink.with_events and sink._takes(ns, "messages") for sink in self._all())

    def send_event(self, ns: tuple[str, ...], event: dict[str, Any], metadata: Any) -> None:
        """Show what a chat model tells of a message, to the readers that want it so."""
        for sink in self._all():
            if sink.with_events and sink._takes(ns, "messages"):
                sink.push((ns, "messages", (event, metadata)))

    def note_events(self, message: Any) -> None:
        """A message is no news for those who have got its events."""
        for sink in self._all():
            if sink.with_events:
                sink._is_news(message)

    def come_from(self, ns: tuple[str, ...], forms: Any) -> None:
        """What comes from a place has these forms."""
        for sink in self._all():
            sink.forms[ns] = forms

    def note(self, ns: tuple[str, ...], ids: Iterator[str]) -> None:
        """Messages with these ids are no news for those who see what happens at a place."""
        known = set(ids)
        for sink in self._all():
            if sink._takes(ns, "messages"):
                sink.seen |= known

    def _all(self) -> Iterator["Sink"]:
        sink: Sink | None = self
        while sink is not None:
            yield sink
            sink = sink.outer

    def _takes(self, ns: tuple[str, ...], mode: str) -> bool:
        return mode in self.modes and (self.with_nested or len(ns) <= self.depth)

    def _is_news(self, message: Any) -> bool:
        """Whether a message has not been shown yet; from now on it has. One without an id gets one."""
        if not message.id:
            message.id = str(uuid4())
        if message.id in self.seen:
            return False
        self.seen.add(message.id)
        return True
