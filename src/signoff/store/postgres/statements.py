"""The store's procedures, written once for sync and async: each asks for statements, is told their rows."""

from collections.abc import Iterable, Sequence

from signoff._postgres.effects import Execute, Kind, Row, Write
from signoff._postgres.failures import DoneBefore
from signoff._postgres.migrations import set_up
from signoff._postgres.texts import as_stored
from signoff._postgres.transactions import read, transaction, write
from signoff.steps import Steps
from signoff.store._batches import listed
from signoff.store._lanes import LANES, Lane
from signoff.store._lifetimes import expiry, horizon
from signoff.store._prepared import Answer, Prepared, Put, Settings, answer, literal_prefix, prepare
from signoff.store._shells import Procedures
from signoff.store.base import GetOp, ListNamespacesOp, Op, PutOp, Result, SearchOp
from signoff.store.postgres.moments import all_reads, rows_of
from signoff.store.postgres.rows import COLUMNS, as_found, as_namespace, as_text, lock_of
from signoff.store.postgres.schema import SCHEMA
from signoff.store.postgres.searching import IS_SEEN, chosen, page, passing, search, shown, under

__all__ = ["PROCEDURES"]

_GET = f"SELECT {COLUMNS} FROM signoff_store WHERE namespace = %s AND key = %s AND {IS_SEEN}"

# Locks are taken in one order by everybody, so nobody waits in a circle; they end with the transaction.
_LOCK = "SELECT pg_advisory_xact_lock(lock) FROM unnest(%s::bigint[]) AS lock"

_BEGIN = "SELECT signoff_store_begin(%s::text, %s::bigint, %s::bigint[])"

_PUT = """
    SELECT signoff_store_put(%s::bigint, %s::text, %s::text, %s::text, %s::bytea[],
        %s::float8, %s::float8, %s::float8, %s::float8)
"""

_PUT_ONCE = """
    SELECT signoff_store_put_once(%s::text, %s::bigint, %s::bigint, %s::text, %s::text, %s::text, %s::bytea[],
        %s::float8, %s::float8, %s::float8, %s::float8)
"""

_DELETE = "DELETE FROM signoff_store WHERE namespace = %s AND key = %s"

# What somebody is writing just now is left to them, so that nobody waits in a circle.
_REFRESH = """
    UPDATE signoff_store SET expires_at = greatest(expires_at, %s::float8 + ttl_minutes * 60)
    WHERE id IN (SELECT id FROM signoff_store WHERE id = ANY(%s) AND ttl_minutes IS NOT NULL FOR UPDATE SKIP LOCKED)
"""

_SWEEP = """
    WITH swept AS (
        DELETE FROM signoff_store
        WHERE id IN (SELECT id FROM signoff_store WHERE expires_at <= %s FOR UPDATE SKIP LOCKED)
        RETURNING 1
    )
    SELECT count(*) FROM swept
"""


def batch(settings: Settings, ops: Iterable[Op], now: float) -> Steps[list[Result]]:
    """Perform operations at once; reads see what was there before. Mostly it is one trip to the server."""
    prepared = yield from prepare(settings, ops)
    if not prepared.ops:
        return []
    seen_after = horizon(settings.ttl, now)
    writes = [_put(put, now, seen_after) for put in prepared.puts]
    if all(isinstance(op, PutOp) for op in prepared.ops):
        yield from _write_once(prepared.puts, writes)
        return [None] * len(prepared.ops)
    answers = yield from _reading(settings, prepared, writes, now)
    # Apart from reads alone: they lock nothing, and a refresh lost in a crash is only an earlier end.
    refresh = [] if writes else _refresh(prepared.ops, answers, now)
    if refresh:
        yield from write(*refresh)
    return [result for result, _ in answers]


def sweep(now: float) -> Steps[int]:
    """Remove expired items and say how many."""
    rows = yield from write(Execute(_SWEEP, (now,)), repeatable=False)  # it says how many
    count: int = rows[0][0][0]
    return count


PROCEDURES = Procedures(lambda: set_up(SCHEMA), batch, sweep)


def _write_once(puts: Sequence[Put], writes: Sequence[Execute]) -> Steps[None]:
    """Write, in one trip; if its answer is lost, not again over what others have written since."""
    lane = LANES.take()
    try:
        yield from write(*_begun(lane, puts, writes))
    except DoneBefore:
        pass
    finally:
        LANES.give(lane)


