"""Tools that a node calls: the stream of when they begin, end and fail; the end of those that a pause leaves open."""

from functools import cache
from typing import TYPE_CHECKING, Any

from signoff._veils import as_shown
from signoff.bridge.messages import place_of
from signoff.errors import GraphDrained, GraphInterrupt, ParentCommand

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
                self._show(call, "tool-finished", output=as_shown(output))

        def on_tool_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
            call = self.running.pop(run_id, None)
            if call and not isinstance(error, GraphInterrupt | GraphDrained):  # it asks, or stops early
                message = error.command if isinstance(error, ParentCommand) else error
                self._show(call, "tool-error", message=as_shown(str(message)))

        def _show(self, call: Call, event: str, **facts: Any) -> None:
            ns, id = call
            self.sink.send(ns, "tools", {"event": event, "tool_call_id": id, **facts})

    return ToolHandler


def open_tools(manager: Any) -> Any:
    """What knows which tools have begun and not ended in a run, nested ones included."""
    kind = _open_tools_class()
    known = next((handler for handler in manager.handlers if isinstance(handler, kind)), None)
    if known is None:
        known = kind()
        manager.add_handler(known, inherit=True)
    return known


@cache
def _open_tools_class() -> Any:
    from langchain_core.callbacks import BaseCallbackHandler

    class OpenTools(BaseCallbackHandler):
        """LangChain ends a tool that returns, or raises an Exception; a pause and a handoff are neither."""

        run_inline = True

        def __init__(self) -> None:
            self.begun: dict[Any, tuple[str, Any]] = {}
            """The task that each was called in, and the run around it."""

        def on_tool_start(
            self,
            serialized: Any,
            input_str: str,
            *,
            run_id: Any,
            parent_run_id: Any = None,
            metadata: Any = None,
            **_: Any,
        ) -> None:
            self.begun[run_id] = (metadata or {}).get("langgraph_checkpoint_ns", ""), parent_run_id

        def on_tool_end(self, output: Any, *, run_id: Any, **_: Any) -> None:
            self.begun.pop(run_id, None)

        def on_tool_error(self, error: BaseException, *, run_id: Any, **_: Any) -> None:
            self.begun.pop(run_id, None)

        def left_in(self, task_ns: str) -> list[tuple[Any, Any]]:
            """The tools that a task has left open, with the runs around them."""
            return [(id, around) for id, (ns, around) in self.begun.copy().items() if ns == task_ns]

    return OpenTools
