"""What a tool returned: carried past LangChain, checked, and made into what the node returns."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, Literal, cast

from langchain_core.messages import RemoveMessage, ToolMessage, convert_to_messages
from langchain_core.messages.tool import ToolOutputMixin
from langchain_core.tools import BaseTool

from signoff.errors import InvalidUpdateError
from signoff.graph.message import REMOVE_ALL_MESSAGES
from signoff.types import Command, Send

__all__ = ["InvalidToolResult"]

Shape = Literal["list", "dict", "calls"]
"""What a tool node was called with: messages, a state, or bare calls of tools."""

Result = Any
"""A ToolMessage, a Command, or a list of these."""


class InvalidToolResult(InvalidUpdateError, ValueError):
    """A tool returned something that would leave the conversation invalid."""


# Past LangChain, which makes a text of everything that it does not know


class Carried(ToolOutputMixin):
    """Something that LangChain hands on as it is."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


def carrying(tool: BaseTool) -> BaseTool:
    """The same tool, with Commands in its result carried."""
    run, arun = tool._run, tool._arun

    @wraps(run)
    def _run(*args: Any, **kwargs: Any) -> Any:
        return _carried(run(*args, **kwargs))

    @wraps(arun)
    async def _arun(*args: Any, **kwargs: Any) -> Any:
        return _carried(await arun(*args, **kwargs))

    copy = tool.model_copy()
    # In the instance itself, where it goes before the method of the class, whatever class the tool is of.
    copy.__dict__.update(_run=_run, _arun=_arun)
    return copy


def _carried(result: Any) -> Any:
    is_several = isinstance(result, list) and any(isinstance(item, Command) for item in result)
    return Carried(result) if is_several or isinstance(result, Command) else result


def uncarried(result: Any) -> Any:
    """What a tool returned, after LangChain handed it on."""
    return result.value if isinstance(result, Carried) else result


# Checked


def checked(result: Any, call: Mapping[str, Any], shape: Shape, messages_key: str) -> Result:
    """The result of a call, if after it the call has exactly one tool message."""
    if isinstance(result, Command):
        return _checked_command(result, call, shape, messages_key, must_answer=True)
    if isinstance(result, list):
        return _checked_list(result, call, shape, messages_key)
    if isinstance(result, ToolMessage):
        return _worded(result)
    raise InvalidToolResult(
        f"The tool {call['name']!r} returned {result!r}, a {type(result).__name__}. Return a ToolMessage or a Command."
    )


def checked_wrapped(result: Any, call: Mapping[str, Any]) -> Result:
    """What a wrapper around a call came to."""
    if isinstance(result, ToolMessage | Command | list):
        return result
    raise InvalidToolResult(
        f"The wrapper around the call of {call['name']!r} returned {result!r}. Return what handler(request) gives, a "
        "ToolMessage or a Command."
    )


def _checked_list(results: list[Any], call: Mapping[str, Any], shape: Shape, messages_key: str) -> list[Any]:
    checked_one_by_one = [
        _checked_command(item, call, shape, messages_key, must_answer=False)
        if isinstance(item, Command)
        else _worded(item)
        for item in results
    ]
    answers = [message for item in checked_one_by_one for message in _answers(item, call, messages_key)]
    if len(answers) != 1:
        raise InvalidToolResult(
            f"The tool {call['name']!r} returned a list with {len(answers)} tool messages for its call {call['id']!r}. "
            "Put exactly one into it."
        )
    return checked_one_by_one


def _worded(message: Any) -> Any:
    """A tool message; a list of texts in it is JSON for the model, since blocks of content would run together."""
    content = getattr(message, "content", None)
    if not isinstance(content, list) or not any(isinstance(item, str) for item in content):
        return message
    return message.model_copy(update={"content": json.dumps(content, ensure_ascii=False)})


def _checked_command(
    command: Command[Any], call: Mapping[str, Any], shape: Shape, messages_key: str, *, must_answer: bool
) -> Command[Any]:
    if command.update is None:
        return command
    _check_shape(command, call, shape, messages_key)
    given = _messages(command, messages_key)
    messages = convert_to_messages(given)
    if must_answer and command.graph is None and not _is_answered(messages, call):
        raise InvalidToolResult(
            f"The tool {call['name']!r} returned a Command without a tool message for its call {call['id']!r}; the "
            f"model would refuse the conversation. Return Command(update={{{messages_key!r}: [ToolMessage(..., "
            "tool_call_id=...)], ...}), with the id from a parameter Annotated[str, InjectedToolCallId]."
        )
    for message in messages:
        if isinstance(message, ToolMessage) and message.tool_call_id == call["id"] and message.name is None:
            message.name = call["name"]
    return command if messages == given else _with_messages(command, messages, messages_key)


def _with_messages(command: Command[Any], messages: list[Any], messages_key: str) -> Command[Any]:
    """The same Command, where its messages are written in another way: what stands around tools works on messages."""
    update = command.update
    if isinstance(update, list):
        return replace(command, update=messages)
    return replace(command, update={**update, messages_key: messages}) if isinstance(update, Mapping) else command


def _check_shape(command: Command[Any], call: Mapping[str, Any], shape: Shape, messages_key: str) -> None:
    if isinstance(command.update, list) == (shape == "list"):
        return
    fitting = "a list of messages" if shape == "list" else f"a dict with the key {messages_key!r}"
    raise InvalidToolResult(
        f"The tool {call['name']!r} returned a Command with the update {command.update!r}. The node was called with "
        f"{'messages' if shape == 'list' else 'a state'}, so the update has to be {fitting}."
    )


def _messages(command: Command[Any], messages_key: str) -> list[Any]:
    update = command.update
    if isinstance(update, list):
        return update
    found = update.get(messages_key, []) if isinstance(update, Mapping) else getattr(update, messages_key, [])
    return found if isinstance(found, list) else [found]


def _is_answered(messages: Sequence[Any], call: Mapping[str, Any]) -> bool:
    return any(
        (isinstance(message, ToolMessage) and message.tool_call_id == call["id"])
        or (isinstance(message, RemoveMessage) and message.id == REMOVE_ALL_MESSAGES)
        for message in messages
    )


def _answers(item: Any, call: Mapping[str, Any], messages_key: str) -> list[ToolMessage]:
    if isinstance(item, Command):
        messages = [] if item.update is None else convert_to_messages(_messages(item, messages_key))
    else:
        messages = [item]
    return [m for m in messages if isinstance(m, ToolMessage) and m.tool_call_id == call["id"]]


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
