"""What a task shows while it runs: in streams, and as signs of life."""

from typing import TYPE_CHECKING, Any

from signoff._veils import is_veiled
from signoff.config import RunnableConfig, StreamWriter
from signoff.engine.program import Write
from signoff.engine.showing.chunks import levels
from signoff.engine.task import Task

if TYPE_CHECKING:
    from signoff.drivers.host import Host


class Showing:
    """The part of a scope that others look at."""

    __slots__ = ()

    host: "Host"
    task: Task
    writes: list[Write]
    """What the task wrote beside its result: pushed messages."""
    beat: Any
    """What to call when the task shows something: a sign of life; None if nobody waits for one."""
    heartbeat: Any
    """What to call when the task itself says that it is alive."""

    @property
    def config(self) -> RunnableConfig:
        raise NotImplementedError

    def make_room(self) -> None:
        raise NotImplementedError

    @property
    def writer(self) -> StreamWriter:
        """What to call with something for the custom stream."""
        return self.write_custom

    def write_custom(self, value: Any) -> None:
        self.show_life()
        sink = self.host.sink
        if sink is not None:
            sink.send(levels(self.task.ns), "custom", value, _place_of_call(self.task))

    def show_delta(self, tool_call_id: str | None, delta: Any) -> None:
        """Show a part of what a tool returns in the tools stream."""
        self.show_life()
        if self.host.sink is not None and not is_veiled():
            payload = {"event": "tool-output-delta", "tool_call_id": tool_call_id, "delta": delta}
            self.host.sink.send(levels(self.task.ns), "tools", payload)

    def show_message(self, message: Any, *, is_result: bool = False) -> None:
        """Show a message in the messages stream, unless it has been shown.

        is_result: whether the task has returned it.
        """
        self.show_life()
        sink, ns = self.host.sink, levels(self.task.ns)
        if sink is not None and sink.wants(ns, "messages"):
            sink.send_message(ns, message, dict(self.config.get("metadata", {})), is_result=is_result)

    def show_life(self) -> None:
        """The task does something that can be seen: an idle timeout starts anew."""
        if self.beat is not None:
            self.beat()

    def say_alive(self) -> None:
        """The task says that it is alive: an idle timeout starts anew."""
        if self.heartbeat is not None:
            self.heartbeat()

    def push_message(self, message: Any, state_key: str | None) -> None:
        """Show a message now, and write it to the state when the task ends."""
        self.show_message(message)
        if state_key is not None:
            self.make_room()
            self.writes.append((state_key, message))


def _place_of_call(task: Task) -> tuple[str, ...] | None:
    """Where the words of a call come from: from inside of the task that makes it. Its graph's readers hear them."""
    caller = task.visible.caller
    return levels(caller.shown_ns) if caller is not None else None
