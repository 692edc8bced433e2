"""Where the programs store their threads: the savers of both libraries, opened as their documentation says."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from bench import postgres
from bench.library import Library
from bench.measuring import Meter
from bench.meters import Traced, postgres_meter, sqlite_meter

MANY = 10_000
"""Steps that a run may take."""


class Kind(NamedTuple):
    """A way to store threads."""

    name: str
    saver: str
    synchronous: str = ""
    """SQLite's setting, the same for both libraries: FULL waits for the disk at every commit."""


MEMORY = Kind("memory", "InMemorySaver")
SQLITE_FULL = Kind("SQLite FULL", "SqliteSaver", "FULL")
SQLITE_NORMAL = Kind("SQLite NORMAL", "SqliteSaver", "NORMAL")
POSTGRES = Kind("Postgres", "PostgresSaver")
KINDS = (MEMORY, SQLITE_FULL, SQLITE_NORMAL, POSTGRES)


class Storage:
    """A saver with a new thread for each run.

    address: the path of a SQLite file, or the schema in Postgres.
    meter: what was stored so far, where that is counted.
    """

    saver: Any
    address: Any = None
    meter: Meter | None = None

    def __init__(self, lib: Library, kind: Kind = MEMORY, *, is_async: bool = False) -> None:
        self._ids = count()
        self._used: list[str] = []
        self._strangers = ExitStack()
        self._lib, self._kind, self._is_async = lib, kind, is_async
        match kind.saver:
            case "InMemorySaver":
                self.saver = lib.InMemorySaver()
            case "SqliteSaver":
                self._open_sqlite()
            case "PostgresSaver":
                self._open_postgres()

    def new_thread(self) -> dict[str, Any]:
        """The config of a thread that nobody has used."""
        self._used.append(str(next(self._ids)))
        return {"configurable": {"thread_id": self._used[-1]}, "recursion_limit": MANY}

    def forget(self) -> None:
        """Forget the threads in memory, so that it does not grow from measurement to measurement; a disk is large."""
        while self._used and self._kind is MEMORY:
            self.saver.delete_thread(self._used.pop())
        self._strangers.close()

    def stranger(self) -> Any:
        """Another saver for what is stored here, that knows nothing yet; it is closed by `forget`."""
        saver = self._strangers.enter_context(self._from_conn_string())
        saver.setup()
        return saver

    def _open_sqlite(self) -> None:
        self.address = self._lib.enter(new_folder()) / "threads.db"
        self.saver = self._lib.enter(self._from_conn_string())
        self._await(self.saver.setup())
        self._await(self.saver.conn.execute(f"PRAGMA synchronous = {self._kind.synchronous}"))
        if self._lib.is_counting:
            traced = Traced(self.saver.conn)
            self._await(self.saver.conn.set_trace_callback(traced.note))
            self.meter = sqlite_meter(self.address, traced)

    def _open_postgres(self) -> None:
        self.address = self._lib.enter(postgres.schema(is_logged=self._lib.is_counting))
        self.saver = self._lib.enter(self._from_conn_string())
        self._await(self.saver.setup())
        if self._lib.is_counting:
            self.meter = postgres_meter(self.address.name)

    def _from_conn_string(self) -> Any:
        where = self.address.url if self._kind is POSTGRES else str(self.address)
        return getattr(self._lib, "Async" * self._is_async + self._kind.saver).from_conn_string(where)

    def _await(self, result: Any) -> None:
        if self._is_async:
            self._lib.run(_awaited(result))


async def _awaited(result: Any) -> Any:
    return await result


@contextmanager
def new_folder() -> Iterator[Path]:
    """A folder that is gone in the end."""
    folder = tempfile.mkdtemp(prefix="bench-")
    yield Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
