"""Conversations that a model accepts: every tool call has its tool message."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage, convert_to_messages

from signoff.errors import InvalidInput

__all__ = ["IncompleteHistory", "repair_tool_calls", "validate_chat_history"]

Answer = str | Mapping[str, str] | Callable[[ToolCall], str]
"""What to say for a call: the same text for all, texts by call id, or a function from the call to its text."""


class IncompleteHistory(InvalidInput):
    """A conversation with tool calls that have no tool message; `missing` has the calls."""

    def __init__(self, missing: Sequence[ToolCall]) -> None:
        self.missing = list(missing)
        listed = ", ".join(f"{call['name']} (id {call['id']!r})" for call in missing)
        super().__init__(
            f"The model would refuse this conversation: {len(missing)} of its tool calls have no tool message: "
            f"{listed}. Mend it with repair_tool_calls(messages, answer), and write the result back with "
            "update_state(config, {'messages': Overwrite(mended)})."
        )


def validate_chat_history(messages: Sequence[Any]) -> None:
    """Refuse a conversation in which a tool call has no tool message."""
    missing = _missing(_as_messages(messages))
    if missing:
        raise IncompleteHistory(missing)


def repair_tool_calls(messages: Sequence[Any], answer: Answer) -> list[BaseMessage]:
    """The conversation with a tool message for each call that has none, right behind the call."""
    history = _as_messages(messages)
    missing = {call["id"] for call in _missing(history)}
    mended: list[BaseMessage] = []
    open_calls: list[ToolCall] = []
    for message in history:
        if not isinstance(message, ToolMessage):
            mended += _answers(open_calls, answer)
            open_calls = [call for call in _calls(message) if call["id"] in missing]
        mended.append(message)
    return [*mended, *_answers(open_calls, answer)]


def _missing(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    # Looked at before every call of a model: the classes are compared, which is quicker than to ask each message.
    kinds = {type(message) for message in messages}
    of_tools = {kind for kind in kinds if issubclass(kind, ToolMessage)}
    of_model = {kind for kind in kinds if issubclass(kind, AIMessage)}
    answered = {message.tool_call_id for message in messages if type(message) in of_tools}  # type: ignore[attr-defined]
    asking: Any = [message for message in messages if type(message) in of_model]
    return [call for message in asking for call in message.tool_calls if call["id"] not in answered]


def _calls(message: BaseMessage) -> Sequence[ToolCall]:
    return message.tool_calls if isinstance(message, AIMessage) else ()


def _as_messages(messages: Sequence[Any]) -> Sequence[BaseMessage]:
    are_messages = all(issubclass(kind, BaseMessage) for kind in {type(message) for message in messages})
    return messages if are_messages else convert_to_messages(messages)


def _answers(calls: Sequence[ToolCall], answer: Answer) -> Iterator[ToolMessage]:
    for call in calls:
        yield ToolMessage(_text(call, answer), name=call["name"], tool_call_id=call["id"])


def _text(call: ToolCall, answer: Answer) -> str:
    if isinstance(answer, str):
        return answer
    if callable(answer):
        return answer(call)
    if call["id"] not in answer:
        raise InvalidInput(
            f"repair_tool_calls() got texts for {', '.join(map(repr, answer)) or 'no calls'}, but none for the call "
            f"{call['id']!r} of {call['name']!r}. Add one, or pass one text for all."
        )
    return answer[str(call["id"])]
