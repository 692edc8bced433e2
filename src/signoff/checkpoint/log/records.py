"""Rows as checkpoints again."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from signoff._tuples import made
from signoff.checkpoint.base import CheckpointTuple, PendingWrite, checkpoint_config
from signoff.checkpoint.encoding import Blob, channel_in_words, decoded
from signoff.checkpoint.log.backend import Key, Raw, WriteRow
from signoff.checkpoint.log.body import Body, Changes, folded, unpacked
from signoff.checkpoint.log.heads import head_of, metadata_of
from signoff.checkpoint.log.known import Known
from signoff.checkpoint.log.values import Span, decoded_items, is_blob, unpacked_items
from signoff.checkpoint.log.writes import Carried, is_item, unpacked_carried, unpacked_writes
from signoff.errors import Undecodable

__all__ = ["Needs", "Parts", "PartsGone", "Record", "as_tuple", "need", "needs_of", "on_top", "record_of"]

T = TypeVar("T")


class PartsGone(Undecodable):
    """Items or a large value are not there: they were removed since the checkpoint was read, or by somebody else."""


class Record(NamedTuple):
    """A checkpoint as it is stored."""

    key: Key
    parent_id: str | None
    depth: int
    seal: int
    metadata: Any
    head: Any
    held: Changes
    """All that it holds."""
    writes: Sequence[tuple[str, str, Any]]
    """(task, channel, value as it is stored), in their order."""

    @property
    def known(self) -> Known:
        return Known(self.key[2], self.depth, self.seal, self.held)


def record_of(thread_id: str, ns: str, raw: Raw, known: Known | None = None) -> Record:
    """The record of a checkpoint, from its row and those it stands on, down to a snapshot or to one that is known."""
    rows = raw.rows
    own_id, _, depth, own_seal, data = rows[0]
    if known is not None and known.seal == own_seal and known.id == own_id and type(depth) is int:
        return _record(thread_id, ns, raw, unpacked(data), known.held)  # as mostly
    depths = [row[2] for row in rows]
    is_known = known is not None and (known.id, known.seal) == (rows[-1][0], rows[-1][3])
    is_whole = set(map(type, depths)) == {int} and depths == sorted(set(depths), reverse=True)
    if not is_whole or (depths[-1] != 0 and not is_known):
        raise Undecodable(
            f"Checkpoint {own_id!r} is broken: what it stands on is gone, or was changed by somebody else than signoff."
        )
    body = unpacked(data)
    if known is None or not is_known:
        below = [unpacked(row[4]).changes for row in reversed(rows[1:])]
    else:
        below = [known.held, *(unpacked(row[4]).changes for row in reversed(rows[1:-1]))]
    return _record(thread_id, ns, raw, body, folded([*below, body.changes]))


def on_top(below: Record, raw: Raw) -> Record | None:
    """The record of a checkpoint, from its row and the record of its parent; None if it does not stand on that."""
    depth, data = raw.rows[0][2], raw.rows[0][4]
    if type(depth) is not int or depth <= below.depth:
        return None
    body = unpacked(data)
    return _record(*below.key[:2], raw, body, folded([below.held, body.changes]))


def _record(thread_id: str, ns: str, raw: Raw, body: Body, held: Changes) -> Record:
    id, parent_id, depth, seal, _ = raw.rows[0]
    writes = _writes(raw.writes, raw.carried, id) if raw.writes or raw.carried else ()
    key = (thread_id, ns, id)
    return made(Record, (key, parent_id, depth, seal, body.metadata, body.head, held, writes))


def _writes(rows: Iterable[WriteRow], carried: Iterable[bytes], id: str) -> list[tuple[str, str, Any]]:
    """What tasks wrote, in the order of their paths. What led to the next checkpoint counts, whatever came later."""
    found: list[Carried] = []
    for task_id, idx, path, data in rows:
        if type(task_id) is not str or type(idx) is not int or type(path) is not str:
            raise Undecodable(f"A write of task {task_id!r} is broken or was changed.")
        found.append((task_id, path, unpacked_writes(data)))
    for data in carried:
        found += unpacked_carried(data, id)
    sorted_out: dict[tuple[str, str, int], tuple[str, str, Any]] = {}
    for task_id, path, writes in found:
        for index, channel, stored in writes:
            sorted_out[path, task_id, index] = task_id, channel, stored
    return [sorted_out[key] for key in sorted(sorted_out)]


class Needs(NamedTuple):
    """What is kept apart of a checkpoint: slices of lists, and large values."""

    spans: list[Span]
    digests: set[bytes]


def needs_of(records: Iterable[Record], has: Iterable[str] = ()) -> Needs:
    """What has to be fetched to put checkpoints together, but for lists that are there already."""
    needs = Needs([], set())
    for record in records:
        for name, value in record.held.values.items():
            if name not in has and not is_blob(value):
                need(needs, value)
        for _, _, value in record.writes:
            if not is_blob(value):
                need(needs, value)
    return needs


def need(needs: Needs, value: Any) -> None:
    if isinstance(value, dict):
        for one in value.values():
            need(needs, one)
    elif is_item(value):
        needs.spans.append((value[0], value[1], value[1] + 1))
    elif isinstance(value[0], tuple):
        needs.spans.extend(value)
    elif len(value) == 3:
        needs.digests.add(value[1])


class Parts:
    """What was fetched."""

    def __init__(self, items: Iterable[tuple[int, int, bytes]], blobs: Mapping[bytes, bytes]) -> None:
        self.items = Items(items)
        self._blobs = blobs

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return self.items.size + sum(map(len, self._blobs.values()))

    def blob(self, stored: Any) -> Blob:
        """A value that is no list, as it was encoded."""
        if len(stored) == 2:
            return stored  # type: ignore[no-any-return]
        try:
            return stored[0], self._blobs[stored[1]]
        except KeyError:
            raise PartsGone("A large value is not there any more: it was removed meanwhile, or is lost.") from None


class Items:
    """The items of lists that were fetched."""

    def __init__(self, rows: Iterable[tuple[int, int, bytes]]) -> None:
        self._rows: dict[int, dict[int, bytes]] = {}
        for lineage, of_lineage in groupby(rows, itemgetter(0)):
            _, starts, many = zip(*of_lineage, strict=True)
            if {*map(type, starts)} != {int} or {*map(type, many)} != {bytes}:
                raise Undecodable(f"Items of a list are broken or were changed: they begin at {starts!s:.300}.")
            self._rows.setdefault(lineage, {}).update(zip(starts, many, strict=True))

    @property
    def size(self) -> int:
        return sum(len(data) for rows in self._rows.values() for data in rows.values())

    def blobs(self, spans: Iterable[Span]) -> list[Blob]:
        """The items of a list, as they were encoded."""
        return self._found(spans, unpacked_items)

    def values(self, serde: Any, spans: Iterable[Span]) -> list[Any]:
        """The items of a list."""
        try:
            return self._found(spans, partial(decoded_items, serde))
        except PartsGone:
            raise
        except Undecodable:
            # Perhaps it is another item of a row that cannot be read.
            return [decoded(serde, blob) for blob in self.blobs(spans)]

    def _found(self, spans: Iterable[Span], read: Callable[[list[bytes]], list[list[T]]]) -> list[T]:
        return _joined([self._slice(*span, read) for span in spans])

    def _slice(self, lineage: int, first: int, end: int, read: Callable[[list[bytes]], list[list[T]]]) -> list[T]:
        rows = self._rows.get(lineage, {})
        starts = sorted(rows)
        starts = starts[max(bisect_right(starts, first) - 1, 0) : bisect_left(starts, end)]
        found = read([*map(rows.__getitem__, starts)])
        if [*starts, end] == [*accumulate(map(len, found), initial=first)]:
            return _joined(found)  # as mostly: all that is in the rows, and nothing else
        return _cut(starts, found, first, end)


def _joined(many: list[list[T]]) -> list[T]:
    """The items of lists, in the first of them: nobody else has it."""
    first, *others = many
    for items in others:
        first += items
    return first


def _cut(starts: Iterable[int], found: Iterable[list[T]], first: int, end: int) -> list[T]:
    """The items from one up to another, out of rows that may have more than those."""
    wanted: list[T] = []
    at = first
    for start, items in zip(starts, found, strict=True):
        if start <= at < start + len(items):
            wanted += items[at - start : end - start]
            at = min(start + len(items), end)
    if at != end:
        raise PartsGone(f"Items {at} to {end} of a list are not there any more: they were removed, or are lost.")
    return wanted


def as_tuple(
    serde: Any, record: Record, parts: Parts, lists: Mapping[str, Any] | None = None
) -> tuple[CheckpointTuple, dict[str, Callable[[], list[Blob]]]]:
    """A checkpoint and the writes kept with it, as a saver hands them out; and who tells how its lists are encoded.

    lists: values that are there already.
    """
    thread_id, ns, id = record.key
    values: dict[str, Any] = {}
    encoded: dict[str, Callable[[], list[Blob]]] = {}
    name = ""
    try:
        for name, stored in record.held.values.items():
            if lists and name in lists:
                values[name] = lists[name]
                continue
            if is_blob(stored):
                values[name] = decoded(serde, stored)
                continue
            values[name] = _decoded(serde, parts, stored)
            if not isinstance(stored, dict) and isinstance(stored[0], tuple):
                encoded[name] = partial(parts.items.blobs, stored)
        pending: list[PendingWrite] = []
        for task_id, name, stored in record.writes:
            value = decoded(serde, stored) if is_blob(stored) else _decoded(serde, parts, stored)
            pending.append((task_id, name, value))
    except Undecodable as error:
        error.say_where(thread_id, ns, channel_in_words(name))
        raise
    checkpoint: Any = head_of(serde, record.head, id)
    checkpoint["id"] = id
    checkpoint["channel_values"] = values
    checkpoint["channel_versions"] = dict(record.held.versions)
    parent = checkpoint_config(thread_id, ns, record.parent_id) if record.parent_id is not None else None
    config = checkpoint_config(thread_id, ns, id)
    return CheckpointTuple(config, checkpoint, metadata_of(record.metadata), parent, pending), encoded


def _decoded(serde: Any, parts: Parts, stored: Any) -> Any:
    """A value that has parts elsewhere, or consists of others."""
    if is_blob(stored):
        return decoded(serde, stored)
    if isinstance(stored, dict):
        return {key: _decoded(serde, parts, one) for key, one in stored.items()}
    if isinstance(stored[0], tuple):
        return parts.items.values(serde, stored)
    if is_item(stored):
        return parts.items.values(serde, [(stored[0], stored[1], stored[1] + 1)])[0]
    return decoded(serde, parts.blob(stored))
