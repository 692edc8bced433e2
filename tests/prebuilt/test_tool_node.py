"""ToolNode, where it is more than LangGraph's (tests/parity/test_prebuilt_tools.py has what is the same)."""

import asyncio
import dataclasses
import threading
from contextlib import nullcontext
from typing import Annotated, Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import RemoveMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, tool
from pydantic import BaseModel

from signoff.errors import InvalidInput, NodeTimeoutError, SignoffError
from signoff.graph import START, MessagesState, StateGraph
from signoff.graph.message import REMOVE_ALL_MESSAGES
from signoff.prebuilt import InjectedState, InjectedStore, ToolNode, ToolRuntime, tools_condition
from signoff.prebuilt.tool_node import (
    INVALID_TOOL_NAME_ERROR_TEMPLATE,
    TOOL_CALL_ERROR_TEMPLATE,
    TOOL_INVOCATION_ERROR_TEMPLATE,
    ToolCallRequest,
    ToolInvocationError,
)
from signoff.prebuilt.tool_results import InvalidToolResult
from signoff.runtime import Runtime
from signoff.store.memory import InMemoryStore
from signoff.types import Command, Send, TimeoutPolicy

from .models import call, calls


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail() -> str:
    """Fail."""
    raise ValueError("no")


ONE = calls(call("add", a=1, b=2))


def test_outside_of_a_graph_it_needs_no_config(call_it):
    assert call_it(ToolNode([add]), [ONE])[0].content == "3"


def test_outside_of_a_graph_its_runtime_comes_from_the_config(call_it):
    @tool
    def look(runtime: ToolRuntime, store: Annotated[Any, InjectedStore()]) -> str:
        """Look."""
        return f"{runtime.context} {runtime.store is store}"

    config = {"configurable": {"__pregel_runtime": Runtime(context="ana", store=InMemoryStore())}}
    assert call_it(ToolNode([look]), [calls(call("look"))], config)[0].content == "ana True"


def test_it_is_a_node_called_tools_by_default():
    graph = StateGraph(MessagesState).add_node(ToolNode([add])).add_edge(START, "tools")
    assert graph.compile().invoke({"messages": [ONE]})["messages"][-1].content == "3"


def test_the_loop_that_everybody_writes(call_it):
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [ONE if len(state["messages"]) < 2 else "done"]})
    graph.add_node("tools", ToolNode([add]))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    result = call_it(graph.compile(), {"messages": ["hi"]})
    assert [message.content for message in result["messages"]] == ["hi", "", "3", "done"]


def test_the_words_for_the_model_are_templates():
    assert TOOL_CALL_ERROR_TEMPLATE.format(error="E").count("E") == 1
    assert "other" in INVALID_TOOL_NAME_ERROR_TEMPLATE.format(requested_tool="other", available_tools="add")
    assert "add" in TOOL_INVOCATION_ERROR_TEMPLATE.format(tool_name="add", tool_kwargs={}, error="E")


def test_a_misfit_names_the_tool_and_what_is_wrong():
    with pytest.raises(ToolInvocationError) as refused:
        ToolNode([add], handle_tool_errors=False).invoke([calls(call("add", a="x"))])
    assert refused.value.tool_name == "add"
    assert refused.value.tool_kwargs == {"a": "x"}
    assert "a: Input should be a valid integer" in refused.value.message
    assert isinstance(refused.value, SignoffError)
    assert "b: Field required" in str(refused.value)


def test_the_model_is_not_told_of_what_it_cannot_change():
    @tool
    def look(x: int, secret: Annotated[int, InjectedState("secret")]) -> str:
        """Look."""
        return "ok"

    wanted = calls(call("look", x="a"))
    text = ToolNode([look]).invoke({"messages": [wanted], "secret": "not a number"})["messages"][0].content
    assert "x: " in text
    assert "secret" not in text
    assert "not a number" not in text


def test_any_callable_handles_errors():
    class Handler:
        def __call__(self, error: ValueError) -> str:
            return f"handled {error}"

    node = ToolNode([fail], handle_tool_errors=Handler())
    assert node.invoke([calls(call("fail"))])[0].content == "handled no"


def test_a_setting_for_errors_that_makes_no_sense_is_refused_at_once():
    with pytest.raises(InvalidInput, match="handle_tool_errors is 3"):
        ToolNode([add], handle_tool_errors=3)

    def takes_text(error: str) -> str:
        return error

    with pytest.raises(InvalidInput, match="no exception class"):
        ToolNode([add], handle_tool_errors=takes_text)


