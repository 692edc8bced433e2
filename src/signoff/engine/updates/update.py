"""Updates by a person: change the state of a thread as if a node had, and rebuild or repair its history."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from signoff._snapshots import StateUpdate
from signoff._words.questions import Interrupt
from signoff.checkpoint.base import CheckpointTuple, Commit, Filing, note_of
from signoff.config import RunnableConfig
from signoff.constants import COPY, END, INPUT, RESUME, WAITING
from signoff.engine import pending
from signoff.engine.answers import Answer
from signoff.engine.calls.earlier_calls import answers_of
from signoff.engine.effects import Load, Save
from signoff.engine.pending import Pending
from signoff.engine.planning.error_handlers import failed_for, finished, with_handlers
from signoff.engine.planning.fold import add, fold
from signoff.engine.planning.missing_nodes import all_due
from signoff.engine.planning.new_joins import late_arrivals
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.engine.stepping import branching
from signoff.engine.storing.ledger import Ledger
from signoff.engine.storing.question_index import filed_question
from signoff.engine.storing.stored_answers import left_behind
from signoff.engine.task import Outcome, Record, Task, names_of
from signoff.engine.threads.begin import restore
from signoff.engine.threads.remains import due_again, kept, note_calls, without_sends_to
from signoff.engine.threads.taking import load, with_thread
from signoff.engine.threads.time_travel import branch_at, newest_in_turn, recalled_now
from signoff.engine.threads.turn import drop_deferred, made_first
from signoff.engine.updates.checks import check_updates
from signoff.engine.updates.stand_ins import stood_in
from signoff.engine.updates.still_due import lead_on
from signoff.errors import InvalidUpdateError
from signoff.steps import Steps


class Around(NamedTuple):
    """The graphs around the one that is updated, if it is a nested one."""

    answers: Mapping[str, Answer]
    """The answers of the thread: they are kept at the root."""
    commits: Callable[[Mapping[str, Interrupt[Any]], Mapping[str, Answer]], list[Commit]]
    """Told the questions that stay open, and the answers that are marked, what else has to be stored."""


LookAround = Callable[[CheckpointTuple | None], Steps[Around]]
"""Told the checkpoint that an update begins at."""


def update_thread(
    run: Run, supersteps: Sequence[Sequence[StateUpdate]], look_around: LookAround
) -> Steps[RunnableConfig]:
    """Apply updates, one checkpoint for each group of them; all of them, or, if anything is wrong, none."""
    check_updates(run.program, supersteps)
    return (yield from with_thread(run, lambda: _update(run, supersteps, look_around)))


def _update(run: Run, supersteps: Sequence[Sequence[StateUpdate]], look_around: LookAround) -> Steps[RunnableConfig]:
    saved = yield from _load(run)
    # Read after the thread was looked at: if another run comes in between, all of it is read again.
    around = yield from look_around(saved)
    ledger = Ledger(run, saved.checkpoint["id"] if saved else None)
    state = yield from _beginning(run, saved, supersteps[0])
    if run.known is not None and around.answers and not _is_old(run, state):
        run.known.answers |= answers_of(run.known, with_handlers(_due(run, state), run.known), around.answers)
    for updates in supersteps:
        yield from _apply_group(run, state, ledger, saved, updates)
    save = ledger.close()
    assert save is not None, "every group of updates makes a checkpoint"
    known = run.known or Pending()
    others = around.commits({question.id: question for question in pending.all_asked(known)}, known.answers)
    yield Save([*save.commits, *others], ends=save.ends)
    return run.config_of(state.checkpoint_id)


def _load(run: Run) -> Steps[CheckpointTuple | None]:
    """The checkpoint that an update begins at, and what the run has to know about it."""
    saved = yield from load(run)
    if saved is not None and run.ns and run.checkpoint_id is None:
        run.newest_id, saved = saved.checkpoint["id"], (yield from recalled_now(saved))
    if saved is not None and not run.parents:
        run.parents = saved.metadata.get("parents", {})
    if saved is not None and run.ns:
        about: Any = saved.metadata
        run.called_by, run.called_in = about.get("called_by", ""), about.get("called_in", ())
        if run.called_by and run.checkpoint_id not in (None, run.newest_id):
            yield from _see_turn(run, saved)
    return saved


def _see_turn(run: Run, saved: CheckpointTuple) -> Steps[None]:
    """See how the turn stands that the checkpoint of an update belongs to: that of another task may be the newest."""
    head = yield from newest_in_turn(saved)
    run.stands = head.checkpoint["id"] == run.checkpoint_id
    run.left = () if run.stands else left_behind(pending.by_task(head.pending_writes))


def _beginning(run: Run, saved: CheckpointTuple | None, updates: Sequence[StateUpdate]) -> Steps[State]:
    """The state that the first group of updates finds."""
    first = updates[0].as_node
    is_past = saved is not None and _is_at_old(run, saved.checkpoint["id"])
    # What tasks told as they asked there, they tell again if they ask again. Whom somebody stands in for does not.
    stand_ins = [update.task_id or update.as_node for update in updates]
    state = restore(run, saved, begins_anew=is_past and first not in (END, INPUT), but_not=stand_ins)
    if saved is None:
        if first != INPUT:
            state.step += 1  # as after an input
        if run.program.made_once:
            add(run.program, state, made_first(run, state))
        return state
    if _is_old(run, state):
        # On an old checkpoint, the update begins a branch: what ran from there belongs to another one. But whoever
        # ends the step there wants what it has come to.
        run.known = _results(run.known) if first == END else None
        if not run.ns:
            run.begins = branch_at(saved)
    if run.program.joins:
        due = {task.id: task.node for task in _due(run, state)}
        if late := (yield from late_arrivals(run, state, saved, due, is_old=run.known is None)):
            add(run.program, state, late)
    return state


def _apply_group(
    run: Run, state: State, ledger: Ledger, saved: CheckpointTuple | None, updates: Sequence[StateUpdate]
) -> Steps[None]:
    """What one group of updates makes of the state, as one checkpoint; a copy may have another one after it."""
    only = updates[0]
    if only.as_node == COPY:
        if saved is None:
            raise InvalidUpdateError(f"Thread {run.thread_id!r} has no checkpoint to copy.")
        yield from _copy(run, state, ledger, saved)
        if only.values:
            yield from _apply(run, state, ledger, [StateUpdate(*update) for update in only.values])
    elif only.as_node == INPUT:
        _take_input(run, state, ledger, only.values)
    elif only.as_node == END:
        _end(run, state, ledger)
    else:
        yield from _apply(run, state, ledger, updates)


def _results(known: Pending | None) -> Pending | None:
    """What tasks have finished, without what others of their step have asked."""
    if known is None:
        return None
    results = Pending()
    results.results, results.leads, results.failures = known.results, known.leads, known.failures
    return results


def _is_old(run: Run, state: State) -> bool:
    """Whether the state is that of a checkpoint that is not the newest one."""
    return _is_at_old(run, state.checkpoint_id)


def _is_at_old(run: Run, checkpoint_id: str) -> bool:
    return checkpoint_id == run.checkpoint_id != run.newest_id and not run.stands


def _apply(run: Run, state: State, ledger: Ledger, updates: Sequence[StateUpdate]) -> Steps[None]:
    """Let nodes have returned what a person says, beside what their siblings have finished."""
    tasks = _due(run, state)
    note_calls(run, tasks)
    outcomes = yield from stood_in(run, state, tasks, updates)
    replaced = {outcome.task.id for outcome in outcomes}
    others = [task for task in tasks if task.id not in replaced]
    waiting = [outcome.task for outcome in _waiting(run, state, others)]
    settled = {task.id for task in waiting} | {outcome.task.id for outcome in _finished(run, others)}
    lead_on(run.program, state, [task for task in others if task.id not in settled], updates, outcomes)
    sent = [task for task in waiting if task.is_sent]
    without_sends_to(sent, outcomes)
    again = due_again(run, [task for task in others if task not in sent], outcomes)
    others = [task for task in others if task.id not in again]
    done = _finished(run, others)
    if not _is_old(run, state):
        _check_handoffs(done)
    _conclude(run, state, ledger, tasks, [*done, *outcomes], _waiting(run, state, others))


def _check_handoffs(finished: Sequence[Outcome]) -> None:
    """An update that ends a step would drop what a task of it has for the graph around."""
    for outcome in finished:
        if outcome.signal is not None:
            raise InvalidUpdateError(
                f"Node {outcome.task.name!r} hands over to the graph around this one as soon as the others of its step "
                "have finished, and the update would end the step without that. Answer what they ask; or update the "
                "graph around, as the node that runs this one."
            )


def _due(run: Run, state: State) -> list[Task]:
    return all_due(run.program, state, run.known or Pending())


def _finished(run: Run, tasks: Sequence[Task]) -> list[Outcome]:
    return finished(tasks, run.known) if run.known is not None else []


def _waiting(run: Run, state: State, tasks: Sequence[Task]) -> list[Outcome]:
    """The tasks that go on waiting, in a program whose branches pause on their own; or, on a branch, that ask again."""
    if not run.program.pauses_branch:
        return []
    known = run.known or Pending()
    asking = known.waiting()
    others = {one["id"] for one in state.values.get(WAITING, ())} - known.results.keys() - known.failures.keys()
    waiting = [task for task in tasks if task.id in asking or task.id in others]
    paused = [Outcome(task, questions=known.asked.get(task.id, ())) for task in waiting]
    return [*paused, *failed_for(asking, tasks, known)]


def _end(run: Run, state: State, ledger: Ledger) -> None:
    """End the step under way with what has finished; nobody waits for the rest."""
    tasks = _due(run, state)
    done = _finished(run, tasks)
    over = {outcome.task.id for outcome in done}
    left = [Outcome(task, is_known=True) for task in tasks if task.id not in over]
    _conclude(run, state, ledger, tasks, [*done, *left])


def _take_input(run: Run, state: State, ledger: Ledger, values: Any) -> None:
    run.program.check_input(values)
    tasks = _due(run, state)
    drop_deferred(run.program, state)
    fold(run.program, state, [Outcome(task) for task in tasks], run.program.map_input(values))
    state.writers = ()
    _store(run, state, ledger, "input", tasks, {task.id for task in tasks})


def _copy(run: Run, state: State, ledger: Ledger, saved: CheckpointTuple) -> Steps[None]:
    """Make a sibling of a checkpoint: it has all of its values, and lacks what only the parent of both has."""
    parent = (yield Load(saved.parent_config)) if saved.parent_config else None
    ledger.stand_beside(saved.parent_config if parent else None)
    tasks = _due(run, state)
    state.step += 1
    if parent is not None:
        state.lose(parent.checkpoint["channel_values"])
    state.changed.update(state.values)
    _store(run, state, ledger, "fork", tasks)


def _conclude(
    run: Run,
    state: State,
    ledger: Ledger,
    tasks: Sequence[Task],
    outcomes: Sequence[Outcome],
    waiting: Sequence[Outcome] = (),
) -> None:
    # What tasks came to stays as it is; what those of an old checkpoint did is the history of another branch; and
    # on a thread that has not begun there is no checkpoint yet to keep it with.
    known = run.known.results if run.known is not None else ()
    is_kept = _is_old(run, state) or not ledger.has_stored
    for outcome in outcomes:
        outcome.is_saved = outcome.is_saved or is_kept or outcome.task.id in known
    records = ledger.records(outcomes)
    fold(run.program, state, outcomes, branching.waits(waiting, run.known) if waiting else (), waiting)
    state.writers = names_of(outcomes)
    _store(run, state, ledger, "update", tasks, {outcome.task.id for outcome in outcomes}, records)


def _store(
    run: Run,
    state: State,
    ledger: Ledger,
    source: str,
    tasks: Sequence[Task],
    over: Collection[str] = (),
    records: Sequence[Record] = (),
) -> None:
    """Make a checkpoint of the state, and keep with it what stays of the tasks that were due before."""
    state.lose(state.gone)
    ledger.renew(state)
    if run.known is None:
        branching.begin_again(state, is_changed=True)
    staying = kept(run, state, tasks, over)
    run.discarded, run.left = [*run.left, *staying.gone], ()
    ledger.index.asked = None  # whatever is open is closed, and what stays is filed anew
    ledger.checkpoint(state, source, records, hold=True)
    run.known = staying.known()
    if staying.records:
        given = run.known.answers
        filed = [filed_question(run, node, one) for node, one in staying.questions]
        filed = [note_of(one) if one.id in given else one for one in filed]
        if run.ns:  # its answers are kept at the root
            staying.records = [record for record in staying.records if record[1][0][0] != RESUME]
        ledger.hold(state, staying.records, None if run.is_nested or run.ns else Filing(filed))
