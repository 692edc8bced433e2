"""Appending to the log: the procedure on the hot path. One step is one transaction of two statements."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from signoff._sqlite.effects import Execute, ExecuteMany, in_transaction
from signoff.checkpoint.delta import NOTHING, Delta, between, folded, packed
from signoff.checkpoint.encoding import Blob, encoded
from signoff.checkpoint.places import Place
from signoff.checkpoint.sqlite.memo import Known, Memo
from signoff.checkpoint.sqlite.reading import fetch_chain
from signoff.checkpoint.sqlite.rewriting import make_roots_of_children
from signoff.checkpoint.sqlite.rows import Entry, NewCheckpoint, whole
from signoff.steps import Steps

__all__ = ["MAX_DEPTH", "append"]

MAX_DEPTH = 31
"""How far a checkpoint may be from its snapshot: a cold read walks at most one row more."""

_INSERT = """
    INSERT INTO signoff_checkpoints (thread_id, ns, parent_id, id, depth, metadata, run_id, head, changes)
    VALUES (?1, ?2, ?3, ?4, {depth}, ?6, ?7, ?8, ?9)
"""

_INSERT_SNAPSHOT = _INSERT.format(depth="?5")

# The parent is looked for in the same breath, since another process may have removed it meanwhile: then there
# is no depth, and the table refuses the row.
_INSERT_CHILD = _INSERT.format(
    depth="(SELECT ?5 FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ?2 AND id = ?3)"
)

# What a task writes twice is kept once, but its errors, questions and answers replace each other.
_INSERT_WRITES = """
    INSERT INTO signoff_writes (thread_id, ns, checkpoint_id, task_id, idx, path, channel, type, value)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (thread_id, ns, checkpoint_id, task_id, idx) DO UPDATE
    SET path = excluded.path, channel = excluded.channel, type = excluded.type, value = excluded.value
    WHERE excluded.idx < 0
"""

_DELETE = "DELETE FROM signoff_checkpoints WHERE thread_id = ? AND ns = ? AND id = ?"

_News = dict[tuple[str, str], Known]


def append(serde: Any, memo: Memo, entries: Sequence[Entry]) -> Steps[None]:
    """Store commits: all of them, or, if anything goes wrong, none."""
    news: _News = {}
    yield from in_transaction("write", _append(serde, memo, news, entries))
    # Not before it is stored: what is remembered must be in the file.
    memo.learn(news.items())


def _append(serde: Any, memo: Memo, news: _News, entries: Sequence[Entry]) -> Steps[None]:
    for place, writes, checkpoint in entries:
        if writes:
            yield ExecuteMany(_INSERT_WRITES, writes)
        if checkpoint is not None:
            parent = _remembered(memo, news, place)
            if parent is None and place.id is not None:
                parent = yield from _looked_up(place, place.id)
            if parent is not None and parent.id == checkpoint.id:
                parent = None  # nothing can stand on itself
            news[place[:2]] = yield from _store(serde, place, checkpoint, parent)


def _remembered(memo: Memo, news: _News, place: Place) -> Known | None:
    thread_id, ns, parent_id = place
    if parent_id is None:
        return None
    known = news.get((thread_id, ns))
    return known if known is not None and known.id == parent_id else memo.get(thread_id, ns, parent_id)


def _looked_up(place: Place, parent_id: str) -> Steps[Known | None]:
    chain = yield from fetch_chain((place.thread_id, place.ns, parent_id))
    return Known(parent_id, chain[-1].depth, whole(chain).shape) if chain else None


def _store(serde: Any, place: Place, checkpoint: NewCheckpoint, parent: Known | None) -> Steps[Known]:
    """Store a checkpoint as a child of the parent, or without one, and now and then anyway, as a snapshot."""

    def encode(name: str) -> Blob:
        return encoded(serde, name, checkpoint.values[name])

    delta = between(parent.shape if parent else NOTHING, checkpoint.shape, checkpoint.blobs, encode)
    depth = parent.depth + 1 if parent else 0
    if parent and depth > MAX_DEPTH:
        delta, depth = (yield from _folded_with(place, parent, delta)), 0
    is_stored = yield from _insert(place, checkpoint, depth, delta)
    if not is_stored:
        return (yield from _store(serde, place, checkpoint, None))
    return Known(checkpoint.id, depth, checkpoint.shape)


def _folded_with(place: Place, parent: Known, delta: Delta) -> Steps[Delta]:
    """A snapshot made of bytes that are stored already: the values themselves may have changed since."""
    chain = yield from fetch_chain((place.thread_id, place.ns, parent.id))
    return folded([*(record.delta for record in chain), delta])


def _insert(place: Place, checkpoint: NewCheckpoint, depth: int, delta: Delta) -> Steps[bool]:
    """Store a row; whether the parent that it stands on was there."""
    id, metadata, run_id, head = checkpoint[:4]
    params = (*place, id, depth, metadata, run_id, head, packed(delta))
    insert = Execute(_INSERT_CHILD if depth else _INSERT_SNAPSHOT, params)
    try:
        yield insert
    except sqlite3.IntegrityError as error:
        if error.sqlite_errorname == "SQLITE_CONSTRAINT_NOTNULL":
            return False
        # The same checkpoint again takes the place of the old one.
        yield from make_roots_of_children((place.thread_id, place.ns, id))
        yield Execute(_DELETE, (place.thread_id, place.ns, id))
        yield insert
    return True
