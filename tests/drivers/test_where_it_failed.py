"""An error that leaves a run says in a note where in the program it was: tracebacks do not name nodes."""

import asyncio
import operator
from dataclasses import dataclass
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import RetryPolicy, Send

WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


class State(TypedDict):
    log: Annotated[list, operator.add]


@dataclass(frozen=True)
class Refused(Exception):
    code: int


def boom(state):
    raise ValueError("no")


def graph_of(node, name, **settings):
    return StateGraph(State).add_node(name, node, **settings).add_edge(START, name)


def noted(app, is_async, config=None, input=None):
    input = {"log": []} if input is None else input
    invoke = (lambda *given: asyncio.run(app.ainvoke(*given))) if is_async else app.invoke
    with pytest.raises((ValueError, Refused)) as failed:
        invoke(input, config)
    return failed.value, getattr(failed.value, "__notes__", [])


@WAYS
def test_the_nodes_are_named_from_the_root_once(is_async):
    inner = graph_of(boom, "pay").compile()
    app = graph_of(inner, "orders").compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "7"}}
    _, (note,) = noted(app, is_async, config)
    assert note.startswith("In 'orders|pay' (task ")
    assert note.endswith(", thread '7').")


@WAYS
def test_the_task_is_the_one_that_the_state_shows(is_async):
    def serve(state):
        if state["log"] == ["bad"]:
            raise ValueError("no")

    graph = StateGraph(State).add_node(serve)
    graph.add_conditional_edges(START, lambda state: [Send("serve", {"log": [one]}) for one in ("good", "bad")])
    app = graph.compile(checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "7"}}
    _, (note,) = noted(app, is_async, config)
    (failed,) = [one for one in app.get_state(config).tasks if one.error]
    assert note == f"In 'serve' (task {failed.id}, thread '7')."


@WAYS
def test_a_call_is_named_behind_who_has_made_it(is_async):
    @task
    def fetch(what):
        raise ValueError("no")

    @entrypoint()
    def shop(what):
        return fetch(what).result()

    _, (note,) = noted(shop, is_async)
    assert note.startswith("In 'shop|fetch' (task ")
    assert "thread" not in note


@WAYS
def test_however_often_it_is_tried_it_is_said_once(is_async):
    again = RetryPolicy(max_attempts=3, initial_interval=0, jitter=False, retry_on=ValueError)
    error = ValueError("the same one each time")

    def fail(state):
        raise error

    app = graph_of(fail, "pay", retry_policy=again).compile()
    assert len(noted(app, is_async)[1]) == 1
    assert len(noted(app, is_async)[1]) == 1
    (note,) = noted(graph_of(fail, "refund").compile(), is_async)[1]
    assert note.startswith("In 'refund' ")


@WAYS
def test_notes_of_others_stay(is_async):
    error = ValueError("no")
    error.add_note("In 'orders.csv', line 7.")

    def fail(state):
        raise error

    _, notes = noted(graph_of(fail, "pay").compile(), is_async)
    assert notes[0] == "In 'orders.csv', line 7."
    assert notes[1].startswith("In 'pay' (task ")


@WAYS
def test_an_error_that_takes_no_notes_comes_as_it_is(is_async):
    def refuse(state):
        raise Refused(3)

    error, notes = noted(graph_of(refuse, "pay").compile(), is_async)
    assert (type(error), error.code, notes) == (Refused, 3, [])
