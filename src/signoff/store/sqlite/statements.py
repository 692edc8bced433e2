"""The store's procedures, written once for sync and async: each asks for statements, is told their rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from signoff._sqlite.effects import Execute, Row, in_transaction
from signoff.steps import Steps
from signoff.store._batches import checked, final_puts, listed
from signoff.store._indexing import Index, embed_puts, embed_queries
from signoff.store._lifetimes import expiry, horizon
from signoff.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchOp,
    TTLConfig,
)
from signoff.store.sqlite.rows import COLUMNS, as_item, as_namespace, as_text, encoded
from signoff.store.sqlite.searching import IS_SEEN, by_chunks, search, under

__all__ = ["Settings", "batch", "sweep"]

_GET = f"SELECT {COLUMNS} FROM signoff_store WHERE namespace = ? AND key = ? AND {IS_SEEN}"

# A namespace keeps its rank while it holds items. An item keeps its id, and its birth unless it had expired.
_PUT = """
    INSERT INTO signoff_store
        (namespace, key, value, created_at, updated_at, ttl_minutes, expires_at, namespace_rank)
    VALUES (?1, ?2, ?3, ?4, ?4, ?5, ?6, COALESCE(
        (SELECT namespace_rank FROM signoff_store WHERE namespace = ?1 LIMIT 1),
        (SELECT COALESCE(MAX(namespace_rank), 0) + 1 FROM signoff_store)
    ))
    ON CONFLICT (namespace, key) DO UPDATE SET
        created_at = CASE WHEN expires_at <= ?7 THEN excluded.created_at ELSE created_at END,
        value = excluded.value,
        updated_at = excluded.updated_at,
        ttl_minutes = excluded.ttl_minutes,
        expires_at = excluded.expires_at
"""

_PUT_VECTOR = """
    INSERT INTO signoff_store_vectors (item_id, position, embedding)
    SELECT id, ?, ? FROM signoff_store WHERE namespace = ? AND key = ?
"""

_DELETE = "DELETE FROM signoff_store WHERE namespace = ? AND key = ?"

_SWEEP = "DELETE FROM signoff_store WHERE expires_at <= ?"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the procedures need to know of a store."""

    index: Index | None
    ttl: TTLConfig | None
    load: Callable[[str], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Write:
    """A put, ready to be executed: all that could be refused in it was looked at."""

    op: PutOp
    text: str | None
    vectors: Sequence[bytes]


def batch(settings: Settings, ops: Iterable[Op], now: float) -> Steps[list[Result]]:
    """Perform operations in one transaction; reads see what was there before."""
    known = checked(ops)
    if not known:
        return []
    puts = final_puts(known)
    texts = [None if op.value is None else encoded(op.value, op.key) for op in puts]
    # Embedding may take long, so it comes before the transaction.
    queries = yield from embed_queries(settings.index, (op for op in known if isinstance(op, SearchOp)))
    vectors = yield from embed_puts(settings.index, puts)
    writes = [_Write(*parts) for parts in zip(puts, texts, vectors, strict=True)]
    steps = _perform(settings, known, queries, writes, now)
    results, read = yield from in_transaction("write" if writes else "read", steps)
    yield from _refresh(read, now)
    return results


def sweep(now: float) -> Steps[int]:
    """Remove expired items and say how many."""
    return (yield from in_transaction("write", _sweep(now)))


def _sweep(now: float) -> Steps[int]:
    yield Execute(_SWEEP, (now,))
    rows = yield Execute("SELECT changes()")
    count: int = rows[0][0]
    return count


def _perform(
    settings: Settings, ops: Sequence[Op], queries: Mapping[str, bytes], writes: Sequence[_Write], now: float
) -> Steps[tuple[list[Result], list[int]]]:
    """The results, and the ids of the items whose time to live starts anew because they were read."""
    seen_after, results, read = horizon(settings.ttl, now), [], []
    for op in ops:
        result, rows = yield from _answer(settings, op, queries, seen_after)
        results.append(result)
        if getattr(op, "refresh_ttl", False):
            read += [row[0] for row in rows if row[6] is not None]
    for write in writes:
        yield from _write(write, now, seen_after)
    return results, read


def _answer(
    settings: Settings, op: Op, queries: Mapping[str, bytes], seen_after: float
) -> Steps[tuple[Result, list[Row]]]:
    match op:
        case GetOp():
            rows = yield Execute(_GET, (as_text(op.namespace), op.key, seen_after))
            return _first(rows, settings), rows
        case SearchOp():
            return (yield from search(op, queries.get(op.query or ""), settings.load, seen_after))
        case ListNamespacesOp():
            return (yield from _list(op, seen_after)), []
        case PutOp():
            return None, []


def _first(rows: Sequence[Row], settings: Settings) -> Item | None:
    return as_item(rows[0], settings.load) if rows else None


def _list(op: ListNamespacesOp, seen_after: float) -> Steps[list[tuple[str, ...]]]:
    where, params = under(_literal_prefix(op.match_conditions or ()))
    sql = f"SELECT DISTINCT namespace FROM signoff_store WHERE {where} AND {IS_SEEN}"
    rows = yield Execute(sql, (*params, seen_after))
    return listed((as_namespace(row[0]) for row in rows), op)


def _literal_prefix(conditions: Sequence[MatchCondition]) -> tuple[str, ...]:
    """A beginning that all matching namespaces share, up to a wildcard: less to read from the file."""
    for condition in conditions:
        if condition.match_type == "prefix":
            wild = condition.path.index("*") if "*" in condition.path else len(condition.path)
            return condition.path[:wild]
    return ()


def _write(write: _Write, now: float, seen_after: float) -> Steps[None]:
    op, place = write.op, (as_text(write.op.namespace), write.op.key)
    if write.text is None:
        yield Execute(_DELETE, place)
        return
    yield Execute(_PUT, (*place, write.text, now, op.ttl, expiry(op.ttl, now), seen_after))
    for position, blob in enumerate(write.vectors):
        yield Execute(_PUT_VECTOR, (position, blob, *place))


def _refresh(ids: Sequence[int], now: float) -> Steps[None]:
    # Apart from the reads: they need no write lock, and a refresh lost in a crash is only an earlier end.
    for chunk, marks in by_chunks(ids):
        sql = f"UPDATE signoff_store SET expires_at = ? + ttl_minutes * 60 WHERE id IN ({marks})"
        yield from in_transaction("write", _execute(sql, (now, *chunk)))


def _execute(sql: str, params: Sequence[Any]) -> Steps[None]:
    yield Execute(sql, params)
