"""Streams that were not read to their ends when their event loop ends, or when the collector finds them."""

import asyncio
import gc
import operator
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


class Program:
    """A graph of a quick node and one that works in a thread until the stream is left."""

    def __init__(self) -> None:
        self.is_left = threading.Event()
        graph = StateGraph(State).add_node("quick", self.quick).add_node("slow", self.slow)
        graph.add_edge(START, "quick").add_edge(START, "slow")
        self.app: Any = graph.compile(checkpointer=InMemorySaver())

    async def quick(self, state: State) -> State:
        return {"log": ["quick"]}

    def slow(self, state: State) -> State:
        self.is_left.wait()
        return {"log": ["slow"]}

    def stream(self) -> AsyncIterator[Any]:
        stream: AsyncIterator[Any] = self.app.astream({"log": []}, CONFIG)
        return stream

    async def leave(self) -> None:
        """Have the slow node end once the loop is at other things."""
        asyncio.get_running_loop().run_in_executor(None, self.is_left.set)


async def kept_by_the_program(program: Program) -> object:
    stream = program.stream()
    await anext(stream)
    await program.leave()
    return stream


async def kept_by_an_error(program: Program) -> object:
    stream = program.stream()
    async for _ in stream:
        await program.leave()
        raise ValueError("of the reader's own")
    return None


async def found_by_the_collector(program: Program) -> object:
    async def begin() -> None:
        stream = program.stream()
        await anext(stream)
        circle: list[Any] = [stream]
        circle.append(circle)

    await begin()
    await program.leave()
    gc.collect()
    await asyncio.sleep(0)  # now it is being closed
    await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
    return None


@pytest.mark.parametrize("left", [kept_by_the_program, kept_by_an_error, found_by_the_collector])
def test_it_is_closed_without_a_complaint_and_what_was_under_way_is_kept(
    left: Callable[[Program], Awaitable[object]],
):
    program, told, kept = Program(), [], []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))
        kept.append(await left(program))

    try:
        asyncio.run(main())
    except ValueError as error:
        kept.append(error)
    assert told == []
    state = program.app.get_state(CONFIG)
    assert (state.values, state.next) == ({"log": ["quick", "slow"]}, ())
