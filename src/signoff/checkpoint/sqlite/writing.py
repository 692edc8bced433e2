"""Writing plans to the file: one transaction each, its statements worked out before."""

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from signoff._sqlite.effects import Execute, ExecuteMany, Expect, Write, WriteOne, in_transaction
from signoff._tuples import made
from signoff.checkpoint.lease import Lease, lost, moved, next_epoch
from signoff.checkpoint.log.backend import Cleanup, Hold
from signoff.checkpoint.log.plans import NewRow, Plan
from signoff.checkpoint.log.values import packed_items
from signoff.checkpoint.sqlite import joining
from signoff.steps import Steps

__all__ = ["HEAD_AND_WRITTEN", "STANDING", "append_row", "apply", "cleanup_statements", "renewal"]

_Statement = Execute | ExecuteMany | Expect

_NULL = 0
"""What stands for None, and a bytearray for bytes: before sqlite3 takes these, it looks for somebody who adapts them,
which takes longer than all else about a parameter."""

# Whether a checkpoint is added to the newest one: then nothing comes after its parent or, if it has none, after itself.
_BRANCH = """
    (SELECT 1 FROM signoff_checkpoints
     WHERE thread_id = ?1 AND ns = ?2 AND id > MIN(?3, COALESCE(?4, ?3)) AND id <> ?3 LIMIT 1)
"""

# The parent is looked for in the same breath, since another process may have removed or replaced it meanwhile:
# then there is no depth, and the table refuses the row.
_ROW = f"""
    INSERT INTO signoff_checkpoints (thread_id, ns, id, parent_id, depth, run_id, seal, body, writes, branch)
    VALUES (?1, ?2, ?3, ?4, {{depth}}, NULLIF(?6, {_NULL}), ?7, ?8, NULLIF(?9, {_NULL}), {_BRANCH})
"""
_SNAPSHOT = _ROW.format(depth="?5")
_CHILD = _ROW.format(
    depth="(SELECT ?5 FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ?2 AND id = ?4 AND seal = ?10)"
)

# What a checkpoint carries stays, as long as it is the child of the same one.
_AGAIN = """
    ON CONFLICT (thread_id, ns, id) DO UPDATE SET depth = excluded.depth, run_id = excluded.run_id,
    seal = excluded.seal, body = excluded.body, parent_id = excluded.parent_id, branch = excluded.branch, writes = CASE
        WHEN parent_id IS excluded.parent_id THEN COALESCE(excluded.writes, writes) ELSE excluded.writes END
"""
_SNAPSHOT_AGAIN, _CHILD_AGAIN = f"{_SNAPSHOT} {_AGAIN}", f"{_CHILD} {_AGAIN}"

# A step and nothing else, and the fence of its lease, as one statement: that needs no transaction around it. Without
# the lease or the parent there is no depth, and no row. As a SELECT, which reads the table that it writes to, it would
# take a table in between.
_STEP = f"""
    INSERT OR IGNORE INTO signoff_checkpoints (thread_id, ns, id, parent_id, depth, run_id, seal, body, writes, branch)
    VALUES (?1, ?2, ?3, ?4, (
        SELECT ?5 FROM signoff_threads AS lease, signoff_checkpoints AS parent
        WHERE lease.thread_id = ?1 AND lease.epoch = ?11
        AND parent.thread_id = ?1 AND parent.ns = ?2 AND parent.id = ?4 AND parent.seal = ?10
    ), NULLIF(?6, {_NULL}), ?7, ?8, NULLIF(?9, {_NULL}), {_BRANCH})
"""

_WRITE = """
    INSERT INTO signoff_writes (thread_id, ns, checkpoint_id, task_id, idx, path, data) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_REPLACE_WRITE = f"""{_WRITE}
    ON CONFLICT (thread_id, ns, checkpoint_id, task_id, idx) DO UPDATE SET path = excluded.path, data = excluded.data
"""

# A lineage that does not end where it is thought to has no place for these: the table refuses the row.
_ITEMS = """
    INSERT INTO signoff_items (thread_id, lineage, start, count, data) VALUES (?1, ?2, (SELECT ?3 WHERE ?3 = COALESCE(
        (SELECT start + count FROM signoff_items WHERE thread_id = ?1 AND lineage = ?2 ORDER BY start DESC LIMIT 1), 0
    )), ?4, ?5)
"""

_BLOB = "INSERT INTO signoff_blobs (thread_id, digest, data) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"

_REWRITE = """
    UPDATE signoff_checkpoints SET parent_id = ?1, depth = 0, body = ?2,
    writes = CASE WHEN ?1 IS NOT NULL THEN writes END WHERE thread_id = ?3 AND ns = ?4 AND id = ?5
