"""Where a run begins: at new input, where the thread stopped, or at an old checkpoint."""

from collections.abc import Sequence
from itertools import count
from typing import Any

from signoff._elsewhere import refuse_theirs
from signoff._reprs import repr_of
from signoff._words.commands import Command
from signoff.checkpoint.base import CheckpointTuple
from signoff.constants import MISSING
from signoff.engine import ids, pending
from signoff.engine.calls.earlier_calls import told_by
from signoff.engine.fitting import fit_results
from signoff.engine.pending import Pending
from signoff.engine.planning.error_handlers import with_handlers
from signoff.engine.planning.fold import add
from signoff.engine.planning.missing_nodes import all_due
from signoff.engine.run import Finish, Run
from signoff.engine.state import State, new_state, restored
from signoff.engine.stepping.loop import advance
from signoff.engine.storing import exit_durability
from signoff.engine.storing.ledger import Ledger
from signoff.engine.storing.unstored import on_the_way_out
from signoff.engine.task import Row
from signoff.engine.threads.leaving import leave
from signoff.engine.threads.resume import go_on
from signoff.engine.threads.taking import load, may_look_again
from signoff.engine.threads.time_travel import goes_back
from signoff.engine.threads.turn import keep_finished, new_turn, with_questions_open
from signoff.errors import EmptyInputError, InvalidAnswer, InvalidInput, InvalidUpdateError, ThreadMoved
from signoff.steps import Steps


def run_thread(run: Run, input: Any) -> Steps[Finish]:
    """Run a thread from where it stands until it ends, pauses or is stopped."""
    for looks in count(1):
        saved = (yield from load(run, input)) if run.is_saved else None
        is_old = saved is not None and (yield from goes_back(run, saved))
        ledger = Ledger(run, saved.checkpoint["id"] if saved else None)
        state = restore(run, saved, begins_anew=is_old and (run.is_nested or not _is_new(input)))
        if run.known is not None:
            ledger.index.asked = run.known.asked.copy()
            if ids.JOINS_ID in run.known.results:
                ledger.joins_at = state.checkpoint_id
        try:
            tasks = yield from _begin(run, state, ledger, saved, is_old, input)
            if run.is_saved and (claim := ledger.claim()) is not None:
                yield claim
            finish: Finish = yield from advance(run, state, ledger, tasks)
            if run.unread and finish.status == "done":
                exit_durability.leave_word(run)
            if run.is_saved and (save := ledger.close()) is not None:
                yield save
            return finish
        except ThreadMoved:
            if not may_look_again(run, looks):
                raise
            run.begin_anew()
        except BaseException as error:
            if run.is_saved:
                yield from on_the_way_out(error, leave(run, state, ledger, error))
            raise
    raise AssertionError("it is counted without an end")


def restore(
    run: Run, saved: CheckpointTuple | None, *, begins_anew: bool = False, but_not: Sequence[str | None] = ()
) -> State:
    """The state to begin with, what the caller wrote on top of it included. The run learns what its tasks came to.

    begins_anew: whether the tasks run from their start again, and tell the state again what they tell as they ask;
    but not some of them, by their nodes or ids.
    """
    if saved is None:
        first_id = "" if run.is_saved else _unsaved_id(run)
        state = new_state(run.program, run.ns, first_id, is_saved=run.is_saved)
    else:
        state = restored(run.program, saved, run.ns)
        run.updated_at = state.checkpoint_id if saved.metadata.get("source") == "update" else None
        if "branched_off" in saved.metadata:
            run.branched_off = saved.metadata["branched_off"]
        if saved.pending_writes:
            run.known = known = pending.by_task(saved.pending_writes)
            run.answers.update(known.answers)
            run.marks.update(known.marks)
            if known.results:
                known.results, gone = fit_results(run.program, known.results)
                state.gone = {**state.gone, **gone}
                stays = _told_by(run, state, known, but_not) if begins_anew else None
                for writes in pending.added_writes(known, told=stays):
                    add(run.program, state, writes)
    run.stop = state.step + run.recursion_limit + 2
    return state


def _told_by(run: Run, state: State, known: Pending, who: Sequence[str | None]) -> set[str]:
    """The ids of what some tasks, by their nodes or ids, told as they asked."""
    tasks = with_handlers(all_due(run.program, state, known), known)
    return {id for task in tasks if task.name in who or task.id in who for id in told_by(known, task)}


def _unsaved_id(run: Run) -> str:
    """What stands for the checkpoint of a run that saves nothing; inside of a task the same when that starts over."""
    return ids.as_uuid(run.ns) if run.is_nested else ids.fleeting_id()


def _begin(
    run: Run, state: State, ledger: Ledger, saved: CheckpointTuple | None, is_old: bool, input: Any
) -> Steps[Row]:
    """The tasks of the first step."""
    if type(input) is not dict:
        refuse_theirs(input, "The input is", InvalidInput)
        if isinstance(input, Command) and input.graph == Command.PARENT:
            raise InvalidUpdateError(
                f"{repr_of(input)} is for the graph around that of a node, and is given by a caller. Leave graph= out."
            )
    continues = saved is not None and run.continues is not None and run.continues(saved)
    if is_old and not run.is_nested:
        # Whoever goes back in time leaves what the head asks behind, and the history says so.
        run.discarded, ledger.index.asked = run.left, None
    if run.known is not None and not continues and _is_new(input):
        input = _left_behind(run, state, run.known, input, is_old=is_old)
    if saved is not None and (continues or input is None or isinstance(input, Command)):
        command = input if isinstance(input, Command) else None
        return go_on(run, state, ledger, saved, is_old, command)
    if run.known is not None:
        run.forget_tasks()
    if input is None:
        raise EmptyInputError(_nothing_to_run(run))
    if isinstance(input, Command):
        if input.resume is not MISSING and not run.is_saved:
            raise InvalidAnswer(_NOTHING_KEPT.format(run.program.shown))
        if input.resume is not MISSING:
            raise InvalidAnswer(_NOT_BEGUN.format(run.thread_id, repr_of(input.resume)))
        told = run.program.map_command(Command(update=input.update)) if input.update is not None else ()
        goto = run.program.map_command(Command(goto=input.goto)) if input.goto else ()
        return new_turn(run, state, ledger, None, told, goto)
    return new_turn(run, state, ledger, input)


def _left_behind(run: Run, state: State, known: Pending, input: Any, *, is_old: bool) -> Any:
    """What new input is where tasks were under way. What they have finished may stay, though they are left behind."""
    tells = run.program.on_leaving is not None
    if run.is_nested:
        # An earlier call of a graph that remembers: the run around has dropped its question, or caught its failure.
        is_kept = tells or bool(known.asked)
    elif is_old:
        is_kept = False
    else:
        input = with_questions_open(run, known, input)
        is_kept = bool(run.discarded) or (tells and _is_new(input))
    if is_kept:
        keep_finished(run, state, known)
    return input


_NOTHING_KEPT = (
    "The {} has no saver, so what it asked is not kept, and there is nothing to answer. "
    "Compile it with one, such as InMemorySaver()."
)


_NOT_BEGUN = (
    "There is no open question to give the answer {1} to: thread {0!r} has not begun here. "
    "See whether it is the right thread_id, and the right database."
)


def _is_new(input: Any) -> bool:
    """Whether an input is neither an answer nor "go on"."""
    return input is not None and not isinstance(input, Command)


def _nothing_to_run(run: Run) -> str:
    if not run.is_saved:
        return f"The {run.program.shown} was called with None, and without a saver there is nothing to continue."
    return f"Thread {run.thread_id!r} has not begun, so there is nothing to continue. Call it with an input first."
