"""The store's procedures, written once for sync and async: each asks for statements, is told their rows."""

from collections.abc import Iterable, Sequence
from typing import Any

from signoff._sqlite.effects import Execute, in_transaction
from signoff._sqlite.migrations import set_up
from signoff.steps import Steps
from signoff.store._batches import listed
from signoff.store._lifetimes import expiry, horizon
from signoff.store._prepared import Found, Prepared, Put, Settings, literal_prefix, prepare
from signoff.store._shells import Procedures
from signoff.store.base import GetOp, ListNamespacesOp, Op, PutOp, Result, SearchOp
from signoff.store.sqlite.rows import COLUMNS, as_found, as_namespace, as_text
from signoff.store.sqlite.schema import SCHEMA
from signoff.store.sqlite.searching import IS_SEEN, by_chunks, search, under

__all__ = ["PROCEDURES"]

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


def batch(settings: Settings, ops: Iterable[Op], now: float) -> Steps[list[Result]]:
    """Perform operations in one transaction; reads see what was there before."""
    prepared = yield from prepare(settings, ops)
    if not prepared.ops:
        return []
    steps = _perform(settings, prepared, now)
    results, read = yield from in_transaction("write" if prepared.puts else "read", steps)
    yield from _refresh(read, now)
    return results


def sweep(now: float) -> Steps[int]:
    """Remove expired items and say how many."""
    return (yield from in_transaction("write", _sweep(now)))


PROCEDURES = Procedures(lambda: set_up(SCHEMA), batch, sweep)


def _sweep(now: float) -> Steps[int]:
    yield Execute(_SWEEP, (now,))
    rows = yield Execute("SELECT changes()")
    count: int = rows[0][0]
    return count


def _perform(settings: Settings, prepared: Prepared, now: float) -> Steps[tuple[list[Result], list[int]]]:
    """The results, and the ids of the items whose time to live starts anew because they were read."""
    seen_after, results, read = horizon(settings.ttl, now), [], []
    for op in prepared.ops:
        result, found = yield from _answer(settings, op, prepared, seen_after)
        results.append(result)
        if getattr(op, "refresh_ttl", False):
            read += [one.id for one in found if one.has_ttl]
    for put in prepared.puts:
        yield from _write(put, now, seen_after)
    return results, read


def _answer(settings: Settings, op: Op, prepared: Prepared, seen_after: float) -> Steps[tuple[Result, list[Found]]]:
    match op:
        case GetOp():
            rows = yield Execute(_GET, (as_text(op.namespace), op.key, seen_after))
            found = [as_found(row) for row in rows]
            return found[0].item(settings.load) if found else None, found
        case SearchOp():
            return (yield from search(op, prepared.query_of(op), settings.load, seen_after))
        case ListNamespacesOp():
            return (yield from _list(op, seen_after)), []
        case PutOp():
            return None, []


def _list(op: ListNamespacesOp, seen_after: float) -> Steps[list[tuple[str, ...]]]:
    where, params = under(literal_prefix(op))
    sql = f"SELECT DISTINCT namespace FROM signoff_store WHERE {where} AND {IS_SEEN}"
    rows = yield Execute(sql, (*params, seen_after))
    return listed((as_namespace(row[0]) for row in rows), op)


def _write(put: Put, now: float, seen_after: float) -> Steps[None]:
    op, place = put.op, (as_text(put.op.namespace), put.op.key)
    if put.text is None:
        yield Execute(_DELETE, place)
        return
    yield Execute(_PUT, (*place, put.text, now, op.ttl, expiry(op.ttl, now), seen_after))
    for position, blob in enumerate(put.vectors):
        yield Execute(_PUT_VECTOR, (position, blob, *place))


def _refresh(ids: Sequence[int], now: float) -> Steps[None]:
    # Apart from the reads: they need no write lock, and a refresh lost in a crash is only an earlier end.
    for chunk, marks in by_chunks(ids):
        sql = f"UPDATE signoff_store SET expires_at = ? + ttl_minutes * 60 WHERE id IN ({marks})"
        yield from in_transaction("write", _execute(sql, (now, *chunk)))


def _execute(sql: str, params: Sequence[Any]) -> Steps[None]:
    yield Execute(sql, params)
