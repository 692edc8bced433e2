"""A program that was moved from LangGraph in part: what is still of LangGraph is refused, with what to import."""

import asyncio
import operator
from typing import Annotated, TypedDict

import langgraph.channels as their_channels
import langgraph.config as their_config
import langgraph.func as their_func
import langgraph.runtime as their_runtime
import langgraph.types as their_types
import pytest
from langchain_core.runnables import RunnableLambda
from langgraph.errors import NodeInterrupt

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidGraph, InvalidInput, InvalidUpdateError, OutsideOfRun
from signoff.func import entrypoint
from signoff.graph import START, StateGraph
from signoff.pregel import NodeBuilder, Pregel
from signoff.store.memory import InMemoryStore

ON_THREAD = {"configurable": {"thread_id": "1"}}


class Log(TypedDict):
    log: Annotated[list, operator.add]


def work(state):
    return {"log": ["worked"]}


def saved(**node):
    ((name, function),) = node.items()
    return StateGraph(Log).add_node(name, function).add_edge(START, name).compile(checkpointer=InMemorySaver())


class TheirOwn(their_channels.LastValue):
    """A channel that somebody has derived from one of LangGraph's."""


@pytest.mark.parametrize("note", [their_channels.Topic, their_channels.EphemeralValue(list), TheirOwn])
def test_a_channel_of_langgraph_is_refused_when_the_graph_is_described(note):
    name = note.__name__ if isinstance(note, type) else type(note).__name__
    with pytest.raises(InvalidGraph, match=f"'log' has a channel of LangGraph, {name}.*signoff.channels"):
        StateGraph(TypedDict("Noted", {"log": Annotated[list, note]}))


def test_a_channel_of_langgraph_is_refused_in_the_low_level_form():
    nodes = {"a": NodeBuilder().subscribe_only("log").do(work)}
    with pytest.raises(InvalidGraph, match="'log' has a channel of LangGraph, LastValue"):
        Pregel(
            nodes=nodes, channels={"log": their_channels.LastValue(list)}, input_channels="log", output_channels="log"
        )


@pytest.mark.parametrize("key", ["log", "plain"])
def test_an_overwrite_of_langgraph_is_no_value(key):
    class Both(Log):
        plain: list

    builder = StateGraph(Both).add_node("a", lambda state: {key: their_types.Overwrite([])}).add_edge(START, "a")
    with pytest.raises(InvalidUpdateError, match="an Overwrite of LangGraph. Import Overwrite from signoff.types"):
        builder.compile().invoke({"log": []})


@pytest.mark.parametrize(
    "policy",
    [
        {"retry_policy": their_types.RetryPolicy()},
        {"retry_policy": [their_types.RetryPolicy()]},
        {"cache_policy": their_types.CachePolicy()},
        {"trace_policy": their_types.TracePolicy()},
        {"timeout": their_types.TimeoutPolicy(run_timeout=1)},
    ],
    ids=["retry", "retries", "cache", "trace", "timeout"],
)
def test_a_policy_of_langgraph_is_refused_when_the_graph_is_described(policy):
    async def wait(state):
        return {}

    with pytest.raises((InvalidGraph, InvalidInput), match=r"a (\w+Policy) of LangGraph. Import \1 from signoff.types"):
        StateGraph(Log).add_node("wait", wait, **policy)


@their_func.task
def their_task():
    return "done"


CALLS_OF_THEIRS = {
    "interrupt": (lambda state: their_types.interrupt("?"), r"interrupt\(\) of LangGraph.*signoff.types"),
    "task": (lambda state: their_task(), "a @task of LangGraph.* Import task from signoff.func"),
    "chain": (RunnableLambda(lambda state: their_types.interrupt("?")), "Import interrupt from signoff.types"),
}


@pytest.mark.parametrize("case", CALLS_OF_THEIRS)
def test_a_call_of_langgraph_that_finds_no_run_says_what_to_import(case):
    node, words = CALLS_OF_THEIRS[case]
    with pytest.raises(OutsideOfRun, match=f"Node 'a' called .*{words}") as caught:
        saved(a=node).invoke({"log": []}, ON_THREAD)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_what_looks_for_the_run_of_langgraph_finds_ours(is_async):
    """Packages of others call it, in tools say."""

    def look(state):
        assert their_config.get_config()["metadata"]["langgraph_node"] == "look"
        their_config.get_stream_writer()(their_runtime.get_runtime().context)
        return {"log": [their_config.get_store()]}

    store = InMemoryStore()
    app = StateGraph(Log, context_schema=dict).add_node(look).add_edge(START, "look").compile(store=store)

    async def followed():
        return [chunk async for chunk in app.astream({"log": []}, **asked)]

    asked = {"stream_mode": ["custom", "values"], "context": {"user": "Ana"}}
    *_, custom, (_, values) = asyncio.run(followed()) if is_async else app.stream({"log": []}, **asked)
    assert custom == ("custom", {"user": "Ana"})
    assert values["log"] == [store]


def test_a_node_interrupt_of_langgraph_says_what_to_call():
    with pytest.warns(DeprecationWarning, match="NodeInterrupt"):
        signal = NodeInterrupt("sure?")

    def stop(state):
        raise signal

    with pytest.raises(OutsideOfRun, match=r"Node 'stop' raised a NodeInterrupt of LangGraph. Call interrupt\(...\)"):
        saved(stop=stop).invoke({"log": []}, ON_THREAD)


def test_what_else_is_of_langgraph_is_refused():
    app = saved(work=work)
    with pytest.raises(InvalidInput, match="a StateUpdate of LangGraph. Import StateUpdate from signoff.types"):
        app.bulk_update_state(ON_THREAD, [[their_types.StateUpdate({"log": []}, "work")]])
    final = entrypoint()(lambda input: their_func.entrypoint.final(value=1, save=2))
    with pytest.raises(InvalidUpdateError, match="entrypoint from signoff.func"):
        final.invoke(1)
