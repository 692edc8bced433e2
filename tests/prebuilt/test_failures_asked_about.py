"""The function that says what the model is told of a failed call may ask a person. The tool does not run again."""

from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from signoff.graph import START, MessagesState, StateGraph
from signoff.prebuilt import ToolNode
from signoff.types import Command, interrupt

from .models import call, calls

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class Bank:
    """Pays at the second try."""

    def __init__(self) -> None:
        self.ran: list[int] = []

    def open(self, open_agent: Any, wrap: Any = None) -> Any:
        sync_wrap, async_wrap = WRAPPERS[wrap]

        def build(saver: Any) -> Any:
            node = ToolNode([self.pay()], handle_tool_errors=ask, wrap_tool_call=sync_wrap, awrap_tool_call=async_wrap)
            return StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile(saver)

        return open_agent(build)

    def pay(self) -> Any:
        @tool
        def pay(amount: int) -> str:
            """Pay."""
            self.ran.append(amount)
            if self.ran.count(amount) == 1:
                raise ConnectionError(f"away {amount}")
            return f"paid {amount}"

        return pay


def ask(error: Exception) -> str:
    return interrupt(f"{error}. What now?")


def let_pass(request: Any, execute: Any) -> Any:
    return execute(request)


async def alet_pass(request: Any, execute: Any) -> Any:
    return await execute(request)


WRAPPERS: Any = {None: (None, None), "sync": (let_pass, None), "both": (let_pass, alet_pass)}


@pytest.fixture
def bank() -> Bank:
    return Bank()


def wanting(*amounts: int) -> dict[str, Any]:
    return {"messages": [calls(*(call("pay", f"c{amount}", amount=amount) for amount in amounts))]}


def contents(result: Any) -> list[Any]:
    return [message.content for message in result["messages"] if isinstance(message, ToolMessage)]


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_what_a_person_says_of_a_failed_call_is_what_the_model_is_told(open_agent, bank, wrap):
    app = bank.open(open_agent, wrap)
    app.invoke(wanting(1))
    assert app.questions() == ["away 1. What now?"]
    assert contents(app.invoke(Command(resume="do not pay"))) == ["do not pay"]
    assert bank.ran == [1]


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_of_calls_side_by_side_each_has_its_own_answer(open_agent, bank, wrap):
    app = bank.open(open_agent, wrap)
    asked = app.invoke(wanting(1, 2))["__interrupt__"]
    assert [question.value for question in asked] == ["away 1. What now?", "away 2. What now?"]
    app.invoke(Command(resume={asked[1].id: "leave it"}))
    assert contents(app.invoke(Command(resume="do not pay"))) == ["do not pay", "leave it"]
    assert sorted(bank.ran) == [1, 2]


def test_a_tool_that_asks_and_fails_then_is_not_asked_about_again(open_agent):
    ran = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        ran.append(interrupt(f"pay {amount}?"))
        raise ConnectionError("away")

    def build(saver: Any) -> Any:
        node = ToolNode([pay], handle_tool_errors=ask)
        return StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile(saver)

    app = open_agent(build)
    app.invoke(wanting(1))
    app.invoke(Command(resume="yes"))
    assert app.questions() == ["away. What now?"]
    assert contents(app.invoke(Command(resume="do not pay"))) == ["do not pay"]
    assert ran == ["yes"]
