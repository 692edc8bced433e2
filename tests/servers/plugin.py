"""Fixtures: servers that the whole run shares, with a place for each test, and servers of a test's own."""

from collections.abc import Iterator

import pytest

from servers import postgres, redis
from servers.run import Run
from servers.schemas import Schemas

_RUN = pytest.StashKey[Run]()


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):  # the workers of a run take part in the run of the first process
        config.stash[_RUN] = Run()


def pytest_unconfigure(config: pytest.Config) -> None:
    if _RUN in config.stash:
        config.stash[_RUN].end()


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """An address of Postgres with an empty schema."""
    with postgres.schema(postgres.shared_url()) as url:
        yield url


@pytest.fixture(scope="session")
def saver_schemas() -> Iterator[Schemas]:
    """Schemas with the tables of a saver in them."""
    from signoff.checkpoint.postgres import PostgresSaver
    from signoff.checkpoint.postgres.schema import SCHEMA

    def make(url: str) -> None:
        with PostgresSaver.from_conn_string(url) as saver:
            saver.setup()

    schemas = Schemas(postgres.shared_url(), make, SCHEMA.table)
    yield schemas
    schemas.close()


@pytest.fixture
def saver_url(saver_schemas: Schemas) -> Iterator[str]:
    """An address of Postgres with the tables of a saver, and nothing in them: quicker than an empty schema."""
    with saver_schemas.one() as url:
        yield url


@pytest.fixture
def redis_url() -> str:
    """An address of Redis. Others use it too: see redis_prefix."""
    return redis.shared_url()


@pytest.fixture
def redis_prefix(redis_url: str) -> Iterator[str]:
    """A beginning for the names of a test's keys."""
    with redis.prefix(redis_url) as name:
        yield name


@pytest.fixture(scope="module")
def own_postgres() -> Iterator[postgres.PostgresServer]:
    """A Postgres to be stopped and killed, shared by the tests of a file."""
    server = postgres.PostgresServer.new()
    yield server
    server.remove()


@pytest.fixture(scope="module")
def own_redis() -> Iterator[redis.RedisServer]:
    """A Redis to be stopped and killed, shared by the tests of a file."""
    server = redis.RedisServer.new()
    yield server
    server.remove()
