"""A store in Redis: quick, for many machines, items found by field and by meaning. No module is needed."""

from typing import TYPE_CHECKING, Any

from signoff._extras import needing

with needing("redis", "Redis"):
    from signoff.store.redis.store import RedisStore

if TYPE_CHECKING:
    from signoff.store.redis.aio import AsyncRedisStore

__all__ = ["AsyncRedisStore", "RedisStore"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for, as in the room of SQLite.
    if name == "AsyncRedisStore":
        from signoff.store.redis.aio import AsyncRedisStore

        return AsyncRedisStore
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
