"""Reading: checkpoints as savers hand them out, of what is kept in memory."""

from collections.abc import Callable, Mapping
from typing import Any

from signoff._tuples import made
from signoff.checkpoint import metadata
from signoff.checkpoint.base import CheckpointTuple, checkpoint_config
from signoff.checkpoint.memory import packed
from signoff.checkpoint.memory.shelf import Shelf
from signoff.checkpoint.memory.spaces import Space
from signoff.checkpoint.memory.threads import Thread
from signoff.checkpoint.places import Selection
from signoff.checkpoint.serde.unread import is_showing
from signoff.errors import Undecodable

__all__ = ["at", "cold", "find", "heads", "tuple_of", "warm"]

Unpack = Callable[[Any, Space, Mapping[str, Any]], dict[str, Any]]
"""From the serializer, a namespace and its packed values to the values."""


def cold(serde: Any, space: Space, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that nobody else has."""
    return {name: packed.unpacked(serde, value) for name, value in values.items()}


def warm(serde: Any, space: Space, values: Mapping[str, Any]) -> dict[str, Any]:
    """Values for a run. What the last one had in its lists is handed on, if nobody has touched it."""
    if is_showing():
        return cold(serde, space, values)
    shown = {**values}
    for name, value in values.items():
        if type(value) is packed.Packed:
            shown[name] = space.lists.unpack(serde, name, value)
    return shown


def at(serde: Any, thread: Thread, ns: str, id: str | None, unpack: Unpack = cold) -> CheckpointTuple | None:
    """A checkpoint of a thread, if it is there; the newest of the namespace if none is named."""
    space = thread.spaces.get(ns)
    if space is None:
        return None
    id = id or space.newest
    return tuple_of(serde, space, id, unpack) if id in space.moments else None


def tuple_of(serde: Any, space: Space, id: str, unpack: Unpack = cold) -> CheckpointTuple:
    """A checkpoint that is there."""
    thread_id, ns, moment = space.thread_id, space.ns, space.moments[id]
    values, versions = space.all_of(id)
    checkpoint: Any = moment.heading()
    try:
        checkpoint["channel_values"] = unpack(serde, space, values)
        pending_writes = packed.unpacked_writes(serde, space.kept(id))
    except Undecodable as error:
        error.say_where(thread_id, ns, packed.whose(serde, values, space.kept(id)))
        raise
    checkpoint["channel_versions"] = dict(versions)
    config = checkpoint_config(thread_id, ns, id)
    parent = checkpoint_config(thread_id, ns, moment.parent_id) if moment.parent_id else None
    return made(CheckpointTuple, (config, checkpoint, moment.metadata(), parent, pending_writes))


def find(threads: Shelf, selection: Selection, filter: Mapping[str, Any]) -> list[tuple[Space, str]]:
    """The checkpoints that are selected, and whose metadata has what the filter says, newest first."""
    one = selection.thread_id
    named = None if one is None else threads.get(one)
    found = [
        (space, id)
        for thread in ([named] if named else [] if one is not None else threads.every())
        for space in thread.spaces.values()
        for id, moment in space.moments.items()
        if selection.has(space.thread_id, space.ns, id) and (not filter or metadata.has_all(moment.metadata(), filter))
    ]
    return _newest_first(found)


def heads(threads: Shelf) -> list[tuple[Space, str]]:
    """The newest checkpoint of each thread, those that changed last first."""
    roots = [thread.spaces[""] for thread in threads.every() if "" in thread.spaces]
    return _newest_first([(space, space.newest) for space in roots])


def _newest_first(found: list[tuple[Space, str]]) -> list[tuple[Space, str]]:
    found.sort(key=lambda one: (one[0].thread_id, one[0].ns))
    found.sort(key=lambda one: one[1], reverse=True)
    return found
