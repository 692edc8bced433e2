"""The model's turn: the request is made, middleware stands around the call, and what was said becomes an update."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.tools import BaseTool

from signoff._words.commands import Overwrite
from signoff.agents.middleware.base import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    overrides,
)
from signoff.agents.middleware.calling import hushed
from signoff.agents.structured_output import (
    ProviderStrategy,
    ResponseFormat,
    ToolStrategy,
    answer_in,
    settled,
)
from signoff.engine.program import Node
from signoff.errors import InvalidInput, InvalidUpdateError
from signoff.prebuilt._invoking import Invoke, aperform, perform, runtime_of, scope_of
from signoff.prebuilt.chat_history import (
    CANCELLED,
    CheckedHistories,
    IncompleteHistory,
    is_overtaken,
    repair_tool_calls,
    validate_chat_history,
    with_own_ids,
    with_results_first,
    with_unread_calls_answered,
    without_strays,
)
from signoff.prebuilt.models import with_tools
from signoff.prebuilt.tool_calls import adone, done, hidden, own_config
from signoff.prebuilt.tool_errors import unknown_tool
from signoff.steps import Steps, adrive, drive


@dataclass(eq=False)
class ModelTurn:
    """All that a turn of the model needs."""

    model: Any
    system: SystemMessage | None
    tools: Sequence[BaseTool | dict[str, Any]]
    middleware: Sequence[AgentMiddleware[Any, Any]]
    response_format: ResponseFormat | None
    name: str | None
    is_open: bool
    """Whether middleware may bring tools that the agent does not know."""
    _histories: CheckedHistories = field(default_factory=CheckedHistories, init=False)
    _bound: tuple[Any, Any] = field(default=(None, None), init=False)

    @property
    def has_tools(self) -> bool:
        """Whether there is anything that could make the calls of the model."""
        return self.is_open or any(isinstance(tool, BaseTool) for tool in self.tools)

    def as_node(self) -> Runnable[Any, Any]:
        return _Turn(self)

    def uncut(self, messages: Sequence[Any]) -> list[Any]:
        """The conversation with an answer for the calls of a run that was cancelled, if somebody has spoken since,
        and for those that could not be read; results stand before what was said while their calls were open.

        The same list where nothing is to be mended. Calls at the end are not cut off, but due, and not mended here.
        """
        known = self._histories.known(messages)
        messages = with_results_first(with_unread_calls_answered(messages, known), known)
        try:
            self._histories.validate(messages)
        except IncompleteHistory:
            last = max((i for i, message in enumerate(messages) if isinstance(message, HumanMessage)), default=0)
            mended = [*repair_tool_calls(messages[:last], CANCELLED), *messages[last:]]
            validate_chat_history(mended)
            return mended
        return messages  # type: ignore[return-value]

    def request(self, state: Any, messages: list[Any], config: RunnableConfig) -> ModelRequest[Any]:
        """What the model is called with, before middleware changes it."""
        return ModelRequest(
            model=self.model,
            messages=messages,
            system_message=self.system,
            tools=list(self.tools),
            response_format=self.response_format,
            state=state,
            runtime=runtime_of(config),
        )

    def speak(
        self, request: ModelRequest[Any], messages: list[Any], config: RunnableConfig
    ) -> Steps[ModelResponse[Any]]:
        """Call the model.

        messages: a conversation that is known to be complete.
        """
        if request.messages is not messages:
            validate_chat_history(request.messages)
        strategy = settled(request.response_format, request.model)
        system = [request.system_message] if request.system_message is not None else []
        model, heard = self._model(request, strategy), self._heard(request.messages)
        said = with_own_ids((yield Invoke(model, [*system, *heard], self._followed(config))), messages)
        if self.name is not None and isinstance(said, BaseMessage):
            said.name = self.name
        answered = answer_in(said, strategy)
        return ModelResponse([said, *answered.messages, *self._refused(said, strategy)], answered.response)

    def _refused(self, said: AIMessage, strategy: Any) -> list[ToolMessage]:
        """What the model is told of calls that are not its answer, where an agent has no tools at all."""
        if strategy is None or self.has_tools:
            return []
        forms = sorted(strategy.names) if isinstance(strategy, ToolStrategy) else []
        return [unknown_tool(call, forms) for call in said.tool_calls if call["name"] not in forms]

    def _followed(self, config: RunnableConfig) -> Any:
        """The config of the call: if middleware changes what the model says, nobody sees its tokens before."""
        return hushed(config) if any(one.hides_tokens for one in self.middleware) else config

    def _heard(self, messages: Sequence[Any]) -> Sequence[Any]:
        """The conversation as the model hears it. What it leaves out stays in the state: it has happened."""
        return messages if self._histories.known(messages) == len(messages) else without_strays(messages)

    def _model(self, request: ModelRequest[Any], strategy: Any) -> Any:
        """The model with its tools and settings bound; kept for the next turn, which mostly wants the same."""
        wanted = (request.model, request.tools, request.tool_choice, request.model_settings, strategy is None)
        known, bound = self._bound  # once: another thread may put its own there
        if strategy is None and known == wanted:
            return bound
        bound = self._bind(request, strategy)
        self._bound = wanted, bound
        return bound

    def _bind(self, request: ModelRequest[Any], strategy: Any) -> Any:
        self._check(request.tools)
        settings, tools, choice = dict(request.model_settings), list(request.tools), request.tool_choice
        if isinstance(strategy, ToolStrategy):
            _check_names(tools, strategy)
            tools += [spec.tool for spec in strategy.schema_specs]
            choice = choice or "any"
        if isinstance(strategy, ProviderStrategy):
            settings |= strategy.settings
        if not tools:
            return request.model.bind(**settings) if settings else request.model
        return with_tools(request.model, tools, **({"tool_choice": choice} if choice else {}), **settings)

    def _check(self, tools: Sequence[Any]) -> None:
        known = {tool.name for tool in self.tools if isinstance(tool, BaseTool)}
        unknown = [tool.name for tool in tools if isinstance(tool, BaseTool) and tool.name not in known]
        if unknown and not self.is_open:
            raise InvalidInput(
                f"Middleware offers the model {', '.join(map(repr, unknown))}, which the agent could not call. Give "
                "the tool to create_agent(tools=...), to the middleware's `tools`, or handle it in wrap_tool_call."
            )

    def update(self, state: Any, messages: list[Any], response: Any) -> Any:
        """What a turn changes in the state."""
        commands: Sequence[Any] = ()
        if isinstance(response, _Commanded):
            response, commands = response.model_response, response.commands
        if isinstance(response, AIMessage):
            response = ModelResponse([response])
        if not isinstance(response, ModelResponse):
            raise InvalidUpdateError(
                f"A wrap_model_call returned {response!r}. Return what handler(request) gives, or an AIMessage."
            )
        changes: dict[str, Any] = {"messages": response.result}
        if messages is not state["messages"]:
            changes["messages"] = Overwrite([*messages, *response.result])
        if self.response_format is not None or response.structured_response is not None:
            changes["structured_response"] = response.structured_response
        return [changes, *commands] if commands else changes


def _check_names(tools: Sequence[Any], strategy: ToolStrategy[Any]) -> None:
    """Refuse a form of the answer that is called like a tool: a call of the tool would be taken for the answer."""
    if taken := sorted(strategy.names & {tool.name for tool in tools if isinstance(tool, BaseTool)}):
        raise InvalidInput(
            f"The response_format {', '.join(map(repr, taken))} has the name of a tool, and the model answers by "
            "calling a tool of that name. Rename one of them."
        )


class _Turn(Runnable[Any, Any]):
    """The node of the model's turn."""

    name = "model"

    def __init__(self, turn: ModelTurn) -> None:
        self.turn = turn
        self.wraps = [one for one in turn.middleware if wraps_model(one)]

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        config, messages = ensure_config(config), self.turn.uncut(input["messages"])
        if is_overtaken(messages):
            return {}

        def call(request: ModelRequest[Any]) -> Any:
            scope = self._keeper(config)
            if scope is None:
                return drive(self.turn.speak(request, messages, config), perform)
            return ModelResponse(*done(self._kept(request, messages, config), scope, scope.task.began_at))

        handler: Callable[[Any], Any] = call
        for middleware in reversed(self.wraps):
            handler = partial(_around, middleware.wrap_model_call, handler)
        return self.turn.update(input, messages, handler(self.turn.request(input, messages, config)))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        config, messages = ensure_config(config), self.turn.uncut(input["messages"])
        if is_overtaken(messages):
            return {}

        async def call(request: ModelRequest[Any]) -> Any:
            scope = self._keeper(config)
            if scope is None:
                return await adrive(self.turn.speak(request, messages, config), aperform)
            return ModelResponse(*await adone(self._kept(request, messages, config), scope, scope.task.began_at))

        handler: Callable[[Any], Any] = call
        for middleware in reversed(self.wraps):
            handler = partial(_aaround, middleware.awrap_model_call, handler)
        return self.turn.update(input, messages, await handler(self.turn.request(input, messages, config)))

    def _keeper(self, config: RunnableConfig) -> Any:
        """The scope of the turn, if what the model says is to be kept at once: a wrapper may ask a person about it,
        and then it starts over. Nobody has said yes to what the model would say then."""
        scope = scope_of(config) if self.wraps else None
        return scope if scope is not None and scope.host.run.is_saved else None

    def _kept(self, request: ModelRequest[Any], messages: list[Any], config: RunnableConfig) -> Node:
        """A call of the model as a task of its own inside of the turn. It is given the checkpoint that the turn began
        at: if a person changes the state meanwhile, the model has to speak again."""

        def steps() -> Steps[Any]:
            said = yield from self.turn.speak(request, messages, own_config(config))
            return [said.result, said.structured_response]

        return hidden("speak", lambda _: drive(steps(), perform), lambda _: adrive(steps(), aperform), passes_on=True)


