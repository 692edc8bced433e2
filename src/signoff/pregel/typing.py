"""Types of users: which have fields, and what they are annotated with."""

import dataclasses
import typing
from collections.abc import Collection, Sequence
from typing import Any

from typing_extensions import ReadOnly, is_typeddict

from signoff._annotations import annotations_of
from signoff.errors import InvalidGraph


def is_type(type_: Any) -> bool:
    """Whether something is a type: a class, or what `typing` makes of classes."""
    return isinstance(type_, type) or typing.get_origin(type_) is not None or type(type_).__module__ in _TYPING


_TYPING = ("typing", "typing_extensions")


def are_texts(names: Any) -> bool:
    """Whether something is a list of texts, or the like."""
    return isinstance(names, Collection) and all(isinstance(name, str) for name in names)


def is_pydantic(type_: Any) -> bool:
    """Whether a type is a pydantic model; known without importing pydantic."""
    return isinstance(type_, type) and hasattr(type_, "model_fields") and hasattr(type_, "model_validate")


def has_fields(type_: Any) -> bool:
    """Whether a type describes a mapping: a TypedDict, a dataclass, a pydantic model, an annotated class."""
    return isinstance(type_, type) and (
        is_typeddict(type_) or dataclasses.is_dataclass(type_) or is_pydantic(type_) or is_annotated(type_)
    )


def class_of(type_: Any) -> Any:
    """The class of a type with parameters, `State[int]`, if that has fields; any other type as it is."""
    origin = typing.get_origin(type_)
    return origin if has_fields(origin) else type_


def is_annotated(type_: type) -> bool:
    """Whether a class of the user's declares fields by annotations alone."""
    return type_.__module__ != "builtins" and bool(annotated_names(type_))


def annotated_names(cls: type) -> list[str]:
    """What a class declares by annotations, and those that it is derived from."""
    return list(dict.fromkeys(name for base in reversed(cls.__mro__) for name in annotations_of(base)))


def unqualified(hint: Any) -> Any:
    """A hint without what a TypedDict says about its key."""
    while typing.get_origin(hint) in _QUALIFIERS:
        (hint,) = typing.get_args(hint)
    return hint


_QUALIFIERS = (typing.Required, typing.NotRequired, ReadOnly)


def meant(hint: Any) -> Any:
    """What a hint stands for, behind its name (`type Log = ...`), without what a TypedDict says about its key."""
    hint = unqualified(hint)
    while _is_name(named := typing.get_origin(hint) or hint):
        try:
            value = named.__value__
        except NameError as error:
            raise InvalidGraph(
                f"The type {named.__name__} could not be resolved: {error}. Define or import the name at module level."
            ) from error
        hint = unqualified(_filled(value, named.__type_params__, typing.get_args(hint)))
    return hint


def _is_name(hint: Any) -> bool:
    return type(hint).__name__ == "TypeAliasType"


def _filled(hint: Any, variables: Sequence[Any], args: Sequence[Any]) -> Any:
    """A hint with types in the place of type variables, as far as there are any."""
    known = dict(zip(variables, args, strict=False))
    if hint in variables:
        return known.get(hint, hint)
    free = getattr(hint, "__parameters__", ())
    return hint[tuple(known.get(one, one) for one in free)] if free and known else hint


def field_hints(type_: Any) -> dict[str, Any]:
    """The annotations of a type's fields, resolved; of one with parameters, with what they stand for."""
    if (cls := class_of(type_)) is not type_:
        args = typing.get_args(type_)
        return {name: _filled(hint, cls.__parameters__, args) for name, hint in field_hints(cls).items()}
    try:
        hints = typing.get_type_hints(type_, include_extras=True)
    except NameError as error:
        raise InvalidGraph(
            f"The annotations of {type_.__name__} could not be resolved: {error}. Define or import the name at "
            "module level, where typing.get_type_hints can see it."
        ) from error
    if is_pydantic(type_):
        return {name: hints[name] for name in type_.model_fields}
    if dataclasses.is_dataclass(type_):
        return {field.name: hints[field.name] for field in dataclasses.fields(type_)}
    return hints
