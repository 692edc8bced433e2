"""What is refused, or made known, when a graph, an entrypoint or a task is written."""

import asyncio
from typing import get_origin

import pytest
from langchain_core.runnables import RunnableLambda, RunnableParallel
from typing_extensions import TypedDict

from signoff.agents.middleware import AgentMiddleware
from signoff.cache.base import BaseCache
from signoff.channels import EphemeralValue, LastValue, Topic
from signoff.checkpoint.base import BaseCheckpointSaver
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import GraphRecursionError, InvalidGraph, InvalidInput, Unsupported
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.graph.state import CompiledStateGraph
from signoff.inbox import Inbox
from signoff.managed.base import ManagedValue
from signoff.prebuilt import ToolNode
from signoff.pregel import NodeBuilder, Pregel
from signoff.runtime import Runtime
from signoff.types import CachePolicy, Command, Interrupt, RetryPolicy, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    x: int


def add_one(value):
    return value + 1


async def add_one_soon(value):
    return value + 1


def one_node(action=lambda state: None):
    return StateGraph(State).add_node("only", action).add_edge(START, "only")


def low_level(action, timeout):
    node = NodeBuilder().subscribe_only("input").do(action).set_timeout(timeout).write_to("output")
    return Pregel(
        nodes={"one": node},
        channels={"input": EphemeralValue(int), "output": LastValue(int)},
        input_channels="input",
        output_channels="output",
    )


def test_a_node_that_graphs_share_takes_nothing_from_one_to_the_other():
    node, retry = NodeBuilder().subscribe_only("input").do(add_one).write_to("output").build("one"), RetryPolicy()
    channels = {"input": EphemeralValue(int), "output": LastValue(int)}
    for policy, expected in ((retry, (retry,)), ((), ())):
        graph = Pregel(
            nodes={"one": node},
            channels=channels,
            input_channels="input",
            output_channels="output",
            retry_policy=policy,
        )
        assert graph.program.nodes["one"].retry == expected


def test_a_generator_is_no_entrypoint():
    def several(number):
        yield number

    async def several_soon(number):
        yield number

    for function in (several, several_soon):
        with pytest.raises(Unsupported, match="returns one value") as refused:
            entrypoint()(function)
        assert isinstance(refused.value, NotImplementedError)


def test_a_checkpointer_that_is_none_is_refused():
    with pytest.raises(TypeError, match="The checkpointer is 'memory'. Give a saver"):
        one_node().compile(checkpointer="memory")
    with pytest.raises(InvalidGraph, match="The checkpointer is"):
        entrypoint(checkpointer=object())(add_one)


@pytest.mark.parametrize("name", [5, b"name"])
def test_a_task_is_named_with_a_text(name):
    with pytest.raises(InvalidGraph, match="The name of a task must be a text"):
        task(name=name)


def test_an_entrypoint_has_parentheses():
    with pytest.raises(InvalidGraph, match=r"Write @entrypoint\(\)"):
        entrypoint(add_one)


@pytest.mark.parametrize("schema", [5, "Context", [], add_one])
def test_a_context_schema_is_a_type(schema):
    with pytest.raises(InvalidGraph, match="The context_schema is"):
        entrypoint(context_schema=schema)(add_one)
    with pytest.raises(InvalidGraph, match="The context_schema is"):
        StateGraph(State, context_schema=schema).add_node("only", add_one).add_edge(START, "only").compile()


@pytest.mark.parametrize("schema", [State, dict, dict[str, int], State | None])
def test_what_typing_makes_of_types_is_a_context_schema_too(schema):
    assert entrypoint(context_schema=schema)(add_one).invoke(1, context={"x": 1}) == 2


@pytest.mark.parametrize(
    "action",
    [
        add_one,
        RunnableLambda(add_one),
        RunnableLambda(add_one).with_config(tags=["wrapped"]),
        RunnableLambda(add_one_soon) | RunnableLambda(add_one),
        RunnableParallel(one=RunnableLambda(add_one), two=RunnableLambda(add_one_soon)),
        {"one": add_one},
    ],
)
def test_a_timeout_on_something_sync_is_refused_however_it_is_wrapped(action):
    with pytest.raises(ValueError, match="no timeout"):
        low_level(action, 1.0)


@pytest.mark.parametrize("action", [add_one_soon, RunnableLambda(add_one_soon), RunnableLambda(add_one_soon).bind()])
def test_a_timeout_on_something_async_is_fine(action):
    assert low_level(action, 1.0).program.nodes["one"].timeout.run_timeout == 1.0


def test_a_timeout_that_makes_no_sense_is_refused_before_the_function_is_there():
    for declare in (task, entrypoint, NodeBuilder().set_timeout):
        with pytest.raises(ValueError, match="0"):
            declare(timeout=0)


def test_errors_name_a_graph_if_it_has_a_name():
    looping = StateGraph(State).add_node("a", lambda state: None).add_edge(START, "a").add_edge("a", "a")
    with pytest.raises(GraphRecursionError, match=r"^The graph used up its 2 steps"):
        looping.compile().invoke({"x": 1}, {"recursion_limit": 2})
    with pytest.raises(InvalidInput, match=r"^The graph 'orders' has a saver"):
        one_node().compile(InMemorySaver(), name="orders").invoke({"x": 1})


