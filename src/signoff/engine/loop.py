"""The loop of a run: plan a step, run its tasks, fold their writes, store, show, and again."""

from collections.abc import Sequence

from signoff.checkpoint.base import TaskWrites
from signoff.engine import chunks
from signoff.engine.breakpoints import stops
from signoff.engine.effects import Emit
from signoff.engine.fold import fold, preview
from signoff.engine.ledger import Ledger
from signoff.engine.pending import Pending
from signoff.engine.plan import next_tasks
from signoff.engine.program import read_keys
from signoff.engine.round import run_tasks
from signoff.engine.run import Finish, Run
from signoff.engine.state import State
from signoff.engine.task import Outcome, Task
from signoff.errors import GraphDrained, GraphRecursionError
from signoff.steps import Steps


def advance(run: Run, state: State, ledger: Ledger, tasks: list[Task], known: Pending) -> Steps[Finish]:
    """Step after step until nothing is due, or something stops the run.

    `known` is what the tasks of the first step had come to before; what is finished is not run again.
    """
    while True:
        if state.stopped:
            return (yield from _stop_at_breakpoint(run, state))
        if state.step + 1 > run.stop:
            raise _out_of_steps(run)
        if not tasks:
            return Finish("done", read_keys(state.values, run.output_keys))
        outcomes = yield from run_tasks(run, state, ledger, tasks, known)
        if any(outcome.is_paused for outcome in outcomes):
            return (yield from _pause(run, state, outcomes))
        tasks = yield from conclude(run, state, ledger, outcomes)
        known = run.known = {}
        if run.control is not None and run.control.drain_requested and tasks:
            raise GraphDrained(run.control.drain_reason or "shutdown")


def conclude(
    run: Run, state: State, ledger: Ledger, outcomes: Sequence[Outcome], *, source: str = "loop", hold: bool = False
) -> Steps[list[Task]]:
    """End a step: fold what its tasks wrote, store and show the result. Returns the tasks that are due next."""
    records = ledger.records(outcomes) if run.is_saved else ()
    fold(run.program, state, [(outcome.task, outcome.writes) for outcome in outcomes])
    if run.is_saved:
        ledger.renew(state)
    tasks = next_tasks(run.program, state, run.stop)
    state.stopped = stops(run, [outcome.task for outcome in outcomes], tasks)
    if run.is_saved:
        save = ledger.checkpoint(state, source, records, hold=hold)
        if save is not None:
            yield save
    if run.modes:
        yield from show_state(run, state, source, tasks)
    return tasks


def show_state(run: Run, state: State, source: str, tasks: Sequence[Task]) -> Steps[None]:
    """Show a state that was just made: its values, and its checkpoint."""
    shown = chunks.values_chunk(run, state) + chunks.checkpoint_chunks(run, state, source, tasks)
    if shown:
        yield Emit(shown)


def _pause(run: Run, state: State, outcomes: Sequence[Outcome]) -> Steps[Finish]:
    """The run waits for a person. What the other tasks wrote shows already, though the step is not over."""
    writes = [write for outcome in outcomes for write in outcome.writes]
    questions = tuple(question for outcome in outcomes for question in outcome.questions or ())
    ahead = preview(run.program, state.values, writes)
    if shown := chunks.pause_chunks(run, ahead, questions):
        yield Emit(shown)
    return Finish("paused", read_keys(ahead, run.output_keys), questions)


def _stop_at_breakpoint(run: Run, state: State) -> Steps[Finish]:
    if shown := chunks.breakpoint_chunks(run):
        yield Emit(shown)
    return Finish("stopped", read_keys(state.values, run.output_keys))


def _out_of_steps(run: Run) -> GraphRecursionError:
    return GraphRecursionError(
        f"{run.program.name!r} used up its {run.recursion_limit} steps without coming to an end. If it is meant to "
        'run longer, raise the limit with config={"recursion_limit": ...}; if not, look for a cycle without an end.'
    )
