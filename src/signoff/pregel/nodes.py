"""Nodes by themselves: `graph.nodes["review"].invoke(state)`, as in a unit test, without edges, saver or the others."""

from collections.abc import Sequence
from typing import Any

from signoff.config import RunnableConfig
from signoff.engine.program import Action, Node
from signoff.errors import NeedsAsync
from signoff.runtime import DEFAULT_RUNTIME

__all__ = ["LoneNode"]


class LoneNode:
    """A node of a compiled graph that can be called alone: what it returns is what its function returns."""

    def __init__(self, node: Node) -> None:
        self._node = node

    @property
    def name(self) -> str:
        return self._node.name

    @property
    def bound(self) -> Action:
        """What the node calls: its `func`, or its `afunc`."""
        return self._node.action

    @property
    def subgraphs(self) -> Sequence[Any]:
        """The graph that the node is, or that its function calls."""
        return self._node.subgraphs

    def invoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """Call the node with an input."""
        if self.bound.func is None:
            raise NeedsAsync(f"Node {self.name!r} is async. Call it with ainvoke.")
        return self.bound.func(input, **self._extras(config))

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None) -> Any:
        """Like invoke; a sync function is called on the spot."""
        if self.bound.afunc is None:
            return self.invoke(input, config)
        return await self.bound.afunc(input, **self._extras(config))

    def _extras(self, config: RunnableConfig | None) -> dict[str, Any]:
        runtime = DEFAULT_RUNTIME
        known = {"config": config or {}, "runtime": runtime, "writer": runtime.stream_writer, "store": runtime.store}
        return {name: known.get(name) for name in self.bound.takes}
