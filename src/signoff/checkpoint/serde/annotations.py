"""Which classes a type annotation names, however deep."""

import dataclasses
import sys
import typing
from collections.abc import Mapping
from contextlib import suppress
from enum import Enum
from types import SimpleNamespace
from typing import Annotated, Any, Literal, NewType, TypeVar

from typing_extensions import is_typeddict

from signoff._annotations import annotations_of
from signoff.checkpoint.serde.kinds import REGISTRABLE, is_pydantic, kind_of

__all__ = ["known_hints", "types_in"]


def types_in(*annotations: Any) -> list[type]:
    """The dataclasses, pydantic models, Enums and NamedTuples that annotations or schemas name, each once.

    Names that cannot be resolved (imported for type checkers only, say) are passed over: their instances are
    refused when they are stored, with the path and the remedy.
    """
    found: dict[type, None] = {}
    seen: dict[int, Any] = {}  # the hints themselves are kept, so that no id is used twice
    todo = list(reversed(annotations))
    while todo:
        hint = todo.pop()
        if id(hint) not in seen:
            seen[id(hint)] = hint
            if _is_wanted(hint):
                found[hint] = None
            todo.extend(reversed(_inside(hint)))
    return list(found)


def _is_wanted(hint: Any) -> bool:
    if not isinstance(hint, type) or typing.get_origin(hint) is not None or kind_of(hint) not in REGISTRABLE:
        return False
    is_root = hint.__module__.partition(".")[0] in ("enum", "pydantic", "typing")
    return not is_root and not _is_message(hint)


def _is_message(cls: type) -> bool:
    """Messages, and what they are made of, have a place of their own on the wire."""
    return cls.__module__.startswith("langchain_core.messages")


def _inside(hint: Any) -> list[Any]:
    """The hints that a hint is made of."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Annotated:
        return [args[0]]
    if origin is Literal:
        return [type(value) for value in args if isinstance(value, Enum)]
    if origin is not None:
        return [origin, *_flat(args)]
    if isinstance(hint, type):
        return _fields(hint) if _has_fields(hint) and not _is_message(hint) else []
    if isinstance(hint, TypeVar):
        return [hint.__bound__, *hint.__constraints__]
    return _behind(hint)


def _flat(args: Any) -> list[Any]:
    """The arguments of a generic; those of a Callable stand in a list of their own."""
    return [part for arg in args for part in (arg if isinstance(arg, list) else [arg])]


def _behind(hint: Any) -> list[Any]:
    """What stands behind a name for a type: NewType, InitVar, `type Name = ...`."""
    if isinstance(hint, NewType):
        return [hint.__supertype__]
    if isinstance(hint, dataclasses.InitVar):
        return [hint.type]
    if type(hint).__name__ == "TypeAliasType":
        with suppress(NameError):
            return [hint.__value__]
    return []


def _has_fields(cls: type) -> bool:
    return is_typeddict(cls) or kind_of(cls) in REGISTRABLE


def _fields(cls: Any) -> list[Any]:
    hints = list(_hints(cls).values())
    if is_pydantic(cls):
        # In a generic model only pydantic knows what its type variables stand for.
        hints += [field.annotation for field in cls.__pydantic_fields__.values()]
        generic = cls.__pydantic_generic_metadata__
        hints += [generic["origin"], *generic["args"]]
    return hints


def _hints(cls: type) -> dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except Exception:
        # One name that is only there for type checkers must not hide the other fields.
        return {name: hint for base in cls.__mro__ for name, hint in _own_hints(base).items()}


def _own_hints(base: type) -> dict[str, Any]:
    module = vars(sys.modules.get(base.__module__, SimpleNamespace()))
    return known_hints(annotations_of(base), module, dict(vars(base)))


def known_hints(
    annotations: Mapping[str, Any], module: dict[str, Any], own: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Those of some annotations whose names are known, in a module or beside them."""
    hints: dict[str, Any] = {}
    for name, hint in annotations.items():
        try:
            hints |= typing.get_type_hints(SimpleNamespace(__annotations__={name: hint}), module, own)
        except Exception:
            continue
    return hints
