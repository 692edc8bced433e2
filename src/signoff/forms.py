"""Forms: what an answer must look like, published as JSON Schema and checked before the answer is stored."""

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, is_dataclass
from enum import Enum
from functools import lru_cache, partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple, NotRequired, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict, is_typeddict

from signoff._reprs import repr_of
from signoff._schemas import readable
from signoff.constants import MISSING
from signoff.errors import InvalidAnswer, InvalidInput, MissingExtra

__all__ = [
    "Form",
    "adapter_of",
    "as_data",
    "completed",
    "filled_in",
    "makes_values",
    "misstated",
    "published",
    "refusal",
]


_NOTES = frozenset(
    ("title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "definitions")
)
"""Keywords of JSON Schema that say something to people."""


@dataclass(frozen=True, slots=True)
class Form:
    """A form that is its own JSON Schema, with a check of what no schema can say."""

    schema: dict[str, Any]
    check: Callable[[Any], None]
    """Raises a ValueError that says what is wrong with an answer that fits the schema."""


def published(form: Any) -> dict[str, Any]:
    """The JSON Schema of a form: a pydantic model, TypedDict, dataclass, plain type, or a JSON Schema itself."""
    if isinstance(form, Form):
        return form.schema
    if isinstance(form, dict):
        # Only as it is asked: an older program may have asked so, and its question has to be answered.
        checks = _checks(form)
        _check_keywords(form, checks.validator.VALIDATORS)
        _check_patterns(form, checks)
        return form
    _check_kind(form)
    try:
        schema: dict[str, Any] = adapter_of(form).json_schema()
    except _pydantic().PydanticUserError as error:
        raise InvalidInput(
            f"response_schema={form!r} cannot be published as JSON Schema: {error.message}. Use a pydantic model, "
            "a TypedDict, a dataclass, a plain type, or a JSON Schema."
        ) from error
    return schema


def _check_kind(form: Any) -> None:
    """Refuse what is no type, though pydantic may make something of it."""
    if isinstance(form, str):
        raise InvalidInput(f"response_schema={form!r} is a text. Give the type itself, or a JSON Schema as a dict.")
    if isinstance(form, list | tuple | set):
        raise InvalidInput(f'response_schema={form!r} is no type. For one of these, give {{"enum": [...]}}.')
    if isinstance(form, FunctionType | BuiltinFunctionType | MethodType | partial):
        raise InvalidInput(
            f"response_schema={form!r} is a function. Give the type of the answer; what no type can say, check in the "
            "node, and ask again."
        )
    if not isinstance(form, type) and (is_dataclass(form) or isinstance(form, _pydantic().BaseModel)):
        raise InvalidInput(f"response_schema={form!r} is an object. Give its class: {type(form).__name__}.")


def refusal(schema: dict[str, Any], answer: Any, part: dict[str, Any] | None = None) -> str | None:
    """Why an answer does not fit a published form, or what is given for a part of it that part; None if it does."""
    validator = _checks(schema).validator
    if part is not None:
        validator = validator.evolve(schema=readable(part))
    try:
        error = next(validator.iter_errors(_plain(answer)), None)
    except (ValueError, OverflowError) as unshown:  # a number of thousands of digits, or infinity
        return f"answer: {unshown}"
    except RecursionError:
        return "answer: it is nested too deep, or its form refers to itself without end"
    except _unresolvable() as lost:
        return f"answer: its form refers to what is not there: {lost}"
    if error is None:
        return None
    place = "".join(f"[{part!r}]" for part in error.absolute_path)
    fields = error.schema.get("required") if error.validator == "type" and isinstance(error.schema, dict) else None
    mend = f" (give a dict with {', '.join(map(repr, fields))})" if fields else ""
    return f"answer{place}: {error.message}{mend}"


def misstated(schema: dict[str, Any]) -> str | None:
    """Why something is no JSON Schema; None if it is one."""
    try:
        _checks(schema)
    except InvalidInput as error:
        return getattr(error.__cause__, "message", str(error))
    return None


def filled_in(form: Any, answer: Any, published: dict[str, Any] | None) -> Any:
    """The answer as the type of the form; what only the type itself can find wrong is refused here.

    An answer to a JSON Schema was checked before, if it is the one that was published with the question.
    """
    if isinstance(form, dict | Form):
        if (wrong := _misfit(form, answer, published)) is not None:
            raise _refused(answer, wrong)
        return answer
    adapter = adapter_of(form)
    try:
        return adapter.validate_python(answer)
    except _pydantic().ValidationError as error:
        with suppress(ValueError, TypeError):  # a strict form takes a date as a text only where it reads JSON
            return adapter.validate_json(json.dumps(answer))
        first = error.errors(include_url=False)[0]
        place = "".join(f"[{part!r}]" for part in first["loc"])
        raise _refused(answer, f"answer{place}: {first['msg']}") from error
    except Exception as error:  # of a check of the user's: a wrong answer makes it fail, whatever it says of that
        raise _refused(answer, f"answer: {repr_of(error)}") from error


def completed(form: Any, typed: Any) -> Any:
    """The data of a typed answer, with what its form has added; MISSING if the form would not make the same of it."""
    adapter = adapter_of(form)
    with suppress(ValueError, TypeError, _pydantic().PydanticUserError):
        data = adapter.dump_python(typed, mode="json", by_alias=True)
        if adapter.validate_json(json.dumps(data)) == typed:
            return data
    return MISSING


def makes_values(form: Any) -> bool:
    """Whether a form has defaults that functions make, such as an id: each time that it is filled in, another one."""
    if isinstance(form, dict | Form):
        return False
    try:
        return _cached_makes_values(form)
    except TypeError:  # a form that cannot be hashed
        return _has_factory(adapter_of(form).core_schema)


@lru_cache(maxsize=256)
def _cached_makes_values(form: Any) -> bool:
    return _has_factory(adapter_of(form).core_schema)


def _has_factory(schema: Any) -> bool:
    """Whether there is one in a schema of pydantic's. What makes an empty list, say, makes the same each time."""
    if isinstance(schema, list | tuple):
        return any(map(_has_factory, schema))
    if not isinstance(schema, dict):
        return False
    factory = schema.get("default_factory")
    is_maker = factory is not None and getattr(factory, "__module__", "") != "builtins"
    return is_maker or any(map(_has_factory, schema.values()))


def as_data(answer: Any) -> Any:
    """An answer with data in place of what is an instance of a class, if the form can make the same of it again."""
    if isinstance(answer, list):
        return [as_data(one) for one in answer]
    kind = type(answer)
    if not (is_dataclass(kind) or isinstance(answer, Enum | _pydantic().BaseModel)):
        return answer
    with suppress(ValueError, TypeError, _pydantic().PydanticUserError):
        adapter = adapter_of(kind)
        data = adapter.dump_python(answer, mode="json", by_alias=True)
        return data if adapter.validate_json(json.dumps(data)) == answer else answer
    return answer


def _misfit(form: dict[str, Any] | Form, answer: Any, published: dict[str, Any] | None) -> str | None:
    schema = form.schema if isinstance(form, Form) else form
    wrong = None if schema == published else refusal(schema, answer)
    if wrong is None and isinstance(form, Form):
        try:
            form.check(answer)
        except ValueError as error:
            wrong = f"answer: {error}"
        except Exception as error:
            wrong = f"answer: {repr_of(error)}"
    return wrong


def _refused(answer: Any, why: str) -> InvalidAnswer:
    return InvalidAnswer(f"The answer {repr_of(answer)} was refused: {why}. The question is still open.")


def _plain(answer: Any) -> Any:
    """An answer as JSON has it."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(answer, fallback=repr)


def adapter_of(form: Any) -> Any:
    """What reads a form, and tells its JSON Schema."""
    try:
        return _cached_adapter(form)
    except TypeError:  # a form that cannot be hashed
        return _pydantic().TypeAdapter(_portable(form))


@lru_cache(maxsize=256)
def _cached_adapter(form: Any) -> Any:
    return _pydantic().TypeAdapter(_portable(form))


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


def _pydantic() -> Any:
    try:
        import pydantic
    except ImportError as error:
        raise _missing() from error
    return pydantic


class _Checks(NamedTuple):
    """What checks the answers to a schema."""

    validator: Any
    is_whole: bool
    """Whether it checks all: patterns that only others can read are left to these."""


def _checks(schema: dict[str, Any]) -> _Checks:
    """What checks answers. To check the schema itself takes long, and one is mostly used for many questions."""
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError):  # not JSON as it stands
        return _new_checks(schema)
    return _cached_checks(text)


@lru_cache(maxsize=256)
def _cached_checks(schema: str) -> _Checks:
    return _new_checks(json.loads(schema))


def _new_checks(schema: dict[str, Any]) -> _Checks:
    try:
        from jsonschema import SchemaError
        from jsonschema.validators import validator_for
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    except ImportError as error:
        raise _missing() from error
    read = readable(schema)
    kind = validator_for(read)
    try:
        kind.check_schema(read)
    except SchemaError as error:
        raise InvalidInput(f"response_schema is not a JSON Schema: {error.message}.") from error
    # Nothing is fetched that a schema may refer to elsewhere.
    validator = kind(read, registry=REGISTRY, format_checker=_format_checker())
    return _Checks(validator, is_whole=read == schema)


@lru_cache(maxsize=1)
def _format_checker() -> Any:
    """What checks the texts of answers for what JSON Schema has no type for: it takes all that pydantic does."""
    from datetime import date, datetime, time, timedelta
    from ipaddress import IPv4Address, IPv6Address
    from uuid import UUID

    from jsonschema import FormatChecker

    days = {"date": date, "date-time": datetime, "time": time, "duration": timedelta}
    kinds: dict[str, type] = {**days, "ipv4": IPv4Address, "ipv6": IPv6Address, "uuid": UUID}
    checker = FormatChecker(formats=())
    for name, kind in kinds.items():
        checker.checks(name, raises=ValueError)(partial(_has_format, kind))
    return checker


def _has_format(kind: type, answer: Any) -> bool:
    if isinstance(answer, str):
        adapter_of(kind).validate_python(answer)
    return True


def _unresolvable() -> type[Exception]:
    from referencing.exceptions import Unresolvable

    return Unresolvable


def _check_keywords(schema: dict[str, Any], known: Mapping[str, Any]) -> None:
    """Refuse names of fields where keywords of JSON Schema stand: every answer would fit."""
    if schema and not any(name in known or name in _NOTES or name.startswith(("$", "x-")) for name in map(str, schema)):
        raise InvalidInput(
            f"response_schema={schema!r} has no keyword of JSON Schema, so every answer would fit. For an answer with "
            'these fields, give {"type": "object", "properties": {...}, "required": [...]}, or a TypedDict.'
        )


def _check_patterns(schema: dict[str, Any], checks: _Checks) -> None:
    """Refuse patterns by which no answer would be checked; those of a class are read by pydantic."""
    if not checks.is_whole:
        raise InvalidInput(
            f"response_schema={schema!r} has a pattern that Python cannot read, so nothing would be checked by it. "
            "Give one that re.compile() takes, or a pydantic model, which reads its own."
        )


def _missing() -> MissingExtra:
    return MissingExtra('response_schema needs pydantic and jsonschema. Install them: pip install "signoff[forms]"')
