"""Writing plans: one script each, which is one trip to the server."""

from collections.abc import Sequence
from typing import Any

from signoff._redis.effects import Run
from signoff.checkpoint.encoding import packed, packed_for_lua
from signoff.checkpoint.lease import lost, moved, next_epoch
from signoff.checkpoint.log.backend import Hold
from signoff.checkpoint.log.plans import NewRow, Plan
from signoff.checkpoint.log.values import packed_items
from signoff.checkpoint.redis import index
from signoff.checkpoint.redis.names import GRACE_S, Names, encoded, field_of
from signoff.checkpoint.redis.scripts import APPEND, DONE, LOST, MOVED, NOT_NOTED, NOTE
from signoff.steps import Steps

__all__ = ["apply", "field_ns", "note", "rewritten"]


def apply(names: Names, plans: Sequence[Plan], hold: Hold | None, lease_s: float | None) -> Steps[bool]:
    """Write plans, and see to the lease; False if one of them does not fit. All or nothing holds for each thread."""
    for plan in plans:
        own = hold if hold is not None and hold.lease.thread_id == plan.thread_id else None
        answer = yield from _written(names, plan, own, lease_s)
        if own is not None and answer == MOVED:
            raise moved(own.lease)
        if own is not None and answer == LOST:
            raise lost(own.lease)
        if answer != DONE:
            return False
        if own is not None and own.takes:
            own.lease.epoch = next_epoch(own.lease, own.lease.seen[0])
    return True


def rewritten(one: tuple[str, str, str | None, bytes]) -> dict[str, Any]:
    """A checkpoint that becomes a snapshot, for a script."""
    ns, id, parent_id, body = one
    return {"field": field_of(ns, id), "parent": parent_id, "body": body}


def field_ns(ns: str) -> bytes:
    """A namespace, as it is in a field."""
    return field_of(ns, "")[:-1]


def _written(names: Names, plan: Plan, hold: Hold | None, lease_s: float | None) -> Steps[int]:
    closes_all, closed, asked = plan.net_filing()
    script = {
        "lease": None if hold is None else _lease(hold, lease_s),
        "closes_all": closes_all,
        "closed": closed,
        "asked": [(question[0], packed(question)) for question in asked],
        **_contents(plan),
        "grace": GRACE_S,
    }
    begins = hold is not None and hold.takes and hold.lease.seen == (0, 0)
    while True:
        script["noted"] = (yield from note(names.threads, plan.thread_id)) if begins else None
        script["noted_asking"] = (yield from index.note(names, plan.thread_id, asked)) if asked else None
        answer: int | list[bytes] = yield Run(APPEND, names.of_thread(plan.thread_id), (packed_for_lua(script),))
        if answer != NOT_NOTED:
            break
        begins = True  # as it turns out
    if isinstance(answer, int):
        return answer
    yield from index.cross_out(names, plan.thread_id, answer)
    return DONE


def _contents(plan: Plan) -> dict[str, Any]:
    """What a plan stores, but for questions."""
    return {
        "rows": [_row(row) for row in plan.rows],
        "writes": [
            {
                "field": field_of(one.ns, one.checkpoint_id),
                "task": one.task_id,
                "idx": one.idx,
                "path": one.path,
                "data": one.data,
                "replaces": one.replaces,
            }
            for one in plan.writes
        ],
        "items": [
            {
                "lineage": str(lineage),
                "start": start,
                "items": [packed_items([item], is_usual=plan.is_usual) for item in items],
            }
            for lineage, start, items in plan.items
        ],
        "blobs": list(plan.blobs.items()),
        "replaced": [field_of(*place) for place in plan.replaced],
        "rewritten": [rewritten(one) for one in plan.rewritten],
    }


def note(key: bytes, thread_id: str) -> Steps[float]:
    """Note down a thread, before it has something; when that was."""
    return float((yield Run(NOTE, (key,), (encoded(thread_id),))))


def _lease(hold: Hold, lease_s: float | None) -> dict[str, Any]:
    lease = hold.lease
    known: dict[str, Any] = {"epoch": lease.epoch, "holder": lease.holder, "ends": hold.ends, "lease_s": lease_s}
    if not hold.takes:
        return known
    seen_epoch, seen_changes = lease.seen
    new_epoch = next_epoch(lease, seen_epoch)
    return {**known, "seen_epoch": seen_epoch, "seen_changes": seen_changes, "new_epoch": new_epoch}


def _row(row: NewRow) -> dict[str, Any]:
    return {
        "field": field_of(row.ns, row.id),
        "ns": field_ns(row.ns),
        "id": field_of("", row.id)[1:],
        "parent_field": None if row.parent_id is None else field_of(row.ns, row.parent_id),
        "parent_seal": None if row.parent_seal is None else str(row.parent_seal),
        "seal": str(row.seal),
        "packed": packed_for_lua((row.parent_id, row.depth, str(row.seal), row.run_id, row.body)),
    }
