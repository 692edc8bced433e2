"""The log in Redis: how it is read."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from signoff._redis.effects import Ask, Part, Run, asked
from signoff.checkpoint.lease import Lease, lost
from signoff.checkpoint.log.backend import Cleanup, Copied, Everything, Hold, Key, Raw, ThreadSize
from signoff.checkpoint.log.plans import NewRow, Plan
from signoff.checkpoint.log.values import Span
from signoff.checkpoint.places import Place, Selection, reading_of
from signoff.checkpoint.questions import Wanted
from signoff.checkpoint.redis import index, scripts, tidying, writing
from signoff.checkpoint.redis.names import GRACE_S, HEAD, QUESTIONS, ROWS, Names, field_of, parts_of_field
from signoff.checkpoint.redis.rows import pairs_of, row_of, run_id_of, standing_of, writes_in
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
        return Raw([row_of(*row) for row in rows], writes_in(writes), standing=standing_of(standing) if looks else None)

    def singles(self, keys: Sequence[Key]) -> Steps[dict[Key, Raw]]:
        found: dict[Key, Raw] = {}
        for thread_id in dict.fromkeys(key[0] for key in keys):
            wanted = [key for key in keys if key[0] == thread_id]
            fields = [field_of(*key[1:]) for key in wanted]
            answers = yield Run(scripts.SINGLES, self._names.of_thread(thread_id), fields)
            for key, (row, writes) in zip(wanted, answers, strict=True):
                if row:
                    found[key] = Raw([row_of(field_of("", key[2])[1:], row)], writes_in(writes))
        return found

    def writes_of(self, key: Key) -> Steps[list[Any]]:
        answers = yield Run(scripts.SINGLES, self._names.of_thread(key[0]), [field_of(*key[1:])])
        return writes_in(answers[0][1])

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
        threads = yield from self._threads(selection.thread_id)
        for thread_id, fields in (yield from self._of_each(threads, "HKEYS" if is_wanted is None else "HGETALL", ROWS)):
            rows: dict[bytes, Any] = pairs_of(fields) if is_wanted is not None else dict.fromkeys(fields)
            with reading_of(thread_id):
                for field, row in rows.items():
                    ns, id = parts_of_field(field)
                    if selection.has(thread_id, ns, id) and (is_wanted is None or is_wanted(row_of(b"", row)[4])):
                        found.append((thread_id, ns, id))
        found.sort(key=lambda key: (key[0].encode(), key[1].encode()))
        found.sort(key=lambda key: key[2].encode(), reverse=True)
        return found[:limit]

    def questions(self, wanted: Wanted) -> Steps[list[Any]]:
        found = yield from index.find(self._names, wanted)
        return [(id, thread_id, graph, path, asked_at, tag, data)
                for id, graph, path, _, asked_at, _, tag, data, thread_id in found]  # fmt: skip

    def tidy(self, thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
        return tidying.tidy(self._names, thread_id, rule)

    def delete_threads(self, thread_ids: Sequence[str]) -> Steps[None]:
        for thread_id in thread_ids:
            keys = self._names.of_thread(thread_id)
            token = yield Run(scripts.DOOM, keys, (uuid4().hex,))
            if token:
                yield Run(scripts.DELETE, keys, (token,))

    def delete_idle(self, seen: Mapping[str, Any], *, with_questions: bool) -> Steps[list[str]]:
        gone = []
        for thread_id, (epoch, changes) in seen.items():
            as_seen = (epoch, changes, int(with_questions))
            if (yield Run(scripts.DELETE, self._names.of_thread(thread_id), as_seen)):
                gone.append(thread_id)
        return gone

    def copy_thread(self, source: str, target: str) -> Steps[Copied]:
        return tidying.copy_thread(self._names, source, target)

    def threads_of_runs(self, run_ids: Collection[str]) -> Steps[list[str]]:
        found = []
        for thread_id, rows in (yield from self._of_each((yield from self._threads(None)), "HVALS", ROWS)):
            with reading_of(thread_id):
                if any(run_id_of(row) in run_ids for row in rows):
                    found.append(thread_id)
        return found

    def threads(self) -> Steps[list[ThreadSize]]:
        found = []
        threads = yield from self._threads(None)
        waiting = dict((yield from self._of_each(threads, "HLEN", QUESTIONS)))
        expires = dict((yield from self._of_each(threads, "HGET", HEAD, "expires")))
        for thread_id, fields in (yield from self._of_each(threads, "HGETALL", ROWS)):
            rows, asking = pairs_of(fields), waiting[thread_id]
            if rows:
                newest = max(rows, key=lambda field: field.partition(b"\0")[2])
                with reading_of(thread_id):
                    id, body = parts_of_field(newest)[1], row_of(b"", rows[newest])[4]
                found.append(ThreadSize(thread_id, id, body, bool(asking), expires[thread_id]))
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
        noted = [member.decode() for member in (yield Ask(("ZRANGE", self._names.threads, 0, -1)))]
        for one, is_there in (yield from self._of_each(noted, "EXISTS", HEAD)):
            (found if is_there else gone).append(one)
        if gone:
            yield Run(scripts.CROSS_OUT, (self._names.threads,), (GRACE_S, *(one.encode() for one in gone)))
        return found

    def _of_each(
        self, threads: Sequence[str], command: str, part: int, *more: str | bytes
    ) -> Steps[list[tuple[str, Any]]]:
        """Threads, each with what a command says of a part of it."""
        answers = yield from asked([(command, self._names.of_thread(thread_id)[part], *more) for thread_id in threads])
        return list(zip(threads, answers, strict=True))


def _torn(thread_id: str) -> Undecodable:
    return Undecodable(
        "A part of it is not there any more: Redis has evicted it to make room (its maxmemory-policy must be "
        "noeviction), or somebody has removed the key. Restore the thread from a copy, or "
        f"delete_thread({thread_id!r}) and begin anew."
    )
