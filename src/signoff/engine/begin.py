"""Where a run begins: at new input, where the thread stopped, or at an old checkpoint."""

from typing import Any

from signoff.checkpoint.base import CheckpointTuple, TaskWrites, checkpoint_config
from signoff.constants import CHECKPOINT_NS, CONF, MISSING, RESUME, STOPPED
from signoff.engine import answers, chunks, ids, pending
from signoff.engine.breakpoints import stops
from signoff.engine.effects import Emit, Load, Tell
from signoff.engine.fold import add, fold
from signoff.engine.ledger import Ledger
from signoff.engine.loop import advance, conclude, show_state
from signoff.engine.pending import Pending
from signoff.engine.plan import next_tasks
from signoff.engine.program import Write
from signoff.engine.round import run_tasks
from signoff.engine.run import Finish, Run
from signoff.engine.state import State, new_state, restored
from signoff.engine.task import Outcome, Task
from signoff.engine.travel import goes_back, travelled
from signoff.errors import EmptyInputError, GraphDrained, InvalidInput
from signoff.steps import Steps
from signoff.types import Command


def run_thread(run: Run, input: Any) -> Steps[Finish]:
    """Run a thread from where it stands until it ends, pauses or is stopped."""
    saved = (yield from load(run)) if run.is_saved else None
    is_old = saved is not None and (yield from goes_back(run, saved))
    ledger = Ledger(run, saved.checkpoint["id"] if saved else None)
    state, known = restore(run, saved)
    try:
        tasks = yield from _begin(run, state, ledger, known, saved, is_old, input)
        finish: Finish = yield from advance(run, state, ledger, tasks, known)
    except BaseException:
        if run.is_saved and (save := ledger.close()) is not None:
            yield save
        raise
    if run.is_saved and (save := ledger.close()) is not None:
        if run.durability == "exit" and finish.status == "done" and run.keep_for is not None:
            # The step of the graph around this one stores it if it does not end well; else nobody needs it.
            run.keep_for.extend(save.commits)
        else:
            yield save
    return finish


def load(run: Run) -> Steps[CheckpointTuple | None]:
    """The checkpoint that a run begins at; None for a thread, or a nested graph, that has not begun."""
    saved: CheckpointTuple | None = yield travelled(run) or Load(
        checkpoint_config(run.thread_id, run.ns, run.checkpoint_id)
    )
    if saved is None and run.checkpoint_id is not None:
        raise InvalidInput(
            f"Thread {run.thread_id!r} has no checkpoint {run.checkpoint_id!r} in namespace {run.ns!r}. "
            "Take a config from get_state_history(config)."
        )
    return saved


def restore(run: Run, saved: CheckpointTuple | None) -> tuple[State, Pending]:
    """The state to begin with, what the caller wrote on top of it included; and what its tasks had come to."""
    if saved is None:
        first_id = "" if run.is_saved else _unsaved_id(run)
        state, known = new_state(run.program, run.ns, first_id, is_saved=run.is_saved), {}
    else:
        state, known = restored(run.program, saved, run.ns), pending.by_task(saved.pending_writes)
        run.answers.update(pending.given_answers(known))
        run.known = known
        if writes := pending.caller_writes(known):
            add(run.program, state, writes)
    run.stop = state.step + run.recursion_limit + 2
    return state, known


def _unsaved_id(run: Run) -> str:
    """What stands for the checkpoint of a run that saves nothing; inside of a task the same when that starts over."""
    return ids.as_uuid(run.ns) if run.is_nested else run.stamp(None)[0]


def _begin(
    run: Run,
    state: State,
    ledger: Ledger,
    known: Pending,
    saved: CheckpointTuple | None,
    is_old: bool,
    input: Any,
) -> Steps[list[Task]]:
    """The tasks of the first step."""
    if saved is not None and (input is None or isinstance(input, Command) or run.continues(saved)):
        command = input if isinstance(input, Command) else None
        return (yield from _continue(run, state, ledger, known, saved, is_old, command))
    known.clear()
    if input is None:
        raise EmptyInputError(_nothing_to_run(run))
    if isinstance(input, Command):
        if input.resume is not MISSING:
            answers.bind(input.resume, ())  # there is no question yet: refused
        return (
            yield from _new_turn(run, state, ledger, input.update, run.program.map_command(Command(goto=input.goto)))
        )
    return (yield from _new_turn(run, state, ledger, input))


def _nothing_to_run(run: Run) -> str:
    if not run.is_saved:
        return f"{run.program.name!r} was called with None, and without a saver there is nothing to continue."
    return f"Thread {run.thread_id!r} has not begun, so there is nothing to continue. Call it with an input first."


# New input


