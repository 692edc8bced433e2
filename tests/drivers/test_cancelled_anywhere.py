"""An async run that is cancelled at any turn of its loop: the thread goes on at once, and nothing is done twice."""

import asyncio
import operator
from collections import Counter
from typing import Annotated, TypedDict

import pytest

from signoff.cache.memory import InMemoryCache
from signoff.checkpoint.memory import InMemorySaver
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import CachePolicy, Command, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


class SlowCache(InMemoryCache):
    async def aset(self, pairs):
        for _ in range(3):
            await asyncio.sleep(0)
        await super().aset(pairs)


class Work:
    """What the programs do, and how often."""

    def __init__(self):
        self.done = Counter()
        self.call = task(self.one_call, name="call")
        self.calls = task(self.together, name="calls")
        self.cached = task(self.together, name="cached", cache_policy=CachePolicy())

    async def one_call(self, name):
        await asyncio.sleep(0)
        self.done[name] += 1
        return name

    async def chain(self, name):
        await self.call(name)

    async def together(self, state):
        await asyncio.gather(self.chain("one"), self.chain("other"))
        self.done["a"] += 1
        return {"log": ["a"]}

    async def beside(self, state):
        await self.call("beside")
        return {"log": ["b"]}

    async def ask(self, state):
        said = interrupt("?")
        await self.call(said)
        return {"log": [said]}


def alone(work):
    return work.together


def nested(work):
    return StateGraph(State).add_node("a", work.together).add_edge(START, "a").compile()


def in_a_call(work):
    async def node(state):
        return await work.calls(state)

    return node


def in_a_call_that_is_cached(work):
    async def node(state):
        return await work.cached(state)

    return node


def in_calls_side_by_side(work):
    """Whoever gathers calls is cancelled with them, before the run is."""

    async def node(state):
        found = await asyncio.gather(work.calls(state), work.call("third"))
        return found[0]

    return node


def in_a_graph_that_a_coroutine_calls(work):
    graph = nested(work)

    async def called():
        return await graph.ainvoke({"log": []})

    async def node(state):
        found = await asyncio.gather(called(), work.call("third"))
        return {"log": found[0]["log"]}

    return node


def in_calls_of_a_nested_graph(work):
    return StateGraph(State).add_node("in", in_calls_side_by_side(work)).add_edge(START, "in").compile()


PROGRAMS = [
    alone, nested, in_a_call, in_a_call_that_is_cached, in_calls_side_by_side, in_a_graph_that_a_coroutine_calls,
    in_calls_of_a_nested_graph,
]  # fmt: skip


def compiled(work, node, is_beside):
    """A graph that does the work, alone or beside another node, and asks."""
    graph = StateGraph(State).add_node("a", node).add_node("b", work.beside).add_node("q", work.ask)
    graph.add_edge(START, "a")
    if is_beside:
        graph.add_edge(START, "b").add_edge(["a", "b"], "q")
    else:
        graph.add_edge("a", "b").add_edge("b", "q")
    return graph.compile(checkpointer=InMemorySaver(), cache=SlowCache())


async def to_the_end(app, durability):
    while True:
        at = await app.aget_state(CONFIG)
        if at.created_at is not None and not at.next:
            return at.values
        given = {"log": []} if at.created_at is None else Command(resume="yes") if at.interrupts else None
        await app.ainvoke(given, CONFIG, durability=durability)


async def cancelled_after(turns, program, is_beside, durability):
    """Cancel a run after some turns of the loop, and go on. Returns whether it was still under way by then."""
    work = Work()
    app = compiled(work, program(work), is_beside)
    run = asyncio.ensure_future(to_the_end(app, durability))
    for _ in range(turns):
        await asyncio.sleep(0)
    is_cancelled = run.cancel()
    await asyncio.wait([run])
    values = await to_the_end(app, durability)
    assert sorted(values["log"]) == ["a", "b", "yes"], f"turn {turns}"
    assert set(work.done.values()) == {1}, f"turn {turns}: {work.done}"
    return is_cancelled


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("is_beside", [True, False], ids=["beside", "alone"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_run_that_is_cancelled_at_any_turn_goes_on_and_does_nothing_twice(program, is_beside, durability):
    turns = 0
    while asyncio.run(cancelled_after(turns, program, is_beside, durability)):
        turns += 1
    assert turns > 5


class SlowSaver(InMemorySaver):
    """Stores what nested graphs have come to, a while later."""

    saves_at_once = False
    stores_together = True

    async def astore(self, prepared, lease=None, *, ends=False):
        for _ in range(30 if any(commit.place[1] for commit, *_ in prepared) else 0):
            await asyncio.sleep(0)
        self.store(prepared, lease, ends=ends)


async def failed_after(turns, durability):
    """A nested graph fails, and is called off while it stores what it did before, since another node fails, too."""
    done, failures = Counter(), {"inner", "outer"}

    def pay(state):
        done["paid"] += 1

    def fail(name):
        if name in failures:
            failures.remove(name)
            raise ConnectionError(name)

    async def late(state):
        for _ in range(turns):
            await asyncio.sleep(0)
        fail("outer")

    inner = StateGraph(State).add_node(pay).add_node("fail", lambda state: fail("inner"))
    inner.add_edge(START, "pay").add_edge("pay", "fail")
    graph = StateGraph(State).add_node("inner", inner.compile()).add_node(late)
    app = graph.add_edge(START, "inner").add_edge(START, "late").compile(SlowSaver())
    given = {"log": []}
    while failures:
        with pytest.raises(ConnectionError):
            await app.ainvoke(given, CONFIG, durability=durability)
        given = None
    await app.ainvoke(None, CONFIG, durability=durability)
    return done["paid"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_run_that_has_failed_stores_what_it_did_though_it_is_called_off_meanwhile(durability):
    assert {turns: asyncio.run(failed_after(turns, durability)) for turns in range(60)} == dict.fromkeys(range(60), 1)
