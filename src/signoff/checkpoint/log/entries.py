"""Commits, encoded: what the program changes afterwards is not stored."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from random import getrandbits
from typing import Any, NamedTuple

from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import WRITES_IDX_MAP, ChannelVersions, Commit
from signoff.checkpoint.encoding import Blob, Encoded, encoded_all, with_name
from signoff.checkpoint.log.filing import Filed, filed
from signoff.checkpoint.log.growth import Edit, Tracked, whole, written_in
from signoff.checkpoint.log.heads import packed_head, packed_metadata, packed_moment
from signoff.checkpoint.log.memory import Memory, Track
from signoff.checkpoint.log.values import LARGE
from signoff.constants import START
from signoff.errors import NotStorable

__all__ = ["Entry", "InItems", "InLists", "NewCheckpoint", "NewWrites", "as_entries", "encoded_whole"]

LONG = 16
"""A list of so many items is kept item by item,"""

BULKY = 512
"""and so is one that takes so many bytes."""

MANY = 256
"""One of so many, where nothing was before, is stored as a whole: most such lists are given to a run, and stay."""


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

NewWrites = tuple[str, str, list[tuple[int, str, Blob | InItems]]]
"""What a task wrote: its id, its path, and in the order in which it did the index, channel and value of each."""


class NewCheckpoint:
    """A checkpoint that is to be stored. All but `values` was encoded when it was made."""

    __slots__ = ("base", "edits", "fresh", "gone", "head", "id", "is_small", "metadata", "run_id", "seal", "values",
                 "versions")  # fmt: skip

    def __init__(self, id: str, values: Mapping[str, Any], versions: ChannelVersions, gone: Collection[str] | None):
        self.id = id
        self.seal = getrandbits(63)
        self.values = values
        self.versions = versions
        self.gone = gone
        """The channels that have no value any more; None if `values` and `versions` are not what changed, but all."""
        self.fresh: dict[str, Fresh] = {}
        """The values that changed; of a checkpoint without a parent, all."""
        self.edits: dict[str, Edit] = {}
        """Those of them that are lists."""
        self.is_small = True
        """Whether each of them is kept in the row as it is."""
        self.base: int | None = None
        """The seal of the checkpoint whose lists the edits stand on."""
        self.metadata: Any = None
        self.head: Any = None
        self.run_id: str | None = None


class Entry:
    """A commit that is to be stored."""

    __slots__ = ("checkpoint", "filing", "is_small", "ns", "parent_id", "thread_id", "writes")

    def __init__(self, place: Sequence[Any], checkpoint: NewCheckpoint | None) -> None:
        self.thread_id: str
        self.ns: str
        self.parent_id: str | None
        self.thread_id, self.ns, self.parent_id = place
        self.checkpoint = checkpoint
        self.writes: Sequence[NewWrites] = ()
        """They are kept with the parent."""
        self.is_small = True
        """Whether each of the written values is kept as it is."""
        self.filing: Filed | None = None


def as_entries(serde: Encoded, memory: Memory, commits: Sequence[Commit]) -> list[Entry]:
    """Commits, encoded."""
    if len(commits) == 1:
        return [_entry(serde, memory, commits[0])]
    # The first two of a thread have what it is given: long lists, which most programs leave as they are.
    given = 2 if commits and commits[0].place[2] is None else 0
    entries = [_entry(serde, memory, commit, is_given=at < given) for at, commit in enumerate(commits)]
    for one, following in pairwise(entries):
        if one.checkpoint is not None and following.checkpoint is not None and START in one.checkpoint.fresh:
            _share(one.checkpoint, following.checkpoint)
    return entries


def _entry(serde: Encoded, memory: Memory, commit: Commit, *, is_given: bool = False) -> Entry:
    """A commit, encoded."""
    try:
        entry = Entry(commit.place, _new(serde, memory, commit, is_given=is_given) if commit.has_checkpoint else None)
        # Without a checkpoint there is nothing that writes could be kept with.
        if commit.writes and entry.parent_id:
            entry.writes = _writes(serde, commit, entry)
    except NotStorable as error:
        raise _named(serde, commit) or error from error
    if commit.filing is not None:
        entry.filing = filed(serde, commit.filing)
    return entry


def encoded_whole(serde: Any, value: Any, *, is_given: bool = False) -> Blob | Edit:
    """A value, without regard to what was there before.

    is_given: whether nothing was. Then a very long list is one value; if it grows later, it is kept item by item.
    """
    if is_given and type(value) is list and len(value) >= MANY:
        return serde.dumps_typed(value)  # type: ignore[no-any-return]
    if type(value) is not list or len(value) < LONG:
        blob: Blob = serde.dumps_typed(value)
        if type(value) is not list or len(value) < 2 or len(blob[1]) <= BULKY:
            return blob
    return whole(value, encoded_all(serde, value))


def _new(serde: Encoded, memory: Memory, commit: Commit, *, is_given: bool) -> NewCheckpoint:
    moment, parent_id = commit.moment, commit.place[2]
    if moment is not None:
        new = NewCheckpoint(moment.id, moment.changed, dict.fromkeys(moment.changed, moment.version), moment.gone)
        new.metadata, new.head, new.run_id = packed_moment(serde, moment)
        _encode(serde, memory, commit, new, moment.changed, is_given=is_given)
        return new
    checkpoint = commit.checkpoint
    assert checkpoint is not None, "it is about to be stored"
    values = checkpoint["channel_values"]
    new = NewCheckpoint(checkpoint["id"], values, checkpoint["channel_versions"], None)
    new.metadata, new.head = packed_metadata(commit.metadata), packed_head(serde, checkpoint)
    new.run_id = _metadata.run_id_of(commit.metadata)
    _encode(serde, memory, commit, new, [name for name in commit.changed if name in values] if parent_id else values)
    return new


def _encode(
    serde: Encoded,
    memory: Memory,
    commit: Commit,
    new: NewCheckpoint,
    changed: Iterable[str],
    *,
    is_given: bool = False,
) -> None:
    """Encode the values that changed; of a list that grew, what is new in it."""
    where, parent_id = commit.place[:2], commit.place[2]
    track = memory.take_track(where, parent_id) if parent_id else None
    if track is not None:
        lists, new.base = dict(track.lists), track.seal
        for name in new.gone or ():
            lists.pop(name, None)
    else:
        lists = {}
    for name in changed:
        fresh = new.fresh[name] = _value(serde, lists, new, name, commit, is_given=is_given)
        if type(fresh) is not tuple or len(fresh[1]) > LARGE:
            new.is_small = False
    if lists:
        kept = lists if new.gone is not None else {name: lists[name] for name in lists if name in new.values}
        memory.put_track(where, Track(new.id, new.seal, kept))


def _value(
    serde: Encoded, lists: dict[str, Tracked], new: NewCheckpoint, name: str, commit: Commit, *, is_given: bool
) -> Fresh:
    value = new.values[name]
    if lists and name in lists:
        if type(value) is list and value:
            written = written_in(name, commit.writes)
            edit = lists[name].edited(value, written, partial(encoded_all, serde), is_told=commit.is_told)
            new.edits[name] = edit
            return edit
        del lists[name]
    encoded = encoded_whole(serde, value, is_given=is_given) if type(value) is list else serde.once(value)
    if type(encoded) is Edit:
        lists[name] = Tracked(value, encoded.parts[0])  # type: ignore[arg-type]
        new.edits[name] = encoded
    elif name == START and len(encoded[1]) > LARGE and type(value) is dict and set(map(type, value)) == {str}:
        return {key: serde.once(one) for key, one in value.items()}
    return encoded


def _share(one: NewCheckpoint, following: NewCheckpoint) -> None:
    """Store what a run was given where it went: in the lists of the checkpoint after it."""
    value, alone, edits = one.values[START], one.fresh[START], following.edits
    if following.base != one.seal or type(value) is not dict or isinstance(alone, Edit | InLists):
        return
    parts = {name: _in_items(edits, name, items) for name, items in value.items() if name not in one.fresh}
    found = {name: part for name, part in parts.items() if part is not None and part.is_list}
    if found and len(found) == len(value):
        one.fresh[START], one.is_small = InLists(found, edits, alone), False


def _writes(serde: Encoded, commit: Commit, entry: Entry) -> list[NewWrites]:
    made: list[NewWrites] = []
    new = entry.checkpoint
    for task_id, writes, path in commit.writes:
        encoded: list[tuple[int, str, Blob | InItems]] = []
        made.append((task_id, path, encoded))
        for at, (name, value) in enumerate(writes):
            found: Any = None
            if new is not None and name in new.fresh:
                # Most written values are what the channel holds then, or what is new in its list.
                fresh = new.fresh[name]
                if type(fresh) is tuple and new.values[name] is value:
                    found = fresh
                elif name in new.edits:
                    found = _in_items(new.edits, name, value)
            found = found or serde.once(value)
            if type(found) is not tuple or len(found[1]) > LARGE:
                entry.is_small = False
            encoded.append((WRITES_IDX_MAP.get(name, at), name, found))
    return made if len(made) == len({task_id for task_id, _, _ in made}) else _each_once(made)


def _each_once(made: Sequence[NewWrites]) -> list[NewWrites]:
    """What a task wrote twice, as it was first; its error, its question and its answer as they were last."""
    found: dict[str, tuple[str, dict[int, Any]]] = {}
    for task_id, path, writes in made:
        _, kept = found.setdefault(task_id, (path, {}))
        for write in writes:
            if write[0] < 0 or write[0] not in kept:
                kept[write[0]] = write
    return [(task_id, path, list(kept.values())) for task_id, (path, kept) in found.items()]


def _in_items(edits: Mapping[str, Edit], name: str, value: Any) -> InItems | None:
    """Where a value is among the new items of a list, if it is."""
    if name not in edits:
        return None
    fresh, is_list = edits[name].fresh, type(value) is list
    places = [fresh.get(id(item), -1) for item in (value if is_list else [value])]
    if places and places[0] >= 0 and places == list(range(places[0], places[0] + len(places))):
        return InItems(name, places[0], len(places), is_list)
    return None


def _named(serde: Any, commit: Commit) -> NotStorable | None:
    """The refusal of the first value that is refused, with its channel in the path."""
    for _, writes, _ in commit.writes:
        if refusal := with_name(serde, writes):
            return refusal
    values = commit.moment.changed if commit.moment is not None else {}
    if commit.moment is None and commit.checkpoint is not None:
        values = commit.checkpoint["channel_values"]
    return with_name(serde, values.items())
