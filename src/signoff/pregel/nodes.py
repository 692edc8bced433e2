"""Nodes by themselves: `graph.nodes["review"].invoke(state)`, as in a unit test, without edges, saver or the others."""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any

from signoff._words.policies import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy
from signoff.config import RunnableConfig
from signoff.engine.program import Action, Node
from signoff.errors import NeedsAsync
from signoff.runtime import DEFAULT_RUNTIME

__all__ = ["LoneAction", "LoneNode", "bound_to"]


class LoneAction:
    """A function that can be called as a node calls it."""

    def __init__(self, action: Action) -> None:
        self._action = action

    @property
    def name(self) -> str:
        return self._action.name

    @property
    def func(self) -> Callable[..., Any] | None:
        """The function, if it is a sync one."""
        return self._action.func

    @property
    def afunc(self) -> Callable[..., Any] | None:
        """The coroutine function, if it is one."""
        return self._action.afunc

    def invoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """Call it with an input."""
        if self.func is None:
            raise NeedsAsync(f"Node {self.name!r} is async. Call it with ainvoke.")
        return self.func(input, **self._extras(config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """Like invoke; a sync function is called on the spot."""
        if self.afunc is None:
            return self.invoke(input, config)
        return await self.afunc(input, **self._extras(config))

    def stream(self, input: Any, config: RunnableConfig | None = None) -> Iterator[Any]:
        """What invoke returns, as the only chunk."""
        yield self.invoke(input, config)

    async def astream(self, input: Any, config: RunnableConfig | None = None) -> AsyncIterator[Any]:
        """What ainvoke returns, as the only chunk."""
        yield await self.ainvoke(input, config)

    def _extras(self, config: RunnableConfig | None) -> dict[str, Any]:
        runtime = DEFAULT_RUNTIME
        known = {"config": config or {}, "runtime": runtime, "writer": runtime.stream_writer, "store": runtime.store}
        return {name: known.get(name) for name in self._action.takes}


class LoneNode(LoneAction):
    """A node of a compiled graph that can be called alone: what it returns is what its function returns."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.action)
        self._node = node

    @property
    def name(self) -> str:
        return self._node.name

    @property
    def bound(self) -> Any:
        """What the node calls: the runnable or the graph that it was given, or its function, to be invoked."""
        return bound_to(self._action)

    @property
    def subgraphs(self) -> Sequence[Any]:
        """The graph that the node is, or that its function calls."""
        return [] if self._node.graph is None else [self._node.graph]

    @property
    def triggers(self) -> list[str]:
        """The channels that make it due."""
        return list(self._node.triggers)

    @property
    def metadata(self) -> Mapping[str, Any] | None:
        return self._node.metadata

    @property
    def tags(self) -> Sequence[str] | None:
        return self._node.tags or None

    @property
    def retry_policy(self) -> Sequence[RetryPolicy] | None:
        """Its own, or the graph's default for its nodes."""
        return self._node.retry or None

    @property
    def cache_policy(self) -> CachePolicy | None:
        """Its own, or the graph's default for its nodes."""
        return self._node.cache

    @property
    def timeout(self) -> TimeoutPolicy | None:
        """Its own, or the graph's default for its nodes."""
        return self._node.timeout

    @property
    def trace_policy(self) -> TracePolicy | None:
        return self._node.trace


def bound_to(action: Action) -> Any:
    """What an action calls, as something to invoke."""
    return LoneAction(action) if action.runnable is None else action.runnable
