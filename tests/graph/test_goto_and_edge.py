"""A node that goes one way by its Command and another by an edge runs both, as in LangGraph; the log says so."""

import logging
import operator
from typing import Annotated, TypedDict

import pytest

from signoff.graph import END, START, StateGraph
from signoff.graph.routing import _warn_of_both
from signoff.types import Command, Send


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


def saying(word):
    return lambda state: {"log": [word]}


@pytest.fixture
def told(caplog):
    """Runs a graph whose first node returns something; what it did, and what the log says."""
    caplog.set_level(logging.WARNING, "signoff.graph")
    _warn_of_both.cache_clear()

    def run(result, **edges):
        graph = StateGraph(Log).add_node("review", lambda state: result).add_edge(START, "review")
        for name in ("cancel", "pay"):
            graph.add_node(name, saying(name), defer=edges.get("defer") == name)
        for start in edges.get("join", []):
            graph.add_node(start, saying(start)).add_edge(START, start).add_edge(["review", start], "pay")
        if "edge" in edges:
            graph.add_edge("review", edges["edge"])
        app = graph.compile()
        app.invoke({"log": []})
        return app.invoke({"log": []})["log"], [record.getMessage() for record in caplog.records]

    return run


@pytest.mark.parametrize(("goto", "shown", "done"), [("cancel", "'cancel'", ["cancel", "pay"]), (END, "END", ["pay"])])
def test_both_run_and_the_log_says_so_once(told, goto, shown, done):
    did, (said,) = told(Command(goto=goto), edge="pay")
    assert did == done
    assert f"'review' goes to {shown} by its Command, and to 'pay' by its edge" in said
    assert "remove the edge" in said


@pytest.mark.parametrize(
    ("result", "edges"),
    [
        (Command(goto="pay"), {"edge": "pay"}),
        (Command(goto=["pay", "cancel"]), {"edge": "pay"}),
        (Command(goto=Send("cancel", {})), {"edge": "pay"}),
        (Command(goto="cancel"), {"edge": "pay", "defer": "pay"}),
        (Command(goto="cancel"), {"join": ["other"]}),
        (Command(goto="cancel"), {"edge": END}),
        (Command(update={"log": ["told"]}), {"edge": "pay"}),
    ],
)
def test_there_is_nothing_to_tell_of_what_is_meant(told, result, edges):
    assert told(result, **edges)[1] == []


def test_a_graph_that_hands_over_is_told_of_as_well(told, caplog):
    inner = StateGraph(Log).add_edge(START, "hand")
    inner.add_node("hand", lambda state: Command(graph=Command.PARENT, goto="cancel"))
    graph = StateGraph(Log).add_node("agent", inner.compile()).add_edge(START, "agent").add_edge("agent", "pay")
    graph.add_node("cancel", saying("cancel")).add_node("pay", saying("pay"))
    assert graph.compile().invoke({"log": []})["log"] == ["cancel", "pay"]
    assert "'agent' goes to 'cancel'" in caplog.text
