"""Unified diffs of texts, for people who decide on a change."""

import difflib
from collections import Counter

_NO_END = "\n\\ No newline at end of file"


def unified(path: str, before: str, after: str) -> str:
    """A unified diff of a file. Where line ends change they are spelled out: they would not be seen else.

    Those in the path are, too: what stands behind them would look like a part of the change.
    """
    path = _shown_path(path)
    usual = _usual_end(before) or _usual_end(after)
    no_end = _NO_END if before and after and _ends(before) != _ends(after) else ""
    old, new = (_shown(text, usual, no_end) for text in (before, after))
    return "\n".join(difflib.unified_diff(old, new, path, path, lineterm=""))


def _shown_path(path: str) -> str:
    return "".join(line + repr(end)[1:-1] for line, end in _lines(path))


def _usual_end(text: str) -> str:
    found = Counter(end for _, end in _lines(text) if end)
    return max(found, key=lambda end: found[end], default="")


def _ends(text: str) -> bool:
    """Whether the last line has an end."""
    return bool(_lines(text)[-1][1])


def _shown(text: str, usual: str, no_end: str) -> list[str]:
    return [line if end == usual else line + (repr(end)[1:-1] or no_end) for line, end in _lines(text)]


def _lines(text: str) -> list[tuple[str, str]]:
    """The lines of a text, each with its end."""
    whole = zip(text.splitlines(), text.splitlines(keepends=True), strict=True)
    return [(line, with_end[len(line) :]) for line, with_end in whole]
