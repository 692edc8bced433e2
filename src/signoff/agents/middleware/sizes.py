"""Sizes of conversations: in messages, in tokens, or as a part of what a model takes."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict

from signoff.errors import InvalidInput

__all__ = ["ContextSize", "Trigger", "TriggerClause", "size_of", "sizes_of"]

ContextSize = tuple[Literal["messages", "tokens", "fraction"], float]


class TriggerClause(TypedDict, total=False):
    """Sizes that must all be reached: `{"tokens": 4000, "messages": 10}`."""

    tokens: int
    messages: int
    fraction: float


Trigger = ContextSize | TriggerClause | Sequence[ContextSize | TriggerClause] | None
"""A size, several that must all be reached, or a list of these, any of which counts."""


def sizes_of(trigger: Trigger, model: Any) -> list[list[ContextSize]]:
    """What a trigger asks for: all sizes of one of the lists."""
    if trigger is None:
        return []
    several: Any = trigger if isinstance(trigger, list) else [trigger]
    return [_together(one, model) for one in several]


def _together(one: Any, model: Any) -> list[ContextSize]:
    if not isinstance(one, Mapping):
        return [size_of(one, model)]
    if not one:
        raise _no_size(one)
    return [size_of(size, model) for size in one.items()]


def size_of(size: Any, model: Any) -> ContextSize:
    """A size in messages or tokens; a fraction is one of the tokens that the model takes."""
    if not (isinstance(size, tuple) and len(size) == 2 and isinstance(size[1], int | float)):
        raise _no_size(size)
    kind, number = size
    if kind == "fraction" and 0 < number <= 1:
        return "tokens", max(1, int(number * _most_tokens(model)))
    if kind in ("messages", "tokens") and number >= 1:
        return size
    raise _no_size(size)


def _no_size(size: Any) -> InvalidInput:
    return InvalidInput(f"{size!r} is no size. Give ('messages', 50), ('tokens', 100_000) or ('fraction', 0.8).")


def _most_tokens(model: Any) -> int:
    profile = getattr(model, "profile", None)
    if not (isinstance(profile, Mapping) and isinstance(profile.get("max_input_tokens"), int)):
        raise InvalidInput(
            f"{type(model).__name__} does not say how many tokens it takes, so a fraction of them cannot be told. Give "
            'a number of tokens, or the model a profile={"max_input_tokens": ...}.'
        )
    return int(profile["max_input_tokens"])
