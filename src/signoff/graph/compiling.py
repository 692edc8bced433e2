"""Compiling: from the description of a graph to the program that the engine runs.

Every edge becomes a write to a channel that the next node listens to: `branch:to:x` for one edge,
`join:a+b:x` for an edge from several nodes.
"""

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from signoff._words.commands import Command
from signoff._words.policies import TimeoutPolicy
from signoff.channels import (
    BaseChannel,
    EphemeralValue,
    LastValue,
    LastValueAfterFinish,
    NamedBarrierValue,
    NamedBarrierValueAfterFinish,
    Topic,
)
from signoff.constants import END, START, TASKS, TRIGGER, WAITING
from signoff.engine.attempts.completion import completing
from signoff.engine.planning.error_handlers import HANDLER
from signoff.engine.program import Action, Branch, Node, Program, Write
from signoff.errors import InvalidGraph
from signoff.graph.description import Description
from signoff.graph.inputs import input_check, input_writes, start_writes
from signoff.graph.made_once import made_once
from signoff.graph.routing import BranchSpec, join_of, router, trigger_of, writes_to
from signoff.graph.schema import Reader, Schema, read_schema
from signoff.graph.updating import command_updates, targets_of, update_check, updates_of
from signoff.pregel.actions import call_of, check_action, check_timeout, is_runnable
from signoff.pregel.nested import graph_in
from signoff.pregel.typing import is_type

if TYPE_CHECKING:
    from signoff.graph.nodes import NodeSpec

Edges: TypeAlias = "defaultdict[str, list[Write]]"
Joins: TypeAlias = "defaultdict[str, list[str]]"


def program_of(graph: Description, name: str, *, pauses_branch: bool = False) -> Program:
    """The program that a graph describes."""
    schemas = _all_schemas(graph)
    state_channels = _state_channels(schemas)
    edges, joins = _edge_writes(graph), _joins_to(graph)
    nodes = [_start_node(graph, name, edges)]
    nodes += [_node(graph, key, spec, state_channels, edges, joins) for key, spec in graph.nodes.items()]
    output = graph.types.output
    return Program(
        name=name,
        nodes={node.name: node for node in nodes},
        channels={**state_channels, **_control_channels(graph), **(_WAITING if pauses_branch else {})},
        pauses_branch=pauses_branch,
        ways=_ways(graph) if pauses_branch else {},
        input_keys=START,
        output_keys=_keys(output),
        stream_keys=_keys_of_all(graph.types.state, state_channels),
        map_input=input_writes(graph.types.input, name),
        check_input=input_check(graph.types.input, name),
        check_update=update_check(frozenset(state_channels)),
        made_once=made_once(schemas, state_channels),
        builds_states=any(schema.builds for schema in schemas),
        map_command=completing(
            state_channels, partial(_command_writes, frozenset(state_channels), frozenset(graph.nodes))
        ),
    )


def _keys(schema: Schema) -> str | tuple[str, ...]:
    return schema.keys[0] if schema.is_root else schema.keys


def _keys_of_all(state: Schema, channels: dict[str, BaseChannel]) -> str | tuple[str, ...]:
    return _keys(state) if state.is_root else tuple(channels)


# Channels


def _all_schemas(graph: Description) -> list[Schema]:
    known = graph.types
    for name, spec in graph.nodes.items():
        if spec.schema is not None and not is_type(spec.schema):
            raise InvalidGraph(
                f"The input_schema of node {name!r} is {spec.schema!r}. Give a type, such as a TypedDict."
            )
    of_edges = [spec.schema for behind in graph.branches.values() for spec in behind.values()]
    for type_ in (*(spec.schema for spec in graph.nodes.values()), *of_edges):
        if type_ is not None and type_ not in known.others:
            known.others[type_] = known.of(type_) or read_schema(type_)
    return [known.state, known.input, known.output, *known.others.values()]


def _state_channels(schemas: list[Schema]) -> dict[str, BaseChannel]:
    """The channels of all schemas. A plain key gives way to one with a rule; two rules must agree."""
    channels: dict[str, BaseChannel] = {}
    for schema in schemas:
        for key, channel in schema.channels.items():
            other = channels.get(key)
            if other is None or _is_plain(other):
                channels[key] = channel
            elif not _is_plain(channel) and not channel.agrees_with(other):
                raise InvalidGraph(
                    f"Key {key!r} is declared with two different rules in the schemas of this graph. "
                    "Give it the same reducer or channel everywhere."
                )
    return channels


def _managed(graph: Description) -> set[str]:
    return {key for schema in (graph.types.state, *graph.types.others.values()) for key in schema.managed}


def _is_plain(channel: BaseChannel) -> bool:
    return type(channel) is LastValue


def _control_channels(graph: Description) -> dict[str, BaseChannel]:
    channels: dict[str, BaseChannel] = {START: EphemeralValue(Any, key=START), TASKS: Topic(Any, key=TASKS)}
    for name, spec in graph.nodes.items():
        key = trigger_of(name)
        channels[key] = LastValueAfterFinish(Any, key) if spec.defer else EphemeralValue(Any, guard=False, key=key)
    for starts, end in graph.waiting_edges:
        if end != END:
            key = join_of(starts, end)
            kind = NamedBarrierValueAfterFinish if graph.nodes[end].defer else NamedBarrierValue
            channels[key] = kind(str, starts, key)
    return channels


