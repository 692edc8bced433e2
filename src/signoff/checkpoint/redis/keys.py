"""The log in Redis: how it is read, and how it is tidied up."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from signoff._redis.effects import Ask, Part, Run
from signoff.checkpoint.encoding import packed_for_lua, unpacked, unpacked_from_lua
from signoff.checkpoint.lease import Lease, Standing, lost
from signoff.checkpoint.log.backend import Cleanup, Everything, Hold, Key, Raw, ThreadSize
from signoff.checkpoint.log.plans import NewRow, Plan
from signoff.checkpoint.log.values import Span
from signoff.checkpoint.places import Place, Selection
from signoff.checkpoint.questions import NOTE, Wanted
from signoff.checkpoint.redis import scripts, writing
from signoff.checkpoint.redis.names import GRACE_S, Names, field_of, parts_of_field
from signoff.errors import Undecodable
from signoff.steps import Steps

__all__ = ["RedisKeys"]


class RedisKeys:
    """The database of a log, in Redis. Its clock decides.

    saver: whose `lease_s` counts.
    """

    carries_writes = False
    """Only SQL finds the children of a checkpoint quickly."""

    def __init__(self, saver: Any, prefix: str) -> None:
        self._saver = saver
        self._names = Names(prefix)

    def set_up(self) -> Steps[None]:
        """There is nothing to make ready."""
        yield from ()

    def apply(self, plans: Sequence[Plan], hold: Hold | None) -> Steps[bool]:
        return writing.apply(self._names, plans, hold, self._saver.lease_s)

    def append_row(self, thread_id: str, row: NewRow, lease: Lease) -> Steps[bool]:
        """No row has all of a step here."""
        return False
        yield

    def renew(self, lease: Lease) -> Steps[None]:
        seconds = "" if self._saver.lease_s is None else repr(float(self._saver.lease_s))
        answer = yield Run(scripts.RENEW, self._names.of_thread(lease.thread_id), (lease.epoch, seconds))
        if answer == scripts.LOST:
            raise lost(lease)

    def fetch(self, place: Place, seal: int | None = None, *, looks: bool = False) -> Steps[Raw]:
        id = b"" if place.id is None else field_of("", place.id)[1:]
        args = (writing.field_ns(place.ns), id, "" if seal is None else str(seal), int(looks))
        rows, writes, standing, is_torn = yield Run(scripts.FETCH, self._names.of_thread(place.thread_id), args)
        if is_torn:
            raise _torn(place.thread_id)
        return Raw([_row(*row) for row in rows], _writes(writes), standing=_standing(standing) if looks else None)

    def singles(self, keys: Sequence[Key]) -> Steps[dict[Key, Raw]]:
        found: dict[Key, Raw] = {}
        for thread_id in dict.fromkeys(key[0] for key in keys):
            wanted = [key for key in keys if key[0] == thread_id]
            fields = [field_of(*key[1:]) for key in wanted]
            answers = yield Run(scripts.SINGLES, self._names.of_thread(thread_id), fields)
            for key, (row, writes) in zip(wanted, answers, strict=True):
                if row:
                    found[key] = Raw([_row(field_of("", key[2])[1:], row)], _writes(writes))
        return found

    def writes_of(self, key: Key) -> Steps[list[Any]]:
        answers = yield Run(scripts.SINGLES, self._names.of_thread(key[0]), [field_of(*key[1:])])
        return _writes(answers[0][1])

    def children(self, key: Key) -> Steps[list[str]]:
        fields = yield Run(scripts.CHILDREN, self._names.of_thread(key[0]), (key[2].encode(),))
        return [id for ns, id in map(parts_of_field, fields) if ns == key[1]]

    def parts(
        self, thread_id: str, spans: Iterable[Span], digests: Collection[bytes]
    ) -> Steps[tuple[list[Any], Mapping[bytes, bytes]]]:
        wanted, asked = list(set(spans)), list(digests)
        args: list[Part] = [len(wanted), *(number for span in wanted for number in span), *asked]
        items, blobs = yield Run(scripts.PARTS, self._names.of_thread(thread_id), args)
        rows = [
            (lineage, first + at, item)
            for (lineage, first, _), found in zip(wanted, items, strict=True)
            for at, item in enumerate(found)
        ]
        return rows, {digest: blob for digest, blob in zip(asked, blobs, strict=True) if blob is not None}

    def find(
        self, selection: Selection, is_wanted: Callable[[Any], bool] | None, limit: int | None
    ) -> Steps[list[Key]]:
        found: list[Key] = []
        for thread_id in (yield from self._threads(selection.thread_id)):
            fields = yield Ask(("HKEYS" if is_wanted is None else "HGETALL", self._names.of_thread(thread_id)[1]))
            rows: dict[bytes, Any] = _pairs(fields) if is_wanted is not None else dict.fromkeys(fields)
            for field, row in rows.items():
                ns, id = parts_of_field(field)
                if selection.has(thread_id, ns, id) and (is_wanted is None or is_wanted(_row(b"", row)[4])):
                    found.append((thread_id, ns, id))
        found.sort(key=lambda key: (key[0].encode(), key[1].encode()))
        found.sort(key=lambda key: key[2].encode(), reverse=True)
        return found[:limit]

    def questions(self, wanted: Wanted) -> Steps[list[Any]]:
        found, empty = [], []
        threads = [wanted.thread_id] if wanted.thread_id is not None else (yield from self._noted(self._names.asking))
        for thread_id in threads:
            asked = yield Ask(("HVALS", self._names.of_thread(thread_id)[4]))
            found += [(*_asked(one), thread_id) for one in asked]
            if not asked:
                empty.append(thread_id)
        yield from self._cross_out(self._names.asking, empty)
        found = [one for one in found if _is_wanted(wanted, one)]
        found.sort(key=lambda one: (one[4], one[0]))
        return [(id, thread_id, graph, path, asked_at, tag, data)
                for id, graph, path, _, asked_at, _, tag, data, thread_id in found][: wanted.limit]  # fmt: skip

    def tidy(self, thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
        while True:  # until nobody has changed anything in between
            found = yield from self._everything(thread_id)
            cleanup = rule(found)
            if (yield Run(scripts.CLEAN, self._names.of_thread(thread_id), (_cleaning(found, cleanup),))):
                return cleanup

    def delete_threads(self, thread_ids: Sequence[str]) -> Steps[None]:
        for thread_id in thread_ids:
            yield Run(scripts.DELETE, self._names.of_thread(thread_id))

    def copy_thread(self, source: str, target: str) -> Steps[bool]:
        raw = yield Run(scripts.EVERYTHING, self._names.of_thread(source), (1,))
        if not raw[1] and not raw[2]:
            exists = yield Ask(("EXISTS", *self._names.of_thread(target)[1:3]))
            return not exists
        questions = _pairs((yield Ask(("HGETALL", self._names.of_thread(source)[4]))))
        copy = {**_copied(raw), "questions": list(questions.items()), "token": uuid4().hex, "grace": GRACE_S}
        copy["noted"] = yield from writing.note(self._names.threads, target)
        if questions:
            yield from writing.note(self._names.asking, target)
        answer = yield Run(scripts.COPY, self._names.of_thread(target), (packed_for_lua(copy),))
        return bool(answer == scripts.DONE)

    def threads_of_runs(self, run_ids: Collection[str]) -> Steps[list[str]]:
        found = []
        for thread_id in (yield from self._threads(None)):
            rows = yield Ask(("HVALS", self._names.of_thread(thread_id)[1]))
            if any(_as_text(unpacked_from_lua(row)[3]) in run_ids for row in rows):
                found.append(thread_id)
        return found

    def threads(self) -> Steps[list[ThreadSize]]:
        found = []
        for thread_id in (yield from self._threads(None)):
            rows = _pairs((yield Ask(("HGETALL", self._names.of_thread(thread_id)[1]))))
            asking = yield Ask(("HLEN", self._names.of_thread(thread_id)[4]))
            if rows:
                newest = max(rows, key=lambda field: field.partition(b"\0")[2])
                found.append(ThreadSize(thread_id, parts_of_field(newest)[1], _row(b"", rows[newest])[4], bool(asking)))
        return found

    def give_space_back(self) -> Steps[None]:
        """The server does so by itself."""
        yield from ()

    def _threads(self, thread_id: str | None) -> Steps[list[str]]:
        """The threads that are there, or the one that is wanted."""
        if thread_id is not None:
            return [thread_id]
        found: list[str] = []
        gone: list[str] = []
        for one in (yield from self._noted(self._names.threads)):
            is_there = yield Ask(("EXISTS", self._names.of_thread(one)[0]))
            (found if is_there else gone).append(one)
        yield from self._cross_out(self._names.threads, gone)
        return found

    def _noted(self, key: bytes) -> Steps[list[str]]:
        members = yield Ask(("ZRANGE", key, 0, -1))
        return [member.decode() for member in members]

    def _cross_out(self, key: bytes, threads: Sequence[str]) -> Steps[None]:
        if threads:
            yield Run(scripts.CROSS_OUT, (key,), (GRACE_S, *(thread_id.encode() for thread_id in threads)))

    def _everything(self, thread_id: str) -> Steps[Everything]:
        raw = yield Run(scripts.EVERYTHING, self._names.of_thread(thread_id), (0,))
        changes, rows, writes, lineages, blobs = raw
        return Everything(
            [(parts_of_field(field)[0], *_row(field.partition(b"\0")[2], row), _run_id(row), None)
             for field, row in _pairs(rows).items()],
            [(*parts_of_field(field), *one) for field, kept in _pairs(writes).items() for one in _writes(kept)],
            [(int(lineage), 0, count, size) for lineage, count, size, _ in lineages],
            [(digest, size) for digest, size, _ in blobs],
            changes,
        )  # fmt: skip


def _torn(thread_id: str) -> Undecodable:
    return Undecodable(
        f"A part of thread {thread_id!r} is not there any more: Redis has evicted it to make room (its "
        "maxmemory-policy must be noeviction), or somebody has removed the key. Restore it from a copy, or "
        f"delete_thread({thread_id!r}) and begin anew."
    )


def _row(id: bytes, packed: bytes) -> list[Any]:
    """(id, parent_id, depth, seal, body), as the log has rows."""
    try:
        parent_id, depth, seal, _, body = unpacked_from_lua(packed)
        return [parts_of_field(b"\0" + id)[1], _as_text(parent_id), depth, int(seal), body]
    except Exception as error:
        raise Undecodable(f"A stored checkpoint is broken or was changed ({type(error).__name__}: {error}).") from error


def _run_id(packed: bytes) -> str | None:
    return _as_text(unpacked_from_lua(packed)[3])


def _as_text(text: Any) -> str | None:
    return text.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else None


def _writes(packed: bytes | None) -> list[Any]:
    if not packed:
        return []
    try:
        rows = unpacked_from_lua(packed)
        return [(_as_text(task), idx, _as_text(path), data) for task, idx, path, data in rows]
    except Exception as error:
        raise Undecodable(f"Stored writes are broken or were changed ({type(error).__name__}: {error}).") from error


def _asked(packed: bytes) -> Sequence[Any]:
    """(id, graph, path, node, asked_at, text, tag, data) of a question."""
    try:
        parts: Sequence[Any] = unpacked(packed)
        if [type(part) for part in parts] != [str] * 7 + [bytes]:
            raise TypeError("it has other parts")
    except Exception as error:
        raise Undecodable(f"A stored question is broken or was changed ({type(error).__name__}: {error}).") from error
    return parts


def _standing(raw: Sequence[Any]) -> Standing:
    epoch, changes, holder, is_expired = raw
    return Standing((epoch, changes), _as_text(holder), bool(is_expired))


def _pairs(flat: Sequence[bytes] | Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    if isinstance(flat, Mapping):
        return dict(flat)
    return dict(zip(flat[::2], flat[1::2], strict=True))


def _is_wanted(wanted: Wanted, one: Sequence[Any]) -> bool:
    id, graph, _, node, asked_at, text, _, _, _ = one
    return (
        wanted.id in (None, id)
        and wanted.graph in (None, graph)
        and wanted.node in (None, node)
        and wanted.answered in (None, node == NOTE)
        and (wanted.asked_after is None or asked_at > wanted.asked_after)
        and (wanted.asked_before is None or asked_at < wanted.asked_before)
        and (wanted.after is None or (asked_at, id) > tuple(wanted.after))
        and (wanted.text is None or wanted.text.casefold() in text)
    )


def _cleaning(found: Everything, cleanup: Cleanup) -> bytes:
    gone = set(cleanup.removed)
    heads: dict[str, Any] = {}
    for ns, id, *_ in found.rows:
        heads.setdefault(ns, None)
        if (ns, id) not in gone and (heads[ns] is None or id.encode() > heads[ns].encode()):
            heads[ns] = id
    script = {
        "changes": found.token,
        "rewritten": [writing.rewritten(one) for one in cleanup.rewritten],
        "removed": [field_of(*place) for place in cleanup.removed],
        "closes_all": cleanup.closes_all,
        "writes": [(field_of(ns, id), task_id, idx) for ns, id, task_id, idx in cleanup.writes],
        "lineages": [str(lineage) for lineage, _ in cleanup.items],
        "blobs": cleanup.blobs,
        "heads": [(writing.field_ns(ns), id and field_of("", id)[1:]) for ns, id in heads.items()],
    }
    return packed_for_lua(script)


def _copied(raw: Sequence[Any]) -> dict[str, Any]:
    _, rows, writes, lineages, blobs = raw
    heads: dict[bytes, bytes] = {}
    for field in _pairs(rows):
        ns, _, id = field.partition(b"\0")
        heads[ns] = max(heads.get(ns, b""), id)
    return {
        "rows": list(_pairs(rows).items()),
        "writes": list(_pairs(writes).items()),
        "blobs": [(digest, data) for digest, _, data in blobs],
        "lineages": [(lineage, items) for lineage, _, _, items in lineages],
        "heads": list(heads.items()),
    }
