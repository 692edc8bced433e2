"""Tidying up: what of a thread goes, what is copied, and the space in the file that is given back."""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from signoff._sqlite.effects import Execute, ExecuteMany
from signoff.checkpoint.log.backend import Cleanup, Copied, Everything
from signoff.checkpoint.sqlite import writing
from signoff.steps import Steps

__all__ = ["copy_thread", "delete_idle", "delete_threads", "make_shrinkable", "tidy"]

_OF_THREADS = ("signoff_checkpoints", "signoff_writes", "signoff_items", "signoff_blobs",
               "signoff_threads", "signoff_questions")  # fmt: skip
"""All that a thread leaves in the file."""

_COPIED = {
    "signoff_checkpoints": "ns, id, parent_id, depth, run_id, seal, branch, writes, body",
    "signoff_writes": "ns, checkpoint_id, task_id, idx, path, data",
    "signoff_items": "lineage, start, count, data",
    "signoff_blobs": "digest, data",
    "signoff_questions": "id, graph, path, node, asked_at, text, type, value",
}

_ROWS = """
    SELECT ns, id, parent_id, depth, seal, body, run_id, writes FROM signoff_checkpoints WHERE thread_id = ?
"""


def tidy(thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
    """Remove and rewrite what a rule says of all that a thread has."""
    one = (thread_id,)
    rows = yield Execute(_ROWS, one)
    writes = yield Execute(f"SELECT {_COPIED['signoff_writes']} FROM signoff_writes WHERE thread_id = ?", one)
    items = yield Execute("SELECT lineage, start, count, LENGTH(data) FROM signoff_items WHERE thread_id = ?", one)
    blobs = yield Execute("SELECT digest, LENGTH(data) FROM signoff_blobs WHERE thread_id = ?", one)
    standing = yield Execute(writing.STANDING, one)
    cleanup = rule(Everything(rows, writes, items, blobs, standing[0]))
    for statement in writing.cleanup_statements(cleanup):
        yield statement
    yield from _shrink()
    return cleanup


def delete_threads(thread_ids: Sequence[str]) -> Steps[None]:
    """Remove all that threads have."""
    for table in _OF_THREADS:
        yield ExecuteMany(f"DELETE FROM {table} WHERE thread_id = ?", [(id,) for id in thread_ids])
    yield from _shrink()


def delete_idle(seen: Mapping[str, Any], *, with_questions: bool) -> Steps[list[str]]:
    """Remove those of threads that still stand as they were seen, unless they ask something."""
    gone = []
    for thread_id, was in seen.items():
        standing = yield Execute(writing.STANDING, (thread_id,))
        asked = yield Execute("SELECT 1 FROM signoff_questions WHERE thread_id = ? LIMIT 1", (thread_id,))
        if tuple(standing[0]) == was and (with_questions or not asked):
            gone.append(thread_id)
    yield from delete_threads(gone)
    return gone


def copy_thread(source: str, target: str) -> Steps[Copied]:
    """Copy a thread, and say whether that was done: the target must not have begun."""
    if (yield from _has_begun(target)):
        return "not empty"
    if not (yield from _has_begun(source)):
        return "not there"
    for table, columns in _COPIED.items():
        sql = f"INSERT INTO {table} (thread_id, {columns}) SELECT ?, {columns} FROM {table} WHERE thread_id = ?"
        yield Execute(sql, (target, source))
    return "copied"


def _has_begun(thread_id: str) -> Steps[bool]:
    for table in _COPIED:
        if (yield Execute(f"SELECT 1 FROM {table} WHERE thread_id = ? LIMIT 1", (thread_id,))):
            return True
    return False


def make_shrinkable() -> Steps[None]:
    """Have a new file give its free pages back."""
    # Of use only in a new file: one that has tables keeps its way, until somebody runs VACUUM, and would have to be
    # locked to be told. Without it space is used again, only not given back.
    try:
        pages = yield Execute("PRAGMA page_count")
        if pages[0][0] == 0:
            yield Execute("PRAGMA auto_vacuum = INCREMENTAL")
    except sqlite3.OperationalError:
        pass


def _shrink() -> Steps[None]:
    """Let the machine have the pages that are free by now."""
    rows = yield Execute("PRAGMA auto_vacuum")
    pages = yield Execute("PRAGMA freelist_count")
    for _ in range(pages[0][0] if rows[0][0] == 2 else 0):
        yield Execute("PRAGMA incremental_vacuum")  # one page each time: sqlite3 takes one step of it
