"""Ids and paths, shorter: most are written again and again, in rows and in their keys, and most are of a known shape.

    1f1e0ca5~ and 16 characters    a UUID: its first 8 digits, then the other 96 bits
    ~: and 12 characters           a task whose id begins like that of its checkpoint
    ~: and a name                  the path of a node

Anything else stands for itself; where it could be taken for one of these, it has a second ~. Ids keep their order, but
for a UUID and a text of another kind that begin with the same 8 characters.
"""

from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from signoff.checkpoint.lease import Lease
from signoff.checkpoint.log.backend import Backend, Cleanup, Everything, Hold, Key, Raw, Row, ThreadSize, WriteRow
from signoff.checkpoint.log.plans import NewRow, NewWrite, Plan
from signoff.checkpoint.log.values import Span
from signoff.checkpoint.places import Place, Selection
from signoff.checkpoint.questions import Wanted
from signoff.constants import PULL
from signoff.errors import Undecodable
from signoff.steps import Steps

__all__ = ["Shortened", "long_id", "long_path", "long_task", "short_id", "short_path", "short_task"]

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_SORTED = bytes(sorted(_BASE64.replace(b"+", b"-").replace(b"/", b"_")))
"""The 64 digits in the order of their bytes."""

_TO_SORTED, _TO_BASE64 = bytes.maketrans(_BASE64, _SORTED), bytes.maketrans(_SORTED, _BASE64)

_NODE = f"{PULL}~"


@lru_cache(maxsize=4096)
def short_id(id: str) -> str:
    """An id, as it is stored."""
    if len(id) == 36 and id[8] == id[13] == id[18] == id[23] == "-":
        try:
            rest = b2a_base64(bytes.fromhex(id[9:].replace("-", "")), newline=False)
        except ValueError:
            return id  # digits are missing
        short = f"{id[:8]}~{rest.translate(_TO_SORTED).decode()}"
        if len(short) == 25 and long_id(short) == id:
            return short
    return f"{id[:8]}~{id[8:]}" if id[8:9] == "~" else id


@lru_cache(maxsize=4096)
def long_id(short: str) -> str:
    """An id that was stored."""
    if short[8:9] != "~":
        return short
    if short[9:10] == "~":
        return f"{short[:8]}{short[9:]}"
    try:
        digits = a2b_base64(short[9:].encode().translate(_TO_BASE64), strict_mode=True).hex()
    except ValueError:
        digits = ""
    if len(digits) != 24:
        raise Undecodable(f"The stored id {short!r} is broken or was changed.")
    return f"{short[:8]}-{digits[:4]}-{digits[4:8]}-{digits[8:12]}-{digits[12:]}"


def short_task(task_id: str, checkpoint_id: str) -> str:
    """The id of a task, as it is stored with a checkpoint."""
    if len(task_id) == 36 and task_id[:24] == checkpoint_id[:24]:
        return f"~:{task_id[24:]}"
    return _marked(short_id(task_id))


def long_task(short: str, checkpoint_id: str) -> str:
    """The id of a task that was stored."""
    return f"{checkpoint_id[:24]}{short[2:]}" if short.startswith("~:") else long_id(_plain(short))


def short_path(path: str) -> str:
    """The path of a task, as it is stored."""
    return f"~:{path[len(_NODE) :]}" if path.startswith(_NODE) else _marked(path)


def long_path(short: str) -> str:
    """The path of a task that was stored."""
    return f"{_NODE}{short[2:]}" if short.startswith("~:") else _plain(short)


def _marked(text: str) -> str:
    return f"~{text}" if text.startswith("~") else text


def _plain(text: str) -> str:
    return text[1:] if text.startswith("~~") else text


