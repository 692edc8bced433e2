"""What a conversation takes in a database: not more than three times what was said in it."""

from typing import Any

import psycopg
import pytest
import redis
from langchain_core.messages import AIMessage, HumanMessage

from signoff.graph import START, MessagesState, StateGraph

CONFIG = {"configurable": {"thread_id": "1"}}
WORDS = "x" * 200
SAID = 2 * (len(WORDS) + 36)
"""Two messages and their ids."""
TURNS = 300


def sqlite_bytes(saver: Any, request: Any) -> int:
    (pages,), (size,) = (saver.conn.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
    return int(pages * size)


@pytest.fixture
def saver_url(postgres_url: str) -> str:
    """A schema of its own: in one that others have used, the rows that were deleted would count."""
    return postgres_url


def postgres_bytes(saver: Any, request: Any) -> int:
    """Tables with their indexes."""
    sql = "SELECT SUM(pg_total_relation_size(relid)) FROM pg_statio_user_tables WHERE schemaname = current_schema"
    with psycopg.connect(request.getfixturevalue("postgres_url")) as conn:
        return int(conn.execute(sql).fetchone()[0])


def redis_bytes(saver: Any, request: Any) -> int:
    prefix = request.getfixturevalue("redis_prefix")
    with redis.Redis.from_url(request.getfixturevalue("redis_url")) as client:
        return sum(client.memory_usage(key, samples=0) for key in client.scan_iter(f"*{prefix}*"))


SIZES = {"sqlite": sqlite_bytes, "postgres": postgres_bytes, "redis": redis_bytes}


@pytest.mark.parametrize("kind", SIZES)
def test_a_turn_takes_not_more_than_three_times_what_was_said(openers, request, kind):
    saver = openers[kind]()
    builder = StateGraph(MessagesState)
    builder.add_node("reply", lambda state: {"messages": [AIMessage(WORDS)]})
    builder.add_edge(START, "reply")
    app = builder.compile(checkpointer=saver)
    sizes = []
    for turns in (100, TURNS):
        for _ in range(turns):
            app.invoke({"messages": [HumanMessage(WORDS)]}, CONFIG)
        sizes.append(SIZES[kind](saver, request))
    assert (sizes[1] - sizes[0]) / TURNS <= 3 * SAID
