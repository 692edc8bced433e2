"""JSON Schemas: a part that is referred to, and what of them can be read here."""

import re
from typing import Any
from urllib.parse import unquote

__all__ = ["part_at", "readable"]


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
