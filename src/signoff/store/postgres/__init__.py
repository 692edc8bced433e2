"""A store in Postgres: for many machines, items found by field and by meaning. No extension is needed."""

from typing import TYPE_CHECKING, Any

from signoff._extras import needing

with needing("postgres", "Postgres"):
    from signoff.store.postgres.store import PoolConfig, PostgresStore

if TYPE_CHECKING:
    from signoff.store.postgres.aio import AsyncPostgresStore

__all__ = ["AsyncPostgresStore", "PoolConfig", "PostgresStore"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for, as in the room of SQLite.
    if name == "AsyncPostgresStore":
        from signoff.store.postgres.aio import AsyncPostgresStore

        return AsyncPostgresStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
