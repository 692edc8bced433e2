"""Which nested graphs have begun and ended, as the tasks of a run tell it."""

from typing import Any, Literal, NamedTuple, TypedDict

from signoff.errors import GraphDrained, GraphInterrupt
from signoff.stream.events import ProtocolEvent

__all__ = ["Began", "Cause", "Ended", "Nesting", "Status", "status_of"]

Status = Literal["started", "completed", "failed", "interrupted", "drained"]
"""How a nested graph stands."""


class Cause(TypedDict):
    """What has made an agent run in another one."""

    type: Literal["toolCall"]
    tool_call_id: str


class Began(NamedTuple):
    """The first task of a nested graph has been seen."""

    namespace: tuple[str, ...]
    name: str
    """The name of its agent, or of the node that it runs in."""
    task_id: str | None
    """The task of the graph around that it runs in."""
    is_agent: bool
    cause: "Cause | None"
    """The call of a tool that it runs in, if it is an agent that a tool has called."""


class Ended(NamedTuple):
    """The task that a nested graph ran in has come out."""

    namespace: tuple[str, ...]
    status: Status
    error: str | None = None


class Nesting:
    """Follows the graphs that are nested in one, directly or at any depth."""

    def __init__(self, scope: tuple[str, ...], *, is_deep: bool) -> None:
        self._scope = scope
        self._is_deep = is_deep
        self._running: dict[tuple[str, ...], set[str | None]] = {}
        """The task that each runs in; several may call one that remembers."""
        self._in_task: dict[str | None, list[tuple[str, ...]]] = {}
        """The same by the task."""
        self._tool_calls: dict[str, str] = {}
        """The tool call that a task makes."""

    def changes(self, event: ProtocolEvent) -> list[Began | Ended]:
        """What an event says of nested graphs."""
        if event["method"] != "tasks":
            return []
        ns, task = tuple(event["params"]["namespace"]), event["params"]["data"]
        if "result" in task:
            return [*self._ended(task["id"], *_came_to(task))]
        if (call := _tool_call(task.get("input"))) is not None:
            self._tool_calls[task["id"]] = call
        if not self._is_followed(ns):
            return []
        node, task_id = _caller(ns)
        if (around := task.get("around")) is not None:
            node, task_id = around["name"], around["id"]
        if not self._begins(ns, task_id):
            return []
        agent = (task.get("metadata") or {}).get("lc_agent_name")
        call = self._tool_calls.get(task_id) if agent is not None and task_id is not None else None
        cause: Cause | None = {"type": "toolCall", "tool_call_id": call} if call is not None else None
        return [Began(ns, agent or node, task_id, agent is not None, cause)]

    def rest(self, status: Status, error: str | None = None) -> list[Ended]:
        """The run is over, and with it whatever has not ended yet."""
        ended = [Ended(ns, status, error) for ns in self._running]
        self._running.clear()
        self._in_task.clear()
        return ended

    def _begins(self, ns: tuple[str, ...], task_id: str | None) -> bool:
        """Note the task that a graph runs in. Returns whether the graph has just begun."""
        is_new = ns not in self._running
        tasks = self._running.setdefault(ns, set())
        if task_id not in tasks:
            tasks.add(task_id)
            self._in_task.setdefault(task_id, []).append(ns)
        return is_new

    def _ended(self, task_id: str, status: Status, error: str | None) -> list[Ended]:
        """The graphs that ran in a task which has come out, and in no other one."""
        ended = []
        for ns in self._in_task.pop(task_id, ()):
            self._running[ns].remove(task_id)
            if not self._running[ns]:
                del self._running[ns]
                ended.append(Ended(ns, status, error))
        return ended

    def _is_followed(self, ns: tuple[str, ...]) -> bool:
        depth = len(self._scope)
        return ns[:depth] == self._scope and (len(ns) > depth if self._is_deep else len(ns) == depth + 1)


def _caller(ns: tuple[str, ...]) -> tuple[str, str | None]:
    """The task that a nested graph runs in: its node, and its id.

    The graphs that a task calls after its first one have the namespace of that, and a number.
    """
    is_further = len(ns) > 1 and ns[-1].isdigit() and ":" in ns[-2]
    node, _, task_id = ns[-2 if is_further else -1].partition(":")
    return node, task_id or None


def status_of(error: BaseException) -> tuple[Status, str | None]:
    """How a nested graph stands if the whole run fails."""
    if isinstance(error, GraphDrained):
        return "drained", None
    return ("interrupted", None) if isinstance(error, GraphInterrupt) else ("failed", str(error))


def _came_to(task: dict[str, Any]) -> tuple[Status, str | None]:
    if task.get("interrupts"):
        return "interrupted", None
    return ("failed", str(task["error"])) if task.get("error") else ("completed", None)


def _tool_call(input: Any) -> str | None:
    """The id of the tool call that a task is given, if it is one."""
    calls = [input.get("tool_call")] if isinstance(input, dict) else input
    if not isinstance(calls, list) or len(calls) != 1 or not isinstance(calls[0], dict):
        return None
    return calls[0].get("id")
