"""What a tool returned: checked, and made into what the node returns."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from langchain_core.messages import RemoveMessage, ToolMessage, convert_to_messages

from signoff._elsewhere import refuse_theirs
from signoff._words.commands import Command, Send
from signoff.errors import InvalidUpdateError
from signoff.graph.message import REMOVE_ALL_MESSAGES
from signoff.graph.schema import writes_of_object
from signoff.prebuilt._invoking import messages_of

__all__ = ["InvalidToolResult"]

Shape = Literal["list", "dict", "calls"]
"""What a tool node was called with: messages, a state, or bare calls of tools."""

Result = Any
"""A ToolMessage, a Command, or a list of these."""


class InvalidToolResult(InvalidUpdateError, ValueError):
    """A tool returned something that would leave the conversation invalid."""


@dataclass(frozen=True, slots=True)
class Made:
    """A call that was made: what its result has to fit."""

    call: Mapping[str, Any]
    shape: Shape
    state: Any
    messages_key: str
    by_wrapper: bool = False
    """Whether the result comes from a wrapper around the call."""

    def __str__(self) -> str:
        return f"The {'wrapper around the call of' if self.by_wrapper else 'tool'} {self.call['name']!r}"


def checked(result: Any, made: Made) -> Result:
    """The result of a call, if after it the call has exactly one tool message, and no other call has a new one."""
    if isinstance(result, Command):
        return _checked_command(result, made, must_answer=True)
    if isinstance(result, list):
        return _checked_list(result, made)
    if isinstance(result, ToolMessage):
        _check_ids([result], made)
        return _worded(result)
    refuse_theirs(result, f"{made} returned", InvalidToolResult)
    fitting = "what handler(request) gives, a" if made.by_wrapper else "a"
    raise InvalidToolResult(
        f"{made} returned {result!r}, a {type(result).__name__}. Return {fitting} ToolMessage or a Command."
    )


def _checked_list(results: list[Any], made: Made) -> list[Any]:
    checked_one_by_one = [
        _checked_command(item, made, must_answer=False) if isinstance(item, Command) else _worded(item)
        for item in results
    ]
    _check_ids([item for item in results if isinstance(item, ToolMessage)], made)
    answers = [message for item in checked_one_by_one for message in _answers(item, made)]
    if len(answers) != 1:
        raise InvalidToolResult(
            f"{made} returned a list with {len(answers)} tool messages for its call {made.call['id']!r}. Put exactly "
            "one into it."
        )
    return checked_one_by_one


def _worded(message: Any) -> Any:
    """A tool message; a list of texts in it is JSON for the model, since blocks of content would run together."""
    content = getattr(message, "content", None)
    if not isinstance(content, list) or not any(isinstance(item, str) for item in content):
        return message
    return message.model_copy(update={"content": json.dumps(content, ensure_ascii=False)})


def _checked_command(command: Command[Any], made: Made, *, must_answer: bool) -> Command[Any]:
    if command.update is None:
        return command
    _check_shape(command, made)
    messages = convert_to_messages(messages_told(command, made.messages_key))
    if command.graph is None:
        _check_messages(messages, made, must_answer=must_answer)
    for message in messages:
        if isinstance(message, ToolMessage) and message.tool_call_id == made.call["id"] and message.name is None:
            message.name = made.call["name"]
    return with_messages(command, messages, made.messages_key) if messages else command


def _check_messages(messages: Sequence[Any], made: Made, *, must_answer: bool) -> None:
    """Refuse a Command for this graph that leaves its call open, or answers another one."""
    if any(isinstance(message, RemoveMessage) and message.id == REMOVE_ALL_MESSAGES for message in messages):
        return  # it is a conversation of its own
    new = _new([message for message in messages if isinstance(message, ToolMessage)], made)
    own = [message for message in new if message.tool_call_id == made.call["id"]]
    if must_answer and not own:
        raise InvalidToolResult(
            f"{made} returned a Command without a tool message for its call {made.call['id']!r}; the model would "
            f"refuse the conversation. Return Command(update={{{made.messages_key!r}: [ToolMessage(..., "
            f"tool_call_id=...)], ...}}), {_WITH_THE_ID}"
        )
    if len(own) > 1:
        raise InvalidToolResult(
            f"{made} returned a Command with {len(own)} tool messages for its call {made.call['id']!r}. Put one in it."
        )
    _check_ids(new, made)


_WITH_THE_ID = "with the id from a parameter Annotated[str, InjectedToolCallId]."


def _new(messages: list[ToolMessage], made: Made) -> list[ToolMessage]:
    """The tool messages that come to the conversation; others take the place of one that is there."""
    if all(message.id is None for message in messages):
        return messages
    there = messages_of(made.state, made.messages_key) or ()
    known = {message.id for message in there if isinstance(message, ToolMessage)}
    return [message for message in messages if message.id is None or message.id not in known]


def _check_ids(messages: Sequence[ToolMessage], made: Made) -> None:
    """Refuse tool messages for other calls: theirs would be two, and this one's would be missing, or both."""
    others = [message.tool_call_id for message in messages if message.tool_call_id != made.call["id"]]
    if others:
        raise InvalidToolResult(
            f"{made} returned a tool message for the call {others[0]!r}, and its own is {made.call['id']!r}; the model "
            f"would refuse the conversation. Return ToolMessage(..., tool_call_id=...) {_WITH_THE_ID}"
        )


