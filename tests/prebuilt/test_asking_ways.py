"""Tools that can only be awaited, or are invoked in a way of their own, ask a person first, too."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, Tool, tool

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import NeedsAsync
from signoff.prebuilt import add_human_in_the_loop, create_react_agent
from signoff.types import Command

from .models import call, calls, scripted

USER = {"messages": [HumanMessage("Book the Ritz", id="h")]}
WANTED = calls(call("book_hotel", "c1", hotel="Ritz"), id="ai-1")


def result_of(result: Any) -> Any:
    return next(message.content for message in result["messages"] if isinstance(message, ToolMessage))


async def book(hotel: str) -> str:
    """Book a hotel."""
    return f"booked {hotel}"


class Awaited(BaseTool):
    """Can only be awaited, and says so as most do."""

    name: str = "book_hotel"
    description: str = "Book a hotel."

    def _run(self, hotel: str) -> str:
        raise NotImplementedError(f"{self.name} can only be awaited")

    async def _arun(self, hotel: str) -> str:
        return await book(hotel)


class AwaitedItsWay(Awaited):
    """Can only be awaited, and only as a whole."""

    _arun = BaseTool._arun

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        assert config["configurable"]["thread_id"] == "1"
        return ToolMessage(await book(input["args"]["hotel"]), name=self.name, tool_call_id=input["id"])


ASYNC_ONLY = {
    "a coroutine function": lambda: tool("book_hotel")(book),
    "of the oldest kind": lambda: Tool(name="book_hotel", description="Book.", func=None, coroutine=book),
    "a class": Awaited,
    "a class that has only ainvoke": AwaitedItsWay,
}


@pytest.mark.parametrize("kind", ASYNC_ONLY)
def test_nobody_is_asked_about_a_tool_that_only_an_async_run_can_call(kind):
    app = create_react_agent(
        scripted(WANTED), [add_human_in_the_loop(ASYNC_ONLY[kind]())], checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    with pytest.raises(NeedsAsync, match="'book_hotel' is async"):
        app.invoke(USER, config)
    assert app.get_state(config).interrupts == ()
    assert asyncio.run(app.ainvoke(None, config))["__interrupt__"]
    assert result_of(asyncio.run(app.ainvoke(Command(resume={"type": "accept"}), config))) == "booked Ritz"


@pytest.mark.parametrize("kind", ASYNC_ONLY)
def test_a_tool_that_only_an_async_run_can_call_is_refused_by_name(kind):
    app = create_react_agent(scripted(WANTED), [ASYNC_ONLY[kind]()])
    with pytest.raises(NeedsAsync, match="'book_hotel' is async.*ainvoke"):
        app.invoke(USER)


class Signed(StructuredTool):
    """Signs what it has done, in a way of its own."""

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        done = super().invoke(input, config, **kwargs)
        return done.model_copy(update={"content": f"{done.content}, signed"})

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        done = await super().ainvoke(input, config, **kwargs)
        return done.model_copy(update={"content": f"{done.content}, signed"})


def test_a_tool_that_says_itself_how_it_is_invoked_is_invoked_that_way(open_agent):
    def booked(hotel: str) -> str:
        return f"booked {hotel}"

    signed = Signed.from_function(booked, book, name="book_hotel", description="Book a hotel.")
    app = open_agent(
        lambda saver: create_react_agent(scripted(WANTED), [add_human_in_the_loop(signed)], checkpointer=saver)
    )
    app.invoke(USER)
    assert result_of(app.invoke(Command(resume={"type": "accept"}))) == "booked Ritz, signed"
