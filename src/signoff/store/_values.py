"""Values of items, written down: as JSON that comes back equal."""

import json
from collections.abc import Mapping
from typing import Any

from signoff.errors import NotStorable

__all__ = ["encoded"]


def encoded(value: Mapping[str, Any], key: str) -> str:
    """A value as JSON that comes back equal, or an error that names the field that would not."""
    _check(value, "value", key)
    text = json.dumps(value if isinstance(value, dict) else dict(value), ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair is no text for a database, but can be spelt out in JSON
        return json.dumps(dict(value))
    return text


def _check(value: object, path: str, key: str) -> None:
    if isinstance(value, Mapping) and (path == "value" or isinstance(value, dict)):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise NotStorable(f"{path} of {key!r} has the key {name!r}: use strings as keys of a dict.")
            _check(inner, f"{path}[{name!r}]", key)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            _check(inner, f"{path}[{at}]", key)
    elif value is not None and not isinstance(value, str | int | float):
        raise NotStorable(
            f"{path} of {key!r} is a {type(value).__name__}, which would not come back equal from JSON: "
            "store a dict, list, string, number, bool or None."
        )
