"""Whoever gives up on a call that is under way, as after a timeout, calls it off: another try is not made beside it."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from signoff.agents import create_agent
from signoff.agents.middleware import wrap_model_call, wrap_tool_call
from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, MessagesState, StateGraph
from signoff.prebuilt import ToolNode

from .models import ScriptedModel, call, calls, scripted

CONFIG: Any = {"configurable": {"thread_id": "1"}}
USER: Any = {"messages": [("user", "hi")]}
A_WHILE_S = 0.01


class Slow:
    """Something that waits until it is called again, and notes what becomes of it."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.is_again: asyncio.Event | None = None

    async def __call__(self) -> str:
        try:
            if self.is_again is None:
                self.is_again = asyncio.Event()
                await self.is_again.wait()
            self.is_again.set()
        except asyncio.CancelledError:
            self.noted.append("called off")
            raise
        self.noted.append("done")
        return "done"

    @property
    def tools(self) -> list[Any]:
        @tool
        async def pay() -> str:
            """Pay."""
            return await self()

        @tool
        async def look() -> str:
            """Look."""
            return "seen"

        return [pay, look]


async def twice(execute: Any, *args: Any) -> Any:
    """Give up after a while, and try again."""
    try:
        return await asyncio.wait_for(execute(*args), A_WHILE_S)
    except TimeoutError:
        return await execute(*args)


async def around(request: Any, execute: Any) -> Any:
    return await twice(execute, request)


def a_wrapper(slow: Slow, model: Any, saver: Any) -> Any:
    tools = ToolNode(slow.tools, awrap_tool_call=around)
    return with_model(model, tools, saver)


def a_node(slow: Slow, model: Any, saver: Any) -> Any:
    tools = ToolNode(slow.tools)

    async def node(state: Any) -> Any:
        return await twice(tools.ainvoke, state)

    return with_model(model, node, saver)


def middleware(slow: Slow, model: Any, saver: Any) -> Any:
    return create_agent(model, slow.tools, middleware=[wrap_tool_call(around)], checkpointer=saver)


def with_model(model: Any, tools: Any, saver: Any) -> Any:
    async def speak(state: Any) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState).add_node(speak).add_node("tools", tools)
    return graph.add_edge(START, "speak").add_edge("speak", "tools").compile(saver)


@pytest.mark.parametrize("is_saved", [True, False])
@pytest.mark.parametrize("wanted", [["pay"], ["pay", "look"]], ids=["one", "two"])
@pytest.mark.parametrize("program", [a_wrapper, a_node, middleware])
def test_a_tool_that_is_given_up_is_called_off_before_it_is_called_again(program, wanted, is_saved):
    slow = Slow()
    app = program(slow, scripted(calls(*(call(name, name) for name in wanted))), InMemorySaver() if is_saved else None)
    result = asyncio.run(app.ainvoke(USER, CONFIG))
    assert result["messages"][2].content == "done"
    assert slow.noted == ["called off", "done"]


@pytest.mark.parametrize("is_saved", [True, False])
def test_so_is_a_model(is_saved):
    slow = Slow()

    class Model(ScriptedModel):
        async def _agenerate(self, messages: Any, *args: Any, **options: Any) -> Any:
            await slow()
            return self._generate(messages)

    app = create_agent(
        Model(), middleware=[wrap_model_call(around)], checkpointer=InMemorySaver() if is_saved else None
    )
    asyncio.run(app.ainvoke(USER, CONFIG))
    assert slow.noted == ["called off", "done"]


@pytest.mark.parametrize("wanted", [["pay"], ["pay", "look"]], ids=["one", "two"])
def test_a_tool_in_a_thread_that_is_given_up_is_over_before_its_node_is(wanted):
    may_end, noted = threading.Event(), []

    @tool
    def pay() -> str:
        """Pay."""
        may_end.wait(10)
        noted.append("paid")
        return "paid"

    @tool
    def look() -> str:
        """Look."""
        return "seen"

    async def around(request: Any, execute: Any) -> Any:
        try:
            return await asyncio.wait_for(execute(request), A_WHILE_S)
        except TimeoutError:
            noted.append("given up")
            asyncio.get_running_loop().call_later(A_WHILE_S, may_end.set)
            return ToolMessage("too slow", tool_call_id=request.tool_call["id"])

    tools = ToolNode([pay, look], awrap_tool_call=around)
    graph = StateGraph(MessagesState).add_node("tools", tools).add_node("last", lambda state: noted.append("over"))
    app = graph.add_edge(START, "tools").add_edge("tools", "last").compile(InMemorySaver())
    asyncio.run(app.ainvoke({"messages": [calls(*(call(name, name) for name in wanted))]}, CONFIG))
    assert noted == ["given up", "paid", "over"]
