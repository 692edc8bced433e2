"""A graph that remembers, inside of a tool: it finds its memory again, whoever stands around the tool."""

import operator
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.tools import tool

from signoff.agents import create_agent
from signoff.agents.middleware import AgentMiddleware
from signoff.graph import START, StateGraph
from signoff.prebuilt import create_react_agent
from signoff.types import Command, interrupt

from .desk import USER, call, calls, results, scripted


class Log(TypedDict):
    log: Annotated[list, operator.add]


def books(asks: bool) -> Any:
    """A tool that keeps books: it says what they hold."""

    def note(state: Log) -> Any:
        return {"log": [interrupt(f"keep {state['log'][-1]}?")]} if asks else None

    kept = StateGraph(Log).add_node(note).add_edge(START, "note").compile(checkpointer=True)

    @tool
    def book(word: str) -> str:
        """Book something."""
        return " ".join(kept.invoke({"log": [word]})["log"])

    return book


class Around(AgentMiddleware):
    """Lets every call pass."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


AGENTS = {
    "react": lambda model, tools, saver: create_react_agent(model, tools, checkpointer=saver),
    "v1": lambda model, tools, saver: create_react_agent(model, tools, checkpointer=saver, version="v1"),
    "agent": lambda model, tools, saver: create_agent(model, tools, checkpointer=saver),
    "wrapped": lambda model, tools, saver: create_agent(model, tools, middleware=[Around()], checkpointer=saver),
}


@pytest.mark.parametrize("agent", AGENTS)
def test_the_next_call_of_the_tool_knows_what_the_last_one_has_kept(open_agent, agent):
    wanted = [calls(call("book", f"c{number}", word=word)) for number, word in enumerate(("rent", "tax"))]
    app = open_agent(lambda saver: AGENTS[agent](scripted(*wanted), [books(asks=False)], saver))
    assert results(app.invoke(USER)) == {"c0": "rent", "c1": "rent tax"}


@pytest.mark.parametrize("agent", AGENTS)
def test_calls_side_by_side_ask_and_are_answered_each_in_its_own_turn(open_agent, agent):
    two = calls(*(call("book", word, word=word) for word in ("rent", "tax")))
    app = open_agent(lambda saver: AGENTS[agent](scripted(two), [books(asks=True)], saver))
    result = app.invoke(USER)
    while "__interrupt__" in result:
        question = result["__interrupt__"][-1]
        result = app.invoke(Command(resume={question.id: f"yes to {question.value}"}))
    assert results(result) == {word: f"{word} yes to keep {word}?" for word in ("rent", "tax")}
