"""A program: what `compile()` makes of a graph, and all that the engine knows of it."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from signoff._words.commands import Command
from signoff._words.policies import CachePolicy, RetryPolicy, TimeoutPolicy, TracePolicy
from signoff.channels import BaseChannel, EphemeralValue
from signoff.constants import ATOMS, JOIN, MISSING, PULL, START
from signoff.engine import ids
from signoff.errors import InvalidGraph

Write = tuple[str, Any]
"""(channel, value)"""

Values = dict[str, Any]
"""The stored value of every channel that has one."""

UNNAMED = "LangGraph"
"""The name of a graph that was given none, as traces and JSON Schemas show it."""


class HandedOver(Command[Any]):
    """A Command that a nested graph has handed over: whoever called that has not written what it says."""

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Action:
    """Something of the user's that can be called: a function, a coroutine function, a runnable, a graph."""

    name: str
    func: Callable[..., Any] | None
    """How to call it in a sync run; None if it is async only."""
    afunc: Callable[..., Any] | None = None
    """How to await it in an async run; None if it is sync only and wants a thread."""
    takes: tuple[str, ...] = ()
    """What it wants besides its input: config, runtime, store, writer, previous."""
    runs_inline: bool = False
    """Whether a sync function is so quick that an async run calls it on the event loop."""
    identity: str = ""
    """The module and name of the function: what its cached results belong to."""
    calls_in: Callable[[Any], Mapping[str | None, Any]] | None = None
    """The calls that an input brings, by their ids, where the names of the calls that it makes have these in them."""
    runnable: Any = None
    """The runnable or the graph that it calls; None for a function."""
    has_both_kinds: bool = field(init=False)
    """Whether sync and async runs call it each in their own way."""

    runs_apart: bool = field(init=False)
    """Whether an async run awaits it in a task of its own: a runnable may use threads, which nobody can call off."""

    def __post_init__(self) -> None:
        self.has_both_kinds = self.func is not None and self.afunc is not None
        self.runs_apart = self.has_both_kinds and bool(self.takes)


@dataclass(slots=True, eq=False)
class Branch:
    """A conditional edge: asks a function of the user's where to go after a node."""

    path: Action
    read: Callable[[Values, int, int], Any]
    """The input of the function, out of the values as the node leaves them."""
    route: Callable[[Any], list[Write]]
    """From the function's result to the writes that trigger the chosen nodes."""
    sees_result: bool = False
    """Whether the function is shown all that the node returned, and not only what became part of the state."""
    is_told: bool = True
    """Whether callbacks hear of it."""


@dataclass(slots=True, eq=False)
class Node:
    """One node: when it runs, on what, and how its result becomes writes."""

    name: str
    action: Action
    triggers: tuple[str, ...]
    read: Callable[[Values, int, int], Any]
    """The input, out of the values, the step, and the step where the run must stop."""
    updates: Callable[[Any], list[Write]]
    """The writes that a result stands for."""
    edges: tuple[Write, ...] = ()
    """The writes that trigger the nodes behind it, whatever the result."""
    branches: tuple[Branch, ...] = ()
    retry: tuple[RetryPolicy, ...] = ()
    cache: CachePolicy | None = None
    timeout: TimeoutPolicy | None = None
    handler: "Node | None" = None
    """The node that runs in the same step when this one has failed for good."""
    is_hidden: bool = False
    """Whether streams leave it out."""
    passes_on: bool = False
    """Whether its result is for the task that calls it alone: one that cannot be stored is refused if that pauses."""
    in_thread: bool = False
    """Whether what an async run awaits here is at work in a thread, which nobody can call off."""
    waits_for: frozenset[str] = frozenset()
    """The nodes that lead to it, and without whose results it cannot run: while one of them is due it is not, and no
    caller may send the run here."""
    metadata: Mapping[str, Any] | None = None
    tags: Sequence[str] = ()
    trace: TracePolicy | None = None
    graph: Any = None
    """The nested graph that the node is, or that its function calls."""
    has_both_kinds: bool = field(init=False)
    """Whether sync and async runs call it, or one of its conditional edges, each in their own way."""
    is_failsafe: bool = field(init=False)
    """Whether something comes after a failure: another try, or its handler."""
    is_bare: bool = field(init=False)
    """Whether all there is to it is to call a function with its input, in a sync run,"""
    is_abare: bool = field(init=False)
    """and in an async one."""
    digest: str = field(init=False)
    """Twelve hex digits that stand for the name in the ids of its tasks."""
    alone: tuple[str] = field(init=False)
    """The name, as the only one of the nodes that ran in a step."""
    saved_path: str = field(init=False)
    """The path of a task that an edge leads to, as it is stored."""

    def __post_init__(self) -> None:
        actions = (self.action, *(branch.path for branch in self.branches))
        self.has_both_kinds = any(action.has_both_kinds for action in actions)
        self.is_failsafe = bool(self.retry) or self.handler is not None
        is_plain = not self.action.takes and not self.is_failsafe
        self.is_bare = is_plain and self.action.func is not None
        self.is_abare = is_plain and self.action.afunc is not None
        self.digest = ids.node_digest(self.name)
        self.alone = (self.name,)
        self.saved_path = f"{PULL}~{self.name}"


