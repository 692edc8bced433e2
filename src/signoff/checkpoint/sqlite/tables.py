"""The log in a SQLite file: how it is read."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from signoff._sqlite.effects import Execute, Find, Read, in_transaction
from signoff._sqlite.migrations import set_up
from signoff._tuples import made
from signoff.checkpoint.lease import Lease, Standing
from signoff.checkpoint.log.backend import Cleanup, Copied, Everything, Hold, Key, Raw, Row, ThreadSize
from signoff.checkpoint.log.conditions import where_asked, where_selected
from signoff.checkpoint.log.plans import MAX_DEPTH, Plan
from signoff.checkpoint.log.values import Span
from signoff.checkpoint.places import Place, Selection
from signoff.checkpoint.questions import Wanted
from signoff.checkpoint.sqlite import tidying, writing
from signoff.checkpoint.sqlite.schema import SCHEMA
from signoff.errors import Undecodable
from signoff.steps import Steps

__all__ = ["SqliteTables"]

T = TypeVar("T")

_COLUMNS = "id, parent_id, depth, seal, body"

# Everything at once, so that it is of one moment without a transaction: the checkpoint, its writes, and how the thread
# stands.
_FETCH = f"""
    SELECT 1, * FROM (SELECT {_COLUMNS} FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ?2 {{which}})
    UNION ALL
    SELECT 2, task_id, idx, path, data, LENGTH(data) FROM signoff_writes
    WHERE thread_id = ?1 AND ns = ?2 AND checkpoint_id = {{id}}
"""

_FETCH_HEAD = _FETCH.format(
    which="ORDER BY id DESC LIMIT 1",
    id="(SELECT MAX(id) FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ?2)",
)

# The children of a checkpoint: the next one that is no branch, if it is one, and branches.
_CHILDREN = """
    SELECT {columns} FROM (
        SELECT * FROM signoff_checkpoints WHERE thread_id = ?1 AND ns = ?2 AND id > ?3 AND branch IS NULL
        ORDER BY id LIMIT 1
    ) WHERE parent_id = ?3
    UNION ALL
    SELECT {columns} FROM signoff_checkpoints INDEXED BY signoff_checkpoints_branches
    WHERE thread_id = ?1 AND ns = ?2 AND parent_id = ?3 AND branch IS NOT NULL
"""

# What was written since an old checkpoint is mostly in the next one.
_CARRIED = _CHILDREN.format(columns="3, writes, NULL, NULL, NULL, NULL")

_FETCH_BY_ID = f"{_FETCH.format(which='AND id = ?3', id='?3')} UNION ALL {_CARRIED}"

_LEASE = "SELECT 4, epoch, holder, expires_at, NULL, NULL FROM signoff_threads WHERE thread_id = ?1"

# Whoever reads the head of a thread, and its writes, has all that its standing is made of, but for the lease.
_LOOK_AT_THREAD = f"{_FETCH_HEAD} UNION ALL {_LEASE}"

_LOOK_AT_HEAD, _LOOK_BY_ID = (
    f"{sql} UNION ALL {_LEASE} UNION ALL SELECT 5, *, NULL, NULL FROM ({writing.HEAD_AND_WRITTEN})"
    for sql in (_FETCH_HEAD, _FETCH_BY_ID)
)

# What a checkpoint stands on is mostly right before it.
_DOWN_FROM = f"""
    SELECT {_COLUMNS} FROM signoff_checkpoints WHERE thread_id = ? AND ns = ? AND id <= ? ORDER BY id DESC LIMIT ?
"""

_WRITES = """
    SELECT task_id, idx, path, data FROM signoff_writes WHERE thread_id = ? AND ns = ? AND checkpoint_id = ?
"""

_ITEMS = """
    SELECT lineage, start, data FROM signoff_items
    WHERE thread_id = ?1 AND lineage = ?2 AND start < ?4 AND start >= COALESCE(
        (SELECT MAX(start) FROM signoff_items WHERE thread_id = ?1 AND lineage = ?2 AND start <= ?3), 0)
"""

_FIRST_ITEMS = "SELECT lineage, start, data FROM signoff_items WHERE thread_id = ? AND lineage = ? AND start < ?"

_BLOB = "SELECT digest, data FROM signoff_blobs WHERE thread_id = ? AND digest = ?"

_NO_LEASE: Sequence[Any] = (4, None, None, None)
"""What stands for the lease of a thread that nobody has ever taken."""

_THREADS = """
    SELECT thread_id, MAX(id), body,
        EXISTS (SELECT 1 FROM signoff_questions AS open WHERE open.thread_id = log.thread_id),
        (SELECT expires_at FROM signoff_threads AS lease WHERE lease.thread_id = log.thread_id)
    FROM signoff_checkpoints AS log GROUP BY thread_id
