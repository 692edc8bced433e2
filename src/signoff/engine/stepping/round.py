"""One round of tasks: start what has to run, and wait until each has come out."""

from collections.abc import Sequence

from signoff.engine.effects import Await, Chunk, Emit, Stop
from signoff.engine.planning.error_handlers import behind_failures, handler_task, is_fatal, is_handled
from signoff.engine.planning.fold import is_refused
from signoff.engine.run import Run
from signoff.engine.showing import chunks
from signoff.engine.state import State
from signoff.engine.stepping.ending import conclude
from signoff.engine.storing.ledger import Ledger
from signoff.engine.storing.node_cache import recall, remember
from signoff.engine.storing.unstored import again, is_calling_off, on_the_way_out, unstored
from signoff.engine.task import Outcome, Row, Task
from signoff.errors import ParentCommand, SaverUnavailable
from signoff.steps import Steps

Settled = dict[Task, Outcome]


def run_tasks(run: Run, state: State, ledger: Ledger, row: Row) -> Steps[list[Outcome]]:
    """The outcomes of what is due, in folding order. A failure is raised once its siblings are safe."""
    settled: Settled = {}
    ledger.came = state.checkpoint_id, settled.values()
    tasks = fresh = [one for one in row if isinstance(one, Task)]
    known = [one for one in row if isinstance(one, Outcome)] if len(tasks) < len(row) else []
    waiting = [outcome for outcome in known if outcome.is_paused] if known else known
    if run.terms.caches:
        fresh = yield from recall(tasks, run.program, settled)
        if waiting and not fresh and not run.program.pauses_branch:
            yield from _keep(run, state, ledger, (), settled, 0, waits=True)
    if run.modes:
        yield from _show_start(run, known, tasks, list(settled.values()))
    yield from _wait(run, state, ledger, row, fresh, settled, waiting)
    is_simple = len(settled) == len(row) == len(tasks)  # so it is with most steps
    outcomes = [settled[task] for task in tasks] if is_simple else _in_order(row, settled)
    _hand_over(outcomes)
    return outcomes


def _in_order(row: Row, settled: Settled) -> list[Outcome]:
    """What the tasks of a step came to, in folding order: what handles the error of another one stands in its place."""
    outcomes = [settled[one] if isinstance(one, Task) else one for one in row]
    planned = {one for one in row if isinstance(one, Task)}
    if len(settled) > len(planned):
        outcomes += [outcome for task, outcome in settled.items() if task not in planned]
    return behind_failures(outcomes) if any(map(is_handled, outcomes)) else outcomes


def take(run: Run, state: State, ledger: Ledger, outcome: Outcome) -> Steps[list[Outcome]]:
    """What a lone task that did not simply finish leads to: a pause, an error, or a handler that runs now."""
    if outcome.questions is not None:
        if run.is_saved and (save := ledger.outcomes(state, [outcome], ends=True)) is not None:
            yield save
        return [outcome]
    settled: Settled = {outcome.task: outcome}
    tell_around(run, [outcome])
    yield from _keep(run, state, ledger, [outcome], settled, 0)
    yield from _wait(run, state, ledger, [outcome.task], _handlers([outcome]), settled)
    outcomes = list(settled.values())
    _hand_over(outcomes)
    return outcomes


def _hand_over(outcomes: Sequence[Outcome]) -> None:
    """Leave the run with the Commands for the graph around that tasks have; but not while somebody is asked."""
    led = [outcome.signal for outcome in outcomes if outcome.signal is not None]
    if led and not any(outcome.is_paused for outcome in outcomes):
        assert len(led) == 1 or {type(signal) for signal in led} == {ParentCommand}, "others end a run at once"
        raise led[0] if len(led) == 1 else ParentCommand(*[command for signal in led for command in signal.args])


def _wait(
    run: Run,
    state: State,
    ledger: Ledger,
    row: Row,
    start: Sequence[Task],
    settled: Settled,
    waiting: Sequence[Outcome] = (),
) -> Steps[None]:
    """Start the tasks and follow them until the last one has come out. Others of the step may still be waiting."""
    running = len(start)
    withheld: list[Chunk] = []
    try:
        while running:
            events = yield Await(start)
            outcomes = [event for event in events if type(event) is Outcome] if run.modes else events
            for outcome in outcomes:
                settled[outcome.task] = outcome
            running -= len(outcomes)
            if running or waiting or len(settled) > 1:
                _hold_back(outcomes)
            # Stored before it is shown: whoever has seen a question may leave, and its answer will find it.
            yield from _keep(run, state, ledger, outcomes, settled, running, waits=bool(waiting))
            if run.modes:
                yield from _show(run, events, withheld, is_over=bool(outcomes))
            start = _handlers(outcomes)
            running += len(start)
    except BaseException as error:
        # The run failed, was cancelled, or its reader has left: what has finished by now is not lost.
        yield from on_the_way_out(error, call_off(run, state, ledger, row, settled, error, waiting))
        raise


def _hold_back(outcomes: Sequence[Outcome]) -> None:
    """A Command for the graph around is what its task came to: the others of the step come out first."""
    for outcome in outcomes:
        if type(outcome.signal) is ParentCommand:
            outcome.is_done = True


def _keep(
    run: Run,
    state: State,
    ledger: Ledger,
    outcomes: Sequence[Outcome],
    settled: Settled,
    running: int,
    waits: bool = False,
) -> Steps[None]:
    """Cache and store outcomes as they come.

    A crash later in this step, or a pause of it, must not run these tasks again. The last ones of a step that ends
    well go out together with the checkpoint that they lead to.
    """
    if run.terms.caches:
        yield from remember(outcomes, run.known)
    if run.is_saved and (running or waits or not all(map(_simply_finished, settled.values()))):
        is_last = (
            not running
            and not run.program.pauses_branch
            and all(_simply_finished(outcome) or outcome.is_paused for outcome in settled.values())
        )
        kept = _with_recalled(outcomes, settled) if run.terms.caches else outcomes
        yield from _save(state, ledger, kept, ends=is_last)


