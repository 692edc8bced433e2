"""Middleware: what may stand before, after and around the turns of an agent."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool
from typing_extensions import TypeVar

from signoff._words.commands import Command
from signoff._words.policies import TracePolicy
from signoff.agents.middleware.state import (
    AgentState,
    InputAgentState,
    JumpTo,
    OmitFromInput,
    OmitFromOutput,
    OmitFromSchema,
    OutputAgentState,
    PrivateStateAttr,
    ResponseT,
)
from signoff.errors import InvalidInput
from signoff.prebuilt.one_call import ToolCallRequest
from signoff.runtime import Runtime
from signoff.typing import ContextT

if TYPE_CHECKING:
    from signoff.agents.structured_output import ResponseFormat

__all__ = [
    "AgentMiddleware",
    "AgentState",
    "ExtendedModelResponse",
    "InputAgentState",
    "JumpTo",
    "ModelCallResult",
    "ModelRequest",
    "ModelResponse",
    "NotInThisWay",
    "OmitFromInput",
    "OmitFromOutput",
    "OmitFromSchema",
    "OutputAgentState",
    "PrivateStateAttr",
    "ToolCallRequest",
]

StateT = TypeVar("StateT", default=AgentState)


class NotInThisWay(InvalidInput, NotImplementedError):
    """A middleware wraps calls in sync runs only, or in async runs only, and the agent was called the other way."""


@dataclass(init=False)
class ModelRequest(Generic[ContextT]):
    """What the model is about to be called with."""

    model: Any
    messages: list[AnyMessage]
    """The conversation, without the system message."""
    system_message: SystemMessage | None
    tool_choice: Any
    tools: list[BaseTool | dict[str, Any]]
    response_format: "ResponseFormat | None"
    state: Any
    runtime: Runtime[ContextT]
    model_settings: dict[str, Any]

    def __init__(
        self,
        *,
        model: Any,
        messages: list[AnyMessage],
        system_message: SystemMessage | None = None,
        system_prompt: str | None = None,
        tool_choice: Any = None,
        tools: list[BaseTool | dict[str, Any]] | None = None,
        response_format: "ResponseFormat | None" = None,
        state: Any = None,
        runtime: Any = None,
        model_settings: dict[str, Any] | None = None,
    ) -> None:
        if system_prompt is not None and system_message is not None:
            raise _told_twice()
        self.model = model
        self.messages = messages
        self.system_message = SystemMessage(system_prompt) if system_prompt is not None else system_message
        self.tool_choice = tool_choice
        self.tools = tools if tools is not None else []
        self.response_format = response_format
        self.state = state if state is not None else {"messages": messages}
        self.runtime = runtime
        self.model_settings = model_settings if model_settings is not None else {}

    @property
    def system_prompt(self) -> str | None:
        """The text of the system message."""
        return None if self.system_message is None else self.system_message.text

    @system_prompt.setter
    def system_prompt(self, prompt: str | None) -> None:
        self.system_message = None if prompt is None else SystemMessage(prompt)

    def override(self, **changes: Any) -> "ModelRequest[ContextT]":
        """A copy with some parts replaced."""
        if "system_prompt" in changes:
            if "system_message" in changes:
                raise _told_twice()
            prompt = changes.pop("system_prompt")
            changes["system_message"] = None if prompt is None else SystemMessage(prompt)
        return replace(self, **changes)


def _told_twice() -> InvalidInput:
    return InvalidInput("A ModelRequest has one system message. Give system_prompt=, its text, or system_message=.")


@dataclass
class ModelResponse(Generic[ResponseT]):
    """What the model said."""

    result: list[BaseMessage]
    """Its message; behind it the tool messages of a structured response."""
    structured_response: ResponseT | None = None


@dataclass
class ExtendedModelResponse(Generic[ResponseT]):
    """What the model said, and a Command to change more of the state than the messages."""

    model_response: ModelResponse[ResponseT]
    command: Command[Any] | None = field(default=None)


ModelCallResult = ModelResponse[ResponseT] | AIMessage | ExtendedModelResponse[ResponseT]
"""What a wrapper around the model may return."""

ModelHandler = Callable[[ModelRequest[Any]], ModelResponse[Any]]
AsyncModelHandler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
"""What a wrapper calls to let a call of the model pass."""

ToolResult = ToolMessage | Command[Any]
ToolHandler = Callable[[ToolCallRequest], ToolResult]
AsyncToolHandler = Callable[[ToolCallRequest], Awaitable[ToolResult]]
"""What a wrapper calls to let a call of a tool pass."""

Update = dict[str, Any] | Command[Any] | None


class AgentMiddleware(Generic[StateT, ContextT, ResponseT]):
    """Override what you need; what is not overridden costs nothing.

    before_agent and after_agent run once a run, before_model and after_model around each turn; they return what to
    change in the state, or None. wrap_model_call and wrap_tool_call stand around each call. Each has an async twin.
    """

    state_schema: ClassVar[Any] = AgentState
    """The keys that the middleware adds to the state."""
    tools: Sequence[BaseTool] = ()
    """The tools that it adds to the agent."""
    transformers: Sequence[Any] = ()
    """What it makes of runs that are followed with stream_events(version="v3"): classes of StreamTransformers."""
    watched_tools: Collection[str] = ()
    """The tools that it is about, by name. If the agent has no such tool, that is a mistake."""
    trace_policy: TracePolicy | None = None
    """What traces record of its hooks; None for what configure_trace_policy() says, or all of it."""
    hides_tokens: bool = False
    """Whether what the model says is shown when it is whole, not token by token: its wrap_model_call changes it."""
    calls_unknown_tools: ClassVar[bool] = True
    """Whether its wrap_tool_call may make calls of tools that the agent does not have."""

    def _uses(self, method: str) -> bool:
        """Whether a method that it has does anything, in view of what it was made with."""
        return True

    def _check_sync(self) -> None:
        """Refuse calls of tools in a sync run, if the middleware is not made for them, before anybody is asked."""

    @property
    def name(self) -> str:
        """The name, which is unique among the middleware of an agent and part of the names of its nodes."""
        return type(self).__name__

    def before_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """Before the first turn of a run."""

    async def abefore_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """Before the first turn of a run."""

    def before_model(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """Before each call of the model."""

    async def abefore_model(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """Before each call of the model."""

    def after_model(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """After each call of the model, before its tools run."""

    async def aafter_model(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """After each call of the model, before its tools run."""

    def after_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """After the last turn of a run."""

    async def aafter_agent(self, state: StateT, runtime: Runtime[ContextT]) -> Update:
        """After the last turn of a run."""

    def wrap_model_call(self, request: ModelRequest[ContextT], handler: ModelHandler) -> ModelCallResult:
        """Around each call of the model: change the request, call the handler never, once or often."""
        raise _missing(self, "wrap_model_call")

    async def awrap_model_call(self, request: ModelRequest[ContextT], handler: AsyncModelHandler) -> ModelCallResult:
        """Around each call of the model in an async run."""
        raise _missing(self, "awrap_model_call")

    def wrap_tool_call(self, request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        """Around each call of a tool. What the handler runs passes the gate, whatever the request was changed to."""
        raise _missing(self, "wrap_tool_call")

    async def awrap_tool_call(self, request: ToolCallRequest, handler: AsyncToolHandler) -> ToolResult:
        """Around each call of a tool in an async run."""
        raise _missing(self, "awrap_tool_call")


def _missing(middleware: AgentMiddleware[Any, Any], wanted: str) -> NotInThisWay:
    there, called = (wanted[1:], "ainvoke") if wanted.startswith("a") else (f"a{wanted}", "invoke")
    return NotInThisWay(
        f"Middleware {middleware.name!r} has {there}, but no {wanted}, and the agent was called with {called} or the "
        f"like. Define {wanted}, too, or call the agent the other way."
    )


def overrides(middleware: AgentMiddleware[Any, Any], method: str) -> bool:
    """Whether a middleware has its own version of a method, and uses it."""
    return getattr(type(middleware), method) is not getattr(AgentMiddleware, method) and middleware._uses(method)


def wraps_tools(middleware: AgentMiddleware[Any, Any]) -> bool:
    """Whether a middleware stands around the calls of tools."""
    return overrides(middleware, "wrap_tool_call") or overrides(middleware, "awrap_tool_call")


def check_wraps_tools(wraps: Sequence[AgentMiddleware[Any, Any]], *, is_async: bool) -> None:
    """Refuse middleware around the calls of tools that is for runs of the other kind only."""
    wanted = "awrap_tool_call" if is_async else "wrap_tool_call"
    for one in wraps:
        if not overrides(one, wanted):
            raise _missing(one, wanted)
        if not is_async:
            one._check_sync()
