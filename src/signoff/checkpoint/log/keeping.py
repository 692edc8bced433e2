"""Keeping house: rules that say what is to be removed from a thread, and the procedures that use them.

What goes may have others standing on it, which become snapshots before. Items and large values that nothing refers
to any more go, too.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from signoff.checkpoint.log import reading
from signoff.checkpoint.log.backend import Backend, Cleanup, Everything, Kept, Raw
from signoff.checkpoint.log.body import packed, unpacked
from signoff.checkpoint.log.filing import Filed, filed
from signoff.checkpoint.log.heads import metadata_of, packed_metadata
from signoff.checkpoint.log.memory import Memory
from signoff.checkpoint.log.plans import NewWrite, Place2, rows_of
from signoff.checkpoint.log.records import Needs, Record, need, needs_of, on_top, record_of
from signoff.checkpoint.log.writes import unpacked_carried, unpacked_writes
from signoff.checkpoint.places import Place, already_there, checked_strategy, not_there, reading_of
from signoff.checkpoint.questions import Filing, Wanted
from signoff.checkpoint.remembered import Made, not_newest, rebased
from signoff.checkpoint.reopening import asked_again, graph_of
from signoff.steps import Steps

__all__ = [
    "Rule",
    "copy_thread",
    "delete_for_runs",
    "delete_threads",
    "keep_newest",
    "made_of",
    "prune",
    "tasks_of",
    "without",
]

Rule = Callable[[Everything], Cleanup]


def delete_threads(backend: Backend, thread_ids: Sequence[str]) -> Steps[None]:
    """Remove threads."""
    if thread_ids:
        yield from backend.delete_threads(thread_ids)


def copy_thread(backend: Backend, source: str, target: str) -> Steps[None]:
    """Copy a thread with its whole history."""
    with reading_of(source):
        copied = yield from backend.copy_thread(source, target)
    if copied != "copied":
        raise already_there(target) if copied == "not empty" else not_there(source)


def delete_for_runs(backend: Backend, serde: Any, run_ids: Collection[str]) -> Steps[None]:
    """Remove the checkpoints that runs made; what other runs built on them stays, and what they ask is open again."""
    runs = set(run_ids)
    for thread_id in (yield from backend.threads_of_runs(runs)):
        read, asked = None, Filed((), ())
        while True:  # until nobody has answered or asked anything in between
            cleanup = yield from backend.tidy(thread_id, partial(_without_runs, thread_id, runs, read, asked))
            if cleanup.unread is None:
                break
            read = cleanup.unread
            asked = yield from _asked_again(backend, serde, thread_id, read.id)


def _asked_again(backend: Backend, serde: Any, thread_id: str, id: str) -> Steps[Filed]:
    """What a thread asks where it will stand."""
    before = yield from reading.find_questions(backend, serde, Wanted(thread_id=thread_id, answered=None, limit=None))
    head = yield from reading.read(backend, serde, Memory(), Place(thread_id, "", id))
    if head is None:
        return Filed((), ())
    asked = asked_again(thread_id, graph_of(before), head.checkpoint["ts"], head.pending_writes or ())
    return filed(serde, Filing(asked))


def prune(backend: Backend, thread_ids: Sequence[str], strategy: str) -> Steps[None]:
    """Remove all but the newest checkpoint of each namespace, or everything."""
    if checked_strategy(strategy) == "delete":
        yield from delete_threads(backend, thread_ids)
        return
    for thread_id in dict.fromkeys(thread_ids):
        yield from backend.tidy(thread_id, keep_newest(thread_id))


def keep_newest(thread_id: str) -> Rule:
    """The rule that leaves the newest checkpoint of each namespace."""
    return lambda found: without(thread_id, found, not_newest(made_of(found), tasks_of(found)), strays=True)


def made_of(found: Everything) -> Made:
    """The metadata of all checkpoints."""
    made: dict[str, dict[str, Any]] = {}
    for ns, id, _, _, _, body, *_ in found.rows:
        made.setdefault(ns, {})[id] = metadata_of(unpacked(body).metadata)
    return made


def tasks_of(found: Everything) -> dict[str, set[str]]:
    """The tasks that something is kept of with a checkpoint of the root."""
    tasks: dict[str, set[str]] = {}
    for ns, id, task_id, *_ in found.writes:
        if not ns:
            tasks.setdefault(id, set()).add(task_id)
    return tasks


def _without_runs(thread_id: str, runs: Collection[str], read: Kept | None, asked: Filed, found: Everything) -> Cleanup:
    """How to remove what runs made; `asked` is what is asked then, if what was `read` for it still stands there."""
    going = {(row[0], row[1]) for row in found.rows if row[6] in runs}
    cleanup = without(thread_id, found, going)
    kept = _kept_by_newest(found, going) if cleanup.closes_all else None
    if kept is None:
        return cleanup
    if kept != read:
        return Cleanup(thread_id, unread=kept)
    cleanup.asked = asked.asked
    return cleanup


def _kept_by_newest(found: Everything, going: Collection[Place2]) -> Kept | None:
    """What is kept with the checkpoint that is the newest once others have gone; None if that is nothing."""
    newest = max((row[1] for row in found.rows if row[0] == "" and ("", row[1]) not in going), default=None)
    if newest is None:
        return None
    writes = sorted((row[2], row[3], bytes(row[5])) for row in found.writes if (row[0], row[1]) == ("", newest))
    carried = sorted(bytes(row[7]) for row in found.rows if row[0] == "" and row[2] == newest and row[7] is not None)
    return Kept(newest, writes, carried) if writes or carried else None


def without(thread_id: str, found: Everything, going: Collection[Place2], *, strays: bool = False) -> Cleanup:
    """How to remove checkpoints from a thread.

    strays: whether writes go that are kept with no checkpoint, and the names of parents that are not there.
    """
    newest = max((row[1] for row in found.rows if row[0] == ""), default=None)
    cleanup = Cleanup(thread_id, removed=sorted(going), closes_all=("", newest) in going)
    staying = {(row[0], row[1]): row for row in found.rows if (row[0], row[1]) not in going}
    records = _records(thread_id, found.rows)
    cleanup.rewritten = list(_rewritten(found, going, staying, records, strays=strays))
    gone = [row for row in found.rows if (row[0], row[1]) in going]
    kept_writes, gone_writes = list[Sequence[Any]](), list[Sequence[Any]]()
    for row in found.writes:
        place = (row[0], row[1])
        is_kept = place in staying if strays else place not in going
        (kept_writes if is_kept else gone_writes).append(row)
    cleanup.writes = [tuple(row[:4]) for row in gone_writes]
    cleanup.size = sum(len(row[5]) for row in (*gone, *gone_writes))
    cleanup.moved = [write for row in gone if (row[0], row[2]) in staying for write in _unloaded(row)]
    needs = needs_of(records[place] for place in staying)
    for data in (*(row[5] for row in kept_writes), *(write.data for write in cleanup.moved)):
        _need_writes(needs, unpacked_writes(data))
    _need_carried(needs, staying)
    _drop_unneeded(cleanup, found, needs)
    return cleanup


def _rewritten(
    found: Everything, going: Collection[Place2], staying: Mapping[Place2, Sequence[Any]],
    records: Mapping[Place2, Record], *, strays: bool,
) -> Iterator[tuple[str, str, str | None, bytes]]:  # fmt: skip
    """Those that stay and stand on something that goes, as snapshots; and those that tell of a branch which changes."""
    made = made_of(found)
    branches = rebased(made, going)
    for (ns, id), row in staying.items():
        is_lost = strays and (row[2] == id or (ns, row[2]) not in staying)
        is_first = row[2] is not None and ((ns, row[2]) in going or is_lost)
        branch = branches.get(id) if not ns else None
        if is_first or branch is not None:
            record = records[ns, id]
            told: Any = {**made[ns][id], "branched_off": branch}
            about = record.metadata if branch is None else packed_metadata(told)
            yield ns, id, None if is_first else row[2], packed(about, record.head, record.held)


def _unloaded(row: Sequence[Any]) -> list[NewWrite]:
    """What a checkpoint carries, as rows of its parent's."""
    ns, _, parent_id, *_, carried = row
    if carried is None:
        return []
    return [
        write
        for task_id, path, writes in unpacked_carried(carried, parent_id)
        for write in rows_of(ns, parent_id, task_id, path, writes)
    ]


