"""Reading a part of a JSON Schema: what it refers to, what it may be, and whether it may be nothing."""

from collections.abc import Mapping
from typing import Any

from signoff.forms import part_at


def resolved(part: Any, root: Mapping[str, Any]) -> tuple[Mapping[str, Any], bool]:
    """A part of a schema, with what it refers to in its place, and of `X or nothing` X; whether it may be nothing."""
    schema, is_nullable = _as_schema(part), False
    followed: set[str] = set()
    while True:
        options = [_as_schema(one) for one in schema.get("anyOf", ())]
        some = [one for one in options if one.get("type") != "null"]
        is_nullable = is_nullable or len(some) < len(options)
        if "$ref" in schema:
            place = str(schema["$ref"])
            # What refers to itself says nothing, so that it is typed like anything else.
            found = {} if place in followed else _as_schema(part_at(place, root))
            followed.add(place)
            schema = {**found, **_without(schema, "$ref")}
        elif len(some) == 1:
            schema = {**some[0], **_without(schema, "anyOf")}
        else:
            return schema, is_nullable


def values_of(schema: Mapping[str, Any]) -> list[Any]:
    """What a field may be, if that is one of a few. Even where it is one only, nobody but a person says so."""
    if "const" in schema:
        return [schema["const"]]
    return list(schema.get("enum", (True, False) if schema.get("type") == "boolean" else ()))


def _as_schema(part: Any) -> Mapping[str, Any]:
    """A part may be a bare yes, too."""
    return part if isinstance(part, Mapping) else {}


def _without(schema: Mapping[str, Any], keyword: str) -> Mapping[str, Any]:
    return {name: value for name, value in schema.items() if name != keyword}
