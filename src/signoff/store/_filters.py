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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from signoff._reprs import repr_of
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
_NUMBERS = (bool, int, float)
_ALSO_EQUAL: dict[float, tuple[str, ...]] = {0: ("-0", "false"), 1: ("true",)}
_WAYS: tuple[Callable[[str], str], ...] = (json.JSONEncoder(ensure_ascii=False).encode, json.dumps)
"""How names and texts are spelt: as they are, but escaped if half of a surrogate pair is anywhere in the value."""
_LOOKED_FOR = 16
"""How much of a filter a database is told at most: it takes only so much, and that is enough to leave out most."""
_REFUSED_SIGNS = frozenset("'\"`[]{}()$;\\")


def passes(value: Mapping[str, Any], filter: Mapping[str, Any] | None) -> bool:
    """Whether a value has everything that a checked filter asks for."""
    return all(_holds(_field(value, key), wanted) for key, wanted in (filter or {}).items())


def spelt_in(filter: Mapping[str, Any] | None) -> list[list[str]]:
    """What the JSON of a value has in it if the value passes: one text of each list, at least.

    A database can look for that; the rule decides.
    """
    return list(islice(_spelt_fields(filter or {}), _LOOKED_FOR))


def check_filter(filter: object) -> None:
    """Refuse a filter that has a mistake in it, before anything is searched."""
    if filter is None:
        return
    if not isinstance(filter, Mapping):
        raise InvalidInput(f"filter is a dict of fields, such as {{'status': 'open'}}; got {repr_of(filter)}.")
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
            f"A filter cannot have the key {repr_of(key)}: a key is the name of a field or a dotted path, without "
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


def _spelt_fields(fields: Mapping[Any, Any]) -> Iterator[list[str]]:
    for key, wanted in fields.items():
        path = str(key).split(".")
        yield from _spelt(wanted, path if len(path) <= _LOOKED_FOR else ())


def _spelt(wanted: Any, path: Sequence[str] = ()) -> Iterator[list[str]]:
    """How a field may be spelt, by any end of its path; without a path, an element of a list."""
    if isinstance(wanted, Mapping):
        yield from _spelt_equal(wanted.get("$eq"), path) if _has_operator(wanted) else _spelt_fields(wanted)
    elif isinstance(wanted, list | tuple):
        yield from chain.from_iterable(map(_spelt, wanted))
    elif isinstance(wanted, str):
        yield _stored(text for dump in _WAYS for text in _placed([dump(wanted)], path, dump))
    elif type(wanted) in _NUMBERS and (texts := _number_spelt(wanted)) and (path or len(texts) == 1):
        yield _stored(text for dump in _WAYS for text in _placed(texts, path, dump))


def _spelt_equal(operand: Any, path: Sequence[str]) -> Iterator[list[str]]:
    """The same for what a field has to equal: a dict there is a value and no filter, whatever its names look like."""
    return iter(()) if isinstance(operand, Mapping | list | tuple) else _spelt(operand, path)


def _placed(texts: Sequence[str], path: Sequence[str], dump: Callable[[str], str]) -> Iterator[str]:
    """Texts, each behind any name that the field may have: some of the path may be names of dicts around it."""
    if not path:
        return iter(texts)
    names = [dump(".".join(path[start:])) for start in range(len(path))]
    return (f"{name}: {text}" for name in names for text in texts)


def _number_spelt(wanted: float) -> list[str]:
    """What a number that equals this one begins with; nothing if there is no telling."""
    if not abs(wanted) < _LONG:
        return []
    if wanted != int(wanted):
        return [repr(wanted)]
    return [str(int(wanted)), *_ALSO_EQUAL.get(wanted, ())]


def _stored(texts: Iterable[str]) -> list[str]:
    """Those that a database can have in it, each of them once."""
    return [text for text in dict.fromkeys(texts) if _is_encodable(text)]


def _is_encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


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
