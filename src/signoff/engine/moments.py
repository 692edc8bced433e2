"""Moments: the state of a run after a step, as savers are told of it."""

from functools import partial
from typing import Any

from signoff.checkpoint.base import Moment
from signoff.engine.run import Run
from signoff.engine.state import State, checkpoint_of, saved_values


def moment_of(run: Run, state: State, source: Any) -> Moment:
    """What a saver is told of a state: what it changed, and how to get all of it. On the way of every saved step."""
    values = saved_values(run.program, state.values) if run.program.unsaved else state.values
    changed = {}
    gone = []
    for name in state.updated:  # first, and in this order: then a saver need not tell them twice
        if name in state.changed and name in values:
            changed[name] = values[name]
    for name in state.changed:
        if name not in values:
            gone.append(name)
        elif name not in changed:
            changed[name] = values[name]
    return Moment(
        state.checkpoint_id,
        state.at,
        source,
        state.step,
        changed,
        tuple(gone),
        state.newest,
        tuple(state.updated),
        state.writers,
        state.stopped,
        run.about(),
        None if run.terms.takes_moments else partial(checkpoint_of, run.program, state),
    )
