"""A cache in a SQLite file, shared by threads and processes."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from signoff._clocks import checked_clock
from signoff._forks import free, left, watch
from signoff._locks import Lock
from signoff._sqlite.explaining import explaining, file_named, opening
from signoff.cache.base import (
    BaseCache,
    FullKey,
    Namespace,
    Serializer,
    ValueT,
    checked_keys,
    checked_namespaces,
    checked_pairs,
)

__all__ = ["SqliteCache"]

T = TypeVar("T")

BUSY_TIMEOUT_S = 30.0
"""How long a statement waits for another process that is writing."""

_SCHEMA = """
    CREATE TABLE IF NOT EXISTS signoff_cache (
        namespace TEXT NOT NULL,
        key TEXT NOT NULL,
        encoding TEXT NOT NULL,
        value BLOB NOT NULL,
        expires_at REAL,
        PRIMARY KEY (namespace, key)
    );
    CREATE INDEX IF NOT EXISTS signoff_cache_expiry ON signoff_cache (expires_at)
    WHERE expires_at IS NOT NULL;
"""

_GET = """
    SELECT encoding, value FROM signoff_cache
    WHERE namespace = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?)
"""

_SET = "REPLACE INTO signoff_cache (namespace, key, encoding, value, expires_at) VALUES (?, ?, ?, ?, ?)"


class SqliteCache(BaseCache[ValueT]):
    """Values in a SQLite file. Threads share its connection in turns; processes share the file.

    path: the file, created if it is not there; ":memory:" for none.
    clock: what tells the time, in seconds.
    """

    def __init__(
        self,
        *,
        path: str | Path,
        serde: Serializer | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(serde=serde)
        self._clock = checked_clock(clock)
        self._lock = free(Lock())
        name = file_named(path)
        with opening(name):
            self._conn = sqlite3.connect(name, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False)
        watch(self)
        with explaining(self._conn):
            _prepare(self._conn)

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        known = checked_keys(keys)
        with self._lock, explaining(self._conn):
            now = self._clock()
            found = {key: self._conn.execute(_GET, (*_place(key), now)).fetchone() for key in known}
        return {key: self.serde.loads_typed(tuple(row)) for key, row in found.items() if row}

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        return await _in_thread(self.get, keys)

    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        # Every value is encoded before the first one is kept: one that cannot be leaves the cache as it was.
        encoded = [(key, self.serde.dumps_typed(value), ttl) for key, (value, ttl) in checked_pairs(pairs).items()]
        with self._transaction():
            now = self._clock()
            self._conn.execute("DELETE FROM signoff_cache WHERE expires_at <= ?", (now,))
            for key, data, ttl in encoded:
                self._conn.execute(_SET, (*_place(key), *data, None if ttl is None else now + ttl))

    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        await _in_thread(self.set, pairs)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        gone = checked_namespaces(namespaces)
        with self._transaction():
            if gone is None:
                self._conn.execute("DELETE FROM signoff_cache")
            for namespace in gone or ():
                self._conn.execute("DELETE FROM signoff_cache WHERE namespace = ?", (_as_text(namespace),))

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        await _in_thread(self.clear, namespaces)

    def close(self) -> None:
        """Close the file, once what another thread is at is done; the cache cannot be used after that."""
        with self._lock:
            self._conn.close()

    def after_fork(self) -> None:
        """In a forked child: the connection is the parent's."""
        self._conn = left(self._conn)

    def __enter__(self) -> "SqliteCache[ValueT]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_conn"):  # it is missing where connecting failed
            self.close()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock, explaining(self._conn):
            try:
                self._conn.execute("BEGIN IMMEDIATE")
                yield
                self._conn.execute("COMMIT")
            except BaseException:
                self._conn.rollback()
                raise


def _prepare(conn: sqlite3.Connection) -> None:
    try:
        conn.execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError:
        pass  # another process is setting it just now, and the file remembers it
    conn.executescript(_SCHEMA)


def _place(key: FullKey) -> tuple[str, str]:
    return _as_text(key[0]), key[1]


def _as_text(namespace: Namespace) -> str:
    # JSON, so that no label, whatever is in it, can be taken for two.
    return json.dumps(namespace)


async def _in_thread(function: Callable[..., T], *args: Any) -> T:
    import asyncio

    return await asyncio.to_thread(function, *args)
