"""A program as a user writes it, with types: mypy checks this file as strictly as the source, and it runs."""

import asyncio
import operator
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict, assert_type

import pytest
from langchain_core import runnables
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

from signoff.agents import AgentState, create_agent
from signoff.agents.middleware import (
    AgentMiddleware,
    ModelRequest,
    ToolCallRequest,
    after_agent,
    before_model,
    dynamic_prompt,
    wrap_model_call,
    wrap_tool_call,
)
from signoff.checkpoint.memory import InMemorySaver
from signoff.config import RunnableConfig
from signoff.func import entrypoint, task
from signoff.graph import END, START, StateGraph
from signoff.graph.state import CompiledStateGraph
from signoff.inbox import Inbox
from signoff.runtime import Runtime
from signoff.types import CachePolicy, Command, Interrupt, RetryPolicy, Send, StateSnapshot, interrupt


class Order(TypedDict):
    amount: int
    log: Annotated[list[str], operator.add]


@dataclass
class Shop:
    clerk: str


def review(order: Order, runtime: Runtime[Shop]) -> dict[str, Any]:
    clerk = runtime.context.clerk
    assert_type(clerk, str)
    return {"log": [f"{clerk}: {interrupt('Refund?')}"]}


def pay(order: Order) -> Command[Literal["tell"]]:
    return Command(update={"log": ["paid"]}, goto="tell")


def split(order: Order) -> list[Send] | Literal["pay"]:
    return "pay" if order["amount"] else [Send("tell", order)]


async def tell(order: Order) -> Order:
    return {"amount": 0, "log": ["told"]}


def shop(saver: InMemorySaver) -> CompiledStateGraph:
    graph = StateGraph(Order, context_schema=Shop)
    graph.add_node("review", review, retry_policy=RetryPolicy(max_attempts=2), cache_policy=CachePolicy(ttl=60))
    graph.add_node(pay)
    graph.add_node(tell)
    graph.add_edge(START, "review")
    graph.add_conditional_edges("review", split)
    graph.add_edge("tell", END)
    return graph.compile(checkpointer=saver)


def test_a_graph_and_what_is_asked_of_it() -> None:
    saver = InMemorySaver()
    app = shop(saver)
    config = {"configurable": {"thread_id": "order-1"}}  # as everybody writes it, without a word on its type

    async def call() -> list[Any]:
        await app.ainvoke({"amount": 5, "log": []}, config, context=Shop("ana"))
        chunks: AsyncIterator[Any] = app.astream(Command(resume=True), config, context=Shop("ana"))
        return [chunk async for chunk in chunks]

    assert list(asyncio.run(call())[-1]) == ["tell"]
    snapshot = app.get_state(config)
    assert_type(snapshot, StateSnapshot)
    questions: tuple[Interrupt, ...] = snapshot.interrupts
    history: Iterator[StateSnapshot] = app.get_state_history(config, limit=3)
    assert not questions
    assert [len(one.next) for one in history] == [0, 1, 1]
    assert_type(app.update_state(config, {"log": ["checked"]}, as_node="tell"), RunnableConfig)


@pytest.mark.parametrize("thread_id", ["order-2"])
def test_configs_of_all_kinds(thread_id: str) -> None:
    app = shop(InMemorySaver())
    mine: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    theirs: runnables.RunnableConfig = {"configurable": {"thread_id": thread_id}}
    app.invoke({"amount": 0, "log": []}, mine, context=Shop("bo"))
    assert app.get_state(theirs) == app.get_state(mine)


def test_questions_in_an_inbox() -> None:
    saver = InMemorySaver()
    app = shop(saver)
    app.invoke({"amount": 5, "log": []}, {"configurable": {"thread_id": "order-3"}}, context=Shop("ana"))
    inbox = Inbox(saver)
    for question in inbox.open():
        assert_type(question.id, str)
        inbox.answer(question.id, True, by="ana")
    assert not list(inbox.open())


@task
def add(one: int, other: int) -> int:
    return one + other


@task(retry_policy=RetryPolicy(max_attempts=2))
async def spell(number: int) -> str:
    return f"<{number}>"


def test_tasks_and_what_they_return() -> None:
    @entrypoint(checkpointer=InMemorySaver())
    def total(numbers: list[int], *, previous: int | None = None) -> entrypoint.final[int, int]:
        sum_of = add(previous or 0, numbers[0]).result()
        assert_type(sum_of, int)
        return entrypoint.final(value=sum_of, save=sum_of)

    @entrypoint()
    async def spelled(number: int) -> str:
        word = await spell(number)
        assert_type(word, str)
        words = await asyncio.gather(spell(1), spell(2))
        assert_type(words, tuple[str, str])
        return word + "".join(words)

    config = {"configurable": {"thread_id": "sum"}}
    assert [total.invoke([number], config) for number in (2, 3)] == [2, 5]
    assert asyncio.run(spelled.ainvoke(3)) == "<3><1><2>"


@before_model
def look(state: AgentState[Any], runtime: Runtime[Shop]) -> dict[str, Any] | None:
    return None


@after_agent(can_jump_to=["end"], name="Checked")
async def check(state: AgentState[Any], runtime: Runtime[Shop]) -> dict[str, Any] | None:
    return None


@wrap_model_call
async def briefly(request: ModelRequest[Shop], handler: Any) -> Any:
    return await handler(request.override(system_prompt="Be brief."))


@wrap_tool_call(tools=[])
async def noted(request: ToolCallRequest, handler: Any) -> Any:
    return await handler(request)


@dynamic_prompt
def prompt(request: ModelRequest[Shop]) -> str:
    return "You sell lamps."


def test_middleware_of_functions() -> None:
    layers = [look, check, briefly, noted, prompt]
    assert_type(layers, list[AgentMiddleware[Any, Any]])
    model = GenericFakeChatModel(messages=iter(["Lamps."]))
    agent = create_agent(model, middleware=layers, context_schema=Shop)
    said = asyncio.run(agent.ainvoke({"messages": [("user", "What?")]}, context=Shop("ana")))
    assert said["messages"][-1].text == "Lamps."
