"""Scenario 2: a node asks, and the answer chooses the way."""

from typing import Literal, TypedDict

import pytest

from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Transfer(TypedDict):
    amount: int
    done: list[str]


def ask(state: Transfer) -> Command[Literal["proceed", "cancel"]]:
    return Command(goto="proceed" if interrupt("Go on?") else "cancel", update={"done": ["asked"]})


def proceed(state: Transfer):
    return {"done": [*state["done"], "transferred"]}


def cancel(state: Transfer):
    return {"done": [*state["done"], "cancelled"]}


@pytest.fixture
def app(open_app):
    graph = StateGraph(Transfer).add_node(ask).add_node(proceed).add_node(cancel).add_edge(START, "ask")
    return open_app(graph)


@pytest.mark.parametrize(
    ("answer", "done"), [(True, "transferred"), (False, "cancelled"), ("yes", "transferred"), (None, "cancelled")]
)
def test_the_answer_chooses_the_way(app, answer, done):
    app.invoke({"amount": 500})
    assert app.invoke(Command(resume=answer))["done"] == ["asked", done]


def test_nothing_of_the_asking_node_shows_before_the_answer(app):
    app.invoke({"amount": 500})
    assert app.get_state().values == {"amount": 500}
    assert app.get_state().next == ("ask",)


def test_only_the_chosen_node_runs(app):
    app.invoke({"amount": 500})
    chunks = app.stream(Command(resume=False))
    assert [list(chunk) for chunk in chunks] == [["ask"], ["cancel"]]
