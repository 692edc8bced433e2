"""Annotations as they are written: names in them that are not there stand for themselves.

Since Python 3.14 annotations are read when they are asked for, and a name that is there for type checkers only, or
comes further below, is an error in most ways to ask.
"""

import inspect
import sys
import typing
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

__all__ = [
    "annotations_of",
    "code_of",
    "fits",
    "is_async",
    "is_awaited",
    "name_in",
    "refuse_async",
    "resolved_hints",
    "signature_of",
    "yields",
]


def annotations_of(thing: Any) -> dict[str, Any]:
    """The annotations of a function, or those that a class itself has; none, of anything else."""
    if not callable(thing) or _is_mock(thing):
        return {}
    return dict(inspect.get_annotations(thing, **_as_written("format")))


def code_of(thing: Any) -> CodeType | None:
    """The code of a function; None, of anything else. A mock has something that only says it is code."""
    code = getattr(thing, "__code__", None)
    return code if type(code) is CodeType else None


def resolved_hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function with the types that they name; empty where they cannot be resolved."""
    try:
        return typing.get_type_hints(getattr(function, "__func__", function))
    except (NameError, TypeError, AttributeError, ValueError):
        return {}


def signature_of(thing: Any, *, follow_wrapped: bool = True) -> inspect.Signature:
    """The parameters of a function."""
    if not _is_plain(thing):
        if _is_mock(thing):
            return _ANY
        return inspect.signature(thing, follow_wrapped=follow_wrapped, **_as_written("annotation_format"))
    known = _signatures.get(thing)
    if known is None:
        known = inspect.signature(thing, **_as_written("annotation_format"))
        if _holds_nothing(known):
            _signatures[thing] = known
    return known


def _is_plain(thing: Any) -> bool:
    """Whether a function cannot be a decorator's, nor say something else of itself."""
    return type(thing) is BuiltinFunctionType or (type(thing) is FunctionType and not thing.__dict__)


def _holds_nothing(signature: inspect.Signature) -> bool:
    """Whether a signature cannot hold its own function, as a default may, or an annotation."""
    parameters = signature.parameters.values()
    has_defaults = any(one.default is not one.empty for one in parameters)
    said = (signature.return_annotation, *(one.annotation for one in parameters))
    return not has_defaults and all(map(_is_bare, said))


def _is_bare(said: Any) -> bool:
    """Whether an annotation is nothing but classes, and words that stand for some: `dict[str, Any]`."""
    parts = typing.get_args(said)
    if not parts:
        return isinstance(said, type | str | None)
    return typing.get_origin(said) is not typing.Annotated and all(map(_is_bare, parts))


def fits(function: Any, /, *args: Any, **kwargs: Any) -> bool:
    """Whether a function can be called like that; one whose parameters nobody knows can."""
    try:
        signature_of(function).bind(*args, **kwargs)
    except ValueError:
        return True
    except TypeError:
        return False
    return True


def is_awaited(function: Any) -> bool:
    """Whether calling a function gives something to await."""
    if _says_nothing(function):
        return False
    # What mock.create_autospec makes of a coroutine function was marked like this, before Python 3.12.
    return inspect.iscoroutinefunction(function) or type(getattr(function, "_is_coroutine", None)) is object


def is_async(thing: Any) -> bool:
    """The same of anything that can be called: a part of a function, or an object with a `__call__`."""
    unwrapped = thing
    while isinstance(unwrapped, partial):
        unwrapped = unwrapped.func
    return is_awaited(unwrapped) or (
        not inspect.isroutine(unwrapped) and is_awaited(getattr(unwrapped, "__call__", None))  # noqa: B004
    )


def refuse_async(what: str, function: Any, error: type[Exception]) -> None:
    """Refuse a function that nobody awaits: what it returns would be a coroutine, which is as good as a yes."""
    if is_async(function):
        raise error(f"{what} is async: {function!r}. Give a plain function: it is called, and not awaited.")


def yields(function: Any) -> bool:
    """Whether a function is a generator."""
    return not _says_nothing(function) and (
        inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)
    )


def name_in(thing: Any, attribute: str = "__name__") -> str | None:
    """The name of a function or a class; a mock has something else there."""
    name = getattr(thing, attribute, None)
    return name if isinstance(name, str) else None


def _says_nothing(thing: Any) -> bool:
    """Whether a mock stands in for a function, as MagicMock(spec=function) does: what its code says is a mock, too."""
    return _is_mock(thing) and type(getattr(getattr(thing, "__code__", None), "co_flags", None)) is not int


def _is_mock(thing: Any) -> bool:
    """Whether something has only a semblance of code, as an AsyncMock does: not every Python can tell what it takes."""
    function = thing.func if isinstance(thing, partial) else thing
    return getattr(function, "__code__", None) is not code_of(function)


_ANY = inspect.signature(lambda *args, **kwargs: None)

_signatures: WeakKeyDictionary[FunctionType | BuiltinFunctionType, inspect.Signature] = WeakKeyDictionary()
"""Those of plain functions: each is asked for several times while a graph is made, and operator.add for every list.

Only if they hold nothing that holds the function: a function that a request makes has to go with it."""


def _as_written(setting: str) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return {setting: annotationlib.Format.FORWARDREF}
    return {}
