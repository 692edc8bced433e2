"""Reading: snapshots of a thread, and of the graphs nested in it."""

from typing import TYPE_CHECKING, Any

from signoff._snapshots import StateSnapshot
from signoff.checkpoint.base import Branch, CheckpointTuple, checkpoint_config
from signoff.checkpoint.places import check_texts, thread_name
from signoff.config import RunnableConfig
from signoff.constants import CHECKPOINT_ID, CHECKPOINT_MAP, CHECKPOINT_NS, CONF, NS_END, NS_SEP, THREAD_ID
from signoff.engine.effects import Load
from signoff.engine.snapshot import due_at, is_answered, snapshot
from signoff.engine.task import Task
from signoff.engine.travel import recalled, recalled_now
from signoff.errors import InvalidInput, MissingThreadId
from signoff.steps import Steps

if TYPE_CHECKING:
    from signoff.pregel.base import Base


def read_state(graph: "Base", config: RunnableConfig, subgraphs: bool) -> Steps[StateSnapshot]:
    """The state that a config names: of the graph itself, or of one nested in it."""
    place = config.get(CONF) or {}
    lookup = _lookup(graph, place)
    target = graph_at(graph, place.get(CHECKPOINT_NS) or "")
    saved: CheckpointTuple | None = yield Load(lookup, program=target.program)
    if saved is not None and place.get(CHECKPOINT_NS) and CHECKPOINT_ID not in lookup[CONF]:
        saved = yield from recalled_now(saved)
    if saved is None:
        return _unborn(config)
    named = place.get(CHECKPOINT_MAP) or {}
    inside = {ns: id for ns, id in named.items() if ns != place.get(CHECKPOINT_NS)} if "" in named else None
    return (yield from shown_at(target, saved, subgraphs, is_head=not place.get(CHECKPOINT_ID), inside=inside))


def _lookup(graph: "Base", place: dict[str, Any]) -> RunnableConfig:
    if place.get(THREAD_ID) in (None, ""):
        raise MissingThreadId(
            f"Which thread of the {graph.program.shown}? Give config={{'configurable': {{'thread_id': '...'}}}}."
        )
    check_texts(place)
    ns = place.get(CHECKPOINT_NS) or ""
    checkpoint_id = place.get(CHECKPOINT_ID) or (place.get(CHECKPOINT_MAP) or {}).get(ns)
    return checkpoint_config(thread_name(place[THREAD_ID]), ns, checkpoint_id)


def shown_at(
    graph: "Base",
    saved: CheckpointTuple,
    subgraphs: bool,
    *,
    is_head: bool,
    branched_off: Branch | None = None,
    inside: dict[str, str] | None = None,
) -> Steps[StateSnapshot]:
    """The snapshot of a checkpoint; the states of the graphs that its tasks run as configs, or in full.

    inside: the checkpoints of the graphs around it that it is shown in, by namespace. A branch that waits may have
        begun at older ones.
    """
    ns = saved.config[CONF].get(CHECKPOINT_NS, "")
    around: dict[str, str] = saved.metadata.get("parents", {}) if inside is None else inside
    due = *_, tasks = due_at(graph.program, saved, ns)
    nested: dict[str, Any] = {}
    branched_off = saved.metadata.get("branched_off", branched_off)
    for task in tasks:
        if task.keeps_graph:
            nested[task.id] = yield from _nested_state(saved, task, subgraphs, branched_off, around)
    is_past = not is_head and is_answered(due) and (yield from _is_past(saved))
    shown = snapshot(saved, due, nested, is_head=is_head, is_past=is_past)
    if not ns:
        return shown
    return shown._replace(config=_mapped(saved.config, around), parent_config=_mapped(saved.parent_config, around))


def _is_past(saved: CheckpointTuple) -> Steps[bool]:
    """Whether there is a newer checkpoint than one."""
    place = saved.config[CONF]
    newest: CheckpointTuple | None = yield Load(checkpoint_config(place[THREAD_ID], place.get(CHECKPOINT_NS, "")))
    return newest is not None and newest.checkpoint["id"] != saved.checkpoint["id"]


def _mapped(config: RunnableConfig | None, around: dict[str, str]) -> Any:
    """The config of a nested graph's checkpoint, with the checkpoints of the graphs around it."""
    if config is None:
        return None
    place = config[CONF]
    return {CONF: {**place, CHECKPOINT_MAP: {**around, place[CHECKPOINT_NS]: place[CHECKPOINT_ID]}}}


def _nested_state(
    saved: CheckpointTuple, task: Task, subgraphs: bool, branched_off: Branch | None, around: dict[str, str]
) -> Steps[Any]:
    graph, ns = task.node.graph, task.ns_of_graph
    config = checkpoint_config(saved.config[CONF][THREAD_ID], ns)
    if not subgraphs:
        return config
    inner: CheckpointTuple | None = yield Load(config, program=graph.program)
    if inner is not None and branched_off is not None:
        inner = yield from recalled(inner, branched_off)
    if inner is None:
        return _unborn(config)
    inside = {**around, saved.config[CONF].get(CHECKPOINT_NS, ""): saved.checkpoint["id"]}
    return (yield from shown_at(graph, inner, subgraphs, is_head=True, branched_off=branched_off, inside=inside))


def _unborn(config: RunnableConfig) -> StateSnapshot:
    """What there is to see where nothing is stored yet."""
    return StateSnapshot({}, (), config, None, None, None, (), ())


def graph_at(graph: "Base", ns: str) -> "Base":
    """The graph that a namespace belongs to, followed down from the root."""
    for level in ns.split(NS_SEP) if ns else ():
        name = level.partition(NS_END)[0]
        if name.isdigit():
            continue  # the count of a further call from the same task
        node = graph.program.nodes.get(name)
        if node is None or node.graph is None:
            raise InvalidInput(
                f"Namespace {ns!r} names {name!r}, which is no nested graph of the {graph.program.shown}."
            )
        graph = node.graph
    return graph


def history_config(graph: "Base", config: RunnableConfig) -> RunnableConfig:
    """The config that lists the checkpoints of a thread, or of a graph nested in it; the one it names if it does."""
    return _lookup(graph, config.get(CONF) or {})
