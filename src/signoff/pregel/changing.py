"""Changing a nested graph from the root: the tasks around it must notice."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from signoff._snapshots import StateUpdate
from signoff._words.questions import Interrupt
from signoff.checkpoint.answered import note_id, note_of
from signoff.checkpoint.base import CheckpointTuple, Commit, Filing, Place, TaskWrites, checkpoint_config
from signoff.config import RunnableConfig
from signoff.constants import INTERRUPT, NS_SEP, RESUME
from signoff.engine import pending
from signoff.engine.answers import Answer
from signoff.engine.effects import Load
from signoff.engine.ids import answer_id, stateful_ns
from signoff.engine.origin import flagged
from signoff.engine.pending import Questions
from signoff.engine.run import Run
from signoff.engine.showing.snapshot import due_at
from signoff.engine.storing.question_index import filed_question
from signoff.engine.task import Task
from signoff.engine.threads.time_travel import newest_of, tasks_around
from signoff.engine.updates.update import Around, update_thread
from signoff.pregel.reading import graph_at
from signoff.steps import Steps

if TYPE_CHECKING:
    from signoff.pregel.base import Base


class _Passing(NamedTuple):
    """A task around a nested graph, and the questions that it has passed on."""

    place: Place
    task: Task
    questions: Questions
    given: Mapping[str, Answer]
    """The answers that no run has handed over yet."""


def update_nested(graph: "Base", run: Run, supersteps: Sequence[Sequence[StateUpdate]]) -> Steps[RunnableConfig]:
    """Update a graph, or one nested in it; then the tasks around it pass on what it still asks."""
    return update_thread(run, supersteps, lambda saved: _around(graph, run, saved))


def _around(graph: "Base", run: Run, saved: CheckpointTuple | None) -> Steps[Around]:
    """How the tasks around a nested graph notice what was changed in it."""
    if not run.ns:
        return Around({}, lambda open, marked: [])
    root: CheckpointTuple | None = yield Load(checkpoint_config(run.thread_id, ""))
    passing = yield from _passing(graph, run, root, tasks_around(saved) if saved is not None else ())
    known = pending.by_task(saved.pending_writes if saved is not None else ())
    asked = {*run.left, *(question.id for question in pending.all_asked(known))}

    def commits(open: Mapping[str, Interrupt[Any]], marked: Mapping[str, Answer]) -> list[Commit]:
        passed = [_passed(graph, run, one, asked, open) for one in passing]
        return [*passed, _answered(run, root, marked)] if root is not None and marked else passed

    return Around(pending.by_task(root.pending_writes if root is not None else ()).answers, commits)


def _answered(run: Run, root: CheckpointTuple, marked: Mapping[str, Answer]) -> Commit:
    """The answers to what the nested graph has asked, as they count from now on: if it asks the same as before."""
    writes = [TaskWrites(answer_id(id), [(RESUME, {id: answer})]) for id, answer in marked.items()]
    return Commit(Place(run.thread_id, "", root.checkpoint["id"]), writes)


def _passing(graph: "Base", run: Run, root: CheckpointTuple | None, callers: Collection[str]) -> Steps[list[_Passing]]:
    """The tasks around a nested graph that pass on what it asks; `callers` are among them, where they are known."""
    found: list[_Passing] = []
    levels, outers = run.ns.split(NS_SEP), [""]
    for depth in range(len(levels)):
        inner, inners = NS_SEP.join(levels[: depth + 1]), list[str]()
        for outer in outers:
            saved = (yield from newest_of(checkpoint_config(run.thread_id, outer), {None, *callers})) if outer else root
            if saved is not None:
                _, _, known, tasks = due_at(graph_at(graph, outer).program, saved, outer)
                place = Place(run.thread_id, outer, saved.checkpoint["id"])
                around = [task for task in tasks if task.node.graph is not None and _leads_to(task, inner, callers)]
                asking = [task for task in around if task.id in known.asked]
                found += [_Passing(place, task, known.asked[task.id], known.answers) for task in asking]
                inners += [task.ns_of_graph for task in around]
        outers = list(dict.fromkeys([*inners, inner]))
    return found


def _leads_to(task: Task, ns: str, callers: Collection[str]) -> bool:
    """Whether a task runs the graph of a namespace; that of one that remembers does not say which tasks are around.

    callers: these tasks, where that is known.
    """
    is_there = ns in (task.ns_of_graph, stateful_ns(task.ns_of_graph))
    return is_there and (not callers or task.id in callers)


def _passed(
    graph: "Base", run: Run, one: _Passing, asked: Collection[str], open: Mapping[str, Interrupt[Any]]
) -> Commit:
    """What a task around a nested graph waits for now. It looks at the graph anew when the thread goes on.

    asked: what the nested graph asked before. What others ask that the task passes on as well stays as it is.
    """
    own = [question for question in one.questions if question.id in asked]
    staying = [open[question.id] for question in own if question.id in open]
    left = [question for question in one.questions if question.id not in asked or question.id in open]
    waits = tuple(open[each.id] if each.id in asked else flagged(each, "is_beside_change") for each in left)
    writes = [TaskWrites(one.task.id, [(INTERRUPT, waits)], one.task.saved_path)]
    return Commit(one.place, writes, filing=None if one.place.ns else _filing(graph, run, one, own, staying))


def _filing(
    graph: "Base", run: Run, one: _Passing, own: Sequence[Interrupt[Any]], staying: Sequence[Interrupt[Any]]
) -> Filing:
    """What the root's index of open questions has now of those that the nested graph had asked."""
    filed = [replace(filed_question(run, one.task.name, each), graph=graph.program.name) for each in staying]
    closed = [id for question in own for id in (question.id, note_id(question.id))]
    return Filing([note_of(each) if each.id in one.given else each for each in filed], closed)
