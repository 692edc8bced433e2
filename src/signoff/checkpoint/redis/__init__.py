"""A saver in Redis: for short-lived threads and low latency. Plain Redis 6 or newer, or Valkey: no modules."""

from typing import TYPE_CHECKING, Any

from signoff._extras import needing

with needing("redis", "Redis"):
    from signoff.checkpoint.redis.saver import RedisSaver

if TYPE_CHECKING:
    from signoff.checkpoint.redis.aio import AsyncRedisSaver

__all__ = ["AsyncRedisSaver", "RedisSaver"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for, as in the room of SQLite.
    if name == "AsyncRedisSaver":
        from signoff.checkpoint.redis.aio import AsyncRedisSaver

        return AsyncRedisSaver
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
