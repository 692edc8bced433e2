"""Tools of one turn, and nodes of one step, side by side: what one has done is not lost because another one fails."""

import asyncio
import threading

import pytest
from langchain_core.tools import BaseTool, tool

from prebuilt.models import call
from signoff.agents import create_agent
from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph

from .desk import USER, calls, scripted

CONFIG = {"configurable": {"thread_id": "1"}}


class Boom(Exception):
    """Something breaks."""


class Office:
    """A tool that pays, in a thread, and is under way when its neighbour breaks for the first time."""

    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.is_paying, self.may_end = threading.Event(), threading.Event()
        self.paid = []

    def pay(self, amount):
        self.is_paying.set()
        self.may_end.wait()
        self.paid.append(amount)
        return f"paid {amount}"

    def stumble(self):
        if self.may_end.is_set():
            return "fine"
        self.is_paying.wait()
        asyncio.run_coroutine_threadsafe(self._let_end(), self.loop)
        raise Boom

    async def _let_end(self):
        for _ in range(50):  # long after the step has been called off
            await asyncio.sleep(0)
        self.may_end.set()


def made_by_decorator(office):
    @tool
    def pay(amount: int) -> str:
        """Pay."""
        return office.pay(amount)

    return pay


def made_by_class(office):
    class Pay(BaseTool):
        name: str = "pay"
        description: str = "Pay."

        def _run(self, amount: int) -> str:
            return office.pay(amount)

    return Pay()


@pytest.mark.parametrize("make", [made_by_decorator, made_by_class])
def test_a_sync_tool_that_was_under_way_in_an_async_run_is_not_run_again(make):
    async def program():
        office = Office()

        @tool
        def stumble() -> str:
            """Break."""
            return office.stumble()

        turn = calls(call("pay", "p", amount=5), call("stumble", "s"))
        agent = create_agent(scripted(turn), [make(office), stumble], checkpointer=InMemorySaver())
        with pytest.raises(Boom):
            await agent.ainvoke(USER, CONFIG)
        assert office.paid == [5], "the run does not end while it pays"
        result = await agent.ainvoke(None, CONFIG)
        assert office.paid == [5]
        assert [message.content for message in result["messages"] if message.type == "tool"] == ["paid 5", "fine"]

    asyncio.run(program())


def test_a_sync_node_that_was_under_way_in_an_async_run_still_finds_its_way():
    async def program():
        office = Office()

        def pay(state: dict):
            return {**state, "paid": office.pay(5)}

        async def stumble(state: dict):
            await asyncio.to_thread(office.stumble)

        graph = StateGraph(dict).add_node(pay).add_node(stumble).add_node("end", lambda state: None)
        graph.add_edge(START, "pay").add_edge(START, "stumble").add_conditional_edges("pay", lambda state: "end")
        app = graph.compile(checkpointer=InMemorySaver())
        with pytest.raises(Boom):
            await app.ainvoke({"a": 1}, CONFIG)
        assert await app.ainvoke(None, CONFIG) == {"a": 1, "paid": "paid 5"}
        assert office.paid == [5]

    asyncio.run(program())
