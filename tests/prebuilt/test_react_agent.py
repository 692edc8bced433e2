"""create_react_agent, where it is more than LangGraph's (tests/parity/test_prebuilt_agents.py has what is the same)."""

import asyncio
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidGraph, InvalidInput
from signoff.prebuilt import ToolNode, create_react_agent
from signoff.prebuilt.agent_turns import OUT_OF_STEPS
from signoff.prebuilt.chat_agent_executor import AgentState, AgentStatePydantic
from signoff.types import Command, interrupt

from .models import call, calls, scripted

USER = {"messages": [HumanMessage("hi")]}


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TWO = calls(call("add", "c1", a=1, b=2), call("add", "c2", a=3, b=4), id="ai-1")


class Answer(BaseModel):
    """An answer."""

    text: str


class Pydantic(AgentStatePydantic):
    user: str = "nobody"


def test_a_structured_response_comes_back_as_it_was(open_agent):
    model = scripted("x", structured=Answer(text="7"))
    app = open_agent(lambda saver: create_react_agent(model, [add], response_format=Answer, checkpointer=saver))
    app.invoke(USER)
    assert app.get_state().values["structured_response"] == Answer(text="7")


def test_an_agent_with_a_pydantic_state_is_kept(open_agent, version):
    def build(saver: Any) -> Any:
        return create_react_agent(scripted(TWO), [add], state_schema=Pydantic, checkpointer=saver, version=version)

    app = open_agent(build)
    app.invoke({**USER, "user": "ana"})
    values = app.get_state().values
    assert values["user"] == "ana"
    assert [message.type for message in values["messages"]] == ["human", "ai", "tool", "tool", "ai"]


def test_a_prompt_may_say_what_else_is_in_the_state():
    class State(AgentState):
        user: str

    app = create_react_agent(
        model := scripted("ok"), [add], prompt=lambda state: f"This is {state['user']}.", state_schema=State
    )
    app.invoke({**USER, "user": "ana"})
    assert model.seen[0][0].content == "This is ana."


def test_a_pydantic_state_has_hooks(call_it):
    def shorten(state: Pydantic) -> Any:
        return {"llm_input_messages": state.messages[-1:]}

    model = scripted("ok")
    app = create_react_agent(model, [add], state_schema=Pydantic, pre_model_hook=shorten)
    result = call_it(app, {"messages": [HumanMessage("a"), HumanMessage("b")]})
    assert [message.content for message in model.seen[0]] == ["b"]
    assert [message.content for message in result["messages"]] == ["a", "b", "ok"]


def test_a_hook_that_answers_some_calls_leaves_the_others_to_the_tools(call_it, version):
    def deny(state: AgentState) -> Any:
        last = state["messages"][-1]
        return {"messages": [ToolMessage("denied", tool_call_id="c1")]} if getattr(last, "tool_calls", None) else {}

    app = create_react_agent(scripted(TWO), [add], post_model_hook=deny, version=version)
    messages = call_it(app, USER)["messages"]
    assert [message.content for message in messages if isinstance(message, ToolMessage)] == ["denied", "7"]


def test_behind_a_hook_the_calls_are_one_task_or_one_each(version):
    app = create_react_agent(scripted(TWO), [add], post_model_hook=lambda state: {}, version=version)
    steps = [[*chunk] for chunk in app.stream(USER, stream_mode="updates")]
    assert steps.count(["tools"]) == {"v1": 1, "v2": 2}[version]


def test_a_hook_may_ask(open_agent, version):
    def review(state: AgentState) -> Any:
        if not state["messages"][-1].tool_calls:
            return {}
        approved = interrupt("run these?")
        return {} if approved else {"messages": [AIMessage("not run", id=state["messages"][-1].id)]}

    def build(saver: Any) -> Any:
        return create_react_agent(scripted(TWO), [add], post_model_hook=review, checkpointer=saver, version=version)

    app = open_agent(build)
    app.invoke(USER)
    assert app.questions() == ["run these?"]
    assert [message.content for message in app.invoke(Command(resume=False))["messages"]] == ["hi", "not run"]


def test_an_async_choice_of_the_model_is_refused_in_a_sync_run():
    async def choose(state: Any, runtime: Any) -> Any:
        return scripted("ok")

    app = create_react_agent(choose, [add])
    with pytest.raises(InvalidInput, match="'choose' is async.*ainvoke"):
        app.invoke(USER)
    assert asyncio.run(app.ainvoke(USER))["messages"][-1].content == "ok"


def test_what_is_wrong_with_a_description_is_said_when_it_is_built():
    with pytest.raises(InvalidInput, match='"v1" or "v2", not \'v3\''):
        create_react_agent(scripted(), [add], version="v3")
    with pytest.raises(InvalidInput, match="The prompt is 3"):
        create_react_agent(scripted(), [add], prompt=3)
    with pytest.raises(InvalidGraph, match="lacks 'messages', 'remaining_steps'"):
        create_react_agent(scripted(), [add], state_schema=Answer)
    with pytest.raises(InvalidGraph, match="add structured_response"):
        create_react_agent(scripted(), [add], state_schema=AgentState, response_format=Answer)
    with pytest.raises(InvalidInput, match="The model is 3"):
        create_react_agent(3, [add])
    with pytest.raises(InvalidInput, match=r"has the tools \['other'\] bound"):
        create_react_agent(scripted().bind_tools([{"name": "other"}]), [add])


