"""RedisSaver: the procedures of the log, performed with redis-py."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import redis

from signoff._redis.connection import Connection
from signoff.checkpoint.log.shell import SyncLogSaver
from signoff.checkpoint.redis.keys import RedisKeys

__all__ = ["PREFIX", "RedisSaver"]

PREFIX = "signoff:saver"


class RedisSaver(SyncLogSaver):
    """Checkpoints in Redis. Threads, processes and machines may share them.

        with RedisSaver.from_conn_string("redis://localhost:6379") as saver:
            graph = builder.compile(checkpointer=saver)

    A step is one script. All of a thread has one hash tag, so a cluster may hold them. Whether what was stored
    survives the end of the server is Redis's business: see its settings for persistence.

    Its async methods work in threads; AsyncRedisSaver needs none.

    Args:
        conn: A redis.Redis or RedisCluster client, or an address.
        prefix: What all keys begin with.
        serde: What turns values into bytes; JsonPlusSerializer by default.
    """

    def __init__(self, conn: "str | redis.Redis", *, prefix: str = PREFIX, serde: Any = None) -> None:
        super().__init__(RedisKeys(self, prefix), serde=serde)
        self._connection = Connection(conn)

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str, *, prefix: str = PREFIX, serde: Any = None) -> Iterator["RedisSaver"]:
        """A saver at an address, closed at the end of the `with` block."""
        with closing(cls(conn_string, prefix=prefix, serde=serde)) as saver:
            yield saver

    def close(self) -> None:
        """Close the client if the saver made it."""
        self._connection.close()
