"""How a checkpoint came about, when, and by whom: its metadata and its head, as a body has them.

A head is all of a checkpoint but its id, values and versions. As the engine makes it, it needs no names: it is
(version of the shape, time, updated channels, writers), and the time is None if it is the one in the id.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from signoff.checkpoint import metadata as _metadata
from signoff.checkpoint.base import SHAPE_VERSION, CheckpointMetadata, Moment
from signoff.checkpoint.encoding import Blob, decoded
from signoff.checkpoint.ids import as_text, is_time_in, time_in
from signoff.constants import START, TRIGGER
from signoff.errors import Undecodable

__all__ = [
    "broken",
    "head_of",
    "heard",
    "metadata_of",
    "packed_head",
    "packed_metadata",
    "packed_moment",
    "short_head",
    "short_metadata",
    "usual_head",
    "whole_head",
]

_HOW = ("source", "step", "parents")
_SOURCES: tuple[Any, ...] = ("loop", "input", "update", "fork")
_NUMBERS: dict[Any, int] = {source: number for number, source in enumerate(_SOURCES)}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def packed_metadata(metadata: CheckpointMetadata) -> Any:
    """Metadata as a body has it: mostly it is three things that need no names."""
    source, step, parents = (metadata.get(name) for name in _HOW)
    if len(metadata) == 3 and type(source) is str and type(step) is int and parents == {} and -(2**31) < step < 2**31:
        return short_metadata(source, step)
    return _metadata.as_text(metadata)


def packed_moment(serde: Any, moment: Moment) -> tuple[Any, Any, str | None]:
    """The metadata and the head of a checkpoint as a body has them, and the run that made it."""
    if not moment.stopped:
        head: Any = usual_head(moment)
    else:
        head = serde.dumps_typed({name: value for name, value in moment.heading().items() if name != "id"})
    given, parents = moment.about
    if not given and not parents:
        return short_metadata(moment.source, moment.step), head, None
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
    v, ts, updated = (rest.get(name) for name in ("v", "ts", "updated_channels"))
    writers: Any = rest.get("writers")
    if (
        rest.keys() == _USUAL
        and not rest["versions_seen"]
        and (type(v), type(ts)) == (int, str)
        and _are_names(updated)
    ):
        writers = list(writers) if type(writers) in (tuple, set, frozenset, type({}.keys())) else writers
        if _are_names(writers):
            number = _as_number(ts)
            return (v, None if number == time_in(checkpoint["id"]) else number, updated, writers)
    blob: Blob = serde.dumps_typed(rest)
    return blob


def head_of(serde: Any, stored: Any, id: str) -> dict[str, Any]:
    """What `packed_head` was given, of the checkpoint with this id. Nobody else has it."""
    if type(stored) is tuple and len(stored) == 4:
        v, ts, updated, writers = stored
        if ts is None and (ts := time_in(id)) is None:
            raise broken("they have no time")
        time, updated, writers = _as_time(ts), list(updated), list(writers)
        return {"v": v, "ts": time, "versions_seen": {}, "updated_channels": updated, "writers": writers}
    if type(stored) is not tuple or [type(part) for part in stored] != [str, bytes]:
        raise broken("they have no head")
    head = decoded(serde, stored)
    if type(head) is not dict:
        raise broken("the head is none")
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
        raise broken(error) from error


def short_head(v: Any, ts: Any, updated: Any, writers: Any, values: Iterable[str]) -> Any:
    """A usual head as a body with these values has it: up to the last part that does not go without saying.

    It is (writers, time, updated channels, version of the shape), or, if there is nothing else to say, one writer.
    """
    parts = [writers, ts, None if list(updated) == list(values) else updated, None if v == SHAPE_VERSION else v]
    while len(parts) > 1 and parts[-1] is None:
        parts.pop()
    return writers[0] if len(parts) == len(writers) == 1 else tuple(parts)


def whole_head(stored: Any, values: Iterable[str]) -> Any:
    """The head that a body with these values has."""
    if type(stored) is str:
        return (SHAPE_VERSION, None, list(values), (stored,))
    if type(stored[0]) is str and len(stored) == 2:
        return stored  # an unusual one, encoded
    writers, ts, updated, v = (*stored, None, None, None)[:4]
    if not _are_names(list(writers)):
        raise TypeError("the writers have no names")
    return (SHAPE_VERSION if v is None else v, ts, list(values if updated is None else updated), writers)


def short_metadata(source: Any, step: int) -> Any:
    """How a checkpoint came about: mostly by a step, else in one of a few ways, which have numbers."""
    return step if source == "loop" else (_NUMBERS.get(source, source), step)


def usual_head(moment: Moment) -> tuple[int, int | None, list[str], list[str]]:
    """A usual head: the version, the time unless it is that in the id, what was updated, and who wrote."""
    ts = None if is_time_in(moment.id, moment.at) else moment.at // 1000
    return (SHAPE_VERSION, ts, list(moment.updated), list(moment.writers))


@lru_cache(maxsize=1024)
def heard(writers: tuple[str, ...]) -> tuple[str, ...]:
    """What nodes have mostly listened to: it is gone once they ran."""
    return tuple([name if name == START else f"{TRIGGER}{name}" for name in writers])


def broken(why: object) -> Undecodable:
    """The error for a body that cannot be read."""
    what = f"{type(why).__name__}: {why}" if isinstance(why, Exception) else why
    return Undecodable(f"The stored changes of a checkpoint are broken or were changed ({what!s:.300}).")
