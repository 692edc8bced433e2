"""Removing from the log: what goes may have others standing on it, which become snapshots before."""

from collections.abc import Iterable, Sequence

from signoff._sqlite.effects import Execute, ExecuteMany, in_transaction
from signoff.checkpoint.delta import packed
from signoff.checkpoint.places import already_there, checked_strategy
from signoff.checkpoint.sqlite.reading import fetch
from signoff.checkpoint.sqlite.rows import Key
from signoff.steps import Steps

__all__ = ["copy_thread", "delete_for_runs", "delete_thread", "make_roots_of_children", "orphans", "prune"]

_TABLES = ("signoff_checkpoints", "signoff_writes")

_OF_THREADS = (*_TABLES, "signoff_threads", "signoff_questions")
"""All that a thread leaves in the file."""

_LINKS = "SELECT id, parent_id FROM signoff_checkpoints WHERE thread_id = ? AND ns = ?"

_REWRITE = """
    UPDATE signoff_checkpoints SET parent_id = ?, depth = 0, changes = ? WHERE thread_id = ? AND ns = ? AND id = ?
"""

_DELETE = "DELETE FROM signoff_checkpoints WHERE thread_id = ? AND ns = ? AND id = ?"

_DELETE_WRITES = "DELETE FROM signoff_writes WHERE thread_id = ? AND ns = ? AND checkpoint_id = ?"

_HEADS = "SELECT thread_id, ns, MAX(id) FROM signoff_checkpoints WHERE thread_id = ? GROUP BY ns"

_DELETE_OTHERS = "DELETE FROM signoff_checkpoints WHERE thread_id = ? AND ns = ? AND id <> ?"

_DELETE_STRAY_WRITES = """
    DELETE FROM signoff_writes WHERE thread_id = ? AND NOT EXISTS (
        SELECT 1 FROM signoff_checkpoints AS log
        WHERE log.thread_id = signoff_writes.thread_id AND log.ns = signoff_writes.ns
        AND log.id = signoff_writes.checkpoint_id
    )
"""

_COPY = """
    INSERT INTO signoff_checkpoints (thread_id, ns, id, parent_id, depth, metadata, run_id, seal, head, changes)
    SELECT ?2, ns, id, parent_id, depth, metadata, run_id, seal, head, changes
    FROM signoff_checkpoints WHERE thread_id = ?1
"""

_COPY_WRITES = """
    INSERT INTO signoff_writes (thread_id, ns, checkpoint_id, task_id, idx, path, channel, type, value)
    SELECT ?2, ns, checkpoint_id, task_id, idx, path, channel, type, value FROM signoff_writes WHERE thread_id = ?1
"""


def delete_thread(thread_id: str) -> Steps[None]:
    """Remove a thread."""
    yield from in_transaction("write", _delete_threads([thread_id]))


def delete_for_runs(run_ids: Sequence[str]) -> Steps[None]:
    """Remove the checkpoints that runs made; what other runs built on them stays."""
    yield from in_transaction("write", _delete_for_runs(run_ids))


def copy_thread(source: str, target: str) -> Steps[None]:
    """Copy a thread with its whole history."""
    yield from in_transaction("write", _copy_thread(source, target))


def prune(thread_ids: Sequence[str], strategy: str) -> Steps[None]:
    """Remove all but the newest checkpoint of each namespace, or everything."""
    if checked_strategy(strategy) == "delete":
        yield from in_transaction("write", _delete_threads(thread_ids))
    else:
        yield from in_transaction("write", _keep_latest(thread_ids))


def make_roots_of_children(key: Key) -> Steps[None]:
    """Make those that stand on a checkpoint independent of what it holds."""
    thread_id, ns, id = key
    rows = yield Execute(_LINKS, (thread_id, ns))
    for child, parent_id in rows:
        if parent_id == id and child != id:
            yield from _make_root((thread_id, ns, child), id)


def orphans(links: Iterable[Sequence[str]], doomed: Iterable[str]) -> list[str]:
    """Who stays while the parent goes, of (child, parent) pairs."""
    going = set(doomed)
    return [child for child, parent in links if parent in going and child not in going]


def _make_root(key: Key, parent_id: str | None = None) -> Steps[None]:
    """Rewrite a checkpoint as a snapshot."""
    record = yield from fetch(key)
    assert record is not None, "asked only for a checkpoint that is there"
    yield Execute(_REWRITE, (parent_id, packed(record.held), *key))


def _delete_threads(thread_ids: Sequence[str]) -> Steps[None]:
    for table in _OF_THREADS:
        yield ExecuteMany(f"DELETE FROM {table} WHERE thread_id = ?", [(id,) for id in thread_ids])


def _delete_for_runs(run_ids: Sequence[str]) -> Steps[None]:
    doomed: list[Key] = []
    for run_id in set(run_ids):
        rows = yield Execute("SELECT thread_id, ns, id FROM signoff_checkpoints WHERE run_id = ?", (run_id,))
        doomed += [(row[0], row[1], row[2]) for row in rows]
    for thread_id, ns in {key[:2] for key in doomed}:
        links = yield Execute(_LINKS, (thread_id, ns))
        for id in orphans(links, (key[2] for key in doomed if key[:2] == (thread_id, ns))):
            yield from _make_root((thread_id, ns, id))
    yield ExecuteMany(_DELETE, doomed)
    yield ExecuteMany(_DELETE_WRITES, doomed)


def _keep_latest(thread_ids: Sequence[str]) -> Steps[None]:
    for thread_id in set(thread_ids):
        for key in (yield Execute(_HEADS, (thread_id,))):
            yield from _make_root((key[0], key[1], key[2]))
            yield Execute(_DELETE_OTHERS, key)
        yield Execute(_DELETE_STRAY_WRITES, (thread_id,))


def _copy_thread(source: str, target: str) -> Steps[None]:
    for table in _TABLES:
        if (yield Execute(f"SELECT 1 FROM {table} WHERE thread_id = ? LIMIT 1", (target,))):
            raise already_there(target)
    yield Execute(_COPY, (source, target))
    yield Execute(_COPY_WRITES, (source, target))
