"""Graphs as LangChain runnables: in a chain with `|`, with retries and fallbacks, in astream_events."""

import sys
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from signoff.pregel.main import Compiled

DELEGATED = frozenset({
    "InputType", "OutputType", "assign", "astream_events", "astream_log", "atransform", "bind", "config_specs",
    "get_lc_namespace", "is_lc_serializable", "map", "pick", "pipe", "transform", "with_alisteners", "with_fallbacks",
    "with_listeners", "with_retry", "with_types",
})  # fmt: skip
"""What a runnable can do that a graph leaves to LangChain."""


def introduce(graph_class: type) -> None:
    """Make LangChain take graphs for runnables, if the program uses it."""
    base = sys.modules.get("langchain_core.runnables.base")
    if base is not None and not issubclass(graph_class, base.Runnable):
        base.Runnable.register(graph_class)


def as_runnable(graph: "Compiled") -> Any:
    """The graph as a runnable of LangChain's own kind."""
    return _runnable_class()(graph)


@cache
def _runnable_class() -> Any:
    from langchain_core.runnables import Runnable

    class GraphRunnable(Runnable[Any, Any]):
        """Hands every call on to a graph."""

        def __init__(self, graph: "Compiled") -> None:
            self.graph = graph
            self.name = graph.name

        def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            return self.graph.invoke(input, config, **kwargs)

        async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            return await self.graph.ainvoke(input, config, **kwargs)

        def stream(self, input: Any, config: Any = None, **kwargs: Any) -> Iterator[Any]:
            yield from self.graph.stream(input, config, **kwargs)

        async def astream(self, input: Any, config: Any = None, **kwargs: Any) -> AsyncIterator[Any]:
            async for chunk in self.graph.astream(input, config, **kwargs):
                yield chunk

    return GraphRunnable
