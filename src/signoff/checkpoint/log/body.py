"""The body of a checkpoint's row: what it changes in its parent, how it came about, and what else is known of it.

A chain of bodies begins with one that has everything, a snapshot; folded from there on, the last one has the whole
state again.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from signoff.checkpoint import encoding
from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import SHAPE_VERSION, ChannelVersions, CheckpointMetadata, Moment
from signoff.checkpoint.encoding import Blob, decoded
from signoff.checkpoint.ids import as_text, is_time_in, time_in
from signoff.checkpoint.log.values import Stored, check_stored
from signoff.constants import START, TRIGGER
from signoff.errors import Undecodable

__all__ = [
    "Body",
    "Changes",
    "NOTHING",
    "between",
    "folded",
    "folded_in",
    "head_of",
    "metadata_of",
    "packed",
    "packed_head",
    "packed_metadata",
    "packed_moment",
    "packed_step",
    "unpacked",
]

FORMAT = 1
"""What a packed body begins with. A later version may add to it, but reads this one for ever."""

_HOW = ("source", "step", "parents")
_SOURCES: tuple[Any, ...] = ("loop", "input", "update", "fork")
_NUMBERS: dict[Any, int] = {source: number for number, source in enumerate(_SOURCES)}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Changes(NamedTuple):
    """What a checkpoint changes in the one before it."""

    versions: ChannelVersions
    values: Mapping[str, Stored]
    unversioned: Collection[str] = ()
    """The channels that had a version and have none now."""
    gone: Collection[str] = ()
    """The channels that had a value and have none now."""


NOTHING = Changes({}, {})
"""What is there before the first checkpoint: what follows it is a snapshot."""


class Body(NamedTuple):
    """A row, unpacked."""

    metadata: Any
    head: Any
    changes: Changes


def between(
    before: Changes, versions: ChannelVersions, valued: Collection[str], changed: dict[str, Any],
    encode: Callable[[str], Any],
) -> Changes:  # fmt: skip
    """What one checkpoint changes in another, which is a snapshot.

    valued: the channels that hold a value now.
    changed: the values that are known to have changed.
    encode: what gets any other value, of a channel that has no value of the same version in the one before.
    """
    known, had = before.versions, before.values
    renewed = {name: version for name, version in versions.items() if known.get(name) != version}
    unversioned = tuple(known.keys() - versions.keys())
    lacking = [
        name for name in valued
        if name not in changed and (name not in had or name in renewed or name in unversioned)
    ]  # fmt: skip
    if lacking:
        changed = {**changed, **{name: encode(name) for name in lacking}}
    gone = () if had.keys() <= set(valued) else tuple(had.keys() - set(valued))
    return Changes(renewed, changed, unversioned, gone)


def folded(chain: Iterable[Changes]) -> Changes:
    """The snapshot that a chain of stored changes, oldest first, amounts to."""
    try:
        held = folded_in(NOTHING, chain)
    except (TypeError, ValueError, AttributeError) as error:
        raise _broken(error) from error
    _check(held.versions, held.values)
    return held


def folded_in(held: Changes, chain: Iterable[Changes]) -> Changes:
    """A snapshot with changes made in it, one after the other."""
    versions, values = dict(held.versions), dict(held.values)
    for changes in chain:
        versions.update(changes.versions)
        values.update(changes.values)
        for name in changes.unversioned:
            versions.pop(name, None)
        for name in changes.gone:
            values.pop(name, None)
    return Changes(versions, values)


def packed(metadata: Any, head: Any, changes: Changes) -> bytes:
    """A body as bytes. What goes without saying is left out, as it can be after most steps."""
    versions, values, unversioned, gone = changes
    version = next(iter(versions.values()), None)
    if version is not None and versions == dict.fromkeys(values, version):
        versions = version  # type: ignore[assignment]
    rest: tuple[Any, ...] = (gone, unversioned) if unversioned != gone else (gone,) if gone else ()
    if type(head) is tuple and len(head) == 4:
        if rest == (_heard(tuple(head[3])),):
            rest = (True,)
        head = _short_head(*head, values)
    return encoding.packed((FORMAT, metadata, head, versions, values, *rest))


def packed_step(moment: Moment, values: Mapping[str, Stored]) -> bytes:
    """The body of a step that the engine has made, and that says nothing unusual: the same, without a detour."""
    writers, gone = tuple(moment.writers), moment.gone
    if len(writers) == 1 and moment.updated == tuple(values) and is_time_in(moment.id, moment.at):
        head: Any = writers[0]
    else:
        head = _short_head(*_head(moment), values)
    metadata = moment.step if moment.source == "loop" else _how(moment.source, moment.step)
    body = (FORMAT, metadata, head, moment.version if values else {}, values)
    return encoding.packed((*body, gone == _heard(writers) or gone) if gone else body)


def unpacked(data: Any) -> Body:
    """The body in these bytes. What is in it is looked at only when it is used."""
    try:
        format, *parts = encoding.unpacked(data)
    except Exception as error:
        raise _broken(error) from error
    if type(format) is not int or format < FORMAT:
        raise _broken(f"they begin with {format!r}")
    if format > FORMAT:
        raise Undecodable(f"A checkpoint is stored in format {format}, this signoff knows {FORMAT}: upgrade signoff.")
    if len(parts) not in (4, 5, 6) or type(parts[3]) is not dict:
        raise _broken(f"they have {len(parts)} parts, or no values")
    try:
        return _body(*parts)
    except (TypeError, LookupError) as error:
        raise _broken(error) from error


def _body(
    metadata: Any, head: Any, versions: Any, values: dict[str, Any], gone: Any = (), unversioned: Any = None
) -> Body:
    """A body with what it was packed without."""
    if type(versions) is not dict:
        versions = dict.fromkeys(values, versions)
    if type(head) is str:
        head = (SHAPE_VERSION, None, list(values), (head,))
    elif type(head[0]) is tuple:
        head = _whole_head(head, values)
    elif len(head) != 2:
        raise TypeError("they have no head")
    if gone is True:
        gone = _heard(head[3])
    return Body(metadata, head, Changes(versions, values, gone if unversioned is None else unversioned, gone))


@lru_cache(maxsize=1024)
def _heard(writers: tuple[str, ...]) -> tuple[str, ...]:
    """What nodes have mostly listened to: it is gone once they ran."""
    return tuple([name if name == START else f"{TRIGGER}{name}" for name in writers])


def _short_head(v: Any, ts: Any, updated: Any, writers: Any, values: Mapping[str, Stored]) -> Any:
    """A usual head as a body has it, up to the last part that does not go without saying; mostly that is a writer."""
    parts = [writers, ts, None if list(updated) == list(values) else updated, None if v == SHAPE_VERSION else v]
    while len(parts) > 1 and parts[-1] is None:
        parts.pop()
    return writers[0] if len(parts) == len(writers) == 1 else tuple(parts)


def _whole_head(short: tuple[Any, ...], values: Mapping[str, Stored]) -> tuple[Any, ...]:
    writers, ts, updated, v = (*short, None, None, None)[:4]
    if not _are_names(list(writers)):
        raise TypeError("the writers have no names")
    return (SHAPE_VERSION if v is None else v, ts, list(values if updated is None else updated), writers)


def _how(source: Any, step: int) -> Any:
    """How a checkpoint came about: mostly by a step, else in one of a few ways, which have numbers."""
    return step if source == "loop" else (_NUMBERS.get(source, source), step)


def _head(moment: Moment) -> tuple[int, int | None, list[str], list[str]]:
    """A usual head: the version, the time unless it is that in the id, what was updated, and who wrote."""
    ts = None if is_time_in(moment.id, moment.at) else moment.at // 1000
    return (SHAPE_VERSION, ts, list(moment.updated), list(moment.writers))


def packed_metadata(metadata: CheckpointMetadata) -> Any:
    """Metadata as a body has it: mostly it is three things that need no names."""
    source, step, parents = (metadata.get(name) for name in _HOW)
    if len(metadata) == 3 and type(source) is str and type(step) is int and parents == {} and -(2**31) < step < 2**31:
        return _how(source, step)
    return _metadata.as_text(metadata)


def packed_moment(serde: Any, moment: Moment) -> tuple[Any, Any, str | None]:
    """The metadata and the head of a checkpoint as a body has them, and the run that made it."""
    if not moment.stopped:
        head: Any = _head(moment)
    else:
        head = serde.dumps_typed({name: value for name, value in moment.heading().items() if name != "id"})
    given, parents = moment.about
    if not given and not parents:
        return _how(moment.source, moment.step), head, None
    metadata: Any = moment.metadata()
    return packed_metadata(metadata), head, _metadata.run_id_of(metadata)


def metadata_of(stored: Any) -> CheckpointMetadata:
    """The metadata that a body has."""
    if type(stored) is int:
        return {"source": "loop", "step": stored, "parents": {}}
    kinds = [type(part) for part in stored] if type(stored) is tuple else []
    if kinds == [int, int] and 0 <= stored[0] < len(_SOURCES):
        return {"source": _SOURCES[stored[0]], "step": stored[1], "parents": {}}
    if kinds == [str, int]:
        return {"source": stored[0], "step": stored[1], "parents": {}}
    return _metadata.of_text(stored)


def packed_head(serde: Any, checkpoint: Mapping[str, Any]) -> Any:
    """All of a checkpoint but its id, values and versions: as the engine makes it, it needs no names."""
    rest = {name: value for name, value in checkpoint.items() if name not in _APART}
    ts, updated = rest.get("ts"), rest.get("updated_channels")
    writers: Any = rest.get("writers")
    if (
        rest.keys() == _USUAL
        and not rest["versions_seen"]
        and type(rest["v"]) is int
        and _are_names(updated)
        and type(ts) is str
    ):
        writers = list(writers) if type(writers) in (tuple, set, frozenset, type({}.keys())) else writers
        if _are_names(writers):
            number = _as_number(ts)
            return (rest["v"], None if number == time_in(checkpoint["id"]) else number, updated, writers)
    blob: Blob = serde.dumps_typed(rest)
    return blob


def head_of(serde: Any, stored: Any, id: str) -> dict[str, Any]:
    """What `packed_head` was given, of the checkpoint with this id."""
    if type(stored) is tuple and len(stored) == 4:
        v, ts, updated, writers = stored
        if ts is None and (ts := time_in(id)) is None:
            raise _broken("they have no time")
        head = {"v": v, "ts": _as_time(ts), "versions_seen": {}, "updated_channels": list(updated)}
        return {**head, "writers": list(writers)}
    if type(stored) is not tuple or [type(part) for part in stored] != [str, bytes]:
        raise _broken("they have no head")
    head = decoded(serde, stored)
    if type(head) is not dict:
        raise _broken("the head is none")
    return head


_APART = frozenset({"id", "channel_values", "channel_versions"})
_USUAL = {"v", "ts", "versions_seen", "updated_channels", "writers"}


def _are_names(names: Any) -> bool:
    return type(names) is list and all(type(name) is str for name in names)


def _as_number(ts: Any) -> Any:
    """A time as microseconds, if it is written as times are here."""
    try:
        number = round((datetime.fromisoformat(ts) - _EPOCH).total_seconds() * 1_000_000)
    except (TypeError, ValueError):
        return ts
    return number if _as_time(number) == ts else ts


def _as_time(number: Any) -> Any:
    if type(number) is not int:
        return number
    try:
        return as_text(number * 1000)
    except (ValueError, OverflowError, OSError) as error:
        raise _broken(error) from error


def _check(versions: Mapping[Any, Any], values: Mapping[Any, Any]) -> None:
    """See to it that whatever was in the bytes has become versions and values."""
    for name, version in versions.items():
        if type(name) is not str or not isinstance(version, int | float | str):
            raise _broken(f"{name!r} has the version {version!r}")
    for name, stored in values.items():
        if type(name) is not str:
            raise _broken(f"{name!r} is no name")
        check_stored(name, stored)


def _broken(why: object) -> Undecodable:
    what = f"{type(why).__name__}: {why}" if isinstance(why, Exception) else why
    return Undecodable(f"The stored changes of a checkpoint are broken or were changed ({what!s:.300}).")
