"""Pending: what the saved writes of a checkpoint say about its tasks."""

from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any

from signoff._words.commands import Command
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import PendingWrite
from signoff.constants import (
    ASKS,
    ASKS_AS,
    CALLED,
    ERROR,
    ERROR_SOURCE,
    HAD_ASKED,
    INTERRUPT,
    LEADS,
    NO_WRITES,
    RESUME,
    TAKEN_BACK,
)
from signoff.engine import ids
from signoff.engine.origin import Origin, by_itself, unsettled
from signoff.engine.program import Write
from signoff.engine.task import Outcome, Record, Task
from signoff.errors import ParentCommand

if TYPE_CHECKING:
    from signoff.engine.answers import Answer

Questions = tuple[Interrupt[Any], ...]


class Pending:
    """The saved writes of a checkpoint, sorted out once."""

    __slots__ = ("_beside", "answers", "asked", "asking_calls", "calling_as", "errors", "failures", "had_asked",
                 "leads", "marks", "mended", "renamed", "results", "taken_back")  # fmt: skip

    def __init__(self) -> None:
        self.results: dict[str, list[Write]] = {}
        """What tasks and calls that have finished wrote, by task; and what was written beside them."""
        self.asked: dict[str, Questions] = {}
        """What tasks were waiting for, by task."""
        self.asking_calls: dict[str, Questions] = {}
        """What the calls inside of them were waiting for."""
        self.marks: dict[str, str] = {}
        """Where the calls were made that have finished, or wait."""
        self.calling_as: dict[str, str] = {}
        """The tasks that the calls of others, or their graphs, are named after: a person has changed the state in
        between."""
        self.answers: dict[str, Answer] = {}
        """The answers that were given since, by question."""
        self.errors: dict[str, Any] = {}
        """The texts of the errors that tasks failed with, and that nothing has come of since."""
        self.mended: dict[str, str] = {}
        """Those of tasks that have finished since, or ask."""
        self.failures: dict[str, Exception] = {}
        """The errors that tasks have left to their handlers."""
        self.leads: dict[str, list[dict[str, Any]]] = {}
        """The Commands for the graph around that tasks have finished with: their results are empty."""
        self.renamed: dict[str, str] = {}
        """The tasks that the questions of others are named after: a person has changed the state in between."""
        self.had_asked: dict[str, list[str]] = {}
        """The words of what tasks had asked, and nobody has answered, before a person changed the state twice or more:
        they may come to it again."""
        self.taken_back: list[str] = []
        """The ids under which callers wrote what was refused afterwards, together with the answer beside it; and
        those of failures that tasks do not catch any more."""
        self._beside: list[str] | None = None

    @property
    def beside(self) -> list[str]:
        """The ids of what was written beside the tasks' results, in the order in which it came.

        What tasks told as they asked is sorted by when they did. The number of what a caller wrote is its place.
        """
        if self._beside is None:
            found = [id for id in self.results if id.startswith(ids.BESIDE)]
            beside = [*filter(ids.is_aside, found)]
            for id in sorted(filter(ids.is_caller, found)):
                beside.insert(ids.caller_place(id), id)
            self._beside = beside  # not before: other threads look at it, too
        return self._beside

    def tell(self, id: str, writes: list[Write]) -> None:
        """Take what the caller of the run that goes on from here tells the state."""
        self.results[id], self._beside = writes, None

    @property
    def has_failed(self) -> bool:
        """Whether a task has failed, and nobody takes care of that: no handler, and no run since."""
        return not self.errors.keys() <= self.failures.keys()

    def waiting(self) -> set[str]:
        """The ids of the tasks that wait for answers. One that has failed has left the rest to its handler."""
        return self.asked.keys() - self.results.keys() - self.failures.keys()

    def asked_by(self, task: Task) -> Questions:
        """What a task, or a call inside of one, was waiting for."""
        return (self.asked if task.caller is None else self.asking_calls).get(task.id, ())

    def graphs_as(self, task_id: str) -> str:
        """The task that the graphs of another one are named after: mostly itself."""
        return self.calling_as.get(ids.graphs_id(task_id), task_id) if self.calling_as else task_id

    def caught(self, call_id: str, nth: int) -> Exception | None:
        """The n-th failure of a call, if its task has caught that, and then paused."""
        return self.failures.get(ids.failure_id(call_id, nth)) if self.failures else None

    def failure_stored_as(self, id: str) -> str:
        """What a failure is stored under: another id, if one was taken back that was stored under its own."""
        while id in self.taken_back:
            id = ids.failure_id(id, 0)
        return id

    def sort_out(self, task_id: str, channel: str, value: Any) -> None:
        """Take a write that is no result."""
        if channel == ASKS:
            self.asking_calls[task_id] = _as_tuple(value)
        elif channel == ERROR and isinstance(value, list):
            self.mended[task_id] = value[0]
        elif channel == ERROR:
            self.errors[task_id] = value
        elif channel == ERROR_SOURCE:
            self.failures[task_id] = value
        elif channel == ASKS_AS:
            self.renamed.update(value)
        elif channel == HAD_ASKED:
            self.had_asked.update(value)
        elif channel == CALLED:
            self.calling_as.update(value)
        elif channel == TAKEN_BACK:
            self.taken_back.append(value)
        elif channel == NO_WRITES:
            self.results.setdefault(task_id, [])
        elif channel == LEADS:
            self.leads[task_id] = value
            self.results.setdefault(task_id, [])
        elif value:  # else the task stands at a breakpoint of a nested graph, and asks nothing
            self.asked[task_id] = _as_tuple(value)


