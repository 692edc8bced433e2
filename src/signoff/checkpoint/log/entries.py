"""Commits, encoded: what the program changes afterwards is not stored."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from random import getrandbits
from typing import Any, NamedTuple

from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import WRITES_IDX_MAP, ChannelVersions, Checkpoint, Commit
from signoff.checkpoint.encoding import Blob, with_name
from signoff.checkpoint.log.body import packed_head, packed_metadata, packed_moment
from signoff.checkpoint.log.growth import Edit, Tracked, whole, written_in
from signoff.checkpoint.log.memory import Memory, Track
from signoff.checkpoint.log.values import LARGE
from signoff.checkpoint.places import Place
from signoff.checkpoint.questions import Filing, Question, as_text
from signoff.constants import START
from signoff.errors import NotStorable

__all__ = ["Entry", "Filed", "InItems", "InLists", "NewCheckpoint", "NewWrites", "as_entries", "encoded_whole"]

LONG = 16
"""A list of so many items is kept item by item,"""

BULKY = 512
"""and so is one that takes so many bytes."""


class InItems(NamedTuple):
    """A written value that has become part of a list: it is stored there."""

    channel: str
    first: int
    length: int
    is_list: bool


class InLists(NamedTuple):
    """A dict of lists, such as the input of a run, that become part of the lists of the next checkpoint."""

    parts: dict[str, InItems]
    edits: Mapping[str, Edit]
    """What the next checkpoint does to its lists."""
    alone: Blob | dict[str, Blob]
    """The same on its own, if it has to be stored so."""


Fresh = Blob | Edit | InLists | dict[str, Blob]
"""A value that is to be stored; a large input is stored value by value, since its values are in the state, too."""


class NewWrites(NamedTuple):
    """What a task wrote, in the order in which it did: its index, channel and value each."""

    task_id: str
    path: str
    writes: list[tuple[int, str, Blob | InItems]]


class NewCheckpoint(NamedTuple):
    """A checkpoint that is to be stored. All but `values` was encoded when it was made."""

    id: str
    seal: int
    metadata: Any
    head: Any
    run_id: str | None
    versions: ChannelVersions
    fresh: dict[str, Fresh]
    """The values that changed; of a checkpoint without a parent, all."""
    base: int | None
    """The seal of the checkpoint whose lists the edits stand on."""
    values: Mapping[str, Any]


class Filed(NamedTuple):
    """What becomes of the open questions of a thread, the new ones as rows."""

    closed: Sequence[str] | None
    asked: Sequence[tuple[Any, ...]]
    """(id, graph, path, node, asked_at, text, tag, data) each."""


class Entry(NamedTuple):
    """A commit that is to be stored."""

    place: Place
    writes: list[NewWrites]
    checkpoint: NewCheckpoint | None
    filing: Filed | None


def as_entries(serde: Any, memory: Memory, commits: Sequence[Commit]) -> list[Entry]:
    """Commits, encoded."""
    entries = [_entry(serde, memory, commit) for commit in commits]
    for one, following in pairwise(entries):
        if one.checkpoint is not None and following.checkpoint is not None and START in one.checkpoint.fresh:
            _share(one.checkpoint, following.checkpoint)
    return entries


def _entry(serde: Any, memory: Memory, commit: Commit) -> Entry:
    """A commit, encoded."""
    place = Place(*commit.place)
    try:
        checkpoint = None if commit.checkpoint is None else _new(serde, memory, commit, place, commit.checkpoint)
        # Without a checkpoint there is nothing that writes could be kept with.
        writes = _writes(serde, commit, checkpoint) if place.id else []
    except NotStorable as error:
        raise _named(serde, commit) or error from error
    return Entry(place, writes, checkpoint, None if commit.filing is None else _filed(serde, commit.filing))


def encoded_whole(serde: Any, value: Any) -> Blob | Edit:
    """A value, without regard to what was there before."""
    if type(value) is list and len(value) >= LONG:
        return whole(value, [serde.dumps_typed(item) for item in value])
    blob: Blob = serde.dumps_typed(value)
    if type(value) is list and len(value) > 1 and len(blob[1]) > BULKY:
        return whole(value, [serde.dumps_typed(item) for item in value])
    return blob


def _new(serde: Any, memory: Memory, commit: Commit, place: Place, checkpoint: Checkpoint) -> NewCheckpoint:
    values, where, seal = checkpoint["channel_values"], place[:2], getrandbits(63)
    track = memory.take_track(where, place.id) if place.id else None
    lists = dict(track.lists) if track else {}
    fresh: dict[str, Fresh] = {}
    for name in commit.changed if place.id else values:
        if name in values:
            fresh[name] = _value(serde, lists, name, values[name], commit.writes)
    if lists:
        memory.put_track(where, Track(checkpoint["id"], seal, {name: lists[name] for name in lists if name in values}))
    versions, base = checkpoint["channel_versions"], track.seal if track else None
    return NewCheckpoint(checkpoint["id"], seal, *_described(serde, commit), versions, fresh, base, values)


def _described(serde: Any, commit: Commit) -> tuple[Any, Any, str | None]:
    """The metadata and the head of a checkpoint, packed, and the run that made it."""
    if commit.moment is not None:
        return packed_moment(serde, commit.moment)
    assert commit.checkpoint is not None, "it is about to be stored"
    head = packed_head(serde, commit.checkpoint)
    return packed_metadata(commit.metadata), head, _metadata.run_id_of(commit.metadata)


def _value(serde: Any, lists: dict[str, Tracked], name: str, value: Any, writes: Iterable[Any]) -> Fresh:
    if name in lists and type(value) is list and value:
        return lists[name].edited(value, written_in(name, writes), serde.dumps_typed)
    lists.pop(name, None)
    encoded = encoded_whole(serde, value)
    if isinstance(encoded, Edit):
        lists[name] = Tracked(value, encoded.parts[0])  # type: ignore[arg-type]
    elif name == START and len(encoded[1]) > LARGE and type(value) is dict and set(map(type, value)) == {str}:
        return {key: serde.dumps_typed(one) for key, one in value.items()}
    return encoded


def _share(one: NewCheckpoint, following: NewCheckpoint) -> None:
    """Store what a run was given where it went: in the lists of the checkpoint after it."""
    value, alone = one.values[START], one.fresh[START]
    edits = _edits(following)
    if following.base != one.seal or type(value) is not dict or isinstance(alone, Edit | InLists):
        return
    parts = {name: _in_items(edits, name, items) for name, items in value.items() if name not in one.fresh}
    found = {name: part for name, part in parts.items() if part is not None and part.is_list}
    if found and len(found) == len(value):
        one.fresh[START] = InLists(found, edits, alone)


def _edits(checkpoint: NewCheckpoint) -> dict[str, Edit]:
    return {name: one for name, one in checkpoint.fresh.items() if isinstance(one, Edit)}


def _writes(serde: Any, commit: Commit, checkpoint: NewCheckpoint | None) -> list[NewWrites]:
    edits = _edits(checkpoint) if checkpoint is not None else {}
    made = []
    for task_id, writes, path in commit.writes:
        encoded = []
        for at, (name, value) in enumerate(writes):
            found = _in_items(edits, name, value) if name in edits else None
            encoded.append((WRITES_IDX_MAP.get(name, at), name, found or serde.dumps_typed(value)))
        made.append(NewWrites(task_id, path, encoded))
    return made


def _in_items(edits: Mapping[str, Edit], name: str, value: Any) -> InItems | None:
    """Where a value is among the new items of a list, if it is."""
    if name not in edits:
        return None
    fresh, is_list = edits[name].fresh, type(value) is list
    places = [fresh.get(id(item), -1) for item in (value if is_list else [value])]
    if places and places[0] >= 0 and places == list(range(places[0], places[0] + len(places))):
        return InItems(name, places[0], len(places), is_list)
    return None


def _filed(serde: Any, filing: Filing) -> Filed:
    asked = [
        (one.id, one.graph, one.path, one.node, one.asked_at, _text(serde, one), *serde.dumps_typed(one.interrupt))
        for one in filing.asked
    ]
    return Filed(filing.closed, asked)


def _text(serde: Any, question: Question) -> str:
    """What a search finds a question by; nothing, where values are hidden from whoever reads the database."""
    return "" if getattr(serde, "hides_values", False) else as_text(question.value)


def _named(serde: Any, commit: Commit) -> NotStorable | None:
    """The refusal of the first value that is refused, with its channel in the path."""
    for _, writes, _ in commit.writes:
        if refusal := with_name(serde, writes):
            return refusal
    values = commit.checkpoint["channel_values"] if commit.checkpoint is not None else {}
    return with_name(serde, values.items())
