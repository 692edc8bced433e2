"""Where the simulated processes of a world keep their threads.

A store is made afresh for each run of a world, and opened once by each process: `make()` gives an empty store, which
is itself a function that opens it and returns a saver. It may have methods besides:

- `close(saver)`, when a process ends; else the saver's own `close()` is called, if it has one;
- `pass_time(seconds)`, which makes all leases that much older, for a server that goes by its own clock.
"""

from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

from signoff.errors import InvalidInput
from signoff.steps import Steps
from signoff.testing._caller import THREAD_NAME

__all__ = ["MakeStore", "Store", "memory", "postgres", "redis", "shared", "sqlite"]

Store = Callable[[], Any]
"""Opens a store, as a process does when it starts: returns a saver."""

MakeStore = Callable[[], Store]
"""Makes an empty store."""


def memory() -> Store:
    """A store in memory. It outlives the processes of its world, as a database would."""
    from signoff.checkpoint.memory import InMemorySaver

    return shared(InMemorySaver)()


def shared(make_saver: Callable[[], Any]) -> MakeStore:
    """Stores that are a saver itself, which all processes of a world have in common."""

    return lambda: _SharedStore(make_saver())


class _SharedStore:
    """A store that is a saver, which is its maker's to close."""

    def __init__(self, saver: Any) -> None:
        self._saver = saver

    def __call__(self) -> Any:
        return self._saver

    def close(self, saver: Any) -> None:
        """A process has ended; others go on with the same saver."""


def sqlite(folder: str | Path) -> MakeStore:
    """Stores in SQLite files in a folder, of which the last one is left. No file that is there already is touched."""
    from signoff._sqlite.connection import connect
    from signoff.checkpoint.sqlite import SqliteSaver

    names = ([Path(folder) / f"world-{number}.db{part}" for part in ("", "-wal", "-shm")] for number in count(1))
    own: list[Path] = []

    def make() -> Store:
        for old in own:
            old.unlink(missing_ok=True)
        own[:] = next(files for files in names if not any(file.exists() for file in files))
        path = own[0]

        def open_() -> Any:
            conn = connect(str(path))
            conn.execute("PRAGMA synchronous=OFF")  # processes end here, but the machine does not
            return SqliteSaver(conn)

        return open_

    return make


def postgres(conn: Any) -> MakeStore:
    """Stores in Postgres, one after the other in the same tables, of which the last one is left.

    conn: a connection, a pool or an address of a database, or schema, that has no threads of anybody else's.
    """
    from signoff.checkpoint.postgres import PostgresSaver

    return _on_server(lambda: PostgresSaver(conn), _older_in_postgres)


def redis(conn: Any, *, prefix: str = "signoff:world") -> MakeStore:
    """Stores in Redis, one after the other under the same prefix, of which the last one is left.

    conn: a client or an address; there are no threads of anybody else's under the prefix.
    """
    from signoff.checkpoint.redis import RedisSaver

    return _on_server(lambda: RedisSaver(conn, prefix=prefix), lambda seconds: _older_in_redis(prefix, seconds))


class _ServerStore:
    """A store whose server goes by its own clock: instead of the clock going on, leases grow older."""

    def __init__(self, open_: Store, grow_older: Callable[[float], Steps[None]]) -> None:
        self._open = open_
        self._grow_older = grow_older
        with closing(open_()) as saver:
            _empty(saver)

    def __call__(self) -> Any:
        return self._open()

    def pass_time(self, seconds: float) -> None:
        """Have every lease begin that much earlier."""
        with closing(self._open()) as saver:
            saver._run(self._grow_older(seconds))


def _empty(saver: Any) -> None:
    for found in saver.list(None):
        thread_id = found.config["configurable"]["thread_id"]
        if thread_id != THREAD_NAME:
            raise InvalidInput(
                f"The database has a thread {thread_id!r}, which is not a world's: give a world a place of its own."
            )
    saver.delete_thread(THREAD_NAME)


def _on_server(open_: Store, grow_older: Callable[[float], Steps[None]]) -> MakeStore:
    return lambda: _ServerStore(open_, grow_older)


def _older_in_postgres(seconds: float) -> Steps[None]:
    from signoff._postgres.effects import Execute
    from signoff._postgres.transactions import write

    sql = "UPDATE signoff_threads SET expires_at = expires_at - %s WHERE thread_id = %s"
    yield from write(Execute(sql, (seconds, THREAD_NAME)), repeatable=False)


def _older_in_redis(prefix: str, seconds: float) -> Steps[None]:
    from signoff._redis.effects import Run, Script
    from signoff.checkpoint.redis.names import Names

    script = Script(
        "local old = tonumber(redis.call('HGET', KEYS[1], 'expires') or nil)\n"
        "if old then redis.call('HSET', KEYS[1], 'expires', tostring(old - tonumber(ARGV[1]))) end"
    )
    yield Run(script, Names(prefix).of_thread(THREAD_NAME)[:1], (repr(seconds),))
