"""Pending: what the saved writes of a checkpoint say about its tasks."""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff.checkpoint.base import PendingWrite
from signoff.constants import ASKS, ERROR, ERROR_SOURCE, INTERRUPT, NO_WRITES, RESUME
from signoff.engine import ids
from signoff.engine.program import Write
from signoff.engine.task import Outcome, Task
from signoff.types import Interrupt

_NOT_RESULTS = {ASKS, ERROR, ERROR_SOURCE, INTERRUPT, RESUME}

Pending = dict[str, list[Write]]
"""The saved writes of each task, by its id."""


def by_task(pending: Iterable[PendingWrite] | None) -> Pending:
    """The saved writes, sorted out by task."""
    sorted_out: Pending = {}
    for task_id, channel, value in pending or ():
        sorted_out.setdefault(task_id, []).append((channel, value))
    return sorted_out


def added_writes(pending: Pending) -> list[list[Write]]:
    """What was written to the state since, beside the tasks' results: by the caller, and by tasks as they asked.

    One came after the other, so each is folded on its own.
    """
    asides = [task_id for task_id in pending if ids.is_aside(task_id)]
    return [pending[task_id] for task_id in [*sorted(filter(ids.is_caller, pending)), *asides]]


def next_caller_id(pending: Pending) -> str:
    """The id for the caller's next Command at this checkpoint."""
    return ids.caller_id(sum(map(ids.is_caller, pending)))


def is_asking(writes: Sequence[Write]) -> bool:
    """Whether a task was waiting for answers when it wrote this."""
    return any(name == INTERRUPT and value for name, value in writes)


def replayed(task: Task, pending: Pending) -> Outcome | None:
    """The outcome of a task that had finished before; None if it has to run."""
    writes = pending.get(task.id)
    if writes is None or (len(writes) == 1 and writes[0][0] in _NOT_RESULTS):
        return None
    results = [(name, value) for name, value in writes if name not in _NOT_RESULTS]
    if not results:
        return None
    return Outcome(task, [(name, value) for name, value in results if name != NO_WRITES], is_known=True)


def still_asking(task: Task, pending: Pending, answers: dict[str, Any]) -> Outcome | None:
    """The outcome of a task that waits for answers, none of which has come: it need not run to ask again."""
    questions = asked(task.id, pending, ASKS if task.caller is not None else INTERRUPT)
    if not questions or any(question.id in answers for question in questions):
        return None
    return Outcome(task, questions=questions, is_known=True)


def asked(task_id: str, pending: Pending, channel: str = INTERRUPT) -> tuple[Interrupt[Any], ...]:
    """The questions that a task was waiting for when it was saved."""
    writes = pending.get(task_id, ())
    if len(writes) == 1 and type(writes[0][1]) is tuple:
        return writes[0][1] if writes[0][0] == channel else ()
    return tuple(question for name, value in writes if name == channel for question in _as_sequence(value))


def all_asked(pending: Pending) -> list[Interrupt[Any]]:
    """The questions that any task was waiting for when it was saved."""
    return [question for task_id in pending for question in asked(task_id, pending)]


def asked_by_task(pending: Pending) -> dict[str, list[str]]:
    """The ids of the questions that tasks were waiting for when they were saved."""
    return {
        task_id: [question.id for question in asked(task_id, pending)]
        for task_id, writes in pending.items()
        if is_asking(writes)
    }


def failed_with(task_id: str, pending: Pending) -> Any:
    """The text of the error that a task failed with; None if it did not."""
    return next((value for name, value in pending.get(task_id, ()) if name == ERROR), None)


def failed_for_handler(task: Task, pending: Pending) -> Exception | None:
    """The error that a task left to its handler."""
    return next((value for name, value in pending.get(task.id, ()) if name == ERROR_SOURCE), None)


def open_questions(tasks: Sequence[Task], pending: Pending, answers: dict[str, Any]) -> list[Interrupt[Any]]:
    """The questions of unfinished tasks that nobody has answered yet."""
    return [
        question
        for task in tasks
        if replayed(task, pending) is None
        for question in asked(task.id, pending)
        if question.id not in answers
    ]


def _as_sequence(value: Any) -> Sequence[Interrupt[Any]]:
    return value if isinstance(value, list | tuple) else (value,)
