"""What a run gives to its nodes: context, store, stream writer, and facts about the execution."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol

from signoff import _scope
from signoff.typing import ContextT

if TYPE_CHECKING:
    from signoff.config import StreamWriter
    from signoff.store.base import BaseStore

__all__ = ["BaseUser", "ExecutionInfo", "RunControl", "Runtime", "ServerInfo", "get_runtime"]


class BaseUser(Protocol):
    """Who called, where a server knows it."""

    identity: str


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """Where the graph is served from; None outside of a server."""

    assistant_id: str
    graph_id: str
    user: BaseUser | None = None


def server_info(place: Mapping[str, Any]) -> ServerInfo | None:
    """What a server said about itself in the `configurable` of a call."""
    assistant, graph, user = (place.get(name) for name in ("assistant_id", "graph_id", "langgraph_auth_user"))
    user = user if hasattr(user, "identity") else None
    if assistant is None and graph is None and user is None:
        return None
    return ServerInfo(str(assistant or ""), str(graph or ""), user)


@dataclass(frozen=True, slots=True)
class ExecutionInfo:
    """Which execution this is: the ids, and the attempt when a retry policy tries again."""

    checkpoint_id: str
    checkpoint_ns: str
    task_id: str
    thread_id: str | None = None
    run_id: str | None = None
    node_attempt: int = 1
    node_first_attempt_time: float | None = None

    def patch(self, **overrides: Any) -> "ExecutionInfo":
        """A copy with some facts replaced."""
        return replace(self, **overrides)


class RunControl:
    """A handle on a run, given with `invoke(..., control=...)`, or found in a runtime: ask it to stop after a step."""

    __slots__ = ("drain_reason",)

    def __init__(self) -> None:
        self.drain_reason: str | None = None

    def request_drain(self, reason: str = "shutdown") -> None:
        """Let the current step end, then stop with GraphDrained. From any thread."""
        self.drain_reason = reason

    @property
    def drain_requested(self) -> bool:
        """Whether somebody asked the run to stop."""
        return self.drain_reason is not None


def _ignore(*_: Any) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime(Generic[ContextT]):
    """What a node may use besides its state: declare a parameter `runtime: Runtime[Context]`."""

    context: ContextT = field(default=None)  # type: ignore[assignment]
    store: "BaseStore | None" = None
    stream_writer: "StreamWriter" = _ignore
    heartbeat: Callable[[], None] = _ignore
    previous: Any = None
    execution_info: ExecutionInfo | None = None
    server_info: ServerInfo | None = None
    control: RunControl | None = None

    @property
    def drain_requested(self) -> bool:
        """Whether the run was asked to stop at the end of this step."""
        return self.control is not None and self.control.drain_requested

    @property
    def drain_reason(self) -> str | None:
        """Why the run was asked to stop; None if it was not."""
        return self.control.drain_reason if self.control else None

    def override(self, **overrides: Any) -> "Runtime[ContextT]":
        """A copy with some parts replaced."""
        return replace(self, **overrides)

    def merge(self, other: "Runtime[ContextT]") -> "Runtime[ContextT]":
        """This runtime, with what the other one has set taking its place."""
        unset = Runtime()
        theirs = {name: getattr(other, name) for name in Runtime.__dataclass_fields__}
        return replace(self, **{name: value for name, value in theirs.items() if value != getattr(unset, name)})

    def patch_execution_info(self, **overrides: Any) -> "Runtime[ContextT]":
        """A copy with some execution facts replaced."""
        assert self.execution_info is not None, "only a running task has execution info"
        return replace(self, execution_info=self.execution_info.patch(**overrides))


DEFAULT_RUNTIME: Runtime[Any] = Runtime()


def get_runtime(context_schema: type[ContextT] | None = None) -> Runtime[ContextT]:
    """The runtime of the node or task that is running."""
    runtime: Runtime[ContextT] = _scope.current("get_runtime()").runtime
    return runtime