def test_what_is_no_tool_is_refused_at_once():
    with pytest.raises(InvalidInput, match="'add' is no tool"):
        ToolNode(["add"])


def test_a_missing_key_of_the_state_is_named():
    @tool
    def look(x: Annotated[int, InjectedState("user")]) -> str:
        """Look."""
        return str(x)

    with pytest.raises(InvalidInput, match="wants the key 'user' of the state"):
        ToolNode([look]).invoke({"messages": [calls(call("look"))]})


def test_a_parameter_with_a_default_keeps_it_where_there_is_nothing_to_inject():
    @tool
    def look(x: Annotated[int, InjectedState("x")] = 7, store: Annotated[Any, InjectedStore()] = None) -> str:
        """Look."""
        return f"{x} {store}"

    assert ToolNode([look]).invoke({"messages": [calls(call("look"))]})["messages"][0].content == "7 None"
    assert ToolNode([look]).invoke({"messages": [calls(call("look"))], "x": 8})["messages"][0].content == "8 None"


class Words(BaseModel):
    word: str


@pytest.mark.parametrize("schema", [Words, Words.model_json_schema()], ids=["model", "json schema"])
def test_a_schema_of_the_users_own_need_not_have_what_is_injected(schema):
    @tool(args_schema=schema)
    def look(
        word: str,
        state: Annotated[dict[str, Any], InjectedState],
        id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime,
    ) -> str:
        """Look."""
        return f"{word} {sorted(state)} {id} {runtime.tool_call_id}"

    result = ToolNode([look]).invoke({"messages": [calls(call("look", "c7", word="a", id="mine"))]})
    assert result["messages"][0].content == "a ['messages'] c7 c7"


def test_a_wrapper_may_give_a_call_of_no_tool_the_name_of_one():
    def wrapper(request: Any, execute: Any) -> Any:
        return execute(request.override(tool_call={**request.tool_call, "name": "add"}))

    (message,) = ToolNode([add], wrap_tool_call=wrapper).invoke([calls(call("plus", a=1, b=2))])
    assert message.content == "3"


def test_a_wrapper_may_stand_around_a_call_that_is_given_what_cannot_be_copied():
    @tool
    def look(at: Any) -> str:
        """Look."""
        return type(at).__name__

    node = ToolNode([look], wrap_tool_call=lambda request, execute: execute(request))
    (message,) = node.invoke([calls(call("look", at=threading.Lock()))])
    assert message.content == "lock"


def test_a_wrapper_may_give_the_tool_another_state():
    @tool
    def look(state: Annotated[dict[str, Any], InjectedState], runtime: ToolRuntime) -> str:
        """Look."""
        return f"{sorted(state)} {sorted(runtime.state)}"

    def wrapper(request: ToolCallRequest, execute: Any) -> Any:
        return execute(request.override(state={"other": 1}))

    node = ToolNode([look], wrap_tool_call=wrapper)
    assert node.invoke({"messages": [calls(call("look"))]})["messages"][0].content == "['other'] ['other']"


def test_the_markers_of_langgraph_are_understood(call_it):
    from langgraph.prebuilt import InjectedState as TheirState
    from langgraph.prebuilt import InjectedStore as TheirStore
    from langgraph.prebuilt import ToolRuntime as TheirRuntime

    @tool
    def look(
        x: Annotated[int, TheirState("x")], store: Annotated[Any, TheirStore()], runtime: TheirRuntime[Any, Any]
    ) -> str:
        """Look."""
        return f"{x} {type(store).__name__} {type(runtime) is TheirRuntime} {runtime.tool_call_id}"

    config = {"configurable": {"__pregel_runtime": Runtime(store=InMemoryStore())}}
    result = call_it(ToolNode([look]), {"messages": [calls(call("look"))], "x": 3}, config)
    assert result["messages"][0].content == "3 InMemoryStore True c1"


