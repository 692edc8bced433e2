"""Hosting: from a graph and the arguments of a call to the host of a run."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from signoff import _scope
from signoff._reprs import repr_of
from signoff._snapshots import StateSnapshot
from signoff.bridge import ambient_config
from signoff.checkpoint.base import BaseCheckpointSaver, get_checkpoint_metadata
from signoff.checkpoint.places import check_texts, thread_name
from signoff.config import CONFIG_KEYS, ConfigLike, RunnableConfig, gathered, merge_configs
from signoff.constants import CHECKPOINT_ID, CHECKPOINT_MAP, CHECKPOINT_NS, CONF, RUNTIME, SCOPE, THREAD_ID
from signoff.drivers.host import Host
from signoff.drivers.saving.holding import new_holder
from signoff.drivers.saving.piecewise import tell_limits
from signoff.drivers.scopes.scope import Scope
from signoff.engine.run import MOST_STEPS, Run, Terms
from signoff.engine.threads.time_travel import begins_inside
from signoff.errors import InvalidInput, MissingThreadId
from signoff.pregel.calling import nested_host
from signoff.pregel.reading import graph_at
from signoff.pregel.terms import Options, recursion_limit, root_terms, update_terms

if TYPE_CHECKING:
    from signoff.pregel.base import Base
    from signoff.runtime import RunControl


def host_for(graph: "Base", config: ConfigLike | None, options: Options, input: Any) -> Host:
    """The host of a run: a root, or nested in the task that is running here."""
    whole: Any = config or {}
    try:
        if graph.config:
            whole = merge_configs(graph.config, _said(whole))
        if not whole.keys() <= CONFIG_KEYS:
            whole = gathered(whole)
        if not _FORMED.isdisjoint(whole):
            _check_kinds(whole)
        place = whole.get(CONF) or {}
        parent = _parent_of(graph, place)
    except AttributeError as error:
        raise _no_config(whole) or error from None
    if parent is None:
        return _root_host(graph, _with_ambient(whole), place, options)
    return nested_host(graph, whole, parent, options, input)


def _said(config: ConfigLike) -> ConfigLike:
    """What somebody has set in a config. That of a task says how many steps there may be, though nobody has set it."""
    return {**config, "recursion_limit": None} if config.get("recursion_limit") == MOST_STEPS else config


def _with_ambient(config: RunnableConfig) -> RunnableConfig:
    """A config with what it has from where the call is made: in a LangChain runnable, in a task of another thread."""
    ambient, around = ambient_config(), _scope.running.get()
    if not ambient and around is None:
        return config
    known: dict[str, Any] = {}
    if around is not None:
        known = {name: value for name, value in around.host.config.items() if name in _OF_RUN}
    if ambient:
        known |= {name: ambient[name] for name in ("callbacks", "tags", "metadata") if ambient.get(name)}
    return merge_configs(known, config)


_OF_RUN = frozenset(("tags", "metadata", "recursion_limit", "max_concurrency"))
"""What a run hands on to a graph that one of its nodes calls on a thread of its own."""


def _parent_of(graph: "Base", place: dict[str, Any]) -> Scope | None:
    """The task that a call is made from. One that names a thread of its own is independent of it.

    So is one in a process that the task has forked off.
    """
    passed: Scope | None = place.get(SCOPE)
    around: Scope | None = passed or _scope.running.get()
    if around is None or (around.refusal is not None and around.is_forked_off):
        return None
    if passed is None and THREAD_ID in place and _is_elsewhere(graph, place[THREAD_ID], around.host):
        return None
    return around


def _is_elsewhere(graph: "Base", thread_id: Any, around: Host) -> bool:
    """Whether a named thread is another one than that of the run around: by its id, or as another saver's."""
    saver = graph.checkpointer
    is_other = thread_name(thread_id) != around.run.thread_id
    return is_other or not (saver is None or isinstance(saver, bool) or saver is around.saver)


def _root_host(graph: "Base", config: RunnableConfig, place: dict[str, Any], options: Options) -> Host:
    saver = _root_saver(graph)
    terms = root_terms(graph, options, saver)
    if saver is None:
        run = Run(graph.program, terms, str(place.get(THREAD_ID) or ""))
    else:
        run = Run(graph.program, terms, _thread_id(graph, place), "", place.get(CHECKPOINT_ID) or None)
        run.holder = _holder(saver)
        run.metadata = get_checkpoint_metadata(config, {})
        if len(place) > 1:
            check_texts(place)
        if place.get(CHECKPOINT_NS):
            _begin_inside(run, place)
    if config.get("recursion_limit") is not None:
        run.recursion_limit = recursion_limit(config)
    if options.control is not None:
        run.control = _checked_control(options.control)
    host = Host(run, config, graph, saver)
    if RUNTIME in place:
        _take_over(host, place[RUNTIME])
    if options.context is not None:
        host.context = graph.coerced_context(options.context)
    if config.get("max_concurrency") is not None:
        host.max_concurrency = _max_concurrency(config)
    host.run_id = str(config["run_id"]) if config.get("run_id") else None
    return host


def _take_over(host: Host, runtime: Any) -> None:
    """What a server put into the config for its graphs: a runtime, or something like it."""
    host.context = getattr(runtime, "context", None)
    store = getattr(runtime, "store", None)
    host.store = host.store if store is None else store


