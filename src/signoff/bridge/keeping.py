"""Runnables of LangChain's as nodes of an async run: what one has done counts, though its run is called off.

LangChain leaves a sync function to a thread of its own, and hands on what a coroutine returned some turns of the loop
later. So functions run in threads that the run waits for, and what the last parts of a runnable returned is noted.
"""

import asyncio
import copy
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from functools import cache, partial, wraps
from typing import Any, NamedTuple

from signoff import _scope
from signoff.bridge.beside import abeside
from signoff.bridge.composites import Notes, Result, Twin, maker_of
from signoff.bridge.runnables import is_of_langchain
from signoff.bridge.threads import in_run, is_sync, is_tool, runs_beside_loop, threaded
from signoff.constants import MISSING
from signoff.errors import GraphRecursionError

__all__ = ["arun_of", "kept"]


class _Picked(NamedTuple):
    """Another runnable that a function has returned."""

    of: Result


_notes: ContextVar[Notes] = ContextVar("signoff_returned")

_depth: ContextVar[int] = ContextVar("signoff_picked", default=0)
"""How many runnables have picked the next one, down to the one that is called."""

_DEEPEST = 150
"""About as many as Python itself lets a sync run call."""


def kept(thing: Any, *, is_last: bool = True, is_beside: bool = False) -> Callable[..., Any]:
    """How to await a runnable of LangChain's, so that what it has done is not lost when its run is called off."""
    if not (is_sync(thing) or is_tool(thing) or _is_lambda(thing) or maker_of(thing)):
        return thing.ainvoke  # type: ignore[no-any-return]
    noting, result = _noting(thing, is_last=is_last, is_beside=is_beside)

    async def ainvoke(input: Any, config: Any = None, **kwargs: Any) -> Any:
        notes: Notes = {}
        token = _notes.set(notes)
        try:
            return await noting.ainvoke(input, config, **kwargs)
        except asyncio.CancelledError:
            scope = _scope.running.get()
            if scope is None or not scope.host.is_stopping or not is_last or not (found := result(notes)):
                raise
            return found[0]
        finally:
            _notes.reset(token)

    return ainvoke


def arun_of(tool: Any, **place: bool) -> Callable[..., Any]:
    """How to await what a tool of LangChain's does, past what leaves it to a thread, or loses what was returned."""
    if runs_beside_loop(tool):
        return threaded(tool, **place)
    runnable = _made_of(tool)
    if runnable is None:
        return tool._arun  # type: ignore[no-any-return]
    call, twin = kept(runnable, **place), tool.model_copy()

    @wraps(tool.coroutine)
    async def coroutine(*args: Any, **kwargs: Any) -> Any:
        if args:
            return await call(*args, **kwargs)
        callbacks = kwargs.pop("callbacks", None)  # the rest is what the runnable is given
        return await call(kwargs, {"callbacks": callbacks})

    twin.coroutine = coroutine
    return twin._arun  # type: ignore[no-any-return]


def _made_of(tool: Any) -> Any:
    """The runnable that LangChain has made a tool of; None if it is another one's."""
    coroutine: Any = getattr(tool, "coroutine", None)
    if getattr(coroutine, "__module__", None) == "langchain_core.tools.convert":
        return inspect.getclosurevars(coroutine).nonlocals.get("runnable")
    owner: Any = getattr(coroutine, "__self__", None)
    return owner if is_of_langchain(owner) and coroutine == owner.ainvoke else None


def _noting(thing: Any, *, is_last: bool = True, is_beside: bool = False) -> Twin:
    """The same runnable, noting what it returns; and how to read that.

    In its place something may come behind it (`is_last`), or others may run beside it (`is_beside`).
    """
    if _is_lambda(thing):
        return _noting_lambda(thing, is_last=is_last, is_beside=is_beside)
    if (make := maker_of(thing)) is not None:
        return make(thing, _noting, is_last=is_last, is_beside=is_beside)
    key = object()
    return _other_class()(thing, key, is_last=is_last, is_beside=is_beside), _by(key)


def _is_lambda(thing: Any) -> bool:
    from langchain_core.runnables import RunnableLambda

    return type(thing) is RunnableLambda


