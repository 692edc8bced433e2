"""Procedures that call models, tools and functions of the user's: written once, run in sync and async."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from signoff import _scope
from signoff.bridge.threads import is_sync_tool
from signoff.constants import CONF, RUNTIME, SCOPE
from signoff.drivers.tasks.aio_threads import in_thread
from signoff.engine.program import Action, Node
from signoff.errors import NeedsAsync
from signoff.prebuilt.carrying import has_returned
from signoff.prebuilt.tool_calls import adone, done
from signoff.prebuilt.ways_of_tools import is_async_only
from signoff.runtime import Runtime
from signoff.steps import Steps, adrive, drive

Procedure = Callable[[Any, RunnableConfig], Steps[Any]]
"""From an input and a config to the steps that make the output."""


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call a runnable: a model, a tool, a prompt."""

    runnable: Any
    input: Any
    config: RunnableConfig


@dataclass(frozen=True, slots=True)
class Apply:
    """Call a function of the user's, sync or async, with what it asks for by name."""

    action: Action
    args: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """Do something as a task of its own inside of the running one, so that what it comes to is kept, a failure, too."""

    node: Node
    given: str | None = None
    """It is found again if it is given the same."""


def perform(effect: Any) -> Any:
    """Do what a procedure asks, in a sync run."""
    if isinstance(effect, Keep):
        return done(effect.node, _scope.running.get(), effect.given)
    if isinstance(effect, Invoke):
        check_sync(effect.runnable)
        return effect.runnable.invoke(effect.input, effect.config)
    if effect.action.func is None:
        raise _is_async(effect.action.name)
    return effect.action.func(*effect.args, **_extras(effect.action))


def check_sync(runnable: Any) -> None:
    """Refuse a tool that only async runs can call."""
    if is_async_only(runnable):
        raise _is_async(runnable.name)


def _is_async(name: str) -> NeedsAsync:
    return NeedsAsync(
        f"{name!r} is async, and the agent was called synchronously. Call it with ainvoke, astream or abatch."
    )


async def aperform(effect: Any) -> Any:
    """Do what a procedure asks, on an event loop."""
    if isinstance(effect, Keep):
        return await _akept(effect, _scope.running.get())
    if isinstance(effect, Invoke):
        called, input, config = effect.runnable, effect.input, effect.config
        return await called_in_loop(
            called,
            scope_of(config),
            partial(called.invoke, input, config),
            partial(called.ainvoke, input, config),
            partial(called.ainvoke, input, {**config, "callbacks": []}),
        )
    if effect.action.afunc is None:
        return effect.action.func(*effect.args, **_extras(effect.action))
    return await effect.action.afunc(*effect.args, **_extras(effect.action))


async def _akept(effect: Keep, scope: Any) -> Any:
    if scope.host.loop is None:  # on a loop of its own inside of a sync run nobody could wait for tasks of that
        assert effect.node.action.afunc is not None, "what is kept can be done in both ways"
        return await effect.node.action.afunc(effect.given)
    return await adone(effect.node, scope, effect.given)


async def called_in_loop(
    runnable: Any,
    scope: Any,
    invoke: Callable[[], Any],
    ainvoke: Callable[[], Awaitable[Any]],
    again: Callable[[], Awaitable[Any]],
) -> Any:
    """What a runnable comes to. What a tool of a run has done is not lost when the run is called off.

    LangChain would leave the thread of a sync tool to itself: so the tool is called in one that the run waits for. And
    a coroutine that has returned is some turns of the loop away from here: `again` hands on what it returned, and tells
    nobody.
    """
    if scope is not None and is_sync_tool(runnable):
        return await in_thread(invoke, scope.host)
    try:
        return await ainvoke()
    except asyncio.CancelledError:
        if scope is None or not scope.host.is_stopping or not has_returned(runnable):
            raise
        return await again()


def _extras(action: Action) -> dict[str, Any]:
    if not action.takes:
        return {}
    scope = _scope.current(f"{action.name!r}")
    return {name: scope.argument(name) for name in action.takes}


class Stepwise(Runnable[Any, Any]):
    """A node made of a procedure."""

    def __init__(self, name: str, procedure: Procedure) -> None:
        self.name = name
        self.procedure = procedure

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return drive(self.procedure(input, ensure_config(config)), perform)

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await adrive(self.procedure(input, ensure_config(config)), aperform)


def scope_of(config: RunnableConfig) -> Any:
    """The scope of the task that a call is made from; None outside of a run.

    In a thread that somebody started without its context, the config still says it.
    """
    return _scope.running.get() or (config.get(CONF) or {}).get(SCOPE)


def is_in_saved_run() -> bool:
    """Whether the running task may ask somebody: then it starts over, and only what is kept is not done again."""
    scope = _scope.running.get()
    return scope is not None and scope.host.run.is_saved


def runtime_of(config: RunnableConfig) -> Runtime[Any]:
    """The runtime that a config carries; outside of a run, where it carries none, an empty one."""
    runtime: Runtime[Any] | None = (config.get(CONF) or {}).get(RUNTIME)
    if runtime is not None:
        return runtime
    scope = _scope.running.get()
    return Runtime() if scope is None else scope.runtime


def field(state: Any, key: str, default: Any = None) -> Any:
    """One key of a state, whichever way it is written: a dict, a dataclass or a pydantic model."""
    return state.get(key, default) if isinstance(state, dict) else getattr(state, key, default)


def messages_of(state: Any, key: str = "messages") -> Any:
    """The messages in a state, under a key of it, or those that stand for it; None or nothing, if it has none."""
    return state if isinstance(state, list) else field(state, key)