def _has_none(graph: "Base") -> bool:
    """Whether a graph was compiled without a saver. One that has nothing in it is one."""
    return graph.checkpointer is None or graph.checkpointer is False


def _root_saver(graph: "Base") -> "BaseCheckpointSaver[Any] | None":
    if graph.checkpointer is True:
        raise InvalidInput(
            f"The {graph.program.shown} was compiled with checkpointer=True, which means its parent's saver, but it "
            "has no parent here. Compile it with a saver, such as InMemorySaver(), to run it on its own."
        )
    return None if graph.checkpointer is False else graph.checkpointer


def _thread_id(graph: "Base", place: dict[str, Any]) -> str:
    thread_id = place.get(THREAD_ID)
    if thread_id is None or thread_id == "":
        raise MissingThreadId(
            f"The {graph.program.shown} has a saver, so it must know which thread this is. "
            'Call it with config={"configurable": {"thread_id": "..."}}.'
        )
    return thread_name(thread_id)


def _begin_inside(run: Run, place: dict[str, Any]) -> None:
    """The caller names a checkpoint of a nested graph: the root begins at the one around it."""
    named: dict[str, str] = place.get(CHECKPOINT_MAP) or {}
    run.checkpoint_id = named.get("")
    if "" in named:
        run.begins_at = begins_inside(named)


def _max_concurrency(config: RunnableConfig) -> int | None:
    limit = config["max_concurrency"]
    if not isinstance(limit, int) or limit < 1:
        raise InvalidInput(f"max_concurrency must be at least 1, or None for no limit, not {limit!r}.")
    return limit


_FORMED = frozenset(("metadata", "tags", "callbacks"))
"""What a config says in a form of its own."""


def _check_kinds(config: RunnableConfig) -> None:
    """Refuse what a config says in the wrong form."""
    if not isinstance(config.get("metadata") or {}, Mapping):
        raise InvalidInput(f"metadata must be a dict, not {repr_of(config['metadata'])}.")
    if not isinstance(config.get("tags") or [], list | tuple | set | frozenset):
        raise InvalidInput(f"tags must be a list of texts, not {repr_of(config['tags'])}.")
    callbacks: Any = config.get("callbacks") or []
    if not (isinstance(callbacks, list | tuple) or hasattr(callbacks, "add_handler")):
        raise InvalidInput(f"callbacks must be a list of handlers, or a manager of them, not {repr_of(callbacks)}.")


def _checked_control(control: "RunControl") -> "RunControl":
    if not hasattr(control, "drain_requested"):
        raise InvalidInput(f"control must be a RunControl (from signoff.runtime), not {control!r}.")
    return control


def _place_in(config: ConfigLike) -> dict[str, Any]:
    """Where a config says that a call belongs."""
    refused = _no_config(config)
    if refused is not None:
        raise refused
    return config.get(CONF) or {}


def _no_config(config: Any) -> InvalidInput | None:
    """The refusal of something that is not a config at all."""
    if isinstance(config, Mapping) and isinstance(config.get(CONF) or {}, Mapping):
        return None
    if isinstance(config, StateSnapshot):
        return InvalidInput("The config is a snapshot. Give the config of it: snapshot.config.")
    return InvalidInput(f'The config is {repr_of(config)}. Give a dict: {{"configurable": {{"thread_id": "..."}}}}.')


# Reading and updating


def saved_host(graph: "Base", config: ConfigLike) -> Host:
    """A host for reading and changing what is saved; inside a node, with the saver of the run around it."""
    place = _place_in(config)
    parent = _parent_of(graph, place)
    saver = parent.host.saver if parent is not None and _has_none(graph) else _root_saver(graph)
    if saver is None:
        raise InvalidInput(
            f"The {graph.program.shown} has no saver, so nothing is saved. Compile it with one: InMemorySaver()."
        )
    return Host(Run(graph.program, Terms(is_saved=True)), cast(RunnableConfig, config), graph, saver)


def update_host(graph: "Base", config: RunnableConfig) -> Host:
    """A host for an update: of the graph itself, or of the nested one that the config's namespace names."""
    host = saved_host(graph, config)
    place = config.get(CONF) or {}
    check_texts(place)
    ns = place.get(CHECKPOINT_NS) or ""
    id = place.get(CHECKPOINT_ID) or (place.get(CHECKPOINT_MAP) or {}).get(ns)
    host.run = Run(graph_at(graph, ns).program, update_terms(host.the_saver), _thread_id(graph, place), ns, id)
    _check_kinds(config)
    host.run.metadata = get_checkpoint_metadata(config, {})
    host.run.parents = {outer: id for outer, id in (place.get(CHECKPOINT_MAP) or {}).items() if outer != ns}
    _hold(host, _parent_of(graph, place))
    return host


def _hold(host: Host, parent: Scope | None) -> None:
    """How an update takes its thread: as a run does, or, inside of a run of that thread, with its lease."""
    if parent is not None and parent.host.run.lease is not None:
        host.run.lease, host.run.is_nested = parent.host.run.lease, True
    else:
        host.run.holder = _holder(host.saver)


def _holder(saver: Any) -> str:
    """A name to take a thread under; none if the saver knows no leases."""
    if getattr(saver, "has_leases", False):
        return new_holder()
    if saver is not None:
        tell_limits(saver)
    return ""
