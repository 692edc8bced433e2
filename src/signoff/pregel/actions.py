"""Actions: how to call what a user gave as a node, a conditional edge or a task."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from signoff._annotations import is_async, name_in, resolved_hints, signature_of, yields
from signoff._modules import module_of
from signoff._words.policies import TimeoutPolicy
from signoff.bridge.runnables import is_of_langchain, needs_thread
from signoff.engine.program import Action
from signoff.errors import InvalidGraph, Unsupported
from signoff.pregel.base import Base
from signoff.pregel.extras import EXTRAS, extras_of
from signoff.pregel.typing import meant


def action_of(
    thing: Any, name: str, *, runs_inline: bool = False, positional: int = 1, also: tuple[str, ...] = ()
) -> Action:
    """How to call a function, a coroutine function, a callable object, a LangChain runnable or a graph."""
    check_action(name, thing, positional, also)
    return call_of(thing, name, runs_inline=runs_inline, positional=positional, also=also)


def call_of(
    thing: Any, name: str, *, runs_inline: bool = False, positional: int = 1, also: tuple[str, ...] = ()
) -> Action:
    """How to call what was found good."""
    if is_runnable(thing):
        # A graph finds the task that it is nested in by itself.
        wants = () if isinstance(thing, Base) and not thing.config else ("config",)
        calls_in = getattr(thing, "calls_in", None)
        afunc, identity = _ainvoke_of(thing), _identity(thing)
        return Action(name, thing.invoke, afunc, wants, identity=identity, calls_in=calls_in, runnable=thing)
    takes = extras_of(thing, positional, also)
    if is_async(thing):
        return Action(name, None, thing, takes, identity=_identity(thing))
    return Action(name, thing, None, takes, runs_inline, _identity(thing))


def _ainvoke_of(thing: Any) -> Callable[..., Any]:
    if isinstance(thing, Base) or not is_of_langchain(thing):
        return thing.ainvoke  # type: ignore[no-any-return]
    from signoff.bridge.keeping import kept  # a program without LangChain does without it, and without asyncio

    return kept(thing)


def check_action(name: str, thing: Any, positional: int = 1, also: tuple[str, ...] = ()) -> None:
    """Refuse what cannot be called, or not with the state alone."""
    if not (callable(thing) or is_runnable(thing)):
        mend = " Call compile() on it." if hasattr(thing, "compile") else ""
        raise InvalidGraph(
            f"{name!r} must be a function, a coroutine function, a runnable or a compiled graph, not {thing!r}.{mend}"
        )
    if positional and not is_runnable(thing):
        _check_parameters(name, thing, extras_of(thing, positional, also))


def _check_parameters(name: str, thing: Any, filled_in: Sequence[str]) -> None:
    try:
        # What a decorator returns is called itself, whatever stands behind it.
        signature = signature_of(thing, follow_wrapped=False)
    except (ValueError, TypeError):  # a builtin without a signature
        return
    try:
        signature.bind(None, **dict.fromkeys(filled_in))
    except TypeError as error:
        is_unbound = next(iter(signature.parameters), "") == "self"
        mend = "It is a method: give that of an object" if is_unbound else f"Behind it may stand: {', '.join(EXTRAS)}"
        raise InvalidGraph(f"{name!r} is called with the state, and takes {signature}: {error}. {mend}.") from error


def is_runnable(thing: Any) -> bool:
    """Whether a thing is called by invoke and ainvoke: a graph, a runnable of LangChain's, or what has no other way."""
    if isinstance(thing, Base) or is_of_langchain(thing):
        return True
    return not callable(thing) and hasattr(thing, "invoke") and hasattr(thing, "ainvoke")


def check_timeout(name: str, thing: Any, policy: TimeoutPolicy | None) -> None:
    """Refuse a timeout for a sync function."""
    if policy is not None and _needs_thread(thing):
        raise InvalidGraph(
            f"{name!r} is a sync function, and a thread cannot be stopped from outside, so it can have no "
            f"timeout. Make it `async def {name_of(thing)}(...)`."
        )


def refuse_no_function(decorator: str, thing: Any) -> None:
    """Refuse what a decorator cannot make anything of."""
    if not (callable(thing) or is_runnable(thing)):
        raise InvalidGraph(f"@{decorator} is given {thing!r}, which is no function. Write it above a def.")


def refuse_generator(name: str, thing: Any, what: str) -> None:
    """Refuse a function that yields."""
    if yields(thing):
        raise Unsupported(
            f"{name!r} is a generator, and {what} returns one value. Return it; to send more on the way, "
            "call get_stream_writer() (from signoff.config)."
        )


def _needs_thread(thing: Any) -> bool:
    return needs_thread(thing) if is_of_langchain(thing) else not (is_async(thing) or is_runnable(thing))


def name_of(thing: Any) -> str:
    """The name that a node gets from its function."""
    name = name_in(thing)
    if name is None and is_runnable(thing):
        name = thing.get_name()
    if name is None and isinstance(thing, partial):
        return name_of(thing.func)
    return name or type(thing).__name__


def result_hint(thing: Any, hints: Mapping[str, Any] | None = None) -> Any:
    """The annotation of what a thing returns; None where there is none.

    That of an object is the one of its call: the annotations of its fields say nothing of it.
    hints: those of the function, if somebody has resolved them already.
    """
    if hints is None:
        is_function = inspect.isroutine(thing) or hasattr(thing, "__wrapped__")
        function = thing if is_function else getattr(thing, "__call__", None)  # noqa: B004
        hints = resolved_hints(function) if function is not None else {}
    return _meant(hints.get("return"))


def literals_in(hint: Any) -> tuple[Any, ...]:
    """What an annotation names: `Literal["a", "b"]`, or some of these with `|`; nothing if it allows more."""
    hint = _meant(hint)
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) not in (Union, UnionType):
        return ()
    named = [literals_in(one) for one in get_args(hint)]
    return tuple(dict.fromkeys(chain.from_iterable(named))) if all(named) else ()


def _meant(hint: Any) -> Any:
    try:
        return meant(hint)
    except InvalidGraph:  # a name for what only type checkers see
        return hint


def first_parameter(thing: Any, hints: Mapping[str, Any] | None = None) -> Any:
    """The annotation of the input; None where there is none. `hints` as above."""
    if is_runnable(thing):
        return None
    function = thing if inspect.isroutine(thing) else thing.__call__
    hints = resolved_hints(function) if hints is None else hints
    return hints.get(next(iter(signature_of(function).parameters), "")) if hints else None


def _identity(thing: Any) -> str:
    named = thing if name_in(thing, "__qualname__") else type(thing)
    return f"{module_of(named)}.{named.__qualname__}"
