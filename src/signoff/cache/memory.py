"""A cache in this process."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from signoff._clocks import checked_clock
from signoff._forks import whole
from signoff._locks import Lock
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

__all__ = ["InMemoryCache"]

_FIRST_PURGE_AT = 1024


@dataclass(frozen=True, slots=True)
class _Entry:
    data: tuple[str, bytes]
    expires_at: float | None

    def is_over(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now


class InMemoryCache(BaseCache[ValueT]):
    """Values kept as bytes, so that nobody can change one in place. Many threads may use it at once.

    clock: what tells the time, in seconds.
    """

    def __init__(self, *, serde: Serializer | None = None, clock: Callable[[], float] = time.time) -> None:
        super().__init__(serde=serde)
        self._clock = checked_clock(clock)
        self._entries: dict[FullKey, _Entry] = {}
        self._purge_at = _FIRST_PURGE_AT
        self._lock = whole(Lock())

    def get(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        known = checked_keys(keys)
        with self._lock:
            now = self._clock()
            found = {key: self._entries[key] for key in known if key in self._entries}
        return {key: self.serde.loads_typed(one.data) for key, one in found.items() if not one.is_over(now)}

    async def aget(self, keys: Sequence[FullKey]) -> dict[FullKey, ValueT]:
        return self.get(keys)

    def set(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        # Every value is encoded before the first one is kept: one that cannot be leaves the cache as it was.
        encoded = {key: (self.serde.dumps_typed(value), ttl) for key, (value, ttl) in checked_pairs(pairs).items()}
        with self._lock:
            now = self._clock()
            for key, (data, ttl) in encoded.items():
                self._entries[key] = _Entry(data, None if ttl is None else now + ttl)
            self._purge(now)

    async def aset(self, pairs: Mapping[FullKey, tuple[ValueT, int | None]]) -> None:
        self.set(pairs)

    def clear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        gone = checked_namespaces(namespaces)
        with self._lock:
            if gone is None:
                self._entries.clear()
            else:
                named = set(gone)
                self._entries = {key: one for key, one in self._entries.items() if key[0] not in named}

    async def aclear(self, namespaces: Sequence[Namespace] | None = None) -> None:
        self.clear(namespaces)

    def _purge(self, now: float) -> None:
        """Drop what expired whenever the cache has doubled: dead entries must not add up for ever."""
        if len(self._entries) < self._purge_at:
            return
        self._entries = {key: one for key, one in self._entries.items() if not one.is_over(now)}
        self._purge_at = max(_FIRST_PURGE_AT, 2 * len(self._entries))
