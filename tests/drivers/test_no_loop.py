"""Where no event loop of asyncio runs: what needs one says so, and nothing is begun."""

from contextlib import suppress
from typing import TypedDict

import pytest

from signoff._loops import LoopNotRunning
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.postgres import AsyncPostgresSaver
from signoff.checkpoint.redis import AsyncRedisSaver
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver
from signoff.graph import START, StateGraph
from signoff.store.redis import AsyncRedisStore

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    text: str


def run_elsewhere(coroutine):
    """Run a coroutine as a library does whose loop is not asyncio's."""
    with suppress(StopIteration):
        coroutine.send(None)
    coroutine.close()


async def entered(manager):
    async with manager:
        pass


async def read(stream):
    async for _ in stream:
        pass


@pytest.mark.parametrize(
    "saver", [InMemorySaver, lambda: SqliteSaver.from_conn_string(":memory:")], ids=["memory", "sqlite"]
)
def test_an_async_run_needs_asyncio_and_says_so_before_anything_is_begun(saver):
    began = []
    builder = StateGraph(State).add_node("node", lambda state: began.append(state)).add_edge(START, "node")
    with saver() as opened:
        app = builder.compile(opened)
        for run in (app.ainvoke({"text": ""}, CONFIG), read(app.astream({"text": ""}, CONFIG))):
            with pytest.raises(LoopNotRunning, match=r"async run needs .*asyncio.*invoke.*trio"):
                run_elsewhere(run)
        assert (began, app.get_state(CONFIG).values) == ([], {})


def test_what_lives_in_an_event_loop_is_not_made_without_one(redis_url):
    for kind in (AsyncRedisSaver, AsyncRedisStore):
        with pytest.raises(LoopNotRunning, match=rf"{kind.__name__} needs .*asyncio.*take the sync (saver|store)"):
            kind(redis_url)
    for manager in (
        AsyncSqliteSaver.from_conn_string(":memory:"),
        AsyncPostgresSaver.from_conn_string("postgresql://localhost/app"),
    ):
        with pytest.raises(LoopNotRunning, match=r"needs .*asyncio.*take the sync saver"):
            run_elsewhere(entered(manager))
