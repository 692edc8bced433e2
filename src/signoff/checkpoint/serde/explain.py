"""Why a value cannot be stored, and where in it. Only runs when something was refused."""

import re
from collections.abc import Callable, Coroutine, Generator, Iterator
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from signoff._reprs import short_repr
from signoff.checkpoint.serde.kinds import REGISTRABLE, builtin_base, kind_of
from signoff.checkpoint.serde.levels import TooDeep
from signoff.checkpoint.serde.unread import Unread
from signoff.checkpoint.serde.wire import Pack
from signoff.constants import END, INTERRUPT, PREVIOUS, RESUME, RETURN, START, TASKS
from signoff.errors import NotStorable

__all__ = ["explain", "refuse_class"]

Knows = Callable[[type], bool]

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType)
_HOW_TO_IMPORT = "from signoff.checkpoint.serde import register"
_STEPS_INTO_DEPTH = 12


def explain(obj: Any, path: str, pack: Pack, knows: Knows, error: Exception) -> NotStorable:
    """The refusal of a value, with the path of the part that is to blame."""
    above = {id(obj)}
    while (found := _culprit(obj, pack, knows)) is not None and not _is_deep_enough(error, above):
        step, obj, error = found
        path += step
        if id(obj) in above:
            return NotStorable(f"Cannot store {_shown(path)}: it contains itself.")
        above.add(id(obj))
    return NotStorable(f"Cannot store {_shown(path)}: {_reason(error)}.")


_OURS = {
    INTERRUPT: "the question, value",
    RESUME: "the answer, resume",
    RETURN: "the result of a @task, result",
    END: "what the entrypoint returned, result",
    PREVIOUS: "what the entrypoint keeps, save",
    START: "the input, input",
    TASKS: "a Send, send",
}
"""What whoever reads of a value knows it as that is no key of the state."""

_ANSWER = re.compile(r"(\['\w+'\]|\.\w+)\.value")
"""How the path of an answer goes on: by the id of its question."""


def _shown(path: str) -> str:
    for channel, known_as in _OURS.items():
        if path.startswith(f"values.{channel}"):
            rest = path.removeprefix(f"values.{channel}")
            return known_as + (_ANSWER.sub("", rest, count=1) if channel == RESUME else rest)
    return f"checkpoint {path}"


def _is_deep_enough(error: Exception, above: set[int]) -> bool:
    """Of a value that is nested too deep the beginning says enough."""
    return _is_about_depth(error) and len(above) > _STEPS_INTO_DEPTH


def _is_about_depth(error: Exception) -> bool:
    return isinstance(error, TooDeep | RecursionError) or "recursion limit" in str(error)


def _culprit(obj: Any, pack: Pack, knows: Knows) -> tuple[str, Any, Exception] | None:
    """The first part of a value that cannot be stored by itself: the way to it, the part, and why."""
    for step, part in _parts(obj, knows):
        try:
            pack(part)
        except Exception as error:
            return step, part, error
    return None


def _parts(obj: Any, knows: Knows) -> Iterator[tuple[str, Any]]:
    """What a value consists of; nothing if its class is to blame, whatever is in it."""
    if isinstance(obj, Enum | BaseException) or not (knows(type(obj)) or kind_of(type(obj)) in REGISTRABLE):
        return
    if isinstance(obj, dict):
        yield from _items(obj)
    elif isinstance(obj, tuple) and hasattr(obj, "_fields"):
        yield from ((f".{name}", item) for name, item in zip(obj._fields, obj, strict=False))
    elif isinstance(obj, list | tuple | set | frozenset) or type(obj).__name__ == "deque":
        yield from ((f"[{index}]", item) for index, item in enumerate(list(obj)))
    else:
        yield from _attributes(obj)


def _items(obj: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in list(obj.items()):
        yield f".<key {_short(key)}>", key
        yield (f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{_short(key)}]"), value


def _attributes(obj: Any) -> Iterator[tuple[str, Any]]:
    names = [name for base in type(obj).__mro__ for name in _slots(base)]
    for place in ("__dict__", "__pydantic_extra__", "__pydantic_private__"):
        names += getattr(obj, place, None) or ()
    for name in names:
        if hasattr(obj, name):
            yield f".{name}", getattr(obj, name)


def _slots(cls: type) -> list[str]:
    slots = cls.__dict__.get("__slots__", ())
    return [name for name in ([slots] if isinstance(slots, str) else slots) if not name.startswith("__")]


def _short(value: Any) -> str:
    return short_repr(value, 80)


def _reason(error: Exception) -> str:
    if isinstance(error, NotStorable):
        return str(error)
    if _is_about_depth(error):
        return "it is nested too deep, or contains itself"
    return f"{type(error).__name__}: {error}"


def refuse_class(cls: type, obj: Any) -> NotStorable:
    """What is wrong with a value of a class that the codec does not know, and the remedy."""
    name = cls.__qualname__.rpartition(".")[2]
    if isinstance(obj, _FUNCTIONS):
        return NotStorable(f"a function ({obj.__qualname__}). Store a name and look the function up when needed")
    if cls is Unread:
        return NotStorable(f"it stands for a {obj.type_name} that could not be read. {obj.why}")
    if hasattr(obj, "add_done_callback"):
        return NotStorable("the future of a call that was not waited for. Store what `.result()`, or `await`, gives")
    if isinstance(obj, Coroutine):
        return NotStorable("a coroutine that was not awaited. Store what `await` gives")
    if isinstance(obj, Generator):
        return NotStorable("a generator, which can be read once. Store a list of what it gives")
    if isinstance(obj, type):
        return NotStorable(f"a class ({_full(obj)}). Store its name and look the class up when needed")
    if (kind := kind_of(cls)) in REGISTRABLE:
        return NotStorable(
            f"{_full(cls)} is {'an' if kind == 'Enum' else 'a'} {kind} that is not registered. Call "
            f"`register({name})` ({_HOW_TO_IMPORT}), or name it in the state's schema, or in the @task's annotations"
        )
    more = "" if kind == "class" else ", encode=..., decode=..."
    return NotStorable(
        f"{_instance_of(cls)}. Keep it out of the state, or call `register({name}{more})` ({_HOW_TO_IMPORT})"
    )


def _instance_of(cls: type) -> str:
    base = builtin_base(cls)
    if base is object or base is cls:
        return f"an instance of {_full(cls)}"
    return f"{_full(cls)} is a subclass of {base.__qualname__} that is not registered"


def _full(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
