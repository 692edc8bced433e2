"""New input drops what is due, and so what is due later: a deferred node runs in the turn that has led to it."""

import pytest

from signoff.constants import INPUT
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

from .programs import Log, Works


def paying_last(*starts, stop):
    """A graph that pays behind an order when all else is done; before that, another node fails, asks, or works."""
    graph = StateGraph(Log).add_node("pay", Works().node("pay"), defer=True).add_node("order", Works().node("order"))
    graph.add_node("look", lambda state: None).add_node("stop", stop).add_edge("look", "stop")
    graph.add_edge(["order"], "pay") if "join" in starts else graph.add_edge("order", "pay")
    return graph.add_conditional_edges(START, lambda state: ["order", "look"] if state["log"] == ["both"] else ["look"])


def failing(state):
    if state["log"][-1] != "another":
        raise LookupError("stop")


def asking(state):
    if state["log"][-1] != "another":
        interrupt("go on?")


@pytest.mark.parametrize("behind", ["edge", "join"])
def test_one_that_a_failed_turn_has_led_to_does_not_run_in_the_next(open_app, behind):
    app = open_app(paying_last(behind, stop=failing))
    with pytest.raises(LookupError):
        app.invoke({"log": ["both"]})
    assert app.invoke({"log": ["another"]})["log"] == ["both", "order", "another"]
    assert app.get_state().next == ()


@pytest.mark.parametrize("behind", ["edge", "join"])
def test_nor_does_one_behind_a_question_that_is_discarded(open_app, behind):
    app = open_app(paying_last(behind, stop=asking))
    app.invoke({"log": ["both"]})
    assert app.invoke({"log": ["another"]}, on_pending="discard")["log"] == ["both", "order", "another"]


def test_nor_does_one_before_input_that_is_written_by_hand(open_app):
    app = open_app(paying_last(stop=failing))
    with pytest.raises(LookupError):
        app.invoke({"log": ["both"]})
    app.update_state({"log": ["another"]}, as_node=INPUT)
    assert app.invoke(None)["log"] == ["both", "order", "another"]


def test_so_it_is_in_a_graph_that_remembers(open_app):
    inner = paying_last(stop=failing).compile(checkpointer=True)
    app = open_app(StateGraph(Log).add_node("inner", inner).add_edge(START, "inner"))
    with pytest.raises(LookupError):
        app.invoke({"log": ["both"]})
    assert "pay" not in app.invoke({"log": ["another"]})["log"]


@pytest.mark.parametrize("further", [None, Command(update={"log": ["more"]})], ids=str)
def test_who_goes_on_with_the_turn_pays(open_app, further):
    app = open_app(paying_last(stop=asking))
    app.invoke({"log": ["both"]})
    app.invoke(further)
    assert app.invoke(Command(resume="yes"))["log"][-1] == "pay"
