"""Promises 4 and 7: a graph that a coroutine beside a node calls goes on with what is its own."""

import asyncio
from collections import Counter
from itertools import count
from typing import Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import GraphBubbleUp, ReplayMismatch
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

from .programs import beside, line
from .ways import CONFIG


class Payment(TypedDict, total=False):
    amount: int
    at: int
    answer: str


class Desk:
    """A graph that looks, then asks about an amount; and a rate that is known for 900 before it is known for 5."""

    def __init__(self):
        self.looked = Counter()
        self.has_asked = None

        @task
        async def rate(amount):
            if amount == 5:
                await self.has_asked.wait()
            return amount

        self.rate = rate
        graph = StateGraph(Payment).add_node("look", self._look).add_node("ask", self._ask)
        self.graph = graph.add_edge(START, "look").add_edge("look", "ask").compile()

    def _look(self, state):
        self.looked[state["amount"]] += 1

    def _ask(self, state):
        return {"answer": interrupt(f"pay {state['amount']}?")}

    async def approved(self, amount, **more):
        """What a person says to an amount, in the words of the graph."""
        try:
            asked = await self.graph.ainvoke({"amount": await self.rate(amount), **more})
            return asked["amount"], asked["answer"]
        finally:
            self.has_asked.set()

    def program(self, work, saver):
        async def wrapped(input):
            self.has_asked = asyncio.Event()
            return await work()

        return entrypoint(checkpointer=saver)(wrapped)


@pytest.fixture
def desk():
    return Desk()


def open_desk(open_async_app, desk, work):
    return open_async_app(lambda saver: desk.program(work, saver))


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_graphs_that_coroutines_call_in_another_order_go_on_with_what_is_their_own(open_async_app, desk, durability):
    app = open_desk(open_async_app, desk, lambda: asyncio.gather(desk.approved(5), desk.approved(900)))
    assert app.ask(0, durability=durability) == ["pay 900?", "pay 5?"]
    asked = app.ids()
    assert app.ask(Command(resume={asked["pay 5?"]: "yes"}), durability=durability) == ["pay 900?"]
    assert app.invoke(Command(resume="no"), durability=durability) == [(5, "yes"), (900, "no")]
    assert desk.looked == {5: 1, 900: 1}


def test_what_they_are_given_may_vary_if_the_coroutine_is_given_the_same(open_async_app, desk):
    now = count()

    async def approved(amount):
        return await desk.approved(amount, at=next(now))

    app = open_desk(open_async_app, desk, lambda: asyncio.gather(approved(5), approved(900)))
    app.invoke(0)
    asked = app.ids()
    app.invoke(Command(resume={asked["pay 900?"]: "no"}))
    assert app.invoke(Command(resume={asked["pay 5?"]: "yes"})) == [(5, "yes"), (900, "no")]
    assert desk.looked == {5: 1, 900: 1}


def test_what_they_are_given_may_vary_if_the_node_itself_calls_them(open_async_app, desk):
    now = count()

    async def work():
        done = [desk.graph.ainvoke({"amount": amount, "at": next(now)}) for amount in (5, 900)]
        return [one["answer"] for one in await asyncio.gather(*done)]

    app = open_desk(open_async_app, desk, work)
    app.invoke(0)
    asked = app.ids()
    app.invoke(Command(resume={asked["pay 900?"]: "no"}))
    assert app.invoke(Command(resume={asked["pay 5?"]: "yes"})) == ["yes", "no"]
    assert desk.looked == {5: 1, 900: 1}


def test_graphs_that_a_node_calls_at_once_are_not_mixed_up_if_it_calls_others(open_async_app, desk):
    amounts = [1, 2]

    async def work():
        return [one["answer"] for one in await asyncio.gather(*map(desk.graph.ainvoke, map(to_pay, amounts)))]

    app = open_desk(open_async_app, desk, work)
    app.invoke(0)
    amounts[:] = [3, 1]
    with pytest.raises(ReplayMismatch, match="cannot be told which is which"):
        app.invoke(Command(resume={app.ids()["pay 1?"]: "yes"}))
    assert app.ask(None, on_changed="accept") == ["pay 3?"]
    assert app.invoke(Command(resume="no")) == ["no", "yes"]
    assert desk.looked == {1: 1, 2: 1, 3: 1}


