"""Paths into a value, and the texts found there: what the fields of an index name.

title            a key                     notes[0], notes[-1]   an element of a list
author.name      a key inside a key        notes[*].text         every element
*                every value               {title,author.name}   several paths
$                the whole value as JSON
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

__all__ = ["are_paths", "get_text_at_path", "tokenize_path"]

_CLOSING = {"[": "]", "{": "}"}


def are_paths(fields: object) -> bool:
    """Whether something is a list of paths."""
    return isinstance(fields, list | tuple) and all(isinstance(path, str) for path in fields)


def tokenize_path(path: str) -> list[str]:
    """The parts of a path, in order: "a.b[*]" has "a", "b" and "[*]"."""
    tokens: list[str] = []
    start = 0
    while start < len(path):
        end = _token_end(path, start)
        if path[start:end]:
            tokens.append(path[start:end])
        start = end + 1 if path[end : end + 1] == "." else end
    return tokens


def get_text_at_path(obj: Any, path: str | Sequence[str]) -> list[str]:
    """The texts that a path, or its tokens, leads to; none where it leads nowhere."""
    if not path or path == "$":
        return [_as_json(obj)]
    tokens = tokenize_path(path) if isinstance(path, str) else list(path)
    return list(_texts(obj, tokens))


def _token_end(path: str, start: int) -> int:
    """Where the token ends that begins at `start`: with its bracket, or before the next sign."""
    if path[start] in _CLOSING:
        return _closing_at(path, start) + 1
    ends = (path.find(sign, start) for sign in ".[{")
    return min((end for end in ends if end >= 0), default=len(path))


def _closing_at(path: str, start: int) -> int:
    opening, closing, depth = path[start], _CLOSING[path[start]], 0
    for at in range(start, len(path)):
        depth += (path[at] == opening) - (path[at] == closing)
        if depth == 0:
            return at
    return len(path)


def _texts(value: Any, tokens: Sequence[str]) -> Iterator[str]:
    if not tokens:
        yield from _as_text(value)
        return
    for inner, rest in _followed(value, tokens[0], tokens[1:]):
        yield from _texts(inner, rest)


def _followed(value: Any, token: str, rest: Sequence[str]) -> list[tuple[Any, Sequence[str]]]:
    """Where one token leads, with what is left of the path from there."""
    if token.startswith("["):
        return [(element, rest) for element in _elements(value, token[1:-1])]
    if token.startswith("{"):
        paths = (tokenize_path(part.strip()) for part in token[1:-1].split(","))
        return [(value, [*path, *rest]) for path in paths if path]
    if token == "*":
        return [(inner, rest) for inner in _members(value)]
    return [(value[token], rest)] if isinstance(value, dict) and token in value else []


def _elements(value: Any, index: str) -> list[Any]:
    if not isinstance(value, list):
        return []
    if index == "*":
        return value
    try:
        return [value[int(index)]]
    except (ValueError, IndexError):
        return []


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _as_text(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, bool | int | float):
        return [str(value)]
    return [_as_json(value)] if isinstance(value, dict | list) else []


def _as_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
