"""The body of a checkpoint's row: what it changes in its parent, how it came about, and what else is known of it.

A chain of bodies begins with one that has everything, a snapshot; folded from there on, the last one has the whole
state again.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

from signoff._tuples import made
from signoff.checkpoint import encoding
from signoff.checkpoint.base import ChannelVersions, Moment
from signoff.checkpoint.ids import is_time_in
from signoff.checkpoint.log.heads import broken, heard, short_head, short_metadata, usual_head, whole_head
from signoff.checkpoint.log.values import Stored, check_stored
from signoff.errors import Undecodable

__all__ = [
    "Body",
    "Changes",
    "NOTHING",
    "between",
    "folded",
    "folded_in",
    "packed",
    "packed_step",
    "unpacked",
]

FORMAT = 1
"""What a packed body begins with. A later version may add to it, but reads this one for ever."""


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
        raise broken(error) from error
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
        if rest == (heard(tuple(head[3])),):
            rest = (True,)
        head = short_head(*head, values)
    return encoding.packed((FORMAT, metadata, head, versions, values, *rest))


def packed_step(moment: Moment, values: Mapping[str, Stored]) -> bytes:
    """The body of a step that the engine has made, and that says nothing unusual: the same, without a detour."""
    writers, gone = tuple(moment.writers), moment.gone
    if len(writers) == 1 and moment.updated == tuple(values) and is_time_in(moment.id, moment.at):
        head: Any = writers[0]
    else:
        head = short_head(*usual_head(moment), values)
    metadata = moment.step if moment.source == "loop" else short_metadata(moment.source, moment.step)
    body = (FORMAT, metadata, head, moment.version if values else {}, values)
    return encoding.packed((*body, gone == heard(writers) or gone) if gone else body)


def unpacked(data: Any) -> Body:
    """The body in these bytes. What is in it is looked at only when it is used."""
    try:
        format, *parts = encoding.unpacked(data)
    except Exception as error:
        raise broken(error) from error
    if type(format) is not int or format < FORMAT:
        raise broken(f"they begin with {format!r}")
    if format > FORMAT:
        raise Undecodable(f"A checkpoint is stored in format {format}, this signoff knows {FORMAT}: upgrade signoff.")
    if len(parts) not in (4, 5, 6) or type(parts[3]) is not dict:
        raise broken(f"they have {len(parts)} parts, or no values")
    try:
        return _body(*parts)
    except (TypeError, LookupError) as error:
        raise broken(error) from error


def _body(
    metadata: Any, head: Any, versions: Any, values: dict[str, Any], gone: Any = (), unversioned: Any = None
) -> Body:
    """A body with what it was packed without."""
    if type(versions) is not dict:
        versions = dict.fromkeys(values, versions)
    head = whole_head(head, values)
    if gone is True:
        gone = heard(head[3])
    changes = made(Changes, (versions, values, gone if unversioned is None else unversioned, gone))
    return made(Body, (metadata, head, changes))


def _check(versions: Mapping[Any, Any], values: Mapping[Any, Any]) -> None:
    """See to it that whatever was in the bytes has become versions and values."""
    for name, version in versions.items():
        if type(name) is not str or not isinstance(version, int | float | str):
            raise broken(f"{name!r} has the version {version!r}")
    for name, stored in values.items():
        if type(name) is not str:
            raise broken(f"{name!r} is no name")
        check_stored(name, stored)
