"""Reading: the procedures that find checkpoints and put them together again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import CheckpointTuple, Standing
from signoff.checkpoint.encoding import Blob
from signoff.checkpoint.log.backend import Backend, Key
from signoff.checkpoint.log.body import unpacked
from signoff.checkpoint.log.filing import hides_values, question_of
from signoff.checkpoint.log.growth import Tracked
from signoff.checkpoint.log.heads import metadata_of
from signoff.checkpoint.log.known import Known
from signoff.checkpoint.log.memory import Memory, Track
from signoff.checkpoint.log.records import Parts, PartsGone, Record, as_tuple, needs_of, on_top, record_of
from signoff.checkpoint.places import Place, Selection, checked_filter, checked_limit, reading_of
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.serde.unread import is_showing
from signoff.errors import Undecodable
from signoff.steps import Steps

__all__ = ["fetch_known", "find", "find_heads", "find_questions", "load", "look", "pages", "read"]

SMALL = 4096
"""What is kept apart of a checkpoint is remembered, if it takes no more bytes: most lists are short."""

PAGE = 32
"""How many checkpoints of a list are loaded at a time."""


def read(backend: Backend, serde: Any, memory: Memory, place: Place) -> Steps[CheckpointTuple | None]:
    """The checkpoint at a place."""
    known = memory.known(place[:2], place.id)
    found, _ = yield from _read(backend, serde, memory, place, known, {}, looks=False)
    return found


def look(backend: Backend, serde: Any, memory: Memory, place: Place) -> Steps[tuple[CheckpointTuple | None, Standing]]:
    """The checkpoint at a place, and how its thread stands at the same moment. A run begins with it."""
    known, lists = memory.warm(place[:2], place.id) or (None, {})
    found, standing = yield from _read(backend, serde, memory, place, known, lists, looks=True)
    assert standing is not None, "the database was asked for it"
    return found, standing


def _read(
    backend: Backend, serde: Any, memory: Memory, place: Place, known: Known | None, lists: Mapping[str, Any],
    *, looks: bool,
) -> Steps[tuple[CheckpointTuple | None, Standing | None]]:  # fmt: skip
    for is_last in (False, True):
        raw = yield from backend.fetch(place, known.seal if known else None, looks=looks)
        if not raw.rows:
            return None, raw.standing
        try:
            record = record_of(place.thread_id, place.ns, raw, known)
            same = known if known is not None and record.seal == known.seal else None
            has = lists if same is not None else {}
            is_bare = not record.writes and not has
            parts: Any = same.parts if same is not None and is_bare else None
            if parts is None:
                parts = yield from _parts(backend, [record], has)
            found, encoded = as_tuple(serde, record, parts, has)
            break
        except Undecodable as error:
            if is_last or type(error) is not PartsGone:
                error.say_where(place.thread_id, place.ns)
                raise
    if same is None:
        same = record.known
        memory.learn({place[:2]: same})
    if is_bare and same.parts is None and parts.size <= SMALL:
        same.parts = parts
    # A run of a thread looks, one of a nested graph only reads. Whoever else reads will store nothing on top of it, and
    # what they are told need not be kept alive.
    if encoded and (looks or place.ns) and not is_showing():
        _track(memory, place, record, found, encoded, parts.items.size // len(encoded), is_warm=looks)
    return found, raw.standing


def _track(
    memory: Memory, place: Place, record: Record, found: CheckpointTuple,
    encoded: Mapping[str, Callable[[], list[Blob]]], size: int,
    *, is_warm: bool,
) -> None:  # fmt: skip
    values = found.checkpoint["channel_values"]
    lists = {name: Tracked(values[name], stored=blobs, size=size, is_warm=is_warm) for name, blobs in encoded.items()}
    memory.offer_track(place[:2], Track(record.key[2], record.seal, lists, is_warm))


def fetch_known(backend: Backend, place: Place) -> Steps[Record | None]:
    """A checkpoint as it is stored."""
    raw = yield from backend.fetch(place)
    with reading_of(place.thread_id, place.ns):
        return record_of(place.thread_id, place.ns, raw) if raw.rows else None


def find(
    backend: Backend, selection: Selection, filter: Mapping[str, Any] | None, limit: int | None
) -> Steps[list[Key]]:
    """Where the checkpoints are that a list is to have, newest first."""
    wanted = dict(checked_filter(filter))

    def is_wanted(body: Any) -> bool:
        return _metadata.has_all(metadata_of(unpacked(body).metadata), wanted)

    try:
        return (yield from backend.find(selection, is_wanted if wanted else None, checked_limit(limit)))
    except Undecodable:
        for key in (yield from backend.find(selection, None, None)):  # one by one, to tell which it is
            with reading_of(*key[:2]):
                yield from _fetch_page(backend, [key])
        raise


def find_heads(backend: Backend) -> Steps[list[Key]]:
    """Where the newest checkpoint of each thread is, those that changed last first."""
    heads: dict[str, Key] = {}
    for key in (yield from backend.find(Selection(None, "", None, None), None, None)):
        heads.setdefault(key[0], key)
    return list(heads.values())


def pages(keys: Sequence[Key]) -> Iterator[Sequence[Key]]:
    """The keys in groups that are loaded together."""
    return (keys[start : start + PAGE] for start in range(0, len(keys), PAGE))


def load(backend: Backend, serde: Any, keys: Sequence[Key]) -> Steps[list[CheckpointTuple]]:
    """The checkpoints with these keys; those that are gone meanwhile are left out."""
    try:
        return (yield from _load(backend, serde, keys))
    except Undecodable:
        for key in keys:  # one by one, to tell which it is
            with reading_of(*key[:2]):
                yield from _load(backend, serde, [key])
        raise


def _load(backend: Backend, serde: Any, keys: Sequence[Key]) -> Steps[list[CheckpointTuple]]:
    records = yield from _fetch_page(backend, keys)
    found = {}
    for thread_id in {key[0] for key in records}:
        of_thread = [record for key, record in records.items() if key[0] == thread_id]
        try:
            parts = yield from _parts(backend, of_thread, {})
            found.update({record.key: as_tuple(serde, record, parts)[0] for record in of_thread})
        except PartsGone:
            for record in of_thread:  # something was removed meanwhile: one by one, what is still there
                one = yield from _read(backend, serde, Memory(), Place(*record.key), None, {}, looks=False)
                found.update({record.key: one[0]} if one[0] else {})
    return [found[key] for key in keys if key in found]


def find_questions(backend: Backend, serde: Any, wanted: Wanted) -> Steps[list[Question]]:
    """The open questions that are wanted, oldest first."""
    limit = checked_limit(wanted.limit)
    if wanted.text is None or not hides_values(serde):
        rows = yield from backend.questions(replace(wanted, limit=limit))
        return [question_of(serde, row) for row in rows]
    # What is hidden there can be searched only here.
    rows = yield from backend.questions(replace(wanted, text=None, limit=None))
    return [question for row in rows if wanted.has(question := question_of(serde, row))][:limit]


def _parts(backend: Backend, records: Sequence[Record], has: Mapping[str, Any]) -> Steps[Parts]:
    needs = needs_of(records, has)
    if not needs.spans and not needs.digests:
        return _NO_PARTS
    items, blobs = yield from backend.parts(records[0].key[0], needs.spans, needs.digests)
    return Parts(items, blobs)


_NO_PARTS = Parts((), {})
"""What most checkpoints have apart."""


def _fetch_page(backend: Backend, keys: Sequence[Key]) -> Steps[dict[Key, Record]]:
    """Checkpoints with their writes, by key."""
    singles = yield from backend.singles(keys)
    found: dict[Key, Record] = {}
    for key in reversed(keys):  # from the oldest on, so that most find what they stand on
        raw = singles.get(key)
        if raw is None:
            continue
        below = found.get((key[0], key[1], raw.rows[0][1]))
        record = on_top(below, raw) if below else None
        if record is None:
            whole = raw if raw.rows[0][2] == 0 else (yield from backend.fetch(Place(*key)))
            record = record_of(key[0], key[1], whole) if whole.rows else None
        if record is not None:
            found[key] = record
    return found
