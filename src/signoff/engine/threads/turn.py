"""A new turn: new input on top of what the thread remembers."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from signoff._words.commands import Command
from signoff.checkpoint.base import TaskWrites
from signoff.constants import INTERRUPT, MISSING, PULL, START, TASKS
from signoff.engine import answers, ids, pending
from signoff.engine.effects import Emit
from signoff.engine.pending import Pending
from signoff.engine.planning.breakpoints import stops
from signoff.engine.planning.due import sorted_out
from signoff.engine.planning.error_handlers import finished
from signoff.engine.planning.fold import add, fold, take_input
from signoff.engine.planning.missing_nodes import all_due
from signoff.engine.planning.plan import next_tasks
from signoff.engine.program import Node, Program, Write
from signoff.engine.run import Run
from signoff.engine.showing import chunks
from signoff.engine.state import State
from signoff.engine.stepping.ending import conclude
from signoff.engine.stepping.loop import heed_drain, show_state
from signoff.engine.stepping.round import run_tasks
from signoff.engine.storing.ledger import Ledger
from signoff.engine.storing.stored_answers import StoredAnswer, unfinished
from signoff.engine.task import Outcome, Row, Task
from signoff.errors import QuestionsOpen
from signoff.steps import Steps


def new_turn(
    run: Run, state: State, ledger: Ledger, input: Any, told: Sequence[Write] = (), goto: Sequence[Write] = ()
) -> Steps[Row]:
    """Put the input on top of the state; what was due before is dropped.

    told: what a Command says of the state, in the place of the input.
    goto: where it leads beside that.
    """
    start = run.program.start
    if state.gone:
        state.lose(state.gone)
    if run.program.on_leaving is not None and state.updated:
        left = {task.name for task in all_due(run.program, state, Pending())}
        add(run.program, state, run.program.on_leaving(state.values, left))
    if run.program.deferred and input is not None:
        drop_deferred(run.program, state)
    if start is None or start.branches:
        return _start(run, state, ledger, input, told, goto)
    return _start_plainly(run, state, ledger, start, input, told, goto)


def _start(
    run: Run, state: State, ledger: Ledger, input: Any, told: Sequence[Write], goto: Sequence[Write]
) -> Steps[Row]:
    """The input, and then what conditional edges behind the start make of it; if there is a start."""
    if not run.is_nested:
        run.program.check_input(input)
    first = made_first(run, state) if run.program.made_once else []
    if run.program.start is not None:
        given = [*run.program.map_input(input), *told]
    else:
        given = [*run.program.map_input(input)] if input is not None else [*told, *goto]
    fold(run.program, state, _dropped(run, state), [*given, *first])
    if run.is_saved:
        ledger.renew(state)
    tasks = next_tasks(run.program, state, run.stop)
    # Without a start, the nodes behind the input are due at once, and so are their breakpoints.
    state.stopped = stops(run, [], tasks) if run.program.start is None else ()
    if run.is_saved and (save := ledger.checkpoint(state, "input", ends=bool(state.stopped))) is not None:
        yield save
    if run.modes and (shown := chunks.checkpoint_chunks(run, state, "input", tasks)):
        yield Emit(shown)
    if run.program.start is None:
        return tasks
    if run.control is not None:
        heed_drain(run.control)
    if goto and run.is_saved:  # an edge may ask, or fail: whoever goes on from there goes there, too
        record = TaskWrites(ids.caller_id(0), goto)
        if (save := ledger.writes(state, [record], wait=True)) is not None:
            yield save
    outcomes = yield from run_tasks(run, state, ledger, tasks)
    if outcomes[0].is_paused:  # a conditional edge asks
        run.known = pending.by_task([(tasks[0].id, INTERRUPT, outcomes[0].questions)])
        run.shows_known = False
        return sorted_out(run, tasks)
    outcomes[0].writes = [*outcomes[0].writes, *goto]
    tasks, save = conclude(run, state, ledger, outcomes)
    if save is not None:
        yield save
    if run.modes:
        yield from show_state(run, state, tasks)
    return tasks


def _start_plainly(
    run: Run,
    state: State,
    ledger: Ledger,
    start: Node,
    input: Any,
    told: Sequence[Write],
    goto: Sequence[Write],
) -> Steps[Row]:
    """The input and what it leads to, in one go: nothing of the user's runs in between, and both are stored at once."""
    taken = start.updates(input) if input is not None else told
    if not run.is_nested and (not taken or (type(input) is dict and len(taken) < len(input))):
        run.program.check_input(input)
    writes = [*taken, *start.edges, *goto]
    if run.program.made_once:
        writes += made_first(run, state, taken)
    is_to_stop = run.control is not None and run.control.drain_requested
    if not (run.is_saved or run.modes or run.has_breakpoints or is_to_stop):
        # Nobody looks at the step of the input itself.
        state.step += 1
        fold(run.program, state, (), writes)
        return next_tasks(run.program, state, run.stop)
    take_input(run.program, state, input, _dropped(run, state))
    if run.is_saved:
        ledger.renew(state)
        ledger.checkpoint(state, "input", hold=True)
    task = Task(start, input, (PULL, START), start.triggers, state)
    shown = chunks.checkpoint_chunks(run, state, "input", [task]) if run.modes else []
    if run.control is not None:
        heed_drain(run.control)
    try:
        tasks, save = conclude(run, state, ledger, [Outcome(task, writes)])
    except BaseException:
        ledger.take_back()  # a reducer refuses the input: it has not come
        raise
    if save is not None:
        yield save
    if shown:
        # Not before the thread is taken: another run may have been quicker.
        yield Emit(shown)
    if run.modes:
        yield from show_state(run, state, tasks)
    return tasks


