"""Filters: which values a search lets pass. One rule, in Python, for every store.

    {"status": "open"}                 the field equals
    {"author": {"name": "ana"}}        fields inside a field; others may be there too
    {"author.name": "ana"}             the same as a path
    {"age": {"$gte": 18, "$lt": 65}}   $eq $ne $gt $gte $lt $lte; all of them have to hold

Numbers, and texts that spell numbers, compare as numbers, other texts as text; nothing else has an order, and
a value without one never passes $gt and its kin. A field that is missing equals None.
"""

import json
import math
import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from signoff.constants import ATOMS
from signoff.errors import InvalidInput

__all__ = ["check_filter", "passes", "spelt_in"]

_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
_OPERATORS = ("$eq", "$ne", *_ORDERINGS)
_LONG = 10**15
"""Numbers of that size may be spelt with an exponent."""
_REFUSED_SIGNS = frozenset("'\"`[]{}()$;\\")


def passes(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """Whether a value has everything that a checked filter asks for."""
    return all(_holds(_field(value, key), wanted) for key, wanted in (filter or {}).items())


def spelt_in(filter: Mapping[str, Any] | None) -> list[str]:
    """What the JSON of a value has in it if the value passes. A database can look for that; the rule decides."""
    return [text for wanted in (filter or {}).values() for text in _spelt(wanted)]


def check_filter(filter: object) -> None:
    """Refuse a filter that has a mistake in it, before anything is searched."""
    if filter is None:
        return
    if not isinstance(filter, Mapping):
        raise InvalidInput(f"filter is a dict of fields, such as {{'status': 'open'}}; got {filter!r}.")
    _check_fields(filter)


def _check_fields(fields: Mapping[Any, Any]) -> None:
    for key, wanted in fields.items():
        _check_key(key)
        _check_wanted(key, wanted)


def _check_key(key: object) -> None:
    # Names with quotes and brackets would be safe here. They are refused because database stores, LangGraph's
    # among them, refuse them: a filter means the same everywhere, or is an error everywhere.
    if not isinstance(key, str) or not key or not _REFUSED_SIGNS.isdisjoint(key):
        raise InvalidInput(
            f"A filter cannot have the key {key!r}: a key is the name of a field or a dotted path, without "
            f"quotes, brackets, ';', '$' or '\\'; operators stand inside a field: {{'age': {{'$gt': 18}}}}."
        )


def _check_wanted(key: str, wanted: object) -> None:
    if isinstance(wanted, list | tuple):
        for element in wanted:
            _check_wanted(key, element)
    elif isinstance(wanted, Mapping):
        if _has_operator(wanted):
            _check_operators(key, wanted)
        else:
            _check_fields(wanted)


def _check_operators(key: str, wanted: Mapping[Any, Any]) -> None:
    for name, operand in wanted.items():
        if name not in _OPERATORS:
            raise InvalidInput(
                f"The filter for {key!r} has {name!r} where an operator stands: use {', '.join(_OPERATORS)}."
            )
        if name in _ORDERINGS and not isinstance(operand, int | float | str):
            raise InvalidInput(
                f"The filter for {key!r} compares with {name} {operand!r}, which has no order: "
                "compare with a number or a text."
            )


def _has_operator(wanted: Mapping[Any, Any]) -> bool:
    return any(isinstance(name, str) and name.startswith("$") for name in wanted)


def _field(value: Mapping[str, Any], key: str) -> Any:
    """The field a key names: by that very name, else as a path through the fields inside fields."""
    if key in value or "." not in key:
        return value.get(key)
    first, rest = key.split(".", 1)
    inner = value.get(first)
    return _field(inner, rest) if isinstance(inner, Mapping) else None


def _holds(actual: Any, wanted: Any) -> bool:
    if type(wanted) in ATOMS:
        return bool(actual == wanted)
    if isinstance(wanted, Mapping):
        if _has_operator(wanted):
            return all(_compares(actual, name, operand) for name, operand in wanted.items())
        return isinstance(actual, Mapping) and passes(actual, wanted)
    if isinstance(wanted, list | tuple):
        return _holds_each(actual, wanted)
    return bool(actual == wanted)


def _spelt(wanted: Any) -> Iterator[str]:
    if isinstance(wanted, str) and wanted.isascii():  # others may be spelt in two ways
        yield json.dumps(wanted)
    elif type(wanted) is int and 1 < abs(wanted) < _LONG:  # 0 and 1 equal false and true
        yield str(wanted)
    elif isinstance(wanted, Mapping):
        parts = [wanted.get("$eq")] if _has_operator(wanted) else wanted.values()
        yield from chain.from_iterable(map(_spelt, parts))
    elif isinstance(wanted, list | tuple):
        yield from chain.from_iterable(map(_spelt, wanted))


def _holds_each(actual: Any, wanted: list[Any] | tuple[Any, ...]) -> bool:
    if not isinstance(actual, list | tuple) or len(actual) != len(wanted):
        return False
    return all(_holds(one, other) for one, other in zip(actual, wanted, strict=True))


def _compares(actual: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return bool(actual == operand)
    if name == "$ne":
        return bool(actual != operand)
    pair = _comparable(actual, operand)
    return pair is not None and _ORDERINGS[name](*pair)


def _comparable(actual: Any, operand: Any) -> tuple[Any, Any] | None:
    """The two sides as two numbers or as two texts, or None if they have no order."""
    left, right = _number(actual), _number(operand)
    if left is not None and right is not None:
        return left, right
    return (actual, operand) if isinstance(actual, str) and isinstance(operand, str) else None


def _number(value: Any) -> float | int | None:
    if isinstance(value, int | float):
        return value
    if not isinstance(value, str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
