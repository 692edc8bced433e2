"""Scenario 29: one call lists what waits for an answer, over all threads, oldest first, filtered and page by page."""

from typing import Any, TypedDict

import pytest

from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.types import interrupt

from .savers import DATABASES, opened


class State(TypedDict):
    asks: bool
    answer: str


def desk(saver: Any, name: str, node: str) -> Any:
    def ask(state: State) -> dict[str, str]:
        return {"answer": interrupt(f"May {name} go on?") if state["asks"] else "nobody was asked"}

    return StateGraph(State).add_node(node, ask).add_edge(START, node).compile(checkpointer=saver, name=name)


@pytest.mark.parametrize("kind", ["memory", *DATABASES])
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
