"""Models as an agent takes them: a chat model, its name, a runnable around one, or a function that chooses one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, RunnableSequence

from signoff._annotations import is_async
from signoff.engine.program import Action
from signoff.errors import InvalidInput
from signoff.prebuilt._invoking import Apply, runtime_of
from signoff.pregel.actions import name_of
from signoff.steps import Steps


def with_tools(model: Any, tools: Sequence[Any], **settings: Any) -> Any:
    """A model that is told of tools."""
    if _is_bound(model):
        return _around(model, with_tools(model.bound, tools, **settings))
    try:
        return model.bind_tools(tools, **settings)
    except (NotImplementedError, AttributeError) as error:
        if isinstance(error, AttributeError) and hasattr(model, "bind_tools"):
            raise
        raise InvalidInput(
            f"{type(model).__name__} cannot be told of tools: it has no bind_tools(). Take a chat model that calls "
            "tools; for a test, give it a method bind_tools that returns the model itself."
        ) from error


def with_form(model: Any, settings: Mapping[str, Any]) -> Any:
    """A model that is told of the form of its answer, and of no tools.

    Its bind_tools() knows how its provider wants to be told; but an empty list of tools may be refused.
    """
    if _is_bound(model):
        return _around(model, with_form(model.bound, settings))
    try:
        bound = model.bind_tools([], **settings)
    except (NotImplementedError, AttributeError, ValueError):  # it has none, or wants tools
        return model.bind(**settings)
    if isinstance(bound, RunnableBinding) and bound.kwargs.get("tools") == []:
        return bound.bound.bind(**{key: value for key, value in bound.kwargs.items() if key != "tools"})
    return bound


def _is_bound(model: Any) -> bool:
    """Whether a model has settings that its bind_tools() would not hand on: it is that of the model inside."""
    return isinstance(model, RunnableBinding) and not hasattr(type(model), "bind_tools")


def _around(model: RunnableBinding[Any, Any], told: Any) -> Any:
    """What a model inside was told, with what was bound to it before; what was said last counts."""
    # Tools make room, and so does a choice among them: the agent tells the model of its own.
    left = {"tools", "tool_choice"} if "tools" in model.kwargs else set()
    kwargs = {key: value for key, value in model.kwargs.items() if key not in left}
    if not isinstance(told, RunnableBinding):
        return model.model_copy(update={"bound": told, "kwargs": kwargs})
    return told.model_copy(update={"bound": model.model_copy(update={"bound": told.bound, "kwargs": kwargs})})


class StaticModel:
    """A model that is the same in every turn, with the tools bound to it."""

    def __init__(self, model: Any, tools: Sequence[Any]) -> None:
        self.chat = as_model(model)
        self.runnable = with_tools(self.chat, tools) if needs_tools(self.chat, tools) else self.chat

    def choose(self, state: Any, config: RunnableConfig) -> Steps[Any]:
        """The model for this turn."""
        yield from ()
        return self.runnable

    def choose_bare(self, state: Any, config: RunnableConfig) -> Steps[Any]:
        """The model without its tools."""
        yield from ()
        return unwrapped(self.chat)


class ChosenModel:
    """A function from the state and the runtime to the model of this turn. It binds the tools itself."""

    def __init__(self, function: Any) -> None:
        name = name_of(function)
        self.action = Action(name, None, function) if is_async(function) else Action(name, function)

    def choose(self, state: Any, config: RunnableConfig) -> Steps[Any]:
        """The model for this turn."""
        return (yield Apply(self.action, (state, runtime_of(config))))

    def choose_bare(self, state: Any, config: RunnableConfig) -> Steps[Any]:
        """The model without its tools."""
        return unwrapped((yield from self.choose(state, config)))


def model_of(model: Any, tools: Sequence[Any]) -> StaticModel | ChosenModel:
    """What chooses the model of a turn."""
    if isinstance(model, str | Runnable):
        return StaticModel(model, tools)
    if callable(model) and not isinstance(model, type):
        return ChosenModel(model)
    raise InvalidInput(
        f"The model is {model!r}. Give the agent a chat model, its name ('openai:gpt-5'), or a function from the state "
        "and the runtime to a chat model."
    )


def as_model(model: Any) -> Any:
    """A model, or the one of a name such as 'openai:gpt-5'."""
    return _named(model) if isinstance(model, str) else model


def _named(name: str) -> Any:
    """The chat model of a name; the package langchain knows these."""
    if not name.strip():
        raise InvalidInput("The name of the model is empty. Give one such as 'openai:gpt-5', or the chat model itself.")
    try:
        from langchain.chat_models import init_chat_model
    except ImportError as error:
        raise InvalidInput(
            f"To make a model of the name {name!r} the package langchain is needed: pip install langchain. Or pass the "
            "chat model itself."
        ) from error
    return init_chat_model(name)


def unwrapped(model: Any) -> Any:
    """The chat model in a chain, or under what is bound to it."""
    while True:
        if isinstance(model, RunnableSequence):
            model = next((step for step in model.steps if _has_model(step)), model.steps[-1])
        elif isinstance(model, RunnableBinding):
            model = model.bound
        else:
            return model


def _has_model(step: Any) -> bool:
    return isinstance(step, BaseChatModel) or (isinstance(step, RunnableBinding) and _has_model(step.bound))


def needs_tools(model: Any, tools: Sequence[Any]) -> bool:
    """Whether the tools have to be bound; a model that has others bound is refused."""
    if isinstance(model, RunnableSequence):
        model = next((step for step in model.steps if _has_model(step)), model)
    if not tools or not isinstance(model, RunnableBinding) or "tools" not in model.kwargs:
        return bool(tools)
    bound, wanted = _names(model.kwargs["tools"]), _names(tools)
    if bound != wanted or len(model.kwargs["tools"]) != len(tools):
        raise InvalidInput(
            f"The model has the tools {sorted(bound)} bound, and the agent has {sorted(wanted)}. Bind the "
            "same ones, or none: the agent binds its tools itself."
        )
    return False


def _names(tools: Iterable[Any]) -> set[str]:
    return {name for tool in tools if (name := _name_of(tool)) is not None}


def _name_of(tool: Any) -> str | None:
    """The name of a tool, be it in the form of a provider: OpenAI's, Anthropic's, or Bedrock's."""
    if not isinstance(tool, dict):
        return getattr(tool, "name", None)
    for part in (tool.get("function"), tool.get("toolSpec"), tool):
        if isinstance(part, dict) and "name" in part:
            return str(part["name"])
    return None
