"""StateGraph: describe a workflow as nodes that share a state."""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Concatenate, Generic, Literal, Never, Self, TypeAlias

from signoff._words.choices import All, OnPending
from signoff._words.policies import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy
from signoff.constants import END, NS_END, NS_SEP, RESERVED, START
from signoff.engine.policies import as_policies, checked_policy, checked_trace
from signoff.errors import InvalidGraph, NotCompiled
from signoff.graph.description import Description, Schemas
from signoff.graph.nodes import Defaults, NodeSpec, as_ends, checked_action, inferred
from signoff.graph.routing import branch_spec, plain
from signoff.graph.schema import schema_of_state
from signoff.pregel.actions import check_action, check_timeout, is_runnable, name_of
from signoff.pregel.keywords import refuse_old
from signoff.runtime import Runtime
from signoff.typing import ContextT, InputT, OutputT, StateT

if TYPE_CHECKING:
    from signoff.cache.base import BaseCache
    from signoff.checkpoint.base import BaseCheckpointSaver
    from signoff.graph.compiled import CompiledStateGraph
    from signoff.store.base import BaseStore

__all__ = ["CompiledStateGraph", "StateGraph", "StateNode"]

StateNode: TypeAlias = Callable[Concatenate[StateT, ...], Any] | Callable[[StateT, Runtime[ContextT]], Any]
"""What may be a node, by the state that it reads and the context that its runtime has: for annotations."""

Retry = RetryPolicy | Sequence[RetryPolicy] | None
Timeout = float | timedelta | TimeoutPolicy | None
Path = Callable[..., Hashable | Sequence[Hashable]] | Callable[..., Awaitable[Any]] | Any


