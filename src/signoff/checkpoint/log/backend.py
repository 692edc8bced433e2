"""What a database has to know how to do. Each is a procedure; the effects that it asks for are its own business."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from signoff.checkpoint.lease import Lease, Standing
from signoff.checkpoint.log.plans import NewRow, NewWrite, Place2, Plan
from signoff.checkpoint.log.values import Span
from signoff.checkpoint.places import Place, Selection
from signoff.checkpoint.questions import Wanted
from signoff.steps import Steps

__all__ = ["Backend", "Cleanup", "Copied", "Everything", "Hold", "Kept", "Raw", "Row", "ThreadSize", "WriteRow"]

T = TypeVar("T")

Key = tuple[str, str, str]
"""A thread, a namespace and the id of a checkpoint."""

Row = Sequence[Any]
"""(id, parent_id, depth, seal, body) of a checkpoint."""

WriteRow = Sequence[Any]
"""(task_id, idx, path, data)"""

Copied = Literal["copied", "not empty", "not there"]
"""What came of a copy: the target may not be empty, or the source not there."""


class Raw(NamedTuple):
    """A checkpoint as the database has it."""

    rows: Sequence[Row]
    """Its own row, and those it stands on, each below the one before. Empty if there is none."""
    writes: Sequence[WriteRow]
    carried: Sequence[bytes] = ()
    """More of its writes: those that the checkpoints after it have carried, where the database has them do so."""
    standing: Standing | None = None


class Hold(NamedTuple):
    """A lease, and what a write does with it."""

    lease: Lease
    ends: bool

    @property
    def takes(self) -> bool:
        return self.lease.epoch == 0


class Everything(NamedTuple):
    """All that there is of a thread, for whoever tidies up."""

    rows: Sequence[Sequence[Any]]
    """(ns, id, parent_id, depth, seal, body, run_id, writes) each."""
    writes: Sequence[Sequence[Any]]
    """(ns, checkpoint_id, task_id, idx, path, data) each."""
    items: Sequence[Sequence[int]]
    """(lineage, start, count, bytes) each."""
    blobs: Sequence[tuple[bytes, int]]
    """(digest, bytes) each."""
    seen: Any = None
    """How the thread stands, as `Standing.seen` says it."""
    token: Any = None
    """What is another one once anything was changed, where the database has no transactions."""


class Kept(NamedTuple):
    """What is kept with a checkpoint, as it is stored."""

    id: str
    writes: Sequence[Sequence[Any]]
    """(task_id, idx, data) each."""
    carried: Sequence[bytes]


@dataclass(slots=True)
class Cleanup:
    """What is to be removed from a thread, and what has to be rewritten for that."""

    thread_id: str
    rewritten: list[tuple[str, str, str | None, bytes]] = field(default_factory=list)
    removed: list[Place2] = field(default_factory=list)
    writes: list[tuple[str, str, str, int]] = field(default_factory=list)
    items: list[tuple[int, int]] = field(default_factory=list)
    blobs: list[bytes] = field(default_factory=list)
    moved: list[NewWrite] = field(default_factory=list)
    """Writes that a checkpoint has carried that goes, for one that stays."""
    closes_all: bool = False
    """Whether nothing is asked any more: the checkpoint goes that the open questions belong to. A run that has the
    thread stands on it, and loses the thread."""
    asked: Sequence[Sequence[Any]] = ()
    """What is asked instead, by the checkpoint that is the newest then: rows of the index."""
    unread: "Kept | None" = None
    """What has to be read before anything is removed: it says what is asked then."""
    size: int = 0
    """How many bytes that are."""
    counted: Sequence[Place2] = ()
    """The checkpoints that a report is to count."""

    @property
    def is_nothing(self) -> bool:
        """Whether all of the thread stays as it is."""
        parts = (self.rewritten, self.removed, self.writes, self.items, self.blobs, self.moved, self.closes_all)
        return not any(parts)


class ThreadSize(NamedTuple):
    """A thread, for whoever tidies up."""

    thread_id: str
    id: str
    """That of its newest checkpoint,"""
    newest: bytes
    """and the body of it."""
    has_questions: bool
    expires_at: Any
    """When the lease of the last run that had it ends, or has ended; None if there was none."""


class Backend(Protocol):
    """A database."""

    carries_writes: bool
    """Whether what tasks wrote is kept in the row of the checkpoint that it led to."""

    def set_up(self) -> Steps[None]:
        """Make it ready."""

    def apply(self, plans: Sequence[Plan], hold: Hold | None) -> Steps[bool]:
        """Write plans, all or nothing, and see to the lease; False if one of them does not fit."""

    def append_row(self, thread_id: str, row: NewRow, lease: Lease) -> Steps[bool]:
        """Write a step and nothing else, which is most of what runs write; False if `apply` is to see what is wrong."""

    def renew(self, lease: Lease) -> Steps[None]:
        """Give a sign of life."""

    def fetch(self, place: Place, seal: int | None = None, *, looks: bool = False) -> Steps[Raw]:
        """A checkpoint with all that it stands on; with its row only, if that has this seal.

        looks: whether the standing of the thread is wanted, too.
        """

    def singles(self, keys: Sequence[Key]) -> Steps[dict[Key, Raw]]:
        """Checkpoints, of each only its own row."""

    def writes_of(self, key: Key) -> Steps[Sequence[WriteRow]]:
        """The rows of writes that are kept with a checkpoint, be it there or not."""

    def children(self, key: Key) -> Steps[Sequence[str]]:
        """Those whose parent a checkpoint is."""

    def parts(
        self, thread_id: str, spans: Iterable[Span], digests: Collection[bytes]
    ) -> Steps[tuple[Sequence[tuple[int, int, bytes]], Mapping[bytes, bytes]]]:
        """Rows of items, (lineage, start, items) each, that have those of the spans; and large values by digest."""

    def find(
        self, selection: Selection, is_wanted: Callable[[Any], bool] | None, limit: int | None
    ) -> Steps[list[Key]]:
        """Where checkpoints are, newest first. What is wanted is judged by the body."""

    def questions(self, wanted: Wanted) -> Steps[Sequence[Sequence[Any]]]:
        """(id, thread_id, graph, path, asked_at, tag, data) of open questions, oldest first."""

    def tidy(self, thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
        """See what there is of a thread, and remove of it what a rule says, while nobody else changes it."""

    def delete_threads(self, thread_ids: Sequence[str]) -> Steps[None]:
        """Remove threads, with all that is theirs."""

    def delete_idle(self, seen: Mapping[str, Any], *, with_questions: bool) -> Steps[list[str]]:
        """Remove those of threads that still stand as they were seen, unless they ask something; which it were."""

    def copy_thread(self, source: str, target: str) -> Steps[Copied]:
        """Copy a thread, if there is one, and the target is empty."""

    def threads_of_runs(self, run_ids: Collection[str]) -> Steps[list[str]]:
        """The threads that have checkpoints of these runs."""

    def threads(self) -> Steps[list[ThreadSize]]:
        """All threads."""

    def give_space_back(self) -> Steps[None]:
        """Let the machine have the space that was freed, where the database does not do so by itself."""