def _noting_lambda(function: Any, *, is_last: bool, is_beside: bool) -> Twin:
    called = getattr(function, "afunc", None) or function.func
    if _yields(called):
        return function, lambda notes: []
    is_async, key, noting = hasattr(function, "afunc"), object(), copy.copy(function)
    call = _awaited(called, is_beside) if is_async else _in_thread(called, is_last=is_last, is_beside=is_beside)

    @wraps(called if is_async else call)
    async def afunc(*args: Any, **kwargs: Any) -> Any:
        return _picked(key, await call(*args, **kwargs), is_last=is_last, is_beside=is_beside)

    noting.afunc = afunc
    return noting, _by(key)


def _awaited(function: Callable[..., Any], is_beside: bool) -> Callable[..., Any]:
    """How to await a coroutine function, in its place."""
    return (lambda *args, **kwargs: abeside(partial(function, *args, **kwargs))) if is_beside else function


def _picked(key: object, result: Any, **place: bool) -> Any:
    """What to hand on of what a function has returned: it may be another runnable, which is called then."""
    from langchain_core.runnables import Runnable

    if Runnable not in type(result).__mro__:  # graphs keep by themselves what they have done
        _note(key, result)
        return result
    _count(result)
    noting, of = _noting(result, **place)
    _notes.get()[key] = _Picked(of)
    return noting


def _count(picked: Any) -> None:
    # LangChain counts, too, down from the limit for the steps of the graph; a loop does not end in time by that.
    depth = _depth.get()
    if depth >= _DEEPEST:
        raise GraphRecursionError(
            f"{picked.get_name()!r} was returned by a runnable that one before it had returned, and so on, {depth} "
            "times. Return a value from one of them; what is to be done again is a node with an edge to itself."
        )
    _depth.set(depth + 1)  # each runnable is called in a context of its own


def _in_thread(func: Callable[..., Any], *, is_last: bool, is_beside: bool) -> Callable[..., Any]:
    from langchain_core.runnables.config import call_func_with_variable_args

    async def afunc(input: Any, *, run_manager: Any, config: Any, **kwargs: Any) -> Any:
        call = partial(call_func_with_variable_args, func, input, config, run_manager.get_sync(), **kwargs)
        return await in_run(call, is_last=is_last, is_beside=is_beside)

    return afunc


@cache
def _other_class() -> Any:
    from langchain_core.runnables import Runnable

    class Noting(Runnable[Any, Any]):
        """Hands every call on to another runnable, and notes what that returns."""

        def __init__(self, inner: Any, key: object, **place: bool) -> None:
            self.name = inner.get_name()
            self.inner, self.key, self.place = inner, key, place

        def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            raise NotImplementedError("made for async runs")

        async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            if is_sync(self.inner):
                result = await in_run(partial(self.inner.invoke, input, config, **kwargs), **self.place)
            elif is_tool(self.inner):
                result = await _ran(self.inner, self.place, input, config, **kwargs)
            else:
                result = await _awaited(self.inner.ainvoke, self.place["is_beside"])(input, config, **kwargs)
            _note(self.key, result)
            return result

    return Noting


async def _ran(tool: Any, place: dict[str, bool], input: Any, config: Any, **kwargs: Any) -> Any:
    """What a tool comes to. It is not run again to hand on what it has returned."""
    arun, returned = arun_of(tool, **place), list[Any]()
    call = _awaited(arun, place["is_beside"])

    @wraps(arun)
    async def once(*args: Any, **kwargs: Any) -> Any:
        if not returned:
            returned.append(await call(*args, **kwargs))
        return returned[0]

    copy = tool.model_copy()
    copy.__dict__["_arun"] = once  # in the instance itself, where it goes before the method of any class
    try:
        return await copy.ainvoke(input, config, **kwargs)
    except asyncio.CancelledError:
        scope = _scope.running.get()
        if scope is None or not scope.host.is_stopping or not returned or not place["is_last"]:
            raise
        return await copy.ainvoke(input, {**(config or {}), "callbacks": []}, **kwargs)


def _note(key: object, result: Any) -> None:
    # What a function returns may be a runnable that is called then.
    if not is_of_langchain(result):
        _notes.get()[key] = result


def _by(key: object) -> Result:
    def result(notes: Notes) -> list[Any]:
        found = notes.get(key, MISSING)
        if isinstance(found, _Picked):
            return found.of(notes)
        return [] if found is MISSING else [found]

    return result


def _yields(function: Any) -> bool:
    called = [function, getattr(function, "__call__", None)]  # noqa: B004
    return any(inspect.isgeneratorfunction(one) or inspect.isasyncgenfunction(one) for one in called)
