"""The messages stream: tokens of chat models as they come, and whole messages that nodes return."""

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from signoff import _scope
from signoff.bridge.internal_calls import is_internal
from signoff.bridge.telling import Tellings
from signoff.bridge.writing import too_old
from signoff.config import shown_tags
from signoff.constants import TAG_NOSTREAM
from signoff.engine.showing.chunks import levels

if TYPE_CHECKING:
    from signoff.drivers.scopes.scope import Scope
    from signoff.drivers.sink import Sink
    from signoff.engine.task import Outcome


def message_handler(sink: "Sink") -> Any:
    """A LangChain handler that shows tokens, or events, in a stream. Its presence makes chat models stream them."""
    return _event_handler_class()(sink) if sink.with_events else _handler_class()(sink)


def is_message_handler(handler: Any) -> bool:
    """Whether a handler is one of ours."""
    return isinstance(handler, _handler_class())


@cache
def _handler_class() -> Any:
    from langchain_core.callbacks import BaseCallbackHandler
    from langchain_core.tracers._streaming import _StreamingCallbackHandler

    class MessageHandler(BaseCallbackHandler, _StreamingCallbackHandler):  # type: ignore[type-arg]
        """Follows the chat models that are called inside of nodes."""

        run_inline = True
        """Called on the event loop itself, so that tokens keep their order."""

        def __init__(self, sink: "Sink") -> None:
            self.sink = sink
            self.running: dict[Any, dict[str, Any]] = {}
            """The metadata of the model calls under way that are to be shown."""
            self.tellings = Tellings(sink)

        def tap_output_aiter(self, run_id: Any, output: Any) -> Any:
            return output

        def tap_output_iter(self, run_id: Any, output: Any) -> Any:
            return output

        def on_chat_model_start(
            self, serialized: Any, messages: Any, *, run_id: Any, tags: Any = None, metadata: Any = None, **_: Any
        ) -> None:
            if metadata and TAG_NOSTREAM not in (tags or ()):
                shown = shown_tags(tags)
                self.running[run_id] = {**metadata, "tags": shown} if shown else metadata
                self.tellings.begin(run_id, place_of(metadata), self.running[run_id])

        def on_llm_new_token(self, token: Any, *, chunk: Any = None, run_id: Any, **_: Any) -> None:
            message = getattr(chunk, "message", None)
            if run_id in self.running and message is not None:
                message.id = message.id or f"run-{run_id}"
                self._show(message, self.running[run_id], is_token=True)
                self.tellings.chunk(run_id, chunk)

        def on_stream_event(self, event: Any, *, run_id: Any, **_: Any) -> None:
            self.tellings.event(run_id, event)

        def on_llm_end(self, response: Any, *, run_id: Any, **_: Any) -> None:
            metadata, message = self.running.pop(run_id, None), _message_in(response)
            if metadata is not None and message is not None:
                self.tellings.end(run_id, message)
                self._show(message, metadata)

        def on_llm_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
            self.running.pop(run_id, None)
            self.tellings.break_off(run_id, error)

        def _show(self, message: Any, metadata: dict[str, Any], is_token: bool = False) -> None:
            self.sink.send_message(place_of(metadata), message, metadata, is_token=is_token)

    return MessageHandler


def _message_in(response: Any) -> Any:
    """The message that a model has come to, if it has."""
    generations = response.generations and response.generations[0]
    return getattr(generations[0], "message", None) if generations else None


@cache
def _event_handler_class() -> Any:
    try:
        from langchain_core.tracers._streaming import _V2StreamingCallbackHandler
    except ImportError as error:
        raise too_old() from error

    class EventHandler(_handler_class(), _V2StreamingCallbackHandler):  # type: ignore[misc]
        """Follows chat models by the events that each of them makes of its message."""

        def on_chat_model_start(self, serialized: Any, messages: Any, *, metadata: Any = None, **more: Any) -> None:
            if not is_internal(metadata):
                super().on_chat_model_start(serialized, messages, metadata=metadata, **more)

    return EventHandler


def place_of(metadata: dict[str, Any]) -> tuple[str, ...]:
    """The namespace of the graph that a model or a tool is called in."""
    scope = _scope.running.get()
    if scope is not None:
        return levels(scope.task.ns)
    calls, path = 0, metadata.get("langgraph_path") or ()
    while path and path[-1] is True:  # a call stands inside of the task that makes it, but in the same graph
        calls, path = calls + 1, path[1]
    return levels(metadata.get("langgraph_checkpoint_ns", ""))[: -1 - calls]


def note_input(scope: "Scope") -> None:
    """The messages that a task is given are no news, also when it returns them."""
    sink = scope.host.sink
    assert sink is not None, "asked only while somebody reads messages"
    given = (message.id for message in messages_in(scope.task.input))
    sink.note(levels(scope.task.ns), (id for id in given if id is not None))


def show_result(scope: "Scope", outcome: "Outcome") -> None:
    """Show the messages that a task returned."""
    for message in (message for _, value in outcome.writes for message in messages_in(value)):
        scope.show_message(message, is_result=True)


def messages_in(value: Any) -> Iterator[Any]:
    """The messages in a value: the value itself, its items, or those of its fields."""
    module = sys.modules.get("langchain_core.messages")
    if module is None:
        return iter(())
    base, removal = module.BaseMessage, module.RemoveMessage
    found = _flat(value, base)
    return (message for message in found if not isinstance(message, removal))


def _flat(value: Any, base: type) -> Iterable[Any]:
    if isinstance(value, base):
        return [value]
    if isinstance(value, list | tuple):
        return [item for item in value if isinstance(item, base)]
    fields = value if isinstance(value, dict) else getattr(value, "__dict__", None)
    if fields is None:
        return []
    nested = (item if isinstance(item, list | tuple) else [item] for item in fields.values())
    return [item for items in nested for item in items if isinstance(item, base)]
