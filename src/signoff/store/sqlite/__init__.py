"""A store in a SQLite file: no server, several threads and processes, items found by field and by meaning."""

from typing import TYPE_CHECKING, Any

from signoff.store.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from signoff.store.sqlite.aio import AsyncSqliteStore

__all__ = ["AsyncSqliteStore", "SqliteStore"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: the sync store needs neither asyncio nor aiosqlite.
    if name == "AsyncSqliteStore":
        from signoff.store.sqlite.aio import AsyncSqliteStore

        return AsyncSqliteStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
