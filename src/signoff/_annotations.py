"""Annotations as they are written: names in them that are not there stand for themselves.

Since Python 3.14 annotations are read when they are asked for, and a name that is there for type checkers only, or
comes further below, is an error in most ways to ask.
"""

import inspect
import sys
from functools import partial
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["annotations_of", "code_of", "fits", "signature_of"]


def annotations_of(thing: Any) -> dict[str, Any]:
    """The annotations of a function, or those that a class itself has; none, of anything else."""
    return {} if not callable(thing) else dict(inspect.get_annotations(thing, **_as_written("format")))


def code_of(thing: Any) -> CodeType | None:
    """The code of a function; None, of anything else. A mock has something that only says it is code."""
    code = getattr(thing, "__code__", None)
    return code if type(code) is CodeType else None


def signature_of(thing: Any, *, follow_wrapped: bool = True) -> inspect.Signature:
    """The parameters of a function."""
    if type(thing) is not FunctionType or thing.__dict__:  # it may be a decorator's, or say something else of itself
        if _is_mock(thing):
            return _ANY
        return inspect.signature(thing, follow_wrapped=follow_wrapped, **_as_written("annotation_format"))
    known = _signatures.get(thing)
    if known is None:
        known = _signatures[thing] = inspect.signature(thing, **_as_written("annotation_format"))
    return known


def fits(function: Any, /, *args: Any, **kwargs: Any) -> bool:
    """Whether a function can be called like that; one whose parameters nobody knows can."""
    try:
        signature_of(function).bind(*args, **kwargs)
    except ValueError:
        return True
    except TypeError:
        return False
    return True


def _is_mock(thing: Any) -> bool:
    """Whether something has only a semblance of code, as an AsyncMock does: not every Python can tell what it takes."""
    function = thing.func if isinstance(thing, partial) else thing
    return getattr(function, "__code__", None) is not code_of(function)


_ANY = inspect.signature(lambda *args, **kwargs: None)

_signatures: WeakKeyDictionary[FunctionType, inspect.Signature] = WeakKeyDictionary()
"""Those of plain functions: each is asked for several times while a graph is made."""


def _as_written(setting: str) -> dict[str, Any]:
    if sys.version_info >= (3, 14):
        import annotationlib

        return {setting: annotationlib.Format.FORWARDREF}
    return {}
