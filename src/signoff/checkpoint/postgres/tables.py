"""The log in Postgres, and how it is read."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from signoff._postgres.effects import Execute
from signoff._postgres.migrations import set_up
from signoff._postgres.texts import as_put, as_stored
from signoff._postgres.transactions import read
from signoff.checkpoint.lease import Lease
from signoff.checkpoint.log.backend import Hold, Key, Raw, ThreadSize
from signoff.checkpoint.log.conditions import where_asked, where_selected
from signoff.checkpoint.log.plans import Plan
from signoff.checkpoint.log.values import Span
from signoff.checkpoint.places import Place, Selection
from signoff.checkpoint.postgres import tidying, writing
from signoff.checkpoint.postgres.ids import id_as_put, id_as_stored, run_as_stored
from signoff.checkpoint.postgres.rows import COLUMNS, put, put_key, raw_of, stored_key
from signoff.checkpoint.postgres.schema import SCHEMA
from signoff.checkpoint.questions import Wanted
from signoff.steps import Steps

__all__ = ["PostgresTables"]

_LOOK = "SELECT * FROM signoff_look(%s::text, %s::text, %s::bytea, %s::bigint, %s::boolean)"

_WRITES = """
    SELECT task_id, idx, path, data FROM signoff_writes WHERE thread_id = %s AND ns = %s AND checkpoint_id = %s
"""

_CHILDREN = "SELECT id FROM signoff_children(%s::text, %s::text, %s::bytea)"

_KEYS = "unnest(%s::text[], %s::text[], %s::bytea[]) AS wanted (thread_id, ns, id)"

_SINGLES = f"""
    SELECT thread_id, ns, {COLUMNS} FROM signoff_checkpoints JOIN {_KEYS} USING (thread_id, ns, id)
"""

_SINGLE_WRITES = f"""
    SELECT kept.thread_id, kept.ns, kept.checkpoint_id, kept.task_id, kept.idx, kept.path, kept.data
    FROM signoff_writes AS kept JOIN {_KEYS}
    ON kept.thread_id = wanted.thread_id AND kept.ns = wanted.ns AND kept.checkpoint_id = wanted.id
"""

_SINGLE_CARRIED = f"""
    SELECT wanted.thread_id, wanted.ns, wanted.id, child.writes
    FROM {_KEYS} CROSS JOIN signoff_children(wanted.thread_id, wanted.ns, wanted.id) AS child WHERE child.writes <> ''
"""

_ITEMS = """
    SELECT lineage, start, data FROM signoff_items JOIN unnest(%s::integer[], %s::integer[], %s::integer[])
    AS wanted (of_lineage, first, ending) ON lineage = of_lineage AND start < ending AND start >= COALESCE(
        (SELECT MAX(start) FROM signoff_items WHERE thread_id = %s AND lineage = of_lineage AND start <= first), 0)
    WHERE thread_id = %s
"""

_BLOBS = "SELECT digest, data FROM signoff_blobs WHERE thread_id = %s AND digest = ANY (%s::bytea[])"

_THREADS = """
    SELECT DISTINCT ON (thread_id) thread_id, id, body,
        EXISTS (SELECT 1 FROM signoff_questions AS open WHERE open.thread_id = log.thread_id),
        (SELECT expires_at FROM signoff_threads AS lease WHERE lease.thread_id = log.thread_id)
    FROM signoff_checkpoints AS log ORDER BY thread_id, id DESC