def test_an_agent_that_runs_out_of_steps_says_so_and_leaves_no_call_open(call_it, version):
    app = create_react_agent(scripted(TWO, TWO), [add], version=version)
    messages = call_it(app, USER, {"recursion_limit": 2})["messages"]
    assert messages[-1].content == OUT_OF_STEPS
    assert not messages[-1].tool_calls


def test_finished_turns_of_the_model_are_not_repeated_after_a_question(open_agent, version):
    @tool
    def ask() -> str:
        """Ask."""
        return str(interrupt("sure?"))

    model = scripted(calls(call("ask")), "done")
    app = open_agent(lambda saver: create_react_agent(model, [ask], checkpointer=saver, version=version))
    app.invoke(USER)
    app.invoke(Command(resume="yes"))
    assert len(model.seen) == 2


def test_new_input_leaves_behind_what_finished_beside_a_failure_where_all_calls_are_one_task(call_it, version):
    paid = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        if amount == 13:
            raise ConnectionError("no answer")
        paid.append(amount)
        return "paid"

    pays = calls(call("pay", "c1", amount=5), call("pay", "c2", amount=13))
    tools = ToolNode([pay], handle_tool_errors=False)
    app = create_react_agent(scripted(pays, AIMessage("done")), tools, checkpointer=InMemorySaver(), version=version)
    config = {"configurable": {"thread_id": "1"}}
    with pytest.raises(ConnectionError):
        call_it(app, USER, config)
    told = {one.tool_call_id: one.content for one in call_it(app, USER, config)["messages"] if one.type == "tool"}
    assert "find out first" in told["c2"]
    assert ("find out first" in told["c1"], told["c1"] == "paid") == (
        (True, False) if version == "v1" else (False, True)
    )
    assert paid == [5]


def test_the_model_may_be_a_chain_with_its_tools_bound():
    from langchain_core.runnables import RunnableLambda

    model = scripted(TWO, "done", structured=Answer(text="x"))
    chain = RunnableLambda(lambda messages: messages) | model.bind_tools([add])
    result = create_react_agent(chain, [add], response_format=Answer).invoke(USER)
    assert result["structured_response"] == Answer(text="x")
    assert len(model.bound) == 1


def test_agents_stand_in_the_picture_with_their_parts():
    app = create_react_agent(
        scripted(), [add], pre_model_hook=lambda s: {}, post_model_hook=lambda s: {}, response_format=Answer
    )
    assert set(app.get_graph().nodes) == {
        "__start__", "pre_model_hook", "agent", "post_model_hook", "tools", "generate_structured_response", "__end__",
    }  # fmt: skip


def test_an_agent_says_what_it_takes():
    app = create_react_agent(scripted(), [add], response_format=Answer)
    assert "messages" in app.get_input_jsonschema()["properties"]
    assert "structured_response" in app.get_output_jsonschema()["properties"]


def test_threads_do_not_mix():
    app = create_react_agent(scripted("one", "two"), [], checkpointer=InMemorySaver())
    for thread in ("a", "b", "a"):
        result = app.invoke({"messages": [("user", "hi")]}, {"configurable": {"thread_id": thread}})
    assert [message.content for message in result["messages"]] == ["hi", "one", "hi", "two"]


@pytest.mark.parametrize("id", [None, "", "c1"])
def test_calls_that_lack_an_id_or_share_one_are_told_apart(call_it, version, id):
    agent = create_react_agent(
        scripted(calls(call("add", id, a=1, b=2), call("add", id, a=3, b=4))), [add], version=version
    )
    messages = call_it(agent, USER)["messages"]
    first, second = [one["id"] for one in messages[1].tool_calls]
    assert {one.tool_call_id: one.content for one in messages[2:4]} == {first: "3", second: "7"}


@pytest.mark.parametrize("hook", [None, lambda state: {}], ids=["plain", "hooked"])
def test_a_model_that_uses_its_ids_again_adds_messages(call_it, version, hook):
    again = calls(call("add", "c1", a=1, b=2), id="ai")
    model = scripted(again, again, AIMessage("3", id="ai"), structured=Answer(text="3"))
    app = create_react_agent(model, [add], version=version, post_model_hook=hook, response_format=Answer)
    result = call_it(app, USER, {"recursion_limit": 12})
    assert [message.type for message in result["messages"]] == ["human", "ai", "tool", "ai", "tool", "ai"]
    assert len({message.id for message in result["messages"]}) == 6


def test_an_answer_that_a_cache_of_the_model_gives_again_is_added():
    model = scripted("hello", cache=InMemoryCache())  # with the id that LangChain gave to it the first time
    app = create_react_agent(model, [], prompt=lambda state: state["messages"][-1:], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    app.invoke({"messages": "hi"}, config)
    result = app.invoke({"messages": "hi"}, config)
    assert [message.type for message in result["messages"]] == ["human", "ai", "human", "ai"]
    assert len(model.seen) == 1


def test_a_message_whose_id_is_taken_is_streamed_once():
    app = create_react_agent(scripted(calls(call("add", a=1, b=2), id="ai"), AIMessage("3", id="ai")), [add])
    shown = [message for message, _ in app.stream(USER, stream_mode="messages")]
    assert [message.type for message in shown] == ["ai", "tool", "ai"]
