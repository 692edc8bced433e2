"""Sizes of conversations: in messages, in tokens, or as a part of what a model takes."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, TypedDict

from langchain_core.messages import AIMessage
from langchain_core.messages.utils import count_tokens_approximately

from signoff.errors import InvalidInput

__all__ = [
    "ContextSize",
    "Counter",
    "Trigger",
    "TriggerClause",
    "counters_of",
    "most_tokens",
    "reported",
    "size_of",
    "sizes_of",
]

ContextSize = tuple[Literal["messages", "tokens", "fraction"], float]
Counter = Callable[[Any], int]
"""What tells the tokens of some messages."""


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
    kind, number = size if isinstance(size, tuple) and len(size) == 2 else (None, None)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise _no_size(size)
    if kind == "fraction" and 0 < number <= 1:
        return "tokens", max(1, int(number * _most_tokens(model)))
    if kind in ("messages", "tokens") and number >= 1 and number == int(number):
        return kind, number
    raise _no_size(size)


def _no_size(size: Any) -> InvalidInput:
    return InvalidInput(f"{size!r} is no size. Give ('messages', 50), ('tokens', 100_000) or ('fraction', 0.8).")


def _most_tokens(model: Any) -> int:
    most = most_tokens(model)
    if most is None:
        raise InvalidInput(
            f"{type(model).__name__} does not say how many tokens it takes, so a fraction of them cannot be told. Give "
            'a number of tokens, or the model a profile={"max_input_tokens": ...}.'
        )
    return most


def most_tokens(model: Any) -> int | None:
    """How many tokens a model takes, if it says so."""
    profile = getattr(model, "profile", None)
    most = profile.get("max_input_tokens") if isinstance(profile, Mapping) else None
    return most if isinstance(most, int) else None


# Counting


def counters_of(counter: Counter) -> tuple[Counter, Counter]:
    """What counts a whole conversation, and what counts a part of one.

    The usual counter is fitted to what the provider has reported of a conversation; of a part, that tells nothing.
    """
    if counter is count_tokens_approximately:
        return partial(counter, use_usage_metadata_scaling=True), counter
    return counter, counter


def reported(messages: Sequence[Any], model: Any) -> int:
    """The tokens of the last turn, as its provider has counted them; 0 if it has not, or is not that of the model.

    What the model was given beside the messages is among them: its instructions, and what it was told of its tools.
    """
    last = next((one for one in reversed(messages) if isinstance(one, AIMessage)), None)
    if last is None or last.usage_metadata is None:
        return 0
    provider = last.response_metadata.get("model_provider")
    is_own = bool(provider) and not _words(provider).isdisjoint(_words(_provider(model)))
    return last.usage_metadata["total_tokens"] if is_own else 0


def _provider(model: Any) -> Any:
    # As in traces: there is no public name for it.
    ask: Any = getattr(model, "_get_ls_params", dict)
    return ask().get("ls_provider")


def _words(provider: Any) -> set[str]:
    """What two names of one provider have in common: "amazon_bedrock" and "bedrock_converse"."""
    return set(re.split(r"[^a-z0-9]+", str(provider or "").lower())) - {""}
