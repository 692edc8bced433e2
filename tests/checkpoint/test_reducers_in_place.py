"""What a reducer changes in place, in a list that it also appends to, is stored: warm equals cold."""

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import HumanMessage

from signoff.channels import BaseChannel
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.constants import MISSING
from signoff.engine.program import Program
from signoff.graph import START, MessagesState, StateGraph, add_messages
from signoff.graph.compiling import program_of

CONFIG = {"configurable": {"thread_id": "1"}}


@dataclass
class Row:
    number: int
    is_last: bool = True


def mark_dicts(before: list[Any], new: list[Any]) -> list[Any]:
    for row in before[-3:]:
        row["is_last"] = False
    return before + new


def mark_rows(before: list[Any], new: list[Any]) -> list[Any]:
    for row in before[-3:]:
        row.is_last = False
    return [*before, *new]


def mark_messages(before: list[Any], new: list[Any]) -> list[Any]:
    for message in before[-3:]:
        message.additional_kwargs["is_last"] = False
    return before + new


class Marking(BaseChannel):
    """A channel of the user's own."""

    def fold(self, stored: Any, writes: Any) -> Any:
        for write in writes:
            stored = mark_dicts([] if stored is MISSING else stored, write)
        return stored


CASES: dict[str, tuple[Any, Any]] = {
    "dicts": (mark_dicts, lambda number: {"number": number, "is_last": True}),
    "objects": (mark_rows, Row),
    "messages": (mark_messages, lambda number: HumanMessage(str(number), id=str(number))),
    "a channel of one's own": (Marking, lambda number: {"number": number, "is_last": True}),
}


@pytest.fixture(params=["memory", "sqlite"])
def saver(request: pytest.FixtureRequest, tmp_path: Any) -> Iterator[Any]:
    if request.param == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(str(tmp_path / "saver.db")) as saver:
            yield saver


@pytest.mark.parametrize("durability", ["sync", "exit"])
@pytest.mark.parametrize("case", CASES)
def test_what_a_reducer_changes_beside_what_it_appends_is_stored(saver: Any, case: str, durability: Any) -> None:
    reducer, item = CASES[case]

    class Table(TypedDict):
        rows: Annotated[list[Row], reducer]

    def work(state: Any) -> Any:
        return {"rows": [item(len(state["rows"]))]}

    graph = StateGraph(Table).add_node("work", work).add_node("more", work)
    app = graph.add_edge(START, "work").add_edge("work", "more").compile(checkpointer=saver)
    app.invoke({"rows": [item(number) for number in range(70)]}, CONFIG, durability=durability)
    for _ in range(3):
        out = app.invoke({"rows": []}, CONFIG, durability=durability)
        assert app.get_state(CONFIG).values == out


def _program(reducer: Any) -> Program:
    class Table(TypedDict):
        rows: Annotated[list[Any], reducer]

    return program_of(StateGraph(Table).add_node("a", lambda state: None).add_edge(START, "a"), "graph")


@pytest.mark.parametrize(
    "reducer", [operator.add, operator.iadd, add_messages, add_messages(format="langchain-openai")]
)
def test_reducers_that_only_append_are_known(reducer: Any) -> None:
    assert not _program(reducer).meddling
    assert not program_of(StateGraph(MessagesState).add_node("a", print).add_edge(START, "a"), "graph").meddling


@pytest.mark.parametrize("reducer", [mark_dicts, Marking])
def test_of_others_there_is_no_telling(reducer: Any) -> None:
    assert _program(reducer).meddling == {"rows"}


class Orders(TypedDict):
    orders: Annotated[list[dict[str, bool]], operator.add]
    pays: bool
    second_is_paid: bool


def pay_the_first(state: Orders) -> dict[str, Any]:
    if not state["pays"]:
        order = {"is_paid": False}
        return {"orders": [order] * 20}
    state["orders"][0]["is_paid"] = True
    return {"second_is_paid": state["orders"][1]["is_paid"]}


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_one_object_that_is_in_a_list_twice_is_two_for_the_next_run_in_the_same_process_as_in_another(kind):
    with InMemorySaver() if kind == "memory" else SqliteSaver.from_conn_string(":memory:") as saver:
        graph = StateGraph(Orders).add_node("pay", pay_the_first).add_edge(START, "pay").compile(checkpointer=saver)
        graph.invoke({"pays": False}, CONFIG)
        assert graph.invoke({"pays": True}, CONFIG)["second_is_paid"] is False
