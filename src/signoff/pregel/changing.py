"""Changing a nested graph from the root: the tasks around it must notice."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from signoff.checkpoint.base import CheckpointTuple, Commit, Place, TaskWrites, checkpoint_config
from signoff.config import RunnableConfig
from signoff.constants import INTERRUPT, NS_SEP
from signoff.engine.effects import Load
from signoff.engine.run import Run
from signoff.engine.snapshot import due_at
from signoff.engine.update import update_thread
from signoff.pregel.reading import graph_at
from signoff.steps import Steps
from signoff.types import StateUpdate

if TYPE_CHECKING:
    from signoff.pregel.base import Base


def update_nested(graph: "Base", run: Run, supersteps: Sequence[Sequence[StateUpdate]]) -> Steps[RunnableConfig]:
    """Update a graph, or one nested in it, and withdraw the questions that tasks around it had passed on."""
    withdrawn = yield from _withdrawals(graph, run) if run.ns else _none()
    return (yield from update_thread(run, supersteps, withdrawn))


def _none() -> Steps[list[Commit]]:
    return []
    yield


def _withdrawals(graph: "Base", run: Run) -> Steps[list[Commit]]:
    """What makes each task around a nested graph run again, and so look at it anew, when the thread goes on."""
    commits: list[Commit] = []
    levels = run.ns.split(NS_SEP)
    for depth in range(len(levels)):
        outer, inner = NS_SEP.join(levels[:depth]), NS_SEP.join(levels[: depth + 1])
        saved: CheckpointTuple | None = yield Load(checkpoint_config(run.thread_id, outer))
        if saved is not None:
            commits += _withdrawn(graph_at(graph, outer), run, saved, outer, inner)
    return commits


def _withdrawn(graph: "Base", run: Run, saved: CheckpointTuple, outer: str, inner: str) -> list[Commit]:
    _, known, tasks = due_at(graph.program, saved, outer)
    place = Place(run.thread_id, outer, saved.checkpoint["id"])
    return [
        Commit(place, [TaskWrites(task.id, [(INTERRUPT, ())], task.saved_path)])
        for task in tasks
        if task.node.graph is not None and task.ns_of_graph == inner and task.id in known.asked
    ]
