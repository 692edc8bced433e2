"""`run.messages`: the messages that chat models write in a graph, each of which can be read while it is written."""

from typing import Any

from signoff.bridge.writing import write_whole, written
from signoff.errors import MessageFailed
from signoff.stream.events import ProtocolEvent
from signoff.stream.stream_channel import StreamChannel
from signoff.stream.transformer import Joined

__all__ = ["MessagesTransformer"]


class MessagesTransformer(Joined):
    """A stream of LangChain's for each message: its text, reasoning and tool calls as they come, and all of it.

    What tools return is not in it: that is in the state, and in `run.tool_calls` of agents.
    """

    _native = True
    required_stream_modes = ("messages",)

    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._channel: StreamChannel[Any] = StreamChannel()
        self._open: dict[str, Any] = {}
        """The messages that are being written, by the run of their model."""

    def init(self) -> dict[str, Any]:
        return {"messages": self._channel}

    def process(self, event: ProtocolEvent) -> bool | None:
        if event["method"] != "messages" or tuple(event["params"]["namespace"]) != self.scope:
            return True
        told, metadata = event["params"]["data"]
        if isinstance(told, dict):
            self._write(told, str(metadata.get("run_id", "")), metadata.get("langgraph_node"))
        elif told.type != "tool":
            self._show_whole(told, metadata.get("langgraph_node"))
        return True

    def finalize(self) -> None:
        if self.router.stopped is not None:
            self.fail(self.router.stopped)
        self._open.clear()

    def fail(self, err: BaseException) -> None:
        for message in self._open.values():
            message.fail(err)
        self._open.clear()

    def _write(self, told: dict[str, Any], run_id: str, node: str | None) -> None:
        """Take what a model says while it writes a message."""
        if told.get("event") == "message-start" and told.get("role") != "tool":
            self._open[run_id] = self._new(told.get("message_id"), node)
            self._channel.push(self._open[run_id])
        if (message := self._open.get(run_id)) is None:
            return
        if told.get("event") == "error":
            message.fail(_failed(told["message"]))
        else:
            message.dispatch(told)
        if told.get("event") in ("message-finish", "error"):
            del self._open[run_id]

    def _show_whole(self, message: Any, node: str | None) -> None:
        """A message that was not read while it was written: a node has returned it."""
        stream = self._new(message.id, node)
        write_whole(stream, message)
        self._channel.push(stream)

    def _new(self, message_id: Any, node: str | None) -> Any:
        router = self.router
        pull = router.apull if router.is_async else router.pull
        return written(message_id, node, is_async=router.is_async, pull=pull)


def _failed(why: str) -> MessageFailed:
    return MessageFailed(
        f"The model did not write this message to its end: {why}. The run may have gone on, and had it written anew: "
        "read on in run.messages, and take back what you have shown of this one."
    )
