"""create_agent: turns, middleware, structured answers."""

import asyncio
import operator
from typing import Annotated, Any, NotRequired

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from signoff.agents import AgentState, create_agent
from signoff.agents.middleware import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelCallLimitMiddleware,
    ModelRequest,
    ModelResponse,
    TodoListMiddleware,
    after_agent,
    after_model,
    before_agent,
    before_model,
    dynamic_prompt,
    hook_config,
    wrap_model_call,
    wrap_tool_call,
)
from signoff.agents.middleware.base import NotInThisWay, PrivateStateAttr
from signoff.errors import InvalidGraph, InvalidInput, InvalidUpdateError
from signoff.graph.message import REMOVE_ALL_MESSAGES
from signoff.prebuilt.chat_history import IncompleteHistory
from signoff.types import Command, Send

from .desk import LOOK, THREE, USER, call, calls, check_transcript, results, scripted

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class Answer(BaseModel):
    """An answer."""

    text: str


def kinds(result: Any) -> list[str]:
    return [message.type for message in result["messages"]]


def test_the_tools_are_called_until_the_model_is_done(open_agent, desk):
    app = open_agent(lambda saver: create_agent(scripted(THREE), desk.tools, system_prompt="Hello", checkpointer=saver))
    result = app.invoke(USER)
    assert sorted(desk.ran) == ["look ana", "mail bo", "pay 5 ana"]
    assert kinds(result) == ["human", "ai", "tool", "tool", "tool", "ai"]
    check_transcript(result["messages"])


def test_hooks_run_in_order_and_wrap_each_other(desk):
    said: list[str] = []

    class Noting(AgentMiddleware):
        def __init__(self, name: str) -> None:
            self.named = name

        @property
        def name(self) -> str:
            return self.named

        def before_agent(self, state: Any, runtime: Any) -> None:
            said.append(f"{self.named} before_agent")

        def before_model(self, state: Any, runtime: Any) -> None:
            said.append(f"{self.named} before_model")

        def after_model(self, state: Any, runtime: Any) -> None:
            said.append(f"{self.named} after_model")

        def after_agent(self, state: Any, runtime: Any) -> None:
            said.append(f"{self.named} after_agent")

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            said.append(f"{self.named} model")
            return handler(request)

        def wrap_tool_call(self, request: Any, handler: Any) -> Any:
            said.append(f"{self.named} {request.tool_call['name']}")
            return handler(request)

    app = create_agent(scripted(calls(LOOK)), desk.tools, middleware=[Noting("a"), Noting("b")])
    app.invoke(USER)
    turn = [f"{name} {part}" for part in ("before_model", "model") for name in "ab"]
    after = [f"{name} after_model" for name in "ba"]
    assert said == [
        "a before_agent", "b before_agent", *turn, *after, "a look", "b look", *turn, *after,
        "b after_agent", "a after_agent",
    ]  # fmt: skip


def test_a_hook_may_leave_out_the_runtime_or_take_it_by_name():
    heard = []

    class Brief(AgentMiddleware):
        def before_model(self, state):  # type: ignore[override]
            heard.append(len(state["messages"]))

        def after_model(self, state, *, runtime):  # type: ignore[override]
            heard.append(runtime.context)

    create_agent(scripted("ok"), middleware=[Brief()], context_schema=dict).invoke(USER, context={"user": "ana"})
    assert heard == [1, {"user": "ana"}]


def test_middleware_brings_state_and_tools(open_agent):
    class CountingState(AgentState):
        count: NotRequired[int]
        secret: NotRequired[Annotated[int, PrivateStateAttr]]

    @tool
    def extra() -> str:
        """Extra."""
        return "extra"

    class Counting(AgentMiddleware):
        state_schema = CountingState
        tools = [extra]

        def before_model(self, state: Any, runtime: Any) -> Any:
            return {"count": state.get("count", 0) + 1, "secret": 1}

    app = open_agent(
        lambda saver: create_agent(scripted(calls(call("extra"))), [], middleware=[Counting()], checkpointer=saver)
    )
    result = app.invoke({**USER, "count": 5})
    assert (result["count"], results(result)) == (7, {"c1": "extra"})
    assert "secret" not in result


@pytest.mark.parametrize("hook", [before_agent, before_model, after_model, after_agent], ids=lambda hook: hook.__name__)
def test_a_hook_may_jump_to_the_end(hook, desk):
    @hook(can_jump_to=["end"])
    def leave(state: Any, runtime: Any) -> Any:
        return {"jump_to": "end", "messages": [AIMessage("left")]}

    result = create_agent(scripted(calls(LOOK)), desk.tools, middleware=[leave]).invoke(USER)
    assert result["messages"][-1].content == "left"
    assert leave.name == "leave"


