"""LangSmith follows a run: what a node calls belongs to the node, and the run to whoever calls it."""

import asyncio
from typing import TypedDict

import pytest
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langsmith import Client, traceable, tracing_context
from langsmith.run_helpers import get_current_run_tree

from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import TimeoutPolicy


class State(TypedDict):
    id: str


class Traces(Client):
    """Keeps what it is told, and sends nothing."""

    def __init__(self):
        super().__init__(api_url="http://localhost", api_key="none", auto_batch_tracing=False)
        self.seen = {}

    def create_run(self, name, *args, id, parent_run_id=None, **facts):
        self.seen[str(id)] = name, str(parent_run_id)

    def update_run(self, *args, **facts):
        pass

    def way_to(self, id):
        """The names of a run and of those around it, the innermost first."""
        names = []
        while id in self.seen:
            name, id = self.seen[id]
            names.append(name)
        return names


@pytest.fixture
def traces():
    client = Traces()
    with tracing_context(enabled=True, client=client):
        yield client


@traceable
def look():
    run = get_current_run_tree()
    return str(run.id) if run is not None else ""


def work(state):
    return {"id": look()}


async def awork(state):
    return {"id": look()}


def app(node):
    return StateGraph(State).add_node("work", node).add_edge(START, "work").compile(name="app")


def run(graph):
    return graph.invoke({"id": ""})["id"]


def arun(graph):
    return asyncio.run(graph.ainvoke({"id": ""}))["id"]


WAYS = pytest.mark.parametrize(("call", "node"), [(run, work), (arun, work), (arun, awork)])


@WAYS
def test_what_a_node_calls_is_traced_as_part_of_the_node(call, node, traces):
    assert traces.way_to(call(app(node))) == ["look", "work", "app"]
    assert get_current_run_tree() is None, "the run is over"


@WAYS
def test_a_run_is_traced_as_part_of_what_calls_it(call, node, traces):
    @traceable
    def outside():
        return call(app(node))

    assert traces.way_to(outside()) == ["look", "work", "app", "outside"]


def test_a_call_of_a_task_is_traced_as_part_of_its_program(traces):
    @task
    def search():
        return look()

    @entrypoint()
    def program(question):
        return search().result()

    assert traces.way_to(program.invoke("?"))[:3] == ["look", "search", "program"]


def test_a_runnable_in_a_node_is_traced_as_part_of_the_node(traces):
    chain = RunnableLambda(lambda state: {"id": look()})
    assert traces.way_to(run(app(lambda state: chain.invoke(state)))) == ["look", "RunnableLambda", "work", "app"]


def test_a_graph_that_a_traced_function_in_a_node_calls_is_part_of_that_function(traces):
    inner = app(work)

    @traceable
    def consult():
        return run(inner)

    way = traces.way_to(run(app(lambda state: {"id": consult()})))
    assert way == ["look", "work", "app", "consult", "work", "app"]


@pytest.mark.parametrize("is_traced", [True, False])
def test_a_node_with_a_timeout_is_traced_or_not_as_any_other(is_traced, traces):
    graph = StateGraph(State).add_node("work", awork, timeout=TimeoutPolicy(idle_timeout=60))
    graph = graph.add_edge(START, "work").compile(name="app")
    with tracing_context(enabled=is_traced, client=traces):
        id = asyncio.run(graph.ainvoke({"id": ""}))["id"]
    assert traces.way_to(id) == (["look", "work", "app"] if is_traced else [])


def test_what_a_program_does_not_want_to_be_traced_is_not(traces):
    with tracing_context(enabled=False):
        assert StateGraph(State).add_node("a", lambda state: state).add_edge(START, "a").compile().invoke({"id": "1"})
    assert traces.seen == {}


@WAYS
def test_another_tracer_does_not_turn_langsmith_on(call, node):
    graph = app(node).with_config(callbacks=[RunCollectorCallbackHandler()])
    assert call(graph) == ""


@WAYS
def test_the_run_that_a_node_finds_itself_in_is_its_own(call, node, traces):
    async def aown(state):
        return own(state)

    def own(state):
        return {"id": str(get_current_run_tree().id)}

    assert traces.way_to(call(app(aown if node is awork else own))) == ["work", "app"]
