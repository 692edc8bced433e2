"""Deltas: a checkpoint as what it changes in the one before, so that a step writes what it changed.

A chain of deltas begins with one that has everything, a snapshot; folded from there on, the last one has the
whole state again. Values are blobs here: they were encoded before and are decoded after.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from msgpack import packb, unpackb

from signoff.checkpoint.base import ChannelVersions
from signoff.errors import Undecodable

__all__ = [
    "Blob",
    "Delta",
    "NOTHING",
    "Shape",
    "between",
    "blob_of",
    "delta_of",
    "folded",
    "packed",
    "packed_blob",
]

Blob = tuple[str, bytes]
"""A value as the serializer wrote it: its tag and its bytes."""

FORMAT = 1
"""What a packed delta begins with. A later version may add to it, but reads this one for ever."""


class Shape(NamedTuple):
    """What has to be known of a checkpoint to tell what another one changes in it."""

    versions: ChannelVersions
    valued: frozenset[str]
    """The channels that hold a value."""


NOTHING = Shape({}, frozenset())
"""The shape before the first checkpoint: what follows it is a snapshot."""


class Delta(NamedTuple):
    """What a checkpoint changes in the one before it."""

    versions: ChannelVersions
    values: Mapping[str, Blob]
    unversioned: Collection[str] = ()
    """The channels that had a version and have none now."""
    gone: Collection[str] = ()
    """The channels that had a value and have none now."""

    @property
    def shape(self) -> Shape:
        """The shape of a checkpoint of which this is the snapshot."""
        return Shape(self.versions, frozenset(self.values))


def between(before: Shape, after: Shape, blobs: dict[str, Blob], encode: Callable[[str], Blob]) -> Delta:
    """What one checkpoint changes in another.

    blobs: the values that are known to have changed.
    encode: what gets any other value, of a channel that has no value of the same version in the one before.
    """
    known, versions = before.versions, after.versions
    renewed = {name: version for name, version in versions.items() if known.get(name) != version}
    unversioned = known.keys() - versions.keys()
    values = blobs
    if lacking := _lacking(before, after, renewed, unversioned) - blobs.keys():
        values = {**blobs, **{name: encode(name) for name in lacking}}
    return Delta(renewed, values, list(unversioned), list(before.valued - after.valued))


def _lacking(before: Shape, after: Shape, renewed: ChannelVersions, unversioned: set[str]) -> AbstractSet[str]:
    """The channels whose values cannot be taken from the checkpoint before."""
    return ((renewed.keys() | unversioned) & after.valued) | (after.valued - before.valued)


def folded(chain: Iterable[Delta]) -> Delta:
    """The snapshot that a chain of deltas, oldest first, amounts to."""
    versions: ChannelVersions = {}
    values: dict[str, Blob] = {}
    for delta in chain:
        versions.update(delta.versions)
        values.update(delta.values)
        for name in delta.unversioned:
            versions.pop(name, None)
        for name in delta.gone:
            values.pop(name, None)
    return Delta(versions, values)


def packed(delta: Delta) -> bytes:
    """A delta as bytes."""
    return packb((FORMAT, *delta), unicode_errors="surrogatepass")  # type: ignore[no-any-return]


def delta_of(data: bytes) -> Delta:
    """The delta that was packed as these bytes."""
    parts = _unpacked(data)
    if type(parts) is not tuple or not parts or type(parts[0]) is not int:
        raise _broken("a checkpoint's changes are something else")
    if parts[0] != FORMAT:
        raise Undecodable(f"A checkpoint is stored in format {parts[0]}, this signoff knows {FORMAT}: upgrade signoff.")
    if not _is_delta(parts[1:]):
        raise _broken("a checkpoint's changes have another shape")
    return Delta(*parts[1:])


def packed_blob(blob: Blob) -> bytes:
    """A blob with its tag as bytes."""
    return packb(blob, unicode_errors="surrogatepass")  # type: ignore[no-any-return]


def blob_of(data: bytes) -> Blob:
    """The blob that was packed as these bytes."""
    blob = _unpacked(data)
    if not _is_blob(blob):
        raise _broken("a checkpoint's head has another shape")
    return blob  # type: ignore[no-any-return]


def _unpacked(data: bytes) -> Any:
    try:
        return unpackb(data, use_list=False, unicode_errors="surrogatepass")
    except Exception as error:
        raise _broken(f"{type(error).__name__}: {error}"[:300]) from error


def _is_delta(parts: tuple[Any, ...]) -> bool:
    if len(parts) != 4 or [type(part) for part in parts] != [dict, dict, tuple, tuple]:
        return False
    versions, values = parts[:2]
    return (
        all(type(name) is str for names in parts for name in names)
        and all(isinstance(version, str | int | float) for version in versions.values())
        and all(map(_is_blob, values.values()))
    )


def _is_blob(value: Any) -> bool:
    return type(value) is tuple and [type(part) for part in value] == [str, bytes]


def _broken(why: str) -> Undecodable:
    return Undecodable(f"Stored bytes are broken or were changed: {why}.")