def test_the_questions_of_an_entrypoint_are_found_by_the_name_of_its_function():
    saver = InMemorySaver()

    @entrypoint(checkpointer=saver)
    def refund(amount):
        return interrupt(f"refund {amount}?")

    refund.invoke(5, CONFIG)
    assert [question.value for question in Inbox(saver).open(graph="refund")] == ["refund 5?"]


def test_an_async_node_is_called_alone_by_awaiting_it():
    async def double(state):
        return {"x": state["x"] * 2}

    def with_everything(state, *, config, runtime, writer, store, previous=None):
        writer("nobody listens")
        return {"x": (config.get("tags"), store, runtime.context, previous)}

    app = StateGraph(State).add_node(double).add_node(with_everything).add_edge(START, "double").compile()
    assert asyncio.run(app.nodes["double"].ainvoke({"x": 2})) == {"x": 4}
    assert asyncio.run(app.nodes["with_everything"].ainvoke({})) == {"x": (None, None, None, None)}
    with pytest.raises(InvalidInput, match="Call it with ainvoke"):
        app.nodes["double"].invoke({"x": 2})


def test_what_a_node_is_bound_to_is_the_runnable_that_it_was_given():
    nested = one_node().compile()
    tools = ToolNode([])
    app = one_node().add_node("nested", nested).add_node("tools", tools).compile()
    assert app.nodes["nested"].bound is app.builder.nodes["nested"].runnable is nested
    assert app.nodes["tools"].bound is app.builder.nodes["tools"].runnable is tools
    assert app.nodes["tools"].bound.tools_by_name == {}


def test_what_a_node_is_bound_to_can_be_called():
    def double(state):
        return {"x": state["x"] * 2}

    async def halve(state):
        return {"x": state["x"] / 2}

    app = StateGraph(State).add_node(double).add_node(halve).add_edge(START, "double").compile()
    for bound in (app.nodes["double"].bound, app.builder.nodes["double"].runnable):
        assert bound.invoke({"x": 2}) == asyncio.run(bound.ainvoke({"x": 2})) == {"x": 4}
        assert (bound.name, bound.func, bound.afunc) == ("double", double, None)
    for bound in (app.nodes["halve"].bound, app.builder.nodes["halve"].runnable):
        assert asyncio.run(bound.ainvoke({"x": 2})) == {"x": 1}
        assert (bound.func, bound.afunc) == (None, halve)
        with pytest.raises(InvalidInput, match="'halve' is async. Call it with ainvoke"):
            bound.invoke({"x": 2})


@pytest.mark.parametrize(
    ("cls", "count"),
    [
        (StateGraph, 4),
        (CompiledStateGraph, 4),
        (Pregel, 4),
        (Runtime, 1),
        (Command, 1),
        (Interrupt, 1),
        (CachePolicy, 1),
        (entrypoint, 1),
        (LastValue, 1),
        (Topic, 1),
        (ManagedValue, 1),
        (AgentMiddleware, 3),
        (BaseCheckpointSaver, 1),
        (BaseCache, 1),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_type_that_has_parameters_in_langgraph_can_be_annotated_with_them(cls, count):
    assert get_origin(cls[(State,) * count]) is cls


def test_a_graph_whose_type_is_told_in_full_is_that_graph():
    def build() -> CompiledStateGraph[State, None, State, State]:
        return one_node().compile()

    assert build().invoke({"x": 1}) == {"x": 1}
    assert isinstance(build(), CompiledStateGraph)


def test_a_graph_and_its_nodes_say_what_they_were_given():
    retry, cache = RetryPolicy(max_attempts=2), CachePolicy(ttl=5)

    def double(state):
        return {"x": state["x"] * 2}

    graph = StateGraph(State).add_node(double, metadata={"m": 1}, retry_policy=retry, cache_policy=cache)
    app = graph.add_edge(START, "double").compile()
    node, spec = app.nodes["double"], app.builder.nodes["double"]
    assert (node.metadata, node.tags, node.retry_policy, node.cache_policy) == ({"m": 1}, None, (retry,), cache)
    assert (node.triggers, node.timeout, node.trace_policy) == (["branch:to:double"], None, None)
    assert (spec.input_schema, spec.retry_policy, spec.cache_policy, spec.trace_policy) == (State, retry, cache, None)
    assert graph.add_node("plain", double).nodes["plain"].retry_policy is None
    assert graph.add_node("both", double, retry_policy=[retry, retry]).nodes["both"].retry_policy == (retry, retry)
    app.interrupt_before_nodes, app.interrupt_after_nodes = ["double"], "*"
    assert (app.interrupt_before, app.interrupt_after, app.get_name("Input", name="desk")) == (
        ["double"], "*", "desk_input",
    )  # fmt: skip
    assert app.stream_channels == app.stream_channels_list == app.stream_channels_asis == app.output_channels
    assert app.trigger_to_nodes == {START: [START], "branch:to:double": ["double"]}


def test_a_node_that_is_called_alone_streams_one_chunk():
    node = one_node().compile().nodes["only"]

    async def chunks():
        return [chunk async for chunk in node.astream({"x": 2})]

    assert list(node.stream({"x": 2})) == asyncio.run(chunks()) == [node.invoke({"x": 2})]


@pytest.mark.parametrize(
    ("name", "told"),
    [("retry_policy", r"graph.nodes\[...\].retry_policy"), ("attach_node", r"add_node\(\) of its builder")],
)
def test_what_a_compiled_graph_does_not_have_is_told(name, told):
    with pytest.raises(AttributeError, match=told):
        getattr(one_node().compile(), name)
