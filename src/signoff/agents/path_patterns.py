"""Patterns of paths, as models write them: `*.md`, `src/**/[a-m]*.{py,pyi}`."""

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

from signoff.agents.backends.base import FileError, clean

__all__ = ["matching", "naming"]


def matching(pattern: str, base: str) -> Callable[[str], bool]:
    """What tells whether a pattern is for a path below a folder."""
    patterns = _spelt_out(pattern)
    return lambda path: any(_matches(path, base, one) for one in patterns)


def naming(pattern: str, base: str) -> Callable[[str], bool]:
    """The same; a pattern that names no folders is for files in whichever folder."""
    patterns = _spelt_out(pattern)
    return lambda path: any(_is_named(path, base, one) for one in patterns)


def _spelt_out(pattern: str) -> list[str]:
    """A pattern that says `{a,b}` as several that do not."""
    plain, todo = [], [pattern]
    while todo:
        one = todo.pop()
        if (either := _EITHER.search(one)) is None:
            plain.append(one)
        else:
            todo += [one[: either.start()] + choice + one[either.end() :] for choice in either[1].split(",")]
        if len(plain) + len(todo) > _MOST_CHOICES:
            raise FileError(f"The pattern {pattern!r} stands for more than {_MOST_CHOICES} others. Use a simpler one.")
    return plain


_EITHER = re.compile(r"\{([^{},]*(?:,[^{},]*)+)\}")
_MOST_CHOICES = 100


def _matches(path: str, base: str, pattern: str) -> bool:
    """Whether a pattern is for a path below a folder."""
    below = clean(base).rstrip("/") + "/"
    if not path.startswith(below):
        return False
    rest, wanted = path[len(below) :], pattern.lstrip("/")
    if "/" not in wanted:
        return "/" not in rest and fnmatchcase(rest, wanted)
    return _is_path(rest, wanted)


def _is_named(path: str, base: str, pattern: str) -> bool:
    """Whether a file has a name that matches, in whichever folder; or, if the pattern names folders, such a path."""
    return _matches(path, base, pattern) if "/" in pattern else fnmatchcase(PurePosixPath(path).name, pattern)


def _is_path(path: str, pattern: str) -> bool:
    """Whether a pattern is for a path: `**/` is any folders; `*`, `?` and `[a-z]` are inside of one name.

    It is followed part by part, and not tried out: a pattern of many stars would take a regular expression years.
    """
    reached = {0}
    for part in _parts(pattern):
        match part:
            case "**/":
                reached |= {place for place in _behind_slashes(path) if place > min(reached)}
            case "**":
                reached = set(range(min(reached), len(path) + 1))
            case "*":
                reached = {place for start in reached for place in range(start, _end_of_name(path, start) + 1)}
            case _ if _stands_for_one(part):
                ends = ((start, _end_of_name(path, start)) for start in reached)
                reached = {start + 1 for start, end in ends if start < end and fnmatchcase(path[start], part)}
            case _:
                reached = {start + len(part) for start in reached if path.startswith(part, start)}
        if not reached:
            return False
    return len(path) in reached


@lru_cache
def _parts(pattern: str) -> list[str]:
    return [part for part in re.split(rf"(\*\*/|\*\*|\*|{_ONE})", pattern) if part]


_ONE = r"\?|\[!?\]?[^\]/]*\]"
_stands_for_one = re.compile(_ONE).fullmatch
"""Whether a part stands for one character: any, or one of some."""


def _behind_slashes(path: str) -> Iterator[int]:
    return (place for place, sign in enumerate(path, 1) if sign == "/")


def _end_of_name(path: str, start: int) -> int:
    end = path.find("/", start)
    return len(path) if end < 0 else end
