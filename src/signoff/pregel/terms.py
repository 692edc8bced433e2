"""Terms: from the arguments of a call to what its run is asked for, checked."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from signoff._words.choices import All, Durability, OnChanged, OnPending
from signoff.checkpoint.base import BaseCheckpointSaver
from signoff.checkpoint.ids import now, stamp
from signoff.config import RunnableConfig
from signoff.drivers.saving.holding import shown
from signoff.engine.run import NO_NODES, Nodes, Terms
from signoff.errors import InvalidInput
from signoff.pregel.base import Base, checked_on_pending
from signoff.pregel.typing import are_texts

if TYPE_CHECKING:
    from signoff.drivers.host import Host
    from signoff.runtime import RunControl

_MOST_KEPT = 64
"""How many terms a graph remembers."""


@dataclass(slots=True)
class Options:
    """The keyword arguments of invoke, stream and their twins, as far as they steer the run."""

    context: Any = None
    output_keys: str | Sequence[str] | None = None
    interrupt_before: All | Sequence[str] | None = None
    interrupt_after: All | Sequence[str] | None = None
    durability: Durability | None = None
    control: "RunControl | None" = None
    on_pending: OnPending | None = None
    on_changed: OnChanged = "raise"
    streams: bool = False
    """Whether every key of the state is shown, and not only the output, unless the caller names keys."""


def root_terms(graph: Base, options: Options, saver: Any) -> Terms:
    """The terms of a call from outside."""

    def make() -> Terms:
        return Terms(
            **_asked_of(graph, options),
            **_told_by(saver),
            durability=_durability(options.durability),
            on_pending=checked_on_pending(options.on_pending or graph.on_pending),
            accepts_changes=_accepts_changes(options.on_changed),
        )

    on_pending = options.on_pending or graph.on_pending
    key = saver, graph.cache, options.durability, on_pending, options.on_changed, options.streams
    return _remembered(graph, options, key, make)


def nested_terms(graph: Base, options: Options, outer: "Host", saver: Any) -> Terms:
    """The terms of a call from inside of a task: mostly those of the run around it."""
    around = outer.run.terms

    def make() -> Terms:
        return Terms(
            **_asked_of(graph, options),
            is_saved=saver is not None,
            takes_moments=around.takes_moments and saver is not None,
            next_version=around.next_version,
            durability=_durability(options.durability or around.durability),
            accepts_changes=around.accepts_changes,
            stamp=around.stamp,
            now=around.now,
        )

    return _remembered(
        graph, options, (around, saver is None, graph.cache is None, options.durability, options.streams), make
    )


def update_terms(saver: Any) -> Terms:
    """The terms of an update of what is saved."""
    return Terms(**{**_told_by(saver), "takes_moments": False}, durability="sync")


def _remembered(graph: Base, options: Options, key: tuple[Any, ...], make: Callable[[], Terms]) -> Terms:
    """Terms that were made before, for a call that names neither keys nor breakpoints; so it is with most."""
    if options.output_keys is not None or options.interrupt_before or options.interrupt_after:
        return make()
    if graph.interrupt_before or graph.interrupt_after:
        return make()
    try:
        known = graph.known_terms.get(key)
    except TypeError:  # something in it has no hash; perhaps it is not allowed at all
        return make()
    if known is None:
        if len(graph.known_terms) >= _MOST_KEPT:
            graph.known_terms.clear()
        known = graph.known_terms[key] = make()
    return known


def _asked_of(graph: Base, options: Options) -> dict[str, Any]:
    """What depends on the graph, and on what the call asks of it."""
    return {
        "output_keys": _output_keys(graph, options),
        "before": _nodes(graph, options.interrupt_before, graph.interrupt_before),
        "after": _nodes(graph, options.interrupt_after, graph.interrupt_after),
        "has_cache": graph.cache is not None,
        "caches": graph.cache is not None and graph.uses_cache,
    }


def _told_by(saver: Any) -> dict[str, Any]:
    """What depends on the saver."""
    clock = {"stamp": stamp, "now": now, "shown_holder": shown}
    if saver is None:
        return clock
    takes_moments = getattr(saver, "takes_moments", False)
    return {**clock, "is_saved": True, "takes_moments": takes_moments, "next_version": _numbering(saver)}


def _numbering(saver: Any) -> Callable[[Any], Any] | None:
    """How a saver numbers versions, if it does so in a way of its own."""
    if getattr(saver.get_next_version, "__func__", None) is BaseCheckpointSaver.get_next_version:
        return None
    return lambda current: saver.get_next_version(current, None)


def _accepts_changes(asked: str) -> bool:
    if asked not in ("raise", "accept"):
        raise InvalidInput(f'on_changed must be "raise" or "accept", not {asked!r}.')
    return asked == "accept"


def _durability(asked: Durability | None) -> Durability:
    if asked not in (None, "sync", "async", "exit"):
        raise InvalidInput(f'durability must be "sync", "async" or "exit", not {asked!r}.')
    return asked or "async"


def _output_keys(graph: Base, options: Options) -> str | Sequence[str]:
    keys = options.output_keys
    if keys is None:
        return graph.program.stream_keys if options.streams else graph.program.output_keys
    for key in _texts(keys, "output_keys is a key of the state, or a list of keys"):
        if key not in graph.program.channels:
            raise InvalidInput(f"output_keys has {key!r}, which the {graph.program.shown} does not have.")
    return keys


def _nodes(graph: Base, asked: All | Sequence[str] | None, default: All | Sequence[str]) -> Nodes:
    names = default if asked is None else asked
    if not names:
        return NO_NODES
    if names == "*":
        return None
    for name in (names := named(names)):
        if name not in graph.program.nodes:
            raise InvalidInput(f"A breakpoint is set at {name!r}, which is not a node of the {graph.program.shown}.")
    return frozenset(names)


def named(nodes: Any, error: type[Exception] = InvalidInput) -> Sequence[str]:
    """The names of the nodes at which a breakpoint is set: a lone text is one of them."""
    return _texts(nodes, 'interrupt_before and interrupt_after are lists of names of nodes, or "*"', error)


def _texts(given: Any, what: str, error: type[Exception] = InvalidInput) -> Sequence[str]:
    if not are_texts(given):
        raise error(f"{what}, and not {given!r}.")
    return [given] if isinstance(given, str) else given


def recursion_limit(config: RunnableConfig) -> int:
    """How many steps a config allows."""
    limit = config["recursion_limit"]
    if not isinstance(limit, int) or limit < 1:
        raise InvalidInput(f"recursion_limit must be at least 1, not {limit!r}.")
    return limit
