"""Changes of files in a question, as a unified diff."""

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PAIRS = (("before", "after"), ("old_string", "new_string"), ("old_str", "new_str"), ("old", "new"))
_PATHS = ("path", "file_path", "file", "filename")
_TEXTS = ("content", "text", "file_text")


def change_in(value: Any) -> str | None:
    """The change of a file that a payload, or the arguments of an action, speak of; None if they do not."""
    if not isinstance(value, Mapping):
        return None
    for name in ("diff", "preview"):
        if isinstance(value.get(name), str) and is_diff(value[name]):
            return str(value[name])
    path = next((value[name] for name in _PATHS if isinstance(value.get(name), str)), None)
    for before, after in _PAIRS:
        if isinstance(value.get(before), str) and isinstance(value.get(after), str):
            return unified(path or "text", value[before], value[after])
    content = next((value[name] for name in _TEXTS if isinstance(value.get(name), str)), None)
    return unified(path, _there_now(path), content) if path is not None and content is not None else None


def is_diff(text: str) -> bool:
    """Whether a text looks like a unified diff."""
    return any(line.startswith("@@ ") for line in text.splitlines())


def unified(path: str, before: str, after: str) -> str:
    """A unified diff of a file."""
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="")
    return "\n".join(lines)


def _there_now(path: str) -> str:
    """The file as it is, if it is one here."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
