"""Reading: the procedures that find checkpoints and put them together again."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from signoff._sqlite.effects import Execute, Find, Row, in_transaction
from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import CheckpointTuple
from signoff.checkpoint.places import Place, Selection, checked_limit, selection_of
from signoff.checkpoint.sqlite.memo import Known, Memo
from signoff.checkpoint.sqlite.rows import COLUMNS, Key, Record, as_tuple, chain_of, record_of, snapshot_of
from signoff.config import RunnableConfig
from signoff.steps import Steps

__all__ = ["fetch_chain", "find", "load", "pages", "read"]

PAGE = 32
"""How many checkpoints of a list are loaded at a time."""

_HEAD = "SELECT thread_id, ns, id FROM signoff_checkpoints WHERE thread_id = ? AND ns = ? ORDER BY id DESC LIMIT 1"

# The depth falls from each row to the one it stands on, so that no file, whatever is in it, makes this go on for ever.
_CHAINS = f"""
    WITH RECURSIVE wanted (thread_id, ns, id) AS ({{wanted}}),
    chain (thread_id, ns, id, parent_id, depth) AS (
        SELECT thread_id, ns, id, parent_id, depth FROM wanted CROSS JOIN signoff_checkpoints USING (thread_id, ns, id)
        UNION
        SELECT below.thread_id, below.ns, below.id, below.parent_id, below.depth
        FROM chain CROSS JOIN signoff_checkpoints AS below
        ON below.thread_id = chain.thread_id AND below.ns = chain.ns AND below.id = chain.parent_id
        WHERE below.depth < chain.depth
    )
    SELECT {", ".join(f"log.{name}" for name in COLUMNS.split(", "))}
    FROM chain CROSS JOIN signoff_checkpoints AS log USING (thread_id, ns, id)
"""

_WRITES = """
    WITH wanted (thread_id, ns, checkpoint_id) AS ({wanted})
    SELECT thread_id, ns, checkpoint_id, task_id, channel, type, value
    FROM wanted CROSS JOIN signoff_writes USING (thread_id, ns, checkpoint_id)
    ORDER BY thread_id, ns, checkpoint_id, path, task_id, idx
"""


def read(serde: Any, memo: Memo, place: Place) -> Steps[CheckpointTuple | None]:
    """The checkpoint at a place."""
    records, writes = yield from in_transaction("read", _fetch(*_one(place)))
    if not records:
        return None
    key = place.thread_id, place.ns, place.id or max(id for _, _, id in records)
    chain = chain_of(key, records)
    whole = snapshot_of(chain)
    memo.learn([(key[:2], Known(key[2], chain[-1].depth, whole.shape))])
    return as_tuple(serde, chain[-1], whole, writes.get(key, ()))


def find(
    config: RunnableConfig | None,
    filter: Mapping[str, Any] | None,
    before: RunnableConfig | None,
    limit: int | None,
) -> Steps[list[Key]]:
    """Where the checkpoints are that a list is to have, newest first."""
    where, params = _conditions(selection_of(config, before))
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
    records, writes = yield from in_transaction("read", _fetch(*_listed(keys)))
    chains = [chain_of(key, records) for key in keys if key in records]
    return [as_tuple(serde, chain[-1], snapshot_of(chain), writes.get(chain[-1].key, ())) for chain in chains]


def fetch_chain(key: Key) -> Steps[list[Record]]:
    """The rows that make up a checkpoint, from its snapshot on; none if there is no such checkpoint."""
    rows = yield Execute(_CHAINS.format(wanted="VALUES (?, ?, ?)"), key)
    records = {record.key: record for record in map(record_of, rows)}
    return chain_of(key, records) if records else []


def _fetch(wanted: str, params: Sequence[str]) -> Steps[tuple[dict[Key, Record], dict[Key, list[Row]]]]:
    """All rows of the log that the wanted checkpoints stand on, and the writes kept with them."""
    rows = yield Execute(_CHAINS.format(wanted=wanted), params)
    writes = yield Execute(_WRITES.format(wanted=wanted), params)
    records = {record.key: record for record in map(record_of, rows)}
    return records, {key: [row[3:] for row in group] for key, group in groupby(writes, lambda row: tuple(row[:3]))}


def _one(place: Place) -> tuple[str, Sequence[str]]:
    if place.id is None:
        return _HEAD, place[:2]
    return "VALUES (?, ?, ?)", (place.thread_id, place.ns, place.id)


def _listed(keys: Sequence[Key]) -> tuple[str, Sequence[str]]:
    return f"VALUES {', '.join(['(?, ?, ?)'] * len(keys))}", [part for key in keys for part in key]


def _conditions(selection: Selection) -> tuple[str, list[str]]:
    conditions = zip(("thread_id = ?", "ns = ?", "id = ?", "id < ?"), selection, strict=True)
    given = [(condition, value) for condition, value in conditions if value is not None]
    where = f"WHERE {' AND '.join(condition for condition, _ in given)}" if given else ""
    return where, [value for _, value in given]


def _execute(effect: Any) -> Steps[Any]:
    return (yield effect)
