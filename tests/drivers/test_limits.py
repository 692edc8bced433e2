"""max_concurrency: how many nodes, `@task` calls and tool calls are under way at a time."""

import asyncio
import operator
import threading
from typing import Annotated, TypedDict

import pytest
from langchain_core.tools import tool

from prebuilt.models import call, calls
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import NeedsAsync
from signoff.func import entrypoint, task
from signoff.graph import START, MessagesState, StateGraph
from signoff.prebuilt import ToolNode
from signoff.types import RetryPolicy, Send

COUNT = 6


class Log(TypedDict):
    log: Annotated[list, operator.add]


class Room:
    """Counts who is in it. In threads, each waits there for one more to come: with less room than two, nobody could."""

    def __init__(self, room):
        self.now = self.most = 0
        self.lock, self.company = threading.Lock(), threading.Barrier(min(room, 2), timeout=10)

    def _come(self, by):
        with self.lock:
            self.now += by
            self.most = max(self.most, self.now)

    def visit(self):
        self._come(1)
        self.company.wait()
        self._come(-1)

    async def avisit(self):
        self._come(1)
        for _ in range(20):
            await asyncio.sleep(0)
        self._come(-1)


def sends(room):
    async def avisit(state):
        await room.avisit()

    graph = StateGraph(Log).add_conditional_edges(START, lambda state: [Send("work", {})] * COUNT, ["work"])
    return lambda *, is_async: graph.add_node("work", avisit if is_async else lambda state: room.visit()).compile()


def task_calls(room):
    def app(*, is_async):
        if is_async:

            @task
            async def work(number):
                await room.avisit()

            @entrypoint()
            async def flow(state):
                await asyncio.gather(*(work(number) for number in range(COUNT)))
        else:
            work = task(name="work")(lambda number: room.visit())

            @entrypoint()
            def flow(state):
                for future in [work(number) for number in range(COUNT)]:
                    future.result()

        return flow

    return app


def tool_calls(room):
    def app(*, is_async):
        return StateGraph(MessagesState).add_node(_tools(room, is_async=is_async)).add_edge(START, "tools").compile()

    return app


def tools_alone(room):
    return lambda *, is_async: _tools(room, is_async=is_async)


def _tools(room, *, is_async):
    @tool
    def visit(number: int) -> str:
        """Visit."""
        return str(room.visit())

    @tool("visit")
    async def avisit(number: int) -> str:
        """Visit."""
        return str(await room.avisit())

    return ToolNode([avisit if is_async else visit])


WANTED = {"messages": [calls(*(call("visit", str(number), number=number) for number in range(COUNT)))], "log": []}


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("program", [sends, task_calls, tool_calls, tools_alone])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_no_more_are_under_way_than_the_caller_allows(is_async, program, limit):
    room = Room(limit)
    app = program(room)(is_async=is_async)
    config = {"max_concurrency": limit}
    asyncio.run(app.ainvoke(WANTED, config)) if is_async else app.invoke(WANTED, config)
    assert room.now == 0
    assert 1 <= room.most <= limit


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_call_that_makes_calls_does_not_wait_for_itself(is_async):
    double = task(name="double")(lambda number: 2 * number)

    @task
    def both(number):
        return double(number).result() + double(number + 1).result()

    @entrypoint(checkpointer=InMemorySaver())
    def flow(count):
        return [future.result() for future in [both(number) for number in range(count)]]

    config = {"configurable": {"thread_id": "1"}, "max_concurrency": 1}
    found = asyncio.run(flow.ainvoke(3, config)) if is_async else flow.invoke(3, config)
    assert found == [2, 6, 10]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_call_may_wait_for_one_that_was_made_before_it(is_async):
    double = task(name="double")(lambda number: 2 * number)

    @task
    def next_after(future):
        return future.result() + 1

    @entrypoint(checkpointer=InMemorySaver())
    def flow(count):
        return [next_after(double(number)).result() for number in range(count)]

    config = {"configurable": {"thread_id": "1"}, "max_concurrency": 1}
    found = asyncio.run(flow.ainvoke(30, config)) if is_async else flow.invoke(30, config)
    assert found == [2 * number + 1 for number in range(30)]


def test_calls_whose_turn_has_not_come_are_not_made_when_the_run_is_called_off():
    begun, is_last_called_off, made = threading.Event(), threading.Event(), []

    @task
    def work(number):
        made.append(number)
        begun.set()
        assert is_last_called_off.wait(10)

    @entrypoint(checkpointer=InMemorySaver())
    def flow(count):
        *_, last = [work(number) for number in range(count)]
        last.add_done_callback(lambda _: is_last_called_off.set())
        assert begun.wait(10)
        raise KeyboardInterrupt  # as a signal does

    with pytest.raises(KeyboardInterrupt):
        flow.invoke(5, {"configurable": {"thread_id": "1"}, "max_concurrency": 1})
    assert made == [0]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_send_cannot_give_a_sync_node_a_timeout(is_async):
    ran = []
    graph = StateGraph(dict).add_node("work", lambda state: ran.append(state), retry_policy=RetryPolicy())
    app = graph.add_conditional_edges(START, lambda state: [Send("work", 1, timeout=9)], ["work"]).compile()
    with pytest.raises(NeedsAsync, match="'work'"):
        asyncio.run(app.ainvoke({})) if is_async else app.invoke({})
    assert ran == []
