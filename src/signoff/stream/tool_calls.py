"""`run.tool_calls`: the tools that are called in a graph, each of which can be read while it works."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from signoff.stream.events import ProtocolEvent
from signoff.stream.router import Router
from signoff.stream.stream_channel import StreamChannel
from signoff.stream.transformer import Joined

__all__ = ["ToolCallStream", "ToolCallTransformer"]


class ToolCallStream:
    """A call of a tool. To iterate it gives what the tool tells with `runtime.emit_output_delta(...)`."""

    def __init__(self, tool_call_id: str, tool_name: str, input: Any, router: Router) -> None:
        self.tool_call_id = tool_call_id
        self.tool_name = tool_name
        self.input = input
        self.output_deltas: StreamChannel[Any] = StreamChannel()
        self.output_deltas.join(router)
        self.output: Any = None
        """What the tool has returned."""
        self.error: str | None = None
        """What it has failed with."""
        self.completed = False

    def __iter__(self) -> Iterator[Any]:
        return iter(self.output_deltas)

    def __aiter__(self) -> AsyncIterator[Any]:
        return aiter(self.output_deltas)

    def __repr__(self) -> str:
        status = "running" if not self.completed else "completed" if self.error is None else "failed"
        return f"ToolCallStream(tool_call_id={self.tool_call_id!r}, tool_name={self.tool_name!r}, status={status})"

    def end(self, output: Any = None, error: str | None = None) -> None:
        """The tool has returned, or failed."""
        self.output, self.error, self.completed = output, error, True
        self.output_deltas.close()


class ToolCallTransformer(Joined):
    """Agents have it; other graphs with `compile(transformers=[ToolCallTransformer])`."""

    _native = True
    required_stream_modes = ("tools",)

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._channel: StreamChannel[ToolCallStream] = StreamChannel()
        self._running: dict[str, ToolCallStream] = {}

    def init(self) -> dict[str, Any]:
        return {"tool_calls": self._channel}

    def process(self, event: ProtocolEvent) -> bool | None:
        if event["method"] == "tools" and tuple(event["params"]["namespace"]) == self.scope:
            self._take(event["params"]["data"])
        return True

    def finalize(self) -> None:
        stopped = self.router.stopped  # if there is no reason, they ask, and run again after the answer
        self._end_all(None if stopped is None else str(stopped))

    def fail(self, err: BaseException) -> None:
        self._end_all(str(err))

    def _take(self, told: dict[str, Any]) -> None:
        id, kind = told["tool_call_id"], told["event"]
        if kind == "tool-started":
            call = self._running[id] = ToolCallStream(id, told["tool_name"], told["input"], self.router)
            self._channel.push(call)
        elif id not in self._running:
            return
        elif kind == "tool-output-delta":
            self._running[id].output_deltas.push(told["delta"])
        elif kind == "tool-finished":
            self._running.pop(id).end(output=_content(told["output"]))
        else:
            self._running.pop(id).end(error=told["message"])

    def _end_all(self, error: str | None) -> None:
        for call in self._running.values():
            call.end(error=error)
        self._running.clear()


def _content(output: Any) -> Any:
    return output.content if getattr(output, "type", None) == "tool" else output
