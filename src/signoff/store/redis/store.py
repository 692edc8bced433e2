"""RedisStore: the procedures, performed with redis-py."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from signoff._redis.connection import Connection
from signoff.store._shells import ServerStore
from signoff.store.base import IndexConfig, TTLConfig
from signoff.store.redis.procedures import procedures_of

if TYPE_CHECKING:
    import redis

__all__ = ["PREFIX", "RedisStore"]

PREFIX = "signoff:store"


class RedisStore(ServerStore):
    """Items in Redis or Valkey. Threads, processes and machines may share them.

        with RedisStore.from_conn_string("redis://localhost:6379") as store:
            store.put(("users", "ana"), "likes", {"text": "tea"})

    Args:
        conn: A redis.Redis or RedisCluster client, or an address.
        prefix: What all keys of the store begin with, in braces: a store is in one place of a cluster.
        deserializer: What reads a stored value, given as JSON text; `json.loads` if not said.
        index: Makes items searchable by meaning. Vectors are compared here, not in Redis.
        ttl: How long items live. What expired is removed by a sweep, not by Redis.
        clock: What tells the time, in seconds.
    """

    def __init__(
        self,
        conn: "str | redis.Redis",
        *,
        prefix: str = PREFIX,
        deserializer: Callable[[str], dict[str, Any]] | None = None,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        connection = Connection(conn)
        super().__init__(
            lambda: connection.perform,
            procedures_of(prefix),
            deserializer=deserializer,
            index=index,
            ttl=ttl,
            clock=clock,
        )
        self._connection = connection

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        conn_string: str,
        *,
        prefix: str = PREFIX,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        clock: Callable[[], float] = time.time,
    ) -> Iterator["RedisStore"]:
        """A store at an address, closed at the end of the `with` block."""
        store = cls(conn_string, prefix=prefix, index=index, ttl=ttl, clock=clock)
        try:
            yield store
        finally:
            store.close()

    def close(self) -> None:
        """Stop the sweeper, and close the client if the store made it."""
        self.stop_ttl_sweeper()
        self._connection.close()
