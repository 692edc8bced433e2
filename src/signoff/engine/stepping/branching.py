"""`compile(pause="branch")`: what does not depend on a waiting task goes on, while that one waits.

A task that waits is carried from checkpoint to checkpoint in a channel of its own, and with it what it has asked,
what was answered, and what its calls have come to. Nodes behind it are held until it has finished.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypedDict

from signoff.constants import RESUME, TASKS, WAITING
from signoff.engine import ids, pending
from signoff.engine.calls.earlier_calls import told_by as told_before
from signoff.engine.pending import Pending
from signoff.engine.planning.breakpoints import stops
from signoff.engine.planning.error_handlers import HANDLER, handler_id, is_handled
from signoff.engine.planning.fold import add, fold
from signoff.engine.planning.plan import next_tasks
from signoff.engine.program import Write
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.storing.ledger import Ledger
from signoff.engine.storing.task_writes import as_saved, stored_outcome
from signoff.engine.task import Outcome, Record, Task, names_of
from signoff.steps import Steps


class Waiting(TypedDict, total=False):
    """A task that waits, as it is stored."""

    id: str
    node: str
    path: list[Any]
    began_at: str
    """The checkpoint that it was planned from."""
    arg: Any
    """The input of a task that came by a Send."""
    told: list[str]
    """The ids of what it has told the state as it asked: that is part of the state by now."""
    told_in: list[str]
    """Where calls inside of it have done so: one that is given something else each time has another id each time."""
    names: list[str]
    """The ids that it had before the thread went back: what it told then is named after them."""


def may_go_on(run: Run, outcomes: Sequence[Outcome]) -> bool:
    """Whether the others go on although some tasks wait."""
    if not run.program.pauses_branch or any(outcome.signal is not None for outcome in outcomes):
        return False  # what is for the graph around ends this one, so it waits until nobody is asked
    return any(outcome.is_done for outcome in outcomes)


def go_on(run: Run, state: State, ledger: Ledger, outcomes: Sequence[Outcome]) -> Steps[list[Task]]:
    """End the step for the tasks that have finished; those that wait are carried on."""
    done = [outcome for outcome in outcomes if outcome.is_done]
    waiting = _waiting(outcomes)
    records = ledger.records(done) if run.is_saved else []
    over = [outcome for outcome in outcomes if outcome not in waiting]  # also what has failed, and was handled
    answered = ledger.index.answered(outcome.task.id for outcome in over)
    run.note_dropped({outcome.task.id for outcome in over})
    kept = carried(run, {outcome.task.id for outcome in over}, waiting, answered)
    for told in told_by(waiting):
        add(run.program, state, told)
    fold(run.program, state, over, waits(waiting, run.known), waiting)
    state.writers = names_of(over)
    if run.is_saved:
        ledger.renew(state)
    tasks = next_tasks(run.program, state, run.stop)
    state.stopped = stops(run, over, tasks) if run.has_breakpoints else ()
    if run.is_saved and (save := ledger.carry(state, records, [*kept, *ledger.joins(state)], answered)) is not None:
        yield save
    run.forget_calls()
    run.known = pending.in_records(kept)
    return tasks


def begin_again(state: State, *, is_changed: bool = False) -> None:
    """Have tasks that wait begin anew from this checkpoint: neither what they asked nor what was inside is theirs.

    is_changed: whether a person has changed the state, so that calls may be given something else, and tell that.
    """
    waiting: Sequence[Waiting] = state.values.get(WAITING, ())
    if waiting:
        anew = [Waiting(**{**one, **_named_at(state, one)}) for one in waiting]
        if is_changed:
            for one in anew:
                one.pop("told_in", None)
        state.values[WAITING] = state.changed[WAITING] = anew


def _named_at(state: State, one: Waiting) -> Waiting:
    id = ids.as_uuid(f"{state.checkpoint_id}\0{one['id']}")
    return Waiting(id=id, began_at=state.checkpoint_id, names=[*one.get("names", ()), one["id"]])


def waiting_ids(task: Task) -> Iterator[str]:
    """The ids of the tasks that wait beside one, or as which it waits itself, those from before the thread went back
    included; and those that it had there, if it is a call inside of such a task."""
    around, ways = _around(task)
    waiting: Sequence[Waiting] = around.values.get(WAITING, ())
    for one in waiting:
        names = one.get("names", ())
        yield from (one["id"], *names)
        if ways and one["id"] == around.id:
            yield from (_inside(name, ways) for name in names)


def _around(task: Task) -> tuple[Task, list[str]]:
    """The task of the step that a call is made in, and the way from there; or the task itself."""
    ways: list[str] = []
    while task.caller is not None and task.is_call:
        ways[:0] = task.made_as
        task = task.caller
    return task, ways


def has_told(task: Task, place: int | str, told_in: str) -> bool:
    """Whether a task that waits has told the state something as it asked a question, here or where it began.

    So it is with a call inside of one, which is known by its place there, too.
    """
    task, ways = _around(task)
    entry = _entry(task)
    if ways and entry is not None and told_in in entry.get("told_in", ()):
        return True
    told = entry.get("told", ()) if entry is not None else ()
    names = [*entry.get("names", ()), task.id] if entry is not None and told else []
    return any(ids.aside_id(ids.question_id(_inside(name, ways), place)) in told for name in names)


def _inside(name: str, ways: Sequence[str]) -> str:
    """The id of a call that a task makes, or that such a call makes."""
    for way in ways:
        name = ids.as_uuid(f"{name}\0{way}")
    return name


def _entry(task: Task) -> Waiting | None:
    """What is stored of a task that has waited when its step began."""
    waiting: Sequence[Waiting] = task.values.get(WAITING, ())
    return next((one for one in waiting if one["id"] == task.id), None)


def _waiting(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The tasks that wait, and those that have failed and whose error handlers wait."""
    paused = {outcome.task.id for outcome in outcomes if outcome.is_paused}
    return [one for one in outcomes if one.is_paused or (is_handled(one) and handler_id(one.task) in paused)]


