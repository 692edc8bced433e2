"""A tool may do with its arguments what it likes: what the model has said, and a person has seen, stays as it was."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool

from signoff.agents import create_agent
from signoff.graph.message import MessagesState
from signoff.graph.state import StateGraph
from signoff.prebuilt import ToolNode
from signoff.types import Command

from .desk import APPROVE, USER, Repeating, call, calls, decide, results, scripted

SCHEMA: Any = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
ROWS: Any = [{"to": ["ana"]}]


def sort(rows: Any) -> str:
    """Sort rows."""
    rows[0]["to"].append("bo")
    rows.append("more")
    return f"{len(rows)} {rows[0]['to']}"


def tool(function: Any, kind: str) -> Any:
    schema = {"args_schema": SCHEMA} if kind == "schema" else {}
    return StructuredTool.from_function(function, name="sort", **schema)


def wanted() -> AIMessage:
    return calls(call("sort", rows=[{"to": ["ana"]}]))


def args_in(state: Any) -> Any:
    return next(one for one in state["messages"] if isinstance(one, AIMessage)).tool_calls[0]["args"]


@pytest.mark.parametrize("kind", ["class", "schema"])
@pytest.mark.parametrize("watched", [False, True])
def test_what_a_tool_does_to_its_arguments_is_not_in_the_message_of_the_model(open_in_all_ways, kind, watched):
    options: Any = {"interrupt_on": {"sort": True}} if watched else {}
    app = open_in_all_ways(
        lambda saver: create_agent(scripted(wanted()), [tool(sort, kind)], checkpointer=saver, **options)
    )
    done = app.invoke(USER)
    if watched:
        done = app.invoke(Command(resume=decide(APPROVE)))
    assert results(done) == {"c1": "2 ['ana', 'bo']"}
    assert args_in(done) == args_in(app.get_state().values) == {"rows": ROWS}


@pytest.mark.parametrize("kind", ["class", "schema"])
def test_nor_in_that_of_a_graph_of_ones_own(open_in_all_ways, kind):
    graph = StateGraph(MessagesState).add_node("model", lambda state: {"messages": [wanted()]})
    graph.add_node("tools", ToolNode([tool(sort, kind)])).set_entry_point("model").add_edge("model", "tools")
    app = open_in_all_ways(lambda saver: graph.compile(checkpointer=saver))
    done = app.invoke(USER)
    assert args_in(done) == args_in(app.get_state().values) == {"rows": ROWS}


@pytest.mark.parametrize("kind", ["class", "schema"])
def test_a_tool_that_is_called_again_is_given_what_it_was_given(open_in_all_ways, kind):
    app = open_in_all_ways(
        lambda saver: create_agent(scripted(wanted()), [tool(sort, kind)], middleware=[Repeating()], checkpointer=saver)
    )
    assert results(app.invoke(USER)) == {"c1": "2 ['ana', 'bo']"}
