"""Where the simulated processes of a world keep their threads.

A store is made afresh for each run of a world, and opened once by each process: `make()` gives an empty store, which
is itself a function that opens it and returns a saver.
"""

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

__all__ = ["MakeStore", "Store", "memory", "shared", "sqlite"]

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

    def make() -> Store:
        saver = make_saver()
        return lambda: saver

    return make


def sqlite(folder: str | Path) -> MakeStore:
    """Stores in SQLite files in a folder, of which the last one is left."""
    from signoff._sqlite.connection import connect
    from signoff.checkpoint.sqlite import SqliteSaver

    numbers = count(1)

    def make() -> Store:
        for old in Path(folder).glob("world-*"):
            old.unlink()
        path = Path(folder) / f"world-{next(numbers)}.db"

        def open_() -> Any:
            conn = connect(str(path))
            conn.execute("PRAGMA synchronous=OFF")  # processes end here, but the machine does not
            return SqliteSaver(conn)

        return open_

    return make
