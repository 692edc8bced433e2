"""Conversations that a model accepts: every tool call has its tool message."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from operator import is_
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage, convert_to_messages

from signoff.errors import InvalidInput

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
        if _strays(messages[known:]):
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


def with_results_first(messages: Sequence[Any], known: int = 0) -> Sequence[Any]:
    """The conversation with each tool message behind its call, before what somebody said while the call was open.

    A model refuses it otherwise. The same list where nobody did so.

    known: how many of the first messages are known to be in order.
    """
    if not _has_talk_between(messages[known:]):
        return messages
    ordered: list[Any] = []
    due: set[Any] = set()
    said: list[Any] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            ordered.append(message)
            due.discard(message.tool_call_id)
        elif due and not _calls_of(message):
            said.append(message)
            continue
        else:
            ordered += [*said, message]
            said, due = [], _calls_of(message)
        if not due:
            ordered, said = [*ordered, *said], []
    return [*ordered, *said]


def without_strays(messages: Sequence[Any]) -> Sequence[Any]:
    """The conversation without results that no call stands before: a person has taken the call out of it.

    And with one result of each call: if a person has written another one, that. A model refuses it otherwise. The
    same list where there is nothing to leave out.
    """
    strays, instead = _odd_results(messages)
    if not strays:
        return messages
    return [messages[instead.get(at, at)] for at in range(len(messages)) if at not in strays]


def is_overtaken(messages: Sequence[Any]) -> bool:
    """Whether there is nothing to say to the last results: a person has put an answer in the place of their calls."""
    behind = len(list(takewhile(_is_result, reversed(messages))))
    if not behind or behind == len(messages):
        return False
    last = messages[-behind - 1]
    if not isinstance(last, AIMessage) or last.tool_calls:
        return False
    return _strays(messages).issuperset(range(len(messages) - behind, len(messages)))


def _strays(messages: Sequence[Any]) -> set[int]:
    return _odd_results(messages)[0]


def _odd_results(messages: Sequence[Any]) -> tuple[set[int], dict[int, int]]:
    """The places of the results that no call stands before, or that come again; and what to show instead of the first.

    Ids may come again in later turns.
    """
    strays: set[int] = set()
    instead: dict[int, int] = {}
    due: set[Any] = set()
    of_turn: list[Any] = []
    shown: dict[Any, list[int]] = {}
    for at, message in enumerate(messages):
        if isinstance(message, AIMessage):
            of_turn, shown = [call["id"] for call in (*message.tool_calls, *_unread(message))], {}
            due.update(of_turn)
        elif isinstance(message, ToolMessage):
            id = message.tool_call_id
            if id not in due and id not in of_turn:
                strays.add(at)
            elif len(shown.get(id, ())) < max(1, of_turn.count(id)):
                shown.setdefault(id, []).append(at)
            else:
                strays.add(at)
                instead[shown[id][-1]] = at
            due.discard(id)
    return strays, instead


def _has_talk_between(messages: Sequence[Any]) -> bool:
    """Whether anything but a tool message comes while calls are open."""
    due: set[Any] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            due.discard(message.tool_call_id)
        elif due:
            return True
        else:
            due = _calls_of(message)
    return False


def _calls_of(message: Any) -> set[Any]:
    return {call["id"] for call in message.tool_calls} if isinstance(message, AIMessage) else set()


def with_unread_calls_answered(messages: Sequence[Any], known: int = 0) -> Sequence[Any]:
    """The conversation with a tool message for each call that could not be read, right behind it.

    Such a call is none for the agent, but is one for the model: it refuses a conversation that leaves it open. The
    same list where there is none.

    known: how many of the first messages are known to have no such call.
    """
    if not any(map(_unread, messages[known:])):
        return messages
    mended: list[Any] = []
    for at, message in enumerate(messages):
        mended.append(message)
        unread = _unread(message)
        if unread:
            answered = {one.tool_call_id for one in takewhile(_is_no_ai, messages[at + 1 :]) if _is_result(one)}
            mended += [_not_made(call) for call in unread if call["id"] not in answered]
    return messages if len(mended) == len(messages) else mended


def _unread(message: Any) -> list[Any]:
    calls = message.invalid_tool_calls if isinstance(message, AIMessage) else ()
    return [call for call in calls if call["id"] is not None]


def _is_no_ai(message: Any) -> bool:
    return not isinstance(message, AIMessage)


def _is_result(message: Any) -> bool:
    return isinstance(message, ToolMessage)


def _not_made(call: Any) -> ToolMessage:
    why = f": {call['error']}" if call.get("error") else ", or they were cut off"
    text = f"The arguments of this call could not be read{why}. It was not made."
    return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error", id=str(uuid4()))


_OF_A_CALL = "lc_run--"
"""So ids begin that LangChain gives to what a model says: no other call of one has the same."""


def with_own_ids(said: Any, before: Sequence[Any]) -> Any:
    """What the model said, with an id that no message before it has: it would take the place of that one.

    Each call has an id of its own, too: results and decisions go by it. Some models leave ids out, or use one twice.
    The first call keeps it.
    """
    said = _with_call_ids(said)
    id = getattr(said, "id", None)
    if id is None or str(id).startswith(_OF_A_CALL):
        return said
    is_taken = any(getattr(message, "id", None) == id for message in before)
    return said.model_copy(update={"id": str(uuid4())}) if is_taken else said


def _with_call_ids(said: Any) -> Any:
    calls = getattr(said, "tool_calls", None) or []
    known: set[Any] = {None, ""}
    mended = []
    for call in calls:
        mended.append(call if call["id"] not in known else {**call, "id": f"call-{uuid4().hex}"})
        known.add(call["id"])
    return said if mended == calls else said.model_copy(update={"tool_calls": mended})


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
