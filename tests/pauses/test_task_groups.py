"""Promises 4 and 5 in groups of coroutines: asyncio and anyio cancel all others when one of them asks."""

import asyncio
from collections import Counter
from typing import TypedDict

import anyio
import pytest

from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Payment(TypedDict, total=False):
    order: int
    is_paid: bool


class Till:
    """Pays in several ways, each of which is still under way when somebody asks."""

    def __init__(self):
        self.paid = Counter()
        self.is_asked = None

        @task
        async def pay(order):
            await self.is_asked.wait()
            for _ in range(5):
                await asyncio.sleep(0)
            self.paid[order] += 1
            return order

        self.pay = pay
        graph = StateGraph(Payment).add_node("pay", self._pay_in_node).add_edge(START, "pay")
        self.graph = graph.compile()

    async def _pay_in_node(self, state):
        return {"is_paid": await self.pay(state["order"]) == state["order"]}

    async def by_call(self):
        return await self.pay(1)

    async def by_gathered_calls(self):
        return sum(await asyncio.gather(self.pay(0), self.pay(1)))

    async def by_graph(self):
        return (await self.graph.ainvoke({"order": 1}))["order"]

    async def ask(self, question="sure?"):
        self.is_asked.set()
        return interrupt(question)


async def in_asyncio(*functions):
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(function()) for function in functions]
    return [task.result() for task in tasks]


async def in_anyio(*functions):
    results = {}

    async def put(function):
        results[function] = await function()

    async with anyio.create_task_group() as group:
        for function in functions:
            group.start_soon(put, function)
    return [results[function] for function in functions]


GROUPS = {"asyncio": in_asyncio, "anyio": in_anyio}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("way", ["by_call", "by_gathered_calls", "by_graph"])
def test_a_pause_in_a_group_breaks_off_nothing_that_is_under_way(open_async_app, way, group):
    till = Till()

    def program(saver):
        async def work(input):
            till.is_asked = asyncio.Event()
            return await GROUPS[group](getattr(till, way), till.ask)

        return entrypoint(checkpointer=saver)(work)

    app = open_async_app(program)
    assert [question.value for question in app.invoke("go")["__interrupt__"]] == ["sure?"]
    assert till.paid[1] == 1
    assert app.invoke(Command(resume="yes")) == [1, "yes"]
    assert set(till.paid.values()) == {1}


@pytest.mark.parametrize("group", GROUPS)
def test_a_failure_in_a_group_calls_the_others_off(open_async_app, group):
    seen = []

    def program(saver):
        async def work(input):
            is_begun = asyncio.Event()

            @task
            async def linger():
                is_begun.set()
                try:
                    await asyncio.Event().wait()
                finally:
                    seen.append("called off")

            async def lingering():
                await linger()

            async def fail():
                await asyncio.wait_for(is_begun.wait(), 10)
                raise ValueError("no funds")

            await GROUPS[group](lingering, fail)

        return entrypoint(checkpointer=saver)(work)

    with pytest.raises(ExceptionGroup, match="TaskGroup"):
        open_async_app(program).invoke("go")
    assert seen == ["called off"]


def test_a_call_that_its_caller_gives_up_on_is_called_off(open_async_app):
    seen = []

    @task
    async def linger():
        try:
            await asyncio.Event().wait()
        finally:
            seen.append("called off")

    def program(saver):
        async def work(input):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(linger(), 0.01)
            seen.append("timed out")
            unwanted = linger()
            unwanted.cancel()
            with pytest.raises(asyncio.CancelledError):
                await unwanted
            return interrupt("go on?")

        return entrypoint(checkpointer=saver)(work)

    app = open_async_app(program)
    app.invoke("go")
    assert seen == ["called off", "timed out"]


async def gathered(*functions):
    return list(await asyncio.gather(*(function() for function in functions)))


@pytest.mark.parametrize("group", [*GROUPS, "gather"])
@pytest.mark.parametrize("way", ["itself", "by a call", "by a graph"])
def test_a_question_stays_open_though_its_coroutine_is_slower_the_next_time(open_async_app, way, group):
    """Whoever answers it has been asked, whether it came to that again or not."""
    slow = StateGraph(Payment).add_node("ask", lambda state: {"is_paid": interrupt("pay?")}).add_edge(START, "ask")
    graph = slow.compile()

    @task
    async def asking():
        return interrupt("pay?")

    passes = []

    def program(saver):
        async def work(input):
            passes.append("pass")
            is_slow = len(passes) == 2

            async def ship():
                await asyncio.sleep(0)
                return [interrupt("ship?"), interrupt("insure?")]

            async def pay():
                for _ in range(100 if is_slow else 1):
                    await asyncio.sleep(0)
                if way == "by a call":
                    return await asking()
                return interrupt("pay?") if way == "itself" else (await graph.ainvoke({"order": 1}))["is_paid"]

            return await {**GROUPS, "gather": gathered}[group](ship, pay)

        return entrypoint(checkpointer=saver)(work)

    app = open_async_app(program)
    app.invoke("go")
    assert {*app.ids()} == {"ship?", "pay?"}
    app.invoke(Command(resume={app.ids()["ship?"]: "yes"}))
    assert {*app.ids()} == {"pay?", "insure?"}
    assert app.invoke(Command(resume=dict.fromkeys(app.ids().values(), "yes"))) == [["yes", "yes"], "yes"]


def test_what_waits_after_a_failure_was_mended_is_not_run_again(open_async_app):
    """A question that was asked beside the failure, and not come to again since, just waits now."""
    passes = []

    @task
    async def asking():
        return interrupt("pay?")

    def program(saver):
        async def work(input):
            passes.append("pass")

            async def pay():
                for _ in range(100 if len(passes) == 2 else 0):
                    await asyncio.sleep(0)
                return await asking()

            async def ship():
                await asyncio.sleep(0)
                if len(passes) == 1:
                    raise LookupError("no ship")
                return interrupt("ship?")

            return await gathered(pay, ship)

        return entrypoint(checkpointer=saver)(work)

    app = open_async_app(program)
    with pytest.raises(LookupError):
        app.invoke("go")
    app.invoke(None)
    app.invoke(None)
    assert {*app.ids()} == {"pay?", "ship?"}
    assert len(passes) == 2
    assert app.invoke(Command(resume=dict.fromkeys(app.ids().values(), "yes"))) == ["yes", "yes"]
