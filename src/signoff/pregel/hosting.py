"""Hosting: from a graph and the arguments of a call to the host of a run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from signoff import _scope
from signoff.bridge import ambient_config
from signoff.checkpoint.base import BaseCheckpointSaver, CheckpointTuple, get_checkpoint_metadata
from signoff.checkpoint.ids import now, stamp
from signoff.config import RunnableConfig, merge_configs
from signoff.constants import CHECKPOINT_ID, CHECKPOINT_MAP, CHECKPOINT_NS, CONF, NS_SEP, SCOPE, THREAD_ID
from signoff.drivers.holding import new_holder, shown
from signoff.drivers.host import Host
from signoff.drivers.saving import tell_limits
from signoff.drivers.scope import Scope
from signoff.engine.ids import stateful_ns
from signoff.engine.run import NO_NODES, Nodes, Run, Travel
from signoff.errors import InvalidInput, MissingThreadId
from signoff.pregel.reading import graph_at
from signoff.runtime import RunControl
from signoff.types import All, Durability, OnChanged, OnPending

if TYPE_CHECKING:
    from signoff.pregel.base import Base

DEFAULT_RECURSION_LIMIT = 10_007


@dataclass(slots=True)
class Options:
    """The keyword arguments of invoke, stream and their twins, as far as they steer the run."""

    context: Any = None
    output_keys: str | Sequence[str] | None = None
    interrupt_before: All | Sequence[str] | None = None
    interrupt_after: All | Sequence[str] | None = None
    durability: Durability | None = None
    control: RunControl | None = None
    on_pending: OnPending | None = None
    on_changed: OnChanged = "raise"
    streams: bool = False
    """Whether every key of the state is shown, and not only the output, unless the caller names keys."""


def host_for(graph: "Base", config: RunnableConfig | None, options: Options) -> Host:
    """The host of a run: a root, or nested in the task that is running here."""
    config = merge_configs(graph.config, config) if graph.config else config or {}
    place = config.get(CONF) or {}
    parent = _parent_of(place)
    if parent is None:
        return _root_host(graph, _with_ambient(config), place, options)
    return _nested_host(graph, config, parent, options)


def _with_ambient(config: RunnableConfig) -> RunnableConfig:
    """A config with the callbacks of the LangChain runnable that the call is made from, unless it has its own."""
    ambient = None if config.get("callbacks") else ambient_config()
    if not ambient:
        return config
    heard = {name: ambient[name] for name in ("callbacks", "tags", "metadata") if ambient.get(name)}
    return merge_configs(cast(RunnableConfig, heard), config)


def _parent_of(place: dict[str, Any]) -> Scope | None:
    """The task that a call is made from. One with a thread id of its own is independent of it."""
    passed: Scope | None = place.get(SCOPE)
    if passed is not None:
        return passed
    running: Scope | None = _scope.running.get()
    if running is not None and place.get(THREAD_ID, running.host.run.thread_id) == running.host.run.thread_id:
        return running
    return None


# A root


def _root_host(graph: "Base", config: RunnableConfig, place: dict[str, Any], options: Options) -> Host:
    saver = _root_saver(graph)
    run = Run(
        graph.program,
        thread_id=_thread_id(graph, place) if saver else str(place.get(THREAD_ID) or ""),
        ns="",
        checkpoint_id=_root_checkpoint_id(place),
        is_saved=saver is not None,
        durability=_durability(options.durability),
        recursion_limit=_recursion_limit(config),
        output_keys=_output_keys(graph, options),
        before=_nodes(graph, options.interrupt_before, graph.interrupt_before),
        after=_nodes(graph, options.interrupt_after, graph.interrupt_after),
        control=options.control,
        stamp=stamp,
        now=now,
        holder=_holder(saver),
        shown_holder=shown,
        on_pending=_on_pending(options.on_pending or graph.on_pending),
        accepts_changes=_accepts_changes(options.on_changed),
        travels=_travel(place),
        has_cache=graph.cache is not None,
        caches=graph.cache is not None and graph.uses_cache,
    )
    if saver is not None:
        run.metadata = get_checkpoint_metadata(config, {})
        run.next_version = _numbering(saver)
        run.takes_moments = getattr(saver, "takes_moments", False)
    return Host(
        run,
        config,
        saver=saver,
        store=graph.store,
        cache=graph.cache,
        context=graph.coerced_context(options.context),
        max_concurrency=config.get("max_concurrency"),
        step_timeout=graph.step_timeout,
        runs_in_place=graph.step_timeout is None,
        run_id=str(config["run_id"]) if config.get("run_id") else None,
    )


def _root_saver(graph: "Base") -> "BaseCheckpointSaver[Any] | None":
    if graph.checkpointer is True:
        raise InvalidInput(
            f"{graph.name!r} was compiled with checkpointer=True, which means its parent's saver, but it has no parent "
            "here. Compile it with a saver, such as InMemorySaver(), to run it on its own."
        )
    return graph.checkpointer or None


def _numbering(saver: Any) -> Callable[[Any], Any] | None:
    """How a saver numbers versions, if it does so in a way of its own."""
    if type(saver).get_next_version is BaseCheckpointSaver.get_next_version:
        return None
    return lambda current: saver.get_next_version(current, None)


def _thread_id(graph: "Base", place: dict[str, Any]) -> str:
    thread_id = place.get(THREAD_ID)
    if thread_id is None or thread_id == "":
        raise MissingThreadId(
            f"{graph.name!r} has a saver, so it must know which thread this is. "
            'Call it with config={"configurable": {"thread_id": "..."}}.'
        )
    return str(thread_id)


def _root_checkpoint_id(place: dict[str, Any]) -> str | None:
    """The checkpoint that the caller named; of the root, where it is one of a nested graph."""
    if place.get(CHECKPOINT_NS):
        checkpoint_id: str | None = (place.get(CHECKPOINT_MAP) or {}).get("")
        return checkpoint_id
    return place.get(CHECKPOINT_ID) or None


def _travel(place: dict[str, Any]) -> Travel | None:
    """Where nested graphs are to begin, if the caller named a checkpoint of one."""
    named: dict[str, str] = place.get(CHECKPOINT_MAP) or {}
    if not place.get(CHECKPOINT_NS) or "" not in named:
        return None
    return Travel(named[""], {stateful_ns(ns): (ns, id) for ns, id in named.items() if ns})


def _on_pending(asked: OnPending) -> OnPending:
    if asked not in ("raise", "answer", "discard"):
        raise InvalidInput(f'on_pending must be "raise", "answer" or "discard", not {asked!r}.')
    return asked


def _accepts_changes(asked: str) -> bool:
    if asked not in ("raise", "accept"):
        raise InvalidInput(f'on_changed must be "raise" or "accept", not {asked!r}.')
    return asked == "accept"


def _durability(asked: Durability | None) -> Durability:
    if asked not in (None, "sync", "async", "exit"):
        raise InvalidInput(f'durability must be "sync", "async" or "exit", not {asked!r}.')
    return asked or "async"


def _recursion_limit(config: RunnableConfig) -> int:
    limit = config.get("recursion_limit", DEFAULT_RECURSION_LIMIT)
    if limit < 1:
        raise InvalidInput(f"recursion_limit must be at least 1, not {limit}.")
    return limit


def _output_keys(graph: "Base", options: Options) -> str | Sequence[str]:
    keys = options.output_keys
    if keys is None:
        return graph.program.stream_keys if options.streams else graph.program.output_keys
    for key in [keys] if isinstance(keys, str) else keys:
        if key not in graph.program.channels:
            raise InvalidInput(f"output_keys has {key!r}, which {graph.name!r} does not have.")
    return keys


def _nodes(graph: "Base", asked: All | Sequence[str] | None, default: All | Sequence[str]) -> Nodes:
    names = default if asked is None else asked
    if not names:
        return NO_NODES
    if names == "*":
        return None
    for name in names:
        if name not in graph.program.nodes:
            raise InvalidInput(f"A breakpoint is set at {name!r}, which is not a node of {graph.name!r}.")
    return frozenset(names)


# A nested one


def _nested_host(graph: "Base", config: RunnableConfig, parent: Scope, options: Options) -> Host:
    outer = parent.host
    saver = None if graph.checkpointer is False else outer.saver
    is_stateful = graph.checkpointer is True
    ns = stateful_ns(parent.task.ns_inside) if is_stateful else _next_ns(parent)
    parents = {**outer.run.parents, outer.run.ns: parent.task.began_at}
    run = Run(
        graph.program,
        thread_id=outer.run.thread_id,
        ns=ns,
        is_saved=saver is not None,
        durability=options.durability or outer.run.durability,
        recursion_limit=_recursion_limit(config) if "recursion_limit" in config else outer.run.recursion_limit,
        output_keys=_output_keys(graph, options),
        before=_nodes(graph, options.interrupt_before, graph.interrupt_before),
        after=_nodes(graph, options.interrupt_after, graph.interrupt_after),
        control=options.control or outer.run.control,
        stamp=outer.run.stamp,
        now=outer.run.now,
        takes_moments=outer.run.takes_moments and saver is not None,
        next_version=outer.run.next_version,
        metadata=outer.run.metadata,
        parents=parents,
        answers=outer.run.answers,
        given=outer.run.given,
        lease=outer.run.lease,
        accepts_changes=outer.run.accepts_changes,
        keep_for=None if is_stateful else outer.run.kept_nested,
        travels=outer.run.travels,
        is_nested=True,
        continues=(lambda saved: _is_same_turn(saved, outer, parent)) if is_stateful else (lambda saved: True),
        has_cache=(graph.cache or outer.cache) is not None,
        caches=(graph.cache or outer.cache) is not None and graph.uses_cache,
    )
    return Host(
        run,
        merge_configs(outer.config, config) if config else outer.config,
        saver=saver,
        store=graph.store or outer.store,
        cache=graph.cache or outer.cache,
        context=graph.coerced_context(options.context) if options.context is not None else outer.context,
        sink=outer.sink,
        parent=parent,
        max_concurrency=outer.max_concurrency,
        step_timeout=graph.step_timeout,
        runs_in_place=graph.step_timeout is None,
        run_id=outer.run_id,
    )


def _next_ns(parent: Scope) -> str:
    """A namespace of its own for each call; those behind the first of a task are counted."""
    count, parent.nested = parent.nested, parent.nested + 1
    inside = parent.task.ns_inside
    return f"{inside}{NS_SEP}{count}" if count else inside


def _is_same_turn(saved: CheckpointTuple, outer: Host, parent: Scope) -> bool:
    """Whether a stateful graph's checkpoint was made by the very task that calls it now, before a pause or a crash."""
    parents = saved.metadata.get("parents", {})
    return parents.get(outer.run.ns) == parent.task.began_at


