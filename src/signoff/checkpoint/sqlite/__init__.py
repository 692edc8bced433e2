"""A saver in a SQLite file: no server, several threads and processes, what was stored outlives them."""

from typing import TYPE_CHECKING, Any

from signoff.checkpoint.sqlite.saver import SqliteSaver

if TYPE_CHECKING:
    from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver

__all__ = ["AsyncSqliteSaver", "SqliteSaver"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: the sync saver needs neither asyncio nor aiosqlite.
    if name == "AsyncSqliteSaver":
        from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver

        return AsyncSqliteSaver
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
