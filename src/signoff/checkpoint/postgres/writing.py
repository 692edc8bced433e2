"""Writing plans to the database: one call each, which is one trip to the server."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

from signoff._postgres.arrays import array, of_bytes, of_numbers, of_texts, quoted
from signoff._postgres.effects import Execute
from signoff._postgres.texts import as_stored
from signoff._postgres.transactions import transaction, write
from signoff.checkpoint.lease import Lease, lost, moved, next_epoch
from signoff.checkpoint.log.backend import Cleanup, Hold
from signoff.checkpoint.log.plans import NewRow, NewWrite, Plan
from signoff.checkpoint.log.values import packed_items
from signoff.checkpoint.postgres.ids import id_as_stored, run_as_stored
from signoff.steps import Steps

__all__ = ["append_row", "apply", "cleanup_statements", "lock", "renew"]

# What a plan has, as the function wants it; the rest it does without.
_LEASE = "%s::text, %s::bigint, %s::text, %s::bigint, %s::bytea, %s::text, %s::bigint, %s::float8, %s::boolean"
_FILING = "closes_all => %s::boolean, closed => %s::text[], asked => %s::text[], asked_values => %s::bytea[]"
_ROWS = """
    row_texts => %s::text[], row_ids => %s::bytea[], row_numbers => %s::bigint[], row_bodies => %s::bytea[],
    row_writes => %s::bytea[]
"""
_WRITES = """
    write_texts => %s::text[], write_ids => %s::bytea[], write_numbers => %s::bigint[], write_data => %s::bytea[]
"""
_ITEMS = "item_numbers => %s::integer[], item_data => %s::bytea[]"
_BLOBS = "digests => %s::bytea[], blobs => %s::bytea[]"
_REPLACED = "replaced => %s::text[], replaced_ids => %s::bytea[]"
_REWRITTEN = "rewritten => %s::text[], rewritten_ids => %s::bytea[], rewritten_bodies => %s::bytea[]"

_STEP = """
    SELECT signoff_step(%s::text, %s::bigint, %s::text, %s::bytea, %s::bytea, %s::bigint, %s::smallint, %s::text,
        %s::bigint, %s::bytea, %s::bytea)
"""

_RENEW = """
    UPDATE signoff_threads SET expires_at = EXTRACT(EPOCH FROM clock_timestamp()) + %s
    WHERE thread_id = %s AND epoch = %s RETURNING 1
"""

_TAKE_AWAY = "UPDATE signoff_threads SET epoch = epoch + 1, holder = NULL WHERE thread_id = %s AND %s::boolean"

_MOVED = """
    INSERT INTO signoff_writes (thread_id, ns, checkpoint_id, task_id, idx, path, data)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""

_FILE = """
    INSERT INTO signoff_questions (thread_id, id, graph, path, node, asked_at, text, type, value)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""

_REWRITE = """
    UPDATE signoff_checkpoints SET parent = signoff_short_parent(id, %s), depth = 0,
        writes = CASE WHEN %s::bytea IS NOT NULL THEN writes ELSE '' END, body = %s
    WHERE thread_id = %s AND ns = %s AND id = %s
"""

_REMOVE = """
    DELETE FROM signoff_checkpoints
    WHERE thread_id = %s AND (ns, id) IN (SELECT * FROM unnest(%s::text[], %s::bytea[]))
"""

_REMOVE_WRITES = """
    DELETE FROM signoff_writes WHERE thread_id = %s AND (ns, checkpoint_id, task_id, idx) IN
        (SELECT * FROM unnest(%s::text[], %s::bytea[], %s::text[], %s::integer[]))
