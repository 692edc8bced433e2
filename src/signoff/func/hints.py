"""The classes that a function names: what it is given and what it returns is stored, and comes back as what it was."""

import inspect
from collections.abc import Callable
from contextlib import suppress
from types import FunctionType
from typing import Any

from signoff._annotations import annotations_of
from signoff.checkpoint.serde import register_types, types_in
from signoff.checkpoint.serde.annotations import known_hints
from signoff.checkpoint.serde.own import OwnTypes, own_types
from signoff.checkpoint.serde.registry import REGISTRY, name_of

__all__ = ["register_types_of"]


def register_types_of(func: Callable[..., Any]) -> OwnTypes:
    """Register the classes in the annotations of a function; the classes that are its own.

    One that is defined further below has no name yet when the function is decorated: it is looked for again later.
    """
    func = inspect.unwrap(func)
    annotations = annotations_of(func)

    def look() -> dict[str, Any]:
        return known_hints(annotations, getattr(func, "__globals__", {}), _names_around(func))

    hints = look()
    types = types_in(*hints.values())
    register_types(types)
    own = own_types(types, [func])
    if len(hints) < len(annotations):
        REGISTRY.add_later(lambda: _added(own, types_in(*look().values())))
    return own


def _names_around(func: Callable[..., Any]) -> dict[str, Any]:
    """What a function uses of those around it, as far as it is there yet: a class that is made in there, say."""
    known: dict[str, Any] = {}
    if type(func) is not FunctionType or func.__closure__ is None:  # a mock only says that it is a function
        return known
    for name, cell in zip(func.__code__.co_freevars, func.__closure__, strict=True):
        with suppress(ValueError):
            known[name] = cell.cell_contents
    return known


def _added(own: OwnTypes, types: list[type]) -> list[type]:
    own.update({name_of(cls): cls for cls in types})
    return types