_WAITING: dict[str, BaseChannel] = {WAITING: EphemeralValue(Any, guard=False, key=WAITING)}


def _ways(graph: Description) -> dict[str, set[str]]:
    """The nodes that each node may lead to. A conditional edge that names no ends may lead to any."""
    ways: dict[str, set[str]] = {name: set(spec.ends) for name, spec in graph.nodes.items()}
    for start, end in graph.edges:
        ways.setdefault(start, set()).add(end)
    for starts, end in graph.waiting_edges:
        for start in starts:
            ways.setdefault(start, set()).add(end)
    for start, branches in graph.branches.items():
        for branch in branches.values():
            ways.setdefault(start, set()).update(graph.nodes if branch.ends is None else branch.ends.values())
    return ways


# Nodes


def _start_node(graph: Description, name: str, edges: Edges) -> Node:
    schema = graph.types.input
    return Node(
        name=START,
        action=Action(START, _same, runs_inline=True),
        triggers=(START,),
        read=lambda values, step, stop: values[START],
        updates=start_writes(schema, name),
        edges=tuple(edges[START]),
        branches=_branches(graph, START, graph.types.state.reader()),
        is_hidden=True,
    )


def _same(value: Any) -> Any:
    return value


def _node(
    graph: Description, name: str, spec: "NodeSpec", channels: dict[str, BaseChannel], edges: Edges, joins: Joins
) -> Node:
    schema = graph.types.others[spec.schema] if spec.schema is not None else graph.types.state
    read = schema.reader()
    defaults = graph.defaults
    handler = spec.handler or defaults.handler
    return Node(
        name=name,
        action=call_of(spec.action, name),
        triggers=(trigger_of(name), *joins[name]),
        read=read,
        updates=updates_of(
            name,
            channels,
            graph.nodes,
            given=_managed(graph),
            follows=_followed(graph, edges[name]),
            is_graph=is_runnable(spec.action),
        ),
        edges=tuple(edges[name]),
        branches=_branches(graph, name, read),
        retry=spec.retry if spec.retry is not None else defaults.retry,
        cache=spec.cache or defaults.cache,
        timeout=spec.timeout or _default_timeout(graph, name, spec.action),
        handler=_handler(graph, name, handler, read, channels) if handler is not None else None,
        metadata=spec.metadata,
        trace=spec.trace,
        graph=graph_in(spec.action),
    )


def _followed(graph: Description, edges: list[Write]) -> frozenset[str]:
    """The nodes that edges lead to at once, whatever their node returns."""
    ends = (trigger.removeprefix(TRIGGER) for trigger, _ in edges if trigger.startswith(TRIGGER))
    return frozenset(end for end in ends if not graph.nodes[end].defer)


def _handler(graph: Description, name: str, handler: Any, read: Reader, channels: dict[str, BaseChannel]) -> Node:
    """The node that runs when another one has failed; it has no edges of its own and may route with a Command."""
    said = f"error handler of {name}"
    check_action(said, handler, also=("error",))
    return Node(
        name=f"{HANDLER}{name}",
        action=call_of(handler, name, also=("error",)),
        triggers=(),
        read=read,
        updates=updates_of(said, channels, graph.nodes, given=_managed(graph)),
        retry=graph.defaults.retry,
        timeout=_default_timeout(graph, said, handler),
    )


def _default_timeout(graph: Description, name: str, action: Any) -> TimeoutPolicy | None:
    """The timeout of a node that has none of its own. What cannot have one is refused, as with a timeout of its own."""
    check_timeout(name, action, graph.defaults.timeout)
    return graph.defaults.timeout


def _joins_to(graph: Description) -> Joins:
    """The channels of the joins that lead to each node."""
    joins: Joins = defaultdict(list)
    for starts, end in sorted(graph.waiting_edges):
        joins[end].append(join_of(starts, end))
    return joins


def _edge_writes(graph: Description) -> Edges:
    """What each node writes when it has run, so that those behind it become due."""
    writes: Edges = defaultdict(list)
    for start, end in sorted(graph.edges):
        if end != END:
            writes[start].append((trigger_of(end), None))
    for starts, end in sorted(graph.waiting_edges):
        if end != END:
            join = join_of(starts, end)
            for start in starts:
                writes[start].append((join, start))
    return writes


def _branches(graph: Description, name: str, read: Reader) -> tuple[Branch, ...]:
    return tuple(_branch(graph, name, spec, read) for spec in graph.branches.get(name, {}).values())


def _branch(graph: Description, name: str, spec: BranchSpec, read: Reader) -> Branch:
    action = call_of(spec.path, spec.name, runs_inline=True)
    own = None if spec.schema is None else graph.types.others[spec.schema].reader()
    return Branch(action, own or read, router(name, spec, graph.nodes), sees_result=own is None, is_told=spec.is_told)


# Commands of the caller


def _command_writes(keys: frozenset[str], nodes: frozenset[str], command: Command[Any]) -> list[Write]:
    update_check(keys)(command)
    routed = [write for target in targets_of(command) for write in writes_to(target, nodes, "The Command")]
    return [*command_updates(command.update, keys), *routed]
