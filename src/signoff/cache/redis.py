"""A cache in Redis or Valkey, shared by machines."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from signoff._clocks import checked_clock
from signoff._extras import needing
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
from signoff.errors import NeedsAsync, Undecodable
from signoff.steps import Steps

with needing("redis", "Redis"):
    from signoff._redis.connection import Connection
    from signoff._redis.effects import Ask, Run, Script
    from signoff._redis.prefixes import checked_prefix

if TYPE_CHECKING:
    import redis
    import redis.asyncio

__all__ = ["PREFIX", "RedisCache"]

T = TypeVar("T")

PREFIX = "signoff:cache"

_LONGEST_MS = 10**15
"""Thirty thousand years; Redis refuses to count much further."""

_SET = Script("""
    for at, key in ipairs(KEYS) do
        local value, ms = ARGV[2 * at - 1], ARGV[2 * at]
        if ms == '' then
            redis.call('SET', key, value)
        else
            redis.call('SET', key, value, 'PX', ms)
        end
    end
""")

_CLEAR_SOME = Script("""
    local found = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000)
    for _, key in ipairs(found[2]) do
        redis.call('UNLINK', key)
    end
    return found[1]
""")


class RedisCache(BaseCache[ValueT]):
    """Values in Redis, each under a key of its own: Redis drops what has expired, and may evict what nobody needs.

    Args:
        redis: A client, sync or async, or an address. With an async client, only async runs can use the cache.
        serde: What turns values into bytes and back; signoff's own serializer if not said.
        prefix: What all keys begin with, in braces: a cache is in one place of a cluster.
        clock: What tells the time, in seconds.
    """

    def __init__(
        self,
        redis: "str | redis.Redis | redis.asyncio.Redis",
        *,
        serde: Serializer | None = None,
        prefix: str = PREFIX,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(serde=serde)
        self._tag = f"{{{checked_prefix(prefix)}}}"
        self._clock = checked_clock(clock)
        self._is_async = hasattr(redis, "aclose")
        self._connection: Any = _async_connection(redis) if self._is_async else Connection(redis)  # type: ignore[arg-type]

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        return self._run(self._get(keys))

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        return await self._arun(self._get(keys))

    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        self._run(self._set(pairs))

    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        await self._arun(self._set(pairs))

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        self._run(self._clear(namespaces))

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        await self._arun(self._clear(namespaces))

    # Procedures

    def _get(self, keys: Sequence[FullKey]) -> Steps[dict[FullKey, ValueT]]:
        known = checked_keys(keys)
        if not known:
            return {}
        stored = yield Ask(("MGET", *map(self._place, known)))
        found = {key: _unpacked(key, data) for key, data in zip(known, stored, strict=True) if data is not None}
        now = self._clock()
        return {
            key: self.serde.loads_typed((name, data))
            for key, (name, expires_at, data) in found.items()
            if expires_at is None or expires_at > now
        }

    def _set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> Steps[None]:
        now = self._clock()
        args: list[str | bytes] = []
        for value, seconds in checked_pairs(pairs).values():
            name, data = self.serde.dumps_typed(value)
            expires_at = None if seconds is None else now + seconds
            args += [_packed(name, expires_at, data), "" if seconds is None else _milliseconds(seconds)]
        if pairs:
            yield Run(_SET, [self._place(key) for key in pairs], args)

    def _clear(self, namespaces: Sequence[Namespace] | None) -> Steps[None]:
        gone = checked_namespaces(namespaces)
        # With the bracket of a namespace: savers and stores may have keys that begin the same.
        beginnings = [f"{self._tag}["] if gone is None else [self._beginning(namespace) for namespace in gone]
        for beginning in beginnings:
            cursor = b"0"
            while True:
                cursor = yield Run(_CLEAR_SOME, [self._tag, f"{self._tag}:"], [cursor, _matching(beginning)])
                if cursor == b"0":
                    break

    def _place(self, key: FullKey) -> bytes:
        return (self._beginning(key[0]) + key[1]).encode("utf-8", "surrogatepass")

    def _beginning(self, namespace: Namespace) -> str:
        # JSON, so that no label, whatever is in it, can be taken for two, and no namespace for part of another one.
        return f"{self._tag}{json.dumps(namespace)}"

    # Performing

    def _run(self, steps: Steps[T]) -> T:
        if self._is_async:
            raise NeedsAsync(
                "The cache has an async client of Redis, and this is a sync run. Call the graph with ainvoke or "
                "astream, or give RedisCache a redis.Redis or an address."
            )
        return self._connection.run(steps)  # type: ignore[no-any-return]

    async def _arun(self, steps: Steps[T]) -> T:
        if self._is_async:
            return await self._connection.run(steps)  # type: ignore[no-any-return]
        import asyncio

        return await asyncio.to_thread(self._connection.run, steps)

    def close(self) -> None:
        """Close the client if the cache made it; one that was given is its owner's."""
        if not self._is_async:
            self._connection.close()

    def __enter__(self) -> "RedisCache[ValueT]":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _async_connection(client: Any) -> Any:
    from signoff._redis.aio import AsyncConnection

    return AsyncConnection(client)


def _packed(name: str, expires_at: float | None, data: bytes) -> bytes:
    return json.dumps([name, expires_at]).encode() + b"\n" + data


def _unpacked(key: FullKey, stored: bytes) -> tuple[str, float | None, bytes]:
    head, _, data = stored.partition(b"\n")
    try:
        name, expires_at = json.loads(head)
        return name, None if expires_at is None else float(expires_at), data
    except (ValueError, TypeError, RecursionError) as error:
        raise Undecodable(
            f"What Redis has for {key!r} was not put there by the cache. Clear that namespace, or give the cache a "
            "prefix of its own."
        ) from error


def _milliseconds(seconds: float) -> str:
    """For how long Redis keeps a value. What lives no time has its moment, and takes the place of what was there."""
    return str(int(min(max(seconds * 1000, 1), _LONGEST_MS)))


def _matching(beginning: str) -> str:
    """The pattern of all keys that begin with a text."""
    return "".join(f"\\{letter}" if letter in "\\*?[]^-" else letter for letter in beginning) + "*"
