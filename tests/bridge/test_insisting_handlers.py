"""Handlers that insist on being heard (`raise_error`): the run ends by what they raise, and no work is lost by it."""

import asyncio
import operator
from typing import Annotated, TypedDict

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, RetryPolicy, interrupt

THREAD = {"configurable": {"thread_id": "1"}}
WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
DURABILITIES = pytest.mark.parametrize("durability", ["sync", "async", "exit"])


class State(TypedDict):
    log: Annotated[list, operator.add]


class Deaf(BaseCallbackHandler):
    """Fails as it hears of the end of some runs, once for each."""

    raise_error = True

    def __init__(self, *names):
        self.names, self.runs = {*names}, {}

    def on_chain_start(self, serialized, inputs, *, run_id, name=None, **facts):
        self.runs[run_id] = name

    def on_chain_end(self, outputs, *, run_id, **facts):
        if (name := self.runs[run_id]) in self.names:
            self.names.remove(name)
            raise ConnectionError(f"cannot hear of {name}")


def node(name, ran, is_async):
    def work(state):
        ran.append(name)
        return {"log": [name]}

    async def awork(state):
        return work(state)

    return awork if is_async else work


def call(app, is_async, input, config=None, **options):
    config = {**THREAD, **(config or {})}
    if not is_async:
        return app.invoke(input, config, **options)

    async def acall():
        return await app.ainvoke(input, config, **options)

    return asyncio.run(acall())


@WAYS
@DURABILITIES
@pytest.mark.parametrize("retry", [None, RetryPolicy(max_attempts=2, initial_interval=0, jitter=False)])
@pytest.mark.parametrize("beside", [(), ("c",), ("c", "d")], ids=["alone", "beside one", "beside two"])
def test_a_node_whose_end_a_handler_fails_to_hear_of_is_not_run_again(beside, retry, durability, is_async):
    ran = []
    graph = StateGraph(State).add_node("a", node("a", ran, is_async)).add_edge(START, "a")
    for name in ("b", *beside):
        graph.add_node(name, node(name, ran, is_async), retry_policy=retry).add_edge("a", name)
    graph.add_node("e", node("e", ran, is_async)).add_edge(["b", *beside], "e")
    app = graph.compile(InMemorySaver())
    with pytest.raises(ConnectionError, match="cannot hear of b"):
        call(app, is_async, {"log": []}, {"callbacks": [Deaf("b")]}, durability=durability)
    assert call(app, is_async, None)["log"] == ["a", "b", *beside, "e"]
    assert sorted(ran) == ["a", "b", *beside, "e"]


@WAYS
def test_nor_is_one_whose_end_nobody_of_several_hears_of(is_async):
    ran = []
    graph = StateGraph(State)
    for name in "abc":
        graph.add_node(name, node(name, ran, is_async)).add_edge(START, name)
    app = graph.compile(InMemorySaver())
    with pytest.raises(ConnectionError):
        call(app, is_async, {"log": []}, {"callbacks": [Deaf("a", "b", "c")]})
    assert call(app, is_async, None)["log"] == ["a", "b", "c"]
    assert sorted(ran) == ["a", "b", "c"]


@WAYS
def test_what_the_node_has_done_is_shown_before_the_run_ends(is_async):
    app = StateGraph(State).add_node("a", node("a", [], is_async)).add_edge(START, "a").compile(InMemorySaver())
    config, seen = {**THREAD, "callbacks": [Deaf("a")]}, []

    def read():
        seen.extend(app.stream({"log": []}, config, stream_mode="updates"))

    async def aread():
        async for update in app.astream({"log": []}, config, stream_mode="updates"):
            seen.append(update)  # noqa: PERF401 - what came before the error counts

    with pytest.raises(ConnectionError):
        asyncio.run(aread()) if is_async else read()
    assert seen == [{"a": {"log": ["a"]}}]


@WAYS
@DURABILITIES
def test_an_edge_behind_such_a_node_is_not_asked_again(durability, is_async):
    ran = []

    def route(state):
        ran.append("route")
        return "b"

    graph = StateGraph(State).add_node("a", node("a", ran, is_async)).add_node("b", node("b", ran, is_async))
    app = graph.add_edge(START, "a").add_conditional_edges("a", route, ["b"]).compile(InMemorySaver())
    with pytest.raises(ConnectionError):
        call(app, is_async, {"log": []}, {"callbacks": [Deaf("a")]}, durability=durability)
    assert call(app, is_async, None)["log"] == ["a", "b"]
    assert ran == ["a", "route", "b"]


@WAYS
@DURABILITIES
def test_a_nested_node_is_not_run_again_either(durability, is_async):
    ran = []
    inner = StateGraph(State).add_node("a", node("a", ran, is_async)).add_node("b", node("b", ran, is_async))
    inner = inner.add_edge(START, "a").add_edge("a", "b").compile()
    app = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").compile(InMemorySaver())
    with pytest.raises(ConnectionError):
        call(app, is_async, {"log": []}, {"callbacks": [Deaf("a")]}, durability=durability)
    assert call(app, is_async, None)["log"] == ["a", "b"]
    assert ran == ["a", "b"]


@WAYS
@DURABILITIES
def test_nor_is_a_call_of_a_task(durability, is_async):
    ran = []

    def pay(amount):
        ran.append(amount)
        return amount

    async def apay(amount):
        return pay(amount)

    paid = task(name="pay")(apay if is_async else pay)

    def flow(amounts):
        return [paid(amount).result() for amount in amounts]

    async def aflow(amounts):
        return [await paid(amount) for amount in amounts]

    app = entrypoint(checkpointer=InMemorySaver())(aflow if is_async else flow)
    with pytest.raises(ConnectionError):
        call(app, is_async, [1, 2], {"callbacks": [Deaf("pay")]}, durability=durability)
    assert call(app, is_async, None) == [1, 2]
    assert ran == [1, 2]


@WAYS
def test_a_node_that_took_an_answer_is_not_asked_again(is_async):
    ran = []

    def ask(state):
        ran.append(interrupt("Send it?"))
        return {"log": [*ran]}

    async def aask(state):
        return ask(state)

    graph = StateGraph(State).add_node("ask", aask if is_async else ask).add_edge(START, "ask")
    app = graph.compile(InMemorySaver())
    call(app, is_async, {"log": []})
    with pytest.raises(ConnectionError):
        call(app, is_async, Command(resume="yes"), {"callbacks": [Deaf("ask")]})
    assert app.get_state(THREAD).interrupts == ()
    assert call(app, is_async, None)["log"] == ["yes"]
    assert ran == ["yes"]