"""

_LOCK = "SELECT signoff_lock(%s::text)"

DONE, STALE, MOVED, LOST = range(4)


def apply(plans: Sequence[Plan], hold: Hold | None, lease_s: float | None) -> Steps[bool]:
    """Write plans, and see to the lease; False if one of them does not fit."""
    calls = [_call(plan, hold if hold and hold.lease.thread_id == plan.thread_id else None, lease_s) for plan in plans]
    if len(calls) == 1:
        rows = yield from write(calls[0])  # doing it twice is the same as doing it once
        answer: int = rows[0][0][0]
    else:
        answer = yield from _several(calls)
    if hold is not None and answer == MOVED:
        raise moved(hold.lease)
    if hold is not None and answer == LOST:
        raise lost(hold.lease)
    if hold is not None and answer == DONE and hold.takes:
        hold.lease.epoch = next_epoch(hold.lease, hold.lease.seen[0])
    return answer == DONE


def append_row(thread_id: str, row: NewRow, lease: Lease) -> Steps[bool]:
    """Write a step that stands on another one, and nothing else. Doing it twice is the same as doing it once."""
    ns, id, parent_id, parent_seal, depth, run_id, seal, body, writes = row
    places = as_stored(ns), id_as_stored(id), id_as_stored(parent_id)
    rest = run_as_stored(run_id), seal, writes or b"", body
    params = (as_stored(thread_id), lease.epoch, *places, parent_seal, depth, *rest)
    rows = yield from write(Execute(_STEP, params))
    if rows[0][0][0] == LOST:
        raise lost(lease)
    return bool(rows[0][0][0] == DONE)


def renew(lease: Lease, lease_s: float | None) -> Steps[None]:
    """Give a sign of life."""
    seconds = float("inf") if lease_s is None else lease_s
    rows = yield from write(Execute(_RENEW, (seconds, as_stored(lease.thread_id), lease.epoch)))
    if not rows[0]:
        raise lost(lease)


def lock(thread_id: str) -> Execute:
    """Wait for whoever writes to a thread, until the end of the transaction."""
    return Execute(_LOCK, (as_stored(thread_id),))


def cleanup_statements(cleanup: Cleanup) -> list[Execute]:
    """The statements that remove from a thread what is to be removed."""
    one = as_stored(cleanup.thread_id)
    statements = [
        Execute(_REWRITE, (*[id_as_stored(parent_id)] * 2, body, one, as_stored(ns), id_as_stored(id)))
        for ns, id, parent_id, body in cleanup.rewritten
    ]
    return [
        *statements,
        Execute(_REMOVE, (one, *_places(cleanup.removed))),
        Execute(
            _REMOVE_WRITES,
            (
                one,
                *_places(cleanup.writes),
                _texts([task_id for _, _, task_id, _ in cleanup.writes]),
                of_numbers([idx for *_, idx in cleanup.writes]),
            ),
        ),
        Execute(
            "DELETE FROM signoff_items WHERE thread_id = %s AND (lineage, start) IN "
            "(SELECT * FROM unnest(%s::integer[], %s::integer[]))",
            (one, *(of_numbers([place[part] for place in cleanup.items]) for part in range(2))),
        ),
        *(
            Execute(_MOVED, (one, as_stored(ns), id_as_stored(id), as_stored(task_id), idx, as_stored(path), data))
            for ns, id, task_id, idx, path, data, _ in cleanup.moved
        ),
        Execute("DELETE FROM signoff_blobs WHERE thread_id = %s AND digest = ANY (%s::bytea[])", (one, cleanup.blobs)),
        Execute("DELETE FROM signoff_questions WHERE thread_id = %s AND %s::boolean", (one, cleanup.closes_all)),
        *(Execute(_FILE, (one, *map(as_stored, texts), value)) for *texts, value in cleanup.asked),
        Execute(_TAKE_AWAY, (one, cleanup.closes_all)),
    ]


def _several(calls: Sequence[Execute]) -> Steps[int]:
    """Plans for several threads, as one transaction."""
    try:
        return (yield from transaction("write", lambda: _each(calls)))
    except _DoesNotFit as error:
        return error.answer


class _DoesNotFit(Exception):
    """A plan of several does not fit: the others are not written, either."""

    def __init__(self, answer: int) -> None:
        super().__init__(answer)
        self.answer = answer


def _each(calls: Sequence[Execute]) -> Steps[int]:
    for call in calls:
        rows = yield call
        if rows[0][0] != DONE:
            raise _DoesNotFit(rows[0][0])
    return DONE


def _call(plan: Plan, hold: Hold | None, lease_s: float | None) -> Execute:
    parts = dict(_parts(plan))
    sql = ", ".join([_LEASE, *parts])
    return Execute(
        f"SELECT signoff_append({sql})",
        [as_stored(plan.thread_id), *_lease(hold, lease_s), *chain.from_iterable(parts.values())],
    )


def _parts(plan: Plan) -> Iterator[tuple[str, Sequence[Any]]]:
    """What a plan has: the names of it, and the values."""
    if plan.filing:
        closes_all, closed, asked = plan.net_filing()
        texts = _texts([text for question in asked for text in question[:7]])
        yield _FILING, (closes_all, _texts(closed), texts, of_bytes([question[7] for question in asked]))
    if plan.rows:
        yield _ROWS, _rows(plan.rows)
    if plan.writes:
        yield _WRITES, _writes(plan.writes)
    if plan.items:
        numbers = [number for lineage, start, items in plan.items for number in (lineage, start, len(items))]
        packed = [packed_items(items, is_usual=plan.is_usual) for _, _, items in plan.items]
        yield _ITEMS, (of_numbers(numbers), of_bytes(packed))
    if plan.blobs:
        yield _BLOBS, (of_bytes(list(plan.blobs)), of_bytes(list(plan.blobs.values())))
    if plan.replaced:
        yield _REPLACED, _places(plan.replaced)
    if plan.rewritten:
        yield (
            _REWRITTEN,
            (
                _texts([ns for ns, *_ in plan.rewritten]),
                _ids([id for _, *ids, _ in plan.rewritten for id in ids]),
                of_bytes([body for *_, body in plan.rewritten]),
            ),
        )


def _lease(hold: Hold | None, lease_s: float | None) -> tuple[Any, ...]:
    if hold is None:
        return (None,) * 7 + (False,)
    lease = hold.lease
    taking = (*lease.seen, next_epoch(lease, lease.seen[0])) if hold.takes else (None,) * 4
    return lease.epoch, as_stored(lease.holder), *taking, lease_s, hold.ends


def _rows(rows: Sequence[NewRow]) -> tuple[Any, ...]:
    ns, ids, parent_ids, parent_seals, depths, run_ids, seals, bodies, writes = zip(*rows, strict=True)
    return (
        array(map(_place_and_run, ns, run_ids)),
        of_bytes(_woven(map(id_as_stored, ids), map(id_as_stored, parent_ids))),
        of_numbers(_woven(parent_seals, depths, seals)),
        of_bytes(bodies),
        of_bytes([one or b"" for one in writes]),
    )


@lru_cache(maxsize=256)
def _place_and_run(ns: str, run_id: str | None) -> str:
    """The texts of a row. Most rows have those of the row before."""
    return f"{quoted(as_stored(ns))},{quoted(run_as_stored(run_id))}"


def _woven(*columns: Iterable[Any]) -> list[Any]:
    """Columns as one list: row by row."""
    return [*chain.from_iterable(zip(*columns, strict=True))]


def _writes(writes: Sequence[NewWrite]) -> tuple[Any, ...]:
    return (
        _texts([text for one in writes for text in (one.ns, one.task_id, one.path)]),
        _ids([one.checkpoint_id for one in writes]),
        of_numbers([number for one in writes for number in (one.idx, int(one.replaces))]),
        of_bytes([one.data for one in writes]),
    )


def _places(places: Collection[Sequence[Any]]) -> tuple[Any, Any]:
    """Namespaces and ids, each as an array."""
    return _texts([place[0] for place in places]), _ids([place[1] for place in places])


def _texts(texts: Sequence[str | None]) -> str:
    return of_texts([as_stored(text) for text in texts]) if texts else "{}"


def _ids(ids: Sequence[str | None]) -> Any:
    return of_bytes([id_as_stored(id) for id in ids]) if ids else "{}"