# Reading and updating


def saved_host(graph: "Base", config: RunnableConfig) -> Host:
    """A host for reading and changing what is saved; inside a node, with the saver of the run around it."""
    place = config.get(CONF) or {}
    parent = _parent_of(place)
    saver = parent.host.saver if parent is not None and not graph.checkpointer else _root_saver(graph)
    if saver is None:
        raise InvalidInput(f"{graph.name!r} has no saver, so nothing is saved. Compile it with one: InMemorySaver().")
    return Host(Run(graph.program, is_saved=True), config, saver=saver)


def update_host(graph: "Base", config: RunnableConfig) -> Host:
    """A host for an update: of the graph itself, or of the nested one that the config's namespace names."""
    host = saved_host(graph, config)
    place = config.get(CONF) or {}
    ns = place.get(CHECKPOINT_NS) or ""
    host.run = Run(
        graph_at(graph, ns).program,
        thread_id=_thread_id(graph, place),
        ns=ns,
        checkpoint_id=place.get(CHECKPOINT_ID) or (place.get(CHECKPOINT_MAP) or {}).get(ns),
        is_saved=True,
        durability="sync",
        stamp=stamp,
        now=now,
        next_version=_numbering(host.the_saver),
        **_hold(host, _parent_of(place)),
        metadata=get_checkpoint_metadata(config, {}),
        parents={outer: id for outer, id in (place.get(CHECKPOINT_MAP) or {}).items() if outer != ns},
    )
    return host


def _hold(host: Host, parent: Scope | None) -> dict[str, Any]:
    """How an update takes its thread: as a run does, or, inside of a run of that thread, with its lease."""
    if parent is not None and parent.host.run.lease is not None:
        return {"lease": parent.host.run.lease, "is_nested": True}
    return {"holder": _holder(host.saver), "shown_holder": shown}


def _holder(saver: Any) -> str:
    """A name to take a thread under; none if the saver knows no leases."""
    if getattr(saver, "has_leases", False):
        return new_holder()
    if saver is not None:
        tell_limits(saver)
    return ""