@dataclass(slots=True, eq=False)
class Program:
    """Nodes, channels, and who listens to what."""

    name: str
    nodes: dict[str, Node]
    channels: dict[str, BaseChannel]
    input_keys: str | tuple[str, ...]
    output_keys: str | tuple[str, ...]
    stream_keys: str | tuple[str, ...]
    listeners: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """From a channel to the nodes that a write to it makes due."""
    opaque: frozenset[str] = frozenset()
    """Channels whose readers see something else than the stored value: joins and deferred triggers."""
    deferred: tuple[str, ...] = ()
    """Channels that fire when nothing else is due."""
    joins: Mapping[str, str] = field(init=False)
    """The nodes behind joins, by the channels of these."""
    joins_digest: str = field(init=False)
    """What stands for all of them; empty if there are none."""
    fleeting: frozenset[str] = frozenset()
    """Channels that hold a value for one step only."""
    flags: frozenset[str] = frozenset()
    """Those of them that take whatever was written last: as the triggers of nodes do."""
    unsaved: frozenset[str] = frozenset()
    """Channels whose values are left out of every checkpoint."""
    meddling: frozenset[str] = frozenset()
    """Channels whose reducers may change what is in a stored list in place, beside what they add to it."""
    builds_states: bool = False
    """Whether types of states make objects of what its nodes read, or managed values make up some of it."""
    has_code_between: bool = field(init=False)
    """Whether code of the user's may run between its nodes: a reducer, or the type of a state."""
    start: Node | None = field(init=False)
    """The virtual node that takes the input; None in a graph whose input goes straight to its channels."""
    is_simple: bool = field(init=False)
    """Whether nothing in it waits for something else: it has no joins, no deferred nodes, and pauses as a whole."""
    initial: Values = field(default_factory=dict)
    """The values of a thread that has not begun; a state has `first_values()`, which nobody else has."""
    _begun_anew: Mapping[str, Callable[[], Any]] = field(init=False)
    """What makes those of them that somebody could change in place."""
    pauses_branch: bool = False
    """Whether the others go on while a task waits for an answer."""
    ways: Mapping[str, Collection[str]] = field(default_factory=dict)
    """The nodes that each node may lead to, for a program whose branches pause on their own."""
    is_one_function: bool = False
    """Whether all of it is one function with calls inside, so that to watch it is to watch these."""
    types: dict[str, type] = field(default_factory=dict)
    """Its own classes, by module and name: what these names mean where its threads are read."""
    map_input: Callable[[Any], list[Write]] = field(default=lambda _: [])
    """From what the caller passes in to writes."""
    check_input: Callable[[Any], None] = field(default=lambda _: None)
    """What refuses an input that is not for this graph. A nested one gets its parent's state, whatever that has."""
    check_update: Callable[[Any], None] = field(default=lambda _: None)
    """What refuses an update by a person that the state has no place for."""
    map_command: Callable[[Any], list[Write]] = field(default=lambda _: [])
    """From a Command that the caller passes in to writes."""
    made_once: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    """What makes values that a thread begins with, as long as it does not have them: ids, times. MISSING if none."""
    on_leaving: Callable[[Values, Collection[str]], list[Write]] | None = None
    """What is written to the state as new input leaves behind nodes that were due: what they had to do stays undone."""

    def __post_init__(self) -> None:
        _check_apart(self.nodes)
        self.start = self.nodes.get(START)
        self.listeners = _listeners(self.nodes)
        self.opaque = frozenset(name for name, channel in self.channels.items() if not channel.is_plain)
        self.joins = {name: ends[0] for name, ends in self.listeners.items() if name.startswith(JOIN)}
        self.joins_digest = ids.as_uuid(_told(self.joins, self.channels))[:8] if self.joins else ""
        self.fleeting = frozenset(name for name, channel in self.channels.items() if channel.is_fleeting)
        self.flags = frozenset(name for name in self.fleeting if _takes_last(self.channels[name]))
        self.unsaved = frozenset(name for name, channel in self.channels.items() if not channel.is_saved)
        self.meddling = frozenset(name for name, channel in self.channels.items() if channel.meddles)
        self.has_code_between = self.builds_states or bool(self.meddling)
        self.deferred = tuple(name for name, channel in self.channels.items() if _is_deferred(channel))
        self.is_simple = not (self.opaque or self.deferred or self.pauses_branch)
        self.initial = {
            name: value for name, channel in self.channels.items() if (value := channel.initial()) is not MISSING
        }
        self._begun_anew = {
            name: value.copy if type(value) in (list, dict, set) else self.channels[name].initial
            for name, value in self.initial.items()
            if type(value) not in ATOMS
        }

    def first_values(self) -> Values:
        """The values of a thread that has not begun. Nobody else has them: they may be changed in place."""
        values = self.initial.copy()
        for name, begun in self._begun_anew.items():
            values[name] = begun()
        return values

    @property
    def shown(self) -> str:
        """What errors call it: `graph 'orders'`, or just `graph`."""
        return shown_as(self.name)

    def behind(self, node: str) -> Collection[str]:
        """The nodes that may run because this one has: those that it leads to, and so on."""
        found: set[str] = set()
        todo = [node]
        while todo:
            ahead = set(self.ways.get(todo.pop(), ())) - found
            found |= ahead
            todo += ahead
        return found


