"""Commits that are ready to be stored when they are prepared: their rows are made at once.

Most steps change a few small values, and come right after another one; and most of what tasks write is small. A row is
little to keep until it is stored; and whoever stores it has only to see that the checkpoint below is there. If it is
not, the row is taken apart again.
"""

from collections.abc import Mapping, Sequence
from random import getrandbits
from typing import Any

from signoff._tuples import made
from signoff.checkpoint.base import WRITES_IDX_MAP, Commit, Moment
from signoff.checkpoint.encoding import Blob, packed
from signoff.checkpoint.log.body import Changes, packed_step, unpacked
from signoff.checkpoint.log.body import packed as packed_body
from signoff.checkpoint.log.entries import LONG, InItems, NewCheckpoint, NewWrites
from signoff.checkpoint.log.filing import Filed, filed
from signoff.checkpoint.log.heads import packed_moment
from signoff.checkpoint.log.known import Known
from signoff.checkpoint.log.memory import Memory
from signoff.checkpoint.log.plans import MAX_DEPTH, NewRow, NewWrite, rows_of
from signoff.checkpoint.log.shortening import short_id, short_path, short_task
from signoff.checkpoint.log.values import LARGE
from signoff.checkpoint.log.writes import unpacked_carried
from signoff.errors import NotStorable

__all__ = ["Ready", "made_ready"]

SMALL = 512
"""How many bytes a value may take."""


class Ready:
    """A commit whose rows are made. It can be had as any other entry, too."""

    __slots__ = ("_writes", "filing", "is_plain", "known", "ns", "parent_id", "row", "rows", "thread_id")

    is_small = True

    def __init__(
        self,
        place: Sequence[Any],
        row: NewRow | None,
        known: Known | None,
        filing: Filed | None,
        rows: Sequence[NewWrite] = (),
        writes: Sequence[NewWrites] = (),
    ) -> None:
        """
        row: that of the checkpoint, if it has one, with the writes that it carries.
        known: what is known of that, once it is stored.
        rows: those of writes that no checkpoint carries.
        writes: the same, as they are not short.
        """
        self.thread_id: str
        self.ns: str
        self.parent_id: str | None
        self.thread_id, self.ns, self.parent_id = place
        self.row = row
        self.known = known
        self.filing = filing
        self.rows = rows
        self._writes = writes
        self.is_plain = row is not None and row.parent_seal is not None and filing is None
        """Whether it is a checkpoint that stands on another one, and nothing else."""

    @property
    def checkpoint(self) -> NewCheckpoint | None:
        if self.row is None or self.known is None:
            return None
        body = unpacked(self.row.body)
        versions, values, _, gone = body.changes
        new = NewCheckpoint(self.known.id, values, versions, None if self.row.parent_seal is None else gone)
        new.fresh, new.seal, new.run_id = dict(values), self.row.seal, self.row.run_id  # type: ignore[arg-type]
        new.metadata, new.head = body.metadata, body.head
        return new

    @property
    def writes(self) -> Sequence[NewWrites]:
        if self.row is None or self.row.writes is None or self.parent_id is None:
            return self._writes
        return unpacked_carried(self.row.writes, self.parent_id)  # type: ignore[return-value]


def made_ready(serde: Any, memory: Memory, commits: Sequence[Commit], so_far: dict[int, Blob]) -> list[Ready] | None:
    """Commits with their rows, if all of them are like most.

    so_far: what is encoded on the way, by the identity of the values.
    """
    ready: list[Ready] = []
    try:
        for commit in commits:
            one = (_of_moment if commit.moment is not None else _of_writes)(serde, memory, commit, ready, so_far)
            if one is None:
                return None
            ready.append(one)
    except NotStorable:
        return None  # whoever encodes it with more care says what is wrong
    for one in ready:
        if one.known is not None:
            memory.go_ahead((one.thread_id, one.ns), one.known)
    return ready


