"""signoff is light: what is imported, and run, loads nothing that it does not need."""

import pytest

import signoff
from loading import modules_after

FRAMEWORKS = ("langchain", "langchain_core", "langsmith", "langgraph", "pydantic", "pydantic_core")
HEAVY = (
    *FRAMEWORKS,
    "aiosqlite",
    "asyncio",
    "concurrent.futures",
    "httpx",
    "msgpack",
    "numpy",
    "orjson",
    "sqlite3",
    "xxhash",
)

MOST_MODULES = 150
"""In sys.modules, those that Python itself starts with included. LangGraph needs 973."""

GRAPH = """
from typing import TypedDict
from signoff.graph import END, START, StateGraph

class State(TypedDict):
    x: int

def add_one(state):
    return {"x": state["x"] + 1}

graph = StateGraph(State)
graph.add_node("first", add_one)
graph.add_node("second", add_one)
graph.add_edge(START, "first")
graph.add_conditional_edges("first", lambda state: "second")
graph.add_edge("second", END)
"""


def test_importing_the_graph_loads_nothing_heavy():
    assert modules_after("import signoff.graph").isdisjoint(HEAVY)


def test_importing_the_graph_loads_few_modules():
    assert len(modules_after("import signoff.graph")) <= MOST_MODULES


def test_importing_signoff_itself_loads_nothing_of_it():
    loaded = modules_after("import signoff")
    assert {name for name in loaded if name.startswith("signoff")} == {"signoff"}


@pytest.mark.parametrize(
    "module",
    [
        "signoff.types",
        "signoff.errors",
        "signoff.runtime",
        "signoff.config",
        "signoff.func",
        "signoff.pregel",
        "signoff.graph.message",
        "signoff.channels",
        "signoff.managed",
        "signoff.checkpoint.base",
        "signoff.checkpoint.memory",
        "signoff.checkpoint.sqlite",
        "signoff.checkpoint.sqlite.aio",
        "signoff.checkpoint.serde.jsonplus",
        "signoff.store.memory",
        "signoff.store.sqlite",
        "signoff.cache.memory",
    ],
)
def test_importing_a_public_module_loads_no_framework(module):
    assert modules_after(f"import {module}").isdisjoint(FRAMEWORKS)


@pytest.mark.parametrize("module", ["signoff.types", "signoff.func", "signoff.checkpoint.memory"])
def test_only_what_is_named_sqlite_loads_a_database_driver(module):
    assert modules_after(f"import {module}").isdisjoint({"sqlite3", "aiosqlite"})


@pytest.mark.parametrize(
    "run",
    [
        'assert graph.compile().invoke({"x": 0}) == {"x": 2}',
        'assert len(list(graph.compile().stream({"x": 0}, stream_mode="updates"))) == 2',
    ],
)
def test_running_a_graph_loads_nothing_heavy(run):
    assert modules_after(GRAPH + run).isdisjoint(HEAVY)


def test_running_a_graph_with_memory_loads_no_framework():
    run = """
from signoff.checkpoint.memory import InMemorySaver
app = graph.compile(checkpointer=InMemorySaver())
config = {"configurable": {"thread_id": "1"}}
assert app.invoke({"x": 0}, config) == {"x": 2}
assert len(list(app.get_state_history(config))) == 4
"""
    assert modules_after(GRAPH + run).isdisjoint(FRAMEWORKS)


def test_running_a_graph_on_an_event_loop_loads_no_framework():
    run = 'import asyncio\nassert asyncio.run(graph.compile().ainvoke({"x": 0})) == {"x": 2}'
    assert modules_after(GRAPH + run).isdisjoint(FRAMEWORKS)


def test_asking_and_answering_loads_no_framework():
    program = """
from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint
from signoff.types import Command, interrupt

@entrypoint(checkpointer=InMemorySaver())
def work(x):
    return x + interrupt("how many?")

config = {"configurable": {"thread_id": "1"}}
work.invoke(1, config)
assert work.invoke(Command(resume=2), config) == 3
"""
    assert modules_after(program).isdisjoint(FRAMEWORKS)


@pytest.mark.parametrize("name", signoff.__all__)
def test_every_name_of_signoff_can_be_imported(name):
    assert getattr(signoff, name) is not None
    assert name in dir(signoff)