def to_pay(amount):
    return {"amount": amount}


def test_a_graph_that_had_not_been_called_does_not_go_on_with_what_another_has_done(open_async_app, desk):
    is_down = True

    async def approved(amount):
        if amount == 5 and is_down:
            await desk.has_asked.wait()
            raise ConnectionError
        return await desk.approved(amount)

    app = open_desk(open_async_app, desk, lambda: asyncio.gather(approved(5), approved(900)))
    assert app.ask(0) == ["pay 900?"]
    is_down = False
    assert app.ask(Command(resume="no")) == ["pay 5?"]
    assert app.invoke(Command(resume="yes")) == [(5, "yes"), (900, "no")]
    assert desk.looked == {5: 1, 900: 1}


def test_graphs_that_the_node_itself_calls_are_counted_apart_from_those_beside_it(open_async_app, desk):
    async def work():
        first = await desk.graph.ainvoke({"amount": 1})
        beside = await asyncio.gather(desk.approved(5), desk.approved(900))
        last = await desk.graph.ainvoke({"amount": 2})
        return [first["answer"], *beside, last["answer"]]

    app = open_desk(open_async_app, desk, work)
    assert app.ask(0) == ["pay 1?"]
    assert app.ask(Command(resume="one")) == ["pay 900?", "pay 5?"]
    asked = app.ids()
    assert app.ask(Command(resume={asked["pay 900?"]: "no", asked["pay 5?"]: "yes"})) == ["pay 2?"]
    assert app.invoke(Command(resume="two")) == ["one", (5, "yes"), (900, "no"), "two"]
    assert desk.looked == {1: 1, 2: 1, 5: 1, 900: 1}


@pytest.mark.parametrize("keeps", [False, True], ids=["", "keeping errors"])
def test_a_batch_in_a_node_goes_on_with_what_is_its_own(open_app, desk, keeps):
    amounts = [{"amount": amount} for amount in (1, 2, 3)]

    def work(input):
        return [one["answer"] for one in desk.graph.batch(amounts, return_exceptions=keeps)]

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0)
    asked = app.ids()
    for amount in (3, 1):
        app.invoke(Command(resume={asked[f"pay {amount}?"]: f"answer {amount}"}))
    assert app.invoke(Command(resume="answer 2")) == ["answer 1", "answer 2", "answer 3"]
    assert desk.looked == {1: 1, 2: 1, 3: 1}


def test_a_batch_that_keeps_errors_does_not_keep_pauses(open_async_app, desk):
    async def work():
        answered = await desk.graph.abatch([{"amount": amount} for amount in (1, 2)], return_exceptions=True)
        return [one["answer"] for one in answered]

    app = open_desk(open_async_app, desk, work)
    assert app.ask(0) == ["pay 1?", "pay 2?"]
    asked = app.ids()
    assert app.invoke(Command(resume={asked["pay 2?"]: "two", asked["pay 1?"]: "one"})) == ["one", "two"]
    assert desk.looked == {1: 1, 2: 1}


# What a node leaves behind


def test_a_pause_waits_for_graphs_beside_it(open_async_app, desk):
    """Else they would work on beside the run that goes on with the answer, and do the same."""

    async def ask():
        return interrupt("sure?")

    app = open_desk(open_async_app, desk, lambda: asyncio.gather(ask(), desk.graph.ainvoke({"amount": 1})))
    assert app.ask(0) == ["sure?", "pay 1?"]
    assert desk.looked == {1: 1}
    assert app.ask(Command(resume={app.ids()["sure?"]: "yes"})) == ["pay 1?"]
    assert app.invoke(Command(resume="no"))[0] == "yes"
    assert desk.looked == {1: 1}


