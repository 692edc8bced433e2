"""Every store, opened the same way, with a clock the test owns; async ones through a blocking door."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from servers.postgres import schema, shared_url
from signoff.store.memory import InMemoryStore
from signoff.store.postgres import AsyncPostgresStore, PostgresStore
from signoff.store.redis import AsyncRedisStore, RedisStore
from signoff.store.sqlite import AsyncSqliteStore, SqliteStore
from signoff.testing.conformance.doors import BlockingStore, LoopThread
from signoff.testing.conformance.stores import Clock, World


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def postgres_home() -> Iterator[tuple[str, psycopg.Connection]]:
    """A schema with the tables of a store in it, and a connection to empty them with: quicker than new ones."""
    with schema(shared_url()) as url, psycopg.connect(url, autocommit=True) as conn:
        with PostgresStore.from_conn_string(url) as store:
            store.setup()
        yield url, conn


@pytest.fixture
def empty_postgres(postgres_home) -> str:
    """An address of Postgres with an empty store."""
    url, conn = postgres_home
    conn.execute("DELETE FROM signoff_store")
    return url


@pytest.fixture
def openers(clock: Clock, portal: LoopThread, tmp_path, request) -> Iterator[dict[str, Callable[..., Any]]]:
    """How to open a store of each kind."""
    asked = request.getfixturevalue  # a server is started for those that use it only
    with ExitStack() as stack:

        def memory(**options):
            return InMemoryStore(clock=clock, **options)

        def sqlite(path=None, **options):
            path = str(path or tmp_path / "store.db")
            return stack.enter_context(SqliteStore.from_conn_string(path, clock=clock, **options))

        def entered(opened):
            stack.callback(lambda: portal.run(opened.__aexit__(None, None, None)))
            return BlockingStore(portal.run(opened.__aenter__()), portal)

        def sqlite_aio(path=None, **options):
            path = str(path or tmp_path / "store.db")
            return entered(AsyncSqliteStore.from_conn_string(path, clock=clock, **options))

        def postgres(**options):
            url = asked("empty_postgres")
            return stack.enter_context(PostgresStore.from_conn_string(url, clock=clock, **options))

        def postgres_aio(**options):
            return entered(AsyncPostgresStore.from_conn_string(asked("empty_postgres"), clock=clock, **options))

        def redis(**options):
            url, prefix = asked("redis_url"), asked("redis_prefix")
            return stack.enter_context(RedisStore.from_conn_string(url, prefix=prefix, clock=clock, **options))

        def redis_aio(**options):
            url, prefix = asked("redis_url"), asked("redis_prefix")
            return entered(AsyncRedisStore.from_conn_string(url, prefix=prefix, clock=clock, **options))

        yield {
            "memory": memory,
            "memory_aio": lambda **options: BlockingStore(memory(**options), portal),
            "sqlite": sqlite,
            "sqlite_aio": sqlite_aio,
            "postgres": postgres,
            "postgres_aio": postgres_aio,
            "redis": redis,
            "redis_aio": redis_aio,
        }


KINDS = ["memory", "memory_aio", "sqlite", "sqlite_aio", "postgres", "postgres_aio", "redis", "redis_aio"]


@pytest.fixture(params=KINDS)
def open_store(request, openers) -> Callable[..., Any]:
    """How to open a store; the test runs once for every kind."""
    return openers[request.param]


@pytest.fixture
def world(open_store, clock, portal) -> World:
    """What the checks of every store are given."""
    return World(open_store, clock, portal.run)


@pytest.fixture
def index() -> dict[str, Any]:
    """An index with embeddings that can be done in the head."""
    return World(InMemoryStore, Clock()).index
