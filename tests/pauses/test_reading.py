"""What a thread shows to those who read it: what is open, and what is due, however its last run ended."""

from itertools import count
from typing import Any, TypedDict

import pytest

from signoff.config import get_stream_writer
from signoff.errors import InvalidUpdateError
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command

from .programs import NEW, Works, asking, beside, line


@pytest.mark.parametrize("chunks", range(1, 20, 2))
def test_wherever_a_reader_leaves_nothing_is_lost_or_done_twice(open_app, chunks):
    works, read = Works(), count(1)

    @task
    def call(name: str) -> str:
        get_stream_writer()(name)
        works.done[name] += 1
        return name

    def calls(state: Any) -> Any:
        return {"log": [future.result() for future in [call("one"), call("two")]]}

    inside = line(inner=works.node("inner"), ask=asking()).compile()
    app = open_app(beside(a=works.node("a"), calls=calls, inside=inside))
    modes = ["custom", "tasks", "updates", "values"]
    app.stream(NEW, until=lambda _: next(read) == chunks, stream_mode=modes, subgraphs=True)
    assert app.ask(None) == ["sure?"]
    assert app.invoke(Command(resume="yes"))["log"] == ["a", "one", "two", "inner", "yes"]
    assert set(works.done.values()) == {1}


def test_a_thread_whose_stream_was_left_is_not_over(open_app):
    works = Works()
    app = open_app(line(a=works.node("a"), b=works.node("b"), ask=asking()))
    app.stream(NEW, until=lambda chunk: "a" in chunk)
    shown = app.get_state()
    assert shown.next == ("b",)
    assert shown.values == {"log": ["a"]}
    assert app.ask(None) == ["sure?"]
    assert works.done == {"a": 1, "b": 1}


def test_a_thread_whose_stream_was_left_at_a_question_shows_it(open_app):
    app = open_app(line(a=Works().node("a"), ask=asking()))
    app.stream(NEW, until=lambda chunk: "__interrupt__" in chunk)
    assert (app.get_state().next, app.questions()) == (("ask",), ["sure?"])
    app.stream(Command(resume="yes"), until=lambda chunk: "ask" in chunk)
    assert (app.get_state().next, app.questions(), app.filed()) == ((), [], [])
    assert app.invoke(None) == {"log": ["a", "yes"]}


def test_a_nested_graph_may_have_a_number_for_a_name(open_app):
    inner = line(inside=Works().node("inside"), ask=asking(), last=Works().node("last")).compile()
    app = open_app(beside(**{"1": inner}))
    assert app.ask(NEW) == ["sure?"]
    (waiting,) = app.get_state().tasks
    assert app.get_state(waiting.state).values == {"log": ["inside"]}
    app.update_state({"log": ["told"]}, waiting.state, as_node="ask")
    assert app.invoke(None)["log"] == ["inside", "told", "last"]


class Plain(TypedDict, total=False):
    x: Any
    said: Any


def test_a_question_beside_writes_that_collide_can_be_read(open_app):
    graph = StateGraph(Plain).add_node("one", lambda state: {"x": 1}).add_node("two", lambda state: {"x": 2})
    graph.add_node("ask", lambda state: {"said": asking()(state)["log"]})
    app = open_app(graph.add_edge(START, "one").add_edge(START, "two").add_edge(START, "ask"))
    with pytest.raises(InvalidUpdateError, match="one value per step"):
        app.invoke({"x": 0})
    assert app.get_state().values == {"x": 0}
    assert app.questions() == ["sure?"]
