"""Settings at the head of a mermaid text, as YAML."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

from signoff.errors import InvalidInput

__all__ = ["frontmatter"]

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_<>()./,;+*\\%$'\"?!&@^|~=#-]*( [A-Za-z0-9_<>()./,;+*%$'-]+)*")
_LENGTH = re.compile(r"[0-9]+(px|pt|em|rem)")
_OTHER_MEANING = frozenset({"true", "false", "yes", "no", "on", "off", "null"})


def frontmatter(settings: Mapping[str, Any]) -> str:
    """The settings between two lines of dashes."""
    return "\n".join(["---", *_mapping(settings), "---", ""])


def _mapping(settings: Mapping[str, Any]) -> Iterator[str]:
    for key in settings:
        if not isinstance(key, str):
            raise InvalidInput(f"frontmatter_config has the key {key!r}. Keys must be texts.")
    for key in sorted(settings):
        yield from _entry(_text(key) + ":", settings[key])


def _entry(head: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        yield head
        yield from ("  " + line for line in _mapping(value))
    elif _is_sequence(value) and value:
        yield head
        yield from _items(value)
    else:
        yield f"{head} {_scalar(value)}"


def _items(values: Sequence[Any]) -> Iterator[str]:
    for value in values:
        lines = _nested(value)
        yield "- " + next(lines)
        yield from ("  " + line for line in lines)


def _nested(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        return _mapping(value)
    if _is_sequence(value) and value:
        return _items(value)
    return iter([_scalar(value)])


def _is_sequence(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _scalar(value: Any) -> str:
    match value:
        case {}:
            return "{}"
        case list() | tuple():
            return "[]"
        case str():
            return _text(value)
        case None | bool() | int():
            return json.dumps(value)
        case float() if isfinite(value):
            return re.sub(r"^([^.]*)e", r"\1.0e", repr(value))  # to YAML, 1e20 is a text, but 1.0e20 a number
    raise InvalidInput(
        f"frontmatter_config has {value!r}, which is no YAML setting. Use texts, numbers, True, False, None, "
        "lists and dicts of them."
    )


def _text(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        return '"' + "".join(map(_escaped, text)) + '"'
    if (_PLAIN.fullmatch(text) or _LENGTH.fullmatch(text)) and text.lower() not in _OTHER_MEANING:
        return text
    return "'" + text.replace("'", "''") + "'"


def _escaped(character: str) -> str:
    if character.isascii() and character.isprintable():
        return "\\" + character if character in '"\\' else character
    code = ord(character)
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