def shown_as(name: str) -> str:
    """What errors call a program of this name."""
    return "graph" if name == UNNAMED else f"graph {name!r}"


def _check_apart(nodes: Mapping[str, Node]) -> None:
    """Refuse nodes whose tasks could not be told apart, however rare they are."""
    by_digest: dict[str, str] = {}
    for name, node in nodes.items():
        other = by_digest.setdefault(node.digest, name)
        if other != name:
            raise InvalidGraph(
                f"The nodes {other!r} and {name!r} cannot be in one graph: the ids of their tasks would be the same. "
                "Rename one of them."
            )


def _listeners(nodes: dict[str, Node]) -> dict[str, tuple[str, ...]]:
    heard: dict[str, list[str]] = {}
    for node in nodes.values():
        for trigger in node.triggers:
            heard.setdefault(trigger, []).append(node.name)
    return {trigger: tuple(names) for trigger, names in heard.items()}


def _told(joins: Mapping[str, str], channels: Mapping[str, Any]) -> str:
    """Who comes to which join, and what is behind it, in whatever order that was said."""
    return repr(sorted((end, sorted(channels[name].names)) for name, end in joins.items()))


def _takes_last(channel: BaseChannel) -> bool:
    return type(channel) is EphemeralValue and not channel.guard


def _is_deferred(channel: BaseChannel) -> bool:
    return type(channel).finish is not BaseChannel.finish


def read_keys(values: Values, keys: str | Sequence[str]) -> Any:
    """The values of some keys: a dict of those that have one, or for a single name its bare value."""
    if isinstance(keys, str):
        return values.get(keys)
    return values_of(keys, values)


def values_of(keys: Sequence[str], values: Values) -> dict[str, Any]:
    """The values of those keys that have one. On the way of every step: a comprehension would be one call more."""
    seen = {}
    for key in keys:
        if key in values:
            seen[key] = values[key]
    return seen
