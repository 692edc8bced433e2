"""What chat models tell of messages while they write them, in LangChain's events: their own, or made of chunks."""

import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from signoff.drivers.sink import Sink

__all__ = ["Tellings"]

Event = Any


class Tellings:
    """Sends the events of messages that are being written to those who read a run by them."""

    def __init__(self, sink: "Sink") -> None:
        self.sink = sink
        self._under_way: dict[Any, _Telling] = {}
        """By the run of their model."""

    def begin(self, run_id: Any, place: tuple[str, ...], metadata: dict[str, Any]) -> None:
        """A model begins to write."""
        if self.sink.wants_events(place):
            send = partial(self.sink.send_event, place, metadata={**metadata, "run_id": str(run_id)})
            self._under_way[run_id] = _Telling(send)

    def event(self, run_id: Any, event: Event) -> None:
        """It has made an event itself."""
        if run_id in self._under_way:
            self._under_way[run_id].event(event)

    def chunk(self, run_id: Any, chunk: Any) -> None:
        """It has written a chunk."""
        if run_id in self._under_way:
            self._under_way[run_id].chunk(chunk)

    def end(self, run_id: Any, message: Any) -> None:
        """It has written all of it: whoever has got the events knows it."""
        telling = self._under_way.pop(run_id, None)
        if telling is not None and telling.end():
            self.sink.note_events(message)

    def break_off(self, run_id: Any, error: BaseException) -> None:
        """It has failed, or nobody wants the rest."""
        telling = self._under_way.pop(run_id, None)
        if telling is not None:
            telling.break_off(str(error) or type(error).__name__)


class _Telling:
    """The events of one message."""

    def __init__(self, send: Callable[[Event], None]) -> None:
        self._send = send
        self._has_own = False
        """Whether the model makes them itself."""
        self._first: Any = None
        self._making: Coroutine[Any, Any, None] | None = None

    def event(self, event: Event) -> None:
        self._has_own = True
        self._send(event)

    def chunk(self, chunk: Any) -> None:
        if self._has_own:
            return
        if self._first is None:
            self._first = chunk  # which may come before the event that is made of it: the next one tells
        else:
            self._put_in(chunk)

    def end(self) -> bool:
        """All is written. Returns whether there was any event."""
        if not self._has_own and self._first is not None:
            self._put_in(None)
        return self._has_own or self._making is not None

    def break_off(self, why: str) -> None:
        """No more of it will be written. Says so, if there is any."""
        if not self._has_own and self._first is not None:
            self._begun().close()
        if self._has_own or self._making is not None:
            self._send({"event": "error", "message": why})

    def _put_in(self, chunk: Any) -> None:
        """Have the events made of a chunk, or of the end, which is None."""
        with suppress(StopIteration):
            self._begun().send(chunk)

    def _begun(self) -> Coroutine[Any, Any, None]:
        """What makes the events. It has got the first chunk."""
        if self._making is None:
            self._making = _make(self._send)
            with _alone():
                self._making.send(None)
            self._making.send(self._first)
        return self._making


@contextmanager
def _alone() -> Iterator[None]:
    """No event loop looks after the async generators that begin in here: it would close them while they are at work."""
    hooks = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(None, None)
    try:
        yield
    finally:
        sys.set_asyncgen_hooks(*hooks)


async def _make(send: Callable[[Event], None]) -> None:
    """Make events. LangChain takes the chunks out of an iterator; this one waits until the next is sent."""
    from langchain_core.language_models._compat_bridge import achunks_to_events

    async for event in achunks_to_events(_chunks()):
        send(event)


async def _chunks() -> AsyncIterator[Any]:
    while (chunk := await _Sent()) is not None:
        yield chunk


class _Sent:
    """What is sent to a coroutine that awaits it."""

    def __await__(self) -> Generator[None, Any, Any]:
        return (yield)
