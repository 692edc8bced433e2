"""Loops that others have written, as uvloop: what is beneath a coroutine is not part of the program that asks."""

import asyncio

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.types import Command, interrupt

from .ways import on_thread


class Handle(asyncio.Handle):
    """Calls what is due."""

    def _run(self):
        self._context.run(self._callback, *self._args)


class Loop(asyncio.SelectorEventLoop):
    """A loop that coroutines are called by directly, and not by something of asyncio's."""

    def _call_soon(self, callback, args, context):
        handle = Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle


LOOPS = [asyncio.SelectorEventLoop, Loop]


@pytest.mark.parametrize("asked_on", LOOPS)
@pytest.mark.parametrize("answered_on", LOOPS)
@pytest.mark.parametrize("starts", ["gather", "group"])
def test_what_is_asked_on_one_loop_is_answered_on_another(asked_on, answered_on, starts):
    made = []

    @task
    async def price(order):
        made.append(order)
        return f"pay for {order}?"

    async def pay(order):
        return interrupt(await price(order))

    @entrypoint(checkpointer=InMemorySaver())
    async def flow(orders):
        if starts == "gather":
            return await asyncio.gather(*map(pay, orders))
        async with asyncio.TaskGroup() as group:
            payments = [group.create_task(pay(order)) for order in orders]
        return [payment.result() for payment in payments]

    with asyncio.Runner(loop_factory=asked_on) as runner:
        asked = runner.run(flow.ainvoke(["tea", "rum"], on_thread("1")))["__interrupt__"]
    answers = {question.id: f"{question.value} yes" for question in asked}
    with asyncio.Runner(loop_factory=answered_on) as runner:
        answered = runner.run(flow.ainvoke(Command(resume=answers), on_thread("1")))

    assert (answered, made) == (["pay for tea? yes", "pay for rum? yes"], ["tea", "rum"])
