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


class Slow:
    """Something that waits until it is called again, and notes what becomes of it."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.is_under_way, self.is_again = asyncio.Event(), asyncio.Event()

    async def __call__(self) -> str:
        try:
            if not self.is_under_way.is_set():
                self.is_under_way.set()
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

    async def twice(self, execute: Any, *args: Any) -> Any:
        """Give up as soon as it is under way, as after a timeout, and try again."""
        trying = asyncio.ensure_future(execute(*args))
        under_way = asyncio.ensure_future(self.is_under_way.wait())
        await asyncio.wait({trying, under_way}, return_when=asyncio.FIRST_COMPLETED)
        under_way.cancel()
        if not trying.done():
            trying.cancel()
            await asyncio.wait({trying})
        return await execute(*args) if trying.cancelled() else trying.result()

    async def around(self, request: Any, execute: Any) -> Any:
        return await self.twice(execute, request)


def a_wrapper(slow: Slow, model: Any, saver: Any) -> Any:
    tools = ToolNode(slow.tools, awrap_tool_call=slow.around)
    return with_model(model, tools, saver)


def a_node(slow: Slow, model: Any, saver: Any) -> Any:
    tools = ToolNode(slow.tools)

    async def node(state: Any) -> Any:
        return await slow.twice(tools.ainvoke, state)

    return with_model(model, node, saver)


def middleware(slow: Slow, model: Any, saver: Any) -> Any:
    async def around(request: Any, execute: Any) -> Any:
        return await slow.around(request, execute)

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

    async def around(request: Any, execute: Any) -> Any:
        return await slow.around(request, execute)

    app = create_agent(
        Model(), middleware=[wrap_model_call(around)], checkpointer=InMemorySaver() if is_saved else None
    )
    asyncio.run(app.ainvoke(USER, CONFIG))
    assert slow.noted == ["called off", "done"]


@pytest.mark.parametrize("wanted", [["pay"], ["pay", "look"]], ids=["one", "two"])
def test_a_tool_in_a_thread_that_is_given_up_is_over_before_its_node_is(wanted):
    under_way, may_end, noted = threading.Event(), threading.Event(), []

    @tool
    def pay() -> str:
        """Pay."""
        under_way.set()
        assert may_end.wait(10)
        noted.append("paid")
        return "paid"

    @tool
    def look() -> str:
        """Look."""
        return "seen"

    async def around(request: Any, execute: Any) -> Any:
        trying = asyncio.ensure_future(execute(request))
        if request.tool_call["name"] == "look":
            return await trying
        assert await asyncio.to_thread(under_way.wait, 10)
        trying.cancel()
        await asyncio.wait({trying})
        noted.append("given up")
        asyncio.get_running_loop().call_later(0.01, may_end.set)
        return ToolMessage("too slow", tool_call_id=request.tool_call["id"])

    tools = ToolNode([pay, look], awrap_tool_call=around)
    graph = StateGraph(MessagesState).add_node("tools", tools).add_node("last", lambda state: noted.append("over"))
    app = graph.add_edge(START, "tools").add_edge("tools", "last").compile(InMemorySaver())
    asyncio.run(app.ainvoke({"messages": [calls(*(call(name, name) for name in wanted))]}, CONFIG))
    assert noted == ["given up", "paid", "over"]