def _of_moment(
    serde: Any, memory: Memory, commit: Commit, before: Sequence[Ready], so_far: dict[int, Blob]
) -> Ready | None:
    """A checkpoint with its row. Those before it are stored together with it."""
    moment, place, parent = commit.moment, commit.place, None
    assert moment is not None, "the engine has made it"
    thread_id, ns, parent_id = place
    if parent_id is not None:
        parent = memory.newest((thread_id, ns), parent_id) or _among(before, commit)
        if parent is None:
            return None
    values = _small(serde, moment, so_far)
    if values is None:
        return None
    carried: bytes | None = None
    # Without a checkpoint before there is nothing that writes could be kept with.
    if commit.writes and parent_id is not None:
        writes = _encoded(serde, commit, moment.changed, values, so_far)
        if writes is None:
            return None
        short = []
        for task_id, path, encoded in writes:
            short.append((short_task(task_id, parent_id), short_path(path), encoded))
        carried = packed(short)
    changes = made(Changes, (dict.fromkeys(values, moment.version), values, moment.gone, moment.gone))
    known = Known(moment.id, parent.depth + 1 if parent else 0, getrandbits(63), changes, parent)
    parent_seal, is_cut = parent.seal if parent else None, known.depth > MAX_DEPTH
    if is_cut:
        known.depth, parent_seal, changes = 0, None, known.held
    given, parents = moment.about
    if is_cut or given or parents or moment.stopped:
        metadata, head, run_id = packed_moment(serde, moment)
        body = packed_body(metadata, head, changes)
    else:
        run_id, body = None, packed_step(moment, values)
    row = made(NewRow, (ns, short_id(moment.id), parent_id and short_id(parent_id), parent_seal, known.depth, run_id,
                        known.seal, body, carried))  # fmt: skip
    return Ready(place, row, known, filed(serde, commit.filing) if commit.filing is not None else None)


def _among(before: Sequence[Ready], commit: Commit) -> Known | None:
    """What is known of the checkpoint that a commit stands on, if it is stored together with that."""
    for one in before:
        if one.known is not None and (one.thread_id, one.ns, one.known.id) == tuple(commit.place):
            return one.known
    return None


def _of_writes(
    serde: Any, memory: Memory, commit: Commit, before: Sequence[Ready], so_far: dict[int, Blob]
) -> Ready | None:
    """Writes with their rows, which are kept with a checkpoint that is there."""
    place = commit.place
    _, ns, id = place
    if id is None or commit.has_checkpoint:
        return None
    writes = _encoded(serde, commit, {}, {}, so_far)
    if writes is None:
        return None
    rows: list[NewWrite] = []
    for task_id, path, encoded in writes:
        rows += rows_of(ns, short_id(id), short_task(task_id, id), short_path(path), encoded)
    return Ready(place, None, None, filed(serde, commit.filing) if commit.filing is not None else None, rows, writes)


def _small(serde: Any, moment: Moment, so_far: dict[int, Blob]) -> dict[str, Blob] | None:
    """The values that changed, encoded; None if one of them is not kept in the row."""
    values: dict[str, Blob] = {}
    for name, value in moment.changed.items():
        if type(value) is list and len(value) >= LONG:
            return None
        blob = values[name] = so_far[id(value)] = serde.dumps_typed(value)
        if len(blob[1]) > SMALL:
            return None
    return values


def _encoded(
    serde: Any, commit: Commit, changed: Mapping[str, Any], values: Mapping[str, Blob], so_far: dict[int, Blob]
) -> list[NewWrites] | None:
    """What tasks wrote, encoded; None if something in it is not kept as it is, or one of them wrote twice.

    values: the values that the checkpoint has changed, encoded.
    """
    found: list[NewWrites] = []
    if len(commit.writes) > 1 and len(commit.writes) > len({task_id for task_id, _, _ in commit.writes}):
        return None
    for task_id, writes, path in commit.writes:
        encoded: list[tuple[int, str, Blob | InItems]] = []
        for at, (name, value) in enumerate(writes):
            # Most written values are what the channel holds then.
            if name in changed and changed[name] is value:
                blob = values[name]
            else:
                blob = so_far[id(value)] = serde.dumps_typed(value)
            if len(blob[1]) > LARGE:
                return None
            encoded.append((WRITES_IDX_MAP.get(name, at), name, blob))
        found.append((task_id, path, encoded))
    return found
