"""JSON Schemas: what of them can be read here, what they refer to, and whether an answer fits."""

import json
import re
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, NamedTuple
from urllib.parse import unquote

from signoff._extras import needing
from signoff.errors import InvalidInput
from signoff.forms.classes import adapter_of

_NOTES = frozenset(
    ("title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "definitions")
)
"""Keywords of JSON Schema that say something to people."""


class _Checks(NamedTuple):
    """What checks the answers to a schema."""

    validator: Any
    is_whole: bool
    """Whether it checks all: patterns that only others can read are left to these."""


def check_asked(schema: dict[str, Any]) -> None:
    """Refuse a schema that is none, or by which a question would take any answer."""
    checks = _checks(schema)
    _check_keywords(schema, checks.validator.VALIDATORS)
    _check_patterns(schema, checks)


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


def part_at(ref: str, schema: Any) -> Any:
    """The part of a schema that a reference names. What is elsewhere, or nowhere, may be anything."""
    document, *names = unquote(ref).split("/")
    part = schema if document == "#" else {}
    for name in names:
        name = name.replace("~1", "/").replace("~0", "~")
        try:
            part = part[int(name)] if isinstance(part, list) else part[name]
        except (LookupError, TypeError, ValueError):
            return {}
    return part


def _plain(answer: Any) -> Any:
    """An answer as JSON has it."""
    from pydantic_core import to_jsonable_python

    return to_jsonable_python(answer, fallback=repr)


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
    with needing("forms", "response_schema"):
        from jsonschema import SchemaError
        from jsonschema.validators import validator_for
        from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
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


def readable(schema: Any) -> Any:
    """A schema without the patterns that only others can read: pydantic and JavaScript know `\\p{L}`."""
    if isinstance(schema, list):
        return [readable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: readable(part) for key, part in schema.items() if key != "pattern" or _is_readable(part)}


def _is_readable(pattern: Any) -> bool:
    try:
        re.compile(pattern)
    except re.error:
        return False
    except TypeError:
        pass  # it is no pattern, but an argument of that name
    return True