def test_a_hook_that_takes_all_messages_out_ends_the_run(desk):
    @after_model
    def forget(state: Any, runtime: Any) -> Any:
        return {"messages": [RemoveMessage(REMOVE_ALL_MESSAGES)]}

    result = create_agent(scripted(calls(LOOK)), desk.tools, middleware=[forget]).invoke(USER)
    assert (result["messages"], desk.ran) == ([], [])


def test_a_hook_may_jump_to_the_model(desk):
    @after_model(can_jump_to=["model"])
    def again(state: Any, runtime: Any) -> Any:
        return {"jump_to": "model"} if len(state["messages"]) < 4 else None

    result = create_agent(scripted("one", "two", "three"), desk.tools, middleware=[again]).invoke(USER)
    assert [message.content for message in result["messages"]] == ["hi", "one", "two", "three"]


@pytest.mark.parametrize(
    ("as_update", "added"),
    [(dict, ["more"]), (lambda update: Command(update=update), ["more"]), (lambda update: None, [])],
    ids=["dict", "command", "nothing"],
)
def test_a_hook_does_not_jump_where_the_one_before_it_did(as_update, added, desk):
    @before_agent(can_jump_to=["model"])
    def first(state: Any, runtime: Any) -> Any:
        return {"jump_to": "model"}

    @before_model(can_jump_to=["end"])
    def second(state: Any, runtime: Any) -> Any:
        return as_update({"messages": [HumanMessage("more")]})

    result = create_agent(scripted("one"), desk.tools, middleware=[first, second]).invoke(USER)
    assert [message.content for message in result["messages"]] == ["hi", *added, "one"]


@pytest.mark.parametrize("as_update", [dict, lambda update: Command(update=update)], ids=["dict", "command"])
def test_a_jump_that_was_not_declared_is_refused(as_update, desk):
    @before_model
    def leave(state: Any, runtime: Any) -> Any:
        return as_update({"jump_to": "end"})

    with pytest.raises(InvalidUpdateError, match="hook_config"):
        create_agent(scripted("one"), desk.tools, middleware=[leave]).invoke(USER)


def test_a_target_that_does_not_exist_is_refused():
    with pytest.raises(InvalidInput, match="can_jump_to"):
        hook_config(can_jump_to=["start"])


def test_a_hook_may_be_async_only_or_both():
    @before_model
    async def note(state: Any, runtime: Any) -> Any:
        return {"messages": [HumanMessage("noted")]}

    app = create_agent(scripted("ok"), middleware=[note])
    assert kinds(asyncio.run(app.ainvoke(USER))) == ["human", "human", "ai"]

    class Both(AgentMiddleware):
        def before_model(self, state: Any, runtime: Any) -> Any:
            return {"messages": [HumanMessage("sync")]}

        async def abefore_model(self, state: Any, runtime: Any) -> Any:
            return {"messages": [HumanMessage("async")]}

    app = create_agent(scripted("ok"), middleware=[Both()])
    assert app.invoke(USER)["messages"][1].content == "sync"
    assert asyncio.run(app.ainvoke(USER))["messages"][1].content == "async"


def test_a_wrapper_of_the_other_kind_says_what_is_missing(desk):
    @wrap_model_call
    def wrap(request: Any, handler: Any) -> Any:
        return handler(request)

    with pytest.raises(NotInThisWay, match="awrap_model_call"):
        asyncio.run(create_agent(scripted("ok"), middleware=[wrap]).ainvoke(USER))

    @wrap_tool_call
    async def awrap(request: Any, handler: Any) -> Any:
        return await handler(request)

    with pytest.raises(NotInThisWay, match="wrap_tool_call"):
        create_agent(scripted(calls(LOOK)), desk.tools, middleware=[awrap]).invoke(USER)


def test_a_wrapper_may_change_the_request_answer_itself_or_change_the_state():
    @wrap_model_call
    def kind(request: ModelRequest, handler: Any) -> Any:
        return handler(request.override(system_prompt="Be kind.", messages=request.messages[-1:]))

    @wrap_model_call
    def short(request: Any, handler: Any) -> Any:
        return AIMessage("short")

    class Noted(AgentState):
        note: NotRequired[str]

    @wrap_model_call(state_schema=Noted)
    def noting(request: Any, handler: Any) -> Any:
        return ExtendedModelResponse(handler(request), Command(update={"note": "kept"}))

    @wrap_model_call
    def passing(request: Any, handler: Any) -> Any:
        said = handler(request)
        assert isinstance(said, ModelResponse)
        return said

    model = scripted("ok")
    create_agent(model, system_prompt="Be brief.", middleware=[kind]).invoke({"messages": ["a", "b"]})
    assert [message.content for message in model.seen[0]] == ["Be kind.", "b"]
    result = create_agent(scripted("ok"), middleware=[passing, noting, short]).invoke(USER)
    assert (result["messages"][-1].content, result["note"]) == ("short", "kept")
    result = asyncio.run(create_agent(scripted("ok"), middleware=[dynamic_prompt(lambda r: "x")]).ainvoke(USER))
    assert result["messages"][-1].content == "ok"


