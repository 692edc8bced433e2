"""The store's procedures, written once for sync and async: each asks for statements, is told their rows."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from signoff._sqlite.effects import Execute, ExecuteMany, Read, Row, WriteOne, in_transaction
from signoff._sqlite.migrations import set_up
from signoff.steps import Steps
from signoff.store._batches import check, check_put, listed
from signoff.store._lifetimes import expiry, horizon
from signoff.store._prepared import Answer, Found, Prepared, Put, Settings, answer, literal_prefix, prepare
from signoff.store._shells import Procedures
from signoff.store._values import encoded
from signoff.store.base import GetOp, ListNamespacesOp, Op, PutOp, Result, SearchOp
from signoff.store.sqlite.rows import COLUMNS, as_found, as_namespace, as_text
from signoff.store.sqlite.schema import SCHEMA
from signoff.store.sqlite.searching import IS_SEEN, by_chunks, page, search, under

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
    # Apart from reads alone: they need no write lock, and a refresh lost in a crash is only an earlier end.
    yield from _refresh([] if prepared.puts else read, now)
    return results


def one(settings: Settings, op: Op, now: float) -> Steps[Result]:
    """Perform an operation whose place was checked: if one statement does it, with no transaction around it."""
    if settings.index is not None or (isinstance(op, SearchOp) and op.filter):
        return (yield from batch(settings, [op], now))[0]
    seen_after = horizon(settings.ttl, now)
    if isinstance(op, PutOp):
        check_put(op)
        put = Put(op, None if op.value is None else encoded(op.value, op.key), ())
        yield WriteOne(*_statement(put, now, seen_after))
        return None
    check(op)
    result, found = _answer(settings, op, (yield Read(*_query(op, seen_after))))
    yield from _refresh(_refreshed(op, found), now)
    return result


def sweep(now: float) -> Steps[int]:
    """Remove expired items and say how many."""
    return (yield from in_transaction("write", _sweep(now)))


PROCEDURES = Procedures(lambda: set_up(SCHEMA), batch, sweep, one)


def _sweep(now: float) -> Steps[int]:
    yield Execute(_SWEEP, (now,))
    rows = yield Execute("SELECT changes()")
    count: int = rows[0][0]
    return count


def _perform(settings: Settings, prepared: Prepared, now: float) -> Steps[tuple[list[Result], list[int]]]:
    """The results, and the ids of the items whose time to live starts anew because they were read."""
    seen_after, results, read = horizon(settings.ttl, now), [], []
    for op in prepared.ops:
        result, found = yield from _performed(settings, op, prepared, seen_after)
        results.append(result)
        read += _refreshed(op, found)
    for _, alike in groupby(prepared.puts, lambda put: put.text is None):
        yield from _write(list(alike), now, seen_after)
    if prepared.puts:
        for statement in _refreshing(read, now):
            yield statement
    return results, read


def _performed(settings: Settings, op: Op, prepared: Prepared, seen_after: float) -> Steps[Answer]:
    if isinstance(op, PutOp):
        return None, []
    if isinstance(op, SearchOp) and (op.filter or prepared.query_of(op) is not None):
        return (yield from search(op, prepared.query_of(op), settings.load, seen_after))
    return _answer(settings, op, (yield Execute(*_query(op, seen_after))))


def _query(op: Op, seen_after: float) -> tuple[str, Sequence[Any]]:
    """What finds all that answers an operation, with its parameters."""
    match op:
        case GetOp():
            return _GET, (as_text(op.namespace), op.key, seen_after)
        case SearchOp():
            return page(op, seen_after)
        case ListNamespacesOp():
            where, params = under(literal_prefix(op))
            sql = f"SELECT DISTINCT namespace FROM signoff_store WHERE {where} AND {IS_SEEN}"
            return sql, (*params, seen_after)
        case PutOp():
            raise AssertionError("a put is written, not asked for")


def _answer(settings: Settings, op: Op, rows: Sequence[Row]) -> Answer:
    if isinstance(op, ListNamespacesOp):
        return listed([as_namespace(row[0]) for row in rows], op), []
    return answer(op, [as_found(row) for row in rows], settings.load)


def _refreshed(op: Op, found: Sequence[Found]) -> list[int]:
    """The ids of the items whose time to live starts anew because they were read."""
    return [one.id for one in found if one.has_ttl] if getattr(op, "refresh_ttl", False) else []


def _write(puts: Sequence[Put], now: float, seen_after: float) -> Steps[None]:
    """Write items, or remove them: all of them the same."""
    statements = [_statement(put, now, seen_after) for put in puts]
    yield ExecuteMany(statements[0][0], [params for _, params in statements])
    if vectors := [(at, blob, *_place(put)) for put in puts for at, blob in enumerate(put.vectors)]:
        yield ExecuteMany(_PUT_VECTOR, vectors)


def _statement(put: Put, now: float, seen_after: float) -> tuple[str, Sequence[Any]]:
    """What writes an item or removes it, with its parameters."""
    if put.text is None:
        return _DELETE, _place(put)
    minutes = None if put.op.ttl is None else float(put.op.ttl)  # SQLite takes no whole number of more than 64 bits
    return _PUT, (*_place(put), put.text, now, minutes, expiry(minutes, now), seen_after)


def _place(put: Put) -> tuple[str, str]:
    return as_text(put.op.namespace), put.op.key


def _refresh(ids: Sequence[int], now: float) -> Steps[None]:
    for statement in _refreshing(ids, now):
        yield from in_transaction("write", _execute(statement))


def _refreshing(ids: Sequence[int], now: float) -> Iterator[Execute]:
    """What starts the time to live of items anew."""
    for chunk, marks in by_chunks(ids):
        sql = f"UPDATE signoff_store SET expires_at = max(expires_at, ? + ttl_minutes * 60) WHERE id IN ({marks})"
        yield Execute(sql, (now, *chunk))


def _execute(statement: Execute) -> Steps[None]:
    yield statement
