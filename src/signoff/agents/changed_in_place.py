"""What a hook, or a wrapper of the model, changes in the newest messages in place counts as if it had returned them.

Else the caller would see what it made of them, and the thread keep what they were before: words that it took out, or a
call with other arguments than those it was made with.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from signoff._words.commands import Command

__all__ = ["Newest"]


class Newest:
    """The newest messages as they were before it: from the last one of the model on. Hooks have seen the others."""

    __slots__ = ("_seen",)

    def __init__(self, state: Any) -> None:
        messages = state.get("messages") if isinstance(state, dict) else None
        self._seen = [(one, _parts(one)) for one in _newest(messages)] if isinstance(messages, list) else []

    def with_changed(self, update: Any) -> Any:
        """What a hook returned, with the messages that it changed."""
        changed = [one for one, parts in self._seen if _parts(one) != parts]
        return _joined(changed, update) if changed else update


def _newest(messages: Sequence[Any]) -> Iterator[BaseMessage]:
    for one in reversed(messages):
        if isinstance(one, BaseMessage) and one.id is not None:
            yield one
        if isinstance(one, AIMessage):
            return


def _parts(message: BaseMessage) -> Any:
    """What is said, and the calls that are wanted; None if nobody can tell, since something in it cannot be copied."""
    content, calls = message.content, getattr(message, "tool_calls", None)
    try:
        return content if isinstance(content, str) else deepcopy(content), calls and deepcopy(calls)
    except Exception:
        return None


def _joined(changed: list[BaseMessage], update: Any) -> Any:
    """Changed messages first: what a hook returns about them, or about all messages, is its last word."""
    if isinstance(update, Command) and update.graph is None:
        return replace(update, update=_joined(changed, update.update))
    if isinstance(update, list):  # of a turn of the model, and what wrappers have beside it
        return [_joined(changed, update[0]), *update[1:]]
    if not isinstance(update, dict | None):
        return update
    returned = (update or {}).get("messages") or []
    if isinstance(returned, str | BaseMessage | tuple) or (isinstance(returned, dict) and "content" in returned):
        returned = [returned]
    return {**(update or {}), "messages": [*changed[::-1], *returned]} if isinstance(returned, list) else update
