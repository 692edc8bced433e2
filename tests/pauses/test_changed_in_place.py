"""What a node changes in place, and does not return, is gone when it is asked again: it is given what it was given."""

from typing import Any

import pytest

from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

from .programs import NEW, Log, beside


class Todo(Log, total=False):
    todo: list[str]


def work(given: Any) -> dict[str, Any]:
    item = given["todo"].pop()
    return {"log": [f"{item} {interrupt(f'do {item}?')}"]}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("is_sent", [False, True], ids=["by an edge", "by a Send"])
def test_what_is_approved_is_what_is_done(open_app, is_sent, pause, durability):
    given = {"todo": ["a", "b"]}
    graph = StateGraph(Todo).add_node("work", work)
    if is_sent:
        graph.add_node("send", lambda state: Command(goto=[Send("work", given), "other"])).add_edge(START, "send")
    else:
        graph.add_edge(START, "work").add_edge(START, "other")
    graph.add_node("other", lambda state: {"log": ["other"]}).add_node("last", lambda state: {"log": ["last"]})
    app = open_app(graph.add_edge("other", "last"), pause=pause)
    assert app.ask({"log": [], **given}, durability=durability) == ["do b?"]
    assert "b yes" in app.invoke(Command(resume="yes"), durability=durability)["log"]


def test_a_join_that_the_start_leads_to_is_compiled_with_branches_that_pause(open_app):
    graph = beside().add_node("a", lambda state: {"log": ["a"]}).add_node("b", lambda state: {"log": ["b"]})
    graph.add_conditional_edges(START, lambda state: "a", ["a"]).add_edge([START, "a"], "b")
    assert open_app(graph, pause="branch").invoke(NEW) == {"log": ["a", "b"]}
