"""What middleware says is a message of its own each time: the object that it has said it with may come again."""

from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage

from signoff._words.commands import Command, Overwrite

__all__ = ["with_own_messages"]


def with_own_messages(update: Any) -> Any:
    """An update with copies in place of messages that have no id: a copy is given one, and the object has none still.

    Else what is said again, in another turn or thread, would take the place of what was said before.
    """
    if isinstance(update, list):
        return [with_own_messages(one) for one in update]
    if isinstance(update, Command):
        return replace(update, update=with_own_messages(update.update))
    if not isinstance(update, dict) or "messages" not in update:
        return update
    return {**update, "messages": _own(update["messages"])}


def _own(said: Any) -> Any:
    if isinstance(said, list):
        return [_own(one) for one in said]
    if isinstance(said, Overwrite):
        return replace(said, value=_own(said.value))
    return said.model_copy() if isinstance(said, BaseMessage) and not said.id else said
