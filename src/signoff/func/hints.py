"""The classes that a function names: what it is given and what it returns is stored, and comes back as what it was."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
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
    look = partial(known_hints, annotations, getattr(func, "__globals__", {}))
    hints = look()
    types = _types_in(hints)
    register_types(types)
    own = own_types(types, [func])
    if len(hints) < len(annotations):
        REGISTRY.add_later(lambda: _added(own, _types_in(look())))
    return own


def _added(own: OwnTypes, types: list[type]) -> list[type]:
    own.update({name_of(cls): cls for cls in types})
    return types


def _types_in(hints: Mapping[str, Any]) -> list[type]:
    return [cls for hint in hints.values() for cls in types_in(hint)]
