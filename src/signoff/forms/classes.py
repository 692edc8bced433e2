"""Classes as forms: pydantic reads what they are made of, and makes them."""

import json
import sys
from contextlib import suppress
from dataclasses import is_dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, NotRequired, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict, is_typeddict

from signoff._extras import needing
from signoff.constants import MISSING


def adapter_of(form: Any) -> Any:
    """What reads a form, and tells its JSON Schema."""
    try:
        return _cached_adapter(form)
    except TypeError:  # a form that cannot be hashed
        return pydantic().TypeAdapter(_portable(form))


@lru_cache(maxsize=256)
def _cached_adapter(form: Any) -> Any:
    return pydantic().TypeAdapter(_portable(form))


def _portable(form: Any) -> Any:
    """A form whose TypedDicts pydantic understands: before Python 3.12 those of `typing` know too little."""
    if sys.version_info >= (3, 12):
        return form
    if is_typeddict(form) and type(form).__module__ == "typing":
        hints = {name: _portable(hint) for name, hint in get_type_hints(form, include_extras=True).items()}
        keys = {name: hint if name in form.__required_keys__ else NotRequired[hint] for name, hint in hints.items()}
        portable: Any = TypedDict(form.__name__, keys)  # type: ignore[misc]
        portable.__doc__ = form.__doc__
        return portable
    args = get_args(form)
    parts = tuple(map(_portable, args))
    return form if parts == args else get_origin(form)[parts]


def completed(form: Any, typed: Any) -> Any:
    """The data of a typed answer, with what its form has added; MISSING if the form would not make the same of it."""
    for told in (_as_written, _as_read):
        with suppress(ValueError, TypeError, pydantic().PydanticUserError):
            adapter = adapter_of(form)
            data = told(adapter, typed)
            if adapter.validate_json(json.dumps(data)) == typed:
                return data
    return MISSING


def _as_written(adapter: Any, typed: Any) -> Any:
    return adapter.dump_python(typed, mode="json", by_alias=True)


def _as_read(adapter: Any, typed: Any) -> Any:
    """The data of models whose fields are read by other names than they are written by."""
    return _renamed(typed, adapter.dump_python(typed, mode="json", by_alias=False))


def _renamed(typed: Any, data: Any) -> Any:
    if isinstance(typed, list | tuple) and isinstance(data, list):
        return [_renamed(one, told) for one, told in zip(typed, data, strict=True)]
    if isinstance(typed, dict) and isinstance(data, dict):
        return {key: _renamed(one, told) for one, (key, told) in zip(typed.values(), data.items(), strict=True)}
    if not (isinstance(typed, pydantic().BaseModel) and isinstance(data, dict)):
        return data
    fields = {name: field for name, field in type(typed).model_fields.items() if name in data}
    known = {_name_to_read(name, field): _renamed(getattr(typed, name), data[name]) for name, field in fields.items()}
    return {**{name: data[name] for name in typed.model_extra or ()}, **known}


def _name_to_read(name: str, field: Any) -> str:
    """What a field is called in data: the first of its aliases, if it has some."""
    alias = field.validation_alias
    first = alias.choices[0] if isinstance(alias, pydantic().AliasChoices) else alias
    return first if isinstance(first, str) else name


def has_makers(form: Any) -> bool:
    """Whether a class has defaults that functions make, such as an id."""
    try:
        return _cached_has_makers(form)
    except TypeError:  # a form that cannot be hashed
        return _has_maker(adapter_of(form).core_schema)


@lru_cache(maxsize=256)
def _cached_has_makers(form: Any) -> bool:
    return _has_maker(adapter_of(form).core_schema)


def _has_maker(schema: Any) -> bool:
    """Whether there is one in a schema of pydantic's. What makes an empty list, say, makes the same each time."""
    if isinstance(schema, list | tuple):
        return any(map(_has_maker, schema))
    if not isinstance(schema, dict):
        return False
    factory = schema.get("default_factory")
    is_maker = factory is not None and getattr(factory, "__module__", "") != "builtins"
    return is_maker or any(map(_has_maker, schema.values()))


def as_data(answer: Any) -> Any:
    """An answer with data in place of what is an instance of a class, if the form can make the same of it again."""
    try:
        return _as_data(answer)
    except RecursionError:  # it holds itself, and is refused where it is checked
        return answer


def _as_data(answer: Any) -> Any:
    if isinstance(answer, list):
        return [_as_data(one) for one in answer]
    if isinstance(answer, dict):
        return {key: _as_data(one) for key, one in answer.items()}
    kind = type(answer)
    is_named_tuple = isinstance(answer, tuple) and hasattr(kind, "_fields")
    if not (is_dataclass(kind) or is_named_tuple or isinstance(answer, Enum | pydantic().BaseModel)):
        return answer
    data = completed(kind, answer)
    return answer if data is MISSING else data


def pydantic() -> Any:
    """The package, which is not needed before a form is a class."""
    with needing("forms", "response_schema"):
        import pydantic
    return pydantic