def wraps_model(middleware: AgentMiddleware[Any, Any]) -> bool:
    """Whether a middleware stands around the calls of the model."""
    return overrides(middleware, "wrap_model_call") or overrides(middleware, "awrap_model_call")


def _around(wrap: Any, inner: Callable[[Any], Any], request: ModelRequest[Any]) -> Any:
    commands: list[Any] = []
    said = wrap(request, lambda request: _plain(inner(request), commands))
    return _with_commands(said, commands)


async def _aaround(wrap: Any, inner: Callable[[Any], Any], request: ModelRequest[Any]) -> Any:
    commands: list[Any] = []

    async def handler(request: ModelRequest[Any]) -> Any:
        return _plain(await inner(request), commands)

    return _with_commands(await wrap(request, handler), commands)


@dataclass(frozen=True, slots=True)
class _Commanded:
    """What was said around a call of the model, with the Commands of all wrappers, from the inside to the outside."""

    model_response: Any
    commands: Sequence[Any]


def _plain(said: Any, commands: list[Any]) -> ModelResponse[Any]:
    """What a wrapper sees of what the one inside returned: always a ModelResponse. Commands are kept beside it.

    If it calls again, only those of the last call are.
    """
    if isinstance(said, _Commanded):
        commands[:] = said.commands
        said = said.model_response
    else:
        commands.clear()
    return ModelResponse([said]) if isinstance(said, AIMessage) else said


def _with_commands(said: Any, commands: list[Any]) -> Any:
    if isinstance(said, ExtendedModelResponse):
        own = [said.command] if said.command is not None else []
        return _Commanded(said.model_response, [*commands, *own])
    return _Commanded(said, commands) if commands else said
