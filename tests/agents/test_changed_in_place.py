"""What a hook changes in the newest messages, and does not return, is what was said: in the thread, too."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage

from signoff.agents import create_agent
from signoff.agents.middleware import AgentMiddleware, after_agent, after_model, before_model
from signoff.checkpoint.memory import InMemorySaver
from signoff.graph.message import REMOVE_ALL_MESSAGES
from signoff.types import Command, Overwrite

from .desk import APPROVE, PAY, USER, WATCHED, Desk, calls, decide, results, scripted

CONFIG: Any = {"configurable": {"thread_id": "1"}}


def agent_with(hook: Any, model: Any, tools: Any = (), **options: Any) -> Any:
    return lambda saver: create_agent(model, tools, middleware=[hook], checkpointer=saver, **options)


def texts(state: Any) -> list[str]:
    return [message.text for message in state["messages"]]


def guard(state: Any, runtime: Any) -> None:
    state["messages"][-1].content = "I cannot say that."


@pytest.mark.parametrize("kind", [after_model, after_agent])
def test_what_a_hook_puts_in_place_of_words_is_what_the_thread_has(open_in_all_ways, kind):
    model = scripted("bad words", "more")
    app = open_in_all_ways(agent_with(kind(guard), model))
    assert texts(app.invoke(USER))[-1] == "I cannot say that."
    assert texts(app.get_state().values)[-1] == "I cannot say that."
    app.invoke(USER)
    assert model.seen[-1][1].text == "I cannot say that."


def test_what_a_hook_puts_into_a_block_of_content_is_what_the_thread_has():
    @after_model
    def guard(state: Any, runtime: Any) -> None:
        state["messages"][-1].content[0]["text"] = "I cannot say that."

    said = AIMessage([{"type": "text", "text": "bad words"}])
    app = create_agent(scripted(said), middleware=[guard], checkpointer=InMemorySaver())
    app.invoke(USER, CONFIG)
    assert texts(app.get_state(CONFIG).values)[-1] == "I cannot say that."


def test_the_call_that_was_made_is_the_one_in_the_transcript(open_in_all_ways, desk: Desk):
    @after_model
    def less(state: Any, runtime: Any) -> None:
        for call in state["messages"][-1].tool_calls:
            call["args"]["amount"] = 1

    app = open_in_all_ways(agent_with(less, scripted(calls(PAY)), desk.tools))
    app.invoke(USER)
    assert desk.ran == ["pay 1 ana"]
    assert app.get_state().values["messages"][1].tool_calls[0]["args"]["amount"] == 1


def test_a_person_is_asked_once_about_the_changed_call(open_in_all_ways, desk: Desk):
    @after_model
    def less(state: Any, runtime: Any) -> None:
        for call in state["messages"][-1].tool_calls:
            call["args"]["amount"] = 1

    app = open_in_all_ways(agent_with(less, scripted(calls(PAY)), desk.tools, interrupt_on=WATCHED))
    app.invoke(USER)
    done = app.invoke(Command(resume=decide(APPROVE)))
    assert "__interrupt__" not in done
    assert desk.ran == ["pay 1 ana"]


def test_it_is_kept_beside_what_the_hook_returns(open_agent):
    @after_model(can_jump_to=["model"])
    def guard(state: Any, runtime: Any) -> Any:
        state["messages"][-1].content = "***"
        if len(state["messages"]) < 3:
            return {"messages": [HumanMessage("Politely!")], "jump_to": "model"}
        return None

    app = open_agent(agent_with(guard, scripted("bad words", "worse words")))
    app.invoke(USER)
    assert texts(app.get_state().values)[1:] == ["***", "Politely!", "***"]


@pytest.mark.parametrize("sorry", [AIMessage("Sorry."), {"role": "assistant", "content": "Sorry."}])
def test_it_is_kept_beside_a_command_and_a_single_message(open_agent, sorry):
    @after_model
    def guard(state: Any, runtime: Any) -> Any:
        state["messages"][-1].content = "***"
        return Command(update={"messages": sorry})

    app = open_agent(agent_with(guard, scripted("bad words")))
    app.invoke(USER)
    assert texts(app.get_state().values)[1:] == ["***", "Sorry."]


@pytest.mark.parametrize(
    "returned", [[RemoveMessage(REMOVE_ALL_MESSAGES), AIMessage("new")], Overwrite([AIMessage("new")])]
)
def test_a_hook_that_says_what_all_messages_are_has_the_last_word(open_agent, returned):
    @after_agent
    def anew(state: Any, runtime: Any) -> Any:
        state["messages"][-1].content = "***"
        return {"messages": returned}

    app = open_agent(agent_with(anew, scripted("bad words")))
    app.invoke(USER)
    assert texts(app.get_state().values) == ["new"]


def test_results_and_what_people_say_can_be_changed_before_the_model_sees_them(open_agent, desk: Desk):
    @before_model
    def hush(state: Any, runtime: Any) -> None:
        for message in state["messages"]:
            message.content = message.content.replace("ana", "somebody").replace("hi", "hello")

    app = open_agent(agent_with(hush, scripted(calls(PAY)), desk.tools))
    app.invoke(USER)
    stored = app.get_state().values
    assert results(stored) == {"c1": "paid 5 to somebody"}
    assert texts(stored)[0] == "hello"


def test_a_hook_of_an_async_run_too(open_agent):
    class Guard(AgentMiddleware):
        def after_agent(self, state: Any, runtime: Any) -> None:
            state["messages"][-1].content = "***"

        async def aafter_agent(self, state: Any, runtime: Any) -> None:
            state["messages"][-1].content = "***"

    app = open_agent(agent_with(Guard(), scripted("bad words")))
    app.invoke(USER)
    assert texts(app.get_state().values)[-1] == "***"


def test_a_hook_that_only_looks_writes_nothing(open_agent):
    @after_model
    def look(state: Any, runtime: Any) -> None:
        state["messages"][-1].content = str(state["messages"][-1].content)

    app = open_agent(agent_with(look, scripted("words")))
    assert {"look.after_model": None} in app.stream(USER, stream_mode="updates")


def test_a_state_without_messages_is_none_of_a_hooks_business():
    agent = create_agent(scripted(), middleware=[before_model(lambda state, runtime: None)])
    assert texts(agent.invoke({"messages": []})) == ["done"]


def test_what_cannot_be_copied_is_no_hindrance(open_agent, desk: Desk):
    @before_model
    def look(state: Any, runtime: Any) -> None:
        return None

    message = ToolMessage("5", tool_call_id="c1", artifact=iter([1]))
    agent = create_agent(scripted(calls(PAY)), desk.tools, middleware=[look])
    said = [HumanMessage("hi"), calls(PAY), message]
    assert texts(agent.invoke({"messages": said}))[-1] == "done"


class Masking(AgentMiddleware):
    """Changes what somebody said, on its way to the model."""

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        request.messages[-1].content = "***"
        return handler(request)

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        request.messages[-1].content = "***"
        return await handler(request)


def test_what_a_wrapper_of_the_model_changes_is_kept_too(open_in_all_ways):
    app = open_in_all_ways(agent_with(Masking(), scripted("fine", "fine")))
    assert texts(app.invoke(USER)) == ["***", "fine"]
    assert texts(app.get_state().values) == ["***", "fine"]
    assert texts(app.invoke(USER)) == ["***", "fine", "***", "fine"]


class Limiting(AgentMiddleware):
    """Changes the arguments of a call, on its way to the tool."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        request.tool_call["args"]["amount"] = 1
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        request.tool_call["args"]["amount"] = 1
        return await handler(request)


def test_a_wrapper_of_a_tool_changes_the_call_and_not_what_the_model_said(open_in_all_ways, desk: Desk):
    app = open_in_all_ways(agent_with(Limiting(), scripted(calls(PAY)), desk.tools))
    for state in (app.invoke(USER), app.get_state().values):
        assert state["messages"][1].tool_calls[0]["args"] == {"amount": 5, "to": "ana"}
    assert desk.ran == ["pay 1 ana"]


def test_who_approved_a_call_is_asked_about_what_a_wrapper_made_of_it(open_in_all_ways, desk: Desk):
    app = open_in_all_ways(agent_with(Limiting(), scripted(calls(PAY)), desk.tools, interrupt_on=WATCHED))
    app.invoke(USER)
    (question,) = app.invoke(Command(resume=decide(APPROVE)))["__interrupt__"]
    assert question.value["action_requests"][0]["args"] == {"amount": 1, "to": "ana"}
    done = app.invoke(Command(resume=decide(APPROVE)))
    assert desk.ran == ["pay 1 ana"]
    assert done["messages"][1].tool_calls[0]["args"] == {"amount": 5, "to": "ana"}