def with_messages(command: Command[Any], messages: list[Any], messages_key: str = "messages") -> Command[Any]:
    """The same Command with these messages in a list, in a dict if it has more: what stands around tools reads that."""
    update = command.update
    if isinstance(update, list):
        return command if update == messages else replace(command, update=messages)
    if isinstance(update, dict) and update.get(messages_key) == messages:
        return command
    writes = writes_of_object(update)
    return command if writes is None else replace(command, update={**dict(writes), messages_key: messages})


def _check_shape(command: Command[Any], made: Made) -> None:
    is_list = made.shape == "list"
    if isinstance(command.update, list) == is_list:
        return
    fitting = "a list of messages" if is_list else f"a dict with the key {made.messages_key!r}"
    raise InvalidToolResult(
        f"{made} returned a Command with the update {command.update!r}. The node was called with "
        f"{'messages' if is_list else 'a state'}, so the update has to be {fitting}."
    )


def messages_told(command: Command[Any], messages_key: str = "messages") -> list[Any]:
    """The messages that a Command brings, whichever way its update is written."""
    update = command.update
    if isinstance(update, list):
        return update
    found = update.get(messages_key, []) if isinstance(update, Mapping) else getattr(update, messages_key, [])
    return found if isinstance(found, list) else [found]


def _answers(item: Any, made: Made) -> list[ToolMessage]:
    messages = convert_to_messages(messages_told(item, made.messages_key)) if isinstance(item, Command) else [item]
    return [m for m in messages if isinstance(m, ToolMessage) and m.tool_call_id == made.call["id"]]


def messages_in(result: Any, messages_key: str = "messages") -> list[ToolMessage]:
    """The tool messages in what a call came to: a message, a Command, or a list of these."""
    if isinstance(result, list):
        return [message for item in result for message in messages_in(item, messages_key)]
    if isinstance(result, Command):
        return messages_in(messages_told(result, messages_key))
    return [result] if isinstance(result, ToolMessage) else []


# Put together


def combined(results: Sequence[Result], shape: Shape, messages_key: str) -> Any:
    """What the node returns for the results of its calls, in their order."""
    flat = [item for result in results for item in (result if isinstance(result, list) else [result])]
    if not any(isinstance(item, Command) for item in flat):
        return flat if shape == "list" else {messages_key: flat}
    to_parent = [item for item in flat if _sends_to_parent(item)]
    rest = [
        item if isinstance(item, Command) else [item] if shape == "list" else {messages_key: [item]}
        for item in flat
        if not _sends_to_parent(item)
    ]
    return [*rest, *_as_one(to_parent)]


def _sends_to_parent(item: Any) -> bool:
    """Whether an item only sends to nodes of the graph around this one: several of these are one."""
    return (
        isinstance(item, Command)
        and item.graph == Command.PARENT
        and isinstance(item.goto, list)
        and all(isinstance(target, Send) for target in item.goto)
    )


def _as_one(commands: list[Command[Any]]) -> list[Command[Any]]:
    if len(commands) < 2 or any(command.update is not None for command in commands):
        return commands
    targets: list[Any] = [target for command in commands for target in cast(list[Any], command.goto)]
    return [Command(graph=Command.PARENT, goto=targets)]
