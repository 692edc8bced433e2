"""Whoever hears of a run hears of the graphs that its nodes call, each where it is called, and by its own name."""

import asyncio
from typing import Any, TypedDict
from uuid import uuid4

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tools import tool

from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph


class State(TypedDict):
    number: int


class Ear(BaseCallbackHandler):
    """Hears what begins, each by the names of all that is around it, with its own tags and metadata."""

    def __init__(self) -> None:
        self.ways: dict[Any, str] = {}
        self.heard: dict[str, tuple[set[str], dict[str, Any]]] = {}

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, name=None, **facts):
        self._begin(name, run_id, parent_run_id, facts)

    def on_tool_start(self, serialized, input_str, *, run_id, parent_run_id=None, **facts):
        self._begin(serialized["name"], run_id, parent_run_id, facts)

    def _begin(self, name, run_id, around, facts):
        self.ways[run_id] = f"{self.ways[around]}>{name}" if around in self.ways else name
        self.heard[self.ways[run_id]] = set(facts["tags"] or ()), facts["metadata"] or {}


def graph_of(name, node):
    return StateGraph(State).add_node("node", node).add_edge(START, "node").compile(name=name)


INNER = graph_of("inner", lambda state: None)


def heard_by(ear, node, is_async, **more):
    config = {"callbacks": [ear], **more}
    app = graph_of("outer", node)
    asyncio.run(app.ainvoke({"number": 1}, config)) if is_async else app.invoke({"number": 1}, config)
    return [*ear.heard]


def calling(config_of):
    """Nodes that call the graph, with a config."""

    def call(state, config: RunnableConfig):
        INNER.invoke(state, config_of(config))

    async def acall(state, config: RunnableConfig):
        await INNER.ainvoke(state, config_of(config))

    return call, acall


WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
HANDED = pytest.mark.parametrize("config_of", [lambda config: None, lambda config: config], ids=["found", "handed_on"])


@WAYS
@HANDED
def test_it_has_its_own_name_whatever_the_run_around_it_is_called(config_of, is_async):
    heard = heard_by(Ear(), calling(config_of)[is_async], is_async, run_name="order 5")
    assert heard == ["order 5", "order 5>node", "order 5>node>inner", "order 5>node>inner>node"]


@WAYS
@HANDED
def test_it_is_part_of_the_tool_that_calls_it(config_of, is_async):
    call, acall = calling(config_of)

    @tool
    def look(number: int, config: RunnableConfig) -> str:
        """Look it up."""
        call({"number": number}, config)
        return "found"

    @tool("look")
    async def alook(number: int, config: RunnableConfig) -> str:
        """Look it up."""
        await acall({"number": number}, config)
        return "found"

    async def asking(state):
        await alook.ainvoke({"number": 1})

    heard = heard_by(Ear(), asking if is_async else lambda state: look.invoke({"number": 1}) and None, is_async)
    assert heard[2:] == ["outer>node>look", "outer>node>look>inner", "outer>node>look>inner>node"]


@WAYS
@HANDED
def test_it_is_part_of_the_runnable_that_calls_it(config_of, is_async):
    call = RunnableLambda(*calling(config_of), name="step")
    assert heard_by(Ear(), call, is_async)[2:] == [
        "outer>node>step",
        "outer>node>step>inner",
        "outer>node>step>inner>node",
    ]


@WAYS
@pytest.mark.parametrize("hands_on", [True, False])
def test_whoever_calls_it_may_name_others_who_hear_of_it(hands_on, is_async):
    ear, own = Ear(), Ear()
    heard = heard_by(
        ear, calling(lambda config: {**(config if hands_on else {}), "callbacks": [own]})[is_async], is_async
    )
    assert heard[2:] == ["outer>node>inner", "outer>node>inner>node"]
    assert [*own.heard] == ["inner", "inner>node"]


@WAYS
@pytest.mark.parametrize("is_bound", [True, False])
def test_what_the_call_says_of_itself_is_heard(is_bound, is_async):
    said: Any = {"tags": ["own"], "metadata": {"customer": "Ana"}, "run_name": "mine"}
    inner, given = (INNER.with_config(said), None) if is_bound else (INNER, said)

    async def acall(state):
        await inner.ainvoke(state, given)

    ear = Ear()
    heard_by(ear, acall if is_async else lambda state: inner.invoke(state, given) and None, is_async, tags=["all"])
    assert ear.heard["outer>node"][0] & {"all", "own"} == {"all"}
    for way in ("outer>node>mine", "outer>node>mine>node"):
        tags, metadata = ear.heard[way]
        assert (tags >= {"all", "own"}, metadata["customer"]) == (True, "Ana")


def test_whoever_hears_of_a_tool_hears_of_the_graph_in_it_though_nobody_hears_of_the_run_around():
    @tool
    def look(number: int) -> str:
        """Look it up."""
        INNER.invoke({"number": number})
        return "found"

    ear = Ear()
    graph_of("outer", lambda state: look.invoke({"number": 1}, {"callbacks": [ear]}) and None).invoke({"number": 1})
    assert [*ear.heard] == ["look", "look>inner", "look>inner>node"]


@task
def double(number):
    return 2 * number


async def adouble(number):
    return await double(number)


DOUBLING = RunnableLambda(lambda number: double(number).result(), afunc=adouble, name="step")


def called(number):
    return DOUBLING.invoke(number)


async def acalled(number):
    return await DOUBLING.ainvoke(number)


@pytest.mark.parametrize(("function", "is_async"), [(called, False), (called, True), (acalled, True)])
def test_a_call_is_part_of_the_runnable_that_makes_it(function, is_async):
    ear, flow = Ear(), entrypoint()(function)
    config: Any = {"callbacks": [ear], "run_name": "flow"}
    assert (asyncio.run(flow.ainvoke(1, config)) if is_async else flow.invoke(1, config)) == 2
    name = function.__name__
    assert [*ear.heard] == ["flow", f"flow>{name}", f"flow>{name}>step", f"flow>{name}>step>double"]


def test_the_id_of_a_run_is_not_that_of_a_graph_in_it():
    ear, id = Ear(), uuid4()
    heard = heard_by(ear, calling(lambda config: None)[0], False, run_id=id)
    assert heard == ["outer", "outer>node", "outer>node>inner", "outer>node>inner>node"]
    assert ear.ways[id] == "outer"
