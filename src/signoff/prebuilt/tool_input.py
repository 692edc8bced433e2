"""What a tool node is called with: which calls are to be made, and on which state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from signoff.errors import InvalidInput
from signoff.prebuilt._invoking import field
from signoff.prebuilt.tool_results import Shape

__all__ = ["ToolCallWithContext", "tools_condition"]

WITH_CONTEXT = "tool_call_with_context"


class ToolCallWithContext(TypedDict):
    """One call and the state to make it on, for a Send to a tool node."""

    tool_call: ToolCall
    __type: Literal["tool_call_with_context"]
    state: Any


@dataclass(frozen=True, slots=True)
class Wanted:
    """The calls to make, the state that they see, and what the node was called with."""

    calls: list[ToolCall]
    state: Any
    shape: Shape


def read_input(input: Any, messages_key: str, scope: Any) -> Wanted:
    """The calls in an input: of a state, of messages, or bare calls as a Send carries them."""
    wanted = _read(input, messages_key, scope)
    for call in wanted.calls:
        # Found out after the tool has run, it would be run again.
        if call["id"] is None:
            raise InvalidInput(f"The call of {call['name']!r} has no id, which its tool message needs. Give it one.")
    return wanted


def _read(input: Any, messages_key: str, scope: Any) -> Wanted:
    if isinstance(input, Mapping) and input.get("__type") == WITH_CONTEXT:
        state = input["state"] if "state" in input else _state_around(scope)
        return Wanted([input["tool_call"]], state, "calls")
    if isinstance(input, list) and input and _is_call(input[-1]):
        # A Send need not carry the state: it would be stored once for each call.
        return Wanted(input, _state_around(scope), "calls")
    messages = input if isinstance(input, list) else field(input, messages_key)
    return Wanted(_open_calls(messages), input, "list" if isinstance(input, list) else "dict")


def _is_call(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("type") == "tool_call"


def _state_around(scope: Any) -> Any:
    """The state of the graph that runs the node, as its nodes see it."""
    if scope is None:
        return {}
    task = scope.task
    return task.node.read(task.values, task.step, scope.host.run.stop)


def _open_calls(messages: Sequence[Any] | None) -> list[ToolCall]:
    """The calls in the last message of the model that have no tool message yet."""
    if not messages:
        raise InvalidInput("The input of the tool node has no messages. Call it with the state, or with messages.")
    done: set[str] = set()
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            return [call for call in message.tool_calls if call["id"] not in done]
        if isinstance(message, ToolMessage):
            done.add(message.tool_call_id)
    raise InvalidInput(
        "None of the messages is of the model (an AIMessage), so there is no tool to call. Run the tool node after "
        "the model."
    )


def tools_condition(state: Any, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """Where to go after the model: to the tools if it wants any, else to the end."""
    messages = state if isinstance(state, list) else field(state, messages_key)
    if not messages:
        raise InvalidInput(
            f"tools_condition() found no messages under {messages_key!r}. Put the model before it, or pass "
            "messages_key=."
        )
    return "tools" if getattr(messages[-1], "tool_calls", None) else "__end__"