class StateGraph(Description, Generic[StateT, ContextT, InputT, OutputT]):
    """A graph of nodes that read a shared state and return what to change in it.

    The state is a TypedDict, a dataclass or a pydantic model. A key with a reducer,
    `Annotated[list, operator.add]`, merges what several nodes write; a plain key keeps the last value.
    """

    def __init__(
        self,
        state_schema: type[StateT],
        context_schema: type[ContextT] | None = None,
        *,
        input_schema: type[InputT] | None = None,
        output_schema: type[OutputT] | None = None,
        **old: Never,
    ) -> None:
        refuse_old("StateGraph()", old)
        state = schema_of_state(state_schema)
        input = schema_of_state(input_schema) if input_schema else state
        output = schema_of_state(output_schema) if output_schema else state
        super().__init__(Schemas(state, input, output, context_schema))

    def __getattr__(self, name: str) -> Any:
        """What only a compiled graph has is asked for here, if compile() was forgotten."""
        from signoff.graph.compiled import CompiledStateGraph

        if name.startswith("_") or not hasattr(CompiledStateGraph, name):
            raise AttributeError(f"A {type(self).__name__} has no {name!r}.", name=name, obj=self)
        raise NotCompiled(f"A StateGraph describes a graph, and compile() makes one that runs: call {name}() of that.")

    # Nodes

    def set_node_defaults(
        self,
        *,
        retry_policy: Retry = None,
        cache_policy: CachePolicy | None = None,
        error_handler: Any = None,
        timeout: Timeout = None,
    ) -> Self:
        """What every node gets that does not say otherwise, whether it is added before or after.

        Error handlers are retried and timed in the same way. What another call has said before stands, if this one
        does not say otherwise.
        """
        before = self.defaults
        self.defaults = Defaults(
            as_policies(retry_policy) if retry_policy is not None else before.retry,
            checked_policy(cache_policy) or before.cache,
            error_handler if error_handler is not None else before.handler,
            TimeoutPolicy.coerce(timeout) or before.timeout,
        )
        return self

    def add_node(
        self,
        node: Any,
        action: Any = None,
        *,
        defer: bool = False,
        metadata: Mapping[str, Any] | None = None,
        input_schema: Any = None,
        retry_policy: Retry = None,
        cache_policy: CachePolicy | None = None,
        error_handler: Any = None,
        destinations: Mapping[str, str] | tuple[str, ...] | None = None,
        timeout: Timeout = None,
        trace_policy: TracePolicy | None = None,
        **old: Never,
    ) -> Self:
        """Add a node: a function, a coroutine function, a callable object, a runnable (or a dict of them), or a graph.

        `add_node(fn)` takes the name of the function, `add_node("name", fn)` gives one.
        """
        refuse_old("add_node()", old)
        name, action = (plain(node), action) if isinstance(node, str) else (_own_name(node, action), node)
        self._check_name(name, action)
        action, policy = checked_action(name, action), TimeoutPolicy.coerce(timeout)
        check_timeout(name, action, policy)
        if not isinstance(metadata, Mapping | None):
            raise InvalidGraph(f"The metadata of node {name!r} is {metadata!r}. Give a dict.")
        schema, ends = inferred(action)
        self.nodes[name] = NodeSpec(
            action,
            input_schema or schema,
            defer,
            metadata,
            None if retry_policy is None else as_policies(retry_policy),
            checked_policy(cache_policy),
            error_handler,
            policy,
            ends if destinations is None else as_ends(destinations),
            checked_trace(trace_policy),
            self.state_schema,
        )
        return self

    def _check_name(self, name: str, action: Any) -> None:
        if action is None:
            raise InvalidGraph(f"Node {name!r} has no action. Call add_node({name!r}, function).")
        if name in self.nodes:
            raise InvalidGraph(f"Node {name!r} exists already. Give the second one another name.")
        if name in RESERVED:
            raise InvalidGraph(f"{name!r} is reserved and cannot name a node.")
        if NS_SEP in name or NS_END in name:
            raise InvalidGraph(
                f"Node {name!r}: the characters {NS_SEP!r} and {NS_END!r} are reserved in names of nodes."
            )

    # Edges

    def add_edge(self, start_key: str | list[str], end_key: str) -> Self:
        """After the start, run the end. From a list: when all of them have run, run the end once."""
        if isinstance(start_key, str):
            self._check_edge(start_key, end_key)
            self.edges.add((plain(start_key), plain(end_key)))
            return self
        starts = tuple(start_key) if isinstance(start_key, Iterable) else (start_key,)
        for start in starts:
            self._check_edge(start, end_key)
        if not starts:
            raise InvalidGraph(f"The edge to {end_key!r} begins at no node: the list is empty. Name those to wait for.")
        self.waiting_edges.add((tuple(map(plain, starts)), plain(end_key)))
        return self

    def _check_edge(self, start: Any, end: Any) -> None:
        if isinstance(end, list | tuple | set):
            raise InvalidGraph(f"An edge ends at {end!r}, and it can end at one node only. Add one edge for each.")
        for node in (start, end):
            _check_node_name(node, "An edge")
        if start == END:
            raise InvalidGraph("END cannot be the start of an edge: nothing runs after it.")
        if end == START:
            raise InvalidGraph("START cannot be the end of an edge: a run begins there once.")

    def add_conditional_edges(
        self, source: str, path: Path, path_map: Mapping[Hashable, str] | Sequence[str] | None = None
    ) -> Self:
        """After the source, ask `path(state)` where to go: a node's name, END, a Send, or a list of these."""
        if not (callable(path) or is_runnable(path)):
            raise InvalidGraph(
                f"The conditional edge behind {source!r} must be a function or a runnable, not {path!r}."
            )
        _check_node_name(source, "A conditional edge")
        name = name_of(path)
        check_action(name, path)
        branches = self.branches.setdefault(plain(source), {})
        if name in branches:
            raise InvalidGraph(
                f"Node {source!r} has a conditional edge {name!r} already. Give the second function another name."
            )
        branches[name] = branch_spec(path, path_map, name)
        return self

    def add_sequence(self, nodes: Sequence[Any]) -> Self:
        """Add nodes, functions or (name, function) pairs, that run one after the other."""
        if not nodes or not isinstance(nodes, list | tuple):
            raise InvalidGraph(f"add_sequence needs a list of nodes, with at least one in it, not {nodes!r}.")
        previous: str | None = None
        for node in nodes:
            name, action = node if isinstance(node, tuple) and len(node) == 2 else (name_of(node), node)
            self.add_node(name, action)
            if previous is not None:
                self.add_edge(previous, name)
            previous = name
        return self

    def set_entry_point(self, key: str) -> Self:
        """Begin every run with this node."""
        return self.add_edge(START, key)

    def set_conditional_entry_point(
        self, path: Path, path_map: Mapping[Hashable, str] | Sequence[str] | None = None
    ) -> Self:
        """Begin every run where `path(input)` says."""
        return self.add_conditional_edges(START, path, path_map)

    def set_finish_point(self, key: str) -> Self:
        """End the path with this node."""
        return self.add_edge(key, END)

    # Compiling

    def validate(self, interrupt: Sequence[str] | None = None) -> Self:
        """Check the description; the errors name the node and the mend."""
        from signoff.graph.validating import validate

        validate(self, interrupt or ())
        return self

    def compile(
        self,
        checkpointer: "BaseCheckpointSaver[Any] | bool | None" = None,
        *,
        cache: "BaseCache[Any] | None" = None,
        store: "BaseStore | None" = None,
        interrupt_before: All | list[str] | None = None,
        interrupt_after: All | list[str] | None = None,
        debug: bool = False,
        name: str | None = None,
        on_pending: OnPending = "raise",
        pause: Literal["step", "branch"] = "step",
        transformers: Sequence[Any] | None = None,
        **old: Never,
    ) -> "CompiledStateGraph[StateT, ContextT, InputT, OutputT]":
        """Check the graph and make it runnable: with a saver it remembers, and can pause for days.

        `on_pending` says what new input means for a thread that waits for answers: a mistake ("raise"), the
        answer ("answer"), or that the questions are dropped ("discard"). A call may say otherwise. With
        `pause="branch"`, what does not depend on a task that waits goes on meanwhile. `transformers` make projections
        of your own for `stream_events(version="v3")`.
        """
        from signoff.graph.compiled import compiled
        from signoff.graph.validating import breakpoints_of

        refuse_old("compile()", old)
        self.validate(breakpoints_of(interrupt_before, interrupt_after))
        return compiled(
            self,
            checkpointer,
            cache=cache,
            store=store,
            interrupt_before=interrupt_before,
            interrupt_after=interrupt_after,
            debug=debug,
            name=name,
            on_pending=on_pending,
            pause=pause,
            stream_transformers=transformers,
        )


def _own_name(node: Any, said: Any) -> str:
    """The name that a node has without being given one. Another one behind it would be dropped, and is refused."""
    name = name_of(node)
    if said is not None and not (isinstance(said, str) and said == name):
        raise InvalidGraph(f"add_node({name}, {said!r}): the name comes first, add_node('name', function).")
    return name


def _check_node_name(node: Any, what: str) -> None:
    if isinstance(node, str):
        return
    if callable(node):
        raise InvalidGraph(f"{what} has the function {node!r}. Give its name: {name_of(node)!r}.")
    raise InvalidGraph(f"{what} has {node!r}, which cannot name a node: names are texts.")


def __getattr__(name: str) -> Any:
    if name == "CompiledStateGraph":
        from signoff.graph.compiled import CompiledStateGraph

        return CompiledStateGraph
    raise AttributeError(name)
