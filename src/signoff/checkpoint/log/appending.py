"""Appending to the log: the procedure on the hot path. A step is one write, mostly without a look before it."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from signoff.checkpoint.lease import Lease
from signoff.checkpoint.log.backend import Backend, Hold, Key
from signoff.checkpoint.log.body import packed
from signoff.checkpoint.log.entries import Entry
from signoff.checkpoint.log.known import Known
from signoff.checkpoint.log.memory import Memory
from signoff.checkpoint.log.planning import Planned, Planner, by_thread, planned_at_once
from signoff.checkpoint.log.plans import NewWrite, Place2
from signoff.checkpoint.log.reading import fetch_known
from signoff.checkpoint.log.ready import Ready
from signoff.checkpoint.log.shortening import short_id, short_path, short_task
from signoff.checkpoint.log.writes import merged, packed_writes, unpacked_writes
from signoff.checkpoint.places import Place
from signoff.errors import SignoffError, Undecodable
from signoff.steps import Steps

__all__ = ["LogBusy", "append", "append_step"]

MOST_TRIES = 25
"""How often others may come in between, each time with something that changes the plan."""


class LogBusy(SignoffError):
    """Others have changed the same checkpoints again and again, in between. Nothing was stored; try again."""


class _Seen(NamedTuple):
    """What is stored around the checkpoints of entries."""

    known: dict[Place2, Known | None]
    replaced: dict[Place2, list[tuple[str, bytes]]]
    """Checkpoints that are there already, and those that stand on them: their ids, and bodies as snapshots."""
    writes: dict[tuple[str, str, str], Any]
    """What tasks have written already, by namespace, checkpoint and task, all as they are stored."""


_Groups = Mapping[str, Sequence[Entry | Ready]]
"""Entries by thread."""


def append_step(backend: Backend, serde: Any, memory: Memory, step: Ready, lease: Lease) -> Steps[None]:
    """Store a step in the middle of a run, which neither takes the thread nor gives it back."""
    row, known, where = step.row, step.known, (step.thread_id, step.ns)
    assert row is not None, "a step has a checkpoint"
    assert known is not None, "a step has a checkpoint"
    try:
        is_done = yield from backend.append_row(step.thread_id, row, lease)
    except BaseException:
        memory.lose_track(where)
        raise
    if is_done:
        memory.learn({where: known})
    else:
        yield from append(backend, serde, memory, [step], Hold(lease, False))


def append(
    backend: Backend, serde: Any, memory: Memory, entries: Sequence[Entry | Ready], hold: Hold | None = None
) -> Steps[None]:
    """Store commits: all of them, or, if anything goes wrong, none."""
    threads = by_thread(entries)
    if hold is not None:
        threads.setdefault(hold.lease.thread_id, [])
    try:
        planned = _planned_at_once(threads) or _planned(backend, serde, memory, threads)
        if planned is None or not (yield from backend.apply([one.plan for one in planned], hold)):
            planned = yield from _looked_up(backend, serde, memory, threads, hold, may_append=planned is None)
    except BaseException as error:
        if isinstance(error, Undecodable) and len(threads) == 1:
            error.say_where(*threads)
        for entry in entries:
            memory.lose_track((entry.thread_id, entry.ns))
        raise
    # Not before it is stored: what is remembered must be in the database.
    for one in planned:
        memory.learn(one.news)


def _looked_up(
    backend: Backend, serde: Any, memory: Memory, threads: _Groups, hold: Hold | None, *, may_append: bool
) -> Steps[Sequence[Planned | Planner]]:
    """Store commits, with an eye on what there is; again, if others come in between."""
    for _ in range(MOST_TRIES):
        seen = {}
        for thread_id, group in threads.items():
            seen[thread_id] = yield from _look(backend, group)
        planners = _planned(backend, serde, memory, threads, seen, may_append=may_append)
        if planners is not None and (yield from backend.apply([one.plan for one in planners], hold)):
            return planners
        may_append = False
    raise LogBusy(f"Others write to the same checkpoints of {sorted(threads)} all the time: nothing was stored.")


def _planned_at_once(threads: _Groups) -> list[Planned] | None:
    """The plans for threads, if nothing has to be known for them, as mostly."""
    plans = []
    for thread_id, group in threads.items():
        planned = planned_at_once(thread_id, group)
        if planned is None:
            return None
        if len(planned.plan.writes) > 1:
            planned.plan.writes = _each_once(planned.plan.writes)
        plans.append(planned)
    return plans


def _planned(
    backend: Backend, serde: Any, memory: Memory, threads: _Groups, seen: Mapping[str, _Seen] | None = None,
    *, may_append: bool = True,
) -> Sequence[Planned | Planner] | None:  # fmt: skip
    """The plans for threads; None if something has to be looked up before. So it is with the fewest steps."""
    planners = []
    for thread_id, group in threads.items():
        found = seen[thread_id] if seen else None
        known = found.known if found else _remembered(memory, group)
        planner = Planner(serde, thread_id, known, carries=backend.carries_writes, may_append=may_append)
        if found:
            for place, standing in found.replaced.items():
                planner.replace(place, standing)
        for entry in group:
            if not (type(entry) is Ready and planner.add_row(entry)) and not planner.add(entry):
                return None
        if len(planner.plan.writes) > 1:
            planner.plan.writes = _each_once(planner.plan.writes)
        if found and found.writes:
            planner.plan.writes = [_kept_once(write, found.writes) for write in planner.plan.writes]
        planners.append(planner)
    return planners


def _remembered(memory: Memory, group: Sequence[Entry | Ready]) -> dict[Place2, Known | None]:
    """What the first entry of each namespace stands on; those after it mostly stand on each other."""
    found: dict[Place2, Known | None] = {}
    asked = set()
    for entry in group:
        if entry.ns not in asked and (type(entry) is Ready or entry.checkpoint is not None):
            asked.add(entry.ns)
            known = memory.known((entry.thread_id, entry.ns), entry.parent_id) if entry.parent_id else None
            if known is not None:
                found[entry.ns, known.id] = known
    return found


def _each_once(writes: list[NewWrite]) -> list[NewWrite]:
    """What commits that are stored together say of one task, as one row."""
    if len(writes) == len({write[:4] for write in writes}):
        return writes
    found: dict[Any, NewWrite] = {}
    for write in writes:
        old = found.get(write[:4])
        if old is not None and not write.replaces:
            write = _kept_once(write, {write[:3]: (old.path, old.data)})._replace(replaces=False)
        found[write[:4]] = write
    return list(found.values())


def _kept_once(write: NewWrite, stored: Mapping[tuple[str, str, str], Any]) -> NewWrite:
    old = stored.get(write[:3])
    if old is None or write.replaces:
        return write
    path, data = old
    return write._replace(path=path, data=packed_writes(merged(unpacked_writes(data), unpacked_writes(write.data))),
                          replaces=True)  # fmt: skip


def _look(backend: Backend, group: Sequence[Entry | Ready]) -> Steps[_Seen]:
    seen = _Seen({}, {}, {})
    for entry in group:
        thread_id, ns, parent_id = entry.thread_id, entry.ns, entry.parent_id
        if entry.writes and parent_id is not None:
            yield from _look_at_writes(backend, (thread_id, ns, parent_id), seen)
        if entry.checkpoint is None:
            continue
        if parent_id is not None:
            record = yield from fetch_known(backend, Place(thread_id, ns, parent_id))
            seen.known[ns, parent_id] = record.known if record else None
        key = (thread_id, ns, entry.checkpoint.id)
        if (yield from backend.singles([key])):
            seen.replaced[key[1:]] = yield from _standing_on(backend, key)
    return seen


def _look_at_writes(backend: Backend, key: Key, seen: _Seen) -> Steps[None]:
    _, ns, id = key
    for task_id, idx, path, data in (yield from backend.writes_of(key)):
        if idx == 0:
            seen.writes[ns, short_id(id), short_task(task_id, id)] = short_path(path), data


def _standing_on(backend: Backend, key: tuple[str, str, str]) -> Steps[list[tuple[str, bytes]]]:
    """Those that stand on a checkpoint, as snapshots."""
    thread_id, ns, id = key
    snapshots: list[tuple[str, bytes]] = []
    for child in (yield from backend.children(key)):
        record = (yield from fetch_known(backend, Place(thread_id, ns, child))) if child != id else None
        if record is not None:
            snapshots.append((child, packed(record.metadata, record.head, record.held)))
    return snapshots
