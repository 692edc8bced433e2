"""What is bound to a model stays bound to it, whatever an agent tells it of tools and of the form of its answer."""

import sys
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatResult
from pydantic import BaseModel, Field

from signoff.agents import create_agent
from signoff.agents.middleware import wrap_model_call
from signoff.agents.structured_output import ProviderStrategy, ToolStrategy
from signoff.errors import InvalidInput
from signoff.prebuilt import create_react_agent

from .models import ScriptedModel, call, calls

USER: Any = {"messages": [("user", "hi")]}


class Hearing(ScriptedModel):
    """Notes how it is called."""

    heard: list[dict[str, Any]] = Field(default_factory=list)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        tools = [tool["function"]["name"] for tool in options.pop("tools", ())]
        tags = sorted(run_manager.tags)
        self.heard.append({"stop": stop, "tools": tools, "tags": tags, **options})
        return super()._generate(messages)


class Bare(Hearing):
    """Takes no settings when it is told of tools."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


class Answer(BaseModel):
    """An answer."""

    text: str


def look(name: str) -> str:
    """Look somebody up."""
    return f"found {name}"


@pytest.mark.parametrize("make", [create_agent, create_react_agent])
@pytest.mark.parametrize("tools", [[], [look]])
def test_what_is_bound_to_a_model_stays_beside_the_tools(make, tools, call_it):
    model = Hearing(script=[AIMessage("done")])
    call_it(make(model.bind(stop=["END"]).bind(temperature=1).with_config(tags=["mine"]), tools), USER)
    (heard,) = model.heard
    assert (heard["stop"], heard["temperature"], "mine" in heard["tags"]) == (["END"], 1, True)
    assert heard["tools"] == [tool.__name__ for tool in tools]


@pytest.mark.parametrize("make", [create_agent, create_react_agent])
def test_so_it_does_if_the_model_needs_not_be_told(make, call_it):
    model = Bare(script=[AIMessage("done")])
    call_it(make(model.bind(stop=["END"]), [look]), USER)
    assert model.heard[0]["stop"] == ["END"]


def test_what_middleware_says_of_a_turn_goes_before_what_was_bound(call_it):
    @wrap_model_call
    def warmer(request: Any, handler: Any) -> Any:
        return handler(request.override(model_settings={"temperature": 2}))

    @wrap_model_call
    async def awarmer(request: Any, handler: Any) -> Any:
        return await handler(request.override(model_settings={"temperature": 2}))

    warmer.awrap_model_call = awarmer.awrap_model_call
    model = Hearing(script=[AIMessage("done")])
    call_it(create_agent(model.bind(stop=["END"], temperature=1), [look], middleware=[warmer]), USER)
    assert (model.heard[0]["stop"], model.heard[0]["temperature"]) == (["END"], 2)


def test_what_is_bound_stays_beside_the_form_of_an_answer(call_it):
    said = calls(call("Answer", text="yes"))
    model = Hearing(script=[said])
    call_it(create_agent(model.bind(stop=["END"]), response_format=ToolStrategy(Answer)), USER)
    assert (model.heard[0]["stop"], model.heard[0]["tools"]) == (["END"], ["Answer"])
    model = Hearing(script=[AIMessage('{"text": "yes"}')])
    call_it(create_agent(model.bind(stop=["END"]), response_format=ProviderStrategy(Answer)), USER)
    assert model.heard[0]["stop"] == ["END"]
    assert "response_format" in model.heard[0]


@pytest.mark.parametrize("form", [None, ToolStrategy(Answer), ProviderStrategy(Answer)])
def test_tools_that_are_bound_to_a_model_and_the_choice_among_them_make_room_for_those_of_an_agent(form, call_it):
    bound = Hearing(script=[AIMessage('{"text": "yes"}')]).bind_tools([other], tool_choice="other").bind(stop=["END"])
    call_it(create_agent(bound, [look], response_format=form), USER)
    (heard,) = bound.bound.heard
    assert heard["tools"] == ["look", *(["Answer"] if isinstance(form, ToolStrategy) else [])]
    assert heard.get("tool_choice") in (None, "any")
    assert heard["stop"] == ["END"]


def other(name: str) -> str:
    """Look somewhere else."""
    return f"nothing of {name}"


@pytest.mark.parametrize("make", [create_agent, create_react_agent])
@pytest.mark.parametrize("model", ["", " ", 5, None, Bare], ids=repr)
def test_what_is_no_model_is_refused_when_the_agent_is_made(make, model):
    with pytest.raises(InvalidInput, match=r"The model is .*\. Give|The name of the model is empty"):
        make(model, [look])


def test_a_name_of_a_model_needs_langchain(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain.chat_models", None)  # importing it fails
    with pytest.raises(InvalidInput, match="'openai:gpt-5' the package langchain is needed: pip install langchain"):
        create_agent("openai:gpt-5")


class Unbound(Hearing):
    """Cannot be told of tools, as most models for tests cannot."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        raise NotImplementedError


def test_a_model_that_cannot_be_told_of_tools_is_told_of_the_form_alone(call_it):
    model = Unbound(script=[AIMessage('{"text": "yes"}')])
    result = call_it(create_agent(model, response_format=ProviderStrategy(Answer)), USER)
    assert result["structured_response"] == Answer(text="yes")
    assert "response_format" in model.heard[0]
    with pytest.raises(InvalidInput, match=r"Unbound cannot be told of tools: it has no bind_tools\(\)"):
        call_it(create_agent(model, [look]), USER)


@pytest.mark.parametrize("search", [{"type": "web_search"}, {"type": "web_search_20250305", "name": "web_search"}])
def test_a_model_may_have_the_very_tools_of_the_agent_bound_and_among_them_those_of_its_provider(search):
    own = {"type": "function", "function": {"name": "look"}}
    model = ScriptedModel(script=[AIMessage("done")]).bind(tools=[own, search])
    assert create_react_agent(model, [look, search]).invoke(USER)["messages"][-1].text == "done"
