"""Changes of files in a question, as a unified diff."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from signoff._diffs import unified

_PAIRS = (("before", "after"), ("old_string", "new_string"), ("old_str", "new_str"), ("old", "new"))
_PATHS = ("path", "file_path", "file", "filename")
_TEXTS = ("content", "text", "file_text")


LARGEST = 1_000_000
"""How many bytes a file may have to be compared with."""


class Change(NamedTuple):
    """The change of a file."""

    diff: str
    told: frozenset[str] = frozenset()
    """The names of the parts that the diff shows, so that they need not be shown beside it; all others do."""


def change_in(value: Any) -> Change | None:
    """The change of a file that a payload, or the arguments of an action, speak of; None if they do not."""
    if not isinstance(value, Mapping):
        return None
    change = next(
        (Change(value[name], frozenset([name])) for name in ("diff", "preview") if is_diff(value.get(name))), None
    )
    change = change or _made_of(value)
    return change if change is not None and change.diff else None


def _made_of(value: Mapping[str, Any]) -> Change | None:
    path = _name_of_text(value, _PATHS)
    where = () if path is None else (path,)
    for before, after in _PAIRS:
        if isinstance(value.get(before), str) and isinstance(value.get(after), str):
            name = value[path] if path is not None else "text"
            return Change(unified(name, value[before], value[after]), frozenset([*where, before, after]))
    content = _name_of_text(value, _TEXTS)
    if path is None or content is None:
        return None
    return Change(unified(value[path], _there_now(value[path]), value[content]), frozenset([path, content]))


def _name_of_text(value: Mapping[str, Any], names: Sequence[str]) -> str | None:
    return next((name for name in names if isinstance(value.get(name), str)), None)


def is_diff(text: Any) -> bool:
    """Whether something looks like a unified diff."""
    return isinstance(text, str) and any(line.startswith("@@ ") for line in text.splitlines())


def _there_now(path: str) -> str:
    """The file as it is, if it is one here. The path comes from a model: a device would be read without end."""
    try:
        file = Path(path)
        is_small = file.is_file() and file.stat().st_size <= LARGEST
        return file.read_bytes().decode("utf-8") if is_small else ""
    except (OSError, ValueError):
        return ""
