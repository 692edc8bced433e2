"""Scenario 29: one call lists what waits for an answer, over all threads, oldest first, filtered and page by page."""

from typing import Any, TypedDict

import pytest

from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.types import interrupt

from .savers import KINDS, opened


class State(TypedDict):
    asks: bool
    answer: str


def desk(saver: Any, name: str, node: str) -> Any:
    def ask(state: State) -> dict[str, str]:
        return {"answer": interrupt(f"May {name} go on?") if state["asks"] else "nobody was asked"}

    return StateGraph(State).add_node(node, ask).add_edge(START, node).compile(checkpointer=saver, name=name)


@pytest.mark.parametrize("kind", KINDS)
def test_of_many_threads_those_that_wait_are_listed_oldest_first(kind, request, tmp_path):
    with opened(kind, request, tmp_path) as saver:
        refunds, orders = desk(saver, "refunds", "review"), desk(saver, "orders", "confirm")
        for number in range(60):
            app = refunds if number % 2 else orders
            app.invoke({"asks": number % 10 < 2}, {"configurable": {"thread_id": f"{number:02}"}})
        inbox = Inbox(saver)
        first = inbox.open(limit=8)
        second = inbox.open(limit=8, after=first.cursor)
        listed = [question.thread_id for question in [*first, *second]]
        assert listed == ["00", "01", "10", "11", "20", "21", "30", "31", "40", "41", "50", "51"]
        assert {question.node for question in inbox.open(graph="refunds")} == {"review"}
        assert [question.thread_id for question in inbox.open(node="confirm", thread_id="20")] == ["20"]


MANY = 100_000


def test_a_hundred_thousand_threads_that_do_not_wait_cost_nothing(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        app = desk(saver, "refunds", "review")
        for number in range(40):
            app.invoke({"asks": number > 0}, {"configurable": {"thread_id": f"{number:02}"}}, durability="exit")
        few = [steps_for(saver, **wanted) for wanted in WANTED]
        copy_many(saver.conn, "00", MANY)
        assert saver.conn.execute("SELECT COUNT(DISTINCT thread_id) FROM signoff_checkpoints").fetchone()[0] > MANY
        many = [steps_for(saver, **wanted) for wanted in WANTED]
    for wanted, before, after in zip(WANTED, few, many, strict=True):
        assert after <= before * 1.2, f"the database looks at more rows for {wanted}"


WANTED: list[dict[str, Any]] = [
    {"limit": 10},
    {"limit": 10, "graph": "refunds"},
    {"limit": 10, "node": "review"},
    {"thread_id": "20"},
]


def steps_for(saver: SqliteSaver, **wanted: Any) -> int:
    """How many instructions the database needs for a page, and for the one after it."""
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    saver.conn.set_progress_handler(count, 1)
    page = Inbox(saver).open(**wanted)
    if page.cursor:
        page = Inbox(saver).open(**wanted, after=page.cursor)
    saver.conn.set_progress_handler(None, 1)
    assert len(page) > 0
    return steps


def copy_many(conn: Any, thread_id: str, times: int) -> None:
    """Copies of a thread, whatever tables it is in."""
    for (table,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        columns = [column[0] for column in conn.execute(f"SELECT * FROM {table} LIMIT 0").description]
        if "thread_id" in columns:
            source = ", ".join("'copy ' || n" if column == "thread_id" else column for column in columns)
            conn.execute(
                f"WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < {times}) "
                f"INSERT INTO {table} ({', '.join(columns)}) "
                f"SELECT {source} FROM {table}, copies WHERE thread_id = '{thread_id}'"
            )
