"""What a tool node is called with: which calls are to be made, and on which state."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

from langchain_core.messages import AIMessage, ToolCall, ToolMessage

from signoff.constants import PUSH, TASKS, WAITING
from signoff.errors import InvalidInput
from signoff.prebuilt._invoking import messages_of
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
    holds_loop: bool = False
    """Whether the event loop of the run stands still until they are made, so that none of them can be its task."""
    are_several: bool = False
    """Whether the model has wanted several, be it that all but one were answered meanwhile: each is a task still."""


def read_input(input: Any, messages_key: str, scope: Any) -> Wanted:
    """The calls in an input: of a state, of messages, or bare calls as a Send carries them."""
    wanted = _read(input, messages_key, scope)
    for call in wanted.calls:
        # Found out after the tool has run, it would be run again.
        if call["id"] is None:
            raise InvalidInput(f"The call of {call['name']!r} has no id, which its tool message needs. Give it one.")
    if wanted.shape == "calls" and _was_told(scope):
        return replace(wanted, calls=_unanswered(wanted.calls, _state_around(scope), messages_key))
    if wanted.shape != "calls" and (known := list(sent_before(scope))):
        return replace(wanted, calls=[call for call in wanted.calls if call not in known])
    return wanted


def sent_before(scope: Any) -> Iterator[ToolCall]:
    """The calls that Sends have made due in the same step and node, before the running task: others make them.

    A caller may go to the tools, or Send them a call, while what the model wanted is still under way.
    """
    if scope is None or not (TASKS in scope.task.values or WAITING in scope.task.values):
        return
    task = scope.task
    for stored in task.values.get(WAITING, ()):
        if stored["id"] == task.id:
            return
        if stored["node"] == task.name:
            yield from sent_calls(stored.get("arg"))
    sends = task.values.get(TASKS, ())
    for send in sends[: task.path[1]] if task.path[0] == PUSH else sends:
        if send.node == task.name:
            yield from sent_calls(send.arg)


def _read(input: Any, messages_key: str, scope: Any) -> Wanted:
    if calls := sent_calls(input):
        # A Send need not carry the state: it would be stored once for each call.
        has_state = isinstance(input, Mapping) and "state" in input
        return Wanted(calls, input["state"] if has_state else _state_around(scope), "calls")
    calls, count = _open_calls(messages_of(input, messages_key), was_told=_was_told(scope))
    return Wanted(calls, input, "list" if isinstance(input, list) else "dict", are_several=count > 1)


def sent_calls(arg: Any) -> list[ToolCall]:
    """The bare calls that a Send carries."""
    if isinstance(arg, Mapping) and arg.get("__type") == WITH_CONTEXT:
        return [arg["tool_call"]]
    return arg if isinstance(arg, list) and arg and _is_call(arg[-1]) else []


def open_calls(input: Any, messages_key: str) -> list[ToolCall]:
    """The calls that the model wants in a state, or in messages, and that have no tool message yet."""
    messages = messages_of(input, messages_key)
    has_ai = isinstance(messages, list) and any(isinstance(message, AIMessage) for message in messages)
    return _open_calls(messages, was_told=True)[0] if has_ai else []


def _is_call(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("type") == "tool_call"


def _state_around(scope: Any) -> Any:
    """The state of the graph that runs the node, as its nodes see it."""
    if scope is None:
        return {}
    task = scope.task
    return task.node.read(task.values, task.step, scope.host.run.stop)


def _was_told(scope: Any) -> bool:
    """Whether the state was told something while the step was under way: by a tool that asked, or by a caller.

    Or with an update, which has the step begin anew.
    """
    if scope is None:
        return False
    known, task = scope.host.run.known, scope.task
    return (known is not None and bool(known.beside)) or scope.host.run.updated_at == task.checkpoint_id


def _unanswered(calls: list[ToolCall], state: Any, messages_key: str) -> list[ToolCall]:
    """Those of calls that nobody has answered while they waited: another tool message would be one too many."""
    done: set[str] = set()
    for message in reversed(messages_of(state, messages_key) or ()):
        if isinstance(message, AIMessage) and message.tool_calls:
            break
        if isinstance(message, ToolMessage):
            done.add(message.tool_call_id)
    return [call for call in calls if call["id"] not in done]


def _open_calls(messages: Sequence[Any] | None, *, was_told: bool) -> tuple[list[ToolCall], int]:
    """The calls in the last message of the model that have no tool message yet; and how many it has in all.

    was_told: whether messages without calls may have been added to it, while the calls were waiting.
    """
    if not messages:
        raise InvalidInput("The input of the tool node has no messages. Call it with the state, or with messages.")
    done: set[str] = set()
    spoke = False
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            if message.tool_calls or not was_told:
                return [call for call in message.tool_calls if call["id"] not in done], len(message.tool_calls)
            spoke = True
        if isinstance(message, ToolMessage):
            done.add(message.tool_call_id)
    if spoke:
        return [], 0
    raise InvalidInput(
        "None of the messages is of the model (an AIMessage), so there is no tool to call. Run the tool node after "
        "the model."
    )


def tools_condition(state: Any, messages_key: str = "messages") -> Literal["tools", "__end__"]:
    """Where to go after the model: to the tools if it wants any, else to the end."""
    messages = messages_of(state, messages_key)
    if not messages:
        raise InvalidInput(
            f"tools_condition() found no messages under {messages_key!r}. Put the model before it, or pass "
            "messages_key=."
        )
    return "tools" if getattr(messages[-1], "tool_calls", None) else "__end__"