"""

_REMOVE = "DELETE FROM signoff_checkpoints WHERE thread_id = ? AND ns = ? AND id = ?"

_REMOVE_WRITE = """
    DELETE FROM signoff_writes WHERE thread_id = ? AND ns = ? AND checkpoint_id = ? AND task_id = ? AND idx = ?
"""
_REMOVE_ITEMS = "DELETE FROM signoff_items WHERE thread_id = ? AND lineage = ? AND start = ?"

_REMOVE_BLOB = "DELETE FROM signoff_blobs WHERE thread_id = ? AND digest = ?"

_CLOSE_ALL = "DELETE FROM signoff_questions WHERE thread_id = ?"

_CLOSE = "DELETE FROM signoff_questions WHERE thread_id = ? AND id = ?"

_FILE = """
    INSERT INTO signoff_questions (thread_id, id, graph, path, node, asked_at, text, type, value)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
"""

# How a thread stood when it was seen: its head, and what was written there since. Nested graphs need not be looked at:
# they are read when the thread is taken.
_HEAD = "SELECT MAX(id) FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ''"

_WRITTEN = """
    SELECT COUNT(*), COALESCE(SUM(LENGTH(data)), 0) FROM signoff_writes
    WHERE thread_id = ?1 AND ns = '' AND checkpoint_id = {head}
"""

HEAD_AND_WRITTEN = f"SELECT ({_HEAD}), * FROM ({_WRITTEN.format(head=f'({_HEAD})')})"

STANDING = f"SELECT (SELECT epoch FROM signoff_threads WHERE thread_id = ?1), * FROM ({HEAD_AND_WRITTEN})"

_AS_SEEN = f"({_HEAD}) IS ?2 AND ({_WRITTEN.format(head='?2')}) = (?3, ?4)"

# A run that asks again for the thread that it has, since it has not heard of it, still has it.
_TAKE = f"""
    UPDATE signoff_threads SET epoch = ?7, holder = ?5, expires_at = ?6
    WHERE thread_id = ?1 AND (epoch = ?8 AND {_AS_SEEN} OR epoch = ?7 AND holder = ?5)
"""

# No epoch was seen. If the thread does not stand as it was seen, there is no new one either, and no row.
_TAKE_FIRST = f"""
    INSERT OR IGNORE INTO signoff_threads (thread_id, epoch, holder, expires_at) VALUES (?1, (
        SELECT ?7 WHERE {_AS_SEEN}
        OR EXISTS (SELECT 1 FROM signoff_threads WHERE thread_id = ?1 AND epoch = ?7 AND holder = ?5)
    ), ?5, ?6)
    ON CONFLICT (thread_id) DO UPDATE SET expires_at = ?6 WHERE epoch = ?7 AND holder = ?5
