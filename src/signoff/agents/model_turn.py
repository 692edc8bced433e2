"""The model's turn: the conversation is mended, the model is called with its tools, and its answer is read."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from signoff import _scope
from signoff.agents.middleware.base import AgentMiddleware, ModelRequest, ModelResponse
from signoff.agents.middleware.calling import hushed
from signoff.agents.structured_output import ProviderStrategy, ResponseFormat, ToolStrategy, answer_in, may_ask, settled
from signoff.errors import InvalidInput
from signoff.prebuilt._invoking import Invoke, Keep, aperform, is_in_saved_run, perform, runtime_of
from signoff.prebuilt.chat_history import (
    CANCELLED,
    CheckedHistories,
    IncompleteHistory,
    repair_tool_calls,
    validate_chat_history,
)
from signoff.prebuilt.heard import with_own_ids, with_results_first, with_unread_calls_answered, without_strays
from signoff.prebuilt.models import with_form, with_tools
from signoff.prebuilt.tool_calls import hidden, own_config
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
            messages=[*messages],  # a list of its own: what is added to it is for the model alone
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
        if request.messages != messages:
            validate_chat_history(request.messages)
        strategy = settled(request.response_format, request.model, request.tools)
        system = [request.system_message] if request.system_message is not None else []
        model, heard = self._model(request, strategy), self._heard(request.messages)

        def called(config: RunnableConfig) -> Steps[Any]:
            said = with_own_ids((yield Invoke(model, [*system, *heard], self._followed(config))), messages)
            if self.name is not None and isinstance(said, BaseMessage):
                said.name = self.name
            return said

        is_kept = may_ask(strategy) and is_in_saved_run()
        said = (yield _keep(called, config)) if is_kept else (yield from called(config))
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
        # Copies, and what is told of the tools: middleware may change its own, and hand the same on again.
        tools = [*map(_told_of, request.tools)]
        wanted = (request.model, tools, request.tool_choice, {**request.model_settings}, strategy is None)
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
                return with_form(request.model, settings)
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


def _keep(called: Callable[[RunnableConfig], Steps[Any]], config: RunnableConfig) -> Keep:
    """What the model says, as a task of its own inside of the turn: of what it has said a person may be asked."""

    def steps() -> Steps[Any]:
        return called(own_config(config))

    node = hidden("said", lambda _: drive(steps(), perform), lambda _: adrive(steps(), aperform), passes_on=True)
    return Keep(node, _scope.current("A turn of the model").task.began_at)


def _told_of(tool: BaseTool | dict[str, Any]) -> Any:
    """A tool, and what a model is told of it."""
    return (tool, tool.description, tool.args_schema) if isinstance(tool, BaseTool) else deepcopy(tool)


def _check_names(tools: Sequence[Any], strategy: ToolStrategy[Any]) -> None:
    """Refuse a form of the answer that is called like a tool: a call of the tool would be taken for the answer."""
    if taken := sorted(strategy.names & {tool.name for tool in tools if isinstance(tool, BaseTool)}):
        raise InvalidInput(
            f"The response_format {', '.join(map(repr, taken))} has the name of a tool, and the model answers by "
            "calling a tool of that name. Rename one of them."
        )
