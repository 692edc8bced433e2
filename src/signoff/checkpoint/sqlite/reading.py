"""Reading: the procedures that find checkpoints and put them together again."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from signoff._sqlite.effects import Execute, Find, Row, in_transaction
from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import CheckpointTuple
from signoff.checkpoint.places import Place, Selection, checked_limit
from signoff.checkpoint.sqlite.memo import Known, Memo
from signoff.checkpoint.sqlite.rows import Key, Record, as_tuple, chain_of, record_of, whole
from signoff.steps import Steps

__all__ = ["fetch_chain", "find", "load", "pages", "read"]

PAGE = 32
"""How many checkpoints of a list are loaded at a time."""

_ROW = "id, parent_id, depth, changes, metadata, head"

# The depth falls from each row to the one below, so that no file, whatever is in it, makes this go on for ever.
_CHAIN = f"""
    WITH RECURSIVE chain (id, parent_id, depth, changes, metadata, head) AS (
        SELECT * FROM (
            SELECT {_ROW} FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ?2 {{which}}
        )
        UNION ALL
        SELECT below.id, below.parent_id, below.depth, below.changes, NULL, NULL
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
    chain, writes = yield from in_transaction("read", _fetch(place))
    if not chain:
        return None
    record, held = chain[-1], whole(chain)
    memo.learn([(place[:2], Known(record.key[2], record.depth, held.shape))])
    return as_tuple(serde, record, held, writes)


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
    records, writes = yield from in_transaction("read", _fetch_page(keys))
    found = [records[key] for key in keys if key in writes]
    return [as_tuple(serde, record, whole(chain_of(record.key, records)), writes[record.key]) for record in found]


def fetch_chain(place: Place | Key) -> Steps[list[Record]]:
    """The rows that make up a checkpoint, from its snapshot on; none if there is no such checkpoint."""
    thread_id, ns, id = place
    if id is None:
        rows = yield Execute(_CHAIN_OF_HEAD, (thread_id, ns))
    else:
        rows = yield Execute(_CHAIN_BY_ID, place)
    chain = [record_of(thread_id, ns, row) for row in rows]
    return chain_of(chain[0].key, {record.key: record for record in chain}) if chain else []


def _fetch(place: Place) -> Steps[tuple[list[Record], Sequence[Row]]]:
    chain = yield from fetch_chain(place)
    return chain, (yield Execute(_WRITES, chain[-1].key)) if chain else ()


def _fetch_page(keys: Sequence[Key]) -> Steps[tuple[dict[Key, Record], dict[Key, Sequence[Row]]]]:
    """The rows of a page and of all that they stand on, by key; and the writes kept with those of the page."""
    records: dict[Key, Record] = {}
    writes: dict[Key, Sequence[Row]] = {}
    for key in keys:
        for row in (yield Execute(_RECORD, key)):
            records[key] = record_of(key[0], key[1], row)
            writes[key] = yield Execute(_WRITES, key)
    for key in writes:
        record = records[key]
        below = (*key[:2], record.parent_id or "")
        if record.depth > 0 and below not in records:
            chain = yield from fetch_chain(below)
            records.update({record.key: record for record in chain})
    return records, writes


def _conditions(selection: Selection) -> tuple[str, list[str]]:
    conditions = zip(("thread_id = ?", "ns = ?", "id = ?", "id < ?"), selection, strict=True)
    given = [(condition, value) for condition, value in conditions if value is not None]
    where = f"WHERE {' AND '.join(condition for condition, _ in given)}" if given else ""
    return where, [value for _, value in given]


def _execute(effect: Any) -> Steps[Any]:
    return (yield effect)
