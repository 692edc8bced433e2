"""What stays of the step under way when a person changes the state: results, and questions whose nodes are still due.

A node that is due again runs on the changed state, from its top. So a question of its own stays, but an answer to it is
handed over only if the node still asks the same. What a call or a graph inside of the node asked on the old state goes.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from signoff.checkpoint.base import TaskWrites
from signoff.constants import ASKS_AS, INTERRUPT, NO_WRITES, PUSH, RESUME
from signoff.engine import branching, ids, pending
from signoff.engine.handling import with_handlers
from signoff.engine.ledger import Record
from signoff.engine.pending import Pending, Questions
from signoff.engine.plan import next_tasks
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.task import Outcome, Task
from signoff.types import Interrupt


@dataclass(slots=True)
class Kept:
    """What is stored with the checkpoint of an update, for the tasks that are due there."""

    records: list[Record] = field(default_factory=list)
    questions: list[tuple[str, Interrupt[Any]]] = field(default_factory=list)
    """Those that stay, with the nodes that ask them."""
    gone: list[str] = field(default_factory=list)
    """The ids of the others."""
    waiting: list[Outcome] = field(default_factory=list)
    """The tasks that go on waiting as they are, in a program whose branches pause on their own."""

    def known(self) -> Pending:
        """The same as a run would find it."""
        return pending.by_task((id, *write) for id, writes, _ in self.records for write in writes)


def kept(run: Run, state: State, tasks: Sequence[Task], over: Collection[str]) -> Kept:
    """What stays of tasks that were due before an update, where it led to, except of those that are over."""
    known, found = run.known, Kept()
    if known is None:
        return found
    due = next_tasks(run.program, state, run.stop)
    for task in with_handlers(tasks, known):
        again = None if task.id in over else _again(task, due)
        if task.id in known.results:
            if again is not None:
                writes = known.results[task.id] or [(NO_WRITES, None)]
                found.records.append((again.id, writes, again.saved_path))
        elif (questions := known.asked.get(task.id)) is not None:
            _sort(found, known, task, again, questions)
    if found.waiting:
        gone = known.asked.keys() - {outcome.task.id for outcome in found.waiting}
        found.records += branching.carried_records(run, {*over, *gone}, found.waiting, found.gone)
    return found


def is_due_again(run: Run, task: Task, outcomes: Sequence[Outcome]) -> bool:
    """Whether what others write makes the node of a task due once more."""
    triggers = [name for name in task.node.triggers if name not in run.program.opaque]
    return any(name in triggers for outcome in outcomes for name, _ in outcome.writes)


def _again(task: Task, due: Sequence[Task]) -> Task | None:
    """The task that does now what another one was to do before."""
    same = [one for one in due if one.id == task.id]
    return next(iter(same or [one for one in due if one.path == task.path and _is_same_input(one, task)]), None)


def _is_same_input(one: Task, other: Task) -> bool:
    """Whether a Send says the same as another one in its place; what a node reads from the state is not compared."""
    return one.node is other.node and (one.path[0] != PUSH or one.input is other.input)


def _sort(found: Kept, known: Pending, task: Task, again: Task | None, questions: Questions) -> None:
    """Keep the questions of a task, or note that they are gone."""
    if again is not None and (again.id == task.id or _is_own(known, task, questions)):
        if again.id == task.id:
            found.waiting.append(Outcome(task, questions=questions))
        else:
            questions = tuple(map(_edited, questions))
            found.records += _renamed(known, task, again, questions)
        found.questions += [(task.name, question) for question in questions]
    else:
        found.gone += [question.id for question in questions]


def _is_own(known: Pending, task: Task, questions: Questions) -> bool:
    """Whether a task asks its first question, or one with a key: itself, not for a call or a graph inside of it."""
    question, name = questions[0], known.renamed.get(task.id, task.id)
    place = 0 if question.key is None else f"key\0{question.key}"
    return len(questions) == 1 and question.id == ids.question_id(name, place)


def _edited(question: Interrupt[Any]) -> Interrupt[Any]:
    return replace(question, origin={**(question.origin or {}), "is_edited": True})


def _renamed(known: Pending, task: Task, again: Task, questions: Questions) -> Iterator[Record]:
    """The questions of a task, for the one in its place, and the answers that no run has handed over yet."""
    yield again.id, [(INTERRUPT, questions)], again.saved_path
    yield TaskWrites(ids.alias_id(again.id), [(ASKS_AS, {again.id: known.renamed.get(task.id, task.id)})])
    for question in questions:
        if question.id in known.answers:
            answer = {**known.answers[question.id], "asked": question.origin}
            yield TaskWrites(ids.answer_id(question.id), [(RESUME, {question.id: answer})])
