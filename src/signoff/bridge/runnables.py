"""Graphs as LangChain runnables: in a chain with `|`, with retries and fallbacks, in astream_events."""

import sys
from collections.abc import AsyncIterator, Iterator
from functools import cache
from typing import Any

DELEGATED = frozenset({
    "InputType", "OutputType", "abatch_as_completed", "as_tool", "assign", "astream_log", "atransform",
    "batch_as_completed", "bind", "config_specs", "get_lc_namespace", "get_prompts",
    "is_lc_serializable", "map", "pick", "pipe", "transform", "with_alisteners", "with_fallbacks", "with_listeners",
    "with_retry", "with_types",
})  # fmt: skip
"""What a runnable can do that a graph leaves to LangChain."""


def introduce(graph_class: type) -> None:
    """Make LangChain take graphs for runnables, if the program uses it."""
    base = sys.modules.get("langchain_core.runnables.base")
    if base is not None and not issubclass(graph_class, base.Runnable):
        base.Runnable.register(graph_class)


def is_of_langchain(thing: Any) -> bool:
    """Whether a thing is a runnable of LangChain's; one whose class only looks like it is not."""
    base = sys.modules.get("langchain_core.runnables.base")
    return base is not None and isinstance(thing, base.Runnable)


def parts_of(thing: Any) -> list[Any]:
    """What a runnable of LangChain's is made of: the steps of a chain, the ways of a choice, what a lambda wraps."""
    if not is_of_langchain(thing):
        return []
    from langchain_core.runnables import (
        RouterRunnable,
        RunnableBranch,
        RunnableLambda,
        RunnableParallel,
        RunnableSequence,
        RunnableWithFallbacks,
    )
    from langchain_core.runnables.base import RunnableBindingBase, RunnableEachBase
    from langchain_core.runnables.passthrough import RunnableAssign

    match thing:
        case RunnableBindingBase() | RunnableEachBase():
            return [thing.bound]
        case RunnableSequence():
            return list(thing.steps)
        case RunnableParallel():
            return list(thing.steps__.values())
        case RunnableAssign():
            return [thing.mapper]
        case RunnableBranch():
            return [*(way for _, way in thing.branches), thing.default]
        case RunnableWithFallbacks():
            return list(thing.runnables)
        case RouterRunnable():
            return list(thing.runnables.values())
        case RunnableLambda():
            return [getattr(thing, name) for name in ("func", "afunc") if hasattr(thing, name)]
    return [thing.graph] if isinstance(thing, _runnable_class()) else []


def needs_thread(thing: Any) -> bool:
    """Whether an async run calls a runnable of LangChain's, or a part of it, in a thread: it is sync."""
    from langchain_core.runnables import Runnable, RunnableLambda

    ainvoke = getattr(type(thing), "ainvoke", None)
    if ainvoke is RunnableLambda.ainvoke:
        return not hasattr(thing, "afunc")
    return ainvoke is Runnable.ainvoke or any(map(needs_thread, parts_of(thing)))


def coerced(thing: Any) -> Any:
    """A dict of runnables and functions as the one runnable that LangChain makes of it; anything else as it is."""
    if not isinstance(thing, dict):
        return thing
    from langchain_core.runnables import RunnableParallel

    return RunnableParallel(thing)


def as_runnable(graph: Any) -> Any:
    """The graph as a runnable of LangChain's own kind."""
    return _runnable_class()(graph)


@cache
def _runnable_class() -> Any:
    from langchain_core.runnables import Runnable

    class GraphRunnable(Runnable[Any, Any]):
        """Hands every call on to a graph."""

        def __init__(self, graph: Any) -> None:
            self.graph = graph
            self.name = graph.name

        def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            return self.graph.invoke(input, config, **kwargs)

        async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
            return await self.graph.ainvoke(input, config, **kwargs)

        def get_input_schema(self, config: Any = None) -> Any:
            return self.graph.get_input_schema(config)

        def get_output_schema(self, config: Any = None) -> Any:
            return self.graph.get_output_schema(config)

        def stream(self, input: Any, config: Any = None, **kwargs: Any) -> Iterator[Any]:
            yield from self.graph.stream(input, config, **kwargs)

        async def astream(self, input: Any, config: Any = None, **kwargs: Any) -> AsyncIterator[Any]:
            async for chunk in self.graph.astream(input, config, **kwargs):
                yield chunk

    return GraphRunnable