def _begun(lane: Lane, puts: Sequence[Put], writes: Sequence[Execute]) -> Sequence[Execute]:
    if len(puts) == 1 and puts[0].text is not None:
        return [Execute(_PUT_ONCE, (*lane, *writes[0].params))]
    return [Execute(_BEGIN, (*lane, _locks_of(puts))), *writes]


def _reading(settings: Settings, prepared: Prepared, writes: Sequence[Execute], now: float) -> Steps[list[Answer]]:
    seen_after = horizon(settings.ttl, now)
    if writes or any(_takes_several_trips(op, prepared) for op in prepared.ops):
        kind: Kind = "write" if writes else "read"
        return (yield from transaction(kind, lambda: _performed(settings, prepared, writes, now)))
    rows = yield from read(*(_query(op, seen_after) for op in prepared.ops))
    return [_answer(settings, op, found) for op, found in zip(prepared.ops, rows, strict=True)]


def _takes_several_trips(op: Op, prepared: Prepared) -> bool:
    return isinstance(op, SearchOp) and (bool(op.filter) or prepared.query_of(op) is not None)


def _performed(settings: Settings, prepared: Prepared, writes: Sequence[Execute], now: float) -> Steps[list[Answer]]:
    seen_after, answers = horizon(settings.ttl, now), list[Answer]()
    if writes:
        yield Write([Execute(_LOCK, (_locks_of(prepared.puts),))])  # so that what is read is what is written over
        rows = rows_of(prepared.ops, (yield all_reads(prepared, settings.load, seen_after)))
        answers += [_read(settings, op, prepared, own) for op, own in zip(prepared.ops, rows, strict=True)]
        # Last of all, as it waits for nobody: so nobody who waits for it is waited for.
        yield Write([*writes, *_refresh(prepared.ops, answers, now)])
    else:
        for op in prepared.ops:
            one = yield from _performed_one(settings, op, prepared, seen_after)
            answers.append(one)
    return answers


def _read(settings: Settings, op: Op, prepared: Prepared, rows: Sequence[Row]) -> Answer:
    """The answer to an operation, out of what was read for it."""
    if isinstance(op, PutOp):
        return None, []
    if isinstance(op, SearchOp) and _takes_several_trips(op, prepared):
        fitting = passing(op, settings.load, rows)
        return shown(chosen(op, prepared.query_of(op), fitting), settings.load)
    return _answer(settings, op, rows)


def _performed_one(settings: Settings, op: Op, prepared: Prepared, seen_after: float) -> Steps[Answer]:
    if isinstance(op, SearchOp):
        return (yield from search(op, prepared.query_of(op), settings.load, seen_after))
    rows = yield _query(op, seen_after)
    return _answer(settings, op, rows)


def _query(op: Op, seen_after: float) -> Execute:
    match op:
        case GetOp():
            return Execute(_GET, (as_text(op.namespace), as_stored(op.key), seen_after))
        case SearchOp():
            return page(op, seen_after)
        case ListNamespacesOp():
            where, params = under(literal_prefix(op))
            sql = f"SELECT DISTINCT namespace FROM signoff_store WHERE {where} AND {IS_SEEN}"
            return Execute(sql, (*params, seen_after))
        case PutOp():
            raise AssertionError("a put is written, not asked for")


def _answer(settings: Settings, op: Op, rows: Sequence[Row]) -> Answer:
    if isinstance(op, ListNamespacesOp):
        return listed((as_namespace(row[0]) for row in rows), op), []
    return answer(op, [as_found(row) for row in rows], settings.load)


def _locks_of(puts: Sequence[Put]) -> list[int]:
    """The locks of a batch."""
    return sorted({lock_of(as_text(put.op.namespace)) for put in puts})


def _put(put: Put, now: float, seen_after: float) -> Execute:
    op, place = put.op, (as_text(put.op.namespace), as_stored(put.op.key))
    if put.text is None:
        return Execute(_DELETE, place)
    times = (now, op.ttl, expiry(op.ttl, now), seen_after)
    return Execute(_PUT, (lock_of(place[0]), *place, put.text, list(put.vectors), *times))


def _refresh(ops: Sequence[Op], answers: Sequence[Answer], now: float) -> list[Execute]:
    """What starts the time to live of items anew, because they were read."""
    refreshing = (found for op, (_, found) in zip(ops, answers, strict=True) if getattr(op, "refresh_ttl", False))
    ids = sorted({one.id for found in refreshing for one in found if one.has_ttl})
    return [Execute(_REFRESH, (now, ids))] if ids else []
