"""A simulated process: it takes part in a world until it crashes, and does nothing after that."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from signoff.checkpoint.base import Lease
    from signoff.testing._witness import Witness

__all__ = ["Crash", "Process", "did", "here", "moment"]


class Crash(BaseException):
    """The process is gone. Nobody handles it."""


class Process:
    """One process of a world. A moment is something that it can crash at: before or after each thing that it does."""

    def __init__(self, name: str, witness: "Witness", crash_at: int | None = None) -> None:
        self.name = name
        self.witness = witness
        self.crash_at = crash_at
        self.moments: Counter[str] = Counter()
        """How many moments of each kind there were."""
        self.passed = 0
        self.commits = 0
        """How many transactions the store has confirmed."""
        self.is_dead = False
        self.is_seen_dead = True
        """Whether others can tell that it is gone; else they have to wait for its leases to run out."""
        self.is_quiet = False
        self.stalled_until = 0.0
        self.takes_turns = False
        """Whether others may go on at each of its moments."""
        self.held: dict[str, tuple[Any, Lease]] = {}
        """The leases of its runs, each with its saver, by holder."""
        self.runs = 0
        self.saver: Any = None
        self.app: Any = None

    def pass_moment(self, kind: str) -> None:
        """Get past a moment, or crash at it."""
        if self.is_dead:
            raise Crash
        if self.is_quiet:
            return
        if self.passed == self.crash_at:
            self.die()
            raise Crash
        self.passed += 1
        self.moments[kind] += 1

    def die(self) -> None:
        """End, at once: from now on every moment raises."""
        self.is_dead = True
        if self.is_seen_dead:
            self.witness.seen_dead.add(self.name)

    def new_holder(self) -> str:
        """A name for a run of this process."""
        self.runs += 1
        return f"{self.name}/{self.runs}"

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """What is done meanwhile is done by this process."""
        token = here.set(self)
        try:
            yield
        finally:
            here.reset(token)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """What is done meanwhile is none of the moments: looking at a thread changes nothing."""
        self.is_quiet = True
        try:
            yield
        finally:
            self.is_quiet = False


here: ContextVar[Process | None] = ContextVar("signoff_process", default=None)
"""The simulated process that this context belongs to; None outside of any world."""


def moment(kind: str) -> None:
    """Here a simulated process may crash."""
    process = here.get()
    if process is not None:
        process.pass_moment(kind)


def did(what: str) -> int:
    """Count a side effect in the world that is running. Returns how many there were; outside of a world, 0."""
    process = here.get()
    if process is None:
        return 0
    if process.is_dead:
        raise Crash
    return process.witness.see_done(process, what)
