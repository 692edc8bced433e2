"""Whoever reads a stream may take apart what it shows: the run goes on with its own."""

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class Plan(TypedDict, total=False):
    todo: list[str]
    notes: dict[str, int]
    tags: set[str]
    log: Annotated[list[str], operator.add]


def plan(state: Plan) -> Any:
    return {"todo": ["look", "buy"], "notes": {"price": 5}, "tags": {"new"}, "log": ["planned"]}


def work(state: Plan) -> Any:
    return {"log": [f"{state['todo']} {state['notes']} {state['tags']}"]}


def ask(state: Plan) -> Any:
    return {"log": [interrupt(f"{state['todo']} for {state['notes']['price']}?")]}


def take_apart(shown: Any) -> None:
    """Empty what is shown, and what is in there."""
    for value in shown.values() if isinstance(shown, dict) else ():
        take_apart(value)
    if isinstance(shown, list | dict | set):
        shown.clear()


async def read(app: Any, input: Any, mode: str, *, is_async: bool) -> None:
    if is_async:
        async for chunk in app.astream(input, CONFIG, stream_mode=mode):
            take_apart(chunk)
    else:
        for chunk in app.stream(input, CONFIG, stream_mode=mode):
            take_apart(chunk)


@pytest.mark.parametrize("durability", ["sync", "exit"])
@pytest.mark.parametrize("mode", ["values", "updates", "tasks", "checkpoints", "debug"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_reader_may_empty_what_a_stream_shows(mode, durability, is_async):
    graph = StateGraph(Plan).add_sequence([plan, work, ask]).add_edge(START, "plan")
    app = graph.compile(checkpointer=InMemorySaver()).with_config({"durability": durability})
    asyncio.run(read(app, {"log": ["begun"]}, mode, is_async=is_async))
    (question,) = app.get_state(CONFIG).interrupts
    assert question.value == "['look', 'buy'] for 5?"
    asyncio.run(read(app, Command(resume="yes"), mode, is_async=is_async))
    assert app.get_state(CONFIG).values == {
        "todo": ["look", "buy"],
        "notes": {"price": 5},
        "tags": {"new"},
        "log": ["begun", "planned", "['look', 'buy'] {'price': 5} {'new'}", "yes"],
    }


def test_so_may_a_reader_of_what_is_sent():
    graph = StateGraph(Plan).add_node("note", lambda words: {"log": words})
    graph.add_conditional_edges(START, lambda state: [Send("note", ["look", "buy"])], ["note"])
    app = graph.compile(checkpointer=InMemorySaver())
    asyncio.run(read(app, {"log": []}, "tasks", is_async=False))
    assert app.get_state(CONFIG).values == {"log": ["look", "buy"]}


def test_so_may_a_reader_of_what_calls_return():
    @task
    def find(count: int) -> list[int]:
        return [*range(count)]

    @entrypoint(InMemorySaver())
    def flow(count: int, *, previous: Any = None) -> Any:
        return [*find(count).result(), *(previous or [])]

    for _ in range(2):
        asyncio.run(read(flow, 2, "updates", is_async=False))
    assert flow.invoke(0, CONFIG) == [0, 1, 0, 1]
