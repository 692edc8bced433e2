"""Snapshots: a checkpoint as a person reads it."""

from collections.abc import Sequence
from typing import Any

from signoff._snapshots import PregelTask, StateSnapshot
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import CheckpointMetadata, CheckpointTuple
from signoff.checkpoint.serde.unread import unread_in
from signoff.engine import pending
from signoff.engine.fitting import fit_results
from signoff.engine.pending import Pending
from signoff.engine.planning.error_handlers import finished, with_handlers
from signoff.engine.planning.fold import add, fold, preview
from signoff.engine.planning.missing_nodes import tasks_with_gone, with_gone
from signoff.engine.planning.plan import next_tasks
from signoff.engine.program import Program, Values, read_keys
from signoff.engine.showing import chunks
from signoff.engine.state import State, restored
from signoff.engine.storing.stored_answers import replaced, undelivered, unfinished
from signoff.engine.task import Task
from signoff.errors import InvalidUpdateError

Due = tuple[Program, State, Pending, list[Task]]


def due_at(program: Program, saved: CheckpointTuple, ns: str) -> Due:
    """The state at a checkpoint, what its tasks wrote since, and the tasks that start from it.

    The program has all their nodes: it is the one given, and those that it had when the checkpoint was made.
    """
    state = restored(program, saved, ns)
    known = pending.by_task(saved.pending_writes)
    if known.results:
        _add_results(program, state, known)
    program = with_gone(program, state, known)
    return program, state, known, tasks_with_gone(program, state, known)


def _add_results(program: Program, state: State, known: Pending) -> None:
    """Add to a state what was written beside the results of its tasks, as far as the program has a place for it."""
    known.results, _ = fit_results(program, known.results)
    for writes in pending.added_writes(known):
        try:
            add(program, state, writes)
        except Exception:
            if not unread_in((state.values, writes)):
                raise


def is_answered(due: Due) -> bool:
    """Whether a task has not finished, as far as is stored, though it was answered."""
    _, _, known, _ = due
    return bool(undelivered(known))


def snapshot(
    saved: CheckpointTuple, due: Due, nested: dict[str, Any], *, is_head: bool, is_past: bool
) -> StateSnapshot:
    """A checkpoint with its tasks. At the head of a thread, what finished tasks wrote shows already.

    is_past: whether the thread has gone on from there. Then what was asked shows, and not what is still open.
    """
    program, state, known, tasks = due
    values, ahead = _ahead(program, state, tasks, known) if is_head else (state.values, tasks)
    tasks = _as_shown(program, tasks)
    shown = [_shown(program, task, known, nested.get(task.id), is_head, is_past) for task in tasks]
    interrupts = tuple(question for task in shown for question in task.interrupts)
    return StateSnapshot(
        values=read_keys(values, program.stream_keys),
        next=tuple(task.name for task in _as_shown(program, ahead)),
        config=saved.config,
        metadata=_metadata(
            saved,
            interrupts,
            list(unfinished(known)) if is_head and known.answers else (),
            replaced(known) if known.asked and not state.ns else (),
        ),
        created_at=saved.checkpoint["ts"],
        parent_config=saved.parent_config,
        tasks=tuple(shown),
        interrupts=interrupts,
    )


def _metadata(
    saved: CheckpointTuple, questions: Sequence[Interrupt[Any]], answered: Sequence[str], replaced: Sequence[str]
) -> CheckpointMetadata:
    """The metadata of a checkpoint, without what only the engine needs; it says where a person was asked, and what.

    answered: the questions whose answers wait for a run.
    replaced: those in whose places others were asked.
    """
    shown: Any = saved.metadata
    if "called_by" in shown or "called_in" in shown:
        shown = {name: value for name, value in shown.items() if name not in ("called_by", "called_in")}
    if questions:
        shown = {**shown, "paused": True, "questions": [question.id for question in questions]}
    if answered:
        shown = {**shown, "answered": list(answered)}
    if replaced:
        shown = {**shown, "discarded": [*shown.get("discarded", ()), *replaced]}
    return shown  # type: ignore[no-any-return]


def _as_shown(program: Program, tasks: Sequence[Task]) -> list[Task]:
    """The tasks as readers know them: Sends first, then by the order in which the nodes were added."""
    if len(tasks) < 2:
        return list(tasks)
    places = {name: place for place, name in enumerate(program.nodes)}
    return sorted(tasks, key=lambda task: -1 if task.is_sent else places[task.name])


def _shown(program: Program, task: Task, known: Pending, nested: Any, is_head: bool, is_past: bool) -> PregelTask:
    done = pending.replayed(task, known)
    # The head of a thread shows what is open; its history shows what was asked.
    by = [one for one in with_handlers([task], known) if not is_head or one.id not in known.failures]
    asked = tuple(question for one in by for question in known.asked.get(one.id, ()))
    if done is None and not is_past:
        asked = tuple(question for question in asked if question.id not in known.answers)
    questions = () if done is not None and is_head else asked
    return PregelTask(
        task.id,
        task.name,
        task.path,
        known.errors.get(task.id) or (None if is_head else known.mended.get(task.id)),
        questions,
        nested,
        chunks.saved_result(program, done.writes) if done else None,
    )


def _ahead(program: Program, state: State, tasks: Sequence[Task], known: Pending) -> tuple[Values, Sequence[Task]]:
    """The values with what finished tasks of the step under way have written, and the tasks that are left.

    If none is left, a run was cut off before it could end the step, and what comes after it is due.
    """
    done = finished(tasks, known)
    over = {outcome.task.id for outcome in done}
    left = [task for task in tasks if task.id not in over]
    # Where only errors were handled since, the run was cut off before it could end the step: somebody has to go on.
    left = left or [task for task in tasks if task.id in known.failures and task.id not in known.results]
    try:
        if left or not tasks:
            writes = [write for outcome in done for write in outcome.writes]
            return preview(program, state.values, writes) if writes else state.values, left
        fold(program, state, done)
        return state.values, next_tasks(program, state, state.step + 1, reads=False)
    except InvalidUpdateError:  # they collide: a run says so, but a reader must see what there is
        return state.values, left
    except Exception:
        if not unread_in((state.values, [outcome.writes for outcome in done])):
            raise
        return state.values, left
