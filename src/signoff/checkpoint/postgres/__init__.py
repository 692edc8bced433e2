"""A saver in Postgres: for many machines. No extension is needed."""

from typing import TYPE_CHECKING, Any

from signoff._elsewhere import OF_POSTGRES, tell_where
from signoff._extras import needing

with needing("postgres", "Postgres"):
    from signoff.checkpoint.postgres.saver import PostgresSaver

if TYPE_CHECKING:
    from signoff.checkpoint.postgres.aio import AsyncPostgresSaver

__all__ = ["AsyncPostgresSaver", "PostgresSaver"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for, as in the room of SQLite.
    if name == "AsyncPostgresSaver":
        from signoff.checkpoint.postgres.aio import AsyncPostgresSaver

        return AsyncPostgresSaver
    return tell_where(__name__, name, OF_POSTGRES)