"""


class SqliteTables:
    """The database of a log, in a SQLite file.

    saver: whose `clock` (that of the machine, which all who use the file share) and `lease_s` count.
    """

    carries_writes = True
    append_row = staticmethod(writing.append_row)

    def __init__(self, saver: Any) -> None:
        self._saver = saver

    def _clock(self) -> float:
        now: float = self._saver.clock()
        return now

    def _until(self) -> float:
        return self._clock() + (self._saver.lease_s if self._saver.lease_s is not None else float("inf"))

    def set_up(self) -> Steps[None]:
        yield from set_up(SCHEMA, begin=tidying.make_shrinkable)

    def apply(self, plans: Sequence[Plan], hold: Hold | None) -> Steps[bool]:
        return writing.apply(plans, hold, self._until)

    def renew(self, lease: Lease) -> Steps[None]:
        yield writing.renewal(lease, self._until())

    def fetch(self, place: Place, seal: int | None = None, *, looks: bool = False) -> Steps[Raw]:
        if place.id is None:
            look = _LOOK_AT_HEAD if place.ns else _LOOK_AT_THREAD
            asked = made(Read, (look if looks else _FETCH_HEAD, place[:2]))
        else:
            asked = made(Read, (_LOOK_BY_ID if looks else _FETCH_BY_ID, place))
        raw = self._raw((yield asked), looks=looks)
        if not raw.rows or _is_bottom(raw.rows[0], seal):
            return raw
        return (yield from in_transaction("read", self._fetch_chain(place, asked, seal, looks=looks)))

    def _fetch_chain(self, place: Place, asked: Read, seal: int | None, *, looks: bool) -> Steps[Raw]:
        """The same once more, with what the checkpoint stands on: all of it is of one moment."""
        raw = self._raw((yield Execute(*asked)), looks=looks)
        rows = list(raw.rows)
        found = rows
        while found and not _is_bottom(rows[-1], seal):
            found = yield Execute(_DOWN_FROM, (*place[:2], rows[-1][1], min(rows[-1][2], MAX_DEPTH)))
            found = _chained(rows[-1], found)
            rows += found
        return raw._replace(rows=rows)

    def _raw(self, found: Sequence[Sequence[Any]], *, looks: bool) -> Raw:
        rows, writes, carried = [], [], []
        lease, size, head, standing = _NO_LEASE, 0, None, None
        for row in found:
            kind = row[0]
            if kind == 1:
                rows.append(row[1:])
            elif kind == 2:
                writes.append(row[1:5])
                size += row[5]
            elif kind == 4:
                lease = row
            elif kind == 5:
                head = row[1:4]
            elif row[1] is not None:
                carried.append(row[1])
        if looks:
            standing = self._standing(lease, head or (rows[0][0] if rows else None, len(writes), size))
        return made(Raw, (rows, writes, carried, standing))

    def _standing(self, lease: Sequence[Any], head: Sequence[Any]) -> Standing:
        """How a thread stands: its head, how much was written there since, and who has it."""
        _, epoch, holder, expires_at, *_ = lease
        is_number = epoch is None or type(epoch) is int
        if not is_number or (holder is not None and (type(holder) is not str or type(expires_at) is bytes)):
            raise Undecodable(f"Who has the thread is broken or was changed: epoch {epoch!r}, holder {holder!r}.")
        is_expired = holder is not None and expires_at < self._clock()
        return made(Standing, ((epoch, *head), holder, is_expired))

    def singles(self, keys: Sequence[Key]) -> Steps[dict[Key, Raw]]:
        return in_transaction("read", self._singles(keys))

    def _singles(self, keys: Sequence[Key]) -> Steps[dict[Key, Raw]]:
        found = {}
        for key in keys:
            raw = self._raw((yield Execute(_FETCH_BY_ID, key)), looks=False)
            if raw.rows:
                found[key] = raw
        return found

    def writes_of(self, key: Key) -> Steps[Any]:
        return (yield Read(_WRITES, key))

    def children(self, key: Key) -> Steps[list[str]]:
        rows = yield Read(_CHILDREN.format(columns="id"), key)
        return [row[0] for row in rows]

    def parts(
        self, thread_id: str, spans: Iterable[Span], digests: Collection[bytes]
    ) -> Steps[tuple[list[Any], Mapping[bytes, bytes]]]:
        ranges = joined_ranges(spans)
        if len(ranges) == 1 and not digests:
            return (yield Read(*_items(thread_id, ranges[0]))), {}
        return (yield from in_transaction("read", self._parts(thread_id, ranges, digests)))

    def _parts(
        self, thread_id: str, ranges: Iterable[Span], digests: Collection[bytes]
    ) -> Steps[tuple[list[Any], Mapping[bytes, bytes]]]:
        items: list[Any] = []
        for span in ranges:
            items += yield Execute(*_items(thread_id, span))
        blobs: dict[bytes, bytes] = {}
        for digest in digests:
            blobs.update((yield Execute(_BLOB, (thread_id, digest))))
        return items, blobs

    def find(
        self, selection: Selection, is_wanted: Callable[[Any], bool] | None, limit: int | None
    ) -> Steps[list[Key]]:
        where, params = where_selected(selection, "?")
        body = "NULL" if is_wanted is None else "body"
        sql = f"SELECT thread_id, ns, id, {body} FROM signoff_checkpoints {where} ORDER BY id DESC, thread_id, ns"
        found = Find(sql, params, lambda row: is_wanted is None or is_wanted(row[3]), limit)
        rows = yield from in_transaction("read", _perform(found))
        return [(row[0], row[1], row[2]) for row in rows]

    def questions(self, wanted: Wanted) -> Steps[Any]:
        where, params = where_asked(wanted, "?", says="instr(text, ?) > 0")
        limit = -1 if wanted.limit is None else wanted.limit
        sql = f"""
            SELECT id, thread_id, graph, path, asked_at, type, value FROM signoff_questions {where}
            ORDER BY asked_at, id LIMIT {limit}
        """
        return (yield Read(sql, params))

    def tidy(self, thread_id: str, rule: Callable[[Everything], Cleanup]) -> Steps[Cleanup]:
        return in_transaction("write", tidying.tidy(thread_id, rule))

    def delete_threads(self, thread_ids: Sequence[str]) -> Steps[None]:
        return in_transaction("write", tidying.delete_threads(thread_ids))

    def delete_idle(self, seen: Mapping[str, Any], *, with_questions: bool) -> Steps[list[str]]:
        return in_transaction("write", tidying.delete_idle(seen, with_questions=with_questions))

    def copy_thread(self, source: str, target: str) -> Steps[Copied]:
        return in_transaction("write", tidying.copy_thread(source, target))

    def threads_of_runs(self, run_ids: Collection[str]) -> Steps[list[str]]:
        return in_transaction("read", _threads_of_runs(run_ids))

    def threads(self) -> Steps[list[ThreadSize]]:
        rows = yield Read(_THREADS)
        return [ThreadSize(thread_id, id, body, bool(has), expires) for thread_id, id, body, has, expires in rows]

    def give_space_back(self) -> Steps[None]:
        """It is done as something is removed."""
        yield from ()


def _is_bottom(row: Row, seal: int | None) -> bool:
    """Whether nothing below a row has to be read: a snapshot, one that is known, or one that is broken."""
    return type(row[2]) is not int or row[2] <= 0 or row[3] == seal


def _chained(row: Row, candidates: Iterable[Row]) -> list[Row]:
    """Those that a row stands on, each below the one before."""
    found = []
    for below in candidates:
        # The depth falls from each to the one below, so that no file, whatever is in it, makes this go on for ever.
        if below[0] == row[1] and type(below[2]) is int and below[2] < row[2]:
            found.append(below)
            row = below
    return found


def _items(thread_id: str, span: Span) -> tuple[str, Sequence[Any]]:
    """The query for the rows that have items of a span."""
    lineage, first, end = span
    return (_ITEMS, (thread_id, *span)) if first else (_FIRST_ITEMS, (thread_id, lineage, end))


def joined_ranges(spans: Iterable[Span]) -> list[Span]:
    """Spans, with those of one lineage as one that has them all."""
    ranges: dict[int, tuple[int, int]] = {}
    for lineage, first, end in spans:
        low, high = ranges.get(lineage, (first, end))
        ranges[lineage] = (min(low, first), max(high, end))
    return [(lineage, *bounds) for lineage, bounds in ranges.items()]


def _perform(effect: Any) -> Steps[Any]:
    return (yield effect)


def _threads_of_runs(run_ids: Collection[str]) -> Steps[list[str]]:
    threads: dict[str, None] = {}
    for run_id in run_ids:
        rows = yield Execute("SELECT DISTINCT thread_id FROM signoff_checkpoints WHERE run_id = ?", (run_id,))
        threads.update((row[0], None) for row in rows)
    return list(threads)
