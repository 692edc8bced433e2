"""Hooks as nodes: the methods of middleware that run before and after the agent and the model."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from signoff._annotations import fits
from signoff._words.commands import Command
from signoff._words.policies import TracePolicy
from signoff.agents.changed_in_place import Newest
from signoff.agents.middleware.base import AgentMiddleware, overrides
from signoff.agents.middleware.decorators import targets_of
from signoff.agents.middleware.tracing import policy_of
from signoff.agents.own_messages import with_own_messages
from signoff.errors import InvalidUpdateError
from signoff.prebuilt._invoking import runtime_of

HOOKS = ("before_agent", "before_model", "after_model", "after_agent")


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook of one middleware."""

    name: str
    """The name of its node."""
    action: Any
    targets: tuple[str, ...]
    """Where it may jump to."""
    trace: TracePolicy | None = None
    """What traces record of it."""


def hooks_of(middleware: Sequence[AgentMiddleware[Any, Any]], method: str) -> list[Hook]:
    """The hooks of a kind, in the order in which they run: what comes after the model runs from the inside out."""
    found = list(_hooks(middleware, method))
    return found[::-1] if method.startswith("after") else found


def _hooks(middleware: Sequence[AgentMiddleware[Any, Any]], method: str) -> Iterator[Hook]:
    for one in middleware:
        has_sync, has_async = overrides(one, method), overrides(one, f"a{method}")
        if has_sync or has_async:
            name = f"{one.name}.{method}"
            targets = targets_of(one, method, f"a{method}")
            sync = _of_two(getattr(one, method)) if has_sync else None
            aio = _of_two(getattr(one, f"a{method}")) if has_async else None
            action = _action(name, sync, aio, targets)
            yield Hook(name, action, targets, policy_of(one))


def _of_two(method: Any) -> Any:
    """A hook as it is called: with the state and the runtime, of which it may leave out the latter."""
    if fits(method, None, None):
        return method
    if fits(method, None, runtime=None):
        return lambda state, runtime: method(state, runtime=runtime)
    return lambda state, runtime: method(state)


def _action(name: str, sync: Any, aio: Any, targets: tuple[str, ...]) -> Any:
    """What the graph calls. A hook that is only sync stays a plain function: an async run gives it a thread."""

    def run(state: Any, runtime: Any) -> Any:
        newest = Newest(state)
        update = with_own_messages(checked(sync(state, runtime), name, targets))
        return _jumping(newest.with_changed(update), state, targets)

    async def arun(state: Any, runtime: Any) -> Any:
        newest = Newest(state)
        update = aio(state, runtime)
        if not isawaitable(update):
            raise InvalidUpdateError(f"The async hook of {name!r} returned {update!r} at once. Write async def.")
        update = with_own_messages(checked(await update, name, targets))
        return _jumping(newest.with_changed(update), state, targets)

    if sync is not None and aio is not None:
        return _InBothWays(name, run, arun)
    return run if sync is not None else arun


class _InBothWays(Runnable[Any, Any]):
    """A hook with a version for each kind of run."""

    def __init__(self, name: str, run: Any, arun: Any) -> None:
        self.name = name
        self.run = run
        self.arun = arun

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return self.run(input, runtime_of(ensure_config(config)))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        return await self.arun(input, runtime_of(ensure_config(config)))


def checked(update: Any, name: str, targets: tuple[str, ...]) -> Any:
    """What a hook returned, if it jumps only where it said that it may."""
    said = update.update if isinstance(update, Command) and update.graph is None else update
    target = said.get("jump_to") if isinstance(said, dict) else None
    if target is not None and target not in targets:
        raise InvalidUpdateError(
            f"{name!r} returned jump_to={target!r}, and it may jump to: {', '.join(targets) or 'nowhere'}. Declare it "
            f"with @hook_config(can_jump_to=[{target!r}])."
        )
    return update


def _jumping(update: Any, state: Any, targets: tuple[str, ...]) -> Any:
    """An update after which the state says where this hook jumps to, and not where the one before it did."""
    if not targets or state.get("jump_to") is None:
        return update
    if isinstance(update, Command) and update.graph is None:
        return replace(update, update=_jumping(update.update, state, targets))
    return {"jump_to": None, **(update or {})} if isinstance(update, dict | None) else update
