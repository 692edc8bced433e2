"""Defaults that a function makes, as of an id or a time: made once for a thread, and from then on part of its state.

A type makes them for each of its objects, and a node gets a new object whenever it runs: what a person has approved
would have another id than what is done then.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from signoff.channels import BaseChannel, LastValue
from signoff.constants import MISSING
from signoff.graph.schema import Schema, validator_of
from signoff.pregel.typing import is_pydantic

Make = Callable[[], Any]


def made_once(schemas: Sequence[Schema], channels: Mapping[str, BaseChannel]) -> dict[str, Make]:
    """What makes the values of such fields, by their keys; or MISSING, for what is left to the type."""
    return {
        key: partial(_made, schema, key, factory)
        for schema in reversed(schemas)  # what the state itself says comes first
        for key, factory in _factories(schema.type)
        if type(channels.get(key)) is LastValue and not _is_constant(factory)
    }


def _factories(type_: Any) -> Iterator[tuple[str, Make]]:
    if is_pydantic(type_):
        for name, field in type_.model_fields.items():
            if field.default_factory is not None and not field.default_factory_takes_validated_data:
                yield name, field.default_factory
    elif dataclasses.is_dataclass(type_):
        for one in dataclasses.fields(type_):
            if one.default_factory is not dataclasses.MISSING:
                yield one.name, one.default_factory


def _is_constant(factory: Make) -> bool:
    """Whether a function is seen to make the same each time: `list`, or a lambda that uses no names."""
    code = getattr(factory, "__code__", None)
    return getattr(factory, "__module__", "") == "builtins" if code is None else not code.co_names + code.co_freevars


def _made(schema: Schema, key: str, factory: Make) -> Any:
    value = factory()
    is_new = _is_plain(value) or (_is_whole(value) and value != factory())
    return value if is_new and _fits(schema.type, key, value) else MISSING


def _is_plain(value: Any) -> bool:
    """Whether a value is a text, a number, an id, a time."""
    from datetime import date, time, timedelta
    from decimal import Decimal
    from uuid import UUID

    return isinstance(value, str | bytes | int | float | Decimal | UUID | date | time | timedelta)


def _is_whole(value: Any) -> bool:
    """Whether a value is made of plain ones alone, so that it can be stored, and compared with another one."""
    if value is None or _is_plain(value):
        return True
    if type(value) in (list, tuple, set, frozenset):
        return all(map(_is_whole, value))
    if type(value) is dict:
        return all(map(_is_whole, (*value, *value.values())))
    if "<" in type(value).__qualname__:
        return False  # of a class that nobody could find again
    if dataclasses.is_dataclass(value):
        return all(_is_whole(getattr(value, one.name)) for one in dataclasses.fields(value))
    return is_pydantic(type(value)) and _is_whole(vars(value))


def _fits(type_: Any, key: str, value: Any) -> bool:
    """Whether a pydantic type takes what it makes itself, without a look: a UUID for a text, say."""
    if not is_pydantic(type_):
        return True
    from pydantic import ValidationError

    try:
        validator_of(type_)({key: value})
    except ValidationError as error:
        return all(detail["type"] == "missing" or not detail["loc"] for detail in error.errors(include_url=False))
    except Exception:  # what checks the whole object is not made for a part
        return True
    return True