def _new_turn(run: Run, state: State, ledger: Ledger, input: Any, also: list[Write] | None = None) -> Steps[list[Task]]:
    """Put the input on top of the state; what was due before is dropped."""
    start = run.program.start
    writes = run.program.map_input(input)
    fold(run.program, state, _dropped(run, state), writes)
    if run.is_saved:
        ledger.renew(state)
        if (save := ledger.checkpoint(state, "input", hold=start is not None and not start.branches)) is not None:
            yield save
    tasks = next_tasks(run.program, state, run.stop)
    if run.modes:
        yield from show_state(run, state, "input", tasks)
    if start is None:
        state.stopped = stops(run, [], tasks)
        return tasks
    if run.control is not None and run.control.drain_requested:
        raise GraphDrained(run.control.drain_reason or "shutdown")
    if start.branches:
        outcomes = yield from run_tasks(run, state, ledger, tasks, {})
    else:
        outcomes = [Outcome(task, [*start.updates(task.input), *start.edges]) for task in tasks]
    if also:
        outcomes[0].writes = [*outcomes[0].writes, *also]
    tasks, save = conclude(run, state, ledger, outcomes)
    if save is not None:
        yield save
    if run.modes:
        yield from show_state(run, state, "loop", tasks)
    return tasks


def _dropped(run: Run, state: State) -> list[Outcome]:
    """The tasks that were due before the input came: they end without having written anything."""
    return [Outcome(task) for task in next_tasks(run.program, state, run.stop)] if state.updated else []


# Going on


def _continue(
    run: Run,
    state: State,
    ledger: Ledger,
    known: Pending,
    saved: CheckpointTuple,
    is_old: bool,
    command: Command[Any] | None,
) -> Steps[list[Task]]:
    """Go on where the thread stopped, or branch off at an old checkpoint."""
    notify, from_id = run.on_resume, state.checkpoint_id
    if notify is not None:
        yield Tell(lambda: notify(from_id))
    marked = _has_stopped(run, state, known, saved)
    if is_old:
        yield from _fork(run, state, ledger, known, saved)
    if command is not None:
        yield from _obey(run, state, ledger, known, command, is_stopped=marked)
    tasks = next_tasks(run.program, state, run.stop)
    # A breakpoint lets pass what it has stopped; but after a crash before it could stop anything, it still does.
    state.stopped = [] if marked or run.is_nested else stops(run, [], tasks)
    if state.stopped:
        record = TaskWrites(ids.STOP_ID, [(STOPPED, state.stopped)])
        if (save := ledger.writes(state, [record], wait=True)) is not None:
            yield save
    if run.modes:
        source = "fork" if is_old else str(saved.metadata.get("source"))
        values = chunks.values_anyway(run, state) if "values" in run.modes else []
        yield Emit([*values, *chunks.checkpoint_chunks(run, state, source, tasks, known)])
    return tasks


def _has_stopped(run: Run, state: State, known: Pending, saved: CheckpointTuple) -> bool:
    """Whether somebody had the chance to look: a breakpoint has stopped here, or a person made or chose this place."""
    made_by_person = saved.metadata.get("source") in ("update", "fork") or run.checkpoint_id is not None
    return bool(state.stopped) or ids.STOP_ID in known or made_by_person


def _fork(run: Run, state: State, ledger: Ledger, known: Pending, saved: CheckpointTuple) -> Steps[None]:
    """Begin a new branch: a copy of the checkpoint, whose tasks have not run and whose questions are not asked."""
    known.clear()
    if not run.is_nested:
        run.answers.clear()
    state.step += 1
    state.stopped = ()
    if saved.config[CONF].get(CHECKPOINT_NS, "") != run.ns:
        ledger.stand_beside(None)
        state.changed.update(state.values)
    ledger.renew(state)
    if (save := ledger.checkpoint(state, "fork")) is not None:
        yield save


def _obey(
    run: Run, state: State, ledger: Ledger, known: Pending, command: Command[Any], *, is_stopped: bool
) -> Steps[None]:
    """Take the answers, the update and the goto of a Command: all of it, or, if anything is wrong, nothing."""
    writes = run.program.map_command(command)
    given: dict[str, Any] = {}
    if command.resume is not MISSING:
        tasks = next_tasks(run.program, state, run.stop)
        questions = pending.open_questions(tasks, known, run.answers)
        if questions or not (is_stopped and tasks) or answers.is_answer_map(command.resume):
            # At a breakpoint there is nothing to answer: any resume value means "go on".
            given = answers.bind(command.resume, questions)
    if writes:
        add(run.program, state, writes)
    records = [
        TaskWrites(ids.answer_id(question), [(RESUME, {question: answer})]) for question, answer in given.items()
    ]
    if writes:
        records.append(TaskWrites(pending.next_caller_id(known), writes))
    run.answers.update(given)
    # Stored before anything runs on it: whoever has answered need not answer again.
    if records and (save := ledger.writes(state, records, wait=True)) is not None:
        yield save
