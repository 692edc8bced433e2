"""Runnables of LangChain's as nodes of an async run: what one has done counts, though its run is called off.

LangChain leaves a sync function to a thread of its own, and hands on what a coroutine returned some turns of the loop
later. So functions run in threads that the run waits for, and what the last parts of a runnable returned is noted.
"""

import asyncio
import copy
import inspect
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import cache, partial, wraps
from typing import Any, NamedTuple

from signoff import _scope
from signoff.bridge.noted import noted
from signoff.bridge.runnables import is_of_langchain
from signoff.bridge.threads import in_run, is_sync, is_tool, runs_beside_loop, threaded
from signoff.constants import MISSING

__all__ = ["kept"]

Notes = dict[object, Any]
"""What the last parts of a runnable have returned in one call."""

Result = Callable[[Notes], list[Any]]
"""What a runnable has come to, by the notes of a call: a list of one; empty while it is at work."""


class _Picked(NamedTuple):
    """Another runnable that a function has returned."""

    of: Result


_notes: ContextVar[Notes] = ContextVar("signoff_returned")


def kept(thing: Any) -> Callable[..., Any]:
    """How to await a runnable of LangChain's, so that what it has done is not lost when its run is called off."""
    if not (is_sync(thing) or is_tool(thing) or type(thing) in _makers()):
        return thing.ainvoke  # type: ignore[no-any-return]
    noting, result = _noting(thing)

    async def ainvoke(input: Any, config: Any = None, **kwargs: Any) -> Any:
        notes: Notes = {}
        token = _notes.set(notes)
        try:
            return await noting.ainvoke(input, config, **kwargs)
        except asyncio.CancelledError:
            scope = _scope.running.get()
            if scope is None or not scope.host.is_stopping or not (found := result(notes)):
                raise
            return found[0]
        finally:
            _notes.reset(token)

    return ainvoke


@cache
def _makers() -> Mapping[type, Callable[..., tuple[Any, Result]]]:
    """Runnables that come to what their last parts come to. A class derived from them may do more at the end."""
    from langchain_core.runnables import RunnableBinding, RunnableLambda, RunnableParallel, RunnableSequence
    from langchain_core.runnables.retry import RunnableRetry

    return {
        RunnableLambda: _noting_lambda,
        RunnableSequence: _noting_sequence,
        RunnableParallel: _noting_parallel,
        RunnableBinding: _noting_binding,
        RunnableRetry: _noting_binding,
    }


def _noting(thing: Any, **place: bool) -> tuple[Any, Result]:
    """The same runnable, noting what it returns; and how to read that.

    In its place something may come behind it (`is_last`), or others may run beside it (`is_beside`).
    """
    make: Callable[..., tuple[Any, Result]] = _makers().get(type(thing), _noting_other)
    return make(thing, **place)


def _noting_sequence(sequence: Any, *, is_last: bool = True, is_beside: bool = False) -> tuple[Any, Result]:
    first, *middle = (_noting(step, is_last=False, is_beside=is_beside)[0] for step in sequence.steps[:-1])
    last, result = _noting(sequence.steps[-1], is_last=is_last, is_beside=is_beside)
    return sequence.model_copy(update={"first": first, "middle": middle, "last": last}), result


def _noting_parallel(parallel: Any, *, is_last: bool = True, is_beside: bool = False) -> tuple[Any, Result]:
    parts = {name: _noting(step, is_last=is_last, is_beside=True) for name, step in parallel.steps__.items()}

    def result(notes: Notes) -> list[Any]:
        found = {name: of(notes) for name, (_, of) in parts.items()}
        return [{name: one for name, [one] in found.items()}] if all(found.values()) else []

    return parallel.model_copy(update={"steps__": {name: step for name, (step, _) in parts.items()}}), result


def _noting_binding(binding: Any, **place: bool) -> tuple[Any, Result]:
    bound, result = _noting(binding.bound, **place)
    return binding.model_copy(update={"bound": bound}), result


def _noting_lambda(function: Any, *, is_last: bool = True, is_beside: bool = False) -> tuple[Any, Result]:
    called = getattr(function, "afunc", None) or function.func
    if _yields(called):
        return function, lambda notes: []
    key, noting = object(), copy.copy(function)
    if not hasattr(function, "afunc"):
        called = _in_thread(called, is_last=is_last, is_beside=is_beside)
    noting.afunc = noted(called, partial(_picked, key, is_last=is_last, is_beside=is_beside))
    return noting, _by(key)


def _picked(key: object, result: Any, **place: bool) -> Any:
    """What to hand on of what a function has returned: it may be another runnable, which is called then."""
    from langchain_core.runnables import Runnable

    if Runnable not in type(result).__mro__:  # graphs keep by themselves what they have done
        _note(key, result)
        return result
    noting, of = _noting(result, **place)
    _notes.get()[key] = _Picked(of)
    return noting


def _in_thread(func: Callable[..., Any], *, is_last: bool, is_beside: bool) -> Callable[..., Any]:
    from langchain_core.runnables.config import call_func_with_variable_args

    async def afunc(input: Any, *, run_manager: Any, config: Any, **kwargs: Any) -> Any:
        call = partial(call_func_with_variable_args, func, input, config, run_manager.get_sync(), **kwargs)
        return await in_run(call, is_last=is_last, is_beside=is_beside)

    return afunc


def _noting_other(thing: Any, *, is_last: bool = True, is_beside: bool = False) -> tuple[Any, Result]:
    key = object()
    return _other_class()(thing, key, is_last=is_last, is_beside=is_beside), _by(key)


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
                result = await self.inner.ainvoke(input, config, **kwargs)
            _note(self.key, result)
            return result

    return Noting


async def _ran(tool: Any, place: dict[str, bool], input: Any, config: Any, **kwargs: Any) -> Any:
    """What a tool comes to. It is not run again to hand on what it has returned."""
    arun, returned = threaded(tool, **place) if runs_beside_loop(tool) else tool._arun, list[Any]()

    @wraps(arun)
    async def once(*args: Any, **kwargs: Any) -> Any:
        if not returned:
            returned.append(await arun(*args, **kwargs))
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
