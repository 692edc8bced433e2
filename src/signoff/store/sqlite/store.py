"""SqliteStore: the procedures of `statements`, performed on a sqlite3 connection."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from signoff._sqlite.connection import Connection, connect
from signoff._sqlite.migrations import set_up
from signoff.steps import drive
from signoff.store import _indexing
from signoff.store._indexing import EmbedQuery, EmbedTexts, Index
from signoff.store._lifetimes import check_ttl_config, sweep_interval_s
from signoff.store._sweeper import Sweeper
from signoff.store.base import BaseStore, IndexConfig, Op, Result, TTLConfig
from signoff.store.sqlite import schema, statements

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["SqliteStore"]


class SqliteStore(BaseStore):
    """Items in a SQLite file. Threads share its connection in turns; processes share the file.

    conn: a connection of the store's own, with no transaction open, and with check_same_thread=False if
        several threads use the store.
    deserializer: what reads a stored value; `json.loads` if not said.
    index: makes items searchable by meaning.
    ttl: how long items live.
    clock: what tells the time, in seconds.
    """

    MIGRATIONS = schema.MIGRATIONS
    supports_ttl = True

    def __init__(
        self,
        conn: sqlite3.Connection,
        *,
        deserializer: Callable[[str], dict[str, Any]] | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.conn = conn
        self._connection = Connection(conn)
        self.lock = self._connection.lock
        self.is_setup = False
        self.index_config = index
        self.ttl_config = check_ttl_config(ttl)
        self._settings = statements.Settings(Index.of(index), ttl, deserializer or json.loads)
        self.embeddings = self._settings.index.embeddings if self._settings.index else None
        self._clock = clock
        self._sweeper = Sweeper(self)

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Iterator["SqliteStore"]:
        """A store in the file of this name, closed at the end of the `with` block."""
        with closing(connect(conn_string)) as conn:
            store = cls(conn, index=index, ttl=ttl, clock=clock)
            try:
                yield store
            finally:
                store.stop_ttl_sweeper()

    def setup(self) -> None:
        """Create or update the tables. The first use of the store does it too."""
        drive(set_up(schema.SCHEMA), self._perform)
        self.is_setup = True

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Perform operations in one transaction and answer them in order. Reads see what was there before."""
        self._ensure_setup()
        return drive(statements.batch(self._settings, ops, self._clock()), self._perform)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """The same as `batch`, in a thread. AsyncSqliteStore embeds and waits without one."""
        import asyncio

        return await asyncio.to_thread(self.batch, ops)

    def sweep_ttl(self) -> int:
        """Remove expired items and say how many."""
        self._ensure_setup()
        return drive(statements.sweep(self._clock()), self._perform)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> "Future[None]":
        """Remove expired items now and then, in a thread; the future ends when that does."""
        return self._sweeper.start(sweep_interval_s(self.ttl_config, sweep_interval_minutes))

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop the thread; whether it has ended within the timeout (in seconds)."""
        return self._sweeper.stop(timeout)

    def _ensure_setup(self) -> None:
        if not self.is_setup:
            self.setup()

    def _perform(self, effect: object) -> Any:
        if isinstance(effect, EmbedTexts | EmbedQuery):
            assert self._settings.index is not None, "only a store with an index asks for vectors"
            return _indexing.perform(self._settings.index, effect)
        return self._connection.perform(effect)
