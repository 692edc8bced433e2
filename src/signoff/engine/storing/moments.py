"""Moments: the state of a run after a step, as savers are told of it, and the versions of what it changed."""

from functools import partial
from typing import Any

from signoff.checkpoint.base import Moment
from signoff.constants import MISSING
from signoff.engine.program import Values
from signoff.engine.run import Run
from signoff.engine.state import State, checkpoint_of, saved_values


def moment_of(run: Run, state: State, source: Any) -> Moment:
    """What a saver is told of a state: what it changed, and how to get all of it. On the way of every saved step."""
    changed: Values = {}
    gone = []
    for name, value in state.changed.items():
        if value is MISSING:
            gone.append(name)
        else:
            changed[name] = value
    if run.program.unsaved:
        gone += changed.keys() & run.program.unsaved  # an older program may have saved them
        changed = saved_values(run.program, changed)
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


def renew_versions(run: Run, state: State) -> None:
    """Give the changed channels a new version; those without a value have none."""
    newest: Any = state.newest
    state.newest = version = (newest or 0) + 1 if run.terms.next_version is None else run.terms.next_version(newest)
    if run.terms.takes_moments:
        return  # the saver itself knows what has which version
    versions = state.versions
    for name, value in state.changed.items():
        if value is MISSING:
            versions.pop(name, None)
        else:
            versions[name] = version
