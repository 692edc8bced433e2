"""The node of the model's turn: middleware stands around the call, and what was said becomes an update."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from signoff._elsewhere import told_of_langchains
from signoff._words.commands import Overwrite
from signoff.agents.changed_in_place import Newest
from signoff.agents.middleware.base import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    overrides,
)
from signoff.agents.model_turn import ModelTurn
from signoff.agents.own_messages import with_own_messages
from signoff.engine.program import Node
from signoff.errors import InvalidUpdateError
from signoff.prebuilt._invoking import aperform, perform, scope_of
from signoff.prebuilt.heard import is_overtaken, with_own_ids
from signoff.prebuilt.tool_calls import adone, done, hidden, own_config
from signoff.steps import Steps, adrive, drive


class TurnNode(Runnable[Any, Any]):
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
        newest = Newest(input if self.wraps else None)
        said = handler(self.turn.request(input, messages, config))
        return newest.with_changed(self._update(input, messages, said))

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
        newest = Newest(input if self.wraps else None)
        said = await handler(self.turn.request(input, messages, config))
        return newest.with_changed(self._update(input, messages, said))

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

    def _update(self, state: Any, messages: list[Any], response: Any) -> Any:
        """What a turn changes in the state."""
        commands: list[Any] = []
        response = _plain(response, commands)
        if not isinstance(response, ModelResponse):
            theirs = told_of_langchains(response, "signoff.agents.middleware")
            told = theirs or f"{response!r}. Return what handler(request) gives, or an AIMessage."
            raise InvalidUpdateError(f"A wrap_model_call returned {told}")
        said = _said_anew(response.result, messages) if self.wraps else response.result
        changes: dict[str, Any] = {"messages": said}
        if messages is not state["messages"]:
            changes["messages"] = Overwrite([*messages, *said])
        if self._may_answer(state) or response.structured_response is not None:
            changes["structured_response"] = response.structured_response
        return with_own_messages([changes, *commands] if commands else changes)

    def _may_answer(self, state: Any) -> bool:
        """Whether turns answer in a form, so that what an earlier one has answered is forgotten."""
        is_answered = bool(self.turn.middleware) and state.get("structured_response") is not None
        return is_answered or self.turn.response_format is not None


def _said_anew(result: Any, messages: Sequence[Any]) -> list[Any]:
    """What was said, as a message of this turn: a wrapper may say again what it has kept of another one."""
    said = result if isinstance(result, list) else [result]
    last = max((at for at, one in enumerate(said) if isinstance(one, AIMessage)), default=None)
    return [with_own_ids(one, messages) if at == last else one for at, one in enumerate(said)]


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


def _plain(said: Any, commands: list[Any]) -> Any:
    """What is seen of what a wrapper inside returned: a ModelResponse. Commands are kept beside it.

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
        own = [_checked(said.command)] if said.command is not None else []
        return _Commanded(said.model_response, [*commands, *own])
    return _Commanded(said, commands) if commands else said


def _checked(command: Any) -> Any:
    """A Command that says nothing of where to go: the model does, and what is wanted otherwise would come on top."""
    if command.goto:
        raise InvalidUpdateError(
            f"A wrap_model_call returned {command!r}, and does not say where the agent goes. Return {{'jump_to': ...}} "
            "from an after_model, with @hook_config(can_jump_to=[...])."
        )
    return command
