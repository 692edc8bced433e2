"""Agents that are followed: their tools while they work, their subagents, and what they ask."""

import asyncio
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import tool

from signoff.agents import create_agent, create_deep_agent
from signoff.agents.middleware import AgentMiddleware, SummarizationMiddleware, wrap_tool_call
from signoff.agents.middleware.internal_call_transformer import InternalCallTransformer, internal_call_metadata
from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, MessagesState, StateGraph
from signoff.prebuilt import ToolRuntime
from signoff.stream import StreamTransformer
from signoff.types import Command

from .desk import APPROVE, USER, call, calls, decide, scripted

CONFIG: Any = {"configurable": {"thread_id": "1"}}


@tool
def count(to: int, runtime: ToolRuntime) -> str:
    """Count up to a number."""
    for number in range(1, to + 1):
        runtime.emit_output_delta(number)
    return "counted"


@tool
def stumble() -> str:
    """Fail."""
    raise ValueError("stumbled")


def follow(agent, input=USER):
    return agent.stream_events(input, CONFIG, version="v3")


def test_a_tool_is_read_while_it_works():
    agent = create_agent(scripted(calls(call("count", to=3)), "done"), [count])
    (one,) = [(one.tool_name, one.input["to"], list(one), one.output, one.error) for one in follow(agent).tool_calls]
    assert one == ("count", 3, [1, 2, 3], "counted", None)


def test_on_an_event_loop_too():
    async def read():
        agent = create_agent(scripted(calls(call("count", to=2)), "done"), [count])
        run = await agent.astream_events(USER, CONFIG, version="v3")
        return [(one.tool_name, [delta async for delta in one], one.output) async for one in run.tool_calls]

    assert asyncio.run(read()) == [("count", [1, 2], "counted")]


def test_a_tool_that_failed_says_why():
    run = follow(create_agent(scripted(calls(call("stumble"))), [stumble]))
    one = next(iter(run.tool_calls))
    with pytest.raises(ValueError, match="stumbled"):
        _ = run.output
    assert (one.error, one.output, one.completed) == ("stumbled", None, True)


def test_a_tool_that_was_called_off_has_not_returned_anything():
    agent = create_agent(scripted(calls(call("count", to=3)), "done"), [count])
    with follow(agent) as run:
        one = next(iter(run.tool_calls))
        assert next(iter(one)) == 1
    assert one.output is None
    assert "aborted before its end" in one.error


def test_what_an_agent_asks_is_answered_and_its_tool_runs_once():
    agent = create_agent(
        scripted(calls(call("count", to=1)), "done"),
        [count],
        interrupt_on={"count": True},
        checkpointer=InMemorySaver(),
    )
    run = follow(agent)
    assert list(run.tool_calls) == []
    (question,) = run.interrupts
    assert question.value["action_requests"][0]["name"] == "count"
    run = follow(agent, Command(resume=decide(APPROVE)))
    assert [one.output for one in list(run.tool_calls)] == ["counted"]
    assert run.output["messages"][-1].text == "done"


def test_the_subagents_of_a_deep_agent_have_their_names_and_their_cause():
    helper = {
        "name": "helper",
        "description": "Helps.",
        "system_prompt": "Help.",
        "model": scripted("helped"),
    }
    boss = scripted(calls(call("task", "c7", description="Help me.", subagent_type="helper")), "done")
    run = follow(create_deep_agent(boss, subagents=[helper], checkpointer=InMemorySaver()))
    seen = [(one.name, one.cause, [message.output.text for message in one.messages]) for one in run.subagents]
    assert seen == [("helper", {"type": "toolCall", "tool_call_id": "c7"}, ["helped"])]
    assert run.output["messages"][-1].text == "done"


def test_a_graph_that_is_no_agent_is_none_of_the_subagents():
    inner = StateGraph(MessagesState).add_node("look", lambda state: {}).add_edge(START, "look").compile()

    @tool
    def look() -> str:
        """Look."""
        return str(len(inner.invoke({"messages": []})["messages"]))

    def nested_in(name: str) -> list[str]:
        run = follow(create_agent(scripted(calls(call("look")), "done"), [look]))
        return [one.name for one in run.extensions[name]]

    assert (nested_in("subgraphs"), nested_in("subagents")) == (["tools"], [])


def test_subagents_of_an_agent_with_a_name_have_their_own():
    helper = {"name": "helper", "description": "Helps.", "model": scripted("helped")}
    boss = scripted(calls(call("task", "c7", description="Help me.", subagent_type="helper")), "done")
    run = follow(create_deep_agent(boss, subagents=[helper], name="boss", checkpointer=InMemorySaver()))
    assert [one.name for one in run.subagents] == ["helper"]


@wrap_tool_call
def passes_on(request, handler):
    return handler(request)


@tool
def consult() -> str:
    """Ask somebody."""
    return create_agent(scripted("yes"), name="helper").invoke(USER)["messages"][-1].text


