"""Inlining: a JSON Schema without references, as a form is shown and checked by."""

from itertools import count
from typing import Any

from signoff.forms import part_at

__all__ = ["inlined"]

_MOST_PLACES = 1000
_OF_DOCUMENTS = ("$defs", "definitions", "$schema", "$id", "$anchor")
"""What a schema has as a document of its own."""
_VALUES = ("const", "enum", "default", "example", "examples")
"""Where no schema is, but what is meant by it."""
_BY_NAME = ("properties", "patternProperties", "dependentSchemas")
"""Where schemas have names."""
_NOTES = {"title", "description", "default", "examples", "example", "deprecated", "readOnly", "writeOnly", "$comment"}
"""What is said for people."""


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with what it refers to in the places where it does; one that holds itself may be anything.

    So may what is referred to in more places than a person could look at: of types that hold each other, that is.
    """
    places = count()

    def resolve(part: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(part, list):
            return [resolve(item, inside) for item in part]
        if not isinstance(part, dict):
            return part
        known = {key: below(key, value, inside) for key, value in part.items() if key not in _OF_DOCUMENTS}
        own = _in_todays_words(known)
        if not isinstance(ref := own.get("$ref"), str):
            return own
        del own["$ref"]
        is_open = ref in inside or next(places) >= _MOST_PLACES
        return _together({} if is_open else resolve(part_at(ref, schema), (*inside, ref)), own)

    def below(key: str, value: Any, inside: tuple[str, ...]) -> Any:
        if key in _BY_NAME and isinstance(value, dict):
            return {name: resolve(one, inside) for name, one in value.items()}
        return value if key in _VALUES else resolve(value, inside)

    resolved: dict[str, Any] = resolve(schema, ("#",))
    return resolved


def _in_todays_words(part: dict[str, Any]) -> dict[str, Any]:
    """A schema that may be of an older draft, as many servers have them: a tuple, or a limit that is none itself."""
    today = dict(part)
    if isinstance(part.get("items"), list):
        today |= {"prefixItems": part["items"], "items": today.pop("additionalItems", True)}
    for word, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if isinstance(part.get(word), bool) and today.pop(word) and limit in part:
            today[word] = today.pop(limit)
    return today


def _together(found: Any, own: dict[str, Any]) -> Any:
    """What is referred to, and what is said beside it; notes for people take the place of those that are there."""
    if isinstance(found, dict) and own.keys() <= _NOTES:
        return {**found, **own}
    return {"allOf": [found], **own}
