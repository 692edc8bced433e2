"""Leases in the file: which run has a thread. Each statement here is part of the transaction that it guards."""

from collections.abc import Callable
from dataclasses import dataclass

from signoff._sqlite.effects import Execute, Expect, in_transaction
from signoff.checkpoint.lease import Lease, Standing, lost, moved
from signoff.steps import Steps

__all__ = ["Hold", "renew", "standing"]

# What tells that anything was stored in the thread: its epoch, its head, and what was written there since. Nested
# graphs need not be looked at: they are read when the thread is taken.
_STANDING = """
    SELECT lease.epoch, head.id,
        (SELECT COUNT(*) || '/' || TOTAL(LENGTH(value)) FROM signoff_writes
         WHERE thread_id = ?1 AND ns = '' AND checkpoint_id = head.id),
        lease.holder, lease.expires_at
    FROM (SELECT MAX(id) AS id FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = '') AS head
    LEFT JOIN signoff_threads AS lease ON lease.thread_id = ?1
"""

_TAKE = """
    INSERT INTO signoff_threads (thread_id, epoch, holder, expires_at) VALUES (?1, 1, ?2, ?3)
    ON CONFLICT (thread_id) DO UPDATE SET epoch = epoch + 1, holder = ?2, expires_at = ?3 RETURNING epoch
"""

_HAS = "SELECT 1 FROM signoff_threads WHERE thread_id = ? AND epoch = ?"

_GIVE_BACK = "UPDATE signoff_threads SET holder = NULL WHERE thread_id = ? AND epoch = ? RETURNING 1"

_RENEW = "UPDATE signoff_threads SET expires_at = ?3 WHERE thread_id = ?1 AND epoch = ?2 RETURNING 1"


@dataclass(slots=True)
class Hold:
    """A lease, and what a transaction does with it."""

    lease: Lease
    until: Callable[[], float]
    """When it will run out, if it is given a sign of life now."""
    ends: bool

    @property
    def takes(self) -> bool:
        return self.lease.epoch == 0

    def take(self) -> Steps[int]:
        """Take the thread, if it stands as it was seen. Returns the epoch."""
        lease = self.lease
        rows = yield Execute(_STANDING, (lease.thread_id,))
        if tuple(rows[0][:3]) != lease.seen:
            raise moved(lease)
        taken = yield Execute(_TAKE, (lease.thread_id, None if self.ends else lease.holder, self.until()))
        epoch: int = taken[0][0]
        return epoch

    def guard(self) -> Expect:
        """What the transaction of a run that has the thread begins with."""
        lease = self.lease
        return Expect(_GIVE_BACK if self.ends else _HAS, (lease.thread_id, lease.epoch), lambda: lost(lease))


def standing(thread_id: str, now: float) -> Steps[Standing]:
    """How a thread stands."""
    rows = yield Execute(_STANDING, (thread_id,))
    epoch, head, written, holder, expires_at = rows[0]
    return Standing((epoch, head, written), holder, holder is not None and expires_at < now)


def renew(lease: Lease, until: float) -> Steps[None]:
    """Give a sign of life."""
    if not (yield from in_transaction("write", _renew(lease, until))):
        raise lost(lease)


def _renew(lease: Lease, until: float) -> Steps[list[object]]:
    rows: list[object] = yield Execute(_RENEW, (lease.thread_id, lease.epoch, until))
    return rows
