"""Futures of calls in an async run."""

import asyncio
import gc
import threading
from concurrent.futures import CancelledError

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.drivers.calls.aio_futures import CallFuture
from signoff.errors import GraphInterrupt
from signoff.func import entrypoint, task
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


@pytest.mark.parametrize(("error", "warnings"), [(GraphInterrupt(), 0), (OSError("no connection"), 1)])
def test_a_pause_that_nobody_waits_for_is_nothing_to_warn_of(error, warnings):
    told = []

    async def main():
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context["message"]))
        CallFuture().set_exception(error)
        gc.collect()

    asyncio.run(main())
    assert len(told) == warnings


def test_a_sync_program_may_call_off_a_call_of_a_coroutine_and_go_on():
    begun, called_off = threading.Event(), threading.Event()

    @task
    async def pay(amount):
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            called_off.set()
            raise

    @entrypoint(checkpointer=InMemorySaver())
    def program(amount):
        future = pay(amount)
        assert begun.wait(10)
        assert not future.running()
        assert future.cancel()
        with pytest.raises(CancelledError):
            future.result()
        return called_off.wait(10)

    assert asyncio.run(program.ainvoke(5, {"configurable": {"thread_id": "1"}}))


def test_what_a_call_asks_in_a_thread_while_its_node_waits_for_it_is_nothing_to_warn_of():
    told, may_ask = [], threading.Event()

    @task
    def ask(what, loop):
        if what == "two":
            assert may_ask.wait(10)
            for _ in range(20):  # turns of the loop, until the function has paused and its calls are waited for
                asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(10)
        return interrupt(what)

    @entrypoint()
    def both(loop):
        calls = [ask("one", loop), ask("two", loop)]
        try:
            return calls[0].result()
        finally:
            may_ask.set()

    async def main():
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda loop, context: told.append(context["message"]))
        asked = await both.ainvoke(loop)
        gc.collect()
        return [question.value for question in asked["__interrupt__"]]

    assert sorted(asyncio.run(main())) == ["one", "two"]
    assert told == []


def test_a_sync_program_may_await_its_calls_on_an_event_loop_of_its_own():
    @task
    def confirm(number):
        return interrupt(number) if number > 1 else "small"

    @task
    async def half(number):
        return number / 2

    async def all_of(number):
        return await asyncio.gather(confirm(number), confirm(2 * number), half(number))

    @entrypoint(checkpointer=InMemorySaver())
    def flow(number):
        return asyncio.run(all_of(number))

    async def main():
        asked = await flow.ainvoke(1, CONFIG)
        return asked["__interrupt__"][0].value, await flow.ainvoke(Command(resume="yes"), CONFIG)

    assert asyncio.run(main()) == (2, ["small", "yes", 0.5])
