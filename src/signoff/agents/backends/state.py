"""Files in the state of a thread: nothing outside is touched, and every checkpoint has its own version of them."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired

from signoff.agents.backends.base import FileError, clean
from signoff.agents.middleware.state import AgentState
from signoff.errors import InvalidUpdateError

__all__ = ["FilesState", "StateBackend"]


def merge_files(known: dict[str, str] | None, changes: Mapping[str, Any]) -> dict[str, str]:
    """The files after a change. An edit is kept as what it replaces, so that two of one step both count."""
    merged = dict(known or {})
    for path, change in changes.items():
        if change is None:
            merged.pop(path, None)
        elif isinstance(change, str):
            merged[path] = change
        elif _has(change, "edit"):
            merged[path] = _edited(merged, path, *change["edit"])
        elif _has(change, "was", "is"):
            _bring(merged, path, change["was"], change["is"])
        else:
            raise InvalidUpdateError(
                f"The file {path!r} is {change!r}. Give its text: {{'files': {{{path!r}: text}}}}."
            )
    return merged


def _has(change: Any, *keys: str) -> bool:
    return isinstance(change, Mapping) and all(key in change for key in keys)


def _edited(files: Mapping[str, str], path: str, old: str, new: str, everywhere: bool) -> str:
    try:
        return replaced(files.get(path, ""), old, new, everywhere)
    except FileError as error:
        raise InvalidUpdateError(
            f"Two changes of one step are about the same part of {path!r}, and one of them would be lost: {error} "
            "Write the file as it is meant to be with update_state(config, {'files': {path: text}})."
        ) from error


def _bring(files: dict[str, str], path: str, was: str | None, text: str | None) -> None:
    """Put a file where it belongs that was changed elsewhere; beside the one that is there, if that changed too.

    One that was deleted elsewhere goes, unless it has changed.
    """
    if text is None:
        if files.get(path) == was:
            files.pop(path, None)
        return
    place, number = path, 1
    while place in files and files[place] not in (was, text):
        place, number, was = f"{path}.{number}", number + 1, None
    files[place] = text


def changed_files(before: Mapping[str, str] | None, after: Mapping[str, str] | None) -> dict[str, Any]:
    """What somebody has changed in files, or deleted, as changes that do not undo those of others."""
    known = before or {}
    if after is None:
        return {}
    paths = [*after, *(path for path in known if path not in after)]
    pairs = ((path, known.get(path), after.get(path)) for path in paths)
    return {path: {"was": was, "is": text} for path, was, text in pairs if text != was}


def keeps_files(agent: Any) -> bool:
    """Whether the files of an agent are kept as here, so that what it does not have any more was deleted."""
    channel = getattr(getattr(agent, "program", None), "channels", {}).get("files")
    return getattr(channel, "operator", None) is merge_files


def replaced(text: str, old: str, new: str, everywhere: bool) -> str:
    """A text with one place of it replaced, or all."""
    if old not in text:
        raise FileError("The text to replace is not there any more.")
    return text.replace(old, new, -1 if everywhere else 1)


class FilesState(AgentState):
    """The state of an agent with virtual files."""

    files: NotRequired[Annotated[dict[str, Any], merge_files]]
    """From a path to the text of the file."""


class StateBackend:
    """Keeps files under `files` in the state."""

    is_virtual = True

    def open(self, state: Any) -> "StateFiles":
        return StateFiles(state.get("files") or {})


class StateFiles:
    """The files of a state."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files

    def paths(self) -> Iterator[str]:
        yield from sorted(self.files)

    def has(self, path: str) -> bool:
        return clean(path) in self.files

    def read(self, path: str) -> str:
        if not self.has(path):
            raise FileError(f"There is no file {path!r}. See what there is with ls or glob.")
        return self.files[clean(path)]

    def write(self, path: str, text: str) -> dict[str, Any] | None:
        return {"files": {clean(path): text}}

    def edit(self, path: str, old: str, new: str, *, everywhere: bool) -> dict[str, Any] | None:
        return {"files": {clean(path): {"edit": [old, new, everywhere]}}}
