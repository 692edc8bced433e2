"""Where an agent goes next: rules on its state."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from signoff._words.commands import Send
from signoff.constants import END
from signoff.engine.program import Program
from signoff.prebuilt._invoking import field
from signoff.prebuilt.chat_history import answers_of_left


@dataclass(frozen=True, slots=True)
class Routes:
    """The ways through an agent with these parts."""

    has_pre: bool
    has_post: bool
    has_response: bool
    sends: bool
    """Whether each call is sent to the tools on its own."""
    direct: frozenset[str]
    """The tools whose result is the answer."""

    @property
    def entry(self) -> str:
        """Where a turn begins."""
        return "pre_model_hook" if self.has_pre else "agent"

    @property
    def end(self) -> str:
        """Where to go when the model wants no more tools."""
        return "generate_structured_response" if self.has_response else END

    def after_model(self, state: Any) -> str | list[Send]:
        """To the tools that the model wants, or to the end."""
        messages = _messages(state)
        asked = last_of_model(messages)
        if asked is None or not asked.tool_calls:
            return self.end
        # A person may have answered some, or all of them, or said something: then it is on from there, with the rest.
        open_calls = pending(messages)
        return _sent(open_calls) if self.sends and open_calls else "tools"

    def after_hook(self, state: Any) -> str | list[Send]:
        """The same behind a hook, which may have answered some of the calls, or all."""
        messages = _messages(state)
        open_calls = pending(messages)
        if open_calls:
            asked = last_of_model(messages)
            is_whole = asked is not None and len(open_calls) == len(asked.tool_calls)
            return "tools" if is_whole and not self.sends else _sent(open_calls)
        return self.entry if isinstance(messages[-1], ToolMessage) else self.end

    def after_tools(self, state: Any) -> str:
        """To the end where a tool's result is the answer, else back to the model."""
        asked = last_of_model(_messages(state))
        calls = asked.tool_calls if asked is not None else []
        return self.end if any(call["name"] in self.direct for call in calls) else self.entry


def _messages(state: Any) -> Sequence[Any]:
    return field(state, "messages") or ()


def _sent(calls: Sequence[ToolCall]) -> list[Send]:
    """A Send for each call. The state does not travel with it: the tool node reads it where it runs."""
    return [Send("tools", [call]) for call in calls]


def last_of_model(messages: Sequence[Any]) -> AIMessage | None:
    """The last message of the model."""
    return next((message for message in reversed(messages) if isinstance(message, AIMessage)), None)


def pending(messages: Sequence[Any]) -> list[ToolCall]:
    """The calls in the model's last message that have no tool message."""
    asked = last_of_model(messages)
    answered = results_of_turn(messages)
    return [call for call in asked.tool_calls if call["id"] not in answered] if asked is not None else []


def leave_no_call_open(program: Program, before_model: Collection[str], behind_model: frozenset[str]) -> None:
    """Have every call come to a result before the model speaks again: it refuses a conversation without.

    before_model: the nodes that wait for the calls.
    behind_model: the nodes where calls are on their way.
    """

    def answered(values: Mapping[str, Any], left: Collection[str]) -> list[tuple[str, Any]]:
        """What new input writes for the calls that it leaves behind."""
        calls = [] if behind_model.isdisjoint(left) else pending(values.get("messages") or ())
        return [("messages", answers_of_left(calls))] if calls else []

    for name in before_model:
        program.nodes[name].waits_for = behind_model
    program.on_leaving = answered


def results_of_turn(messages: Sequence[Any]) -> dict[str, ToolMessage]:
    """The tool messages behind the model's last message, by call. Earlier turns may have used the same ids."""
    found: dict[str, ToolMessage] = {}
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            break
        if isinstance(message, ToolMessage):
            found[message.tool_call_id] = message
    return found
