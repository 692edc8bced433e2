"""What the checks of savers are written with."""

import json
from collections.abc import Iterable
from typing import Any

from signoff.checkpoint.base import Commit, Lease, checkpoint_config, empty_checkpoint
from signoff.checkpoint.places import Place

T = "thread"


def at(id: str | None = None, *, thread: str = T, ns: str = "") -> Any:
    """The config of a checkpoint."""
    return checkpoint_config(thread, ns, id)


def after(id: str | None = None, *, thread: str = T, ns: str = "") -> Place:
    """The place of what follows a checkpoint, or of the first one."""
    return Place(thread, ns, id)


def made(id: str, values: Any = None, versions: Any = None, **more: Any) -> Any:
    """A checkpoint with some values, each with version 1 if not said."""
    values = values or {}
    return {
        **empty_checkpoint(),
        "id": id,
        "ts": "2030-01-01T00:00:00+00:00",
        "channel_values": values,
        "channel_versions": dict.fromkeys(values, 1) if versions is None else versions,
        **more,
    }


def put(
    saver: Any,
    id: str,
    values: Any = None,
    *,
    parent: str | None = None,
    versions: Any = None,
    new: Any = None,
    thread: str = T,
    ns: str = "",
    metadata: Any = None,
    **more: Any,
) -> Any:
    """Store a checkpoint; all its channels are new if not said."""
    checkpoint = made(id, values, versions, **more)
    new = checkpoint["channel_versions"] if new is None else new
    return saver.put(at(parent, thread=thread, ns=ns), checkpoint, metadata or {"source": "loop", "step": 0}, new)


def real(saver: Any) -> Any:
    """The saver itself, where it stands behind a blocking door."""
    return getattr(saver, "inner", saver)


def store(saver: Any, commit: Commit, lease: Lease | None = None, *, ends: bool = False) -> None:
    """Store a commit, as a run does."""
    saver.store(real(saver).prepare([commit]), lease, ends=ends)


def ids(found: Iterable[Any]) -> list[str]:
    """The ids of checkpoints."""
    return [one.checkpoint["id"] for one in found]


def values_of(saver: Any, id: str | None = None, **place: Any) -> Any:
    """The values of a checkpoint."""
    return saver.get_tuple(at(id, **place)).checkpoint["channel_values"]


class Odd:
    """Something that no serializer knows."""


class Upside:
    """A serializer of somebody else's: JSON, turned around."""

    def dumps(self, obj: Any) -> bytes:
        """JSON."""
        return json.dumps(obj).encode()[::-1]

    def loads(self, data: bytes) -> Any:
        """What was JSON."""
        return json.loads(data[::-1])


class Forgetful(Upside):
    """One that cannot read what it wrote."""

    def loads(self, data: bytes) -> Any:
        """What was JSON."""
        raise KeyError("forgotten")


def crowd_in(saver: Any) -> Any:
    """Six checkpoints in two threads and three namespaces."""
    put(saver, "1", {"a": 1}, metadata={"source": "input", "step": -1})
    put(saver, "2", {"a": 2}, parent="1", metadata={"source": "loop", "step": 0, "who": "ana"})
    put(saver, "3", ns="node:1", metadata={"source": "input", "step": -1, "parents": {"": "2"}})
    put(saver, "4", thread="u", metadata={"source": "input", "step": -1, "who": None})
    put(saver, "5", ns="node:1", parent="3", metadata={"source": "loop", "step": 0})
    put(saver, "6", {"a": 3}, parent="2", metadata={"source": "update", "step": 1, "who": "bo"})
    return saver


def runs_in(saver: Any) -> Any:
    """A thread in which three runs took turns."""
    for id, run in zip("12345", ("r1", "r1", "r2", "r2", "r3"), strict=True):
        parent = str(int(id) - 1) if id != "1" else None
        put(
            saver,
            id,
            {"a": id, "b": "1"},
            parent=parent,
            versions={"a": int(id), "b": 1},
            new={"a": int(id), "b": 1} if id == "1" else {"a": int(id)},
            metadata={"run_id": run},
        )
        saver.put_writes(at(id), [("a", "w")], f"task {id}")
    put(saver, "9", thread="u", metadata={"run_id": "r2"})
    return saver
