"""Deltas: a checkpoint as what it changes in the one before, so that a step writes what it changed.

A chain of deltas begins with one that has everything, a snapshot; folded from there on, the last one has the
whole state again. Values are blobs here: they were encoded before and are decoded after.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from msgpack import Packer, unpackb

from signoff.checkpoint.base import ChannelVersions
from signoff.checkpoint.encoding import Blob
from signoff.errors import Undecodable

__all__ = ["Delta", "NOTHING", "Shape", "between", "folded", "packed", "unpacked"]

FORMAT = 1
"""What a packed delta begins with. A later version may add to it, but reads this one for ever."""

_BUFFER = 4096
"""What a packer begins with: msgpack's own beginning is a megabyte. One that grew is not used again."""

_idle: list[Packer] = []
"""Packers that nobody uses just now: two threads cannot share one."""


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
    known, versions, valued = before.versions, after.versions, after.valued
    renewed = {name: version for name, version in versions.items() if known.get(name) != version}
    unversioned = known.keys() - versions.keys()
    if unknown := valued - blobs.keys():
        lacking = (unknown - before.valued) | (unknown & (renewed.keys() | unversioned))
        blobs = {**blobs, **{name: encode(name) for name in lacking}}
    return Delta(renewed, blobs, tuple(unversioned), tuple(before.valued - valued))


def packed(delta: Delta) -> bytes:
    """A delta as bytes."""
    try:
        packer = _idle.pop()
    except IndexError:
        packer = Packer(unicode_errors="surrogatepass", buf_size=_BUFFER)
    data: bytes = packer.pack((FORMAT, *delta))
    if len(data) < _BUFFER:
        _idle.append(packer)
    return data


def unpacked(data: bytes) -> Delta:
    """The delta in these bytes. What is in it is looked at only when it is folded."""
    try:
        format, *parts = unpackb(data, use_list=False, unicode_errors="surrogatepass")
    except Exception as error:
        raise _broken(error) from error
    if type(format) is not int or format < FORMAT:
        raise _broken(f"they begin with {format!r}")
    if format > FORMAT:
        raise Undecodable(f"A checkpoint is stored in format {format}, this signoff knows {FORMAT}: upgrade signoff.")
    if len(parts) != 4:
        raise _broken(f"they have {len(parts)} parts")
    return Delta(*parts)


def folded(chain: Iterable[Delta]) -> Delta:
    """The snapshot that a chain of deltas, oldest first, amounts to."""
    versions: ChannelVersions = {}
    values: dict[str, Blob] = {}
    try:
        for delta in chain:
            versions.update(delta.versions)
            values.update(delta.values)
            for name in delta.unversioned:
                versions.pop(name, None)
            for name in delta.gone:
                values.pop(name, None)
    except (TypeError, ValueError) as error:
        raise _broken(error) from error
    _check(versions, values)
    return Delta(versions, values)


def _check(versions: Mapping[Any, Any], values: Mapping[Any, Any]) -> None:
    """See to it that whatever was in the bytes has become versions and blobs."""
    for name, version in versions.items():
        if type(name) is not str or not isinstance(version, int | float | str):
            raise _broken(f"{name!r} has the version {version!r}")
    for name, blob in values.items():
        if type(name) is not str or type(blob) is not tuple or [type(part) for part in blob] != [str, bytes]:
            raise _broken(f"the value of {name!r} is none")


def _broken(why: object) -> Undecodable:
    what = f"{type(why).__name__}: {why}" if isinstance(why, Exception) else why
    return Undecodable(f"The stored changes of a checkpoint are broken or were changed ({what!s:.300}).")
