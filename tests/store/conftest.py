"""Every store, opened the same way, with a clock the test owns; async ones through a blocking door."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from signoff.store.base import BaseStore, Op, Result
from signoff.store.memory import InMemoryStore
from signoff.store.sqlite import AsyncSqliteStore, SqliteStore


class Clock:
    """Tells the time the test says it is."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now

    def advance(self, *, minutes: float) -> None:
        self.now += minutes * 60


class Portal:
    """An event loop in a thread of its own, for sync tests of async code."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=30)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class AsyncDoor(BaseStore):
    """A store whose sync methods go through the async ones of another."""

    supports_ttl = True

    def __init__(self, inner: Any, portal: Portal) -> None:
        self.inner = inner
        self.ttl_config = inner.ttl_config
        self._portal = portal

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return self._portal.run(self.inner.abatch(ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self.inner.abatch(ops)

    def sweep_ttl(self) -> int:
        swept = self.inner.sweep_ttl()
        return self._portal.run(swept) if asyncio.iscoroutine(swept) else swept


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def portal() -> Iterator[Portal]:
    portal = Portal()
    yield portal
    portal.close()


@pytest.fixture
def openers(clock: Clock, portal: Portal, tmp_path) -> Iterator[dict[str, Callable[..., Any]]]:
    """How to open a store of each kind."""
    with ExitStack() as stack:

        def memory(**options):
            return InMemoryStore(clock=clock, **options)

        def sqlite(path=None, **options):
            path = str(path or tmp_path / "store.db")
            return stack.enter_context(SqliteStore.from_conn_string(path, clock=clock, **options))

        def sqlite_aio(path=None, **options):
            path = str(path or tmp_path / "store.db")
            opened = AsyncSqliteStore.from_conn_string(path, clock=clock, **options)
            stack.callback(lambda: portal.run(opened.__aexit__(None, None, None)))
            return AsyncDoor(portal.run(opened.__aenter__()), portal)

        yield {
            "memory": memory,
            "memory_aio": lambda **options: AsyncDoor(memory(**options), portal),
            "sqlite": sqlite,
            "sqlite_aio": sqlite_aio,
        }


@pytest.fixture(params=["memory", "memory_aio", "sqlite", "sqlite_aio"])
def open_store(request, openers) -> Callable[..., Any]:
    """How to open a store; the test runs once for every kind."""
    return openers[request.param]


@pytest.fixture
def store(open_store) -> Any:
    return open_store()


def letters(texts: Iterable[str]) -> list[list[float]]:
    """Embeddings a test can do in its head: how often each of the letters a to d occurs."""
    return [[float(text.count(letter)) for letter in "abcd"] for text in texts]


@pytest.fixture
def embed() -> Callable[[Iterable[str]], list[list[float]]]:
    return letters


@pytest.fixture
def index(embed) -> dict[str, Any]:
    return {"dims": 4, "embed": embed, "fields": ["text"]}
