"""Appending to the log: the procedure on the hot path. One step is one transaction of two statements."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from signoff._sqlite.effects import Change, Execute, ExecuteMany, in_transaction
from signoff.checkpoint.delta import NOTHING, Delta, between, delta_of, folded, packed
from signoff.checkpoint.encoding import Blob, encoded
from signoff.checkpoint.places import Place
from signoff.checkpoint.sqlite.memo import Known, Memo
from signoff.checkpoint.sqlite.reading import fetch_chain
from signoff.checkpoint.sqlite.rewriting import make_roots_of_children
from signoff.checkpoint.sqlite.rows import Entry, NewCheckpoint, snapshot_of
from signoff.steps import Steps

__all__ = ["MAX_DEPTH", "append"]

MAX_DEPTH = 31
"""How far a checkpoint may be from its snapshot: a cold read walks at most one row more."""

# The parent of a delta is looked for in the same breath: another process may have removed the thread.
_INSERT = """
    INSERT INTO signoff_checkpoints (thread_id, ns, parent_id, id, depth, metadata, run_id, head, changes)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE ?5 = 0 OR EXISTS (
        SELECT 1 FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ?2 AND id = ?3
    )
"""

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
            known = yield from _parent(memo, news, place, checkpoint.id)
            news[place[:2]] = yield from _store(serde, place, checkpoint, known)


def _parent(memo: Memo, news: _News, place: Place, id: str) -> Steps[Known | None]:
    """What is known of the parent; None if there is none to build on."""
    thread_id, ns, parent_id = place
    if parent_id is None or parent_id == id:
        return None
    known = news.get((thread_id, ns))
    if known is None or known.id != parent_id:
        known = memo.get(thread_id, ns, parent_id)
    if known is None:
        chain = yield from fetch_chain((thread_id, ns, parent_id))
        return Known(parent_id, chain[-1].depth, snapshot_of(chain).shape) if chain else None
    return known


def _store(serde: Any, place: Place, checkpoint: NewCheckpoint, parent: Known | None) -> Steps[Known]:
    def encode(name: str) -> Blob:
        return encoded(serde, name, checkpoint.values[name])

    delta = between(parent.shape if parent else NOTHING, checkpoint.shape, checkpoint.blobs, encode)
    depth = parent.depth + 1 if parent else 0
    if parent and depth > MAX_DEPTH:
        delta, depth = (yield from _whole(place, parent, delta)), 0
    is_stored = yield from _insert(place, checkpoint, depth, delta)
    if not is_stored:
        return (yield from _store(serde, place, checkpoint, None))
    return Known(checkpoint.id, depth, checkpoint.shape)


def _whole(place: Place, parent: Known, delta: Delta) -> Steps[Delta]:
    """A snapshot, made of bytes that are stored already: values may have changed since."""
    chain = yield from fetch_chain((place.thread_id, place.ns, parent.id))
    return folded([*(delta_of(record.changes) for record in chain), delta])


def _insert(place: Place, checkpoint: NewCheckpoint, depth: int, delta: Delta) -> Steps[bool]:
    """Store a row; whether the parent that it needs was there."""
    id, metadata, run_id, head = checkpoint[:4]
    insert = Change(_INSERT, (*place, id, depth, metadata, run_id, head, packed(delta)))
    try:
        count: int = yield insert
    except sqlite3.IntegrityError:  # the same checkpoint again: it takes the place of the old one
        yield from make_roots_of_children((place.thread_id, place.ns, id))
        yield Execute(_DELETE, (place.thread_id, place.ns, id))
        count = yield insert
    return count > 0
