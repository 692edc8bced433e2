"""Going on: where a thread stopped, at an old checkpoint, or with a Command."""

from collections.abc import Sequence
from typing import Any

from signoff._words.commands import Command, Send
from signoff.checkpoint.base import CheckpointTuple, Filing, TaskWrites, checkpoint_config
from signoff.constants import CHECKPOINT_ID, CHECKPOINT_NS, CONF, MISSING, STOPPED
from signoff.engine import answers, ids, pending
from signoff.engine.effects import Emit, Load, Tell
from signoff.engine.pending import Pending
from signoff.engine.planning.breakpoints import stops
from signoff.engine.planning.due import Due, due_by_id, due_to_go_on, planned, row_of, sorted_out
from signoff.engine.planning.fold import add, preview
from signoff.engine.planning.new_joins import late_arrivals
from signoff.engine.program import Write
from signoff.engine.run import Run
from signoff.engine.showing import chunks
from signoff.engine.state import State
from signoff.engine.stepping import branching
from signoff.engine.storing.ledger import Ledger
from signoff.engine.storing.stored_answers import answer_record
from signoff.engine.task import Record, Row, Task
from signoff.engine.threads import remains
from signoff.errors import InvalidAnswer, QuestionsOpen, SignoffError
from signoff.steps import Steps

_LOOK_BACK = 100
"""How many checkpoints are searched for an answer that was given before."""


def go_on(
    run: Run,
    state: State,
    ledger: Ledger,
    saved: CheckpointTuple,
    is_old: bool,
    command: Command[Any] | None,
) -> Steps[Row]:
    """Go on where the thread stopped, or branch off at an old checkpoint."""
    from_id = state.checkpoint_id
    marked = _has_stopped(run, state, saved)
    due = due_to_go_on(run, state)
    late = (yield from late_arrivals(run, state, saved, due, is_old=is_old)) if run.program.joins else []
    if is_old:
        if command is not None:
            asks = run.known is not None and bool(run.known.asked)
            _check_at_old(run, state, command, may_go_on=bool(due) and run.has_breakpoints and not asks)
        yield from _fork(run, state, ledger, saved)
        due = due_by_id(run, state)
    if command is not None and (yield from _obey(run, state, ledger, saved, due, command, late, is_stopped=marked)):
        due = due_by_id(run, state)
    elif command is None and late:
        yield from _hear(run, state, ledger, late)
        due = due_by_id(run, state)
    if run.known is not None and run.known.answers and not run.is_nested:
        # A task that starts over is handed all that it was ever answered.
        run.found = {id: one for id, one in run.known.answers.items() if id not in run.given}
    if (claim := ledger.claim()) is not None:
        yield claim
    if run.on_resume is not None:
        notify = run.on_resume
        yield Tell(lambda: notify(from_id))
    if run.has_breakpoints or run.modes:
        source = "fork" if is_old else str(saved.metadata.get("source"))
        return (yield from _row_in_sight(run, state, ledger, source, marked=marked))
    row = row_of(run, state, due)
    state.stopped = ()
    return row


def _row_in_sight(run: Run, state: State, ledger: Ledger, source: str, *, marked: bool) -> Steps[Row]:
    """The row of a run with breakpoints, or with somebody who watches: they see its tasks before it goes on."""
    tasks = planned(run, state)
    state.stopped = ()
    if not marked:
        yield from _stop(run, state, ledger, tasks)
    if run.modes:
        values = chunks.values_anyway(run, state) if "values" in run.modes else []
        yield Emit([*values, *chunks.checkpoint_chunks(run, state, source, tasks, run.known)])
    return sorted_out(run, tasks)


def _stop(run: Run, state: State, ledger: Ledger, tasks: Sequence[Task]) -> Steps[None]:
    """A breakpoint lets pass what it has stopped; but after a crash before it could stop anything, it still does."""
    state.stopped = () if run.is_nested else stops(run, [], tasks)
    if state.stopped:
        record = TaskWrites(ids.STOP_ID, [(STOPPED, state.stopped)])
        if (save := ledger.writes(state, [record], wait=True)) is not None:
            yield save


def _has_stopped(run: Run, state: State, saved: CheckpointTuple) -> bool:
    """Whether somebody had the chance to look: a breakpoint has stopped here, or a person made or chose this place."""
    made_by_person = saved.metadata.get("source") in ("update", "fork") or run.checkpoint_id is not None
    return bool(state.stopped) or _is_marked(run) or made_by_person


def _is_marked(run: Run) -> bool:
    return run.known is not None and ids.STOP_ID in run.known.results


def _fork(run: Run, state: State, ledger: Ledger, saved: CheckpointTuple) -> Steps[None]:
    """Begin a new branch: a copy of the checkpoint, whose tasks have not run and whose questions are not asked."""
    run.forget_tasks()
    state.step += 1
    state.stopped = ()
    if saved.config[CONF].get(CHECKPOINT_NS, "") != run.ns:
        ledger.stand_beside(None)
        state.changed.update(state.values)
    ledger.renew(state)
    branching.begin_again(state)
    if (save := ledger.checkpoint(state, "fork")) is not None:
        yield save


def _hear(run: Run, state: State, ledger: Ledger, late: Sequence[Write]) -> Steps[None]:
    """Take what nodes that have finished tell joins that were not there then."""
    add(run.program, state, late)
    record = TaskWrites(ids.caller_id(pending.place_beside(run.known)), late)
    if (save := ledger.writes(state, [record], wait=True)) is not None:
        yield save


# Commands


