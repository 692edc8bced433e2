"""What may go, by age and by count, and how many bytes that frees. The rules are those of `log/retention.py`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from sys import getsizeof
from typing import Any

from signoff.checkpoint.log.retention import Freed, age_of, checked_count, checked_cutoff, time_of
from signoff.checkpoint.memory.lineages import Lineage
from signoff.checkpoint.memory.packed import parts_of
from signoff.checkpoint.memory.shelf import Shelf
from signoff.checkpoint.memory.spaces import Space
from signoff.checkpoint.memory.threads import Thread, made_of, rebase, tasks_of
from signoff.checkpoint.places import checked_threads
from signoff.checkpoint.remembered import not_among_newest
from signoff.constants import INTERRUPT, RESUME

__all__ = ["Freed", "cleanup_before", "keep_last"]


IsSilent = Callable[[Thread], bool]
"""Whether no run has given a sign of life in a thread for longer than its lease."""


def cleanup_before(threads: Shelf, cutoff: Any, is_silent: IsSilent, *, dry_run: bool, with_questions: bool) -> Freed:
    """Remove the threads in which nothing was stored since the cutoff."""
    cutoff = checked_cutoff(cutoff)
    checkpoints = size = 0
    old = [(id, thread) for id, thread in _idle(threads, is_silent, with_questions) if _stored_at(thread) < cutoff]
    for id, thread in old:
        checkpoints += sum(len(space.moments) for space in thread.spaces.values())
        size += _size(thread.spaces)
        if not dry_run:
            threads.remove(id)
    return Freed(len(old), checkpoints, size)


def keep_last(
    threads: Shelf,
    count: Any,
    thread_ids: Sequence[str] | None,
    is_silent: IsSilent,
    *,
    dry_run: bool,
    with_questions: bool,
) -> Freed:
    """Remove all but the newest checkpoints of threads, and of nested graphs what belonged to those."""
    count, wanted = checked_count(count), None if thread_ids is None else set(checked_threads(thread_ids))
    checkpoints = size = 0
    for id, thread in _idle(threads, is_silent, with_questions):
        if wanted is None or id in wanted:
            going, spaces = _going(thread.spaces, count), {ns: one.copy_to(id) for ns, one in thread.spaces.items()}
            _drop(spaces, going)
            checkpoints += sum(len(ids) for ids in going.values())
            size += _size(thread.spaces) - _size(spaces)
            kept = threads.get(id) if not dry_run else None
            if kept is not None:
                kept.spaces = spaces
    return Freed(0, checkpoints, size)


def _idle(threads: Shelf, is_silent: IsSilent, with_questions: bool) -> Iterator[tuple[str, Thread]]:
    """The threads that no run has, that nobody is asked anything in, and where something has come of all answers."""
    for id, thread in threads.all():
        is_free = thread.holder is None or is_silent(thread)
        is_waiting = not with_questions and (thread.questions or _waits(thread))
        if is_free and not is_waiting and any(space.moments for space in thread.spaces.values()):
            yield id, thread


def _waits(thread: Thread) -> bool:
    """Whether a thread asks something where it stands, or has an answer there."""
    root = thread.spaces.get("")
    return root is not None and any(write[1] in (INTERRUPT, RESUME) for write in root.kept(root.newest))


def _stored_at(thread: Thread) -> datetime:
    """When the newest checkpoint of a thread was stored, or a run had the thread, if that came later."""
    newest = max((space.moments[space.newest] for space in thread.spaces.values() if space.moments), key=lambda m: m.id)
    return max(age_of(newest.heading()), time_of(thread.heard_at))


def _going(spaces: Mapping[str, Space], count: int) -> dict[str, set[str]]:
    """The checkpoints that do not stay, by namespace."""
    going: dict[str, set[str]] = {ns: set() for ns in spaces}
    for ns, id in not_among_newest(made_of(spaces), tasks_of(spaces), count):
        going[ns].add(id)
    return going


def _drop(spaces: dict[str, Space], going: Mapping[str, set[str]]) -> None:
    """Remove checkpoints, writes that are kept with none, the names of lost parents, and namespaces that are empty."""
    rebase(spaces, going.get("", set()))
    for ns, space in list(spaces.items()):
        space.drop(going[ns] | (space.writes.keys() - space.moments.keys()))
        space.forget_lost_parents()
        if not space.moments:
            del spaces[ns]


def _size(spaces: Mapping[str, Space]) -> int:
    """The bytes of all values. What several checkpoints have is kept, and counted, once."""
    parts = _each_once(part for space in spaces.values() for value in _values(space) for part in parts_of(value))
    return sum(map(getsizeof, _each_once(piece for part in parts for piece in _pieces(part))))


def _each_once(found: Iterable[Any]) -> Iterable[Any]:
    return {id(one): one for one in found}.values()


def _pieces(part: Any) -> Iterable[Any]:
    """The items of a lineage, which many checkpoints have: they are gone through once."""
    return map(itemgetter(1), part.items) if type(part) is Lineage else (part,)


def _values(space: Space) -> Iterator[Any]:
    yield from space.values.values()
    for moment in space.moments.values():
        yield from moment.changed.values()
        yield from moment.whole[0].values() if moment.whole else ()
    for id in space.writes:
        yield from (write[-1] for write in space.kept(id))
