"""Appending to the log: the procedure on the hot path. A step is one write, mostly without a look before it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from signoff.checkpoint.log.backend import Backend, Hold
from signoff.checkpoint.log.body import packed
from signoff.checkpoint.log.entries import Entry
from signoff.checkpoint.log.memory import Known, Memory
from signoff.checkpoint.log.plans import NewWrite, Place2, Planner, by_thread
from signoff.checkpoint.log.reading import fetch_known
from signoff.checkpoint.log.writes import merged, packed_writes, unpacked_writes
from signoff.checkpoint.places import Place
from signoff.errors import SignoffError
from signoff.steps import Steps

__all__ = ["LogBusy", "append"]

MOST_TRIES = 25
"""How often others may come in between, each time with something that changes the plan."""


class LogBusy(SignoffError):
    """Others have changed the same checkpoints again and again, in between. Nothing was stored; try again."""


class _Seen(NamedTuple):
    """What is stored around the checkpoints of entries."""

    known: dict[Place2, Known | None]
    replaced: dict[Place2, list[tuple[str, str | None, bytes]]]
    """Checkpoints that are there already, and those that stand on them, as snapshots."""
    writes: dict[tuple[str, str, str], Any]
    """What tasks have written already, by namespace, checkpoint and task."""


def append(
    backend: Backend, serde: Any, memory: Memory, entries: Sequence[Entry], hold: Hold | None = None
) -> Steps[None]:
    """Store commits: all of them, or, if anything goes wrong, none."""
    threads = by_thread(entries)
    if hold is not None:
        threads.setdefault(hold.lease.thread_id, [])
    try:
        planners = yield from _written(backend, serde, memory, threads, hold)
    except BaseException:
        for entry in entries:
            memory.lose_track(entry.place[:2])
        raise
    # Not before it is stored: what is remembered must be in the database.
    memory.learn(((one.plan.thread_id, ns), known) for one in planners for ns, known in one.news.items())


def _written(
    backend: Backend, serde: Any, memory: Memory, threads: Mapping[str, Sequence[Entry]], hold: Hold | None
) -> Steps[list[Planner]]:
    seen: dict[str, _Seen] | None = None
    may_append = True
    for _ in range(MOST_TRIES):
        planners = [
            _planned(serde, memory, thread_id, group, seen[thread_id] if seen else None, may_append)
            for thread_id, group in threads.items()
        ]
        plans = [one.plan for one in planners if one is not None]
        if len(plans) == len(planners):
            if (yield from backend.apply(plans, hold)):
                return [one for one in planners if one is not None]
            may_append = False
        seen = {}
        for thread_id, group in threads.items():
            seen[thread_id] = yield from _look(backend, group)
    raise LogBusy(f"Others write to the same checkpoints of {sorted(threads)} all the time: nothing was stored.")


def _planned(
    serde: Any, memory: Memory, thread_id: str, group: Sequence[Entry], seen: _Seen | None, may_append: bool
) -> Planner | None:
    """The plan for a thread; None if something has to be looked up before. So it is with the fewest steps."""
    known = seen.known if seen else _remembered(memory, thread_id, group)
    planner = Planner(serde, thread_id, known, may_append=may_append)
    for place, standing in (seen.replaced if seen else {}).items():
        planner.replace(place, standing)
    for entry in group:
        if not planner.add(entry):
            return None
    if seen and seen.writes:
        planner.plan.writes = [_kept_once(write, seen.writes) for write in planner.plan.writes]
    return planner


def _remembered(memory: Memory, thread_id: str, group: Sequence[Entry]) -> dict[Place2, Known | None]:
    found: dict[Place2, Known | None] = {}
    for entry in group:
        if entry.checkpoint is not None and entry.place.id is not None:
            known = memory.known((thread_id, entry.place.ns), entry.place.id)
            if known is not None:
                found[entry.place.ns, entry.place.id] = known
    return found


def _kept_once(write: NewWrite, stored: Mapping[tuple[str, str, str], Any]) -> NewWrite:
    old = stored.get(write[:3])
    if old is None or write.replaces:
        return write
    path, data = old
    return write._replace(path=path, data=packed_writes(merged(unpacked_writes(data), unpacked_writes(write.data))),
                          replaces=True)  # fmt: skip


def _look(backend: Backend, group: Sequence[Entry]) -> Steps[_Seen]:
    seen = _Seen({}, {}, {})
    for entry in group:
        thread_id, ns, parent_id = entry.place
        if entry.writes and parent_id is not None:
            yield from _look_at_writes(backend, entry, seen)
        if entry.checkpoint is None:
            continue
        if parent_id is not None:
            record = yield from fetch_known(backend, Place(thread_id, ns, parent_id))
            seen.known[ns, parent_id] = record.known if record else None
        key = (thread_id, ns, entry.checkpoint.id)
        if (yield from backend.singles([key])):
            seen.replaced[key[1:]] = yield from _standing_on(backend, key)
    return seen


def _look_at_writes(backend: Backend, entry: Entry, seen: _Seen) -> Steps[None]:
    thread_id, ns, id = entry.place
    assert id is not None, "writes are kept with a checkpoint"
    rows = yield from backend.writes_of((thread_id, ns, id))
    for task_id, idx, path, data in rows:
        if idx == 0:
            seen.writes[ns, id, task_id] = path, data


def _standing_on(backend: Backend, key: tuple[str, str, str]) -> Steps[list[tuple[str, str | None, bytes]]]:
    """Those that stand on a checkpoint, as snapshots."""
    thread_id, ns, id = key
    snapshots: list[tuple[str, str | None, bytes]] = []
    for child in (yield from backend.children(key)):
        record = (yield from fetch_known(backend, Place(thread_id, ns, child))) if child != id else None
        if record is not None:
            snapshots.append((child, id, packed(record.metadata, record.head, record.held)))
    return snapshots
