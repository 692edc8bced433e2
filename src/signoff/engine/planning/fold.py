"""Folding: all writes of a step go into the state at once, in a fixed order."""

from collections.abc import Collection, Iterable, Sequence
from reprlib import repr as shortened
from typing import Any

from signoff.constants import MISSING, START, TASKS, WAITING
from signoff.engine.planning.plan import due_nodes, held_nodes
from signoff.engine.program import Program, Values, Write
from signoff.engine.state import State
from signoff.engine.task import Outcome, Task
from signoff.errors import InvalidUpdateError, StateChanged


def fold(
    program: Program,
    state: State,
    outcomes: Sequence[Outcome],
    also: Sequence[Write] = (),
    waiting: Sequence[Outcome] = (),
) -> None:
    """Move the state one step on, by what tasks and perhaps the caller wrote. If a write is refused, it stays put.

    Tasks that wait while the others go on have written nothing yet, but what made them due does so no more.
    """
    if not program.is_simple:
        return _fold_more(program, state, outcomes, also, waiting)
    values = state.values
    lone = outcomes[0].writes if len(outcomes) == 1 and not also else ()
    folded: Values = dict(lone)
    if lone and len(folded) == len(lone):  # one task, and each key once; so it is with most steps
        fleeting = _merge(program, values, folded, outcomes, False)
    else:
        folded = _grouped(outcomes, also)
        fleeting = _merge(program, values, folded, outcomes)
    for name in state.fleeting:
        if name not in folded:
            values.pop(name, None)
            if state.is_saved:
                state.changed[name] = MISSING
    _put(state, folded)
    state.updated, state.fleeting = folded, fleeting
    state.step += 1
    return None


def _fold_more(
    program: Program, state: State, outcomes: Sequence[Outcome], also: Sequence[Write], waiting: Sequence[Outcome]
) -> None:
    """Fold where there are joins, deferred nodes, or branches that wait."""
    values = state.values
    consumed = _consumed(program, values, [*outcomes, *waiting]) if program.opaque else {}
    held = _held(program, state) if program.pauses_branch else ()
    before = {**values, **consumed} if consumed else values
    folded = _grouped(outcomes, also)
    fleeting = _merge(program, before, folded, outcomes)
    if consumed:
        _put(state, consumed)
    for name in state.fleeting:
        if name not in folded and name not in held:
            values.pop(name, None)
            state.changed[name] = MISSING
    _put(state, folded)
    state.updated = folded if not held else {*folded, *held}
    state.fleeting = fleeting if not held else {*fleeting, *program.fleeting.intersection(held)}
    state.step += 1
    still_open = _still_open(program, state) if program.opaque else ()
    if still_open:
        state.updated = {*state.updated, *still_open}
    _finish_if_idle(program, state)


def _still_open(program: Program, state: State) -> list[str]:
    """The joins and deferred triggers that nobody has passed yet: an update by hand leaves what is due, due."""
    values, channels = state.values, program.channels
    waiting = (name for name in program.opaque if name in values and name not in state.updated)
    return [name for name in waiting if name in program.listeners and channels[name].get(values[name]) is not MISSING]


def take_input(program: Program, state: State, input: Any, dropped: Sequence[Outcome]) -> None:
    """The step of the input: it is what is due now, and nothing else is."""
    if dropped or program.opaque or program.pauses_branch:
        return fold(program, state, dropped, [(START, input)])
    values, changed = state.values, state.changed
    for name in state.fleeting:
        values.pop(name, None)
        changed[name] = MISSING
    values[START] = changed[START] = input
    state.updated = state.fleeting = _INPUT
    state.step += 1
    return None


_INPUT = (START,)


def _held(program: Program, state: State) -> Collection[str]:
    """The triggers of nodes behind a task that waits: they fire when that has finished."""
    if WAITING not in state.values:
        return ()
    nodes = held_nodes(program, state)
    return {name for name in state.updated if not nodes.isdisjoint(program.listeners.get(name, ()))}


def add(program: Program, state: State, writes: Sequence[Write]) -> None:
    """Put the caller's writes on top of a state without ending the step."""
    folded = _grouped((), writes)
    if TASKS in folded:
        # Behind the Sends that are under way: a task is known by the place of its Send.
        folded[TASKS] = [*state.values.get(TASKS, ()), *folded[TASKS]]
    fleeting = _merge(program, state.values, folded, ())
    for name in program.deferred:
        if name in folded and program.channels[name].get(state.values.get(name, MISSING)) is not MISSING:
            folded[name] = program.channels[name].finish(folded[name])  # what was due still is
    _put(state, folded)
    state.updated = {*state.updated, *folded}
    state.fleeting = {*state.fleeting, *fleeting}
    _finish_if_idle(program, state)


def preview(program: Program, values: Values, writes: Sequence[Write], outcomes: Sequence[Outcome] = ()) -> Values:
    """The values as they would be after some writes alone, for the conditional edges of a task; or after some tasks."""
    folded = _grouped(outcomes, writes)
    _merge(program, values, folded, outcomes)
    ahead = {**values, **folded}
    return {name: value for name, value in ahead.items() if value is not MISSING}


def _grouped(outcomes: Iterable[Outcome], also: Sequence[Write]) -> Values:
    """The values written to each channel, in order."""
    groups: Values = {}
    for outcome in outcomes:
        for name, value in outcome.writes:
            if name in groups:
                groups[name].append(value)
            else:
                groups[name] = [value]
    for name, value in also:
        groups.setdefault(name, []).append(value)
    return groups


