"""The threads of a saver, as a list shows them."""

from dataclasses import dataclass
from typing import Any, Literal

from signoff.checkpoint.base import CheckpointTuple
from signoff.constants import CONF, THREAD_ID
from signoff.engine import pending
from signoff.engine.pending import Pending
from signoff.engine.planning.remaining_work import is_at_breakpoint, leads_on
from signoff.engine.storing.stored_answers import open_at, unfinished
from signoff.inbox.scanning import heads
from signoff.steps import Steps

Status = Literal["paused", "answered", "failed", "stopped", "unfinished", "resting"]
"""It waits for answers; an answer waits for it, or its run was cut off; its last run failed; it is at a breakpoint; it
has nodes left to run, and runs or was cut off; or none of these."""


@dataclass(frozen=True, slots=True)
class Thread:
    """How a thread stands, as far as it can be told without its graph."""

    thread_id: str
    status: Status
    questions: int
    step: int
    changed_at: str
    checkpoint_id: str


def threads(saver: Any, limit: int | None) -> Steps[list[Thread]]:
    """The threads, those that changed last first."""
    found: list[Thread] = []

    def see(saved: CheckpointTuple) -> bool:
        found.append(_thread(saved))
        return len(found) == limit

    if limit != 0:
        yield from heads(saver, see)
    return found


def _thread(saved: CheckpointTuple) -> Thread:
    known = pending.by_task(saved.pending_writes)
    asked = len(open_at(known))
    return Thread(
        saved.config[CONF][THREAD_ID],
        "paused" if asked else _status(saved, known),
        asked,
        saved.metadata.get("step", -1),
        saved.checkpoint["ts"],
        saved.checkpoint["id"],
    )


def _status(saved: CheckpointTuple, known: Pending) -> Status:
    """How a thread stands that asks nothing."""
    if unfinished(known):
        return "answered"
    if known.has_failed:
        return "failed"
    if not leads_on(saved.checkpoint["channel_values"]):
        return "resting"
    return "stopped" if is_at_breakpoint(saved, known) else "unfinished"
