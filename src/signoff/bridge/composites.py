"""Runnables that LangChain makes of others: the same made of twins of their parts, and what such a twin has come to.

In its place something may come behind a part (`is_last`), or others may run beside it (`is_beside`).
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from signoff.bridge.beside import awaited_at_last
from signoff.bridge.runnables import is_of_langchain

__all__ = ["Notes", "Result", "Twin", "maker_of"]

Notes = dict[object, Any]
"""What the last parts of a runnable have returned in one call."""

Result = Callable[[Notes], list[Any]]
"""What a runnable has come to, by the notes of a call: a list of one; empty while it is at work."""

Twin = tuple[Any, Result]

Twins = Callable[..., Twin]
"""From a part, and its place, to its twin."""


def maker_of(thing: Any) -> Callable[..., Twin] | None:
    """How to make the twin of a runnable out of those of its parts; None if it is not known to be made of any."""
    generic = getattr(type(thing), "__pydantic_generic_metadata__", None) or {}
    return _makers().get(generic.get("origin") or type(thing))


@cache
def _makers() -> Mapping[type, Callable[..., Twin]]:
    """By the class itself: one that is derived from it may do more."""
    from langchain_core.runnables import (
        RouterRunnable,
        RunnableBinding,
        RunnableBranch,
        RunnableParallel,
        RunnableSequence,
        RunnableWithFallbacks,
    )
    from langchain_core.runnables.base import RunnableEach
    from langchain_core.runnables.configurable import RunnableConfigurableAlternatives
    from langchain_core.runnables.passthrough import RunnableAssign
    from langchain_core.runnables.retry import RunnableRetry

    return {
        RunnableSequence: _sequence,
        RunnableParallel: _parallel,
        RunnableAssign: _assign,
        RunnableEach: _each,
        RunnableBranch: _branch,
        RunnableBinding: partial(_one_of, ["bound"]),
        RunnableRetry: partial(_one_of, ["bound"]),
        RunnableWithFallbacks: partial(_one_of, ["runnable", "fallbacks"]),
        RouterRunnable: partial(_one_of, ["runnables"]),
        RunnableConfigurableAlternatives: partial(_one_of, ["default", "alternatives"]),
    }


def _sequence(sequence: Any, twin: Twins, *, is_last: bool, is_beside: bool) -> Twin:
    first, *middle = (twin(step, is_last=False, is_beside=is_beside)[0] for step in sequence.steps[:-1])
    last, result = twin(sequence.steps[-1], is_last=is_last, is_beside=is_beside)
    return sequence.model_copy(update={"first": first, "middle": middle, "last": last}), result


def _parallel(parallel: Any, twin: Twins, *, is_last: bool, is_beside: bool) -> Twin:
    parts = {name: twin(step, is_last=is_last, is_beside=True) for name, step in parallel.steps__.items()}

    def result(notes: Notes) -> list[Any]:
        found = {name: of(notes) for name, (_, of) in parts.items()}
        return [{name: one for name, [one] in found.items()}] if all(found.values()) else []

    steps = {name: awaited_at_last(step, name) for name, (step, _) in parts.items()}
    return parallel.model_copy(update={"steps__": steps}), result


def _assign(assign: Any, twin: Twins, *, is_last: bool, is_beside: bool) -> Twin:
    mapper, _ = _parallel(assign.mapper, twin, is_last=False, is_beside=is_beside)
    return assign.model_copy(update={"mapper": mapper}), _unknown


def _each(each: Any, twin: Twins, *, is_last: bool, is_beside: bool) -> Twin:
    bound, _ = twin(each.bound, is_last=False, is_beside=True)
    return each.model_copy(update={"bound": awaited_at_last(bound)}), _unknown


def _branch(branch: Any, twin: Twins, *, is_last: bool, is_beside: bool) -> Twin:
    conditions = [twin(condition, is_last=False, is_beside=is_beside)[0] for condition, _ in branch.branches]
    ways = [*(way for _, way in branch.branches), branch.default]
    twins = [twin(way, is_last=is_last, is_beside=is_beside) for way in ways]
    *branches, default = (one for one, _ in twins)
    update = {"branches": list(zip(conditions, branches, strict=True)), "default": default}
    return branch.model_copy(update=update), _first_of([result for _, result in twins])


def _one_of(fields: list[str], thing: Any, twin: Twins, **place: bool) -> Twin:
    """A runnable that comes to what one of those in its fields comes to."""
    results: list[Result] = []

    def twins(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {name: twins(one) for name, one in value.items()}
        if isinstance(value, list | tuple):
            return [twins(one) for one in value]
        if not is_of_langchain(value):
            return value
        one, result = twin(value, **place)
        results.append(result)
        return one

    return thing.model_copy(update={field: twins(getattr(thing, field)) for field in fields}), _first_of(results)


def _first_of(results: list[Result]) -> Result:
    return lambda notes: next(filter(None, (of(notes) for of in results)), [])


def _unknown(notes: Notes) -> list[Any]:
    """What a runnable comes to that makes more of what its parts come to."""
    return []
