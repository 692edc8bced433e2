"""A log whose ids and paths are read as they were before they were shortened. Plans are made with the short ones."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from signoff._tuples import made
from signoff.checkpoint.log.backend import (
    Backend,
    Cleanup,
    Everything,
    Key,
    Raw,
    Row,
    ThreadSize,
    WriteRow,
)
from signoff.checkpoint.log.plans import NewWrite
from signoff.checkpoint.log.shortening import long_id, long_path, long_task, short_id, short_path, short_task
from signoff.checkpoint.places import Place, Selection, reading_of
from signoff.errors import Undecodable
from signoff.steps import Steps

__all__ = ["Shortened"]


class Shortened(Backend):
    """A database in which ids and paths are short. What is not here has none, or has them as they are stored."""

    def __init__(self, backend: Backend) -> None:
        self.inner = backend
        self.carries_writes = backend.carries_writes
        for name in vars(Backend).keys() - vars(Shortened).keys():
            if not name.startswith("_"):
                setattr(self, name, getattr(backend, name))

    def fetch(self, place: Place, seal: int | None = None, *, looks: bool = False) -> Steps[Raw]:
        try:
            raw = yield from self.inner.fetch(_short_place(place), seal, looks=looks)
            return _long_raw(raw)
        except Undecodable as error:
            error.say_where(place.thread_id, place.ns)
            raise

    def singles(self, keys: Sequence[Key]) -> Steps[dict[Key, Raw]]:
        found = yield from self.inner.singles([(thread_id, ns, short_id(id)) for thread_id, ns, id in keys])
        return {_long_key(key): _long_raw(raw) for key, raw in found.items()}

    def writes_of(self, key: Key) -> Steps[Sequence[WriteRow]]:
        with reading_of(*key[:2]):
            rows = yield from self.inner.writes_of((key[0], key[1], short_id(key[2])))
            return _long_writes(rows, key[2])

    def children(self, key: Key) -> Steps[Sequence[str]]:
        with reading_of(*key[:2]):
            ids = yield from self.inner.children((key[0], key[1], short_id(key[2])))
            return [long_id(id) for id in ids]

    def find(
        self, selection: Selection, is_wanted: Callable[[Any], bool] | None, limit: int | None
    ) -> Steps[list[Key]]:
        thread_id, ns, id, before = selection
        short = Selection(thread_id, ns, id and short_id(id), before and short_id(before))
        keys = yield from self.inner.find(short, is_wanted, limit)
        return [_long_key(key) for key in keys]

    def threads(self) -> Steps[list[ThreadSize]]:
        found = yield from self.inner.threads()
        return [one._replace(id=long_id(one.id)) for one in found]

    def tidy(self, thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
        with reading_of(thread_id):
            return (
                yield from self.inner.tidy(
                    thread_id, lambda found: _short_cleanup(rule(_long_everything(thread_id, found)))
                )
            )


def _short_place(place: Place) -> Place:
    return place if place.id is None else Place(place.thread_id, place.ns, short_id(place.id))


def _long_key(key: Key) -> Key:
    return key[0], key[1], long_id(key[2])


def _long_raw(raw: Raw) -> Raw:
    rows = [_long_row(row) for row in raw.rows]
    writes = _long_writes(raw.writes, rows[0][0]) if rows and raw.writes else raw.writes
    return made(Raw, (rows, writes, raw.carried, raw.standing))


def _long_row(row: Row) -> Row:
    id, parent_id, *rest = row
    return long_id(id), long_id(parent_id) if type(parent_id) is str else None, *rest


def _long_writes(rows: Iterable[WriteRow], checkpoint_id: str) -> list[WriteRow]:
    long: list[WriteRow] = []
    for task_id, idx, path, data in rows:
        long.append((*_long_task(task_id, path, checkpoint_id, idx), data))
    return long


def _long_task(task_id: Any, path: Any, checkpoint_id: str, idx: Any) -> tuple[str, Any, str]:
    if type(task_id) is not str or type(path) is not str:
        raise Undecodable(f"A write of task {task_id!r} is broken or was changed.")
    return long_task(task_id, checkpoint_id), idx, long_path(path)


_TEXT, _NUMBER, _BYTES, _NONE = (str,), (int,), (bytes, memoryview), (type(None),)

_KINDS: dict[str, list[tuple[type, ...]]] = {
    "rows": [_TEXT, _TEXT, _TEXT + _NONE, _NUMBER, _NUMBER, _BYTES, _TEXT + _NONE, _BYTES + _NONE],
    "writes": [_TEXT, _TEXT, _TEXT, _NUMBER, _TEXT, _BYTES],
    "items": [_NUMBER, _NUMBER, _NUMBER, _NUMBER],
    "blobs": [_BYTES, _NUMBER],
}
"""What stands in all that there is of a thread."""


def _check(thread_id: str, found: Everything) -> None:
    """Refuse a thread in which something else stands: nobody knows what of it belongs together."""
    for part, kinds in _KINDS.items():
        for row in getattr(found, part):
            for one, kind in zip(row, kinds, strict=True):
                if type(one) not in kind:
                    raise Undecodable(
                        f"It has {part} that are broken or were changed: {one!r:.100} is of type "
                        f"{type(one).__name__}. Nothing was removed. Restore the thread from a copy, or call "
                        f"delete_thread({thread_id!r})."
                    )


def _long_everything(thread_id: str, found: Everything) -> Everything:
    _check(thread_id, found)
    rows = [(row[0], *_long_row(row[1:])) for row in found.rows]
    writes = [(ns, (long := long_id(id)), *_long_task(task_id, path, long, idx), data)
              for ns, id, task_id, idx, path, data in found.writes]  # fmt: skip
    return found._replace(rows=rows, writes=writes)


def _short_cleanup(cleanup: Cleanup) -> Cleanup:
    cleanup.rewritten = [(ns, short_id(id), parent and short_id(parent), body)
                         for ns, id, parent, body in cleanup.rewritten]  # fmt: skip
    cleanup.removed = [(ns, short_id(id)) for ns, id in cleanup.removed]
    cleanup.writes = [(ns, short_id(id), short_task(task_id, id), idx) for ns, id, task_id, idx in cleanup.writes]
    cleanup.moved = [_short_write(write) for write in cleanup.moved]
    return cleanup


def _short_write(write: NewWrite) -> NewWrite:
    ns, id, task_id, idx, path, data, replaces = write
    return NewWrite(ns, short_id(id), short_task(task_id, id), idx, short_path(path), data, replaces)
