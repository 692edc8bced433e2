"""Whose classes: which of several classes of one name is meant.

A function that defines classes and makes a graph of them can be called many times. All its classes have the same
names then, and a name is all that stored bytes have: to a graph it means the graph's own class. Who reads without one
gets the newest.
"""

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar, Token
from functools import partial
from typing import Any, TypeVar

from signoff._modules import module_of
from signoff.checkpoint.serde.registry import REGISTRY, Entry, Registry, name_of
from signoff.checkpoint.serde.unread import is_showing, showing
from signoff.steps import Steps

__all__ = ["OwnTypes", "carried", "meant_by", "own_types", "reading_for"]

T = TypeVar("T")

OwnTypes = dict[str, type]
"""The classes of a graph, by module and name."""

_LOCALS = "<locals>"

_reader: ContextVar[Mapping[str, type] | None] = ContextVar("reader", default=None)


def own_types(classes: Iterable[type], makers: Iterable[Any] = ()) -> OwnTypes:
    """The classes that a graph names, and those that were registered in the functions that have made it.

    makers: what was defined in these functions beside them: schemas, or the function that the graph is.
    """
    own = {name_of(cls): cls for cls in classes}
    homes = {home for one in (*own.values(), *makers) if (home := _home(_place(one)))}
    if not homes:
        return own
    beside = {place: cls for cls in REGISTRY.classes() if _home(place := name_of(cls)) in homes}
    return {**beside, **own}


def _place(made: Any) -> str:
    return f"{module_of(made)}:{getattr(made, '__qualname__', '')}"


def _home(place: str) -> str:
    """The function that something was defined in; empty if it was none."""
    before, found, _ = place.rpartition(_LOCALS)
    return before + found


class reading_for:  # noqa: N801 - it reads as a verb
    """A context in which stored names mean the classes of a graph."""

    __slots__ = ("_own", "_token")

    def __init__(self, own: Mapping[str, type]) -> None:
        self._own = own

    def __enter__(self) -> None:
        self._token: Token[Mapping[str, type] | None] = _reader.set(self._own)

    def __exit__(self, *error: object) -> None:
        _reader.reset(self._token)


def carried(steps: Steps[T]) -> Steps[T]:
    """A procedure that reads for the same graph, or only looks, in whichever thread it is performed."""
    own, shows = _reader.get(), is_showing()
    return steps if own is None and not shows else _carried(own or {}, shows, steps)


def _carried(own: Mapping[str, type], shows: bool, steps: Steps[T]) -> Steps[T]:
    go_on: Callable[[], Any] = partial(next, steps)
    while True:
        try:
            with reading_for(own), showing(shows):
                effect = go_on()
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        try:
            go_on = partial(steps.send, (yield effect))
        except BaseException as error:
            go_on = partial(steps.throw, error)


def meant_by(entry: Entry, registry: Registry) -> Entry:
    """The entry of the class that whoever reads calls by this name."""
    own = _reader.get()
    cls = own.get(name_of(entry.cls)) if own else None
    if cls is None or cls is entry.cls:
        return entry
    return registry.find_class(cls) or entry
