"""Folding: all writes of a step go into the state at once, in a fixed order."""

from collections.abc import Sequence

from signoff.constants import MISSING, TASKS
from signoff.engine.plan import due_nodes
from signoff.engine.program import Program, Values, Write
from signoff.engine.state import State, fleeting_in
from signoff.engine.task import Task
from signoff.errors import InvalidUpdateError

Done = tuple[Task | None, Sequence[Write]]
"""A task and its writes; None writes on behalf of the caller."""


def fold(program: Program, state: State, done: Sequence[Done]) -> None:
    """Move the state one step on. If a write is refused, the state is as it was."""
    folded = merged(program, state.values, done)
    values = state.values
    if program.opaque:
        _consume(program, state, done)
    for name in state.fleeting:
        if name not in folded:
            values.pop(name, None)
            state.changed.add(name)
    _put(values, folded)
    state.changed.update(folded)
    state.updated = folded
    state.writers = [task.name for task, _ in done if task is not None]
    state.fleeting = fleeting_in(program.channels, folded)
    if program.deferred and TASKS not in values and not due_nodes(program, state):
        _finish(program, state)
    state.step += 1


def add(program: Program, state: State, writes: Sequence[Write]) -> None:
    """Put the caller's writes on top of a state without ending the step."""
    folded = merged(program, state.values, [(None, writes)])
    _put(state.values, folded)
    state.changed.update(folded)
    state.updated = {*state.updated, *folded}
    state.fleeting = {*state.fleeting, *fleeting_in(program.channels, folded)}


def merged(program: Program, values: Values, done: Sequence[Done]) -> Values:
    """What the written channels hold afterwards."""
    groups: dict[str, list[object]] = {}
    for _, writes in done:
        for name, value in writes:
            if name in groups:
                groups[name].append(value)
            else:
                groups[name] = [value]
    channels = program.channels
    try:
        return {name: channels[name].fold(values.get(name, MISSING), group) for name, group in groups.items()}
    except InvalidUpdateError as error:
        raise _with_writers(error, done) from error
    except KeyError as error:
        raise _unknown_key(program, done) or error from error


def preview(program: Program, values: Values, writes: Sequence[Write]) -> Values:
    """The values as they would be after one task alone: what its conditional edges see."""
    ahead = values.copy()
    _put(ahead, merged(program, values, [(None, writes)]))
    return ahead


def _put(values: Values, folded: Values) -> None:
    values.update(folded)
    for name, value in folded.items():
        if value is MISSING:
            del values[name]


def _consume(program: Program, state: State, done: Sequence[Done]) -> None:
    """Joins that have let a task pass close again."""
    for task, _ in done:
        for trigger in task.triggers if task is not None else ():
            if trigger in program.opaque:
                left = program.channels[trigger].consume(state.values.get(trigger, MISSING))
                _put(state.values, {trigger: left})
                state.changed.add(trigger)


def _finish(program: Program, state: State) -> None:
    """Nothing else is due: the deferred triggers that were written fire."""
    waiting = [name for name in program.deferred if name in state.values]
    fired = {name: program.channels[name].finish(state.values[name]) for name in waiting}
    fired = {name: value for name, value in fired.items() if value is not state.values[name]}
    state.values.update(fired)
    state.changed.update(fired)
    state.updated = {*state.updated, *fired}


def _with_writers(error: InvalidUpdateError, done: Sequence[Done]) -> InvalidUpdateError:
    key = getattr(error, "key", None)
    writers = [task.name for task, writes in done if task is not None and any(name == key for name, _ in writes)]
    named = " and ".join(repr(name) for name in sorted(set(writers)))
    return type(error)(f"{error} Written by {named}." if named else str(error))


def _unknown_key(program: Program, done: Sequence[Done]) -> InvalidUpdateError | None:
    for task, writes in done:
        for name, _ in writes:
            if name not in program.channels:
                writer = f"Node {task.name!r}" if task else "The caller"
                return InvalidUpdateError(f"{writer} wrote to {name!r}, which is not a key of {program.name!r}.")
    return None
