"""Every saver, opened the same way; async methods through a blocking door."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.postgres import AsyncPostgresSaver, PostgresSaver
from signoff.checkpoint.redis import AsyncRedisSaver, RedisSaver
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver
from signoff.testing.conformance.doors import LoopThread
from signoff.testing.conformance.savers import BlockingSaver


@pytest.fixture
def openers(portal: LoopThread, tmp_path: Any, request: Any) -> Iterator[dict[str, Callable[..., Any]]]:
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
            url = request.getfixturevalue("saver_url")
            return stack.enter_context(PostgresSaver.from_conn_string(url, **options))

        def postgres_aio(**options: Any) -> Any:
            url = request.getfixturevalue("saver_url")
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
            "redis_aio": lambda **options: BlockingSaver(redis_aio(**options), portal),
            "postgres": postgres,
            "postgres_aio": lambda **options: BlockingSaver(postgres_aio(**options), portal),
            "memory": memory,
            "memory_by_async": lambda **options: BlockingSaver(memory(**options), portal),
            "sqlite": sqlite,
            "sqlite_by_async": lambda *args, **options: BlockingSaver(sqlite(*args, **options), portal),
            "sqlite_aio": lambda *args, **options: BlockingSaver(sqlite_aio(*args, **options), portal),
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
