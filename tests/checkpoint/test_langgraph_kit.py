"""LangGraph's published checks for savers, put to the async ones."""

import asyncio

import pytest
from langgraph.checkpoint.conformance import checkpointer_test, validate

from signoff.checkpoint.postgres.aio import AsyncPostgresSaver
from signoff.checkpoint.redis.aio import AsyncRedisSaver
from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver

CAPABILITIES = ["put", "put_writes", "get_tuple", "list", "delete_thread", "delete_for_runs", "copy_thread", "prune"]


@pytest.fixture(params=["sqlite", "postgres", "redis"])
def opened(request, tmp_path):
    """Opens a saver; there are no two at a time."""
    numbers = iter(range(10_000))
    if request.param == "sqlite":
        return lambda: AsyncSqliteSaver.from_conn_string(str(tmp_path / f"{next(numbers)}.db"))
    if request.param == "postgres":
        url = request.getfixturevalue("saver_url")
        return lambda: AsyncPostgresSaver.from_conn_string(url)
    url, prefix = request.getfixturevalue("redis_url"), request.getfixturevalue("redis_prefix")
    return lambda: AsyncRedisSaver.from_conn_string(url, prefix=f"{prefix}-{next(numbers)}")


def test_langgraphs_own_checks_pass(opened):
    @checkpointer_test(name="saver")
    async def saver():
        async with opened() as one:
            yield one

    report = asyncio.run(validate(saver, capabilities=set(CAPABILITIES)))
    failed = {name: result.failures for name, result in report.results.items() if result.passed is False}
    assert failed == {}
    assert [name for name in CAPABILITIES if report.results[name].passed is not True] == []