"""

_HAS = "SELECT 1 FROM signoff_threads WHERE thread_id = ? AND epoch = ?"

_GIVE_BACK = "UPDATE signoff_threads SET holder = NULL WHERE thread_id = ? AND epoch = ?"

_TAKE_AWAY = "UPDATE signoff_threads SET epoch = epoch + 1, holder = NULL WHERE thread_id = ?"

_RENEW = "UPDATE signoff_threads SET expires_at = ?3 WHERE thread_id = ?1 AND epoch = ?2"


def apply(plans: Sequence[Plan], hold: Hold | None, until: Callable[[], float]) -> Steps[bool]:
    """Write plans, and see to the lease; False if one of them does not fit."""
    statements: list[_Statement] = [] if hold is None else [_lease(hold, until)]
    for plan in plans:
        statements += _statements(plan)
    full = joining.full_blocks(plans)
    try:
        if full:
            yield from in_transaction("write", _written(statements, full))
        else:
            yield made(Write, (statements,))
    except sqlite3.IntegrityError:
        return False  # a parent has gone, or something is there already
    if hold is not None and hold.takes:
        hold.lease.epoch = next_epoch(hold.lease, hold.lease.seen[0])
    return True


def append_row(thread_id: str, row: NewRow, lease: Lease) -> Steps[bool]:
    """Write a step that stands on another one, and nothing else."""
    params = (*_values(thread_id, row), row.parent_seal, lease.epoch)
    return bool((yield made(WriteOne, (_STEP, params))))


def _written(statements: Sequence[_Statement], full: Sequence[joining.Block]) -> Steps[None]:
    for statement in statements:
        yield statement
    for block in full:
        yield from joining.join(block)


def renewal(lease: Lease, until: float) -> Write:
    """Give a sign of life."""
    return Write([Expect(_RENEW, (lease.thread_id, lease.epoch, until), lambda: lost(lease))])


def _lease(hold: Hold, until: Callable[[], float]) -> Expect:
    """What the transaction of a run begins with."""
    lease, ends = hold
    if hold.takes:
        holder = None if ends else lease.holder
        epoch, *stood = lease.seen
        params = (lease.thread_id, *stood, holder, until(), next_epoch(lease, epoch))
        take, params = (_TAKE_FIRST, params) if epoch is None else (_TAKE, (*params, epoch))
        return made(Expect, (take, params, lambda: moved(lease)))
    return made(Expect, (_GIVE_BACK if ends else _HAS, (lease.thread_id, lease.epoch), lambda: lost(lease)))


def _statements(plan: Plan) -> list[_Statement]:
    thread_id = plan.thread_id
    statements: list[_Statement] = []
    for closed, asked in plan.filing:
        if closed is None:
            statements.append(made(Execute, (_CLOSE_ALL, (thread_id,))))
        elif closed:
            statements.append(made(ExecuteMany, (_CLOSE, [(thread_id, id) for id in closed])))
        if asked:
            rows = [(thread_id, *question, bytearray(data)) for *question, data in asked]
            statements.append(made(ExecuteMany, (_FILE, rows)))
    for ns, id, parent_id, body in plan.rewritten:
        statements.append(Execute(_REWRITE, (parent_id, body, thread_id, ns, id)))
    for digest, data in plan.blobs.items():
        statements.append(Execute(_BLOB, (thread_id, digest, data)))
    for lineage, start, items in plan.items:
        data = packed_items(items, is_usual=plan.is_usual)
        statements.append(Execute(_ITEMS, (thread_id, lineage, start, len(items), data)))
    for ns, id, task_id, idx, path, data, replaces in plan.writes:
        params = (thread_id, ns, id, task_id, idx, path, bytearray(data))
        statements.append(made(Execute, (_REPLACE_WRITE if replaces else _WRITE, params)))
    if plan.rows:
        statements += _rows(plan)
    return statements


def _rows(plan: Plan) -> list[ExecuteMany]:
    """Rows, in their order; those of one kind that come together are one statement."""
    statements: list[ExecuteMany] = []
    params: list[tuple[Any, ...]] = []
    own = set()
    for row in plan.rows:
        ns, id, parent_id, parent_seal, *_ = row
        # What a row stands on has to be looked for, unless it was written right before.
        is_child = parent_seal is not None and (ns, parent_id) not in own
        if (ns, id) in plan.replaced:
            sql = _CHILD_AGAIN if is_child else _SNAPSHOT_AGAIN
        else:
            sql = _CHILD if is_child else _SNAPSHOT
        own.add((ns, id))
        if not statements or statements[-1].sql is not sql:
            params = []
            statements.append(made(ExecuteMany, (sql, params)))
        values = _values(plan.thread_id, row)
        params.append((*values, parent_seal) if is_child else values)
    return statements


def _values(thread_id: str, row: NewRow) -> tuple[Any, ...]:
    """What a row begins with, as params."""
    ns, id, parent_id, _, depth, run_id, seal, body, writes = row
    run, carried = _NULL if run_id is None else run_id, _NULL if writes is None else bytearray(writes)
    return thread_id, ns, id, parent_id, depth, run, seal, bytearray(body), carried


def cleanup_statements(cleanup: Cleanup) -> list[_Statement]:
    """The statements that remove from a thread what is to be removed."""
    one = cleanup.thread_id
    return [
        ExecuteMany(_REWRITE, [(parent_id, body, one, ns, id) for ns, id, parent_id, body in cleanup.rewritten]),
        ExecuteMany(_REMOVE, [(one, *place) for place in cleanup.removed]),
        ExecuteMany(_REMOVE_WRITE, [(one, *place) for place in cleanup.writes]),
        ExecuteMany(_REPLACE_WRITE, [(one, *write[:6]) for write in cleanup.moved]),
        ExecuteMany(_REMOVE_ITEMS, [(one, *place) for place in cleanup.items]),
        ExecuteMany(_REMOVE_BLOB, [(one, digest) for digest in cleanup.blobs]),
        ExecuteMany(_CLOSE_ALL, [(one,)] if cleanup.closes_all else []),
        ExecuteMany(_FILE, [(one, *question) for question in cleanup.asked]),
        ExecuteMany(_TAKE_AWAY, [(one,)] if cleanup.closes_all else []),
    ]