def waits(waiting: Iterable[Outcome], known: Pending | None) -> list[Write]:
    """What makes tasks due at the next checkpoint, too, with the ids that they have.

    known: what tasks had come to before, at the checkpoint of this step.
    """
    # An error handler is due wherever the task is that has failed.
    return [(WAITING, [_stored(outcome, known) for outcome in waiting if outcome.task.path[0] != HANDLER])]


def carried(run: Run, over: Collection[str], waiting: Iterable[Outcome], answered: Collection[str]) -> list[Record]:
    """What stays kept with the next checkpoint for the tasks that wait: all but what has become part of the state."""
    stored = {**(as_saved(run.known) if run.known is not None else {}), **run.called}
    over = {*over, *map(ids.came_to_id, over)}
    kept = {id: writes for id, writes in stored.items() if id not in over and not _is_in_state(id)}
    for question, answer in run.answers.items():
        if question not in answered:
            kept[ids.answer_id(question)] = [(RESUME, {question: answer})]
    for outcome in waiting:
        kept[outcome.task.id] = list(stored_outcome(outcome, frozenset(), None))
        kept |= {id: list(writes) for id, writes, _ in outcome.asides if not ids.is_aside(id)}
    return [(id, writes, "") for id, writes in kept.items()]


def _is_in_state(id: str) -> bool:
    return ids.is_caller(id) or ids.is_aside(id) or id in (ids.STOP_ID, ids.JOINS_ID)


def told_by(waiting: Iterable[Outcome]) -> list[Sequence[Write]]:
    """What tasks told the state as they asked just now, one after the other."""
    told = [aside for outcome in waiting for aside in outcome.asides if ids.is_aside(aside[0])]
    return [writes for _, writes, _ in sorted(told, key=lambda aside: aside[2])] if told else []


def _told_in_calls(outcome: Outcome) -> list[str]:
    """Where calls inside of a task have told the state something as they asked: so the path of that ends."""
    ends = ("~".join(path.split("~")[-2:]) for id, _, path in outcome.asides if ids.is_aside(id))
    return [end for end in ends if not end.startswith("~")]


def _stored(outcome: Outcome, known: Pending | None) -> Waiting:
    task = outcome.task
    before = _entry(task) or Waiting()
    told_here = told_before(known, task) if known is not None else ()
    stored = Waiting(id=task.id, node=task.name, path=list(task.path), began_at=task.began_at)
    if task.is_sent:
        stored["arg"] = before["arg"] if "arg" in before else task.values[TASKS][task.path[1]].arg
    if told := [*before.get("told", ()), *sorted(told_here), *(id for id, *_ in outcome.asides if ids.is_aside(id))]:
        stored["told"] = told
    if told_in := [*before.get("told_in", ()), *_told_in_calls(outcome)]:
        stored["told_in"] = told_in
    if "names" in before:
        stored["names"] = before["names"]
    return stored
