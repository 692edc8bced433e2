"""Retention: what is removed by age and by count, and how many bytes that frees.

A thread with an open question, or an answer that nothing has come of yet, is left alone unless told otherwise; one
that a run has just now is left alone in any case.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from signoff.checkpoint.log.backend import Backend, Cleanup, Everything, Raw, ThreadSize
from signoff.checkpoint.log.body import unpacked
from signoff.checkpoint.log.heads import head_of
from signoff.checkpoint.log.keeping import Rule, made_of, tasks_of, without
from signoff.checkpoint.log.writes import unpacked_writes
from signoff.checkpoint.places import Place, reading_of
from signoff.checkpoint.remembered import not_among_newest
from signoff.constants import INTERRUPT, RESUME
from signoff.errors import InvalidInput, Undecodable
from signoff.steps import Steps

__all__ = ["Freed", "age_of", "checked_count", "checked_cutoff", "cleanup_before", "keep_last", "time_of"]


class Freed(NamedTuple):
    """What was removed, or would be."""

    threads: int
    """How many threads were removed whole."""
    checkpoints: int
    bytes: int
    """Of what was stored; what a database needs to keep it comes on top."""


def checked_cutoff(cutoff: Any) -> datetime:
    """A time that is told with its zone."""
    if not isinstance(cutoff, datetime) or cutoff.tzinfo is None:
        raise InvalidInput(f"{cutoff!r} is no time with a zone: give datetime.now(UTC) - timedelta(days=30), or such.")
    return cutoff


def checked_count(count: Any) -> int:
    """How many checkpoints are to stay."""
    if type(count) is not int or count < 1:
        raise InvalidInput(f"At least the newest checkpoint stays: give a number from 1 on, not {count!r}.")
    return count


def cleanup_before(
    backend: Backend, serde: Any, cutoff: datetime, lease_s: float | None, *, dry_run: bool, with_questions: bool
) -> Steps[Freed]:
    """Remove the threads in which nothing was stored since the cutoff."""

    def is_old(one: ThreadSize) -> bool:
        with reading_of(one.thread_id):
            stored_at = age_of(head_of(serde, unpacked(one.newest).head, one.id))
        return max(stored_at, _heard_at(one.expires_at, lease_s)) < cutoff

    old = yield from _threads(backend, is_old, with_questions)
    counted = {}
    for thread_id in old:
        counted[thread_id] = yield from backend.tidy(thread_id, _counted(thread_id))
    if old and not dry_run:
        # Somebody may have gone on with one of them meanwhile: that one stays.
        gone = yield from backend.delete_idle(old, with_questions=with_questions)
        counted = {thread_id: counted[thread_id] for thread_id in gone}
        yield from backend.give_space_back()
    checkpoints, size = sum(len(one.counted) for one in counted.values()), sum(one.size for one in counted.values())
    return Freed(len(counted), checkpoints, size)


def keep_last(
    backend: Backend, count: int, thread_ids: Sequence[str] | None, *, dry_run: bool, with_questions: bool
) -> Steps[Freed]:
    """Remove all but the newest checkpoints of threads, and of nested graphs what belonged to those."""
    wanted = None if thread_ids is None else set(thread_ids)
    found = yield from _threads(backend, lambda one: wanted is None or one.thread_id in wanted, with_questions)
    checkpoints = size = 0
    for thread_id, seen in found.items():
        cleanup = yield from backend.tidy(thread_id, _newest(thread_id, count, seen, dry_run=dry_run))
        checkpoints, size = checkpoints + len(cleanup.counted), size + cleanup.size
    if checkpoints and not dry_run:
        yield from backend.give_space_back()
    return Freed(0, checkpoints, size)


def _threads(backend: Backend, is_wanted: Callable[[ThreadSize], bool], with_questions: bool) -> Steps[dict[str, Any]]:
    """Threads that nobody has just now, and how they stand."""
    found = {}
    for one in (yield from backend.threads()):
        if is_wanted(one) and (with_questions or not one.has_questions):
            raw = yield from backend.fetch(Place(one.thread_id, "", None), looks=True)
            has_moved = bool(raw.rows) and raw.rows[0][0] > one.id
            if not with_questions and _waits(raw):
                continue  # it has asked just now; or nothing has come of an answer yet, or a new checkpoint were there
            if raw.standing is not None and not has_moved and (not raw.standing.holder or raw.standing.is_expired):
                found[one.thread_id] = raw.standing.seen
    return found


def _waits(raw: Raw) -> bool:
    """Whether a thread asks something where it stands, or has an answer there."""
    try:
        channels = (channel for *_, data in raw.writes for _, channel, _ in unpacked_writes(data))
        return any(channel in (INTERRUPT, RESUME) for channel in channels)
    except Undecodable:
        return False  # whoever tidies the thread up is told which one it is


def age_of(head: Mapping[str, Any]) -> datetime:
    """When a checkpoint was stored."""
    try:
        moment = datetime.fromisoformat(str(head.get("ts")))
    except ValueError:
        return datetime.max.replace(tzinfo=UTC)  # no telling, so it stays
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _heard_at(expires_at: Any, lease_s: float | None) -> datetime:
    """When the last run of a thread gave a sign of life: what it has stored may have come to no checkpoint."""
    try:
        return time_of(float(expires_at) - float(lease_s))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return _NEVER  # nobody had the thread, or only a machine's end would have ended the lease


def time_of(moment: float) -> datetime:
    """A moment as a time with its zone; the first one there is, if it is none."""
    try:
        return datetime.fromtimestamp(moment, UTC)
    except (ValueError, OverflowError, OSError):
        return _NEVER


_NEVER = datetime.min.replace(tzinfo=UTC)


def _counted(thread_id: str) -> Rule:
    """The rule that removes nothing, but counts what a thread has."""

    def rule(found: Everything) -> Cleanup:
        everything = without(thread_id, found, {(row[0], row[1]) for row in found.rows}, strays=True)
        return Cleanup(thread_id, counted=everything.removed, size=everything.size)

    return rule


def _newest(thread_id: str, count: int, seen: Any, *, dry_run: bool) -> Rule:
    """The rule that leaves the newest checkpoints, and a thread alone that somebody has gone on with meanwhile."""

    def rule(found: Everything) -> Cleanup:
        if tuple(found.seen) != tuple(seen):
            return Cleanup(thread_id)
        cleanup = without(thread_id, found, not_among_newest(made_of(found), tasks_of(found), count), strays=True)
        cleanup.counted = cleanup.removed
        return Cleanup(thread_id, counted=cleanup.removed, size=cleanup.size) if dry_run else cleanup

    return rule
