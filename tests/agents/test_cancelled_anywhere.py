"""An agent that is cancelled at any turn of its loop: it goes on, and no tool that has returned is run again."""

import asyncio
from collections import Counter

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from prebuilt.models import ScriptedModel
from signoff.agents import create_agent, create_deep_agent
from signoff.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ToolRetryMiddleware
from signoff.checkpoint.memory import InMemorySaver
from signoff.types import Command

from .desk import APPROVE, call, calls, check_transcript, edit, reject


class Model(ScriptedModel):
    """Speaks on the loop, so that each turn of it is the same one in all runs."""

    async def _agenerate(self, messages, *args, **options):
        await asyncio.sleep(0)
        return self._generate(messages)


class Work:
    """Tools that pay, and a person who decides, always the same about the same call."""

    def __init__(self):
        self.paid, self.failed = Counter(), set()

        @tool
        async def pay(to: str) -> str:
            """Pay somebody."""
            await asyncio.sleep(0)
            self.paid[to] += 1
            return to

        @tool
        async def send(to: str) -> str:
            """Pay somebody, at the second try."""
            if to not in self.failed:
                self.failed.add(to)
                raise ConnectionError(to)
            await asyncio.sleep(0)
            self.paid[to] += 1
            return to

        self.tools = [pay, send]

    def decide(self, action):
        if action["args"]["to"] == "bo":
            return reject()
        return edit("pay", to="cy") if action["args"]["to"] == "cyrus" else APPROVE

    def answer(self, question):
        actions = question.value.get("action_requests")
        return self.decide(question.value) if actions is None else {"decisions": [*map(self.decide, actions)]}


class Around(AgentMiddleware):
    """A wrapper around each call."""

    async def awrap_tool_call(self, request, handler):
        return await handler(request)


WANTED = calls(call("pay", "c1", to="ana"), call("pay", "c2", to="bo"), call("pay", "c3", to="cyrus"))
TRIED = calls(call("send", "c1", to="ana"), call("send", "c2", to="cy"))
WATCHED = {"pay": True, "send": True}


def one_question(work, saver):
    return create_agent(Model(script=[WANTED]), work.tools, interrupt_on=WATCHED, checkpointer=saver)


def a_question_for_each(work, saver):
    middleware = [Around(), HumanInTheLoopMiddleware(WATCHED, interrupt_mode="per_call")]
    return create_agent(Model(script=[WANTED]), work.tools, middleware=middleware, checkpointer=saver)


def tried_again(work, saver):
    middleware = [ToolRetryMiddleware(initial_delay=0), HumanInTheLoopMiddleware(WATCHED)]
    return create_agent(Model(script=[TRIED]), work.tools, middleware=middleware, checkpointer=saver)


def subagent(work, saver):
    helper = {"name": "helper", "description": "Helps.", "system_prompt": "Help.", "model": Model(script=[WANTED])}
    model = Model(script=[calls(call("task", "t1", description="Pay.", subagent_type="helper"))])
    return create_deep_agent(model, work.tools, subagents=[helper], interrupt_on=WATCHED, checkpointer=saver)


async def to_the_end(app, work, config):
    while True:
        at = await app.aget_state(config)
        if at.created_at is not None and not at.next:
            return at.values
        given = {"messages": [HumanMessage("hi")]} if at.created_at is None else None
        if at.interrupts:
            given = Command(resume={question.id: work.answer(question) for question in at.interrupts})
        await app.ainvoke(given, config)


async def cancelled_after(turns, app, work):
    """Cancel an agent after some turns of the loop, and go on. Returns whether it was still under way by then."""
    work.paid.clear()
    work.failed.clear()
    config = {"configurable": {"thread_id": str(turns)}}
    run = asyncio.ensure_future(to_the_end(app, work, config))
    for _ in range(turns):
        await asyncio.sleep(0)
    is_cancelled = run.cancel()
    await asyncio.wait([run])
    values = await to_the_end(app, work, config)
    assert work.paid == {"ana": 1, "cy": 1}, f"turn {turns}"
    check_transcript(values["messages"])
    return is_cancelled


@pytest.mark.parametrize(
    ("program", "stride"),
    [(one_question, 3), (a_question_for_each, 3), (tried_again, 1), (subagent, 5)],
)
def test_an_agent_that_is_cancelled_at_any_turn_goes_on_and_runs_no_tool_twice(program, stride):
    async def main():
        work, turns = Work(), 0
        app = program(work, InMemorySaver())
        while await cancelled_after(turns, app, work):
            turns += stride
        assert turns > 20

    asyncio.run(main())
