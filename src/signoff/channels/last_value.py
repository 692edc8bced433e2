"""Channels that keep the last value written."""

import sys
from collections.abc import Sequence
from typing import Any

from signoff._elsewhere import refuse_theirs
from signoff._words.commands import Overwrite
from signoff.channels.base import BaseChannel
from signoff.constants import MISSING, OVERWRITE
from signoff.errors import InvalidUpdateError

__all__ = ["LastValue", "LastValueAfterFinish"]


class LastValue(BaseChannel):
    """The plain key: one write a step, and it replaces the value."""

    __slots__ = ()

    meddles = False

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        if len(writes) != 1:
            raise InvalidUpdateError(
                f"Key {self.key!r} can take one value per step and got {len(writes)}. "
                f"Say how to merge them with a reducer: {self.key}: Annotated[list, operator.add]."
            )
        value = writes[0]
        return overwriting(value)[1] if type(value) in MAY_OVERWRITE else value


class LastValueAfterFinish(BaseChannel):
    """Keeps the last value, and shows it only when nothing else is due: the trigger of a deferred node."""

    __slots__ = ()

    is_plain = False
    meddles = False

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        return [writes[-1], False]

    def get(self, stored: Any) -> Any:
        if type(stored) is not list:  # nothing, or what was stored when the node was not deferred
            return stored
        return stored[0] if stored[1] else MISSING

    def consume(self, stored: Any) -> Any:
        return stored if type(stored) is list and not stored[1] else MISSING

    def finish(self, stored: Any) -> Any:
        return [stored[0], True] if type(stored) is list and not stored[1] else stored


MAY_OVERWRITE: set[type] = {Overwrite, dict}
"""The types of writes that may be an Overwrite."""


def watch_for_theirs() -> None:
    """From now on, refuse an Overwrite of LangGraph's, if the program uses that: it is no value."""
    theirs = getattr(sys.modules.get("langgraph.types"), "Overwrite", None)
    if theirs is not None:
        MAY_OVERWRITE.add(theirs)


def overwriting(write: Any) -> tuple[bool, Any]:
    """Whether a write is an Overwrite (or its JSON form), and the value in it."""
    if type(write) is Overwrite:
        return True, write.value
    if type(write) is dict and len(write) == 1 and OVERWRITE in write:
        return True, write[OVERWRITE]
    refuse_theirs(write, "The update of a key is", InvalidUpdateError)
    return False, write
