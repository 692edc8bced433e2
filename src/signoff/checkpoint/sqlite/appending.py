"""Appending to the log: the procedure on the hot path. One step is one transaction of two statements."""

import sqlite3
from collections.abc import Sequence
from random import getrandbits
from typing import Any

from signoff._sqlite.effects import Execute, ExecuteMany, Expect, Write, in_transaction
from signoff.checkpoint.delta import NOTHING, Delta, Shape, between, folded, packed
from signoff.checkpoint.encoding import Blob, encoded_values
from signoff.checkpoint.places import Place
from signoff.checkpoint.sqlite.leasing import Hold
from signoff.checkpoint.sqlite.memo import Known, Memo
from signoff.checkpoint.sqlite.reading import fetch
from signoff.checkpoint.sqlite.rewriting import make_roots_of_children
from signoff.checkpoint.sqlite.rows import Entry, Key, NewCheckpoint, Record
from signoff.steps import Steps

__all__ = ["MAX_DEPTH", "append"]

MAX_DEPTH = 31
"""How far a checkpoint may be from its snapshot: a cold read walks at most one row more."""

_INSERT = """
    INSERT INTO signoff_checkpoints (thread_id, ns, parent_id, id, metadata, run_id, head, seal, changes, depth)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, {depth})
"""

_INSERT_SNAPSHOT = _INSERT.format(depth="0")

# The parent is looked for in the same breath, since another process may have removed or replaced it meanwhile:
# then there is no depth, and the table refuses the row.
_INSERT_CHILD = _INSERT.format(
    depth="(SELECT ?10 FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ?2 AND id = ?3 AND seal = ?11)"
)

# What a task writes twice is kept once, but its errors, questions and answers replace each other.
_INSERT_WRITES = """
    INSERT INTO signoff_writes (thread_id, ns, checkpoint_id, task_id, idx, path, channel, type, value)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (thread_id, ns, checkpoint_id, task_id, idx) DO UPDATE
    SET path = excluded.path, channel = excluded.channel, type = excluded.type, value = excluded.value
    WHERE excluded.idx < 0
"""

_IS_THERE = "SELECT 1 FROM signoff_checkpoints WHERE thread_id = ? AND ns = ? AND id = ?"

_DELETE = "DELETE FROM signoff_checkpoints WHERE thread_id = ? AND ns = ? AND id = ?"

_Statements = list[Execute | ExecuteMany | Expect]

_News = dict[tuple[str, str], Known]
"""What a transaction stores, to be remembered when it is over."""


def append(serde: Any, memo: Memo, entries: Sequence[Entry], hold: Hold | None = None) -> Steps[None]:
    """Store commits: all of them, or, if anything goes wrong, none."""
    news: _News = {}
    is_plain = hold is None or not hold.takes
    statements = _planned(serde, memo, news, entries) if is_plain else None
    try:
        if statements is not None:
            yield Write(statements if hold is None else [hold.guard(), *statements])
    except sqlite3.IntegrityError:
        statements = None  # a parent has gone, or a checkpoint is there already
    if statements is None:
        news.clear()
        epoch = yield from in_transaction("write", _looking(serde, memo, news, entries, hold))
        if hold is not None:
            hold.lease.epoch = epoch
    # Not before it is stored: what is remembered must be in the file.
    memo.learn(news.items())


def _planned(serde: Any, memo: Memo, news: _News, entries: Sequence[Entry]) -> _Statements | None:
    """The statements for commits about which nothing has to be looked up; so it is with almost every step."""
    statements: _Statements = []
    for place, writes, checkpoint, filing in entries:
        statements += filing
        if writes:
            statements.append(ExecuteMany(_INSERT_WRITES, writes))
        if checkpoint is not None:
            parent = _remembered(memo, news, place)
            if place.id is not None and (parent is None or parent.depth >= MAX_DEPTH):
                return None
            delta = _delta(serde, checkpoint, parent.shape if parent else NOTHING)
            statement, news[place[:2]] = _insert(place, checkpoint, delta, parent)
            statements.append(statement)
    return statements


def _looking(serde: Any, memo: Memo, news: _News, entries: Sequence[Entry], hold: Hold | None) -> Steps[int]:
    """Store commits, but look at what there is before each. Returns the epoch of the thread, if it is held."""
    epoch = 0
    if hold is not None and hold.takes:
        epoch = yield from hold.take()
    elif hold is not None:
        yield hold.guard()
        epoch = hold.lease.epoch
    yield from _store_looking(serde, news, entries)
    return epoch


def _store_looking(serde: Any, news: _News, entries: Sequence[Entry]) -> Steps[None]:
    for place, writes, checkpoint, filing in entries:
        for statement in filing:
            yield statement
        if writes:
            yield ExecuteMany(_INSERT_WRITES, writes)
        if checkpoint is not None:
            yield from _make_way((place.thread_id, place.ns, checkpoint.id))
            parent = (yield from fetch(place)) if place.id is not None else None
            news[place[:2]] = yield from _stand_on(serde, parent, place, checkpoint)


def _stand_on(serde: Any, parent: Record | None, place: Place, checkpoint: NewCheckpoint) -> Steps[Known]:
    """Store a checkpoint that stands on another; if that is deep, or there is none, as a snapshot."""
    delta = _delta(serde, checkpoint, parent.held.shape if parent else NOTHING)
    if parent is not None and parent.depth >= MAX_DEPTH:
        # Made of bytes that are stored already: the values themselves may have changed since.
        delta, parent = folded([parent.held, delta]), None
    statement, known = _insert(place, checkpoint, delta, parent)
    yield statement
    return known


def _make_way(key: Key) -> Steps[None]:
    """A checkpoint that is stored again takes the place of the old one; who stands on that keeps what it has."""
    if (yield Execute(_IS_THERE, key)):
        yield from make_roots_of_children(key)
        yield Execute(_DELETE, key)


def _remembered(memo: Memo, news: _News, place: Place) -> Known | None:
    thread_id, ns, parent_id = place
    if parent_id is None:
        return None
    known = news.get((thread_id, ns))
    return known if known is not None and known.id == parent_id else memo.get(thread_id, ns, parent_id)


def _delta(serde: Any, checkpoint: NewCheckpoint, before: Shape) -> Delta:
    def encode(name: str) -> Blob:
        return encoded_values(serde, checkpoint.values, [name])[name]

    return between(before, checkpoint.shape, checkpoint.blobs, encode)


def _insert(
    place: Place, checkpoint: NewCheckpoint, delta: Delta, parent: Known | Record | None
) -> tuple[Execute, Known]:
    """The statement that stores a checkpoint, as a child or as a snapshot, and what is then known of it."""
    seal, depth = getrandbits(63), parent.depth + 1 if parent else 0
    params = (*place, *checkpoint[:4], seal, packed(delta))
    statement = Execute(_INSERT_CHILD, (*params, depth, parent.seal)) if parent else Execute(_INSERT_SNAPSHOT, params)
    return statement, Known(checkpoint.id, depth, seal, checkpoint.shape)
