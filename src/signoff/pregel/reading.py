"""Reading: snapshots of a thread, and of the graphs nested in it."""

from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from signoff._snapshots import StateSnapshot
from signoff.checkpoint.base import CheckpointTuple, checkpoint_config
from signoff.checkpoint.places import check_texts, thread_name
from signoff.config import RunnableConfig
from signoff.constants import CHECKPOINT_ID, CHECKPOINT_MAP, CHECKPOINT_NS, CONF, NS_END, NS_SEP, THREAD_ID
from signoff.engine.effects import Load
from signoff.engine.program import Program
from signoff.engine.run import Run, Terms
from signoff.engine.showing.snapshot import due_at, is_answered, snapshot
from signoff.engine.stepping.branching import waiting_ids
from signoff.engine.task import Task
from signoff.engine.threads.taking import load
from signoff.engine.threads.time_travel import recalled_now
from signoff.errors import InvalidInput, MissingThreadId
from signoff.steps import Steps, through

if TYPE_CHECKING:
    from signoff.pregel.base import Base

T = TypeVar("T")


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
    run: Run | None = None,
    inside: dict[str, str] | None = None,
) -> Steps[StateSnapshot]:
    """The snapshot of a checkpoint; the states of the graphs that its tasks run as configs, or in full.

    run: the one that would go on from there, if the graph is shown in the one around it.
    inside: the checkpoints of the graphs around it that it is shown in, by namespace. A branch that waits may have
        begun at older ones.
    """
    ns = saved.config[CONF].get(CHECKPOINT_NS, "")
    around: dict[str, str] = saved.metadata.get("parents", {}) if inside is None else inside
    due = *_, tasks = due_at(graph.program, saved, ns)
    nested: dict[str, Any] = {}
    for task in tasks:
        if task.keeps_graph:
            run = run or _run_at(graph, saved, ns)
            nested[task.id] = yield from _nested_state(saved, task, subgraphs, run, around)
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
    saved: CheckpointTuple, task: Task, subgraphs: bool, outer: Run, around: dict[str, str]
) -> Steps[Any]:
    graph = task.node.graph
    config = checkpoint_config(outer.thread_id, task.ns_of_graph)
    if not subgraphs and graph.checkpointer is not True:
        return config
    run = _run_inside(outer, task)
    inner = yield from _read_for(graph.program, load(run))
    inside = {**around, outer.ns: saved.checkpoint["id"]}
    if inner is None:
        return _unborn(config) if subgraphs else config
    if subgraphs:
        return (yield from shown_at(graph, inner, subgraphs, is_head=True, run=run, inside=inside))
    is_plain = yield from _is_seen_by(config, graph.program, inner)
    return config if is_plain else _mapped(inner.config, inside)


def _is_seen_by(config: RunnableConfig, program: Program, turn: CheckpointTuple) -> Steps[bool]:
    """Whether a config that names just a graph that remembers shows one turn, and not another task's."""
    newest: CheckpointTuple | None = yield Load(config, program=program)
    newest = None if newest is None else (yield from recalled_now(newest))
    return newest is not None and newest.checkpoint["id"] == turn.checkpoint["id"]


def _run_at(graph: "Base", saved: CheckpointTuple, ns: str) -> Run:
    """The run that would go on from a checkpoint."""
    run = Run(graph.program, Terms(), saved.config[CONF][THREAD_ID], ns)
    run.parents, run.branched_off = saved.metadata.get("parents", {}), saved.metadata.get("branched_off")
    return run


def _run_inside(outer: Run, task: Task) -> Run:
    """The run of a nested graph that a task would begin, or go on with: of one that remembers, its own turn."""
    graph = task.node.graph
    run = Run(graph.program, Terms(), outer.thread_id, task.ns_of_graph)
    run.parents, run.branched_off = {**outer.parents, outer.ns: task.began_at}, outer.branched_off
    run.waiting = outer.waiting.union(waiting_ids(task)) if outer.program.pauses_branch else outer.waiting
    run.is_nested, run.remembers = True, graph.checkpointer is True
    if run.remembers:
        run.called_by, run.continues = task.id, partial(_is_made_in, task.id)
    return run


def _is_made_in(task_id: str, saved: CheckpointTuple) -> bool:
    """Whether a task has made a checkpoint of a graph that remembers, or a call inside of it."""
    about: Any = saved.metadata
    return task_id in (about.get("called_by"), *about.get("called_in", ()))


def _read_for(program: Program, steps: Steps[T]) -> Steps[T]:
    """A procedure that loads checkpoints of a nested graph."""

    def loaded(effect: Load) -> Steps[Any]:
        effect.program = program
        return (yield effect)

    return through(steps, loaded)


def _unborn(config: RunnableConfig) -> StateSnapshot:
    """What there is to see where nothing is stored yet."""
    return StateSnapshot({}, (), config, None, None, None, (), ())


def graph_at(graph: "Base", ns: str) -> "Base":
    """The graph that a namespace belongs to, followed down from the root."""
    levels = ns.split(NS_SEP) if ns else []
    for before, level in zip(["", *levels], levels, strict=False):
        name = level.partition(NS_END)[0]
        if level.isdigit() and NS_END in before:
            continue  # the count of a further call from the same task
        node = graph.program.nodes.get(name)
        if node is None or node.graph is None:
            raise InvalidInput(
                f"Namespace {ns!r} names {name!r}, which is no nested graph of the {graph.program.shown}. "
                "Leave checkpoint_ns out to read the thread itself."
            )
        graph = node.graph
    return graph


def history_config(graph: "Base", config: RunnableConfig) -> RunnableConfig:
    """The config that lists the checkpoints of a thread, or of a graph nested in it; the one it names if it does."""
    return _lookup(graph, config.get(CONF) or {})
