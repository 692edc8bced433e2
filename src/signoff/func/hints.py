"""The classes that a function names: what it is given and what it returns is stored, and comes back as what it was."""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from signoff.checkpoint.serde import register_types, types_in
from signoff.checkpoint.serde.annotations import known_hints
from signoff.checkpoint.serde.registry import REGISTRY

__all__ = ["register_types_of"]


def register_types_of(func: Callable[..., Any]) -> None:
    """Register the classes in the annotations of a function.

    One that is defined further below has no name yet when the function is decorated: it is looked for again later.
    """
    func = inspect.unwrap(func)
    annotations = getattr(func, "__annotations__", {})
    look = partial(known_hints, annotations, getattr(func, "__globals__", {}))
    hints = look()
    register_types(_types_in(hints))
    if len(hints) < len(annotations):
        REGISTRY.add_later(lambda: _types_in(look()))


def _types_in(hints: Mapping[str, Any]) -> list[type]:
    return [cls for hint in hints.values() for cls in types_in(hint)]
