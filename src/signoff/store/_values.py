"""Values of items, written down: as JSON that comes back equal."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from signoff._texts import has_parted_character
from signoff.errors import NotStorable

__all__ = ["encoded", "too_deep"]


_PLAIN = frozenset({type(None), bool, int, float, str})
_TEXT = frozenset({str})
_SHORT = json.JSONEncoder(ensure_ascii=False)


def encoded(value: Mapping[str, Any], key: str) -> str:
    """A value as JSON that comes back equal, or an error that names the field that would not."""
    try:
        if not _is_plain(value):
            _check(value, "value", key)
        text = _SHORT.encode(value if isinstance(value, dict) else dict(value))
    except RecursionError:
        raise too_deep(key) from None
    except ValueError as error:  # a number of thousands of digits
        raise NotStorable(f"The value of {key!r} cannot be written as JSON ({error}).") from error
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair is no text for a database, but can be spelt out in JSON
        if has_parted_character(text):
            _check(value, "value", key)
        return json.dumps(dict(value))
    return text


def too_deep(key: str) -> NotStorable:
    """The refusal of a value that has no end, or hardly one."""
    return NotStorable(f"The value of {key!r} is nested too deep, or contains itself: store it in several items.")


def _is_plain(value: object) -> bool:
    """Whether a value is made of nothing but the very types that JSON has."""
    if type(value) is dict:
        return _TEXT.issuperset(map(type, value)) and _are_plain(value.values())
    return _are_plain(value) if type(value) is list else type(value) in _PLAIN


def _are_plain(values: Collection[object]) -> bool:
    return _PLAIN.issuperset(map(type, values)) or all(map(_is_plain, values))


def _check(value: object, path: str, key: str) -> None:
    if isinstance(value, Mapping) and (path == "value" or isinstance(value, dict)):
        for name, inner in value.items():
            if not isinstance(name, str):
                raise NotStorable(f"{path} of {key!r} has the key {name!r}: use strings as keys of a dict.")
            _check_text(name, f"the key {name!r} in {path}", key)
            _check(inner, f"{path}[{name!r}]", key)
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            _check(inner, f"{path}[{at}]", key)
    elif isinstance(value, str):
        _check_text(value, path, key)
    elif value is not None and not isinstance(value, int | float):
        raise NotStorable(
            f"{path} of {key!r} is a {type(value).__name__}, which would not come back equal from JSON: "
            "store a dict, list, string, number, bool or None."
        )


def _check_text(text: str, path: str, key: str) -> None:
    if has_parted_character(text):
        raise NotStorable(
            f"{path} of {key!r} has the two halves of a character as two: they would come back as one. Put them "
            'together with text.encode("utf-16", "surrogatepass").decode("utf-16").'
        )
