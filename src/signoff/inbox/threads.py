"""The threads of a saver, as a list shows them."""

from dataclasses import dataclass
from typing import Any, Literal

from signoff.checkpoint.base import CheckpointTuple
from signoff.constants import CONF, THREAD_ID
from signoff.engine import pending
from signoff.engine.answering import open_at, unfinished
from signoff.inbox.scanning import heads
from signoff.steps import Steps


@dataclass(frozen=True, slots=True)
class Thread:
    """How a thread stands, as far as it can be told without its graph."""

    thread_id: str
    status: Literal["paused", "answered", "failed", "resting"]
    """It waits for answers; an answer waits for it, or its run was cut off; its last run failed; or none of these."""
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
        "paused" if asked else "answered" if unfinished(known) else "failed" if known.errors else "resting",
        asked,
        saved.metadata.get("step", -1),
        saved.checkpoint["ts"],
        saved.checkpoint["id"],
    )