@pytest.mark.parametrize("goto", ["__end__", "tools", Send("tools", [LOOK])])
def test_a_wrapper_around_the_model_does_not_say_where_the_agent_goes(goto, desk):
    @wrap_model_call
    def leave(request: Any, handler: Any) -> Any:
        return ExtendedModelResponse(handler(request), Command(goto=goto))

    with pytest.raises(InvalidUpdateError, match="jump_to"):
        create_agent(scripted(calls(LOOK)), desk.tools, middleware=[leave]).invoke(USER)
    assert desk.ran == []


def test_a_wrapper_may_change_the_request_in_place():
    @wrap_model_call
    def kind(request: ModelRequest, handler: Any) -> Any:
        request.system_prompt = "Be kind."
        request.messages = request.messages[-1:]
        return handler(request)

    model = scripted("ok")
    create_agent(model, system_prompt="Be brief.", middleware=[kind]).invoke({"messages": ["a", "b"]})
    assert [message.content for message in model.seen[0]] == ["Be kind.", "b"]
    request = ModelRequest[Any](model=model, messages=[], system_prompt="Be brief.")
    request.system_prompt = None
    assert request.system_message is None


def test_a_prompt_may_depend_on_the_request():
    @dynamic_prompt
    def prompt(request: ModelRequest) -> str:
        return f"{request.system_prompt} {len(request.messages)}"

    model = scripted("ok")
    create_agent(model, system_prompt="Messages:", middleware=[prompt]).invoke(USER)
    assert model.seen[0][0] == SystemMessage("Messages: 1")


def test_a_tool_that_nobody_could_call_is_refused(desk):
    @wrap_model_call
    def more(request: Any, handler: Any) -> Any:
        return handler(request.override(tools=[*request.tools, desk.tools[0]]))

    with pytest.raises(InvalidInput, match="'pay'"):
        create_agent(scripted("ok"), middleware=[more]).invoke(USER)


def test_two_middleware_of_one_name_are_refused():
    with pytest.raises(InvalidGraph, match="AgentMiddleware"):
        create_agent(scripted(), middleware=[AgentMiddleware(), AgentMiddleware()])


def test_a_history_that_a_model_would_refuse_is_refused_before():
    with pytest.raises(IncompleteHistory, match="pay"):
        create_agent(scripted("ok")).invoke({"messages": [AIMessage("", tool_calls=[call("pay")])]})


def test_the_agent_has_a_name_and_its_messages_have_it():
    app = create_agent(scripted("ok"), name="bob")
    assert app.name == "bob"
    assert app.invoke(USER)["messages"][-1].name == "bob"


def test_limits_that_cannot_be_meant_are_refused():
    with pytest.raises(InvalidInput, match="thread_limit"):
        ModelCallLimitMiddleware()
    with pytest.raises(InvalidInput, match="exit_behavior"):
        ModelCallLimitMiddleware(run_limit=1, exit_behavior="stop")


UNREAD = {"name": "look", "args": '{"name":', "id": "bad-1", "error": "cut off", "type": "invalid_tool_call"}


def test_a_call_that_could_not_be_read_is_answered_before_the_model_speaks_again(open_agent, desk):
    model = scripted(AIMessage("", tool_calls=[LOOK], invalid_tool_calls=[UNREAD]), "done", "again")
    app = open_agent(lambda saver: create_agent(model, desk.tools, checkpointer=saver))
    result = app.invoke(USER)
    assert kinds(result) == ["human", "ai", "tool", "tool", "ai"]
    assert {message.tool_call_id: message.status for message in result["messages"][2:4]} == {
        "bad-1": "error",
        "c2": "success",
    }
    assert "cut off" in results(result)["bad-1"]
    assert [message.id for message in app.invoke(USER)["messages"]][:5] == [one.id for one in result["messages"]]


@pytest.mark.parametrize("id", ["bad-1", ""])
def test_a_turn_with_nothing_but_an_unreadable_call_ends_the_run_and_the_thread_goes_on(open_agent, desk, id):
    model = scripted(AIMessage("", invalid_tool_calls=[UNREAD | {"id": id}]), "done")
    app = open_agent(lambda saver: create_agent(model, desk.tools, checkpointer=saver))
    assert kinds(app.invoke(USER)) == ["human", "ai"]
    assert kinds(app.invoke(USER)) == ["human", "ai", "tool", "human", "ai"]


