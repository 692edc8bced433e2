"""Tidying up: what of a thread goes, and what is copied."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from signoff._postgres.effects import Execute, Write
from signoff._postgres.texts import as_put, as_stored
from signoff._postgres.transactions import transaction
from signoff.checkpoint.log.backend import Cleanup, Copied, Everything
from signoff.checkpoint.postgres import writing
from signoff.checkpoint.postgres.ids import id_as_put, run_as_put
from signoff.checkpoint.postgres.rows import COLUMNS, put
from signoff.steps import Steps

__all__ = ["copy_thread", "delete_idle", "delete_threads", "tidy"]

_OF_THREADS = ("signoff_checkpoints", "signoff_writes", "signoff_items", "signoff_blobs",
               "signoff_threads", "signoff_questions")  # fmt: skip
"""All that a thread leaves in the database."""

_COPIED = {
    "signoff_checkpoints": "ns, id, parent, depth, run, seal, branch, writes, body",
    "signoff_writes": "ns, checkpoint_id, task_id, idx, path, data",
    "signoff_items": "lineage, start, count, data",
    "signoff_blobs": "digest, data",
    "signoff_questions": "id, graph, path, node, asked_at, text, type, value",
}

_IDLE = """
    SELECT epoch, head, written, EXISTS (SELECT 1 FROM signoff_questions WHERE thread_id = %s)
    FROM signoff_standing(%s::text)
"""

_SEEN = "SELECT epoch, head, written FROM signoff_standing(%s::text)"

MOST_LOCKS = 256
"""How many threads are removed in one transaction: each of them is a lock, of which the server has some thousand."""


def tidy(thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
    """Remove and rewrite what a rule says of all that a thread has."""
    return transaction("write", lambda: _tidied(thread_id, rule))


def delete_threads(thread_ids: Sequence[str]) -> Steps[None]:
    """Remove all that threads have."""
    for some in _portions(thread_ids):
        # Not simply done again if its answer is lost: somebody may have begun a thread anew by then.
        statements = [*map(writing.lock, some), *_deletes(some)]
        yield from transaction("write", lambda statements=statements: _at_once(statements))  # type: ignore[misc]


def delete_idle(seen: Mapping[str, Any], *, with_questions: bool) -> Steps[list[str]]:
    """Remove those of threads that still stand as they were seen, unless they ask something."""
    gone: list[str] = []
    for some in _portions(seen):
        gone += yield from transaction("write", lambda some=some: _deleted_idle(seen, some, with_questions))  # type: ignore[misc]
    return gone


def copy_thread(source: str, target: str) -> Steps[Copied]:
    """Copy all that a thread has, unless the other one has something."""
    return transaction("write", lambda: _copied(source, target))


def _portions(thread_ids: Iterable[str]) -> Iterator[list[str]]:
    """Threads that are removed at a time, in the order in which everybody locks them: so nobody waits in a circle."""
    ordered = sorted(set(thread_ids))
    return (ordered[start : start + MOST_LOCKS] for start in range(0, len(ordered), MOST_LOCKS))


def _at_once(statements: Sequence[Execute]) -> Steps[None]:
    yield Write(statements)


def _deletes(thread_ids: Sequence[str]) -> list[Execute]:
    wanted = [as_stored(id) for id in thread_ids]
    return [Execute(f"DELETE FROM {table} WHERE thread_id = ANY (%s::text[])", (wanted,)) for table in _OF_THREADS]


def _deleted_idle(seen: Mapping[str, Any], thread_ids: Sequence[str], with_questions: bool) -> Steps[list[str]]:
    gone = []
    for thread_id in thread_ids:
        yield writing.lock(thread_id)
        epoch, head, written, asks = (yield Execute(_IDLE, [as_stored(thread_id)] * 2))[0]
        if (epoch, head, written) == tuple(seen[thread_id]) and (with_questions or not asks):
            gone.append(thread_id)
    for statement in _deletes(gone):
        yield statement
    return gone


def _tidied(thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
    one = (as_stored(thread_id),)
    yield writing.lock(thread_id)
    rows = yield Execute(
        f"SELECT ns, {COLUMNS}, run, NULLIF(writes, '') FROM signoff_checkpoints WHERE thread_id = %s",
        one,
    )
    writes = yield Execute(f"SELECT {_COPIED['signoff_writes']} FROM signoff_writes WHERE thread_id = %s", one)
    items = yield Execute("SELECT lineage, start, count, LENGTH(data) FROM signoff_items WHERE thread_id = %s", one)
    blobs = yield Execute("SELECT digest, LENGTH(data) FROM signoff_blobs WHERE thread_id = %s", one)
    rows = [(as_put(ns), id_as_put(id), id_as_put(parent_id), depth, seal, body, run_as_put(run), carried)
            for ns, id, parent_id, depth, seal, body, run, carried in rows]  # fmt: skip
    writes = [(ns, id_as_put(id), *rest) for ns, id, *rest in put(writes)]
    seen = yield Execute(_SEEN, one)
    cleanup = rule(Everything(rows, writes, items, [(bytes(digest), size) for digest, size in blobs], seen[0]))
    for statement in writing.cleanup_statements(cleanup):
        yield statement
    return cleanup


def _copied(source: str, target: str) -> Steps[Copied]:
    for thread_id in sorted({source, target}):
        yield writing.lock(thread_id)
    params = (as_stored(target), as_stored(source))
    if (yield from _has_begun(target)):
        return "not empty"
    if not (yield from _has_begun(source)):
        return "not there"
    for table, columns in _COPIED.items():
        yield Execute(
            f"INSERT INTO {table} (thread_id, {columns}) SELECT %s, {columns} FROM {table} WHERE thread_id = %s", params
        )
    return "copied"


def _has_begun(thread_id: str) -> Steps[bool]:
    for table in _COPIED:
        if (yield Execute(f"SELECT 1 FROM {table} WHERE thread_id = %s LIMIT 1", (as_stored(thread_id),))):
            return True
    return False
