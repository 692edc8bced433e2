"""A subagent goes on where it was, whatever a person changes around the call that it works for; and what it answers."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from pydantic import BaseModel
from typing_extensions import TypedDict

from signoff.agents import create_agent, create_deep_agent
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidInput
from signoff.graph import START, MessagesState, StateGraph
from signoff.graph.message import REMOVE_ALL_MESSAGES
from signoff.prebuilt import create_react_agent
from signoff.types import Command, interrupt

from .desk import USER, Desk, call, calls, check_transcript, results, scripted

CONFIG: Any = {"configurable": {"thread_id": "1"}}
TASK = call("task", "t1", description="pay ana", subagent_type="payer")
ASK = call("ask", "t2", what="who?")


@tool
def ask(what: str) -> str:
    """Ask somebody."""
    return interrupt(what)


def payer(desk: Desk) -> Any:
    """A subagent that pays, and then asks."""
    pays = calls(call("pay", "s1", amount=5, to="ana"))
    return create_agent(scripted(pays, calls(call("ask", "s2", what="sure?")), "all paid"), [*desk.tools, ask])


def team(kind: str, desk: Desk, saver: Any, *wanted: Any) -> Any:
    sub, main = payer(desk), scripted(calls(*wanted, id="ai-1"))
    if kind == "deep":
        one = {"name": "payer", "description": "pays", "runnable": sub}
        return create_deep_agent(main, [ask], subagents=[one], checkpointer=saver)

    @tool
    def task(description: str, subagent_type: str) -> str:
        """Hand on work."""
        return sub.invoke({"messages": [HumanMessage(description)]})["messages"][-1].text

    if kind == "agent":
        return create_agent(main, [task, ask], checkpointer=saver)
    return create_react_agent(main, [task, ask], version=kind, checkpointer=saver)


def says(*wanted: Any) -> Any:
    return {"messages": [AIMessage("", id="ai-1", tool_calls=[*wanted])]}


CHANGES: dict[str, Any] = {
    "said": ([TASK, ASK], {"messages": [HumanMessage("hurry up")]}, {"t1": "all paid", "t2": "yes"}),
    "said to one": ([TASK], {"messages": [HumanMessage("hurry up")]}, {"t1": "all paid"}),
    "dropped": ([TASK, ASK], says(TASK), {"t1": "all paid"}),
    "changed": ([TASK, ASK], says(TASK, call("ask", "t2", what="where?")), {"t1": "all paid", "t2": "yes"}),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("kind", ["agent", "v1", "v2", "deep"])
def test_a_subagent_pays_once_though_a_person_changes_the_state_meanwhile(kind, change, desk):
    wanted, update, told = CHANGES[change]
    agent = team(kind, desk, InMemorySaver(), *wanted)
    asked = agent.invoke(USER, CONFIG)["__interrupt__"]
    agent.update_state(CONFIG, update)
    left = agent.invoke(None, CONFIG)["__interrupt__"]
    assert [one.id for one in left if one.value == "sure?"] == [one.id for one in asked if one.value == "sure?"]
    result = agent.invoke(Command(resume={one.id: "yes" for one in left}), CONFIG)
    assert (desk.ran, results(result)) == (["pay 5 ana"], told)


@pytest.mark.parametrize("kind", ["agent", "v1", "v2", "deep"])
def test_a_subagent_that_is_given_something_else_begins_anew(kind, desk):
    agent = team(kind, desk, InMemorySaver(), TASK)
    agent.invoke(USER, CONFIG)
    agent.update_state(CONFIG, says({**TASK, "args": {**TASK["args"], "description": "pay ana again"}}))
    agent.invoke(None, CONFIG)
    agent.invoke(Command(resume="yes"), CONFIG)
    assert desk.ran == ["pay 5 ana", "pay 5 ana"]


def test_a_subagent_goes_on_however_often_the_state_is_changed(open_in_all_ways, desk):
    app = open_in_all_ways(lambda saver: team("deep", desk, saver, TASK, ASK))
    app.invoke(USER)
    for text in ("hurry up", "please"):
        app.update_state({"messages": [HumanMessage(text)]}, as_node="model")
        app.invoke(None)
    left = {one.id: "yes" for one in app.get_state().interrupts}
    result = app.invoke(Command(resume=left))
    assert (desk.ran, results(result)) == (["pay 5 ana"], {"t1": "all paid", "t2": "yes"})
    check_transcript(result["messages"])


class Found(BaseModel):
    town: str


@dataclass
class Note:
    town: str


FORMS: dict[str, Any] = {"Found": Found, "Note": Note, "found": {"title": "found", "type": "object", "properties": {}}}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_compiled", [False, True])
def test_a_subagent_that_answers_in_a_form_is_understood_by_a_model(form, is_compiled, open_agent):
    model, about = scripted(calls(call(form, town="Rome"))), {"name": "payer", "description": "looks"}
    compiled: Any = {**about, "runnable": create_agent(model, response_format=FORMS[form])}
    declared: Any = {**about, "model": model, "response_format": FORMS[form]}
    subagents = [compiled if is_compiled else declared]
    app = open_agent(lambda saver: create_deep_agent(scripted(calls(TASK)), subagents=subagents, checkpointer=saver))
    assert results(app.invoke(USER)) == {"t1": '{"town":"Rome"}'}


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ([calls(call("pay", amount=5, to="ana"), text="Ana has her money."), AIMessage("")], "Ana has her money."),
        ([calls(call("pay", amount=5, to="ana")), AIMessage("\n")], ""),
        (["Done."], "Done."),
    ],
)
def test_what_a_subagent_has_said_last_is_its_answer_though_it_ends_without_a_word(turns, told, desk):
    one: Any = {"name": "payer", "description": "pays", "model": scripted(*turns)}
    agent = create_deep_agent(scripted(calls(TASK)), desk.tools, subagents=[one])
    assert results(agent.invoke(USER)) == {"t1": told}


class Said(TypedDict):
    """A state without a reducer of messages, which keeps them as they were written."""

    messages: Any


@pytest.mark.parametrize(
    "said",
    [
        [("ai", "it is paid")],
        [{"role": "assistant", "content": "it is paid"}],
        ["it is paid"],
        "it is paid",
        AIMessage("it is paid"),
        [AIMessage("it is paid"), ("ai", "")],
    ],
    ids=str,
)
def test_a_subagent_may_write_its_answer_in_any_way_that_messages_are_written(open_agent, said):
    graph = StateGraph(Said).add_node("say", lambda state: {"messages": said}).add_edge(START, "say").compile()
    one: Any = {"name": "payer", "description": "pays", "runnable": graph}
    app = open_agent(lambda saver: create_deep_agent(scripted(calls(TASK)), subagents=[one], checkpointer=saver))
    assert results(app.invoke(USER)) == {"t1": "it is paid"}


FORGET = {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES)]}


class Count(TypedDict):
    n: int


@pytest.mark.parametrize(
    "graph",
    [
        StateGraph(Count).add_node("count", lambda state: {"n": 1}).add_edge(START, "count").compile(),
        StateGraph(MessagesState).add_node("hush", lambda state: FORGET).add_edge(START, "hush").compile(),
    ],
    ids=["no messages", "none left"],
)
def test_a_graph_that_ends_without_an_answer_is_no_subagent(graph):
    subagent = {"name": "payer", "description": "pays", "runnable": graph}
    agent = create_deep_agent(scripted(calls(TASK)), subagents=[subagent])
    with pytest.raises(InvalidInput, match="'payer' ended without messages, and its last one is its answer"):
        agent.invoke(USER)


@tool
def delete(path: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Delete a file."""
    return Command(update={"files": {path: None}, "messages": [ToolMessage("deleted", tool_call_id=tool_call_id)]})


