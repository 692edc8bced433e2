"""A run that is over is freed at once: nothing of it waits for the garbage collector."""

import asyncio
import gc
import operator
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt


class Log(TypedDict):
    log: Annotated[list[Any], operator.add]


CONFIG = {"configurable": {"thread_id": "1"}}


def plain():
    return StateGraph(Log).add_node("a", lambda state: {"log": ["a"]}).add_edge(START, "a").compile()


def nested():
    return StateGraph(Log).add_node("inner", plain()).add_edge(START, "inner").compile()


def asking():
    graph = StateGraph(Log).add_node("ask", lambda state: {"log": [interrupt("sure?")]}).add_edge(START, "ask")
    return graph.compile(InMemorySaver())


def fan_out():
    graph = StateGraph(Log).add_node("ask", lambda item: {"log": [interrupt(item)]})
    graph.add_conditional_edges(START, lambda state: [Send("ask", item) for item in range(3)], ["ask"])
    return graph.compile(InMemorySaver())


def calling():
    @task
    def double(number):
        return 2 * number

    @entrypoint(InMemorySaver())
    def work(input):
        return double(1).result()

    return work


def invoke(app):
    app.invoke({"log": []}, CONFIG)


def read(app):
    list(app.stream({"log": []}, CONFIG, stream_mode=["updates", "custom"]))


def ask_and_answer(app):
    asked = app.invoke({"log": []}, CONFIG)["__interrupt__"]
    app.invoke(Command(resume={one.id: "yes" for one in asked}), CONFIG)


def ainvoke(app):
    runner.run(app.ainvoke({"log": []}, CONFIG))


runner = asyncio.Runner()


def garbage_of(work, app):
    """What only the collector frees of a run, each time; the first one warms up.

    Threads of the process that have nothing to do with it may leave something once.
    """
    work(app)
    gc.collect()
    gc.disable()
    try:
        return min(_garbage_of_one(work, app) for _ in range(3))
    finally:
        gc.enable()


def _garbage_of_one(work, app):
    work(app)
    return gc.collect()


@pytest.mark.parametrize(
    ("work", "program"),
    [
        (invoke, plain),
        (invoke, nested),
        (invoke, calling),
        (read, plain),
        (ask_and_answer, asking),
        (ask_and_answer, fan_out),
        (ainvoke, plain),
        (ainvoke, nested),
    ],
)
def test_nothing_of_a_run_waits_for_the_collector(work, program):
    assert garbage_of(work, program()) == 0
