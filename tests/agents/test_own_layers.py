"""Middleware of the user's own takes the place of that which a deep agent has under the same name."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from signoff.agents import create_deep_agent
from signoff.agents.middleware import HumanInTheLoopMiddleware, SummarizationMiddleware, TodoListMiddleware
from signoff.errors import InvalidGraph

from .desk import USER, call, calls, scripted

LONG: Any = {"messages": [HumanMessage("a"), AIMessage("b"), HumanMessage("c"), AIMessage("d"), HumanMessage("e")]}
TASK = call("task", description="plan it", subagent_type="planner")


def test_a_todo_list_of_ones_own():
    model = scripted()
    create_deep_agent(model, middleware=[TodoListMiddleware(system_prompt="Plan a lot.")]).invoke(USER)
    assert model.seen[0][0].text.endswith("Plan a lot.")
    assert [tools["tools"].count("write_todos") for tools in model.bound] == [1]


def test_a_summary_of_ones_own_is_made_in_the_place_of_the_usual_one():
    shorter = SummarizationMiddleware(scripted("In short: a to d."), trigger=("messages", 4), keep=("messages", 1))
    agent = create_deep_agent(scripted("fine", "fine", "fine"), middleware=[shorter])
    said = agent.invoke(LONG)["messages"]
    assert [message.text for message in said[1:]] == ["e", "fine"]
    assert "In short: a to d." in said[0].text


def test_a_subagent_may_have_its_own_too():
    model = scripted("planned")
    planner = {"name": "planner", "description": "plans", "model": model}
    mine = [TodoListMiddleware(system_prompt="Plan a lot.")]
    create_deep_agent(scripted(calls(TASK)), subagents=[{**planner, "middleware": mine}]).invoke(USER)
    assert model.seen[0][0].text.endswith("Plan a lot.")


def test_two_of_one_name_are_refused():
    with pytest.raises(InvalidGraph, match="Two middleware have the name 'TodoListMiddleware'"):
        create_deep_agent(scripted(), middleware=[TodoListMiddleware(), TodoListMiddleware()])


def test_who_watches_over_tools_is_not_put_aside_unseen():
    with pytest.raises(InvalidGraph, match="a deep agent has one already"):
        create_deep_agent(scripted(), middleware=[HumanInTheLoopMiddleware({"write_file": False})])