@pytest.mark.parametrize("number", [1, 2])
def test_a_subagent_has_its_cause_where_middleware_stands_around_the_tool_that_calls_it(number):
    wanted = [call("consult", f"c{index}") for index in range(number)]
    run = follow(create_agent(scripted(calls(*wanted), "done"), [consult], middleware=[passes_on]))
    causes = [told.get("cause") for told in run.lifecycle if told["event"] == "started"]
    assert sorted(cause["tool_call_id"] for cause in causes) == [one["id"] for one in wanted]


def test_a_subagent_ends_with_the_tool_that_middleware_stands_around():
    agent = create_agent(
        scripted(calls(call("consult")), calls(call("count", "c2", to=1)), "done"),
        [consult, count],
        middleware=[passes_on],
    )
    seen = [
        name if name == "tool_calls" else item["event"]
        for name, item in follow(agent).interleave("lifecycle", "tool_calls")
    ]
    assert seen == ["tool_calls", "started", "completed", "tool_calls"]


class Scopes(StreamTransformer):
    """Notes for which graphs it was made."""

    made: list[Any] = []

    def __init__(self, scope: Any = ()) -> None:
        super().__init__(scope)
        self.made.append(scope)

    def init(self) -> dict[str, Any]:
        return {}

    def process(self, event: Any) -> None:
        pass


def handing_down(depth: int) -> Any:
    """An agent whose tool calls an agent whose tool calls one, and so on."""
    if depth == 0:
        return create_agent(scripted("done"), [], name="level-0")
    inner = handing_down(depth - 1)

    @tool
    def hand_down() -> str:
        """Ask the next one."""
        return inner.invoke(USER)["messages"][-1].text

    return create_agent(scripted(calls(call("hand_down")), "done"), [hand_down], name=f"level-{depth}")


@pytest.mark.parametrize("is_async", [False, True])
def test_a_nested_agent_is_followed_once_however_deep_it_is(is_async):
    Scopes.made.clear()
    agent = handing_down(3)
    if is_async:

        async def read() -> None:
            run = await agent.astream_events(USER, version="v3", transformers=[Scopes])
            await run.output()

        asyncio.run(read())
    else:
        _ = agent.stream_events(USER, version="v3", transformers=[Scopes]).output
    assert [len(scope) for scope in Scopes.made] == [0, 1, 2, 3]


def test_a_subagent_is_one_of_the_subgraphs():
    run = handing_down(2).stream_events(USER, version="v3")
    assert run.output["messages"][-1].text == "done"
    (graph,), (agent,) = run.subgraphs, run.subagents
    assert graph is agent
    assert (agent.name, agent.output["messages"][-1].text) == ("level-1", "done")
    (inner,) = agent.subagents
    assert inner.name == "level-0"


def test_middleware_brings_projections_of_its_own():
    class Turns(StreamTransformer):
        _native = True
        required_stream_modes = ("updates",)

        def __init__(self, scope=()):
            super().__init__(scope)
            self.turns = []

        def init(self):
            return {"turns": self.turns}

        def process(self, event):
            if event["method"] == "updates":
                self.turns += event["params"]["data"]

    class Watching(AgentMiddleware):
        transformers = (Turns,)

    class Another(AgentMiddleware):
        transformers = (Turns,)

    agent = create_agent(scripted(AIMessage("done")), [], middleware=[Watching(), Another()], transformers=[Turns])
    run = follow(agent)
    assert run.output["messages"][-1].text == "done"
    assert run.turns == ["model"]


def summarised(*, name=None):
    summary = SummarizationMiddleware(scripted("they met"), trigger=("messages", 2), keep=("messages", 1))
    return create_agent(scripted("hello"), [], middleware=[summary], name=name)


LONG = {"messages": [("user", "one"), ("assistant", "two"), ("user", "three")]}


def said(run):
    return [message.output.text for message in run.messages]


def test_what_middleware_asks_a_model_for_itself_is_not_what_the_agent_says():
    assert said(follow(summarised(), LONG)) == ["hello"]
    told = [event["params"]["data"] for event in follow(summarised(), LONG) if event["method"] == "messages"]
    assert "they met" not in str([what for what, _ in told if isinstance(what, dict)])


def test_nor_is_it_where_the_agent_is_nested_in_another_graph():
    app = StateGraph(MessagesState).add_node("clerk", summarised(name="clerk")).add_edge(START, "clerk").compile()
    assert [said(clerk) for clerk in follow(app, LONG).subgraphs] == [["hello"]]


def test_streams_of_tokens_tell_where_a_summary_comes_from():
    shown = {
        message.text: metadata.get("lc_source")
        for message, metadata in summarised().stream(LONG, stream_mode="messages")
    }
    assert shown["they met"] == "summarization"
    assert shown["hello"] is None


def test_middleware_of_ones_own_may_mark_its_calls():
    class Judging(AgentMiddleware):
        transformers = (InternalCallTransformer,)

        def before_model(self, state, runtime):
            scripted("polite enough").invoke("Is that polite?", {"metadata": internal_call_metadata()})

    assert said(follow(create_agent(scripted("hello"), [], middleware=[Judging()]))) == ["hello"]
