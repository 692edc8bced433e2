"""The loop of a run: plan a step, run its tasks, fold their writes, store, show, and again."""

from collections.abc import Sequence
from typing import Any, Literal

from signoff._words.questions import Interrupt
from signoff.engine import pending
from signoff.engine.calls.unread_answers import hear
from signoff.engine.effects import Await, Emit
from signoff.engine.own_copies import anew
from signoff.engine.planning.due import sorted_out
from signoff.engine.planning.fold import preview
from signoff.engine.program import read_keys
from signoff.engine.run import Finish, Run
from signoff.engine.showing import chunks
from signoff.engine.state import State
from signoff.engine.stepping import branching
from signoff.engine.stepping.ending import conclude
from signoff.engine.stepping.round import call_off, keep_blameless, run_tasks, take, tell_around
from signoff.engine.storing.ledger import Ledger
from signoff.engine.storing.unstored import on_the_way_out
from signoff.engine.task import Outcome, Row, Task
from signoff.errors import GraphDrained, GraphRecursionError
from signoff.runtime import RunControl
from signoff.steps import Steps


def advance(run: Run, state: State, ledger: Ledger, tasks: Row) -> Steps[Finish]:
    """Step after step, beginning with what is due, until nothing is due, or something stops the run."""
    is_quiet = not run.modes and not run.terms.caches
    is_paused = False
    # What these store in the end, or again for a task that waits, is what was given, whatever a node does to it.
    gives_own = run.program.pauses_branch or (run.is_saved and run.durability == "exit")
    while True:
        if state.stopped:
            return (yield from _stop_at_breakpoint(run, state))
        if state.step + 1 > run.stop:
            raise _out_of_steps(run, tasks)
        if not tasks:
            return Finish("done", read_keys(state.values, run.terms.output_keys))
        if gives_own:
            for task in tasks:
                if type(task) is Task:
                    task.input = anew(task.input)
        if len(tasks) == 1 and is_quiet and type(tasks[0]) is Task:
            # The common step: one task, nobody to tell, nothing to look up.
            try:
                outcomes = yield Await(tasks)  # type: ignore[arg-type]
            except BaseException as error:
                yield from on_the_way_out(error, call_off(run, state, ledger, tasks, {}, error))
                raise
            ledger.came = state.checkpoint_id, outcomes
            if not outcomes[0].is_done or outcomes[0].untold is not None:
                outcomes = yield from take(run, state, ledger, outcomes[0])
        else:
            outcomes = yield from run_tasks(run, state, ledger, tasks)
        if run.given or run.found:
            yield from hear(run, outcomes)
        for outcome in outcomes:
            if outcome.questions is not None:
                is_paused = True
                break
        if is_paused:
            if not branching.may_go_on(run, outcomes):
                return (yield from _pause(run, state, outcomes))
            is_paused = False
            tasks = yield from _go_on_beside(run, state, ledger, outcomes)
            continue
        try:
            tasks, save = conclude(run, state, ledger, outcomes)
        except Exception as error:
            yield from on_the_way_out(error, keep_blameless(run, state, ledger, outcomes))
            raise
        if save is not None:
            yield save
        if run.modes:
            yield from show_state(run, state, tasks)
        run.end_step()
        if run.control is not None and tasks and not state.stopped:
            heed_drain(run.control)


def _go_on_beside(run: Run, state: State, ledger: Ledger, outcomes: Sequence[Outcome]) -> Steps[Row]:
    """End a step in which some tasks wait, while the others go on: what is due next, those that wait included."""
    run.shows_known = False
    due = yield from branching.go_on(run, state, ledger, outcomes)
    if run.modes:
        yield from show_state(run, state, due)
    row = sorted_out(run, due)
    if run.control is not None and not state.stopped and any(type(one) is Task for one in row):
        heed_drain(run.control)
    return row


def heed_drain(control: RunControl) -> None:
    """Stop between two steps, if that was asked for."""
    if control.drain_requested:
        raise GraphDrained(control.drain_reason or "shutdown")


def show_state(run: Run, state: State, tasks: Sequence[Task]) -> Steps[None]:
    """Show a state that a step has just led to: its values, and its checkpoint."""
    if shown := chunks.values_chunk(run, state) + chunks.checkpoint_chunks(run, state, "loop", tasks):
        yield Emit(shown)


def _pause(run: Run, state: State, outcomes: Sequence[Outcome]) -> Steps[Finish]:
    """The run waits for a person. What the other tasks wrote shows already, though the step is not over."""
    asked: list[Interrupt[Any]] = []
    has_told = has_written = False
    for outcome in outcomes:
        asked += outcome.questions or ()
        has_told |= bool(outcome.asides)
        has_written |= bool(outcome.writes)
    ahead = state.values
    try:
        for told in branching.told_by(outcomes) if has_told else ():
            ahead = preview(run.program, ahead, told)
        if has_written:
            ahead = preview(run.program, ahead, (), outcomes)
    except Exception:  # what they wrote collides, say
        tell_around(run, outcomes)
        raise
    questions = tuple(asked)
    if shown := chunks.pause_chunks(run, state.values, ahead, questions):
        yield Emit(shown)
    return Finish("pending", read_keys(ahead, run.terms.output_keys), questions, state.checkpoint_id)


def _stop_at_breakpoint(run: Run, state: State) -> Steps[Finish]:
    """The run waits for somebody to look; perhaps for answers, too, where tasks wait beside."""
    known = run.known
    questions = tuple(pending.open_questions(known, run.answers).values()) if known is not None else ()
    asked = chunks.pause_chunks(run, state.values, state.values, questions) if questions else []
    if shown := asked + chunks.breakpoint_chunks(run):
        yield Emit(shown)
    is_after = all(name in state.writers for name in state.stopped)
    status: Literal["interrupt_after", "interrupt_before"] = "interrupt_after" if is_after else "interrupt_before"
    return Finish(status, read_keys(state.values, run.terms.output_keys), questions, state.checkpoint_id)


def _out_of_steps(run: Run, tasks: Row) -> GraphRecursionError:
    names = {repr(task.name) for task in tasks if isinstance(task, Task)}
    due = f" Due next: {', '.join(sorted(names))}." if names else ""
    return GraphRecursionError(
        f"The {run.program.shown} used up its {run.recursion_limit} steps without coming to an end.{due} "
        'If it is meant to run longer, raise the limit with config={"recursion_limit": ...}; '
        "if not, look for a cycle without an end."
    )
