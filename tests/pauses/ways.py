"""The ways to run a program: on every saver, sync and async.

WAYS are quick, and every promise is tried in some of them. SERVER_WAYS are for the files that say ON_SERVERS.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from scenarios.conftest import CONFIG, App
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.questions import Question, Wanted
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver

from .desk import Place, opened, opened_aio

__all__ = [
    "CONFIG", "EACH_SERVER_ONCE", "ONE_SERVER", "SERVER_WAYS", "STORAGES", "WAYS",
    "AnyApp", "Memory", "OnServer", "on_thread",
]  # fmt: skip


def on_thread(name: str) -> dict[str, Any]:
    return {"configurable": {"thread_id": name}}


# Where threads are kept. Each opens a saver for sync and for async calls; all see the same threads.


class Memory:
    """One saver for all."""

    def __init__(self, folder: Path) -> None:
        self.saver = InMemorySaver()

    @contextmanager
    def opened(self) -> Iterator[Any]:
        yield self.saver

    @asynccontextmanager
    async def aopened(self) -> AsyncIterator[Any]:
        yield self.saver


class Sqlite:
    """A file, opened for each call, as another process would."""

    def __init__(self, folder: Path) -> None:
        self.file = str(folder / "threads.db")

    def opened(self) -> AbstractContextManager[Any]:
        return SqliteSaver.from_conn_string(self.file)

    @asynccontextmanager
    async def aopened(self) -> AsyncIterator[Any]:
        with self.opened() as saver:
            yield saver


class SqliteAio(Sqlite):
    """The same with the async saver; sync calls come from another thread than its event loop's."""

    @contextmanager
    def opened(self) -> Iterator[Any]:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        opening = self.aopened()
        try:
            yield asyncio.run_coroutine_threadsafe(opening.__aenter__(), loop).result()
        finally:
            asyncio.run_coroutine_threadsafe(opening.__aexit__(None, None, None), loop).result()
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def aopened(self) -> AbstractAsyncContextManager[Any]:
        return AsyncSqliteSaver.from_conn_string(self.file)


class OnServer:
    """A database on a server, opened for each call; async calls with the async saver."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def opened(self) -> AbstractContextManager[Any]:
        return opened(self.place)

    def aopened(self) -> AbstractAsyncContextManager[Any]:
        return opened_aio(self.place)


STORAGES: dict[str, Callable[[Path], Any]] = {"memory": Memory, "sqlite": Sqlite, "sqlite_aio": SqliteAio}
WAYS = [f"{storage}-{way}" for storage in STORAGES for way in ("sync", "async")]
SERVER_WAYS = [f"{server}-{way}" for server in ("postgres", "redis") for way in ("sync", "async")]
EACH_SERVER_ONCE = ["postgres-sync", "redis-async"]
ONE_SERVER = tuple(EACH_SERVER_ONCE)
"""In the files that say so, each test runs in one of these."""
"""For what the engine does, and not the saver."""


class AnyApp(App):
    """A program on any saver, called sync or async."""

    def __init__(self, compile: Callable[[Any], Any], storage: Any, *, is_async: bool, **leases: Any) -> None:
        super().__init__(compile, None, is_async=is_async)
        self.storage = storage
        self.leases = leases
        """What is set on a saver: lease_s, clock."""

    @contextmanager
    def _saver(self) -> Iterator[Any]:
        with self.storage.opened() as saver:
            yield self._set(saver)

    @asynccontextmanager
    async def _asaver(self) -> AsyncIterator[Any]:
        async with self.storage.aopened() as saver:
            yield self._set(saver)

    def _set(self, saver: Any) -> Any:
        for name, value in self.leases.items():
            setattr(saver, name, value)
        return saver

    def ask(self, input: Any, config: Any = CONFIG, **settings: Any) -> list[Any]:
        """Run; the questions that are open then."""
        return [question.value for question in self.invoke(input, config, **settings)["__interrupt__"]]

    def ids(self, config: Any = CONFIG) -> dict[Any, str]:
        """The ids of the open questions, by what they ask."""
        return {question.value: question.id for question in self.get_state(config).interrupts}

    def filed(self, **wanted: Any) -> list[Question]:
        """What the index of open questions has."""
        if self.is_async:
            return asyncio.run(self._afiled(Wanted(**wanted)))
        with self._saver() as saver:
            return list(saver.find_questions(Wanted(**wanted)))

    async def _afiled(self, wanted: Wanted) -> list[Question]:
        async with self._asaver() as saver:
            return list(await saver.afind_questions(wanted))

    def at_once(self, inputs: Sequence[Any], config: Any = CONFIG, **settings: Any) -> list[Any]:
        """Call it with several inputs at the same time: the results, or the errors."""
        if self.is_async:
            return asyncio.run(self._aat_once(inputs, config, settings))
        with ThreadPoolExecutor(len(inputs)) as threads:
            calls = [threads.submit(self.invoke, input, config, **settings) for input in inputs]
        return [call.exception() or call.result() for call in calls]

    async def _aat_once(self, inputs: Sequence[Any], config: Any, settings: dict[str, Any]) -> list[Any]:
        async with self._asaver() as saver:
            app = self.compile(saver)
            calls = [app.ainvoke(input, config, **settings) for input in inputs]
            return await asyncio.gather(*calls, return_exceptions=True)
