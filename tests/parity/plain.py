"""Observations as plain data: comparable across two libraries, with ids and times masked."""

import dataclasses
import re
from typing import Any

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:\+00:00|Z)")

_FIELDS = {
    "Interrupt": ("value", "id"),
    "Send": ("node", "arg"),
    "Command": ("graph", "update", "goto"),
    "GraphOutput": ("value", "interrupts"),
}
"""What is compared of the types that both libraries have; signoff's may know more."""

_WORDS = {
    "InvalidUpdateError": "an invalid update",
    "GraphRecursionError": "out of steps",
    "EmptyInputError": "nothing to run",
    "GraphDrained": "drained",
    "NodeTimeoutError": "a node timed out",
    "NodeCancelledError": "a node was cancelled",
    "ParentCommand": "a command for a parent",
    "TaskNotFound": "no such task",
    "ValidationError": "not valid for the schema",
    "InvalidAnswer": "RuntimeError",
    "InvalidContext": "TypeError",
    "NeedsAsync": "TypeError",
}
"""What an error says, by the name of its class; any other is known by its nearest builtin class."""


class Boom(Exception):
    """What nodes fail with. Its text is compared, since it is the program's own."""


@dataclasses.dataclass(frozen=True)
class Failure:
    """A call that raised, as a category: the texts of the two libraries differ."""

    category: str


def category(error: BaseException) -> str:
    """A word for an error that is the same in both libraries."""
    if isinstance(error, Boom):
        return f"Boom: {error}"
    for cls in type(error).__mro__:
        if cls.__name__ in _WORDS:
            return _WORDS[cls.__name__]
    return next(cls.__name__ for cls in type(error).__mro__ if cls.__module__ == "builtins" and cls is not object)


def plain(value: Any) -> Any:
    """A value as dicts, lists, tuples and atoms."""
    if value is None or isinstance(value, bool | int | float | str | bytes):
        return value
    if isinstance(value, Failure):
        return f"fails: {value.category}"
    if isinstance(value, BaseException):
        return f"error: {category(value)}"
    if (fields := _fields_of(value)) is not None:
        return {"is": type(value).__name__, **{name: plain(getattr(value, name)) for name in fields}}
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items() if not _is_ours(value, key)}
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    if isinstance(value, set | frozenset):
        return {"is": type(value).__name__, "items": sorted(map(plain, value), key=blank)}
    return f"a {type(value).__name__}"


def _is_ours(value: dict[Any, Any], key: Any) -> bool:
    """Whether a key of metadata tells of questions, that wait or were dropped, or of a branch: only signoff's does."""
    if key in ("discarded", "branched_off"):
        return "source" in value
    return key in ("paused", "questions") and value.get("paused") is True and "source" in value


def _fields_of(value: Any) -> Any:
    name = type(value).__name__
    if name in _FIELDS:
        return _FIELDS[name]
    if hasattr(value, "_fields"):
        return value._fields
    if dataclasses.is_dataclass(value):
        return [field.name for field in dataclasses.fields(value)]
    return getattr(type(value), "model_fields", None)


def blank(value: Any) -> str:
    """A text to sort by that does not depend on ids and times."""
    return _TIME.sub("", _ID.sub("", repr(value)))


def unordered(items: Any) -> list[Any]:
    """Chunks of tasks that run side by side, whose order is chance: sorted."""
    return sorted(map(plain, items), key=blank)


def by_step(chunks: list[tuple[str, Any]]) -> list[Any]:
    """The chunks of a stream with values and other modes: sorted between the values, which end the steps."""
    steps: list[list[Any]] = [[]]
    for mode, payload in chunks:
        if mode == "values":
            steps.append([(mode, payload)])
            steps.append([])
        else:
            steps[-1].append((mode, payload))
    return [unordered(step) for step in steps if step]


def masked(observations: list[Any]) -> list[Any]:
    """The same data with each id replaced by its number in order of appearance, so that equal ids stay equal."""
    names: dict[str, str] = {}

    def mask(value: Any) -> Any:
        if isinstance(value, str):
            return _TIME.sub("<time>", _ID.sub(lambda found: name(found[0]), value))
        if isinstance(value, dict):
            keys = sorted(value, key=blank)
            return {mask(key): mask(value[key]) for key in keys}
        if isinstance(value, list | tuple):
            return type(value)(mask(item) for item in value)
        return value

    def name(found: str) -> str:
        return names.setdefault(found, f"id#{len(names) + 1}")

    return [mask(observation) for observation in observations]
