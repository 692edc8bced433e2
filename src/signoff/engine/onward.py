"""Whether a thread has work left, as far as its checkpoint tells: without the program that goes on with it."""

from collections.abc import Mapping
from typing import Any

from signoff.channels.named_barrier_value import seen
from signoff.checkpoint.base import CheckpointTuple
from signoff.constants import JOIN, START, TASKS, TRIGGER
from signoff.engine import ids
from signoff.engine.fitting import parts_of_join
from signoff.engine.pending import Pending


def leads_on(values: Mapping[str, Any]) -> bool:
    """Whether an edge, a Send or the input has made a node due. Of the low-level form, only its program can tell."""
    if START in values or values.get(TASKS):
        return True
    return any(name.startswith(TRIGGER) or _is_open(name, value) for name, value in values.items())


def is_at_breakpoint(saved: CheckpointTuple, known: Pending) -> bool:
    """Whether a run has stopped here since it was told to."""
    return bool(saved.checkpoint.get("stopped")) or ids.STOP_ID in known.results


def _is_open(name: str, value: Any) -> bool:
    """Whether all have come to a join, if it is one."""
    return name.startswith(JOIN) and set(parts_of_join(name)[0]) == set(seen(value))
