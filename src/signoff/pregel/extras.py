"""Extras: what a function may be given besides its input, by the names of its parameters."""

import inspect
from collections.abc import Iterator
from functools import partial
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from signoff._annotations import resolved_hints, signature_of

__all__ = ["EXTRAS", "extras_of", "place_of"]

EXTRAS = {
    "config": {"RunnableConfig", "dict", "Mapping"},
    "runtime": {"Runtime"},
    "writer": {"Callable"},
    "store": {"BaseStore"},
    "previous": {"object"},
}
"""Their names, and those of the classes that say, where an annotation names one, that the extra is meant."""


def extras_of(thing: Any, positional: int, also: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The parameters, behind the input, that signoff fills in, by their names.

    Not those that are annotated as something else, or that a `partial` has filled in.
    """
    try:
        parameters = list(signature_of(thing).parameters.values())
    except ValueError:
        return ()
    named = [
        parameter
        for index, parameter in enumerate(parameters)
        if parameter.name in (*EXTRAS, *also)
        and (index >= positional or parameter.kind is parameter.KEYWORD_ONLY)
        and parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    filled = thing.keywords if isinstance(thing, partial) else ()
    hints = resolved_hints(_function_of(thing)) if named else {}
    return tuple(
        one.name for one in named if one.name not in filled and _is_meant(one.name, hints.get(one.name, one.annotation))
    )


def place_of(function: Any, name: str) -> int | None:
    """Which argument of a call without names fills a parameter; None if none does."""
    for index, parameter in enumerate(signature_of(function).parameters.values()):
        if parameter.name == name and parameter.kind is parameter.POSITIONAL_OR_KEYWORD:
            return index
    return None


def _function_of(thing: Any) -> Any:
    """The function whose annotations a thing has: that of a partial, or of an object's call."""
    while isinstance(thing, partial):
        thing = thing.func
    return thing if inspect.isroutine(thing) else getattr(thing, "__call__", None)  # noqa: B004


def _is_meant(name: str, hint: Any) -> bool:
    """Whether an annotation leaves room for an extra. One that cannot be resolved, or that is no class, does."""
    if name not in EXTRAS:
        return True
    kinds = [kind for kind in _classes_in(hint) if kind is not type(None)]
    return not kinds or any(base.__name__ in EXTRAS[name] for kind in kinds for base in kind.__mro__)


def _classes_in(hint: Any) -> Iterator[type]:
    """The classes that an annotation names; none if it allows more."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        for one in get_args(hint):
            yield from _classes_in(one)
    elif origin is Annotated:
        yield from _classes_in(get_args(hint)[0])
    elif isinstance(origin or hint, type) and hint not in (Any, inspect.Parameter.empty):
        yield origin or hint
