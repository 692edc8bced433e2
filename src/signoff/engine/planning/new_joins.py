"""Joins that a deploy has brought while a thread waits: whoever has run in this turn has come to them, too.

A node tells a join that it has come as it finishes. One that had finished before the join was there has not, and what
is behind the join would never run. A thread that waits knows which joins its program had, so that only after a change
of these somebody has to look who has run. With `durability="exit"`, nobody can tell that of earlier steps.
"""

from collections.abc import Collection
from typing import Any

from signoff.channels.named_barrier_value import seen
from signoff.checkpoint.base import CheckpointTuple, TaskWrites, checkpoint_config
from signoff.constants import CHECKPOINT_ID, CONF, JOINS, MISSING, START
from signoff.engine import ids
from signoff.engine.effects import Load
from signoff.engine.fitting import fit_values
from signoff.engine.pending import Pending
from signoff.engine.planning.due import Due
from signoff.engine.planning.error_handlers import HANDLER
from signoff.engine.program import Program, Write
from signoff.engine.run import Run
from signoff.engine.state import State
from signoff.steps import Steps

Missing = dict[str, set[str]]
"""Those who have not come yet, by join."""


def note_of_joins(program: Program) -> TaskWrites:
    """What is kept with a question, so that a change of the joins shows."""
    return TaskWrites(ids.JOINS_ID, [(JOINS, program.joins_digest)])


def late_arrivals(run: Run, state: State, saved: CheckpointTuple, due: Due, *, is_old: bool) -> Steps[list[Write]]:
    """What the nodes that have run in this turn would have told the joins, had these been there.

    Those of the step under way tell it with what they have come to.
    """
    program, known = run.program, run.known
    if not due or state.gone or (known is not None and _are_same(program, known)):
        return []
    names = {node.name for node in due.values()}
    missing = {join: _missing(program, state, join) for join, end in program.joins.items() if end not in names}
    if known is not None and not is_old:
        _tell_with_results(known, due, missing)
    return (yield from _told_by_history(run, saved, missing)) if any(missing.values()) else []


def _are_same(program: Program, known: Pending) -> bool:
    """Whether a thread that waits had the joins of the program when it began to wait."""
    return known.results.get(ids.JOINS_ID) == [(JOINS, program.joins_digest)]


def _missing(program: Program, state: State, join: str) -> set[str]:
    channel: Any = program.channels[join]
    return set(channel.names) - seen(state.values.get(join, MISSING))


def _tell_with_results(known: Pending, due: Due, missing: Missing) -> None:
    """Have the tasks come that have finished in the step under way: with what they wrote, as the step ends."""
    for id, node in due.items():
        if id in known.results:
            joins = [write for write in node.edges if node.name in missing.get(write[0], ())]
            known.results[id] = [*known.results[id], *(write for write in joins if write not in known.results[id])]
            _take_off(missing, {node.name})


def _told_by_history(run: Run, saved: CheckpointTuple, missing: Missing) -> Steps[list[Write]]:
    """Have those come that have run since the turn began, or since the node behind the join did."""
    told: list[Write] = []
    at: CheckpointTuple | None = saved
    while at is not None and any(missing.values()) and not _is_left_behind(run.program, at):
        ran = _ran(at)
        told += [(join, name) for join, names in missing.items() for name in sorted(names.intersection(ran))]
        _take_off(missing, ran)
        missing = {join: names for join, names in missing.items() if run.program.joins[join] not in _over(at)}
        at = None if START in ran else (yield from _before(run, at))
    return told


def _before(run: Run, at: CheckpointTuple) -> Steps[CheckpointTuple | None]:
    """The checkpoint before one of the same turn; None if the turn begins there, or what was before is not stored."""
    if at.metadata.get("source") == "input" or at.parent_config is None:
        return None
    place = checkpoint_config(run.thread_id, run.ns, at.parent_config[CONF][CHECKPOINT_ID])
    parent: CheckpointTuple | None = yield Load(place)
    is_next = parent is not None and at.metadata.get("step", 0) - parent.metadata.get("step", 0) <= 1
    return parent if is_next else None


def _over(at: CheckpointTuple) -> Collection[str]:
    """The nodes that were due before a checkpoint and are not any more, whether they ran or a person has ended them."""
    return at.checkpoint.get("writers") or ()  # type: ignore[return-value]


def _ran(at: CheckpointTuple) -> set[str]:
    """The nodes that ran in the step that led to a checkpoint, without those that have failed."""
    names = _over(at)
    if at.metadata.get("source") == "update" and (len(names) > 1 or not at.checkpoint.get("updated_channels")):
        return set()  # an update as END ends what has not finished, too
    return {name for name in names if f"{HANDLER}{name}" not in names}


def _is_left_behind(program: Program, at: CheckpointTuple) -> bool:
    """Whether a person has moved the thread on from here although the program had lost a join."""
    _, _, gone = fit_values(program, at.checkpoint["channel_values"])
    return bool(gone)


def _take_off(missing: Missing, names: Collection[str]) -> None:
    for still in missing.values():
        still.difference_update(names)
