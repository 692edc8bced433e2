"""Preparing: commits are packed before the program goes on, and may change what is in them."""

from collections.abc import Sequence
from typing import Any

from signoff.checkpoint.base import Commit, Moment
from signoff.checkpoint.memory.packed import Packed
from signoff.checkpoint.memory.packing import Packing, is_plain, refuse
from signoff.checkpoint.memory.shelf import Shelf
from signoff.checkpoint.memory.spaces import Space, WholeMoment
from signoff.constants import TASKS
from signoff.errors import NotStorable

__all__ = ["Prepared", "packed_commit"]

Prepared = tuple[Commit, Sequence[Any], Moment | None, Sequence[Any]]
"""A commit, what tasks wrote, the checkpoint and the questions that are asked, all of them packed."""


def packed_commit(packing: Packing, threads: Shelf, commit: Commit, earlier: Sequence[Prepared]) -> Prepared:
    """A commit that is stored together with earlier ones, packed."""
    moment, filing = commit.moment, commit.filing
    if is_plain(packing.plain, commit):
        return commit, tuple(commit.writes), moment, () if filing is None else [one.interrupt for one in filing.asked]
    try:
        if moment is not None:
            _pack_values(packing, threads, commit, moment, earlier)
        elif commit.has_checkpoint:
            moment = _whole(packing, commit)
        records = [packing.record(record) for record in commit.writes] if commit.writes else ()
        asked = [packing.question(one.interrupt) for one in filing.asked] if filing and filing.asked else ()
    except NotStorable:
        refuse(packing.serde, commit)
        raise
    return commit, records, moment, asked


def _pack_values(packing: Packing, threads: Shelf, commit: Commit, moment: Moment, earlier: Sequence[Prepared]) -> None:
    """Pack what a moment changed. Of a list that grew, that is what is new."""
    values = moment.changed
    for name, value in values.items():
        if type(value) is list and value and name != TASKS:
            with threads.lock:  # others may be about to append to the same items
                values[name] = _packed_list(packing, threads, commit, name, value, earlier)
        elif type(value) not in packing.plain and type(value) is not Packed:  # else it is stored once more
            values[name] = packing.pack(name, value)


def _packed_list(
    packing: Packing, threads: Shelf, commit: Commit, name: str, value: Any, earlier: Sequence[Prepared]
) -> Packed:
    space = threads.space(*commit.place[:2])
    before = _stored_before(space, name, commit.place, earlier)
    return space.lists.pack(packing, name, value, before, commit.writes, is_told=commit.is_told)


def _stored_before(space: Space, name: str, place: Sequence[Any], earlier: Sequence[Prepared]) -> Any:
    """What the checkpoint that a commit stands on has in a channel; it may be about to be stored, too."""
    *where, id = place
    for commit, _, moment, _ in reversed(earlier):
        if moment is not None and moment.id == id and [*commit.place[:2]] == where:
            if name in moment.changed:
                return moment.changed[name]
            id = commit.place[2]
    return space.all_of(id)[0].get(name) if id in space.moments else None


def _whole(packing: Packing, commit: Commit) -> Moment:
    """A checkpoint that was put as a whole."""
    head: dict[str, Any] = {**commit.checkpoint}  # type: ignore[dict-item]
    values = {name: packing.pack(name, value) for name, value in head.pop("channel_values").items()}
    versions = head.pop("channel_versions")
    return WholeMoment(head, commit.metadata, dict.fromkeys(commit.changed), values, versions)