def _merge(
    program: Program, values: Values, written: Values, outcomes: Sequence[Outcome], is_grouped: bool = True
) -> list[str]:
    """Put what channels hold afterwards in the place of what was written to them. Returns which forget it after a step.

    is_grouped: whether there is a list for each channel, and not the only value that was written to it.
    """
    channels, forgetful, flags, fleeting = program.channels, program.fleeting, program.flags, []
    try:
        for name, group in written.items():
            if name in flags:
                written[name] = group[-1] if is_grouped else group
                fleeting.append(name)
            else:
                written[name] = channels[name].fold(values.get(name, MISSING), group if is_grouped else [group])
                if name in forgetful:
                    fleeting.append(name)
    except InvalidUpdateError as error:
        raise _with_writers(error, name, outcomes) from error
    except Exception as error:
        if name not in channels:
            raise _unknown_channel(program, name, outcomes) from None
        _check_stored(program, name, values.get(name, MISSING), error)
        error.add_note(_of_reducer(name, group if is_grouped else [group], outcomes))
        raise
    return fleeting


def is_refused(program: Program, state: State, outcome: Outcome) -> bool:
    """Whether the state cannot take what a task wrote, even on its own."""
    try:
        _merge(program, state.values, _grouped([outcome], ()), ())
    except Exception:
        return True
    return False


def _put(state: State, folded: Values) -> None:
    values = state.values
    for name, value in folded.items():
        if value is MISSING:
            values.pop(name, None)
        else:
            values[name] = value
    if state.is_saved:
        state.changed.update(folded)


def _consumed(program: Program, values: Values, outcomes: Iterable[Outcome]) -> Values:
    """The joins that have let a task pass: they close again before they hear of the next arrivals."""
    fired = (trigger for outcome in outcomes for trigger in outcome.task.triggers if trigger in program.opaque)
    return {trigger: program.channels[trigger].consume(values.get(trigger, MISSING)) for trigger in fired}


def _finish_if_idle(program: Program, state: State) -> None:
    """If nothing else is due, the deferred triggers that were written fire."""
    if not program.deferred or TASKS in state.values or WAITING in state.values or due_nodes(program, state):
        return
    waiting = [name for name in program.deferred if name in state.values]
    fired = {name: program.channels[name].finish(state.values[name]) for name in waiting}
    fired = {name: value for name, value in fired.items() if value is not state.values[name]}
    _put(state, fired)
    state.updated = {*state.updated, *fired}


def _check_stored(program: Program, key: str, stored: Any, error: Exception) -> None:
    """A reducer has failed: say so if it is for another kind of value than the one that is stored."""
    first = program.initial.get(key, stored)
    if not isinstance(stored, type(first)):
        kind, wanted = type(stored).__name__, type(first).__name__
        why = "The key had another reducer, or none, when that was stored."
        if stored is None:
            why = f"If the reducer returned None, let it return the new value. Else: {why[0].lower()}{why[1:]}"
        raise StateChanged(
            f"Key {key!r} of the {program.shown} holds a value of type {kind}, and its reducer is for {wanted}: "
            f"{error}. {why} Put in what fits with "
            f"update_state(config, {{{key!r}: Overwrite(...)}}), or go on with the code that stored it."
        ) from error


def _of_reducer(key: str, writes: Sequence[Any], outcomes: Iterable[Outcome]) -> str:
    """What is told about a reducer that failed."""
    given, writers = ", ".join(map(shortened, writes)), _writers(key, outcomes)
    return f"The reducer of key {key!r} failed. It was given {given}{' by ' if writers else ''}{writers}."


def _writers(key: str, outcomes: Iterable[Outcome]) -> str:
    """The nodes that wrote to a key, named."""
    names = {outcome.task.name for outcome in outcomes if any(name == key for name, _ in outcome.writes)}
    return " and ".join(map(repr, sorted(names)))


def _with_writers(error: InvalidUpdateError, key: str, outcomes: Sequence[Outcome]) -> InvalidUpdateError:
    named = _writers(key, outcomes)
    return type(error)(f"{error} Written by {named}.{_way_out(key, outcomes)}" if named else str(error))


def _way_out(key: str, outcomes: Sequence[Outcome]) -> str:
    """How a thread on which tasks have written what collides goes on, if the program stays as it is."""
    writers = [task for outcome in outcomes for task in _writers_in(outcome, key)]
    if len(writers) < 2 or not writers[0].is_saved:
        return ""
    others = [writer.name for writer in writers[1:]]
    how = f"update_state(config, None, as_node={others[0]!r})" if len(others) == 1 else bulk_update([], others)
    return f" They are not run again; to go on with what one of them wrote, let the others have written nothing: {how}."


def bulk_update(first: Sequence[str], others: Sequence[str]) -> str:
    """How a person updates as several nodes at once, as errors tell it: what some say, and nothing from the others."""
    updates = [*first, *(f"StateUpdate(None, {name!r})" for name in others[:_MOST_SHOWN])]
    more = ", ..." * (len(others) > _MOST_SHOWN)
    return f"bulk_update_state(config, [[{', '.join(updates)}{more}]])"


_MOST_SHOWN = 3


def _writers_in(outcome: Outcome, key: str) -> list[Task]:
    """The task that wrote to a key, or several with one node: those that had finished before are one outcome."""
    count = sum(name == key for name, _ in outcome.writes)
    return [outcome.task] * (count if outcome.is_known else min(count, 1))


def _unknown_channel(program: Program, key: str, outcomes: Sequence[Outcome]) -> InvalidUpdateError:
    unknown = InvalidUpdateError(f"{key!r} was written, which is not a key of the {program.shown}.")
    return _with_writers(unknown, key, outcomes)
