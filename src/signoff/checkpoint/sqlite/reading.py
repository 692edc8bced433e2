"""Reading: the procedures that find checkpoints and put them together again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from signoff._sqlite.effects import Execute, Find, Row, in_transaction
from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import CheckpointTuple, Standing
from signoff.checkpoint.places import Place, Selection, checked_limit
from signoff.checkpoint.sqlite import leasing
from signoff.checkpoint.sqlite.memo import Known, Memo
from signoff.checkpoint.sqlite.rows import Key, Record, as_tuple, chained, on_top
from signoff.steps import Steps

__all__ = ["fetch", "find", "load", "look", "pages", "read"]

PAGE = 32
"""How many checkpoints of a list are loaded at a time."""

_ROW = "id, parent_id, depth, changes, seal, metadata, head"

# The depth falls from each row to the one below, so that no file, whatever is in it, makes this go on for ever.
_CHAIN = f"""
    WITH RECURSIVE chain ({_ROW}) AS (
        SELECT * FROM (
            SELECT {_ROW} FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ?2 {{which}}
        )
        UNION ALL
        SELECT below.id, below.parent_id, below.depth, below.changes, NULL, NULL, NULL
        FROM chain CROSS JOIN signoff_checkpoints AS below
        ON below.thread_id = ?1 AND below.ns = ?2 AND below.id = chain.parent_id
        WHERE below.depth < chain.depth
    )
    SELECT * FROM chain
"""

_CHAIN_OF_HEAD = _CHAIN.format(which="ORDER BY id DESC LIMIT 1")

_CHAIN_BY_ID = _CHAIN.format(which="AND id = ?3")

_RECORD = f"SELECT {_ROW} FROM signoff_checkpoints WHERE thread_id = ? AND ns = ? AND id = ?"

_WRITES = """
    SELECT task_id, channel, type, value FROM signoff_writes
    WHERE thread_id = ? AND ns = ? AND checkpoint_id = ? ORDER BY path, task_id, idx
"""


def read(serde: Any, memo: Memo, place: Place) -> Steps[CheckpointTuple | None]:
    """The checkpoint at a place."""
    found = yield from in_transaction("read", _fetch_with_writes(place))
    return _learned(serde, memo, place, found)


def look(serde: Any, memo: Memo, place: Place, now: float) -> Steps[tuple[CheckpointTuple | None, Standing]]:
    """The checkpoint at a place, and how its thread stands at the same moment."""
    found, standing = yield from in_transaction("read", _fetch_with_standing(place, now))
    return _learned(serde, memo, place, found), standing


def _fetch_with_standing(place: Place, now: float) -> Steps[Any]:
    standing = yield from leasing.standing(place.thread_id, now)
    return (yield from _fetch_with_writes(place)), standing


def _learned(
    serde: Any, memo: Memo, place: Place, found: tuple[Record, Sequence[Row]] | None
) -> CheckpointTuple | None:
    if found is None:
        return None
    record, writes = found
    memo.learn([(place[:2], Known(record.key[2], record.depth, record.seal, record.held.shape))])
    return as_tuple(serde, record, writes)


def find(selection: Selection, filter: Mapping[str, Any] | None, limit: int | None) -> Steps[list[Key]]:
    """Where the checkpoints are that a list is to have, newest first."""
    where, params = _conditions(selection)
    sql = f"SELECT thread_id, ns, id, metadata FROM signoff_checkpoints {where} ORDER BY id DESC, thread_id, ns"
    wanted = dict(filter or {})

    def is_wanted(row: Row) -> bool:
        return not wanted or _metadata.has_all(_metadata.of_text(row[3]), wanted)

    rows = yield from in_transaction("read", _execute(Find(sql, params, is_wanted, checked_limit(limit))))
    return [(row[0], row[1], row[2]) for row in rows]


def pages(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """The keys in groups that are loaded together."""
    return (keys[start : start + PAGE] for start in range(0, len(keys), PAGE))


def load(serde: Any, keys: Sequence[Key]) -> Steps[list[CheckpointTuple]]:
    """The checkpoints with these keys; those that are gone meanwhile are left out."""
    found = yield from in_transaction("read", _fetch_page(keys))
    return [as_tuple(serde, *found[key]) for key in keys if key in found]


def fetch(place: Place | Key) -> Steps[Record | None]:
    """The checkpoint at a place as it is stored."""
    thread_id, ns, id = place
    rows = yield Execute(_CHAIN_BY_ID, place) if id is not None else Execute(_CHAIN_OF_HEAD, (thread_id, ns))
    return chained(thread_id, ns, rows) if rows else None


def _fetch_with_writes(place: Place) -> Steps[tuple[Record, Sequence[Row]] | None]:
    record = yield from fetch(place)
    return (record, (yield Execute(_WRITES, record.key))) if record else None


def _fetch_page(keys: Sequence[Key]) -> Steps[dict[Key, tuple[Record, Sequence[Row]]]]:
    """Checkpoints with their writes, by key."""
    found: dict[Key, tuple[Record, Sequence[Row]]] = {}
    for key in reversed(keys):  # from the oldest on, so that most find what they stand on
        record = yield from _fetch_on_top(key, found)
        if record is not None:
            found[key] = record, (yield Execute(_WRITES, key))
    return found


def _fetch_on_top(key: Key, found: Mapping[Key, tuple[Record, Sequence[Row]]]) -> Steps[Record | None]:
    """A checkpoint as it is stored; quicker if the one that it stands on was found already."""
    rows = yield Execute(_RECORD, key)
    if not rows:
        return None
    below = found.get((key[0], key[1], rows[0][1]))
    record = on_top(below[0], rows[0]) if below else None
    return record or (yield from fetch(key))


def _conditions(selection: Selection) -> tuple[str, list[str]]:
    conditions = zip(("thread_id = ?", "ns = ?", "id = ?", "id < ?"), selection, strict=True)
    given = [(condition, value) for condition, value in conditions if value is not None]
    where = f"WHERE {' AND '.join(condition for condition, _ in given)}" if given else ""
    return where, [value for _, value in given]


def _execute(effect: Any) -> Steps[Any]:
    return (yield effect)
