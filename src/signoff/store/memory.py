"""A store in this process: for tests, scripts, and anything that may be forgotten when the process ends."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from signoff._forks import whole
from signoff.steps import Steps, adrive, drive
from signoff.store import _indexing
from signoff.store._batches import checked, final_puts, listed
from signoff.store._filters import passes
from signoff.store._indexing import EmbedQuery, EmbedTexts, Index, embed_puts, embed_queries
from signoff.store._lifetimes import check_ttl_config, expiry, horizon, sweep_interval_s
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

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["InMemoryStore"]

Place = tuple[tuple[str, ...], str]


@dataclass(slots=True)
class _Record:
    value: dict[str, Any]
    created_at: float
    updated_at: float
    ttl_minutes: float | None
    expires_at: float | None
    vectors: list[bytes]


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
        self.index_config = index
        self.ttl_config = check_ttl_config(ttl)
        self._index = Index.of(index)
        self.embeddings = self._index.embeddings if self._index else None
        self._clock = clock
        self._records: dict[tuple[str, ...], dict[str, _Record]] = {}
        # Reentrant: comparing values in a filter may run user code that comes back here.
        self._lock = whole(threading.RLock())
        self._sweeper = Sweeper(self)

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
            expired = [place for place, record in self._under(()) if not _is_alive(record, now)]
            for namespace, key in expired:
                self._delete(namespace, key)
        return len(expired)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> "Future[None]":
        """Remove expired items now and then, in a thread; the future ends when that does."""
        return self._sweeper.start(sweep_interval_s(self.ttl_config, sweep_interval_minutes))

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the thread; whether it has ended within the timeout (in seconds)."""
        return self._sweeper.stop(timeout)

    def _batch(self, ops: Iterable[Op]) -> Steps[list[Result]]:
        known = checked(ops)
        puts = [_detached(op) for op in final_puts(known)]
        # Embedding may take long and may fail, so it comes before anything is locked or written.
        queries = yield from embed_queries(self._index, (op for op in known if isinstance(op, SearchOp)))
        vectors = yield from embed_puts(self._index, puts)
        with self._lock:
            now = self._clock()
            results = [self._answer(op, queries, now, horizon(self.ttl_config, now)) for op in known]
            for op, blobs in zip(puts, vectors, strict=True):
                self._write(op, blobs, now)
        return results

    def _answer(self, op: Op, queries: Mapping[str, bytes], now: float, seen_after: float) -> Result:
        match op:
            case GetOp():
                return self._get(op, now, seen_after)
            case SearchOp():
                return self._search(op, queries.get(op.query or ""), now, seen_after)
            case ListNamespacesOp():
                return listed(self._namespaces(seen_after), op)
            case PutOp():
                return None

    def _get(self, op: GetOp, now: float, seen_after: float) -> Item | None:
        record = self._records.get(op.namespace, {}).get(op.key)
        if record is None or not _is_alive(record, seen_after):
            return None
        if op.refresh_ttl:
            record.expires_at = expiry(record.ttl_minutes, now)
        return Item(namespace=op.namespace, key=op.key, **_shown(record))

    def _search(self, op: SearchOp, query: bytes | None, now: float, seen_after: float) -> list[SearchItem]:
        end = op.offset + op.limit
        if query is None:  # then they stand in order, and no more are needed than are shown
            found = dict(islice(self._matching(op, seen_after), op.offset, end))
            page: list[tuple[Place, float | None]] = [(place, None) for place in found]
        else:
            found = dict(self._matching(op, seen_after))
            page = ranked(found, ((place, blob) for place in found for blob in found[place].vectors), query)
            page = page[op.offset : end]
        if op.refresh_ttl:
            for place, _ in page:
                found[place].expires_at = expiry(found[place].ttl_minutes, now)
        return [SearchItem(*place, **_shown(found[place]), score=score) for place, score in page]

    def _matching(self, op: SearchOp, seen_after: float) -> Iterator[tuple[Place, _Record]]:
        """What a search may show, in the order in which it was first put."""
        for place, record in self._under(op.namespace_prefix):
            if _is_alive(record, seen_after) and (not op.filter or passes(record.value, op.filter)):
                yield place, record

    def _under(self, prefix: tuple[str, ...]) -> Iterator[tuple[Place, _Record]]:
        for namespace, records in self._records.items():
            if namespace[: len(prefix)] == prefix:
                for key, record in records.items():
                    yield (namespace, key), record

    def _namespaces(self, seen_after: float) -> Iterator[tuple[str, ...]]:
        for namespace, records in self._records.items():
            if any(_is_alive(record, seen_after) for record in records.values()):
                yield namespace

    def _write(self, op: PutOp, vectors: list[bytes], now: float) -> None:
        if op.value is None:
            self._delete(op.namespace, op.key)
            return
        records = self._records.setdefault(op.namespace, {})
        before = records.get(op.key)
        born = before.created_at if before and _is_alive(before, horizon(self.ttl_config, now)) else now
        value = dict(op.value)
        records[op.key] = _Record(value, born, now, op.ttl, expiry(op.ttl, now), vectors)

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


def _is_alive(record: _Record, now: float) -> bool:
    return record.expires_at is None or record.expires_at > now


def _shown(record: _Record) -> dict[str, Any]:
    return {
        "value": _copied(record.value),
        "created_at": datetime.fromtimestamp(record.created_at, UTC),
        "updated_at": datetime.fromtimestamp(record.updated_at, UTC),
    }


def _detached(op: PutOp) -> PutOp:
    return op if op.value is None else op._replace(value=_copied(dict(op.value)))


def _copied(value: Any) -> Any:
    """A value with its own dicts and lists, so that a change in place does not reach the store."""
    if type(value) is dict:
        return {key: _copied(inner) for key, inner in value.items()}
    if type(value) is list:
        return [_copied(inner) for inner in value]
    return tuple(map(_copied, value)) if type(value) is tuple else value