class Shortened:
    """A database in which ids and paths are short."""

    def __init__(self, backend: Backend) -> None:
        self.inner = backend
        self.set_up, self.renew, self.parts = backend.set_up, backend.renew, backend.parts
        self.questions, self.threads, self.delete_threads = backend.questions, backend.threads, backend.delete_threads
        self.copy_thread, self.threads_of_runs = backend.copy_thread, backend.threads_of_runs
        self.give_space_back = backend.give_space_back

    set_up: Callable[[], Steps[None]]
    renew: Callable[[Lease], Steps[None]]
    parts: Callable[
        [str, Iterable[Span], Collection[bytes]],
        Steps[tuple[Sequence[tuple[int, int, bytes]], Mapping[bytes, bytes]]],
    ]
    questions: Callable[[Wanted], Steps[Sequence[Sequence[Any]]]]
    threads: Callable[[], Steps[list[ThreadSize]]]
    delete_threads: Callable[[Sequence[str]], Steps[None]]
    copy_thread: Callable[[str, str], Steps[bool]]
    threads_of_runs: Callable[[Collection[str]], Steps[list[str]]]
    give_space_back: Callable[[], Steps[None]]

    def apply(self, plans: Sequence[Plan], hold: Hold | None) -> Steps[bool]:
        return self.inner.apply([_short_plan(plan) for plan in plans], hold)

    def fetch(self, place: Place, seal: int | None = None, *, looks: bool = False) -> Steps[Raw]:
        raw = yield from self.inner.fetch(_short_place(place), seal, looks=looks)
        return _long_raw(raw)

    def singles(self, keys: Sequence[Key]) -> Steps[dict[Key, Raw]]:
        found = yield from self.inner.singles([(thread_id, ns, short_id(id)) for thread_id, ns, id in keys])
        return {_long_key(key): _long_raw(raw) for key, raw in found.items()}

    def writes_of(self, key: Key) -> Steps[Sequence[WriteRow]]:
        rows = yield from self.inner.writes_of((key[0], key[1], short_id(key[2])))
        return _long_writes(rows, key[2])

    def children(self, key: Key) -> Steps[Sequence[str]]:
        ids = yield from self.inner.children((key[0], key[1], short_id(key[2])))
        return [long_id(id) for id in ids]

    def find(
        self, selection: Selection, is_wanted: Callable[[Any], bool] | None, limit: int | None
    ) -> Steps[list[Key]]:
        thread_id, ns, id, before = selection
        short = Selection(thread_id, ns, id and short_id(id), before and short_id(before))
        keys = yield from self.inner.find(short, is_wanted, limit)
        return [_long_key(key) for key in keys]

    def tidy(self, thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
        return self.inner.tidy(thread_id, lambda found: _short_cleanup(rule(_long_everything(found))))


def _short_place(place: Place) -> Place:
    return place if place.id is None else Place(place.thread_id, place.ns, short_id(place.id))


def _long_key(key: Key) -> Key:
    return key[0], key[1], long_id(key[2])


def _short_plan(plan: Plan) -> Plan:
    return Plan(
        plan.thread_id,
        plan.filing,
        [_short_write(write) for write in plan.writes],
        [(ns, short_id(id), parent and short_id(parent), body) for ns, id, parent, body in plan.rewritten],
        [(ns, short_id(id)) for ns, id in plan.removed],
        [_short_row(row) for row in plan.rows],
        plan.items,
        plan.blobs,
    )


def _short_row(row: NewRow) -> NewRow:
    parent_id = None if row.parent_id is None else short_id(row.parent_id)
    return row._replace(id=short_id(row.id), parent_id=parent_id)


def _short_write(write: NewWrite) -> NewWrite:
    ns, id, task_id, idx, path, data, replaces = write
    return NewWrite(ns, short_id(id), short_task(task_id, id), idx, short_path(path), data, replaces)


def _long_raw(raw: Raw) -> Raw:
    rows = [_long_row(row) for row in raw.rows]
    return Raw(rows, _long_writes(raw.writes, rows[0][0]) if rows and raw.writes else raw.writes, raw.standing)


def _long_row(row: Row) -> Row:
    id, parent_id, *rest = row
    return long_id(id), long_id(parent_id) if type(parent_id) is str else None, *rest


def _long_writes(rows: Iterable[WriteRow], checkpoint_id: str) -> list[WriteRow]:
    return [(*_long_task(task_id, path, checkpoint_id, idx), data) for task_id, idx, path, data in rows]


def _long_task(task_id: Any, path: Any, checkpoint_id: str, idx: Any) -> tuple[str, Any, str]:
    if type(task_id) is not str or type(path) is not str:
        raise Undecodable(f"A write of task {task_id!r} is broken or was changed.")
    return long_task(task_id, checkpoint_id), idx, long_path(path)


def _long_everything(found: Everything) -> Everything:
    rows = [(row[0], *_long_row(row[1:])) for row in found.rows]
    writes = [(ns, (long := long_id(id)), *_long_task(task_id, path, long, idx), data)
              for ns, id, task_id, idx, path, data in found.writes]  # fmt: skip
    return found._replace(rows=rows, writes=writes)


def _short_cleanup(cleanup: Cleanup) -> Cleanup:
    cleanup.rewritten = [(ns, short_id(id), parent and short_id(parent), body)
                         for ns, id, parent, body in cleanup.rewritten]  # fmt: skip
    cleanup.removed = [(ns, short_id(id)) for ns, id in cleanup.removed]
    cleanup.writes = [(ns, short_id(id), short_task(task_id, id), idx) for ns, id, task_id, idx in cleanup.writes]
    return cleanup
