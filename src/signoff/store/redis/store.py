"""RedisStore: the procedures, performed with redis-py."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from typing_extensions import Unpack

from signoff._redis.connection import Connection
from signoff.steps import Steps
from signoff.store._shells import Options, SyncShell
from signoff.store.redis.procedures import procedures_of

if TYPE_CHECKING:
    import redis

__all__ = ["PREFIX", "RedisStore"]

T = TypeVar("T")

PREFIX = "signoff:store"


class RedisStore(SyncShell):
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

    def __init__(self, conn: "str | redis.Redis", *, prefix: str = PREFIX, **options: Unpack[Options]) -> None:
        connection = Connection(conn)
        super().__init__(procedures_of(prefix), **options)
        self._connection = connection

    def _run(self, steps: Steps[T]) -> T:
        return self._driven(steps, self._connection.perform)

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, conn_string: str, *, prefix: str = PREFIX, **options: Unpack[Options]
    ) -> Iterator["RedisStore"]:
        """A store at an address, closed at the end of the `with` block."""
        with cls(conn_string, prefix=prefix, **options)._closing() as store:
            yield store

    def close(self) -> None:
        """Stop the sweeper, and close the client if the store made it."""
        super().close()
        self._connection.close()
