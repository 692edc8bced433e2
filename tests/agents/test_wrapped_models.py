"""What a person has agreed to is what the model has said: it does not speak again because a wrapper has asked."""

from itertools import count
from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool as as_tool
from pydantic import BaseModel

from signoff.agents import create_agent
from signoff.agents.middleware import AgentMiddleware, ModelRetryMiddleware
from signoff.agents.structured_output import ToolStrategy
from signoff.types import Command, interrupt

from .desk import USER, call, calls, scripted


class Approving(AgentMiddleware):
    """Shows a person what the model has said, until they like it."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        while interrupt(shown(said := handler(request))) != "yes":
            pass
        return said

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        while interrupt(shown(said := await handler(request))) != "yes":
            pass
        return said


class City(BaseModel):
    name: str


def shown(said: Any) -> str:
    (message,) = said.result
    return f"{message.text} {[one['args'] for one in message.tool_calls]}"


@pytest.fixture
def open_writer(open_in_all_ways):
    """An agent whose model never says the same twice."""

    def open_writer(*middleware: Any, speak: Any = lambda n: AIMessage(f"draft {n}")) -> Any:
        turns = count(1)
        model = scripted(*[lambda messages: speak(next(turns))] * 9)
        layers = [Approving(), *middleware]
        return open_in_all_ways(lambda saver: create_agent(model, [pay], middleware=layers, checkpointer=saver))

    def pay(amount: int) -> str:
        """Pay."""
        return f"paid {amount}"

    return open_writer


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_a_person_has_agreed_to_is_what_the_model_has_said(open_writer, durability):
    app = open_writer()
    app.invoke(USER, durability=durability)
    assert app.questions() == ["draft 1 []"]
    result = app.invoke(Command(resume="yes"), durability=durability)
    assert result["messages"][-1].text == "draft 1"


def test_the_tools_are_called_as_a_person_has_seen_it(open_writer):
    def speak(n: int) -> AIMessage:
        return calls(call("pay", amount=n * 100)) if n == 1 else AIMessage(f"done {n}")

    app = open_writer(speak=speak)
    app.invoke(USER)
    assert app.questions() == [" [{'amount': 100}]"]
    app.invoke(Command(resume="yes"))
    assert app.questions() == ["done 2 []"]
    assert [message.text for message in app.invoke(Command(resume="yes"))["messages"]][2:] == ["paid 100", "done 2"]


def test_a_wrapper_may_have_the_model_speak_again(open_writer):
    app = open_writer()
    app.invoke(USER)
    app.invoke(Command(resume="another one"))
    assert app.questions() == ["draft 2 []"]
    app.invoke(Command(resume="another one"))
    assert app.questions() == ["draft 3 []"]
    assert app.invoke(Command(resume="yes"))["messages"][-1].text == "draft 3"


def test_a_model_that_was_called_again_until_it_answered_is_not_called_once_more(open_writer):
    def speak(n: int) -> AIMessage:
        if n < 3:
            raise ConnectionError("busy")
        return AIMessage(f"draft {n}")

    app = open_writer(ModelRetryMiddleware(initial_delay=0), speak=speak)
    app.invoke(USER)
    assert app.questions() == ["draft 3 []"]
    assert app.invoke(Command(resume="yes"))["messages"][-1].text == "draft 3"


def test_the_model_speaks_again_if_a_person_has_changed_the_conversation(open_writer):
    app = open_writer()
    app.invoke(USER)
    app.update_state({"messages": [("user", "and be polite")]}, as_node="__start__")
    app.invoke(None)
    assert app.questions() == ["draft 2 []"]
    assert app.invoke(Command(resume="yes"))["messages"][-1].text == "draft 2"


@pytest.mark.parametrize("layers", [[], [ModelRetryMiddleware()]], ids=["bare", "wrapped"])
def test_what_a_person_says_of_a_wrong_answer_is_told_to_the_model_that_gave_it(open_in_all_ways, layers):
    def speak(messages: Any) -> AIMessage:
        heard.append([message.text for message in messages if isinstance(message, ToolMessage)])
        return calls(call("City", f"c{len(heard)}", name=["x"] if len(heard) == 1 else f"Rome {len(heard)}"))

    heard: list[list[str]] = []
    strategy = ToolStrategy(City, handle_errors=lambda error: interrupt("wrong: what now?"))
    model = scripted(*[speak] * 9)
    app = open_in_all_ways(
        lambda saver: create_agent(model, middleware=layers, response_format=strategy, checkpointer=saver)
    )
    app.invoke(USER)
    assert app.questions() == ["wrong: what now?"]
    assert app.invoke(Command(resume="one city, please"))["structured_response"].name == "Rome 2"
    assert heard == [[], ["one city, please"]]


def test_the_model_is_told_of_tools_and_settings_that_middleware_changes_in_place():
    def look() -> str:
        """Look."""
        offered.append(as_tool(pay))
        return "nothing"

    def pay() -> str:
        """Pay."""
        if settings["temperature"]:
            offered[0].description = "Look again."
        settings["temperature"] = 1
        return "paid"

    class Offering(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(tools=offered, model_settings=settings))

    offered, settings = [as_tool(look)], {"temperature": 0}
    model = scripted(calls(call("look")), calls(call("pay", "c2")), calls(call("pay", "c3")))
    create_agent(model, [look, pay], middleware=[Offering()]).invoke(USER)
    told = [(one["tools"], one["temperature"]) for one in model.bound]
    assert told == [(["look"], 0), *[(["look", "pay"], at) for at in (0, 1, 1)]]