def test_a_pause_waits_for_the_call_that_comes_after_the_one_under_way(open_async_app, desk):
    done = Counter()

    @task
    async def step(number):
        await asyncio.sleep(0)
        done[number] += 1

    async def ask():
        return interrupt("sure?")

    async def steps():
        for number in range(3):
            await step(number)
        return "done"

    app = open_desk(open_async_app, desk, lambda: asyncio.gather(ask(), steps()))
    assert app.ask(0) == ["sure?"]
    assert done == {0: 1, 1: 1, 2: 1}
    assert app.invoke(Command(resume="yes")) == ["yes", "done"]
    assert done == {0: 1, 1: 1, 2: 1}


@pytest.mark.parametrize("kind", ["call", "graph"])
def test_what_a_node_has_left_behind_begins_nothing_any_more(desk, kind):
    """It is begun when the node runs again, with the answer."""
    done, goes_on, left = Counter(), asyncio.Event(), []

    @task
    async def step():
        done["step"] += 1

    async def late():
        await goes_on.wait()
        await (step() if kind == "call" else desk.graph.ainvoke({"amount": 1}))

    async def work():
        left.append(asyncio.ensure_future(late()))
        return interrupt("sure?")

    async def run(app):
        await app.ainvoke(0, {"configurable": {"thread_id": "1"}})
        goes_on.set()
        with pytest.raises(GraphBubbleUp, match="has paused or failed"):
            await left[0]

    asyncio.run(run(desk.program(work, InMemorySaver())))
    assert (done, desk.looked) == ({}, {})


def test_what_a_node_that_has_finished_has_left_behind_goes_on(desk):
    left = []

    async def work():
        left.append(asyncio.ensure_future(desk.graph.ainvoke({"amount": 1}, {"configurable": {"thread_id": "other"}})))
        left.append(asyncio.ensure_future(quick.ainvoke({"amount": 2})))

    async def run(app):
        await app.ainvoke(0, {"configurable": {"thread_id": "1"}})
        return await asyncio.gather(*left)

    quick = StateGraph(Payment).add_node("look", desk._look).add_edge(START, "look").compile()
    asyncio.run(run(desk.program(work, InMemorySaver())))
    assert desk.looked == {1: 1, 2: 1}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("remembers", [None, True], ids=["forgets", "remembers"])
def test_a_graph_beside_a_node_that_has_failed_ends_before_its_run(remembers, durability):
    """The node waits for it; and another one fails meanwhile, which ends the run."""
    begun, has_failed, paid, ended = asyncio.Event(), asyncio.Event(), [], []

    async def slow(state: Any) -> Any:
        begun.set()
        try:
            await (asyncio.Event().wait() if not ended else asyncio.sleep(0))
        finally:
            ended.append("slow")

    graph = line(pay=lambda state: paid.append("rent"), slow=slow).compile(checkpointer=remembers)

    async def fail() -> None:
        if not ended:
            await asyncio.wait_for(begun.wait(), 10)
            raise ConnectionError("the books are away")

    async def first(state: Any) -> Any:
        try:
            await asyncio.gather(fail(), graph.ainvoke({"log": []}))
        except ConnectionError:
            has_failed.set()
            raise

    async def second(state: Any) -> Any:
        if not ended:
            await has_failed.wait()
            raise ConnectionError("the bank is away")

    async def run(input: Any) -> Any:
        return await app.ainvoke(input, CONFIG, durability=durability)

    async def twice() -> Any:
        with pytest.raises(ConnectionError):
            await run({"log": []})
        assert ended == ["slow"]
        await run(None)

    app = beside(first=first, second=second).compile(checkpointer=InMemorySaver())
    asyncio.run(twice())
    assert (paid, ended) == (["rent"], ["slow", "slow"])
