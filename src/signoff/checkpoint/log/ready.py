"""Steps that are ready to be stored when they are prepared: their rows are made at once.

Most steps change a few small values, and come right after another one. A row is little to keep until it is stored; and
whoever stores it has only to see that the checkpoint below is there. If it is not, the row is taken apart again.
"""

from collections.abc import Sequence
from random import getrandbits
from typing import Any

from signoff.checkpoint.base import WRITES_IDX_MAP, Commit, Moment
from signoff.checkpoint.encoding import Blob, packed
from signoff.checkpoint.log.body import Changes, packed_step, unpacked
from signoff.checkpoint.log.body import packed as packed_body
from signoff.checkpoint.log.entries import LONG, NewCheckpoint, NewWrites
from signoff.checkpoint.log.heads import packed_moment
from signoff.checkpoint.log.known import Known
from signoff.checkpoint.log.memory import Memory
from signoff.checkpoint.log.plans import MAX_DEPTH, NewRow
from signoff.checkpoint.log.shortening import short_id, short_path, short_task
from signoff.checkpoint.log.values import LARGE
from signoff.checkpoint.log.writes import unpacked_carried
from signoff.errors import NotStorable

__all__ = ["Ready", "made_ready"]

SMALL = 512
"""How many bytes a value may take."""


class Ready:
    """A commit whose row is made. It can be had as any other entry, too."""

    __slots__ = ("known", "ns", "parent_id", "row", "thread_id")

    filing = None
    is_small = True

    def __init__(self, place: Sequence[Any], row: NewRow, known: Known) -> None:
        self.thread_id: str
        self.ns: str
        self.parent_id: str
        self.thread_id, self.ns, self.parent_id = place
        self.row = row
        self.known = known
        """What is known of the checkpoint, once it is stored."""

    @property
    def checkpoint(self) -> NewCheckpoint:
        made = unpacked(self.row.body)
        versions, values, _, gone = made.changes
        new = NewCheckpoint(self.known.id, values, versions, None if self.row.parent_seal is None else gone)
        new.fresh, new.seal, new.run_id = dict(values), self.row.seal, self.row.run_id  # type: ignore[arg-type]
        new.metadata, new.head = made.metadata, made.head
        return new

    @property
    def writes(self) -> Sequence[NewWrites]:
        return unpacked_carried(self.row.writes, self.parent_id) if self.row.writes else ()  # type: ignore[return-value]


def made_ready(serde: Any, memory: Memory, commit: Commit) -> Ready | None:
    """A commit with its row, if it is a step like most."""
    moment, place = commit.moment, commit.place
    if moment is None or commit.filing is not None:
        return None
    thread_id, ns, parent_id = place
    parent = memory.newest((thread_id, ns), parent_id)
    if parent is None or parent_id is None:
        return None
    try:
        values = _small(serde, moment)
        writes = _carried(serde, commit, moment, values, parent_id) if values is not None else None
    except NotStorable:
        return None  # whoever encodes it with more care says what is wrong
    if values is None or writes is None:
        return None
    changes = Changes(dict.fromkeys(values, moment.version), values, moment.gone, moment.gone)
    known = Known(moment.id, parent.depth + 1, getrandbits(63), changes, parent)
    parent_seal: int | None = parent.seal
    given, parents = moment.about
    if known.depth > MAX_DEPTH:
        known.depth, parent_seal, changes = 0, None, known.held
    if parent_seal is None or given or parents or moment.stopped:
        metadata, head, run_id = packed_moment(serde, moment)
        body = packed_body(metadata, head, changes)
    else:
        run_id, body = None, packed_step(moment, values)
    row = NewRow(ns, short_id(moment.id), short_id(parent_id), parent_seal, known.depth, run_id, known.seal,
                 body, packed(writes) if writes else None)  # fmt: skip
    memory.go_ahead((thread_id, ns), known)
    return Ready(place, row, known)


def _small(serde: Any, moment: Moment) -> dict[str, Blob] | None:
    """The values that changed, encoded; None if one of them is not kept in the row."""
    values: dict[str, Blob] = {}
    for name, value in moment.changed.items():
        if type(value) is list and len(value) >= LONG:
            return None
        blob = values[name] = serde.dumps_typed(value)
        if len(blob[1]) > SMALL:
            return None
    return values


def _carried(
    serde: Any, commit: Commit, moment: Moment, values: dict[str, Blob], parent_id: str
) -> list[tuple[str, str, list[tuple[int, str, Blob]]]] | None:
    """What tasks wrote, encoded; None if something in it is not kept in the row, or one of them wrote twice."""
    changed = moment.changed
    carried = []
    if len(commit.writes) > 1 and len(commit.writes) > len({task_id for task_id, _, _ in commit.writes}):
        return None
    for task_id, writes, path in commit.writes:
        encoded: list[tuple[int, str, Blob]] = []
        for at, (name, value) in enumerate(writes):
            # Most written values are what the channel holds then.
            blob = values[name] if name in changed and changed[name] is value else serde.dumps_typed(value)
            if len(blob[1]) > LARGE:
                return None
            encoded.append((WRITES_IDX_MAP.get(name, at), name, blob))
        carried.append((short_task(task_id, parent_id), short_path(path), encoded))
    return carried
