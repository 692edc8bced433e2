"""Scenario 31: a thread is read, compared, drawn, and run again from an old checkpoint."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import TypedDict

import pytest

from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Purchase(TypedDict):
    item: str
    price: int
    approved_by: str
    status: str


def estimate(state: Purchase):
    return {"price": 240}


def approve(state: Purchase):
    return {"approved_by": interrupt(f"Buy {state['item']} for {state['price']}?")}


def order(state: Purchase):
    return {"status": f"ordered for {state['price']}"}


@pytest.fixture
def graph():
    return StateGraph(Purchase).add_sequence([estimate, approve, order]).add_edge(START, "estimate")


@pytest.fixture
def app(open_app, graph):
    app = open_app(graph)
    app.invoke({"item": "a lamp"})
    return app


def test_the_state_says_what_is_next_and_what_is_asked(app):
    state = app.get_state()
    assert state.values == {"item": "a lamp", "price": 240}
    assert state.next == ("approve",)
    assert [question.value for question in state.interrupts] == ["Buy a lamp for 240?"]


def test_the_history_says_what_was_asked_and_answered(app):
    app.invoke(Command(resume="Ana"))
    history = app.history()
    assert [snapshot.next for snapshot in history] == [("__start__",), ("estimate",), ("approve",), ("order",), ()]
    (asked,) = history[2].tasks
    assert [question.value for question in asked.interrupts] == ["Buy a lamp for 240?"]
    assert asked.result == {"approved_by": "Ana"}


def test_two_checkpoints_can_be_compared(app):
    app.invoke(Command(resume="Ana"))
    history = app.history()
    changes = [after.values.items() - before.values.items() for before, after in pairwise(history)]
    assert [dict(change) for change in changes] == [
        {"item": "a lamp"},
        {"price": 240},
        {"approved_by": "Ana"},
        {"status": "ordered for 240"},
    ]


def test_each_checkpoint_knows_its_parent_and_its_time(app):
    app.invoke(Command(resume="Ana"))
    history = app.history()
    assert [snapshot.parent_config for snapshot in history[1:]] == [snapshot.config for snapshot in history[:-1]]
    assert history[0].parent_config is None
    times = [snapshot.created_at for snapshot in history]
    assert times == sorted(times)


def test_an_old_checkpoint_can_be_read(app):
    app.invoke(Command(resume="Ana"))
    old = app.history()[2]
    assert app.get_state(old.config).values == {"item": "a lamp", "price": 240}


def test_a_run_from_an_old_checkpoint_is_a_new_branch(app):
    app.invoke(Command(resume="Ana"))
    before = app.history()
    branch = app.update_state({"price": 99}, before[2].config)
    assert app.invoke(None, branch)["__interrupt__"][0].value == "Buy a lamp for 99?"
    assert app.invoke(Command(resume="Ben"))["status"] == "ordered for 99"
    assert app.get_state(before[-1].config).values["status"] == "ordered for 240"
    assert [snapshot.config for snapshot in app.history()[: len(before)]] == [snapshot.config for snapshot in before]


def test_the_graph_can_be_drawn(graph):
    picture = graph.compile().get_graph()
    for text in (picture.draw_ascii(), picture.draw_mermaid(), picture.draw_svg()):
        assert all(name in text for name in ("estimate", "approve", "order"))
    assert ET.fromstring(picture.draw_svg()).tag.endswith("svg")