def _simply_finished(outcome: Outcome) -> bool:
    return outcome.is_done and outcome.untold is None


def _with_recalled(outcomes: Sequence[Outcome], settled: Settled) -> Sequence[Outcome]:
    """What has come, and what the cache has given: it may have forgotten that by the time the step goes on."""
    return list(dict.fromkeys([*(outcome for outcome in settled.values() if outcome.is_cached), *outcomes]))


def _handlers(outcomes: Sequence[Outcome]) -> list[Task]:
    """The handlers that have to run now. An error that has none is raised.

    First what ends a run by itself: an answer that was not handed over is taken back then, and asked again.
    """
    for outcome in sorted(filter(is_fatal, outcomes), key=lambda one: one.signal is None):
        assert outcome.cause is not None, "what is fatal has a cause"
        raise outcome.cause
    return [handler_task(outcome.task, outcome.error) for outcome in outcomes if is_handled(outcome)]


def _save(state: State, ledger: Ledger, outcomes: Sequence[Outcome], *, ends: bool = False) -> Steps[None]:
    kept = [one for one in outcomes if (one.signal is None or one.is_done or one.beside) and not one.is_saved]
    if kept and (save := ledger.outcomes(state, kept, ends=ends)) is not None:
        try:
            yield save
            return
        except SaverUnavailable as failure:
            errors = [outcome.error for outcome in kept if is_fatal(outcome) and outcome.error is not None]
            if not errors:
                raise
            error = unstored(errors[0], failure)
        raise error  # not inside of the block above: what it comes from itself stays


def call_off(
    run: Run,
    state: State,
    ledger: Ledger,
    row: Row,
    settled: Settled,
    error: BaseException,
    waiting: Sequence[Outcome] = (),
) -> Steps[None]:
    """Stop the other tasks; what is finished is kept, and what is asked is told to the run around this one."""
    try:
        finished: list[Outcome] = yield Stop()
    except BaseException as later:
        if is_calling_off(error) or not is_calling_off(later):
            raise
        # A run that has failed is called off while it stops: it ends by that, and what finishes is kept all the same.
        yield from on_the_way_out(later, call_off(run, state, ledger, row, settled, later, waiting))
        raise
    finished = [outcome for outcome in finished if outcome.task not in settled]
    ended = {**settled, **{outcome.task: outcome for outcome in finished}}
    tell_around(run, [*waiting, *ended.values()])
    if not run.is_saved:
        return
    yield from again(error, ledger)
    _hold_back(finished)
    if not isinstance(error, Exception) and _is_over(row, ended):
        # Nobody waits any more, but the step has come to its end: whoever gives new input finds it in the state.
        _, save = conclude(run, state, ledger, _in_order(row, ended))
        if save is not None:
            yield save
    else:
        yield from _save(state, ledger, [one for one in ended.values() if one.is_done or one.is_paused])


def keep_blameless(run: Run, state: State, ledger: Ledger, outcomes: Sequence[Outcome]) -> Steps[None]:
    """Store what tasks came to whose step cannot end, since what they wrote collides, or others wrote what is refused.

    Those run again: what they write has to be another thing. If the step has ended, and it is what is due next that
    cannot read the state, that is stored: nobody runs again.
    """
    if not run.is_saved:
        return
    if not ledger.is_renewed(state):
        yield from _save(state, ledger, [one for one in outcomes if not is_refused(run.program, state, one)])
        return
    if (save := ledger.checkpoint(state, "loop", ledger.records(outcomes), ends=True)) is not None:
        yield save
    run.end_step()


def _is_over(row: Row, ended: Settled) -> bool:
    """Whether every task of a step has finished, so that there is nothing left of it to do."""
    if not all(one in ended for one in row if isinstance(one, Task)):
        return False
    return all(outcome.is_done and outcome.signal is None for outcome in _in_order(row, ended))


def tell_around(run: Run, outcomes: Sequence[Outcome]) -> None:
    """Leave what tasks of a run that fails ask to the run around it."""
    if run.is_nested:
        run.beside = [question for outcome in outcomes for question in outcome.questions or outcome.beside]


def _show_start(run: Run, known: Sequence[Outcome], tasks: Sequence[Task], cached: Sequence[Outcome]) -> Steps[None]:
    """Show what was known before, what begins, and what of that is over already, since it was cached."""
    shown = chunks.start_chunks(run, tasks)
    if known:
        known_now = [outcome for outcome in known if run.shows_known or not outcome.is_paused]
        shown = [chunk for outcome in known_now for chunk in chunks.outcome_chunks(run, outcome)] + shown
    if cached:
        shown += [chunk for outcome in cached for chunk in chunks.outcome_chunks(run, outcome)]
    if shown:
        yield Emit(shown)


def _show(run: Run, events: Sequence[Outcome | Chunk], withheld: list[Chunk], *, is_over: bool) -> Steps[None]:
    """Show what happened. A question of a nested graph waits until the task around it has been stored."""
    inside: list[Chunk] = []
    for event in events:
        if not isinstance(event, Outcome):
            (withheld if chunks.is_pause(event) else inside).append(event)
    if inside:
        yield Emit(inside, is_from_inside=True)
    if not is_over:
        return
    if withheld:
        yield Emit(list(withheld), is_from_inside=True)
        withheld.clear()
    for event in events:
        if isinstance(event, Outcome) and (shown := chunks.outcome_chunks(run, event)):
            yield Emit(shown)
