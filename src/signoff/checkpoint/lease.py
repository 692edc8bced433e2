"""The lease of a thread: which run may write to it.

A run looks at a thread, and takes it with the first thing that it stores, in the same transaction. Every later
write carries the epoch that the run was given then; once another run has taken the thread, the epoch is another
one, and writes of the first are refused. The last write of a run gives the thread back.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple
from zlib import crc32

from signoff.errors import LeaseLost, ThreadMoved

__all__ = ["Lease", "Standing", "lost", "moved", "next_epoch", "removed"]


class Standing(NamedTuple):
    """How a thread stands."""

    seen: Any
    """What is another value once anything was stored. Only the saver that made it understands it."""
    holder: str | None = None
    """The run that has the thread."""
    is_expired: bool = False
    """Whether that run has given no sign of life for longer than its lease."""


@dataclass(slots=True, eq=False)
class Lease:
    """A run's hold on a thread."""

    thread_id: str
    holder: str
    seen: Any
    """How the thread stood when the run looked: if it stands otherwise by now, the lease is refused."""
    epoch: int = 0
    """The number that the run's writes carry; 0 until the thread is taken. The saver sets it."""
    is_over: bool = False
    """Whether the thread was given back, or is about to be."""


def next_epoch(lease: Lease, seen: int | None) -> int:
    """The epoch of a run that takes a thread, whose epoch was this one, or none if nobody had it before."""
    # Not simply the next number, but one that comes from the name of the run: a thread may be deleted and begun anew
    # while a run still has it, or a replica take over that has not heard of it. Then its epoch must not be given again.
    return (seen or 0) + 1 + (crc32(lease.holder.encode()) >> _SPARED_BITS)


_SPARED_BITS = 12
"""Epochs grow by up to a million then, and stay whole numbers in Lua, as doubles, for billions of runs."""


def moved(lease: Lease) -> ThreadMoved:
    """The error for a thread that does not stand any more as it was seen."""
    return ThreadMoved(
        f"Thread {lease.thread_id!r} was advanced by another run just now. Look at get_state(config), then try again."
    )


def lost(lease: Lease) -> LeaseLost:
    """The error for a run whose thread was taken over, or deleted."""
    return LeaseLost(
        f"Thread {lease.thread_id!r} was taken over by another run, since this one gave no sign of life for longer "
        "than its lease; or it was deleted, or the checkpoint that the run stood on. What the run wanted to store was "
        "refused. If it was only slow, give the saver a longer lease_s."
    )


def removed(thread_id: str, id: str | None) -> ThreadMoved:
    """The error for a run whose checkpoint was removed under it."""
    return ThreadMoved(
        f"Checkpoint {id!r} of thread {thread_id!r}, which the run stands on, was removed meanwhile: nothing was "
        "stored. Look at get_state(config), then try again."
    )