def drop_deferred(program: Program, state: State) -> None:
    """Drop the deferred nodes that wait until nothing else is due: new input leaves behind what the turn has led to."""
    for name in program.deferred:
        if name in state.values and program.channels[name].finish(state.values[name]) is not state.values[name]:
            del state.values[name]
            state.changed[name] = MISSING


def made_first(run: Run, state: State, given: Sequence[Write] = ()) -> list[Write]:
    """What a thread begins with that is made once: what it neither has nor is given."""
    there = {*state.values, *(key for key, _ in given)}
    values = {key: make() for key, make in run.program.made_once.items() if key not in there}
    return [(key, value) for key, value in values.items() if value is not MISSING]


def _dropped(run: Run, state: State) -> list[Outcome]:
    """The tasks that were due before the input came: they end without having written anything."""
    return [Outcome(task) for task in all_due(run.program, state, Pending())] if state.updated else []


def with_questions_open(run: Run, known: Pending, input: Any) -> Any:
    """What new input is for a thread that may wait for answers: itself, or, if the caller says so, the answer."""
    if not known.asked:
        return input
    # Also what nodes ask that are gone by now: nobody can answer it here, but it is not to be dropped unseen.
    questions = pending.open_questions(known, run.answers)
    answered = unfinished(known)
    if not questions and not answered:
        return input
    if run.terms.on_pending == "discard":
        run.discarded = [*questions, *answered]
        return input
    if questions and run.terms.on_pending == "answer":
        return _as_answer(input)
    raise _questions_open(run, questions) if questions else _not_done_yet(run, answered)


def keep_finished(run: Run, state: State, known: Pending) -> None:
    """Questions are dropped: what the tasks beside them have finished stays, but where they led to does not matter."""
    for done in finished(all_due(run.program, state, known), known):
        writes = [write for write in done.writes if write[0] not in run.program.listeners]
        if writes:
            add(run.program, state, [write for write in writes if write[0] != TASKS])


def _as_answer(input: Any) -> Command[Any]:
    return replace(input, resume=input.update, update=None) if isinstance(input, Command) else Command(resume=input)


def _not_done_yet(run: Run, answered: dict[str, StoredAnswer]) -> QuestionsOpen:
    given = "; ".join(f"{answer.get('shown')} by {answer.get('by') or 'somebody'}" for answer in answered.values())
    return QuestionsOpen(
        f"Thread {run.thread_id!r} has {len(answered)} answer(s) that nothing has come of yet: {given}. New input was "
        "refused, so that they are not dropped. Go on with invoke(None, config) first; or call with "
        'on_pending="discard" to drop them.'
    )


def _questions_open(run: Run, questions: answers.Open) -> QuestionsOpen:
    listed = ", ".join(f"{id!r} ({answers.shown(question.value)})" for id, question in questions.items())
    return QuestionsOpen(
        f"Thread {run.thread_id!r} waits for {len(questions)} answer(s), so new input was refused: {listed}. Answer "
        'with Command(resume=...); or call with on_pending="answer" to take the input as the answer, or with '
        'on_pending="discard" to drop the questions.'
    )
