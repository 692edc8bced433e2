"""The channel behind `Annotated[type, reducer]`."""

import collections.abc
from collections.abc import Callable, Sequence
from itertools import chain
from operator import add, concat, iadd, iconcat
from typing import Any, get_origin

from signoff._annotations import refuse_async
from signoff._copies import own
from signoff.channels.base import BaseChannel
from signoff.channels.last_value import MAY_OVERWRITE, overwriting
from signoff.constants import MISSING
from signoff.errors import InvalidGraph, InvalidUpdateError

__all__ = ["BinaryOperatorAggregate"]

_CONCRETE: dict[Any, type] = {
    collections.abc.Sequence: list,
    collections.abc.MutableSequence: list,
    collections.abc.Iterable: list,
    collections.abc.Collection: list,
    collections.abc.Set: set,
    collections.abc.MutableSet: set,
    collections.abc.Mapping: dict,
    collections.abc.MutableMapping: dict,
}

_FEW = 8
"""As many writes as are added one by one: it takes no longer than to look whether all of them are lists."""


class BinaryOperatorAggregate(BaseChannel):
    """Merges each write into the value with a reducer `(value, write) -> value`."""

    __slots__ = ("meddles", "operator")

    def __init__(self, typ: Any, operator: Callable[[Any, Any], Any], key: str = "") -> None:
        super().__init__(typ, key)
        refuse_async(f"The reducer of key {key!r}", operator, InvalidGraph)
        self.operator = operator
        self.meddles = not leaves_items(operator)  # type: ignore[misc]

    def agrees_with(self, other: BaseChannel) -> bool:
        """Two keys with one reducer have one rule, however each spells its type."""
        return isinstance(other, BinaryOperatorAggregate) and self.operator == other.operator

    def initial(self) -> Any:
        return empty_value(self.typ)

    def completer(self) -> Callable[[Any], Any] | None:
        return getattr(self.operator, "completes", None)

    def fold(self, stored: Any, writes: Sequence[Any]) -> Any:
        operator = self.operator
        if operator is add and len(writes) > _FEW and _are_lists(stored, writes):
            return [*stored, *chain.from_iterable(writes)]  # one after the other, each would copy all before it
        if operator is not add:
            stored = own(stored)  # a reducer may change it in place: what is stored, or was written, stays as it is
        for write in writes:
            if type(write) in MAY_OVERWRITE:
                is_overwrite, value = overwriting(write)
                if is_overwrite:
                    return overwritten(self.key, value, writes)
            stored = own(write) if stored is MISSING else operator(stored, write)
        return stored


def _are_lists(stored: Any, writes: Sequence[Any]) -> bool:
    return type(stored) is list and {list}.issuperset(map(type, writes))


def overwritten(key: str, value: Any, writes: Sequence[Any]) -> Any:
    """An Overwrite beats every other write of its step."""
    if sum(overwriting(write)[0] for write in writes) > 1:
        raise InvalidUpdateError(
            f"Key {key!r} can take one Overwrite per step and got several. "
            "Overwrite it from one node only, or in different steps."
        )
    return value


_LEAVE_ITEMS = (add, concat, iadd, iconcat)


def leaves_items(reducer: Any) -> bool:
    """Whether a reducer is known to leave what is in a list as it is. One can say so itself: add_messages does."""
    return any(reducer is one for one in _LEAVE_ITEMS) or getattr(reducer, "leaves_items", False) is True


def empty_value(typ: Any) -> Any:
    """The empty value of a type ([] for list, 0 for int); MISSING for a type that has none."""
    origin = get_origin(typ) or typ
    concrete = _CONCRETE.get(origin, origin)
    try:
        return concrete()
    except Exception:
        return MISSING