def test_the_runtime_of_langgraph_shows_parts_of_a_result_too():
    from langgraph.prebuilt import ToolRuntime as TheirRuntime

    @tool
    def spell(runtime: TheirRuntime) -> str:
        """Say it letter by letter."""
        runtime.emit_output_delta("a")
        return "ab"

    graph = StateGraph(MessagesState).add_node("tools", ToolNode([spell])).add_edge(START, "tools").compile()
    events = list(graph.stream({"messages": [calls(call("spell"))]}, stream_mode="tools"))
    assert [event["event"] for event in events] == ["tool-started", "tool-output-delta", "tool-finished"]


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes when it is told so."""

    now = 0.0

    def time(self):
        return self.now


@pytest.mark.parametrize("is_shown", [False, True])
def test_a_tool_that_shows_a_part_of_its_result_is_not_idle(is_shown):
    @tool
    async def spell(runtime: ToolRuntime) -> str:
        """Say it letter by letter."""
        for letter in "abcdefgh":
            asyncio.get_running_loop().now += 0.4
            if is_shown:
                runtime.emit_output_delta(letter)
            await asyncio.sleep(0)
        return "done"

    graph = StateGraph(MessagesState)
    graph.add_node("tools", ToolNode([spell]), timeout=TimeoutPolicy(idle_timeout=0.5)).add_edge(START, "tools")
    with asyncio.Runner(loop_factory=Clock) as runner, nullcontext() if is_shown else pytest.raises(NodeTimeoutError):
        found = runner.run(graph.compile().ainvoke({"messages": [calls(call("spell"))]}))
        assert found["messages"][-1].content == "done"


def test_a_tool_of_any_class_may_return_a_command(call_it):
    class Rename(BaseTool):
        name: str = "rename"
        description: str = "Rename."

        def _run(self, to: str) -> Any:
            return Command(update={"messages": [ToolMessage("ok", tool_call_id="c1")], "user": to})

    (command,) = call_it(ToolNode([Rename()]), {"messages": [calls(call("rename", to="bo"))]})
    assert command.update["user"] == "bo"
    assert command.update["messages"][0].name == "rename"


class Signed(BaseTool):
    """Signs what it is called with on an event loop, in a way of its own."""

    name: str = "send"
    description: str = "Send."

    def _run(self, to: str) -> str:
        return f"{to}, unsigned"

    async def ainvoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        sent = await super().ainvoke(input, config, **kwargs)
        return f"{sent}, signed" if isinstance(sent, str) else sent.model_copy(update={"content": "signed"})


class Checked(Signed):
    """Checks what a sync run calls it with; LangChain does not come by here on an event loop."""

    ainvoke = BaseTool.ainvoke

    def invoke(self, input: Any, config: Any = None, **kwargs: Any) -> Any:
        raise AssertionError("only sync runs")


def sent_by(tool: BaseTool) -> Any:
    app = StateGraph(MessagesState).add_node("tools", ToolNode([tool])).add_edge(START, "tools").compile()
    done = asyncio.run(app.ainvoke({"messages": [calls(call("send", to="bo"))]}))
    return done["messages"][-1].content


def test_a_tool_that_says_how_to_await_it_is_awaited_that_way():
    assert sent_by(Signed()) == "signed"
    assert sent_by(Checked()) == "bo, unsigned"


def test_a_tool_that_says_how_to_await_it_is_awaited_that_way_as_a_part_of_a_node():
    node = RunnableLambda(lambda state: {"to": "bo"}) | Signed() | (lambda sent: {"messages": [("user", sent)]})
    app = StateGraph(MessagesState).add_node("send", node).add_edge(START, "send").compile()
    assert asyncio.run(app.ainvoke({"messages": []}))["messages"][-1].content == "bo, unsigned, signed"


def test_a_tool_with_only_a_coroutine_may_say_itself_how_a_sync_run_calls_it():
    async def send(to: str) -> str:
        return f"sent to {to}"

    class Blocking(StructuredTool):
        """Waits for its coroutine, where there is no event loop."""

        def _run(self, to: str) -> str:  # type: ignore[override]
            return asyncio.run(send(to))

    node = ToolNode([Blocking.from_function(coroutine=send, name="send", description="Send.")])
    app = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile()
    assert app.invoke({"messages": [calls(call("send", to="bo"))]})["messages"][-1].content == "sent to bo"


def test_a_command_that_leaves_its_call_open_is_refused_with_the_mend():
    @tool
    def rename() -> Any:
        """Rename."""
        return Command(update={"user": "bo"})

    with pytest.raises(InvalidToolResult, match="without a tool message for its call 'c1'.*InjectedToolCallId"):
        ToolNode([rename]).invoke({"messages": [calls(call("rename"))]})


def told(id: str) -> ToolMessage:
    return ToolMessage("ok", tool_call_id=id)


FOR_ANOTHER: dict[str, Any] = {
    "a message": told("c2"),
    "a message beside its own": [told("c1"), told("c2")],
    "a message beside a command": [Command(update={"messages": [told("c1")]}), told("c2")],
    "a command": Command(update={"messages": [told("c1"), told("c2")]}),
    "a command with a call that nobody has made": Command(update={"messages": [told("c1"), told("c9")]}),
}


@pytest.mark.parametrize("returned", FOR_ANOTHER.values(), ids=FOR_ANOTHER)
@pytest.mark.parametrize("by_wrapper", [False, True])
def test_a_tool_message_for_another_call_is_refused(call_it, returned, by_wrapper):
    @tool
    def rename() -> Any:
        """Rename."""
        return "ok" if by_wrapper else returned

    async def awrap(request: Any, execute: Any) -> Any:
        return returned

    wraps = {"wrap_tool_call": lambda request, execute: returned, "awrap_tool_call": awrap} if by_wrapper else {}
    node = ToolNode([rename], **wraps)
    with pytest.raises(
        InvalidToolResult, match="'rename' returned a tool message for the call 'c[29]', and its own is"
    ):
        call_it(node, {"messages": [calls(call("rename", "c1"))]})


def test_a_command_with_two_tool_messages_for_its_call_is_refused():
    @tool
    def rename() -> Any:
        """Rename."""
        return Command(update={"messages": [told("c1"), told("c1")]})

    with pytest.raises(InvalidToolResult, match="a Command with 2 tool messages for its call 'c1'"):
        ToolNode([rename]).invoke({"messages": [calls(call("rename"))]})


def test_a_list_may_have_a_command_for_the_parent_that_tells_it_of_another_call():
    parent = Command(update={"messages": [told("c0")]}, graph=Command.PARENT, goto="other")

    @tool
    def rename() -> Any:
        """Rename."""
        return [told("c1"), parent]

    own, handed = ToolNode([rename]).invoke({"messages": [calls(call("rename", "c1"))]})
    assert [message.tool_call_id for message in own["messages"]] == ["c1"]
    assert (handed.graph, handed.goto) == (Command.PARENT, "other")
    assert [message.tool_call_id for message in handed.update["messages"]] == ["c0"]


@pytest.mark.parametrize(("is_given", "by"), [(False, "sync"), (True, "async")])
def test_outside_of_a_run_an_async_call_has_the_async_wrapper_if_there_is_one_and_else_the_other(is_given, by):
    @tool
    def rename() -> str:
        """Rename."""
        return "renamed"

    def wrap(request: Any, execute: Any) -> Any:
        return execute(request).model_copy(update={"content": "sync"})

    async def awrap(request: Any, execute: Any) -> Any:
        return (await execute(request)).model_copy(update={"content": "async"})

    node = ToolNode([rename], wrap_tool_call=wrap, awrap_tool_call=awrap if is_given else None)
    (message,) = asyncio.run(node.ainvoke([calls(call("rename", "c1"))]))
    assert message.content == by


def test_a_command_may_say_something_beside_its_tool_message():
    @tool
    def rename() -> Any:
        """Rename."""
        return Command(update={"messages": [told("c1"), ("user", "And now the next one.")]})

    (command,) = ToolNode([rename]).invoke({"messages": [calls(call("rename", "c1"))]})
    assert [message.type for message in command.update["messages"]] == ["tool", "human"]


@pytest.mark.parametrize(("given", "name"), [(None, "rename"), ("registry", "registry")])
def test_a_message_in_a_command_has_the_name_of_its_tool_if_it_has_none(given, name):
    @tool
    def rename() -> Any:
        """Rename."""
        return Command(update={"messages": [ToolMessage("ok", tool_call_id="c1", name=given)]})

    (command,) = ToolNode([rename]).invoke({"messages": [calls(call("rename", "c1"))]})
    assert command.update["messages"][0].name == name


def test_beside_a_command_a_message_for_a_list_of_messages_is_in_a_list():
    @tool
    def rename() -> Any:
        """Rename."""
        return Command(update=[told("c1")])

    @tool
    def look() -> str:
        """Look."""
        return "found"

    renamed, looked = ToolNode([rename, look]).invoke([calls(call("rename", "c1"), call("look", "c2"))])
    assert [message.tool_call_id for message in renamed.update] == ["c1"]
    assert [message.tool_call_id for message in looked] == ["c2"]


def test_a_command_may_change_earlier_tool_messages_or_begin_a_new_conversation(call_it):
    """Old results are shortened in their place; a conversation that goes to another agent is handed over whole."""
    earlier = [calls(call("look", "c0")), ToolMessage("long", tool_call_id="c0", id="t0")]
    shorter = [ToolMessage("...", tool_call_id="c0", id="t0"), told("c1")]
    fresh = [RemoveMessage(REMOVE_ALL_MESSAGES), *earlier, calls(call("rename", "c1")), told("c1")]
    for command in (
        Command(update={"messages": shorter}),
        Command(update={"messages": fresh}),
        Command(update={"messages": [*earlier, told("c1")]}, graph=Command.PARENT, goto="other"),
    ):

        @tool
        def rename() -> Any:
            """Rename."""
            return command  # noqa: B023

        state = {"messages": [*earlier, calls(call("rename", "c1"))]}
        (returned,) = call_it(ToolNode([rename]), state)
        assert returned.update["messages"] == command.update["messages"]


def test_commands_for_the_parent_that_also_tell_it_something_are_not_joined(call_it):
    @tool
    def hand_over(id: Annotated[str, InjectedToolCallId]) -> Any:
        """Hand over."""
        return Command(graph=Command.PARENT, goto=[Send("other", id)], update={"messages": [told(id)], "by": id})

    node = ToolNode([hand_over])
    returned = call_it(node, {"messages": [calls(call("hand_over", "c1"), call("hand_over", "c2"))]})
    assert [(one.update["by"], one.goto) for one in returned] == [
        ("c1", [Send("other", "c1")]),
        ("c2", [Send("other", "c2")]),
    ]


def test_sent_calls_see_the_state_of_the_graph(call_it):
    @tool
    def look(user: Annotated[str, InjectedState("user")]) -> str:
        """Look."""
        return user

    class State(MessagesState):
        user: str

    graph = StateGraph(State)
    graph.add_node("plan", lambda state: {"messages": [calls(call("look", "c1"), call("look", "c2"))]})
    graph.add_node("tools", ToolNode([look]))
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", lambda s: [Send("tools", [c]) for c in s["messages"][-1].tool_calls], ["tools"])
    result = call_it(graph.compile(), {"messages": [], "user": "ana"})
    assert [message.content for message in result["messages"][1:]] == ["ana", "ana"]


def test_a_runtime_is_a_dataclass_with_types_for_the_checker():
    assert ToolRuntime[int, dict[str, int]] is ToolRuntime
    assert dataclasses.is_dataclass(ToolRuntime)


def test_tags_reach_the_tools():
    seen = []

    @tool
    def look(runtime: ToolRuntime) -> str:
        """Look."""
        seen.append(runtime.config["tags"])
        return "ok"

    ToolNode([look], tags=["mine"]).invoke([calls(call("look"))], {"tags": ["yours"]})
    assert seen == [["yours", "mine"]]


def test_calls_run_side_by_side(call_it):
    from threading import Barrier

    together = Barrier(2, timeout=10)

    @tool
    def meet() -> str:
        """Meet."""
        together.wait()
        return "met"

    both = calls(call("meet", "c1"), call("meet", "c2"))
    assert [message.content for message in call_it(ToolNode([meet]), [both])] == ["met", "met"]
    graph = StateGraph(MessagesState).add_node(ToolNode([meet])).add_edge(START, "tools").compile()
    assert len(call_it(graph, {"messages": [both]})["messages"]) == 3


def test_a_call_without_an_id_is_refused_before_its_tool_runs(call_it):
    ran = []

    def pay() -> str:
        """Pay."""
        ran.append("pay")
        return "paid"

    with pytest.raises(InvalidInput, match="The call of 'pay' has no id"):
        call_it(ToolNode([pay]), [calls(call("pay", None))])
    assert ran == []


def test_the_documents_that_a_retriever_brings_with_its_message_are_stored(open_agent):
    @tool(response_format="content_and_artifact")
    def retrieve(query: str) -> tuple[str, list[Document]]:
        """Look something up."""
        return "found it", [Document("a text", metadata={"source": query})]

    agent = open_agent(StateGraph(MessagesState).add_node(ToolNode([retrieve])).add_edge(START, "tools"))
    agent.invoke({"messages": [calls(call("retrieve", query="notes"))]})
    (found,) = agent.get_state().values["messages"][-1].artifact
    assert found == Document("a text", metadata={"source": "notes"})


def test_a_parameter_of_no_type_that_is_called_runtime_is_the_runtime(call_it):
    @tool
    def untyped(x: int, runtime) -> str:
        """Look."""
        return f"{x} {runtime.tool_call_id}"

    @tool
    def of_any_type(x: int, runtime: Any) -> str:
        """Look."""
        return f"{x} {runtime.tool_call_id}"

    for one in (untyped, of_any_type):
        wanted = calls(call(one.name, "c1", x=1))
        assert call_it(ToolNode([one]), [wanted])[0].content == "1 c1"


def test_a_parameter_that_is_called_runtime_and_has_a_type_is_the_models(call_it):
    @tool
    def cook(minutes: int, runtime: str = "slow") -> str:
        """Cook."""
        return f"{minutes} {runtime}"

    assert call_it(ToolNode([cook]), [calls(call("cook", minutes=1, runtime="fast"))])[0].content == "1 fast"
