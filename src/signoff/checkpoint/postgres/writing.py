"""Writing plans to the database: one call each, which is one trip to the server."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from signoff._postgres.effects import Execute
from signoff._postgres.transactions import transaction, write
from signoff.checkpoint.lease import Lease, lost, moved
from signoff.checkpoint.log.backend import Cleanup, Hold
from signoff.checkpoint.log.plans import NewRow, Plan
from signoff.checkpoint.log.values import packed_items
from signoff.checkpoint.postgres.texts import as_stored
from signoff.steps import Steps

__all__ = ["append_row", "apply", "cleanup_statements", "lock", "renew"]

_APPEND = """
    SELECT signoff_append(%s::text, %s::bigint, %s::text, %s::bigint, %s::text, %s::text, %s::float8, %s::boolean,
        %s::boolean, %s::text[], %s::text[], %s::bytea[], %s::text[], %s::bigint[], %s::bytea[],
        %s::bytea[], %s::text[], %s::bigint[], %s::bytea[], %s::bigint[], %s::bytea[], %s::bytea[], %s::bytea[],
        %s::text[], %s::text[], %s::bytea[])
"""

_STEP = """
    SELECT signoff_step(%s::text, %s::bigint, %s::text, %s::text, %s::text, %s::bigint, %s::integer, %s::text,
        %s::bigint, %s::bytea, %s::bytea)
"""

_RENEW = """
    UPDATE signoff_threads SET expires_at = EXTRACT(EPOCH FROM clock_timestamp()) + %s
    WHERE thread_id = %s AND epoch = %s RETURNING 1
"""

_MOVED = """
    INSERT INTO signoff_writes (thread_id, ns, checkpoint_id, task_id, idx, path, data)
    VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""

_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('signoff ' || %s, 0))"

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
        hold.lease.epoch = (hold.lease.seen[0] or 0) + 1
    return answer == DONE


def append_row(thread_id: str, row: NewRow, lease: Lease) -> Steps[bool]:
    """Write a step that stands on another one, and nothing else. Doing it twice is the same as doing it once."""
    ns, id, parent_id, parent_seal, depth, run_id, seal, body, writes = row
    texts = as_stored(ns), as_stored(id), as_stored(parent_id)
    params = (as_stored(thread_id), lease.epoch, *texts, parent_seal, depth, as_stored(run_id), seal, writes, body)
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
        Execute(
            "UPDATE signoff_checkpoints SET parent_id = %s, depth = 0, body = %s, "
            "writes = CASE WHEN %s::text IS NOT NULL THEN writes END "
            "WHERE thread_id = %s AND ns = %s AND id = %s",
            (as_stored(parent_id), body, as_stored(parent_id), one, as_stored(ns), as_stored(id)),
        )
        for ns, id, parent_id, body in cleanup.rewritten
    ]
    places = [_joined(place) for place in cleanup.removed]
    writes = [_joined((*place[:3], str(place[3]))) for place in cleanup.writes]
    return [
        *statements,
        Execute(
            "DELETE FROM signoff_checkpoints WHERE thread_id = %s AND ns || chr(10) || id = ANY (%s::text[])",
            (one, places),
        ),
        Execute(
            "DELETE FROM signoff_writes WHERE thread_id = %s AND "
            "ns || chr(10) || checkpoint_id || chr(10) || task_id || chr(10) || idx = ANY (%s::text[])",
            (one, writes),
        ),
        Execute(
            "DELETE FROM signoff_items WHERE thread_id = %s AND (lineage, start) IN "
            "(SELECT * FROM unnest(%s::bigint[], %s::integer[]))",
            (one, [lineage for lineage, _ in cleanup.items], [start for _, start in cleanup.items]),
        ),
        *(
            Execute(_MOVED, (one, *map(as_stored, write[:3]), write.idx, as_stored(write.path), write.data))
            for write in cleanup.moved
        ),
        Execute("DELETE FROM signoff_blobs WHERE thread_id = %s AND digest = ANY (%s::bytea[])", (one, cleanup.blobs)),
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
    closes_all, closed, asked = plan.net_filing()
    params = (
        as_stored(plan.thread_id),
        *_lease(hold, lease_s),
        closes_all,
        _texts(closed),
        _texts(text for question in asked for text in question[:7]),
        [question[7] for question in asked],
        _texts(text for row in plan.rows for text in (row.ns, row.id, row.parent_id, row.run_id)),
        [number for row in plan.rows for number in (row.parent_seal, row.depth, row.seal)],
        [row.body for row in plan.rows],
        [row.writes for row in plan.rows],
        _texts(text for one in plan.writes for text in (one.ns, one.checkpoint_id, one.task_id, one.path)),
        [number for one in plan.writes for number in (one.idx, int(one.replaces))],
        [one.data for one in plan.writes],
        [number for lineage, start, items in plan.items for number in (lineage, start, len(items))],
        [packed_items(items) for _, _, items in plan.items],
        list(plan.blobs),
        list(plan.blobs.values()),
        [_joined(place) for place in plan.replaced],
        _texts(chain.from_iterable(one[:3] for one in plan.rewritten)),
        [one[3] for one in plan.rewritten],
    )
    return Execute(_APPEND, params)


def _lease(hold: Hold | None, lease_s: float | None) -> tuple[Any, ...]:
    if hold is None:
        return (None,) * 6 + (False,)
    lease = hold.lease
    seen = lease.seen if hold.takes else (None, None, None)
    return lease.epoch, as_stored(lease.holder), seen[0], as_stored(seen[1]), seen[2], lease_s, hold.ends


def _texts(texts: Any) -> list[str | None]:
    return [as_stored(text) for text in texts]


def _joined(parts: Sequence[str]) -> str:
    return "\n".join(map(as_stored, parts))