def _need_carried(needs: Needs, staying: Mapping[Place2, Sequence[Any]]) -> None:
    for (ns, _), row in staying.items():
        if row[7] is not None and (ns, row[2]) in staying:
            for _, _, writes in unpacked_carried(row[7], row[2]):
                _need_writes(needs, writes)


def _records(thread_id: str, rows: Iterable[Sequence[Any]]) -> dict[Place2, Record]:
    """All checkpoints of a thread, put together."""
    by_place = {(row[0], row[1]): row for row in rows}
    records: dict[Place2, Record] = {}
    for place in sorted(by_place):
        _fill(thread_id, by_place, place, records)
    return records


def _fill(thread_id: str, rows: Mapping[Place2, Sequence[Any]], place: Place2, records: dict[Place2, Record]) -> None:
    """Put together a checkpoint and, before it, what it stands on."""
    chain = [place]
    while rows[chain[-1]][3] != 0 and chain[-1] not in records:
        ns, parent_id = place[0], rows[chain[-1]][2]
        if (ns, parent_id) not in rows or (ns, parent_id) in chain:
            break
        chain.append((ns, parent_id))
    for one in reversed(chain):
        if one not in records:
            row = rows[one]
            raw = Raw([row[1:6]], ())
            below = records.get((row[0], row[2])) if row[3] != 0 else None
            records[one] = (on_top(below, raw) if below else None) or record_of(thread_id, row[0], raw)


def _need_writes(needs: Needs, writes: Iterable[Sequence[Any]]) -> None:
    for _, _, value in writes:
        need(needs, value)


def _drop_unneeded(cleanup: Cleanup, found: Everything, needs: Needs) -> None:
    ranges: dict[int, list[tuple[int, int]]] = {}
    for lineage, first, end in set(needs.spans):
        ranges.setdefault(lineage, []).append((first, end))
    for lineage, start, count, size in found.items:
        if not any(first < start + count and start < end for first, end in ranges.get(lineage, ())):
            cleanup.items.append((lineage, start))
            cleanup.size += size
    for digest, size in found.blobs:
        if digest not in needs.digests:
            cleanup.blobs.append(digest)
            cleanup.size += size
