"""A sync node may have an event loop of its own, and call graphs there, in a sync run and in an async one."""

import asyncio
import operator
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list[Any], operator.add]


async def ask(state):
    await asyncio.sleep(0)
    return {"log": [interrupt(state["log"][-1])]}


async def work(state):
    await asyncio.sleep(0)
    return {"log": ["worked"]}


def graph_of(node, saver=None):
    return StateGraph(State).add_node("node", node).add_edge(START, "node").compile(checkpointer=saver)


def run(app, input, is_async):
    return asyncio.run(app.ainvoke(input, CONFIG)) if is_async else app.invoke(input, CONFIG)


WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@WAYS
def test_what_a_graph_comes_to_there_is_the_nodes(is_async):
    inner = graph_of(work)
    app = graph_of(lambda state: {"log": asyncio.run(inner.ainvoke({"log": ["in"]}))["log"]})
    assert run(app, {"log": []}, is_async) == {"log": ["in", "worked"]}


@WAYS
def test_what_it_asks_there_is_asked_and_answered(is_async):
    inner = graph_of(ask)
    app = graph_of(lambda state: {"log": asyncio.run(inner.ainvoke({"log": ["sure?"]}))["log"]}, InMemorySaver())
    assert [question.value for question in run(app, {"log": []}, is_async)["__interrupt__"]] == ["sure?"]
    assert run(app, Command(resume="yes"), is_async) == {"log": ["sure?", "yes"]}


@WAYS
def test_several_there_are_each_answered(is_async):
    inner = graph_of(ask)

    async def both():
        return await asyncio.gather(*(inner.ainvoke({"log": [word]}) for word in ("rent", "tax")))

    def node(state):
        return {"log": [state["log"] for state in asyncio.run(both())]}

    app = graph_of(node, InMemorySaver())
    said = run(app, {"log": []}, is_async)
    while questions := said.get("__interrupt__"):
        said = run(app, Command(resume={questions[0].id: f"{questions[0].value} paid"}), is_async)
    assert said == {"log": [["rent", "rent paid"], ["tax", "tax paid"]]}


@WAYS
def test_calls_of_tasks_are_awaited_there(is_async):
    paid = []

    @task
    def pay(word):
        said = interrupt(word)
        paid.append(word)
        return said

    async def both():
        return await asyncio.gather(pay("rent"), pay("tax"))

    app = graph_of(lambda state: {"log": asyncio.run(both())}, InMemorySaver())
    said = run(app, {"log": []}, is_async)
    while questions := said.get("__interrupt__"):
        said = run(app, Command(resume={questions[0].id: f"{questions[0].value} paid"}), is_async)
    assert said == {"log": ["rent paid", "tax paid"]}
    assert sorted(paid) == ["rent", "tax"]


@WAYS
def test_a_failure_there_is_the_nodes(is_async):
    async def fail(state):
        raise LookupError("not today")

    inner = graph_of(fail)
    with pytest.raises(LookupError, match="not today"):
        run(graph_of(lambda state: asyncio.run(inner.ainvoke({"log": []}))), {"log": []}, is_async)
