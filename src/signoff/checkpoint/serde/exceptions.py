"""How exceptions are stored: the one kind of value that may come back as a stand-in.

A run that failed must be able to say so, whatever it failed with. So an exception is never refused: its
class by name, its text, and its arguments and attributes as far as they can be stored. It comes back as the
same class if that is a built-in one, one of signoff's or a registered one, and as a `StoredError` if not.
Nothing is imported, and no constructor but that of a built-in exception runs.
"""

import builtins
from collections.abc import Callable
from typing import Any

from signoff import errors
from signoff.checkpoint.serde import wire
from signoff.checkpoint.serde.care import NeedsCare
from signoff.checkpoint.serde.kinds import builtin_base
from signoff.checkpoint.serde.refusals import expect
from signoff.checkpoint.serde.registry import name_of
from signoff.checkpoint.serde.wire import Load, Pack, ext
from signoff.errors import SignoffError

__all__ = ["StoredError", "decode_exception", "encode_exception"]

_TEXT_LIMIT = 20_000
_BUILT_IN_ATTRIBUTES = frozenset({"name", "path", "name_from", "obj"})
"""Of ImportError, NameError and AttributeError: attributes that are not among their arguments."""


class StoredError(SignoffError):
    """An exception that was stored and whose class is not registered here; it reads like the original."""

    type_name: str
    """The class it had, as `module:qualname`."""

    text: str
    """Its `repr`."""

    def __init__(self, type_name: str, text: str) -> None:
        super().__init__(type_name, text)
        self.type_name = type_name
        self.text = text

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text


def _exceptions_in(namespace: Any) -> dict[str, type[BaseException]]:
    found = (value for value in vars(namespace).values() if isinstance(value, type))
    return {name_of(cls): cls for cls in found if issubclass(cls, BaseException)}


_KNOWN = _exceptions_in(builtins) | _exceptions_in(errors)
"""Classes that need no registration."""


def encode_exception(error: BaseException, name: str, pack: Pack) -> Any:
    """[name of the class, text, packed arguments or None, packed attributes or None]."""
    if isinstance(error, StoredError):
        return ext(wire.EXCEPTION, pack([error.type_name, error.text, None, None]))
    # Not `error.args`: an OSError has its file name only here.
    base: Any = builtin_base(type(error))
    reduced = base.__reduce__(error)
    args = _if_storable(list(reduced[1]), pack)
    attributes = _if_storable(reduced[2], pack) if reduced[2:] else None
    return ext(wire.EXCEPTION, pack([name, _text(error), args, attributes]))


def _if_storable(value: Any, pack: Pack) -> bytes | None:
    try:
        return pack(value)
    except NeedsCare:
        raise
    except Exception:
        return None


def _text(error: BaseException) -> str:
    try:
        return repr(error)[:_TEXT_LIMIT]
    except Exception:
        return f"<{type(error).__qualname__}, whose repr failed>"


def decode_exception(payload: bytes, load: Load, find: Callable[[str], type | None]) -> BaseException:
    """The exception, or a stand-in; `find` knows the registered classes."""
    name, text, args, attributes = load(payload)
    stand_in = StoredError(expect(name, str), expect(text, str))
    cls = _KNOWN.get(name) or find(name)
    if args is None or cls is None or not issubclass(cls, BaseException):
        return stand_in
    error = _rebuild(cls, expect(load(args), list))
    if error is not None and attributes is not None:
        _set_attributes(error, expect(load(attributes), dict))
    return stand_in if error is None else error


def _rebuild(cls: type[BaseException], args: list[Any]) -> BaseException | None:
    """The exception as its built-in base makes it from the arguments; None if they do not fit."""
    base: Any = builtin_base(cls)
    try:
        error: BaseException = base.__new__(cls, *args)
        base.__init__(error, *args)
    except Exception:
        return None
    return error if type(error) is cls else None


def _set_attributes(error: BaseException, attributes: dict[Any, Any]) -> None:
    for name, value in attributes.items():
        if name in _BUILT_IN_ATTRIBUTES:
            object.__setattr__(error, name, value)
        else:
            error.__dict__[expect(name, str)] = value
