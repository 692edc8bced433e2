"""Whether a thread has work left, as far as its checkpoint tells: without the program that goes on with it."""

from collections.abc import Mapping
from typing import Any

from signoff.checkpoint.base import CheckpointTuple
from signoff.constants import JOIN, START, TASKS, TRIGGER, WAITING
from signoff.engine import ids
from signoff.engine.fitting import has_opened
from signoff.engine.pending import Pending


def leads_on(values: Mapping[str, Any]) -> bool:
    """Whether a node is due: by an edge, a Send or the input, or since its branch waits.

    Of the low-level form, only its program can tell.
    """
    if START in values or values.get(TASKS) or values.get(WAITING):
        return True
    joins = ((name, value) for name, value in values.items() if name.startswith(JOIN))
    return any(name.startswith(TRIGGER) for name in values) or any(has_opened(*join) for join in joins)


def is_at_breakpoint(saved: CheckpointTuple, known: Pending) -> bool:
    """Whether a run has stopped here since it was told to."""
    return bool(saved.checkpoint.get("stopped")) or ids.STOP_ID in known.results
