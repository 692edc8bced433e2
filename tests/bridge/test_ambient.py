"""What runnables find that a node calls without a config: that of the node, whether anybody listens or not."""

import asyncio
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler, adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langchain_core.tools import tool
from langchain_core.tracers.context import collect_runs

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidInput
from signoff.func import entrypoint, task
from signoff.graph import START, MessagesState, StateGraph
from signoff.types import Send, TimeoutPolicy

HELLO: dict[str, Any] = {"messages": []}
ANA: RunnableConfig = {"configurable": {"thread_id": "1", "customer": "Ana"}}


@tool
def customer(config: RunnableConfig) -> str:
    """Who is asking."""
    return str(config["configurable"].get("customer"))


def say(state):
    return {"messages": [("ai", customer.invoke({}))]}


async def asay(state):
    return {"messages": [("ai", await customer.ainvoke({}))]}


def said(state):
    return [message.content for message in state["messages"]]


def app_with(node, **settings):
    return StateGraph(MessagesState).add_node("node", node, **settings).add_edge(START, "node").compile(InMemorySaver())


RUNS = [
    lambda app, config: app.invoke(HELLO, config),
    lambda app, config: list(app.stream(HELLO, config, stream_mode="values"))[-1],
    lambda app, config: asyncio.run(app.ainvoke(HELLO, config)),
]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("heard", [[], [BaseCallbackHandler()]])
def test_a_tool_that_a_node_calls_knows_the_config_of_the_run(run, heard):
    assert said(run(app_with(say), {**ANA, "callbacks": heard})) == ["Ana"]


def test_a_tool_that_a_coroutine_calls_knows_it_too():
    assert said(asyncio.run(app_with(asay).ainvoke(HELLO, ANA))) == ["Ana"]


def test_so_does_a_tool_in_a_chain_a_call_or_a_conditional_edge():
    @task
    def ask():
        return customer.invoke({})

    @entrypoint()
    def flow(number):
        return [ask().result(), RunnableLambda(lambda _: customer.invoke({})).invoke(number)]

    assert flow.invoke(1, ANA) == ["Ana", "Ana"]
    graph = StateGraph(MessagesState).add_node("Ana", lambda state: {"messages": ["found"]})
    assert said(graph.add_conditional_edges(START, lambda _: customer.invoke({})).compile().invoke(HELLO, ANA)) == [
        "found"
    ]


def test_nodes_side_by_side_have_each_their_own():
    def node(state):
        return {"messages": [ensure_config()["metadata"]["langgraph_node"]]}

    graph = StateGraph(MessagesState).add_node("a", node).add_node("b", node)
    graph.add_conditional_edges(START, lambda state: [Send("a", HELLO), Send("b", HELLO)])
    assert said(graph.compile().invoke(HELLO)) == ["a", "b"]


def test_after_a_node_there_is_what_was_before():
    def around(number):
        before = var_child_runnable_config.get()
        app_with(say).invoke(HELLO, ANA)
        return var_child_runnable_config.get() is before

    assert RunnableLambda(around).invoke(1)
    assert not var_child_runnable_config.get()


def test_a_graph_that_stands_by_itself_takes_nothing_from_the_node_that_calls_it():
    other = app_with(say)

    def node(state):
        return other.invoke(HELLO, {"configurable": {"thread_id": "2"}})

    assert said(app_with(node).invoke(HELLO, ANA)) == ["None"]
    assert "langgraph_node" not in other.get_state({"configurable": {"thread_id": "2"}}).metadata


@pytest.mark.parametrize("heard", [[], [BaseCallbackHandler()]])
def test_but_it_has_the_limits_tags_and_metadata_of_the_run_around(heard):
    seen: list[RunnableConfig] = []
    other = app_with(lambda state, config: seen.append(config))

    def node(state):
        other.invoke(HELLO, {"configurable": {"thread_id": "2"}, "tags": ["own"], "recursion_limit": 7})

    limits = {"max_concurrency": 2, "recursion_limit": 50}
    app_with(node).invoke(HELLO, {**ANA, **limits, "callbacks": heard, "tags": ["all"], "metadata": {"day": "Monday"}})
    (config,) = seen
    assert (config["max_concurrency"], config["recursion_limit"], config["tags"]) == (2, 7, ["all", "own"])
    assert (config["metadata"]["day"], config["metadata"]["thread_id"]) == ("Monday", "2")


class Ear(BaseCallbackHandler):
    def __init__(self):
        self.heard = []

    def on_chain_start(self, serialized, inputs, *, name=None, **facts):
        self.heard.append(name)


@pytest.mark.parametrize("handlers", [list, tuple])
@pytest.mark.parametrize("kind", ["node", "runnable"])
def test_callbacks_of_its_own_hear_of_it_beside_those_around(kind, handlers):
    ear, own = Ear(), Ear()
    other = app_with(lambda state: None)

    def call(state):
        config = {"configurable": {"thread_id": "2"}, "callbacks": handlers([own]), "run_name": "other"}
        other.invoke(HELLO, config)

    around = app_with(call) if kind == "node" else RunnableLambda(call, name="around")
    around.invoke(HELLO, {**ANA, "callbacks": [ear]})
    assert own.heard == ["other", "node"]
    assert ear.heard[-2:] == ["other", "node"]


def test_callbacks_may_be_in_a_tuple():
    ear, own = Ear(), Ear()
    inner = app_with(lambda state: None)
    app = app_with(lambda state: inner.invoke(HELLO, {"callbacks": (own,)}))
    app.invoke(HELLO, {**ANA, "callbacks": (ear,)})
    assert (ear.heard, own.heard) == (["LangGraph", "node"] * 2, ["LangGraph", "node"])


@pytest.mark.parametrize("wrong", [{"callbacks": Ear()}, {"tags": "own"}, {"metadata": 3}])
def test_what_is_said_in_the_wrong_form_is_refused_inside_of_a_node_too(wrong):
    inner = app_with(lambda state: None)
    app = app_with(lambda state: inner.invoke(HELLO, wrong))
    for around in (ANA, {**ANA, "callbacks": [Ear()]}):
        with pytest.raises(InvalidInput, match=f"{next(iter(wrong))} must be"):
            app.invoke(HELLO, around)


def test_an_event_of_its_own_can_be_dispatched_though_nobody_listens():
    def node(state, config):
        dispatch_custom_event("half", {"done": 1})
        dispatch_custom_event("whole", {"done": 2}, config=config)

    async def anode(state, config):
        await adispatch_custom_event("half", {"done": 1})
        await adispatch_custom_event("whole", {"done": 2}, config=config)

    for run in RUNS:
        assert said(run(app_with(node), ANA)) == []
    asyncio.run(app_with(anode).ainvoke(HELLO, ANA))
    asyncio.run(app_with(anode, timeout=TimeoutPolicy(idle_timeout=60)).ainvoke(HELLO, ANA))


def test_whoever_listens_inside_of_a_node_hears_what_it_calls():
    def node(state):
        with collect_runs() as heard:
            RunnableLambda(lambda number: number).invoke(1)
        return {"messages": [str(len(heard.traced_runs))]}

    assert said(app_with(node).invoke(HELLO, ANA)) == ["1"]
