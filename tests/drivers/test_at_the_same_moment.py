"""Threads beside a node that call and ask at the same moment: none has what is another's, and nothing is lost."""

import gc
import operator
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.constants import CALLED
from signoff.engine.calls.marks import note_finished
from signoff.engine.run import Run, Terms
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.runtime import Runtime
from signoff.types import RetryPolicy, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}
MANY = range(6)
ROUNDS = 30


class Log(TypedDict):
    log: Annotated[list, operator.add]


@pytest.fixture(autouse=True)
def _threads_that_often_change():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def at_once(call):
    """A graph with a node that calls something in several threads, all of which begin together."""
    begin = threading.Barrier(len(MANY))

    def one(number):
        begin.wait()
        return call(number)

    def several(state):
        with ThreadPoolExecutor(len(MANY)) as threads:
            made = [threads.submit(copy_context().run, one, number) for number in MANY]
        return {"log": [each.result() for each in made]}

    return StateGraph(Log).add_node("several", several).add_edge(START, "several").compile(InMemorySaver())


def test_each_graph_has_its_own_result():
    inner = StateGraph(Log).add_node("double", lambda state: {"log": [state["log"][0] * 2]})
    inner = inner.add_edge(START, "double").compile()
    for _ in range(ROUNDS):
        app = at_once(lambda number: inner.invoke({"log": [number]})["log"])
        assert app.invoke({"log": []}, CONFIG)["log"] == [[number, number * 2] for number in MANY]


def test_the_same_call_is_made_as_often_as_it_is_called():
    paid = []
    pay = task(name="pay")(paid.append)
    for _ in range(ROUNDS):
        paid.clear()
        at_once(lambda number: pay(90).result()).invoke({"log": []}, CONFIG)
        assert paid == [90] * len(MANY)


def test_each_question_is_asked():
    for _ in range(ROUNDS):
        asked = at_once(lambda number: interrupt("Pay 90 euros?")).invoke({"log": []}, CONFIG)["__interrupt__"]
        assert len({question.id for question in asked}) == len(MANY)


def test_calls_are_noted_while_others_come_to_their_ends():
    """To make a list of what is in a dict makes garbage, and whoever collects that lets other threads go on."""
    graph = StateGraph(Log).add_node("node", lambda state: None).add_edge(START, "node").compile()
    run = Run(graph.program, Terms(), "1")
    run.called.update((f"call {number}", [(CALLED, "mark")]) for number in MANY)
    more, threshold = iter(range(100, 200)), gc.get_threshold()

    def as_another_thread_does(phase, info):
        if (number := next(more, None)) is not None:
            run.called[f"call {number}"] = [(CALLED, "mark")]

    gc.callbacks.append(as_another_thread_does)
    gc.set_threshold(1)
    try:
        note_finished(run)
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(as_another_thread_does)
    assert run.marks.keys() >= {f"call {number}" for number in MANY}


def test_a_node_is_tried_again_while_the_calls_of_another_come_to_their_ends():
    pay = task(name="pay")(lambda number: number)
    policy = RetryPolicy(max_attempts=40, initial_interval=0, jitter=False)

    def failing(state, runtime: Runtime):
        if pay("again").result() and runtime.execution_info.node_attempt < policy.max_attempts:
            raise ConnectionError("not yet")
        return {"log": ["done"]}

    def busy(state):
        return {"log": [pay(number).result() for number in range(500)]}

    graph = StateGraph(Log).add_node("failing", failing, retry_policy=policy).add_node("busy", busy)
    app = graph.add_edge(START, "failing").add_edge(START, "busy").compile(InMemorySaver())
    assert app.invoke({"log": []}, CONFIG)["log"] == [*range(500), "done"]
