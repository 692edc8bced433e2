"""An async run that is cancelled at any turn of its loop: the thread goes on at once, and nothing is done twice."""

import asyncio
import operator
from collections import Counter
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


def program(done):
    @task
    async def call(name):
        await asyncio.sleep(0)
        done[name] += 1
        return name

    async def chain(name):
        await call(name)

    async def together(state):
        await asyncio.gather(chain("one"), chain("other"))
        done["a"] += 1
        return {"log": ["a"]}

    async def beside(state):
        await call("beside")
        return {"log": ["b"]}

    async def ask(state):
        said = interrupt("?")
        await call(said)
        return {"log": [said]}

    graph = StateGraph(State).add_node("a", together).add_node("b", beside).add_node("q", ask)
    graph.add_edge(START, "a").add_edge(START, "b").add_edge(["a", "b"], "q")
    return graph.compile(checkpointer=InMemorySaver())


async def to_the_end(app, durability):
    while True:
        at = await app.aget_state(CONFIG)
        if at.created_at is not None and not at.next:
            return at.values
        given = {"log": []} if at.created_at is None else Command(resume="yes") if at.interrupts else None
        await app.ainvoke(given, CONFIG, durability=durability)


async def cancelled_after(turns, durability):
    """Cancel a run after some turns of the loop, and go on. Returns whether it was still under way by then."""
    done = Counter()
    app = program(done)
    run = asyncio.ensure_future(to_the_end(app, durability))
    for _ in range(turns):
        await asyncio.sleep(0)
    is_cancelled = run.cancel()
    await asyncio.wait([run])
    values = await to_the_end(app, durability)
    assert sorted(values["log"]) == ["a", "b", "yes"], f"turn {turns}"
    assert set(done.values()) == {1}, f"turn {turns}: {done}"
    return is_cancelled


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_run_that_is_cancelled_at_any_turn_goes_on_and_does_nothing_twice(durability):
    turns = 0
    while asyncio.run(cancelled_after(turns, durability)):
        turns += 1
    assert turns > 5