"""


class PostgresTables:
    """The database of a log, in Postgres. Its clock decides.

    saver: whose `lease_s` counts.
    """

    carries_writes = True
    append_row = staticmethod(writing.append_row)
    tidy = staticmethod(tidying.tidy)
    delete_threads = staticmethod(tidying.delete_threads)
    delete_idle = staticmethod(tidying.delete_idle)
    copy_thread = staticmethod(tidying.copy_thread)

    def __init__(self, saver: Any) -> None:
        self._saver = saver

    def set_up(self) -> Steps[None]:
        yield from set_up(SCHEMA)

    def apply(self, plans: Sequence[Plan], hold: Hold | None) -> Steps[bool]:
        return writing.apply(plans, hold, self._saver.lease_s)

    def renew(self, lease: Lease) -> Steps[None]:
        return writing.renew(lease, self._saver.lease_s)

    def fetch(self, place: Place, seal: int | None = None, *, looks: bool = False) -> Steps[Raw]:
        params = (as_stored(place.thread_id), as_stored(place.ns), id_as_stored(place.id), seal, looks)
        found = yield from read(Execute(_LOOK, params))
        return raw_of(found[0])

    def singles(self, keys: Sequence[Key]) -> Steps[dict[Key, Raw]]:
        wanted = [list(parts) for parts in zip(*map(stored_key, keys), strict=True)] or [[], [], []]
        asked = Execute(_SINGLES, wanted), Execute(_SINGLE_WRITES, wanted), Execute(_SINGLE_CARRIED, wanted)
        rows, writes, carried = yield from read(*asked)
        found: dict[Key, Raw] = {}
        for thread_id, ns, *row in rows:
            row[:2] = map(id_as_put, row[:2])
            found[as_put(thread_id), as_put(ns), row[0]] = Raw([row], [], [])
        for *key, task_id, idx, path, data in writes:
            if raw := found.get(put_key(*key)):
                raw.writes.append((as_put(task_id), idx, as_put(path), data))  # type: ignore[attr-defined]
        for *key, data in carried:
            if raw := found.get(put_key(*key)):
                raw.carried.append(data)  # type: ignore[attr-defined]
        return found

    def writes_of(self, key: Key) -> Steps[list[Any]]:
        rows = yield from read(Execute(_WRITES, stored_key(key)))
        return put(rows[0])

    def children(self, key: Key) -> Steps[list[str]]:
        rows = yield from read(Execute(_CHILDREN, stored_key(key)))
        return [id_as_put(row[0]) for row in rows[0]]

    def parts(
        self, thread_id: str, spans: Iterable[Span], digests: Collection[bytes]
    ) -> Steps[tuple[list[Any], Mapping[bytes, bytes]]]:
        one, bounds = as_stored(thread_id), list(zip(*set(spans), strict=True)) or [(), (), ()]
        asked = Execute(_ITEMS, (*map(list, bounds), one, one)), Execute(_BLOBS, (one, list(digests)))
        items, blobs = yield from read(*asked)
        return items, {bytes(digest): data for digest, data in blobs}

    def find(
        self, selection: Selection, is_wanted: Callable[[Any], bool] | None, limit: int | None
    ) -> Steps[list[Key]]:
        thread_id, ns, id, before = selection
        stored = as_stored(thread_id), as_stored(ns), id_as_stored(id), id_as_stored(before)
        where, params = where_selected(stored, "%s")
        body = "NULL" if is_wanted is None else "body"
        sql = f"SELECT thread_id, ns, id, {body} FROM signoff_checkpoints {where} ORDER BY id DESC, thread_id, ns"
        if is_wanted is None:
            sql, params = f"{sql} LIMIT %s", [*params, limit]
        rows = yield from read(Execute(sql, params))
        found = [row for row in rows[0] if is_wanted is None or is_wanted(row[3])]
        return [put_key(*row[:3]) for row in found[:limit]]

    def questions(self, wanted: Wanted) -> Steps[list[Any]]:
        where, params = where_asked(wanted, "%s", says="position(%s in text) > 0")
        sql = f"""
            SELECT id, thread_id, graph, path, asked_at, type, value FROM signoff_questions {where}
            ORDER BY asked_at, id LIMIT %s
        """
        rows = yield from read(Execute(sql, [*map(as_stored, params), wanted.limit]))
        return put(rows[0])

    def threads_of_runs(self, run_ids: Collection[str]) -> Steps[list[str]]:
        sql = "SELECT DISTINCT thread_id FROM signoff_checkpoints WHERE run <> '' AND run = ANY (%s::text[])"
        rows = yield from read(Execute(sql, ([run_as_stored(id) for id in run_ids],)))
        return [row[0] for row in put(rows[0])]

    def threads(self) -> Steps[list[ThreadSize]]:
        rows = yield from read(Execute(_THREADS))
        return [ThreadSize(as_put(thread_id), id_as_put(id), *rest) for thread_id, id, *rest in rows[0]]

    def give_space_back(self) -> Steps[None]:
        """The server does so by itself."""
        yield from ()
