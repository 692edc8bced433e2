"""The turns of an agent: the model speaks, or gives its answer in a given form."""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.runnables import Runnable, RunnableConfig

from signoff.errors import InvalidInput
from signoff.prebuilt._invoking import Apply, Invoke, Stepwise, field
from signoff.prebuilt.chat_history import CheckedHistories
from signoff.prebuilt.heard import is_overtaken, with_own_ids, with_results_first, without_strays
from signoff.prebuilt.models import ChosenModel, StaticModel
from signoff.pregel.actions import action_of
from signoff.steps import Steps

Chooser = StaticModel | ChosenModel
Prompter = Callable[[Any, RunnableConfig], Steps[Any]]
"""From the state to what the model is given."""

OUT_OF_STEPS = "I have to stop here: there are not enough steps left to go on with this."
"""What the agent says instead of calling tools whose results it could not read any more."""


class ModelTurn:
    """The model is called with the conversation, and its message is added to it."""

    def __init__(self, chooser: Chooser, prompt: Any, name: str | None, *, has_pre: bool, all_direct: bool) -> None:
        self.chooser = chooser
        self.prompt = prompter(prompt)
        self.name = name
        self.has_pre = has_pre
        self.all_direct = all_direct
        self.histories = CheckedHistories()

    def as_node(self) -> Stepwise:
        return Stepwise("agent", self._speak)

    def _speak(self, state: Any, config: RunnableConfig) -> Steps[dict[str, Any]]:
        seen = self._seen(state)
        messages = field(seen, "messages")
        if is_overtaken(messages):
            return {"messages": []}
        self.histories.validate(messages)
        if self.histories.known(messages) < len(messages):
            seen = _with(seen, without_strays(messages))
        model = yield from self.chooser.choose(state, config)
        given = yield from self.prompt(seen, config)
        said = with_own_ids((yield Invoke(model, given, config)), field(state, "messages") or ())
        if isinstance(said, BaseMessage) and self.name is not None:
            said.name = self.name
        if self._is_out_of_steps(state, said):
            said = AIMessage(OUT_OF_STEPS, id=said.id)
        return {"messages": [said]}

    def _seen(self, state: Any) -> Any:
        """The state with the messages that the model is to see."""
        messages = field(state, "messages")
        if self.has_pre:
            messages = field(state, "llm_input_messages") or messages
        if messages is None:
            raise InvalidInput("The agent has no messages. Call it with {'messages': [...]}.")
        return _with(state, with_results_first(messages, self.histories.known(messages)))

    def _is_out_of_steps(self, state: Any, said: Any) -> bool:
        """Whether the tools could not be called any more, or their results not be read."""
        if not getattr(said, "tool_calls", None):
            return False
        left = field(state, "remaining_steps")
        return left is not None and left < (1 if self.all_direct else 2)


def _with(state: Any, messages: Any) -> Any:
    """A state with other messages."""
    if isinstance(state, dict):
        return {**state, "messages": messages}
    return state.model_copy(update={"messages": messages})


def prompter(prompt: Any) -> Prompter:
    """What makes the model's input out of the state."""
    if prompt is None or isinstance(prompt, str | SystemMessage):
        before = [SystemMessage(prompt)] if isinstance(prompt, str) else [] if prompt is None else [prompt]
        return lambda state, config: _put_behind(before, state)
    if isinstance(prompt, Runnable):
        return lambda state, config: _invoked(prompt, state, config)
    if callable(prompt):
        action = action_of(prompt, "prompt")
        return lambda state, config: _applied(action, state, config)
    raise InvalidInput(
        f"The prompt is {prompt!r}. Give the agent a text, a SystemMessage, or a function or runnable from the state "
        "to messages."
    )


def _put_behind(before: list[SystemMessage], state: Any) -> Steps[Any]:
    yield from ()
    return [*before, *field(state, "messages")]


def _invoked(prompt: Any, state: Any, config: RunnableConfig) -> Steps[Any]:
    return (yield Invoke(prompt, state, config))


def _applied(action: Any, state: Any, config: RunnableConfig) -> Steps[Any]:
    made = yield Apply(action, (state,))
    # A message plus a list of messages is a template of LangChain's.
    return (yield Invoke(made, state, config)) if isinstance(made, Runnable) else made


class StructuredTurn:
    """The model is asked for its answer in a given form."""

    def __init__(self, chooser: Chooser, response_format: Any) -> None:
        self.chooser = chooser
        before, self.form = response_format if isinstance(response_format, tuple) else (None, response_format)
        self.before = [] if before is None else [SystemMessage(before)]

    def as_node(self) -> Stepwise:
        return Stepwise("generate_structured_response", self._answer)

    def _answer(self, state: Any, config: RunnableConfig) -> Steps[dict[str, Any]]:
        model = yield from self.chooser.choose_bare(state, config)
        given = [*self.before, *without_strays(field(state, "messages"))]
        answer = yield Invoke(model.with_structured_output(self.form), given, config)
        return {"structured_response": answer}
