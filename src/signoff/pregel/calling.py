"""A graph that a task calls: its run is nested in the one around it, in a namespace of its own."""

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, Any

from signoff.bridge import runnables
from signoff.checkpoint.base import CheckpointTuple
from signoff.config import RunnableConfig, merge_configs
from signoff.constants import NS_SEP
from signoff.drivers.host import Host
from signoff.drivers.scopes.calling import called_graph, refused
from signoff.drivers.scopes.scope import Scope
from signoff.engine.calls.task_calls import noted
from signoff.engine.ids import child_ns, stateful_ns
from signoff.engine.run import Run, Terms
from signoff.engine.stepping.branching import waiting_ids
from signoff.engine.task import Task
from signoff.pregel.terms import Options, nested_terms, recursion_limit

if TYPE_CHECKING:
    from signoff.pregel.base import Base


def nested_host(graph: "Base", config: RunnableConfig, parent: Scope, options: Options, input: Any) -> Host:
    """The host of a run that is nested in a task."""
    if parent.is_over:
        raise refused(parent, graph.name)
    if parent.refusal is not None:
        raise parent.refusal
    outer = parent.host
    keeper = _keeper(outer) if graph.checkpointer is True else outer
    saver = None if graph.checkpointer is False else keeper.saver
    is_node = getattr(parent.task.node.action.func, "__self__", None) is graph
    called = None if is_node else called_graph(parent, graph.name, graph.program.nodes, input, _caller())
    call_id = None if called is None else f"{parent.task.id}|{called.number}"
    if called is not None and call_id is not None:
        parent.fail_again(call_id, called.line)
    ns = parent.task.ns_inside if called is None else _namespace(parent, called.number)
    ns = _memory(parent.task, 0 if called is None else called.number) if graph.checkpointer is True else ns
    run = _nested_run(graph, nested_terms(graph, options, keeper, saver), ns, parent, keeper.run)
    if config.get("recursion_limit") is not None:
        run.recursion_limit = recursion_limit(config)
    if (control := options.control or outer.run.control) is not None:
        run.control = control
    host = Host(run, merge_configs(outer.config, config) if config else parent.inherited, graph, saver)
    if called is not None and called.line:
        host.is_beside, host.line = True, called.line
        host.announces = noted(outer.run, parent.task, called.mark) if called.mark and run.is_saved else None
    host.store = outer.store if graph.store is None else graph.store
    host.context = graph.coerced_context(options.context) if options.context is not None else outer.context
    host.sink, host.parent, host.given, host.call_id = outer.sink, parent, config or None, call_id
    host.max_concurrency, host.run_id = outer.max_concurrency, outer.run_id
    return host


def _nested_run(graph: "Base", terms: Terms, ns: str, parent: Scope, keeper: Run) -> Run:
    """A run, with what it has from the one around it."""
    outer, is_stateful = parent.host.run, graph.checkpointer is True
    run = Run(graph.program, terms, outer.thread_id, ns)
    run.is_nested, run.remembers = True, is_stateful
    run.metadata, run.lease = outer.metadata, outer.lease
    run.recursion_limit = outer.recursion_limit
    run.begins_at, run.branched_off = outer.begins_at, outer.branched_off
    run.answers, run.given, run.found = outer.answers, outer.given, outer.found
    run.heads, run.turns = outer.heads, outer.turns
    run.parents = {**outer.parents, outer.ns: parent.task.began_at}
    run.waiting = outer.waiting.union(waiting_ids(parent.task)) if outer.program.pauses_branch else outer.waiting
    run.continues = partial(_is_same_call, parent.task.id) if is_stateful else _is_same
    run.called_by = parent.task.id if is_stateful else ""
    run.called_in = _called_in(outer, parent.task)
    if (shown := parent.task.visible) is not parent.task or is_stateful:
        run.shown_in = {"id": shown.id, "name": shown.name}
    run.since = _since(outer, parent.task)
    if run.durability == keeper.durability == "exit" and run.is_saved:
        run.around, run.memories, run.kept_memories = keeper, keeper.memories, keeper.kept_memories
        run.turns_since = keeper.turns_since
    return run


def _memory(task: Task, number: int) -> str:
    """Where the n-th graph that a task calls remembers: the names of nodes, and of the calls in them that people know.

    A call may have the name of a node; and those of a tool step, which nobody sees, differ each time.
    """
    names = [str(number)] if number else []
    while task.is_call and task.caller is not None:
        names += [] if task.node.is_hidden else [task.name]
        task = task.caller
    return NS_SEP.join([stateful_ns(task.ns_inside), *names[::-1]])


def _called_in(outer: Run, task: Task) -> Sequence[str]:
    """The tasks around a graph that its namespace does not tell of: callers of graphs that remember, and of calls."""
    called_in = list(outer.called_in)
    if outer.called_by:
        called_in.append(outer.called_by)
    while task.is_call and task.caller is not None:
        task = task.caller
        called_in.append(task.id)
    return called_in


def _since(outer: Run, task: Task) -> str:
    """Where the task of the root began that the one around a graph is in the place of; empty if it is in none."""
    if outer.is_nested or outer.known is None:
        return outer.since
    named = outer.known.calling_as.get(task.of_step.id)
    return "" if named is None else min(named[:24], task.began_at)


def _keeper(host: Host) -> Host:
    """The nearest run around a graph that remembers which stores anything: one that does not may stand in between."""
    while host.saver is None and host.parent is not None:
        host = host.parent.host
    return host


def _caller() -> FrameType | None:
    """Where the graph is called: the first frame that is not of this room, nor of a runnable that hands calls on."""
    frame: FrameType | None = sys._getframe(3)
    while frame is not None and _hands_on(frame.f_globals):
        frame = frame.f_back
    return frame


def _hands_on(module: Mapping[str, Any]) -> bool:
    return module.get("__package__") == __package__ or module.get("__name__") == runnables.__name__


def _namespace(parent: Scope, number: int) -> str:
    """A namespace of its own for each call of a task; that of the first is the task's.

    It stays the same if a person changes the state, and the task in its place goes on with the graph.
    """
    task, known = parent.task, parent.host.run.known
    inside = task.ns_inside if known is None else child_ns(task.ns, task.name, known.graphs_as(task.id))
    return f"{inside}{NS_SEP}{number}" if number else inside


def _is_same(saved: CheckpointTuple) -> bool:
    """A graph that remembers nothing between two calls: what it has saved is of the call under way."""
    return True


def _is_same_call(task_id: str, saved: CheckpointTuple) -> bool:
    """Whether a stateful graph's checkpoint was made by the very task that calls it now, before a pause or a crash."""
    return saved.metadata.get("called_by") == task_id
