"""A wrapper that gives up on an approved call, as after a timeout, and makes it again: it is the same call."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.tools import tool

from signoff.agents import create_agent
from signoff.agents.middleware import HumanInTheLoopMiddleware, wrap_tool_call
from signoff.checkpoint.memory import InMemorySaver
from signoff.prebuilt import add_human_in_the_loop
from signoff.types import Command, interrupt

from .desk import APPROVE, USER, call, calls, decide, scripted

CONFIG: Any = {"configurable": {"thread_id": "1"}}
YES = {"gate": decide(APPROVE), "per call": APPROVE}


class Bank:
    """What was done; the first payment takes long, until somebody gives up on it."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.is_under_way = asyncio.Event()

    async def pay(self, amount: int) -> str:
        """Pay."""
        is_first = not self.is_under_way.is_set()
        self.noted.append("begun")
        self.is_under_way.set()
        if is_first:
            await asyncio.Event().wait()
        self.noted.append("paid")
        return "paid"

    async def around(self, request: Any, execute: Any) -> Any:
        trying, under_way = asyncio.ensure_future(execute(request)), asyncio.ensure_future(self.is_under_way.wait())
        await asyncio.wait({trying, under_way}, return_when=asyncio.FIRST_COMPLETED)
        under_way.cancel()
        if trying.done():
            return trying.result()
        trying.cancel()
        await asyncio.wait({trying})
        self.noted.append("given up")
        return await execute(request)


class Stubborn(Bank):
    """One whose payments cannot be called off."""

    async def pay(self, amount: int) -> str:
        """Pay."""
        try:
            return await super().pay(amount)
        except asyncio.CancelledError:
            self.noted.append("paid")
            return "paid"


class Threaded(Bank):
    """One whose payments are made in threads."""

    def __init__(self) -> None:
        super().__init__()
        self.may_end = threading.Event()

    def pay_here(self, amount: int) -> str:
        """Pay."""
        self.loop.call_soon_threadsafe(self.is_under_way.set)
        assert self.may_end.wait(30)
        self.noted.append("paid")
        return "paid"

    async def around(self, request: Any, execute: Any) -> Any:
        self.loop = asyncio.get_running_loop()
        self.loop.call_later(0.01, self.may_end.set)
        return await super().around(request, execute)


def agent(bank: Bank, kind: str) -> Any:
    pay = tool("pay", description="Pay.")(bank.pay_here if isinstance(bank, Threaded) else bank.pay)

    @tool("pay")
    async def asks(amount: int) -> str:
        """Pay."""
        assert interrupt(f"Pay {amount}?") == {"type": "accept"}
        return await bank.pay(amount)

    modes = {"gate": "batched", "per call": "per_call"}
    watch = [HumanInTheLoopMiddleware({"pay": True}, interrupt_mode=modes[kind])] if kind in modes else []
    tools = {"wrapped": add_human_in_the_loop(pay), "itself": asks}

    async def around(request: Any, execute: Any) -> Any:
        return await bank.around(request, execute)

    model, middleware = scripted(calls(call("pay", "c1", amount=5))), [*watch, wrap_tool_call(around)]
    return create_agent(model, [tools.get(kind, pay)], middleware=middleware, checkpointer=InMemorySaver())


async def answered(app: Any, kind: str) -> tuple[int, Any]:
    """How often a person was asked, who always says yes, and what came of it."""
    result, asked = await app.ainvoke(USER, CONFIG), 0
    while "__interrupt__" in result:
        asked += 1
        result = await app.ainvoke(Command(resume=YES.get(kind, {"type": "accept"})), CONFIG)
    return asked, result["messages"][2].text


@pytest.mark.parametrize("kind", ["gate", "per call", "wrapped", "itself"])
def test_nobody_is_asked_again_about_a_call_that_was_called_off_and_is_made_again(kind):
    bank = Bank()
    assert asyncio.run(answered(agent(bank, kind), kind)) == (1, "paid")
    assert bank.noted == ["begun", "given up", "begun", "paid"]


@pytest.mark.parametrize("kind", ["gate", "per call", "wrapped"])
@pytest.mark.parametrize("bank", [Stubborn, Threaded])
def test_a_call_that_was_made_though_it_was_given_up_is_asked_about_again_and_not_made_again(kind, bank):
    one = bank()
    asked, said = asyncio.run(answered(agent(one, kind), kind))
    assert (asked, said) == (2, "paid")
    assert one.noted.count("paid") == 1
