"""What stays of the step under way when a person changes the state: results, and questions whose nodes are still due.

A node that is due again runs on the changed state, from its top. So a question of its own stays, but an answer to it is
handed over only if the node still asks the same. What a call or a graph inside of the node asks goes; it is asked again
if the node makes that call again.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from signoff._words.questions import Interrupt
from signoff.checkpoint.base import TaskWrites
from signoff.constants import ASKS_AS, CALLED, HAD_ASKED, INTERRUPT, PULL, RESUME, TASKS
from signoff.engine import ids, pending
from signoff.engine.answers import Answer, origin_of
from signoff.engine.calls.earlier_calls import carried
from signoff.engine.origin import Origin, flagged
from signoff.engine.pending import Pending, Questions
from signoff.engine.planning.error_handlers import failed_for, with_handlers
from signoff.engine.planning.plan import next_tasks
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.stepping import branching
from signoff.engine.storing.task_writes import stored_result
from signoff.engine.task import Outcome, Record, Task


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
        return pending.in_records(self.records)


def kept(run: Run, state: State, tasks: Sequence[Task], over: Collection[str]) -> Kept:
    """What stays of tasks that were due before an update, where it led to, except of those that are over."""
    known, found = run.known, Kept()
    if known is None:
        return found
    mine = {task.id for task in tasks}
    due = next_tasks(run.program, state, run.stop)
    free = [task for task in due if task.id not in mine]
    planned, were = with_handlers(due, known), with_handlers(tasks, known)
    left: list[Task] = []
    moved: list[tuple[Task, Task]] = []
    for task in were:
        again = None if task.id in over else _again(task, planned, free)
        if task.id in known.results:
            if again is not None:
                found.records.append((again.id, stored_result(known, task.id), again.saved_path))
            continue
        if again is None and task.id not in over:
            left.append(task)
        elif again is not None and again.id != task.id:
            moved.append((task, again))
        # In a branch that waits, one may ask nothing just now: an update inside of its graph has dropped its question.
        waits = again is not None and again.id == task.id
        questions = known.asked.get(task.id, () if waits else None)
        if questions is not None and task.id not in known.failures:
            _sort(found, known, task, again, questions)
    found.records += _with_graphs(known, moved)
    moved += _resent(left, free)
    if moved:
        going_on = {task.id for task, _ in moved}
        found.records += carried(known, moved, [task for task in were if task.id not in going_on], mine)
        found.records += _answered_inside(known, were)
    had_asked = {**known.had_asked, **_left_by(known, found.gone)}
    if had_asked:
        found.records.append(TaskWrites(ids.HAD_ASKED_ID, [(HAD_ASKED, had_asked)]))
    if found.waiting:
        _carry(found, run, known, tasks, over)
    return found


def _carry(found: Kept, run: Run, known: Pending, tasks: Sequence[Task], over: Collection[str]) -> None:
    """Keep what there is for the tasks that go on waiting as they are."""
    waiting = {outcome.task.id for outcome in found.waiting}
    found.waiting += failed_for(waiting, tasks, known)
    gone = known.asked.keys() - waiting
    told = {record[0] for record in found.records}
    others = branching.carried(run, {*over, *gone}, found.waiting, found.gone)
    found.records += [record for record in others if record[0] not in told]


def marked(run: Run, state: State, known: Pending, given: Collection[str]) -> list[Record]:
    """What is stored again if the caller of a run changes the state: what tasks ask about it, and were answered.

    Not so what is answered in the same breath, though what was answered before it is; nor what came by a Send, which
    has an input of its own.
    """
    records: list[Record] = []
    for task in with_handlers(next_tasks(run.program, state, run.stop), known):
        questions = known.asked.get(task.id, ())
        if task.is_sent or task.id in known.results:
            continue
        # What a call or a graph inside of it asks goes on as it is.
        edited = {one.id: flagged(one, "is_edited") for one in _own(known, task, questions) if one.id not in given}
        if edited:
            asked = tuple(edited.get(one.id, one) for one in questions)
            records.append((task.id, [(INTERRUPT, asked)], task.saved_path))
        records += _answered(known, task, edited.values())
    return records


def due_again(run: Run, tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> set[str]:
    """Those of some tasks, by id, that are due once more by what others write: their nodes, or Sends like theirs."""
    sent = [task for task in tasks if task.is_sent]
    written = {name for outcome in outcomes for name, _ in outcome.writes}
    others = [task for task in tasks if not task.is_sent and not written.isdisjoint(_triggers(run, task))]
    return {task.id for task in [*others, *_matched(sent, outcomes)[0]]}


def without_sends_to(waiting: Sequence[Task], outcomes: Sequence[Outcome]) -> None:
    """Take Sends out of outcomes that ask for what tasks that came by Sends, and go on waiting, are there to do."""
    _, doubled = _matched(waiting, outcomes)
    for outcome in outcomes if doubled else ():
        outcome.writes = [write for write in outcome.writes if not any(write[1] is send for send in doubled)]


def _matched(tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> tuple[list[Task], list[Any]]:
    """The tasks that Sends in outcomes ask for once more, and these Sends: one for each."""
    sends = [value for outcome in outcomes for name, value in outcome.writes if name == TASKS]
    found: list[Task] = []
    doubled: list[Any] = []
    for task in tasks:
        place = next((at for at, send in enumerate(sends) if _is_for(send, task)), None)
        if place is not None:
            found.append(task)
            doubled.append(sends.pop(place))
    return found, doubled


def _triggers(run: Run, task: Task) -> list[str]:
    return [name for name in task.node.triggers if name not in run.program.opaque]


def _is_for(send: Any, task: Task) -> bool:
    return bool(send.node == task.name) and _is_equal(send.arg, task.input)


def _is_equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return type(one) is type(other) and bool(one == other)
    except Exception:  # an array, say, which has no answer to that
        return False


def _again(task: Task, due: Sequence[Task], free: list[Task]) -> Task | None:
    """The task that does now what another one was to do before: itself, or one that nobody else was."""
    same = next((one for one in due if one.id == task.id), None)
    if same is not None:
        return same
    alike = [one for one in free if _is_alike(one, task)]
    again = next((one for one in alike if one.path == task.path), alike[0] if alike else None)
    if again is not None:
        free.remove(again)
    return again


def _resent(left: Sequence[Task], free: Sequence[Task]) -> Iterator[tuple[Task, Task]]:
    """The tasks of Sends that are not made any more, each with one that was sent something else in its place.

    It goes on with the calls that are the same, where these are known by their names: they may stand for payments.
    """
    sent = [task for task in free if task.is_sent]
    for task in left:
        if task.is_sent and (mine := {*_calls_in(task)}):
            shared = [(len(mine.intersection(_calls_in(one))), one) for one in sent if one.node is task.node]
            count, again = max(shared, key=lambda one: one[0], default=(0, None))
            if again is not None and count:
                sent.remove(again)
                yield task, again


def note_calls(run: Run, tasks: Sequence[Task]) -> None:
    """Let tasks know the calls that they are there for, as a Send would bring them, before the state is changed."""
    for task in tasks:
        calls_in = task.node.action.calls_in
        if calls_in is not None and task.path[0] == PULL:
            with suppress(Exception):  # a state that does not fit the node any more is mended by the update
                task.input = [*calls_in(task.node.read(task.values, task.step, run.stop)).values()]


def _with_graphs(known: Pending, moved: Sequence[tuple[Task, Task]]) -> Iterator[TaskWrites]:
    """Which tasks go on with the graphs that they have called: those that are there for calls, and for the same ones.

    A task that makes one call has no task for it, in which the graph would go on anyway.
    """
    for task, again in moved:
        calls = _calls_in(task)
        if calls and (task.is_sent or calls == _calls_in(again)):
            graphs = ids.graphs_id(again.id)
            yield TaskWrites(ids.alias_id(graphs, CALLED), [(CALLED, {graphs: known.graphs_as(task.id)})])


def _calls_in(task: Task) -> Mapping[str | None, Any]:
    calls_in = task.node.action.calls_in
    return calls_in(task.input) if calls_in is not None else {}


def _is_alike(one: Task, other: Task) -> bool:
    """Whether a task does what another one did; what a node reads from the state is not compared."""
    if one.node is not other.node or one.path[0] != other.path[0]:
        return False
    return _is_equal(one.input, other.input) if one.is_sent else one.path == other.path


def _sort(found: Kept, known: Pending, task: Task, again: Task | None, questions: Questions) -> None:
    """Keep the questions of a task, or note that they are gone; what a call or a graph inside of it asks is, too."""
    stay: Questions = ()
    if again is not None and again.id == task.id:
        stay = questions
        found.waiting.append(Outcome(task, questions=questions))
    elif again is not None:
        stay = tuple(flagged(question, "is_edited") for question in _own(known, task, questions))
        found.records += _renamed(known, task, again, stay)
    found.questions += [(task.name, question) for question in stay]
    staying = {question.id for question in stay}
    found.gone += [question.id for question in questions if question.id not in staying]


def _own(known: Pending, task: Task, questions: Questions) -> list[Interrupt[Any]]:
    """Those of the questions of a task that it asks itself."""
    return [one for one in questions if pending.is_own(known, task, one.id, one.key, one.origin)]


def _left_by(known: Pending, gone: Collection[str]) -> dict[str, list[str]]:
    """What tasks had asked before they came to questions of calls that go now, and the words of that."""
    origins = (one.origin or Origin() for one in pending.all_asked(known) if one.id in gone)
    return {id: words for origin in origins for id, words in origin.get("left", {}).items()}


def _renamed(known: Pending, task: Task, again: Task, questions: Questions) -> Iterator[Record]:
    """The questions of a task, for the one in its place, which asks under the same name; and the answers that it was
    given, or is to be given."""
    if questions:
        yield again.id, [(INTERRUPT, questions)], again.saved_path
    yield TaskWrites(ids.alias_id(again.id, ASKS_AS), [(ASKS_AS, {again.id: pending.asker_id(task, known)})])
    yield from _answered(known, task, questions)


def _answered(known: Pending, task: Task, questions: Iterable[Interrupt[Any]]) -> Iterator[TaskWrites]:
    """The answers that a task was given, or is to be given, marked like the questions."""
    to_come = {question.id: question.origin for question in questions}
    for id, answer in known.answers.items():
        if id in to_come or pending.is_own(known, task, id, answer.get("key"), origin_of(answer)):
            asked = to_come[id] if id in to_come else taken(answer)
            yield TaskWrites(ids.answer_id(id), [(RESUME, {id: {**answer, "asked": asked}})])


def _answered_inside(known: Pending, tasks: Sequence[Task]) -> Iterator[TaskWrites]:
    """The answers that calls were given, or are to be given, and graphs inside of them.

    Made again with the same, they go on as before.
    """
    for id, answer in known.answers.items():
        asked = answer.get("key"), origin_of(answer)
        if not any(pending.is_own(known, task, id, *asked) for task in tasks):
            yield TaskWrites(ids.answer_id(id), [(RESUME, {id: {**answer, "asked": taken(answer)}})])


def taken(answer: Answer) -> Origin:
    """What an answer was given to that a task has got."""
    return {**origin_of(answer), "is_edited": True, "is_taken": True}
