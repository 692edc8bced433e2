"""Where two graphs meet: what a nested one is told of the state around it, and which of its keys may come back."""

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import Any

from signoff.engine.program import Action
from signoff.pregel.base import Base


def meeting(thing: Any, action: Action, channels: Collection[str]) -> Action:
    """How to call a node: a nested graph that has no key in common with the state is told only what it knows.

    It would refuse the input otherwise, as a caller's mistake.
    """
    known = _input_keys(thing)
    if not known or not known.isdisjoint(channels):
        return action
    return replace(action, func=_knowing(action.func, known), afunc=_knowing(action.afunc, known))


def keys_in(nested: Base | None) -> Collection[str]:
    """The keys that a nested graph has, so that a function that calls it may return them all."""
    return () if nested is None else nested.program.channels


def _input_keys(thing: Any) -> frozenset[str]:
    builder = getattr(thing, "builder", None) if isinstance(thing, Base) else None
    if builder is None or builder.schemas.input.is_root:
        return frozenset()
    return frozenset(builder.schemas.input.keys)


def _knowing(invoke: Callable[..., Any] | None, known: frozenset[str]) -> Callable[..., Any]:
    assert invoke is not None, "a graph runs in both ways"
    return partial(_call, invoke, known)


def _call(invoke: Callable[..., Any], known: frozenset[str], input: Any, **extra: Any) -> Any:
    kept = {key: value for key, value in input.items() if key in known} if isinstance(input, dict) else input
    return invoke(kept, **extra)
