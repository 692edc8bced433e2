"""A store in this process: for tests, scripts, and anything that may be forgotten when the process ends."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from sys import maxsize
from typing import TYPE_CHECKING, Any

from signoff._clocks import checked_clock
from signoff._forks import whole
from signoff._locks import RLock
from signoff.steps import Steps, adrive, drive
from signoff.store import _indexing
from signoff.store._batches import check, check_put, checked, final_puts, listed
from signoff.store._filters import passes
from signoff.store._indexing import EmbedQuery, EmbedTexts, Index, embed_puts, embed_queries
from signoff.store._lifetimes import (
    check_ttl_config,
    expiry,
    horizon,
    refreshed,
    sweep_interval_s,
    timeout_s,
)
from signoff.store._records import Record, detached
from signoff.store._sweeper import Sweeper
from signoff.store._vectors import ranked
from signoff.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)
from signoff.store.base.namespaces import place_of

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["InMemoryStore"]

Place = tuple[tuple[str, ...], str]

_NOTHING: dict[str, Record] = {}


class InMemoryStore(BaseStore):
    """Items kept in dicts, in the order they were first put. Many threads may use it at once.

    index: makes items searchable by meaning.
    ttl: how long items live.
    clock: what tells the time, in seconds.
    """

    supports_ttl = True

    def __init__(
        self,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = checked_clock(clock)
        self.index_config = index
        self.ttl_config = check_ttl_config(ttl)
        self._index = Index.of(index)
        self.embeddings = self._index.embeddings if self._index else None
        self._records: dict[tuple[str, ...], dict[str, Record]] = {}
        # Reentrant: comparing values in a filter may run user code that comes back here.
        self._lock = whole(RLock())
        self._sweeper = Sweeper(self)

    def get(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """The item with this key, or None. `refresh_ttl` says whether its time to live starts anew."""
        namespace, key = place_of(namespace, key)
        with self._lock:
            return self._get(namespace, key, refresh_ttl, self._clock())

    async def aget(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        """The item with this key, or None. `refresh_ttl` says whether its time to live starts anew."""
        return self.get(namespace, key, refresh_ttl=refresh_ttl)

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""
        return drive(self._batch(ops), self._embed)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations at once and answer them in order. Reads see what was there before the batch."""
        return await adrive(self._batch(ops), self._aembed)

    def sweep_ttl(self) -> int:
        """Remove expired items and say how many."""
        with self._lock:
            now = self._clock()
            mortal = [(place, record.expires_at) for place, record in self._under(()) if record.expires_at is not None]
            expired = [place for place, expires_at in mortal if expires_at <= now]
            for namespace, key in expired:
                self._delete(namespace, key)
        return len(expired)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> "Future[None]":
        """Remove expired items now and then, in a thread; the future ends when that does. To cancel it stops that."""
        return self._sweeper.start(sweep_interval_s(self.ttl_config, sweep_interval_minutes))

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the thread; whether it has ended within the timeout (in seconds)."""
        return self._sweeper.stop(timeout_s(timeout))

    def _perform_one(self, op: Op) -> Any:
        if self._index is not None:
            return self.batch([op])[0]
        if isinstance(op, PutOp):
            check_put(op)
            record = detached(op)
            with self._lock:
                if record is None:
                    return self._delete(op.namespace, op.key)
                now = self._clock()
                return self._write(op, record, now, datetime.fromtimestamp(now, UTC))
        check(op)
        with self._lock:
            return self._answer(op, {}, self._clock())

    async def _aperform_one(self, op: Op) -> Any:
        return self._perform_one(op) if self._index is None else (await self.abatch([op]))[0]

    def _batch(self, ops: Iterable[Op]) -> Steps[list[Result]]:
        known = checked(ops)
        puts = final_puts(known)
        records = [detached(op) for op in puts]
        queries: Mapping[str, bytes] = {}
        if self._index is not None:
            # Embedding may take long and may fail, so it comes before anything is locked or written.
            queries = yield from embed_queries(self._index, (op for op in known if isinstance(op, SearchOp)))
            for record, blobs in zip(records, (yield from embed_puts(self._index, puts)), strict=True):
                if record is not None:
                    record.vectors = blobs
        with self._lock:
            now = self._clock()
            results = [None if isinstance(op, PutOp) else self._answer(op, queries, now) for op in known]
            changes = list(zip(puts, records, strict=True))
            try:
                self._change(changes, now)
            except BaseException:  # out of the handler of a signal: nobody may find half of a batch
                self._change(changes, now)
                raise
        return results

    def _change(self, changes: Sequence[tuple[PutOp, Record | None]], now: float) -> None:
        """Write and delete. It may be done a second time, and changes no more then."""
        moment = datetime.fromtimestamp(now, UTC)
        for op, record in changes:
            if record is None:
                self._delete(op.namespace, op.key)
            else:
                self._write(op, record, now, moment)

    def _answer(self, op: Op, queries: Mapping[str, bytes], now: float) -> Result:
        match op:
            case GetOp():
                return self._get(op.namespace, op.key, op.refresh_ttl, now)
            case SearchOp():
                return self._search(op, queries.get(op.query or ""), now)
            case ListNamespacesOp():
                return listed(self._namespaces(now), op)
            case PutOp():
                return None

    def _get(self, namespace: tuple[str, ...], key: str, refresh_ttl: bool | None, now: float) -> Item | None:
        record = self._records.get(namespace, _NOTHING).get(key)
        if record is None or (record.expires_at is not None and not self._is_seen(record, now)):
            return None
        if record.ttl_minutes is not None and self._refreshes(refresh_ttl):
            record.expires_at = refreshed(record.expires_at, record.ttl_minutes, now)
        return record.item(namespace, key)

    def _search(self, op: SearchOp, query: bytes | None, now: float) -> list[SearchItem]:
        end = op.offset + op.limit
        if query is None:  # then they stand in order, and no more are needed than are shown
            found = dict(islice(self._matching(op, now), min(op.offset, maxsize), min(end, maxsize)))
            page: list[tuple[Place, float | None]] = [(place, None) for place in found]
        else:
            found = dict(self._matching(op, now))
            page = ranked(found, ((place, blob) for place in found for blob in found[place].vectors), query)
            page = page[op.offset : end]
        if op.refresh_ttl:
            for record in (found[place] for place, _ in page):
                record.expires_at = refreshed(record.expires_at, record.ttl_minutes, now)
        return [_found(place, found[place], score) for place, score in page]

    def _matching(self, op: SearchOp, now: float) -> Iterator[tuple[Place, Record]]:
        """What a search may show, in the order in which it was first put."""
        for place, record in self._under(op.namespace_prefix):
            if (record.expires_at is None or self._is_seen(record, now)) and (
                not op.filter or passes(record.value, op.filter)
            ):
                yield place, record

    def _under(self, prefix: tuple[str, ...]) -> Iterator[tuple[Place, Record]]:
        for namespace, records in self._records.items():
            if namespace[: len(prefix)] == prefix:
                for key, record in records.items():
                    yield (namespace, key), record

    def _namespaces(self, now: float) -> Iterator[tuple[str, ...]]:
        for namespace, records in self._records.items():
            for record in records.values():
                if record.expires_at is None or self._is_seen(record, now):
                    yield namespace
                    break

    def _is_seen(self, record: Record, now: float) -> bool:
        return record.expires_at is None or record.expires_at > horizon(self.ttl_config, now)

    def _write(self, op: PutOp, record: Record, now: float, moment: datetime) -> None:
        records = self._records.setdefault(op.namespace, {})
        before = records.get(op.key)
        if before is record:
            return
        record.created_at = record.updated_at = moment
        if before is not None and (before.expires_at is None or self._is_seen(before, now)):
            record.created_at = before.created_at
        if record.ttl_minutes is not None:
            record.expires_at = expiry(record.ttl_minutes, now)
        records[op.key] = record

    def _delete(self, namespace: tuple[str, ...], key: str) -> None:
        records = self._records.get(namespace, {})
        records.pop(key, None)
        if not records:
            self._records.pop(namespace, None)

    def _embed(self, effect: EmbedTexts | EmbedQuery) -> Any:
        assert self._index is not None, "only a store with an index asks for vectors"
        return _indexing.perform(self._index, effect)

    async def _aembed(self, effect: EmbedTexts | EmbedQuery) -> Any:
        assert self._index is not None, "only a store with an index asks for vectors"
        return await _indexing.aperform(self._index, effect)


def _found(place: Place, record: Record, score: float | None) -> SearchItem:
    return SearchItem(*place, record.shown(), record.created_at, record.updated_at, score)
