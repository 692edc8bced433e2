"""Conversations that a model accepts: every tool call has its tool message."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import is_
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage, convert_to_messages

from signoff.errors import InvalidInput
from signoff.prebuilt.heard import strays

__all__ = ["IncompleteHistory", "repair_tool_calls", "validate_chat_history"]

MOST_KNOWN = 64
"""How many conversations an agent knows to be complete."""

CANCELLED = (
    "The run was cancelled while this call was open. Nobody decided on it or saw its result; if it matters whether it "
    "was made, find out first."
)
"""What the model is told of a call that was cut off."""

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
    """Refuse a conversation in which a tool call has no tool message behind it."""
    missing = [call for _, call in _missing(_as_messages(messages))]
    if missing:
        raise IncompleteHistory(missing)


class CheckedHistories:
    """Validates conversations that grow, each turn only what is new.

    A conversation is known by its objects. One that was read anew, or cut, is looked at as a whole.
    """

    def __init__(self) -> None:
        self._known: dict[int, list[Any]] = {}
        """By the first message, which lives as long as it stands here, so that its id is nobody else's."""

    def known(self, messages: Sequence[Any]) -> int:
        """How many of the first messages were found to be complete before."""
        known = self._known.get(id(messages[0]), ()) if messages else ()
        return len(known) if len(known) <= len(messages) and all(map(is_, known, messages)) else 0

    def validate(self, messages: Sequence[Any]) -> None:
        """Refuse a conversation in which a tool call has no tool message behind it."""
        known, first = self.known(messages), id(messages[0]) if messages else 0
        self._known.pop(first, None)
        validate_chat_history(messages[known:])
        if strays(messages[known:]):
            return  # whoever shows it to a model has to look again
        self._known[first] = list(messages)
        # A copy, since other threads put theirs in meanwhile.
        for oldest in list(self._known)[:-MOST_KNOWN]:
            self._known.pop(oldest, None)


def repair_tool_calls(messages: Sequence[Any], answer: Answer) -> list[BaseMessage]:
    """The conversation with a tool message for each call that has none, right behind the call."""
    history = _as_messages(messages)
    missing: dict[int, list[ToolCall]] = {}
    for at, call in _missing(history):
        missing.setdefault(at, []).append(call)
    mended: list[BaseMessage] = []
    open_calls: list[ToolCall] = []
    for at, message in enumerate(history):
        if not isinstance(message, ToolMessage):
            mended += _answers(open_calls, answer)
            open_calls = missing.get(at, [])
        mended.append(message)
    return [*mended, *_answers(open_calls, answer)]


def answers_of_left(calls: Sequence[ToolCall]) -> list[ToolMessage]:
    """What the model is told of calls that new input has left behind."""
    return list(_answers(calls, CANCELLED))


def _missing(messages: Sequence[BaseMessage]) -> list[tuple[int, ToolCall]]:
    """The calls that no tool message behind them answers, each with the place of its message.

    Ids may come again in later turns: a tool message answers the last call that has its id.
    """
    due: dict[Any, list[tuple[int, ToolCall]]] = {}
    for at, message in enumerate(messages):
        if isinstance(message, AIMessage):
            for call in message.tool_calls:
                due.setdefault(call["id"], []).append((at, call))
        elif isinstance(message, ToolMessage) and due.get(message.tool_call_id):
            due[message.tool_call_id].pop()
    return sorted((one for calls in due.values() for one in calls), key=lambda one: one[0])


def _as_messages(messages: Sequence[Any]) -> Sequence[BaseMessage]:
    are_messages = all(issubclass(kind, BaseMessage) for kind in {type(message) for message in messages})
    return messages if are_messages else convert_to_messages(messages)


def _answers(calls: Sequence[ToolCall], answer: Answer) -> Iterator[ToolMessage]:
    for call in calls:
        yield ToolMessage(_text(call, answer), name=call["name"], tool_call_id=call["id"], id=str(uuid4()))


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
