"""A compiled graph: run it, stream it, read and change what it remembers, look at it."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NoReturn, Self, cast

from signoff._elsewhere import OF_PREGEL, tell_where
from signoff.bridge.runnables import DELEGATED, as_runnable, introduce
from signoff.config import ConfigLike, RunnableConfig, merge_configs
from signoff.engine.storing.node_cache import cache_ns
from signoff.errors import InvalidInput, UnknownNode
from signoff.pregel.answered import Answered
from signoff.pregel.describing import Describing, named_with
from signoff.pregel.following import Following
from signoff.pregel.remembering import Remembering

_OF_NODE = "It is a node's own: graph.nodes[...].{}"
_TO_BUILD = "A graph does not change once it is compiled: call {}() of its builder, and compile() that"

_INSTEAD = {
    **dict.fromkeys(("config_schema", "get_config_jsonschema"), "Call get_context_jsonschema()"),
    **{name: _OF_NODE.format(name) for name in ("retry_policy", "cache_policy")},
    **{f"attach_{part}": _TO_BUILD.format(f"add_{part}") for part in ("node", "edge")},
    "attach_branch": _TO_BUILD.format("add_conditional_edges"),
    "validate": "compile() has checked it",
}
"""What to do for what LangGraph calls deprecated, or has for its own engine."""


class Compiled(Following, Remembering, Answered, Describing):
    """Everything that can be done with a graph, however it was written."""

    def _set_up(self, *args: Any, **settings: Any) -> None:
        super()._set_up(*args, **settings)
        introduce(Compiled)

    # Settings

    def with_config(self, config: ConfigLike | None = None, **kwargs: Any) -> Self:
        """The same graph with settings that every call of it has."""
        if not isinstance(config, Mapping | None):
            raise InvalidInput(f"The config is {config!r}. Give a dict, or settings by name: with_config(tags=[...]).")
        return self.copy({"config": merge_configs(self.config, config, cast(RunnableConfig, kwargs))})

    def copy(self, update: dict[str, Any] | None = None) -> Self:
        """The same graph with some attributes replaced."""
        other = copy(self)
        for name, value in (update or {}).items():
            setattr(other, name, value)
        return other

    # Nested graphs and caches

    def get_subgraphs(self, *, namespace: str | None = None, recurse: bool = False) -> Iterator[tuple[str, Any]]:
        """The graphs nested in this one, by the name of their node.

        namespace: the names of the nodes that lead to the only one that is wanted, as `outer|inner`.
        recurse: whether to look into nested graphs as well; so one that is further inside is found only with it.
        """
        first, _, inside = (namespace or "").partition("|")
        for name, node in self.program.nodes.items():
            if node.graph is None or (namespace is not None and name != first):
                continue
            if not inside:
                yield name, node.graph
            if recurse and (inside or namespace is None):
                for below, graph in node.graph.get_subgraphs(namespace=inside or None, recurse=True):
                    yield f"{name}|{below}", graph

    async def aget_subgraphs(
        self, *, namespace: str | None = None, recurse: bool = False
    ) -> AsyncIterator[tuple[str, Any]]:
        """Like get_subgraphs, on an event loop."""
        for found in self.get_subgraphs(namespace=namespace, recurse=recurse):
            yield found

    def clear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """Forget the cached results of nodes; without names, of all."""
        self._the_cache().clear(self._cache_namespaces(nodes))

    async def aclear_cache(self, nodes: Sequence[str] | None = None) -> None:
        """Like clear_cache, on an event loop."""
        await self._the_cache().aclear(self._cache_namespaces(nodes))

    def _the_cache(self) -> Any:
        if self.cache is None:
            raise InvalidInput(f"The {self.program.shown} has no cache. Give it one: compile(cache=InMemoryCache()).")
        return self.cache

    def _cache_namespaces(self, nodes: Sequence[str] | None) -> list[tuple[str, ...]]:
        known = self.program.nodes
        for name in nodes or ():
            if name not in known:
                raise UnknownNode(f"There is no node {name!r} to clear the cache of. The nodes are: {sorted(known)}.")
        return [cache_ns(known[name].action, name) for name in (known if nodes is None else nodes)]

    # As a LangChain runnable

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class, as isinstance() asks for it: LangChain may have been loaded after the graph was compiled."""
        introduce(Compiled)
        return type(self)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What stands behind the class, below. At run time it would make every look at an attribute slow."""

    def __or__(self, other: Any) -> Any:
        return as_runnable(self) | other

    def __ror__(self, other: Any) -> Any:
        return other | as_runnable(self)

    def get_name(self, suffix: str | None = None, *, name: str | None = None) -> str:
        """The name, as LangChain asks for it."""
        return named_with(name or self.name, suffix) if suffix else name or self.name


class _Delegated:
    """What a graph leaves to LangChain, which is loaded when somebody asks for it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, graph: Any, owner: Any = None) -> Any:
        return self if graph is None else getattr(as_runnable(graph), self._name)


class _Missing:
    """What a graph does not have, with what to do instead."""

    def __init__(self, name: str, mend: str) -> None:
        self._name, self._mend = name, mend

    def __get__(self, graph: Any, owner: Any = None) -> NoReturn:
        told = f"{owner.__name__!r} object has no attribute {self._name!r}. {self._mend}"
        raise AttributeError(told, name=self._name, obj=graph)


for _name in DELEGATED:
    setattr(Compiled, _name, _Delegated(_name))
for _name, _mend in _INSTEAD.items():
    setattr(Compiled, _name, _Missing(_name, _mend))


def __getattr__(name: str) -> NoReturn:
    tell_where(__name__, name, OF_PREGEL)