_NOT_RESULTS = {
    ASKS, ASKS_AS, CALLED, ERROR, ERROR_SOURCE, HAD_ASKED, INTERRUPT, LEADS, NO_WRITES, RESUME, TAKEN_BACK,
}  # fmt: skip


def by_task(writes: Iterable[PendingWrite] | None) -> Pending:
    """The saved writes, sorted out by task."""
    known = Pending()
    results, asked, answers = known.results, known.asked, known.answers
    for task_id, channel, value in writes or ():
        if channel == INTERRUPT and type(value) is tuple and value:
            asked[task_id] = value
        elif channel not in _NOT_RESULTS:
            if task_id in results:
                results[task_id].append((channel, value))
            else:
                results[task_id] = [(channel, value)]
        elif channel == RESUME:
            answers.update(value)
        elif channel == CALLED and type(value) is str:
            known.marks[task_id] = value
        else:
            known.sort_out(task_id, channel, value)
    if known.taken_back:
        _take_back(known)
    if known.errors:
        known.mended |= {id: known.errors.pop(id) for id in known.errors.keys() & results.keys()}
    return known


def asker_id(task: Task, known: Pending | None) -> str:
    """The task that questions are named after: the one that asks, or that it replaces after an update by a person."""
    id = task.id
    return known.renamed.get(id, id) if known is not None and known.renamed else id


def in_records(records: Iterable[Record]) -> Pending:
    """What records say that are about to be stored, as a run would find it."""
    return by_task((id, *write) for id, writes, _ in records for write in writes)


def _take_back(known: Pending) -> None:
    """Leave out what was taken back. Its place stays taken: savers keep the first of what is stored under an id.

    A call that has failed again since has another place for that.
    """
    failed = {id for id in known.taken_back if not ids.is_caller(id)}
    known.results.update((id, []) for id in known.taken_back if id not in failed)
    for id in failed:
        known.failures.pop(id, None)
    for id in failed - {ids.failure_id(id, 0) for id in failed}:
        again = known.failures.pop(known.failure_stored_as(id), None)
        if again is not None:
            known.failures[id] = again


def added_writes(known: Pending, *, told: Container[str] | None = None) -> list[list[Write]]:
    """What was written to the state since, beside the tasks' results: by the caller, and by tasks as they asked.

    told: which of the latter counts, by id; None for all. One came after the other, so each is folded on its own.
    """
    return [known.results[id] for id in known.beside if told is None or not ids.is_aside(id) or id in told]


def place_beside(known: Pending | None) -> int:
    """The place of what is written beside the tasks of this checkpoint from now on."""
    return len(known.beside) if known is not None else 0


def replayed(task: Task, known: Pending) -> Outcome | None:
    """The outcome of a task that had finished before; None if it has to run."""
    return _finished(task, known) if task.id in known.results else None


def _finished(task: Task, known: Pending) -> Outcome:
    outcome = Outcome(task, known.results[task.id], is_known=True)
    if task.id in known.leads:
        outcome.signal = ParentCommand(*[Command(**told) for told in known.leads[task.id]])
    return outcome


def settled(task: Task, known: Pending, answers: dict[str, Any]) -> Outcome | None:
    """The outcome of a task that need not run: it has finished, or waits for answers none of which has come.

    A question that was asked before a person changed the state is asked again: it may say something else now. And
    what has failed beside a question is tried again.
    """
    id = task.id
    if id in known.results:
        return _finished(task, known)
    questions = known.asked_by(task)
    if not questions or unsettled({id: questions}, answers):
        return None
    return Outcome(task, questions=questions, is_known=True)


def still_asked(task: Task, known: Pending | None, answers: dict[str, Any]) -> Questions:
    """What was asked beside a task before, and is not answered.

    Coroutines and threads may not have come to it again when another one pauses their task; still it was asked.
    """
    if known is None:
        return ()
    beside = (
        one
        for one in known.asked_by(task)
        if one.origin and "is_beside" in one.origin and "is_edited" not in one.origin
    )
    return tuple(by_itself(one) for one in beside if one.id not in answers)


def is_own(known: Pending, task: Task, id: str, key: str | None, origin: Origin | None) -> bool:
    """Whether a question is one of those that a task asks itself."""
    return is_of(asker_id(task, known), id, key, origin, len(known.answers) + 1)


def is_of(asker_id: str, id: str, key: str | None, origin: Origin | None, most: int) -> bool:
    """Whether a question is named after a task, or a call: its id says so, or that of what was asked first there.

    most: how many questions without a key that may have asked.
    """
    told = origin or Origin()
    return ids.is_question_of(asker_id, told.get("first", id), key, told.get("payload", ""), most)


def all_asked(known: Pending) -> list[Interrupt[Any]]:
    """The questions that any task was waiting for when it was saved."""
    return [question for questions in known.asked.values() for question in questions]


def open_questions(known: Pending, answers: dict[str, Any]) -> dict[str, Interrupt[Any]]:
    """The questions of unfinished tasks that nobody has answered yet, in the order in which they were asked."""
    over = known.results.keys() | known.failures.keys() if known.failures else known.results
    asked = known.asked.items()
    return {one.id: one for id, questions in asked if id not in over for one in questions if one.id not in answers}


def _as_tuple(value: Any) -> Questions:
    return tuple(value) if isinstance(value, list | tuple) else (value,)
