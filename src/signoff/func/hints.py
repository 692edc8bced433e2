"""The classes that a function names: what it is given and what it returns is stored, and comes back as what it was."""

import inspect
import typing
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from signoff.checkpoint.serde import register_types, types_in
from signoff.checkpoint.serde.registry import REGISTRY

__all__ = ["register_types_of"]


def register_types_of(func: Callable[..., Any]) -> None:
    """Register the classes in the annotations of a function.

    One that is defined further below has no name yet when the function is decorated: it is looked for again later.
    """
    hints, is_complete = _hints(func)
    register_types(_types_in(hints))
    if not is_complete:
        REGISTRY.add_later(lambda: _types_in(_hints(func)[0]))


def _types_in(hints: list[Any]) -> list[type]:
    return [cls for hint in hints for cls in types_in(hint)]


def _hints(func: Callable[..., Any]) -> tuple[list[Any], bool]:
    """The annotations of a function, as far as their names are known by now; and whether all are."""
    func = inspect.unwrap(func)
    hints: list[Any] = []
    unknown = 0
    for name, hint in getattr(func, "__annotations__", {}).items():
        one = SimpleNamespace(__annotations__={name: hint})
        try:
            hints += typing.get_type_hints(one, getattr(func, "__globals__", {})).values()
        except Exception:
            unknown += 1
    return hints, not unknown