def _check_at_old(run: Run, state: State, command: Command[Any], *, may_go_on: bool) -> None:
    """Refuse what a Command cannot do at an old checkpoint, before a branch begins there."""
    if command.goto or command.update is not None:
        preview(run.program, state.values, run.program.map_command(command))
    if command.resume is not MISSING and (not may_go_on or answers.names_questions(command.resume)):
        raise InvalidAnswer(
            f"The answer {command.resume!r} was given at an old checkpoint of thread {run.thread_id!r}. What was asked "
            "there is answered, or was left behind. Call the graph with None and this config to begin a branch there, "
            "then answer what that asks."
        )


def _obey(
    run: Run,
    state: State,
    ledger: Ledger,
    saved: CheckpointTuple,
    due: Due,
    command: Command[Any],
    late: Sequence[Write],
    *,
    is_stopped: bool,
) -> Steps[bool]:
    """Take the answers, the update and the goto of a Command: all of it, or, if anything is wrong, nothing.

    late: what nodes that have finished tell joins that were not there then.
    Returns whether the state is another one now.
    """
    writes = run.program.map_command(command) if command.goto or command.update is not None else []
    writes = [*late, *writes]
    known = run.known
    questions = pending.open_questions(known, run.answers) if known is not None else {}
    if command.goto:
        _check_goto(run, command, due, questions)
    is_at_breakpoint = bool(is_stopped and due) and (run.has_breakpoints or bool(state.stopped) or _is_marked(run))
    given = yield from _given(run, saved, command.resume, questions, is_at_breakpoint)
    if writes:
        add(run.program, state, writes)
    told = ids.caller_id(pending.place_beside(known)) if writes else ""
    records = _take_answers(run, questions, given, command.by, told)
    if writes:
        records.append(TaskWrites(told, writes))
    if command.update is not None and known is not None:
        records += _marked(run, state, ledger, known, given)
    if known is not None and writes:
        known.tell(told, writes)
    run.given = given
    # Stored before anything runs on it: whoever has answered need not answer again.
    filing = Filing((), list(given)) if given else None
    if records and (save := ledger.writes(state, records, wait=True, filing=filing)) is not None:
        yield save
        ledger.index.see_closed(given)
        ledger.told_id = told if given else ""
    return bool(writes)


def _take_answers(run: Run, questions: answers.Open, given: dict[str, Any], by: str | None, told: str) -> list[Record]:
    """Give the run the answers to its questions, and say what is stored of them.

    told: the id of what the caller tells the state in the same breath; empty if that is nothing.
    """
    records: list[Record] = []
    for id, answer in given.items():
        at, graph = run.terms.now(), run.program.name
        records.append(answer_record(questions[id], answer, at=at, graph=graph, by=by, told=told))
    for _, [(_, stored)], _ in records:
        run.answers.update(stored)
    return records


def _check_goto(run: Run, command: Command[Any], due: Due, questions: answers.Open) -> None:
    """Refuse to go to a node that needs what others have not come to yet."""
    results = run.known.results if run.known is not None else {}
    busy = {node.name for id, node in due.items() if id not in results}
    for target in [command.goto] if isinstance(command.goto, str | Send) else command.goto:
        node = run.program.nodes.get(target) if isinstance(target, str) else None
        for other in sorted(busy & node.waits_for) if node is not None else ():
            asks = f" It waits for {len(questions)} answer(s): give them first." if questions else ""
            raise QuestionsOpen(
                f"Thread {run.thread_id!r} cannot go to {target!r} now: it needs what {other!r} comes to, and that is "
                f"not done yet.{asks} Then the run gets to {target!r} by itself. Or begin a new turn with new input "
                'and on_pending="discard", which drops what is open. Nothing was changed.'
            )


def _marked(run: Run, state: State, ledger: Ledger, known: Pending, given: dict[str, Any]) -> list[Record]:
    """Have what is open asked again: it may say something else on the state that the caller has changed."""
    records = remains.marked(run, state, known, given)
    marked = pending.in_records(records)
    known.asked.update(marked.asked)
    run.answers.update(marked.answers)
    if ledger.index.asked is not None:
        ledger.index.asked.update(marked.asked)
    return records


def _given(
    run: Run, saved: CheckpointTuple, resume: Any, questions: answers.Open, is_at_breakpoint: bool
) -> Steps[dict[str, Any]]:
    """The answers by question; one that nobody waits for is refused, with the reason."""
    resume = run.given or resume  # on a second try, the answer is for the question that was meant first
    if resume is MISSING or (is_at_breakpoint and not questions and not answers.names_questions(resume)):
        return {}  # at a breakpoint there is nothing to answer: any resume value means "go on"
    try:
        return answers.bind(resume, questions, checks_forms=not run.terms.accepts_changes)
    except InvalidAnswer as refused:
        if questions and not answers.names_questions(resume, questions):
            raise
        raise (yield from _reason(run, saved, resume)) or refused from None


def _reason(run: Run, saved: CheckpointTuple, resume: Any) -> Steps[SignoffError | None]:
    """Who was first, if the question that an answer is for was answered before."""
    at: CheckpointTuple | None = saved
    known = run.known
    for _ in range(_LOOK_BACK):
        refusal = answers.already_given(resume, known.answers) if known is not None else None
        if refusal is not None or at is None or at.parent_config is None:
            return refusal
        at = yield Load(checkpoint_config(run.thread_id, run.ns, at.parent_config[CONF][CHECKPOINT_ID]))
        known = pending.by_task(at.pending_writes if at else ())
    return None
