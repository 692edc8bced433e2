"""What a model hears, and what it said: it refuses a conversation in which calls and results do not go together."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, ToolMessage

from signoff._copies import copied

__all__ = [
    "is_overtaken",
    "strays",
    "with_own_ids",
    "with_results_first",
    "with_unread_calls_answered",
    "without_strays",
]


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
            ordered += said
            said = []
    return [*ordered, *said]


def without_strays(messages: Sequence[Any]) -> Sequence[Any]:
    """The conversation without results that no call stands before: a person has taken the call out of it.

    And with one result of each call: if a person has written another one, that. A model refuses it otherwise. The
    same list where there is nothing to leave out.
    """
    odd, instead = _odd_results(messages)
    return [messages[instead.get(at, at)] for at in range(len(messages)) if at not in odd] if odd else messages


def is_overtaken(messages: Sequence[Any]) -> bool:
    """Whether there is nothing to say to the last results: a person has put an answer in the place of their calls."""
    behind = len(list(takewhile(_is_result, reversed(messages))))
    if not behind or behind == len(messages):
        return False
    last = messages[-behind - 1]
    if not isinstance(last, AIMessage) or last.tool_calls:
        return False
    return strays(messages).issuperset(range(len(messages) - behind, len(messages)))


def strays(messages: Sequence[Any]) -> set[int]:
    """The places of the results that a model is not shown."""
    return _odd_results(messages)[0]


def _odd_results(messages: Sequence[Any]) -> tuple[set[int], dict[int, int]]:
    """The places of the results that no call stands before, or that come again; and what to show instead of the first.

    Ids may come again in later turns.
    """
    odd: set[int] = set()
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
                odd.add(at)
            elif len(shown.get(id, ())) < max(1, of_turn.count(id)):
                shown.setdefault(id, []).append(at)
            else:
                odd.add(at)
                instead[shown[id][-1]] = at
            due.discard(id)
    return odd, instead


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


def with_own_ids(said: Any, before: Sequence[Any]) -> Any:
    """What the model said, with an id that no message before it has: it would take the place of that one.

    Each call has an id of its own, too: results and decisions go by it. Some models leave ids out, or use one twice, of
    which the first call keeps it. A cache gives the same message again, and to others: what becomes of it here is not
    for them.
    """
    said = _with_call_ids(_own(said))
    id = getattr(said, "id", None)
    return said.model_copy(update={"id": str(uuid4())}) if id is not None and _is_taken(id, before) else said


def _own(said: Any) -> Any:
    """A message that may be changed in place."""
    if not isinstance(said, AIMessage):
        return said
    return said.model_copy(update={"content": copied(said.content), "tool_calls": copied(said.tool_calls)})


_OF_A_CALL = "lc_run--"
"""So ids begin that LangChain gives to what a model says. They grow with time."""


def _is_taken(id: str, before: Sequence[Any]) -> bool:
    """Whether a message has an id already. Of a long conversation mostly the end tells that none has."""
    if id.startswith(_OF_A_CALL):
        given = (str(one.id) for one in reversed(before) if isinstance(one, AIMessage))
        if id > next((one for one in given if one.startswith(_OF_A_CALL)), ""):
            return False
    return any(getattr(message, "id", None) == id for message in before)


def _with_call_ids(said: Any) -> Any:
    calls = getattr(said, "tool_calls", None) or []
    known: set[Any] = {None, ""}
    mended = []
    for call in calls:
        mended.append(call if call["id"] not in known else {**call, "id": f"call-{uuid4().hex}"})
        known.add(call["id"])
    return said if mended == calls else said.model_copy(update={"tool_calls": mended})
