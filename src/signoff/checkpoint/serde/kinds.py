"""Which kinds of classes can be stored, and by what plan.

A plan takes an instance apart into plain values and makes it again. Making never calls the class, its
`__init__`, its `__post_init__` or its validators: what was stored was valid when it was written, and
loading runs no code.
"""

from collections.abc import Callable
from dataclasses import is_dataclass
from enum import Enum
from types import BuiltinFunctionType
from typing import Any, Literal, NamedTuple

__all__ = [
    "REGISTRABLE",
    "Kind",
    "Plan",
    "builtin_base",
    "is_pydantic",
    "kind_of",
]

Kind = Literal["Enum", "NamedTuple", "dataclass", "pydantic model", "exception", "class"]

REGISTRABLE: frozenset[Kind] = frozenset({"Enum", "NamedTuple", "dataclass", "pydantic model"})
"""Kinds that a schema registers by naming them; the others are registered by hand only."""

_HEAP_TYPE = 1 << 9
"""The flag of a class that was written in Python (or made by C code like one), from CPython's `object.h`."""


class Plan(NamedTuple):
    """How instances of one class are taken apart and made again."""

    take: Callable[[Any], Any]
    make: Callable[[Any], Any]


def kind_of(cls: type) -> Kind | None:
    """What kind of class this is; None if there is no telling what its instances consist of."""
    if issubclass(cls, Enum):
        return "Enum"
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return "NamedTuple"
    if issubclass(cls, BaseException):
        return "exception"
    if is_pydantic(cls):
        return "pydantic model"
    if builtin_base(cls) is not object or not _has_known_attributes(cls):
        return None
    return "dataclass" if is_dataclass(cls) else "class"


def is_pydantic(cls: type) -> bool:
    """Whether this is a pydantic 2 model, told without importing pydantic."""
    return hasattr(cls, "__pydantic_fields__") and hasattr(cls, "model_construct")


def builtin_base(cls: type) -> type:
    """The nearest base written in C: `dict` for a `class Basket(dict)`, `object` for most."""
    return next(base for base in cls.__mro__ if _is_builtin(base))


def _is_builtin(cls: type) -> bool:
    return not cls.__flags__ & _HEAP_TYPE or isinstance(cls.__dict__.get("__new__"), BuiltinFunctionType)


def _has_known_attributes(cls: type) -> bool:
    """Whether instances keep their state in attributes; one written in C may keep it out of sight."""
    return bool(cls.__dictoffset__) or "__slots__" in cls.__dict__
