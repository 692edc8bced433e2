"""Every saver, opened the same way; async methods through a blocking door."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.postgres import AsyncPostgresSaver, PostgresSaver
from signoff.checkpoint.redis import AsyncRedisSaver, RedisSaver
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver


class Portal:
    """An event loop in a thread of its own, for sync tests of async code."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=60)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


class AsyncDoor:
    """A saver whose sync methods are the async ones of another."""

    def __init__(self, inner: Any, portal: Portal) -> None:
        self.inner = inner
        self._portal = portal

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **named: self._portal.run(getattr(self.inner, f"a{name}")(*args, **named))

    def list(self, *args: Any, **named: Any) -> Iterator[Any]:
        async def collected() -> Any:
            return [found async for found in self.inner.alist(*args, **named)]

        return iter(self._portal.run(collected()))


@pytest.fixture(scope="session")
def portal() -> Iterator[Portal]:
    portal = Portal()
    yield portal
    portal.close()


@pytest.fixture
def openers(portal: Portal, tmp_path: Any, request: Any) -> Iterator[dict[str, Callable[..., Any]]]:
    """How to open a saver of each kind. Those in a file, or on a server, share it if they are opened twice."""
    with ExitStack() as stack:

        def memory(**options: Any) -> Any:
            return InMemorySaver(**options)

        def sqlite(path: Any = None, **options: Any) -> Any:
            path = str(path or tmp_path / "saver.db")
            return stack.enter_context(SqliteSaver.from_conn_string(path, **options))

        def sqlite_aio(path: Any = None, **options: Any) -> Any:
            opened = AsyncSqliteSaver.from_conn_string(str(path or tmp_path / "saver.db"), **options)
            stack.callback(lambda: portal.run(opened.__aexit__(None, None, None)))
            return portal.run(opened.__aenter__())

        def entered(opened: Any) -> Any:
            stack.callback(lambda: portal.run(opened.__aexit__(None, None, None)))
            return portal.run(opened.__aenter__())

        def postgres(**options: Any) -> Any:
            url = request.getfixturevalue("postgres_url")
            return stack.enter_context(PostgresSaver.from_conn_string(url, **options))

        def postgres_aio(**options: Any) -> Any:
            url = request.getfixturevalue("postgres_url")
            return entered(AsyncPostgresSaver.from_conn_string(url, **options))

        def place() -> dict[str, Any]:
            return {
                "conn_string": request.getfixturevalue("redis_url"),
                "prefix": request.getfixturevalue("redis_prefix"),
            }

        def redis(**options: Any) -> Any:
            return stack.enter_context(RedisSaver.from_conn_string(**place(), **options))

        def redis_aio(**options: Any) -> Any:
            return entered(AsyncRedisSaver.from_conn_string(**place(), **options))

        yield {
            "redis": redis,
            "redis_aio": lambda **options: AsyncDoor(redis_aio(**options), portal),
            "postgres": postgres,
            "postgres_aio": lambda **options: AsyncDoor(postgres_aio(**options), portal),
            "memory": memory,
            "memory_by_async": lambda **options: AsyncDoor(memory(**options), portal),
            "sqlite": sqlite,
            "sqlite_by_async": lambda *args, **options: AsyncDoor(sqlite(*args, **options), portal),
            "sqlite_aio": lambda *args, **options: AsyncDoor(sqlite_aio(*args, **options), portal),
            "sqlite_aio_by_sync": sqlite_aio,
        }


SAVERS = ["memory", "memory_by_async", "sqlite", "sqlite_by_async", "sqlite_aio", "sqlite_aio_by_sync"]
SAVERS += ["postgres", "postgres_aio", "redis", "redis_aio"]


@pytest.fixture(params=SAVERS)
def open_saver(request: Any, openers: Any) -> Callable[..., Any]:
    """How to open a saver; the test runs once for every kind and every way to call it."""
    return openers[request.param]


@pytest.fixture
def saver(open_saver: Any) -> Any:
    return open_saver()
