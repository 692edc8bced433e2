"""The low-level way to write a graph: nodes that listen to channels and write to channels."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple, Self

from signoff._elsewhere import refuse_their_channel, refuse_theirs
from signoff._reprs import repr_of
from signoff._words.commands import Command, Send
from signoff._words.policies import CachePolicy, RetryPolicy, TimeoutPolicy
from signoff.bridge.runnables import coerced
from signoff.channels import BaseChannel, LastValue, Topic
from signoff.constants import MISSING, TASKS
from signoff.engine.attempts.completion import completing
from signoff.engine.policies import as_policies, checked_policy
from signoff.engine.program import Action, Node, Program, Values, Write, read_keys, shown_as
from signoff.errors import InvalidGraph, InvalidInput, InvalidUpdateError, UnknownNode
from signoff.pregel.actions import action_of, check_timeout

__all__ = ["ChannelWriteEntry", "NodeBuilder"]


class ChannelWriteEntry(NamedTuple):
    """A write to a channel, for `write_to`: of the result, of a fixed value, or of what a function makes of either."""

    channel: str
    value: Any = MISSING
    """What is written; if nothing is given, the result."""
    skip_none: bool = False
    """Whether None is left out, so that a node that has nothing to say wakes nobody."""
    mapper: Callable[[Any], Any] | None = None

    def writes(self, result: Any) -> list[Write]:
        """What is written for a result."""
        value = result if self.value is MISSING else self.value
        value = value if self.mapper is None else self.mapper(value)
        return [] if value is None and self.skip_none else [(self.channel, value)]


class NodeBuilder:
    """Describes a node: what it listens to, what it does, where it writes."""

    def __init__(self) -> None:
        self._triggers: list[str] = []
        self._reads: list[str] = []
        self._is_single = False
        self._actions: list[Any] = []
        self._writes: list[ChannelWriteEntry] = []
        self._tags: list[str] = []
        self._metadata: dict[str, Any] = {}
        self._retry: list[RetryPolicy] = []
        self._cache: CachePolicy | None = None
        self._timeout: TimeoutPolicy | None = None

    def subscribe_only(self, channel: str) -> Self:
        """Run on each write to one channel, with its bare value as the input."""
        if self._triggers:
            raise InvalidGraph(f"The node listens to {self._triggers} already. Use subscribe_to for several channels.")
        names = _names((channel,))
        self._triggers, self._reads, self._is_single = [*names], [*names], True
        return self

    def subscribe_to(self, *channels: str, read: bool = True) -> Self:
        """Run on writes to any of these channels; they are in the input, a dict, unless `read` is False."""
        if self._is_single:
            raise InvalidGraph("The node listens to a single channel. Use subscribe_to for it, too.")
        names = _names(channels)
        self._triggers += names
        if read:
            self._reads += names
        return self

    def read_from(self, *channels: str) -> Self:
        """Put more channels into the input without running on their writes."""
        if self._is_single:
            raise InvalidGraph("A node with subscribe_only has a bare value as its input. Use subscribe_to.")
        self._reads += _names(channels)
        return self

    def do(self, node: Any) -> Self:
        """Do this with the input; what is done after it takes its result."""
        self._actions.append(coerced(node))
        return self

    def write_to(self, *channels: str | ChannelWriteEntry, **values: Any) -> Self:
        """Write the result to channels; by keyword a fixed value, or what a function makes of the result."""
        self._writes += [_entry(one) for one in channels]
        for channel, value in values.items():
            entry = ChannelWriteEntry(channel, mapper=value) if callable(value) else ChannelWriteEntry(channel, value)
            self._writes.append(entry)
        return self

    def meta(self, *tags: str, **metadata: Any) -> Self:
        """Tags and metadata for traces and streams."""
        self._tags += tags
        self._metadata.update(metadata)
        return self

    def add_retry_policies(self, *policies: RetryPolicy) -> Self:
        """Try again after errors."""
        self._retry += as_policies(policies)
        return self

    def add_cache_policy(self, policy: CachePolicy) -> Self:
        """Take results from earlier runs with the same input."""
        self._cache = checked_policy(policy)
        return self

    def set_timeout(self, timeout: float | timedelta | TimeoutPolicy | None) -> Self:
        """Cancel it when it takes too long."""
        self._timeout = TimeoutPolicy.coerce(timeout)
        return self

    def build(self, name: str) -> Node:
        """The node, under a name."""
        if not self._triggers:
            raise InvalidGraph(f"Node {name!r} listens to no channel. Call subscribe_only or subscribe_to.")
        for action in self._actions:
            check_timeout(name, action, self._timeout)
        return Node(
            name,
            _in_turn(name, self._actions),
            triggers=tuple(self._triggers),
            read=partial(_read, self._reads[0] if self._is_single else tuple(self._reads)),
            updates=partial(_updates, tuple(self._writes)),
            retry=tuple(self._retry),
            cache=self._cache,
            timeout=self._timeout,
            metadata=self._metadata or None,
            tags=self._tags,
        )


def _names(channels: tuple[str, ...]) -> tuple[str, ...]:
    """Names of channels; anything else is refused."""
    for channel in channels:
        if not isinstance(channel, str):
            raise InvalidGraph(f"A node listens to {channel!r}. Give it names of channels.")
    return channels


def _entry(channel: Any) -> ChannelWriteEntry:
    if isinstance(channel, str):
        return ChannelWriteEntry(channel)
    if not isinstance(channel, ChannelWriteEntry):
        refuse_theirs(channel, "write_to has", InvalidGraph)
        raise InvalidGraph(f"write_to has {channel!r}. Give it names of channels, or ChannelWriteEntry(...).")
    return channel


def _updates(entries: Sequence[ChannelWriteEntry], result: Any) -> list[Write]:
    return [write for entry in entries for write in entry.writes(result)]


def _read(keys: str | Sequence[str], values: Values, step: int, stop: int) -> Any:
    return read_keys(values, keys)


def _in_turn(name: str, things: Sequence[Any]) -> Action:
    """One action out of several, each on the result of the one before."""
    actions = [action_of(thing, name) for thing in things]
    if len(actions) == 1:
        return actions[0]
    takes = tuple({extra for action in actions for extra in action.takes})

    def run(value: Any, **extra: Any) -> Any:
        for action in actions:
            assert action.func is not None, "a sync run has sync actions"
            value = action.func(value, **{name: extra[name] for name in action.takes})
        return value

    async def arun(value: Any, **extra: Any) -> Any:
        for action in actions:
            wanted = {name: extra[name] for name in action.takes}
            value = await action.afunc(value, **wanted) if action.afunc else action.func(value, **wanted)  # type: ignore[misc]
        return value

    is_sync = all(action.func is not None for action in actions)
    return Action(name, run, None, takes) if is_sync else Action(name, None, arun, takes)


def low_level_program(
    name: str,
    nodes: Mapping[str, Node | NodeBuilder],
    channels: Mapping[str, BaseChannel],
    input_channels: str | Sequence[str],
    output_channels: str | Sequence[str],
    stream_channels: str | Sequence[str] | None,
    retry: tuple[RetryPolicy, ...],
    cache: CachePolicy | None,
) -> Program:
    """The program that nodes and channels describe, after a check that each name exists."""
    whole = {**{key: _named(key, channel) for key, channel in channels.items()}, TASKS: Topic(Any, key=TASKS)}
    # A node that the caller has built may be part of other graphs, too: it stays as it is.
    built = {key: node.build(key) if isinstance(node, NodeBuilder) else replace(node) for key, node in nodes.items()}
    for node in built.values():
        node.retry = node.retry or retry
        node.cache = node.cache or cache
        node.updates = completing(whole, node.updates)
    for trigger in (trigger for node in built.values() for trigger in node.triggers):
        whole.setdefault(trigger, LastValue(Any, trigger))
    shown = stream_channels or tuple(key for key in whole if key != TASKS)
    program = Program(
        name,
        built,
        whole,
        input_keys=_keys(input_channels),
        output_keys=_keys(output_channels),
        stream_keys=_keys(shown),
        map_input=partial(_input_writes, name, _keys(input_channels)),
        map_command=completing(whole, partial(_command_writes, frozenset(built), frozenset(whole))),
    )
    _check(program)
    return program


def _named(key: str, channel: BaseChannel) -> BaseChannel:
    refuse_their_channel(key, channel, InvalidGraph)
    channel.key = channel.key or key
    return channel


def _keys(channels: str | Sequence[str]) -> str | tuple[str, ...]:
    return channels if isinstance(channels, str) else tuple(channels)


def _check(program: Program) -> None:
    used = {"input_channels": program.input_keys, "output_channels": program.output_keys}
    for what, keys in used.items():
        for key in [keys] if isinstance(keys, str) else keys:
            if key not in program.channels:
                raise InvalidGraph(
                    f"{what} names {key!r}, which is not a channel. Channels: {sorted(program.channels)}."
                )
    inputs = {program.input_keys} if isinstance(program.input_keys, str) else set(program.input_keys)
    if not any(trigger in inputs for node in program.nodes.values() for trigger in node.triggers):
        raise InvalidGraph(f"No node listens to an input channel ({', '.join(sorted(inputs))}), so nothing would run.")


def _input_writes(name: str, keys: str | tuple[str, ...], input: Any) -> list[Write]:
    if isinstance(keys, str):
        return [(keys, input)]
    if not isinstance(input, Mapping):
        raise InvalidInput(f"The {shown_as(name)} takes a dict with some of the keys {', '.join(keys)}, not {input!r}.")
    writes = [(key, value) for key, value in input.items() if key in keys]
    if not writes:
        raise InvalidInput(f"The {shown_as(name)} takes some of the keys {', '.join(keys)}; given were {list(input)}.")
    return writes


def _command_writes(nodes: Collection[str], known: frozenset[str], command: Command[Any]) -> list[Write]:
    try:
        update = dict(command.update or {})
    except (TypeError, ValueError):
        raise InvalidUpdateError(
            f"This is a Command whose update is {repr_of(command.update)}. Give it a dict: channels, and what to write."
        ) from None
    unknown = [key for key in update if key not in known]
    if unknown:
        raise InvalidUpdateError(f"The Command writes to {unknown[0]!r}, which is not a channel.")
    goto: Any = command.goto
    targets = goto if isinstance(goto, list | tuple | set | frozenset) else [goto]
    for target in targets:
        if not isinstance(target, Send) or target.node not in nodes:
            raise UnknownNode(
                f"The Command goes to {repr_of(target)}. A node of this graph runs when a channel is written that it "
                f"listens to, or by Send(node, input). Its nodes: {sorted(nodes)}."
            )
    return [*update.items(), *((TASKS, send) for send in targets)]