def test_calls_that_middleware_has_answered_around_the_model_lead_back_to_it(open_agent, desk):
    class Answering(AgentMiddleware):
        def _answered(self, response: Any) -> Any:
            said = [
                ToolMessage("from memory", name=call["name"], tool_call_id=call["id"])
                for call in response.result[0].tool_calls
            ]
            return ExtendedModelResponse(response, Command(update={"messages": said}))

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return self._answered(handler(request))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return self._answered(await handler(request))

    def build(saver: Any) -> Any:
        return create_agent(scripted(calls(LOOK), "done"), desk.tools, middleware=[Answering()], checkpointer=saver)

    result = open_agent(build).invoke(USER)
    assert (results(result), desk.ran) == ({"c2": "from memory"}, [])
    assert result["messages"][-1].text == "done"


def test_a_todo_list_that_is_to_be_written_twice_in_a_turn_is_not_written(open_agent, desk):
    todos = [[{"content": name, "status": "pending"}] for name in ("walk", "rest", "eat")]
    model = scripted(
        calls(call("write_todos", "t1", todos=todos[0]), call("write_todos", "t2", todos=todos[1]), LOOK),
        calls(call("write_todos", "t3", todos=todos[2])),
    )
    app = open_agent(
        lambda saver: create_agent(model, desk.tools, middleware=[TodoListMiddleware()], checkpointer=saver)
    )
    result = app.invoke(USER)
    told = {message.tool_call_id: message.status for message in result["messages"] if message.type == "tool"}
    assert told == {"t1": "error", "t2": "error", "c2": "success", "t3": "success"}
    assert (result["todos"], desk.ran) == (todos[2], ["look ana"])
    check_transcript(result["messages"])


class Noted(AgentState):
    notes: NotRequired[Annotated[list[str], operator.add]]
    mood: NotRequired[str]


class Noting(AgentMiddleware):
    """Notes something beside what the model said."""

    state_schema = Noted

    def __init__(self, name: str, tries: int = 1, **more: Any) -> None:
        self.own_name, self.tries, self.more = name, tries, more

    @property
    def name(self) -> str:
        return self.own_name

    def _noted(self, response: Any) -> Any:
        return ExtendedModelResponse(response, Command(update={"notes": [self.name], **self.more}))

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        return self._noted([handler(request) for _ in range(self.tries)][-1])

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        return self._noted([await handler(request) for _ in range(self.tries)][-1])


def test_the_commands_of_several_middleware_around_the_model_all_count(open_agent):
    layers = [Noting("outer", tries=2), Noting("inner")]
    app = open_agent(lambda saver: create_agent(scripted("one", "two"), [], middleware=layers, checkpointer=saver))
    assert app.invoke(USER)["notes"] == ["inner", "outer"]


def test_middleware_around_the_model_that_write_one_value_at_once_are_refused(open_agent):
    layers = [Noting("outer", mood="glad"), Noting("inner", mood="sad")]
    app = open_agent(lambda saver: create_agent(scripted("one"), [], middleware=layers, checkpointer=saver))
    with pytest.raises(InvalidUpdateError, match="'mood'"):
        app.invoke(USER)


# Ids of messages


def test_an_answer_that_a_cache_of_the_model_gives_again_is_added(open_agent):
    class Forgetful(AgentMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return handler(request.override(messages=request.messages[-1:]))

        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(request.override(messages=request.messages[-1:]))

    model = scripted("hello", cache=InMemoryCache())  # with the id that LangChain gave to it the first time
    app = open_agent(lambda saver: create_agent(model, middleware=[Forgetful()], checkpointer=saver))
    app.invoke({"messages": "hi"})
    result = app.invoke({"messages": "hi"})
    assert [message.type for message in result["messages"]] == ["human", "ai", "human", "ai"]
    assert len(model.seen) == 1


def test_a_model_that_uses_its_ids_again_adds_messages(open_agent, desk):
    again = calls(LOOK, id="ai")
    model = scripted(again, again, AIMessage("ok", id="ai"))
    app = open_agent(lambda saver: create_agent(model, desk.tools, checkpointer=saver))
    for _ in range(2):
        result = app.invoke(USER)
    assert [message.type for message in result["messages"]] == [
        "human",
        "ai",
        "tool",
        "ai",
        "tool",
        "ai",
        "human",
        "ai",
    ]
    check_transcript(result["messages"])
