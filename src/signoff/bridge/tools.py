"""The tools stream: when a tool that a node calls begins, ends and fails."""

from functools import cache
from typing import TYPE_CHECKING, Any

from signoff.bridge.messages import place_of
from signoff.errors import GraphBubbleUp, GraphDrained

if TYPE_CHECKING:
    from signoff.drivers.sink import Sink

Call = tuple[tuple[str, ...], str]
"""Where a tool is called, and the id of the call: the model's, or, where no model asked, that of the tool's run."""


def tool_handler(sink: "Sink") -> Any:
    """A LangChain handler that shows tool calls in a stream."""
    return _handler_class()(sink)


def is_tool_handler(handler: Any) -> bool:
    """Whether a handler is one of ours."""
    return isinstance(handler, _handler_class())


@cache
def _handler_class() -> Any:
    from langchain_core.callbacks import BaseCallbackHandler

    class ToolHandler(BaseCallbackHandler):
        """Follows the tools that are called inside of nodes."""

        run_inline = True
        """Called where the tool is, so that its events keep their order."""

        def __init__(self, sink: "Sink") -> None:
            self.sink = sink
            self.running: dict[Any, Call] = {}

        def on_tool_start(
            self,
            serialized: Any,
            input_str: str,
            *,
            run_id: Any,
            metadata: Any = None,
            inputs: Any = None,
            tool_call_id: str | None = None,
            **more: Any,
        ) -> None:
            call = self.running[run_id] = (place_of(metadata or {}), tool_call_id or str(run_id))
            name = more.get("name") or (serialized or {}).get("name")
            self._show(call, "tool-started", tool_name=name, input=input_str if inputs is None else inputs)

        def on_tool_end(self, output: Any, *, run_id: Any, **_: Any) -> None:
            if call := self.running.pop(run_id, None):
                self._show(call, "tool-finished", output=output)

        def on_tool_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
            call = self.running.pop(run_id, None)
            if call and not isinstance(error, GraphBubbleUp | GraphDrained):  # it asks, or stops early
                self._show(call, "tool-error", message=str(error))

        def _show(self, call: Call, event: str, **facts: Any) -> None:
            ns, id = call
            self.sink.send(ns, "tools", {"event": event, "tool_call_id": id, **facts})

    return ToolHandler
