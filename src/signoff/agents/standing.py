"""How calls stand when a tool step begins: a person may have changed the conversation while they waited."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, ToolCall

from signoff.errors import InvalidInput
from signoff.prebuilt._invoking import field
from signoff.prebuilt.agent_routes import last_of_model, results_of_turn
from signoff.prebuilt.tool_calls import digest_of
from signoff.prebuilt.tool_input import Wanted


def as_it_stands(wanted: Wanted, elsewhere: Collection[str | None]) -> Wanted:
    """The calls as the conversation has them: somebody may have changed, answered or taken back one while it waited.

    elsewhere: the ids of calls that another task makes.
    """
    messages = field(wanted.state, "messages") or ()
    said, answered = last_of_model(messages), results_of_turn(messages)
    known = {call["id"]: call for call in said.tool_calls} if said is not None else {}
    mine = [call for call in wanted.calls if call["id"] not in elsewhere]
    stays = [
        call
        for call in mine
        if (call["id"] not in answered if call["id"] in known else said is None or _is_wanted(call, messages))
    ]
    calls = [known.get(call["id"], call) for call in stays]
    # Not whether they are equal: what is not a number is not equal to itself.
    is_changed = digest_of(calls) != digest_of(stays)
    # Of a call that was changed, the questions of the tool are other ones, too: they belong to a task of its own.
    return replace(wanted, calls=calls, are_several=wanted.are_several or is_changed)


def _is_wanted(call: ToolCall, messages: Sequence[Any]) -> bool:
    """Whether the model has wanted a call, now or earlier."""
    turns = (message for message in messages if isinstance(message, AIMessage))
    return any(call["id"] == one["id"] for turn in turns for one in turn.tool_calls)


def check_ids(wanted: Wanted, watched: Collection[str]) -> None:
    """Refuse calls that share an id, as somebody may have written them into the state: decisions go by it.

    Each of them may be a task of its own, so those beside it are looked at, too.
    """
    said, mine = last_of_model(field(wanted.state, "messages") or ()), {call["id"] for call in wanted.calls}
    calls = [call for call in said.tool_calls if call["id"] in mine] if said is not None else wanted.calls
    ids = [call["id"] for call in calls]
    if twice := sorted({str(call["id"]) for call in calls if call["name"] in watched and ids.count(call["id"]) > 1}):
        raise InvalidInput(
            f"Several calls have the id {', '.join(map(repr, twice))}, so it cannot be told which of them a person "
            "decides on. Give each an id of its own."
        )