def cleaner(kind: str) -> Any:
    """A subagent that deletes one file and writes another."""
    cleans = scripted(calls(call("delete", "s1", path="/a"), call("write_file", "s2", file_path="/c", content="3")))
    if kind == "declared":
        return {"tools": [delete], "model": cleans}
    return {"runnable": create_deep_agent(cleans, [delete])}


@pytest.mark.parametrize("kind", ["declared", "compiled"])
def test_what_a_subagent_has_deleted_is_deleted(open_in_all_ways, kind):
    one = {"name": "cleaner", "description": "cleans", **cleaner(kind)}
    wanted = calls(call("task", description="clean", subagent_type="cleaner"))
    app = open_in_all_ways(lambda saver: create_deep_agent(scripted(wanted), subagents=[one], checkpointer=saver))
    app.invoke({**USER, "files": {"/a": "1", "/b": "2"}})
    assert app.get_state().values["files"] == {"/b": "2", "/c": "3"}


class Written(TypedDict):
    messages: list[Any]
    files: dict[str, str]


class Silent(TypedDict):
    messages: list[Any]


@pytest.mark.parametrize(("output", "left"), [(Written, {"/a": "1", "/c": "3"}), (Silent, {"/a": "1"})])
def test_a_graph_that_names_only_what_it_has_written_has_deleted_nothing(output, left):
    graph = StateGraph(Written, output_schema=output)
    graph.add_node("work", lambda state: {"files": {"/c": "3"}, "messages": [AIMessage("done")]})
    one: Any = {"name": "writer", "description": "writes", "runnable": graph.add_edge(START, "work").compile()}
    wanted = calls(call("task", description="write", subagent_type="writer"))
    agent = create_deep_agent(scripted(wanted), subagents=[one])
    assert agent.invoke({**USER, "files": {"/a": "1"}})["files"] == left
