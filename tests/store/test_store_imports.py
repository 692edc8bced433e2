"""Importing a store is light."""

import pytest

from loading import modules_after

HEAVY = {"numpy", "langchain", "langchain_core", "pydantic", "aiosqlite", "asyncio", "sqlite3"}
HEAVY |= {"psycopg", "psycopg_pool", "redis"}


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("import signoff.store.base", set()),
        ("import signoff.store.memory", set()),
        (
            "from signoff.store.memory import InMemoryStore as S; S().put(('a',), 'k', {}); S().search(())",
            set(),
        ),
        ("import signoff.store.sqlite", {"sqlite3"}),
        ("from signoff.store.sqlite import AsyncSqliteStore", {"sqlite3", "asyncio"}),
        # The drivers bring asyncio with them.
        ("import signoff.store.postgres", {"psycopg", "asyncio"}),
        ("import signoff.store.postgres.aio", {"psycopg", "asyncio"}),
        ("import signoff.store.redis", {"redis", "asyncio"}),
        ("import signoff.store.redis.aio", {"redis", "asyncio"}),
        ("import signoff.cache.base, signoff.cache.memory", set()),
        ("import signoff.cache.sqlite", {"sqlite3"}),
    ],
)
def test_an_import_loads_nothing_it_does_not_need(statement, expected):
    assert HEAVY & modules_after(statement) == expected
