"""Middleware that comes ready-made: what it promises beside what LangChain's does."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.tools import ToolException, tool

from prebuilt.models import ScriptedModel
from signoff.agents import create_agent
from signoff.agents.middleware import (
    AgentMiddleware,
    ClearToolUsesEdit,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    LLMToolEmulator,
    LLMToolSelectorMiddleware,
    ModelCallLimitExceededError,
    ModelCallLimitMiddleware,
    ModelFallbackMiddleware,
    ModelRequest,
    ModelRetryMiddleware,
    PIIDetectionError,
    PIIMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolCallLimitExceededError,
    ToolCallLimitMiddleware,
    ToolErrorMiddleware,
    ToolRetryMiddleware,
    before_model,
    hook_config,
    wrap_model_call,
)
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidInput, NeedsAsync
from signoff.prebuilt import ToolRuntime
from signoff.types import Command, interrupt

from .desk import (
    APPROVE,
    LOOK,
    PAY,
    THREE,
    USER,
    call,
    calls,
    check_transcript,
    decide,
    results,
    scripted,
    tool_messages,
)


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


# Limits


def test_a_limit_holds_for_the_thread_however_often_it_is_opened(open_in_all_ways, desk):
    limit = ToolCallLimitMiddleware(thread_limit=1)
    turns = [calls(LOOK), "one", calls(call("look", "c9", name="bo")), "two"]
    app = open_in_all_ways(
        lambda saver: create_agent(scripted(*turns), desk.tools, middleware=[limit], checkpointer=saver)
    )
    app.invoke(USER)
    result = app.invoke(USER)
    assert desk.ran == ["look ana"]
    assert "1 times in a thread" in results(result)["c9"]
    check_transcript(result["messages"])


def test_a_call_that_two_limits_refuse_has_one_tool_message(open_agent, desk):
    layers = [ToolCallLimitMiddleware(run_limit=2), ToolCallLimitMiddleware(run_limit=0, tool_name="pay")]
    app = open_agent(lambda saver: create_agent(scripted(THREE), desk.tools, middleware=layers, checkpointer=saver))
    result = app.invoke(USER)
    assert sorted(desk.ran) == ["look ana", "mail bo"], "what the inner limit refuses does not count for the outer"
    check_transcript(result["messages"])


def test_nobody_is_asked_about_a_call_too_many(open_in_all_ways, desk):
    limit, watched = ToolCallLimitMiddleware(run_limit=1, tool_name="pay"), {"pay": True}
    turn = calls(PAY, call("pay", "c9", amount=6, to="bo"))
    app = open_in_all_ways(
        lambda saver: create_agent(
            scripted(turn), desk.tools, middleware=[limit], interrupt_on=watched, checkpointer=saver
        )
    )
    asked = app.invoke(USER)["__interrupt__"][0].value["action_requests"]
    assert [request["args"]["amount"] for request in asked] == [5]
    result = app.invoke(Command(resume=decide(APPROVE)))
    assert desk.ran == ["pay 5 ana"]
    check_transcript(result["messages"])


def test_a_run_that_ends_at_a_limit_makes_no_call_of_the_turn(open_agent, desk):
    limit = ToolCallLimitMiddleware(run_limit=1, tool_name="pay", exit_behavior="end")
    turn = calls(PAY, LOOK, call("pay", "c9", amount=6, to="bo"))
    app = open_agent(lambda saver: create_agent(scripted(turn), desk.tools, middleware=[limit], checkpointer=saver))
    result = app.invoke(USER)
    assert desk.ran == []
    assert "'pay' may be called 1 times in a run" in result["messages"][-1].text
    check_transcript(result["messages"])


def test_a_limit_may_be_an_error(open_agent, desk):
    limit = ToolCallLimitMiddleware(run_limit=2, exit_behavior="error")
    app = open_agent(lambda saver: create_agent(scripted(THREE), desk.tools, middleware=[limit], checkpointer=saver))
    with pytest.raises(ToolCallLimitExceededError, match="2 times in a run") as raised:
        app.invoke(USER)
    assert (raised.value.run_limit, raised.value.tool_name, desk.ran) == (2, None, [])
    assert (raised.value.run_count, raised.value.thread_count, raised.value.thread_limit) == (3, 3, None)


def test_an_error_at_a_limit_of_the_model_says_how_often_it_was_called(open_agent, desk):
    limit = ModelCallLimitMiddleware(thread_limit=3, run_limit=1, exit_behavior="error")
    turns = ["one", calls(LOOK), "two"]
    app = open_agent(lambda saver: create_agent(scripted(*turns), desk.tools, middleware=[limit], checkpointer=saver))
    app.invoke(USER)
    with pytest.raises(ModelCallLimitExceededError) as raised:
        app.invoke(USER)
    found = raised.value
    assert (found.thread_count, found.run_count, found.thread_limit, found.run_limit) == (2, 1, 3, 1)


class Again(AgentMiddleware):
    """Sends the agent back to its model, past what is around."""

    @hook_config(can_jump_to=["model"])
    def after_model(self, state: Any, runtime: Any) -> Any:
        return {"jump_to": "model"}


@pytest.mark.parametrize("limits", [{"run_limit": 2}, {"thread_limit": 2}], ids=["run", "thread"])
def test_a_limit_of_the_model_holds_though_a_hook_jumps_back_to_the_model(open_in_all_ways, limits):
    said: list[Any] = []
    layers = [ModelCallLimitMiddleware(**limits), Again(), before_model(lambda state, runtime: said.append(1))]
    app = open_in_all_ways(lambda saver: create_agent(scripted(), middleware=layers, checkpointer=saver))
    result = app.invoke(USER)
    assert "2 times" in result["messages"][-1].text
    assert len(said) == 2


def test_a_limit_of_the_model_counts_the_call_with_which_a_run_goes_on_after_a_failure(desk):
    away = [True]

    @wrap_model_call
    def call(request: Any, handler: Any) -> Any:
        if away.pop() if away else False:
            raise ConnectionError("the model is away")
        return handler(request)

    limit = ModelCallLimitMiddleware(run_limit=1)
    agent = create_agent(scripted(calls(LOOK)), desk.tools, middleware=[limit, call], checkpointer=InMemorySaver())
    with pytest.raises(ConnectionError):
        agent.invoke(USER, thread("1"))
    assert "1 times" in agent.invoke(None, thread("1"))["messages"][-1].text
    assert desk.ran == ["look ana"]


# Retries


class Flaky:
    """A tool that fails before it does something, so many times."""

    def __init__(self, failures: int, error: type[Exception] = ConnectionError) -> None:
        self.failures = failures
        self.error = error
        self.tried = 0

    @property
    def tool(self) -> Any:
        @tool
        def pay(amount: int, to: str) -> str:
            """Pay somebody."""
            self.tried += 1
            if self.tried <= self.failures:
                raise self.error("the bank is away")
            return f"paid {amount} at try {self.tried}"

        return pay


def test_a_decision_holds_until_the_call_has_succeeded(open_in_all_ways):
    bank, retry = Flaky(failures=2), ToolRetryMiddleware(initial_delay=0)
    app = open_in_all_ways(
        lambda saver: create_agent(
            scripted(calls(PAY)), [bank.tool], middleware=[retry], interrupt_on={"pay": True}, checkpointer=saver
        )
    )
    app.invoke(USER)
    result = app.invoke(Command(resume=decide(APPROVE)))
    assert results(result)["c1"] == "paid 5 at try 3"
    assert tool_messages(result)[0].additional_kwargs["decision"]["type"] == "approve"


@pytest.mark.parametrize(
    "middleware",
    [ToolRetryMiddleware(initial_delay=0), ToolErrorMiddleware(lambda error, request: "it failed")],
    ids=["retry", "error"],
)
def test_a_question_inside_of_a_tool_is_no_failure(middleware, open_in_all_ways):
    passed = []

    @tool
    def pay(amount: int, to: str) -> str:
        """Pay somebody."""
        passed.append(amount)
        return f"{to} gets {interrupt('how much?')}"

    app = open_in_all_ways(
        lambda saver: create_agent(scripted(calls(PAY)), [pay], middleware=[middleware], checkpointer=saver)
    )
    assert app.invoke(USER)["__interrupt__"][0].value == "how much?"
    assert passed == [5], "it was not tried again"
    assert results(app.invoke(Command(resume=3)))["c1"] == "ana gets 3"


def test_what_the_model_is_told_when_all_was_in_vain(open_agent):
    bank = Flaky(failures=9)
    app = open_agent(
        lambda saver: create_agent(
            scripted(calls(PAY)),
            [bank.tool],
            middleware=[ToolRetryMiddleware(initial_delay=0, max_retries=1)],
            checkpointer=saver,
        )
    )
    told = tool_messages(app.invoke(USER))[0]
    assert (bank.tried, told.status) == (2, "error")
    assert (
        told.text == "The call of pay failed: it was tried 2 times, and failed with ConnectionError: the bank is away"
    )


class WrongKey(Exception):
    """Says, as LangChain's errors of models do, that it will be the same next time."""

    is_retryable = False


def test_an_error_that_says_that_it_will_not_pass_is_raised_at_once(open_agent):
    bank = Flaky(failures=1, error=WrongKey)
    retry = ToolRetryMiddleware(initial_delay=0)
    app = open_agent(
        lambda saver: create_agent(scripted(calls(PAY)), [bank.tool], middleware=[retry], checkpointer=saver)
    )
    with pytest.raises(WrongKey):
        app.invoke(USER)
    assert bank.tried == 1


def test_nor_is_the_model_called_again_after_one():
    class Model(GenericFakeChatModel):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            tried.append(1)
            raise WrongKey("who are you?")

    tried: list[int] = []
    app = create_agent(Model(messages=iter(())), middleware=[ModelRetryMiddleware(initial_delay=0)])
    with pytest.raises(WrongKey):
        app.invoke(USER)
    assert tried == [1]


def test_pauses_grow_up_to_a_limit():
    retry = ModelRetryMiddleware(initial_delay=1, backoff_factor=3, max_delay=5, jitter=False)
    assert [retry._pause(nth) for nth in range(3)] == [1, 3, 5]
    assert ModelRetryMiddleware(initial_delay=2, backoff_factor=0, jitter=False)._pause(7) == 2
    assert ModelRetryMiddleware(backoff_factor=2.0, max_delay=9, jitter=False)._pause(100_000) == 9
    pauses = {ModelRetryMiddleware(initial_delay=4)._pause(0) for _ in range(50)}
    assert len(pauses) > 1
    assert all(3 <= pause <= 5 for pause in pauses)


def test_errors_that_only_async_runs_tell_need_one():
    async def tell(error: Exception, request: Any) -> str:
        return "away"

    app = create_agent(scripted(calls(PAY)), [Flaky(9).tool], middleware=[ToolErrorMiddleware(aon_error=tell)])
    with pytest.raises(NeedsAsync, match="aon_error"):
        app.invoke(USER)


# What the model is given


def test_what_a_system_message_says_of_its_parts_is_kept(desk):
    told = SystemMessage([{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral"}}], name="house")
    model = scripted("ok")
    create_agent(model, desk.tools, system_prompt=told, middleware=[TodoListMiddleware()]).invoke(USER)
    seen = model.seen[0][0]
    assert (seen.content[0], seen.name) == (told.content[0], "house")
    assert "todo list" in seen.content[1]["text"]


MARK: Any = {"cache_control": {"type": "ephemeral"}}


@tool(extras={"defer_loading": True, **MARK})
def search(query: str) -> str:
    """Search."""
    return query


def asked_after_a_failure(first: Any, second: Any) -> Any:
    """What a second model is asked when the first has failed."""
    said = {"type": "text", "text": "hi", "metadata": {"from": "me", **MARK}, "extras": {"n": 1, **MARK}}
    request = ModelRequest[Any](
        model=first,
        messages=[HumanMessage([said, "there"])],
        system_message=SystemMessage([{"type": "text", "text": "Be kind.", **MARK}]),
        tools=[search, {"name": "fetch", **MARK}],
        model_settings={"temperature": 1, **MARK},
    )
    seen: list[Any] = []

    def handler(request: Any) -> Any:
        seen.append(request)
        if len(seen) == 1:
            raise ConnectionError("away")

    ModelFallbackMiddleware(second).wrap_model_call(request, handler)
    assert repr(seen[0]) == repr(request)
    assert seen[1].model is second
    return seen[1]


def test_what_one_provider_should_cache_is_not_told_to_another():
    asked = asked_after_a_failure(scripted("ok"), GenericFakeChatModel(messages=iter(())))
    assert "cache_control" not in repr((asked.messages, asked.system_message, asked.model_settings, asked.tools))
    said = {"type": "text", "text": "hi", "metadata": {"from": "me"}, "extras": {"n": 1}}
    assert asked.messages[0].content == [said, "there"]
    assert (asked.tools[0].extras, asked.tools[1]) == ({"defer_loading": True}, {"name": "fetch"})
    assert asked.model_settings == {"temperature": 1}
    assert search.extras == {"defer_loading": True, **MARK}


def test_a_model_of_the_same_kind_is_told_what_to_cache():
    asked = asked_after_a_failure(scripted("ok"), scripted("ok"))
    assert repr((asked.messages, asked.system_message, asked.model_settings, asked.tools)).count("cache_control") == 6


class Kind(GenericFakeChatModel):
    messages: Any = iter(())
    kind: str

    @property
    def _llm_type(self) -> str:
        return self.kind


@pytest.mark.parametrize(
    ("first", "second", "is_kept"),
    [
        ("openai-chat", "anthropic-chat", False),
        ("fireworks-chat", "google-chat", False),
        ("fireworks-chat", "openai-chat", True),
        ("openai-chat", "azure-openai-chat", True),
        ("own-chat", "own-chat", True),
    ],
)
def test_nor_is_it_told_under_which_key(first, second, is_kept):
    request = ModelRequest[Any](model=Kind(kind=first), messages=[], model_settings={"prompt_cache_key": "thread"})
    tries: list[Any] = []

    def handler(request: Any) -> Any:
        tries.append(request)
        if len(tries) == 1:
            raise ConnectionError("away")

    ModelFallbackMiddleware(Kind(kind=second)).wrap_model_call(request, handler)
    assert [("prompt_cache_key" in one.model_settings) for one in tries] == [True, is_kept]


def test_a_request_has_one_system_message():
    told: Any = {"system_prompt": "a", "system_message": SystemMessage("b")}
    with pytest.raises(InvalidInput, match="system_prompt=.*or system_message="):
        ModelRequest(model=None, messages=[], **told)
    with pytest.raises(InvalidInput, match="system_prompt=.*or system_message="):
        ModelRequest(model=None, messages=[]).override(**told)


def test_the_conversation_itself_is_not_shortened(open_agent, desk):
    middleware = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=1, keep=0)])
    model = scripted(THREE)
    app = open_agent(lambda saver: create_agent(model, desk.tools, middleware=[middleware], checkpointer=saver))
    result = app.invoke(USER)
    assert [message.content for message in model.seen[-1] if message.type == "tool"] == ["[cleared]"] * 3
    assert results(result) == {"c1": "paid 5 to ana", "c2": "found ana", "c3": "wrote to bo"}
    assert results({"messages": app.get_state().values["messages"]}) == results(result)


def test_what_was_cleared_of_a_call_is_noted_with_it(desk):
    edit = ClearToolUsesEdit(trigger=1, keep=0, clear_tool_inputs=True)
    model = scripted(THREE)
    create_agent(model, desk.tools, middleware=[ContextEditingMiddleware(edits=[edit])]).invoke(USER)
    said = model.seen[-1][1]
    assert [call["args"] for call in said.tool_calls] == [{}] * 3
    assert said.response_metadata["context_editing"]["cleared_tool_inputs"] == ["c1", "c2", "c3"]


def test_an_edit_of_ones_own_may_change_messages():
    class Shout:
        def apply(self, messages: list[AnyMessage], *, count_tokens: Any) -> None:
            assert count_tokens(messages) == len(messages)
            messages[0].content = "HI"
            messages[1].content[0]["text"] = "HI"

    model = scripted("ok")
    middleware = ContextEditingMiddleware(edits=[Shout()], token_counter=len)
    said = [HumanMessage("hi"), HumanMessage([{"type": "text", "text": "hi"}])]
    result = create_agent(model, middleware=[middleware]).invoke({"messages": said})
    assert [message.text for message in model.seen[0]] == ["HI", "HI"]
    assert [message.text for message in result["messages"][:2]] == ["hi", "hi"], "only what the model is given changes"


def test_so_much_is_cleared_as_is_enough(desk):
    size = {"[cleared]": 1}
    middleware = ContextEditingMiddleware(
        edits=[ClearToolUsesEdit(trigger=1, keep=0, clear_at_least=15)],
        token_counter=lambda messages: sum(size.get(str(message.content), 10) for message in messages),
    )
    model = scripted(THREE)
    create_agent(model, desk.tools, middleware=[middleware]).invoke(USER)
    contents = [message.content for message in model.seen[-1] if message.type == "tool"]
    assert contents == ["[cleared]", "[cleared]", "wrote to bo"]


def test_the_model_itself_may_say_how_many_tokens_there_are(desk):
    class Counting(ScriptedModel):
        def get_num_tokens_from_messages(self, messages: Any, tools: Any = None) -> int:
            assert [tool.name for tool in tools] == [tool.name for tool in desk.tools]
            counted.append([message.type for message in messages])
            return 1000 * len(messages)

    counted: list[list[str]] = []
    model = Counting(script=[THREE])
    clearing = ContextEditingMiddleware(edits=[ClearToolUsesEdit(trigger=5500, keep=0)], token_count_method="model")
    create_agent(model, desk.tools, middleware=[clearing], system_prompt="Be brief.").invoke(USER)
    assert counted[-1][0] == "system", "what stands before the messages counts, too"
    assert [message.content for message in model.seen[-1] if message.type == "tool"] == ["[cleared]"] * 3


def test_every_message_of_a_person_is_looked_through(open_agent):
    picture = {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}
    more: list[Any] = [{"type": "text", "text": "or b@x.org"}, "or c@x.org", picture]
    earlier = [HumanMessage("I am a@x.org"), AIMessage("I am z@x.org"), HumanMessage(more)]
    model = scripted("ignored", "ok")
    app = open_agent(lambda saver: create_agent(model, middleware=[PIIMiddleware("email")], checkpointer=saver))
    app.invoke({"messages": earlier})
    gone = "or [REDACTED_EMAIL]"
    shown = ["I am [REDACTED_EMAIL]", "I am z@x.org", [{"type": "text", "text": gone}, gone, picture]]
    assert [message.content for message in model.seen[0]] == shown
    assert [message.content for message in app.get_state().values["messages"][:3]] == shown


FOUND = [
    ("credit_card", "4111 1111 1111 1111 12/28", "**** **** **** 1111 12/28"),
    ("credit_card", "3782 822463 10005, not 3782 822463 10006", "**** ****** *0005, not 3782 822463 10006"),
    ("ip", "it is ::1, fe80::1 or 10.0.0.7.", "it is [MASKED_IP], [MASKED_IP] or *.*.*.7."),
    ("ip", "version 1.2.3.4.5 of the cafe", "version 1.2.3.4.5 of the cafe"),
    ("url", "(see https://x.org/a.) or www.x.org, not x.org", "(see [MASKED_URL].) or [MASKED_URL], not x.org"),
    ("email", "a.b+c@x.co.uk.", "a.b+c@****.uk."),
    # Whatever stands beside it: a port, a word, a colon, letters of another script.
    ("ip", "http://10.0.0.7:8080, addr:10.0.0.8 and 10.0.0.9: no", "http://*.*.*.7:8080, addr:*.*.*.8 and *.*.*.9: no"),
    ("ip", "at 12:30:10.0.0.7 node:fe80::1: gone, std::abc", "at 12:30:*.*.*.7 node:[MASKED_IP]: gone, std::abc"),
    ("ip", "は10.0.0.7です", "は*.*.*.7です"),
    ("email", "メールはbo@x.comです, _cy@x.org_ josé@müller.de", "メールはbo@****.comです, _cy@****.org_ josé@****.de"),
    ("url", "見てhttps://x.org/a or HTTPS://x or _https://x", "見て[MASKED_URL] or [MASKED_URL] or _[MASKED_URL]"),
    ("mac_address", "はaa:bb:cc:dd:ee:ffで", "は**:**:**:**:**:ffで"),
    ("credit_card", "no. 1234 4111 1111-1111\xa01111", "no. 1234 **** ****-****\xa01111"),
]


@pytest.mark.parametrize(("kind", "text", "masked"), FOUND)
def test_what_is_found_in_a_text(kind, text, masked):
    assert PIIMiddleware(kind, strategy="mask").replaced(text) == masked


def test_what_is_found_inside_of_something_found_goes_with_it():
    found = [{"type": "x", "value": "abc", "start": 0, "end": 3}, {"type": "x", "value": "b", "start": 1, "end": 2}]
    assert PIIMiddleware("x", detector=lambda text: found).replaced("abcd") == "[REDACTED_X]d"


@pytest.mark.parametrize("places", [[(0, 2), (1, 4)], [(0, 1), (0, 4)], [(1, 4), (0, 2), (2, 3)]])
def test_what_is_found_twice_in_part_goes_as_a_whole(places):
    found = [{"type": "x", "value": "", "start": start, "end": end} for start, end in places]
    assert PIIMiddleware("x", detector=lambda text: found).replaced("abcdef") == "[REDACTED_X]ef"


def leaky(**options: Any) -> Any:
    """An agent whose model, which speaks token by token, says an address."""
    said = GenericFakeChatModel(messages=iter([AIMessage("ask a@x.org now", id="m1")]))
    return create_agent(said, middleware=[PIIMiddleware("email", apply_to_output=True)], **options)


@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["unsaved", "saved"])
@pytest.mark.parametrize("mode", ["messages", "updates", "values", "debug", "tasks"])
def test_what_nobody_may_see_is_in_no_stream(mode, saver):
    shown = list(leaky(checkpointer=saver).stream(USER, thread(mode), stream_mode=mode))
    assert "@" not in repr(shown)
    assert "ask [REDACTED_EMAIL] now" in repr(shown)


def test_nor_in_a_run_that_is_followed():
    run = leaky().stream_events(USER, version="v3")
    assert ["".join(message.text) for message in run.messages] == ["ask [REDACTED_EMAIL] now"]


def test_nor_on_an_event_loop():
    async def shown() -> Any:
        return [part async for part in leaky().astream(USER, stream_mode=["messages", "values"])]

    assert "@" not in repr(asyncio.run(shown()))


@pytest.mark.parametrize("hides", [True, False])
def test_middleware_of_ones_own_may_hide_tokens_too(hides):
    class Shouting(AgentMiddleware):
        hides_tokens = hides

        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return AIMessage(handler(request).result[0].text.upper())

    said = GenericFakeChatModel(messages=iter([AIMessage("ask me now")]))
    shown = create_agent(said, middleware=[Shouting()]).stream(USER, stream_mode="messages")
    words = [part.text for part, _ in shown]
    assert ("ask" in words, words[-1]) == (not hides, "ASK ME NOW")


def test_a_message_that_is_blocked_is_not_shown_and_not_stored():
    said = GenericFakeChatModel(messages=iter([AIMessage("ask a@x.org now")]))
    block = PIIMiddleware("email", strategy="block", apply_to_output=True)
    app, shown = create_agent(said, middleware=[block], checkpointer=InMemorySaver()), []
    with pytest.raises(PIIDetectionError):
        shown.extend(app.stream(USER, thread("blocked"), stream_mode=["messages", "updates"]))
    assert "@" not in repr(shown)
    assert "@" not in repr(app.get_state(thread("blocked")))


def detect(text: str) -> Any:
    return []


SETTINGS: list[tuple[Any, dict[str, Any]]] = [
    (SummarizationMiddleware, {"trigger": ("messages", 5), "token_counter": len, "trim_tokens_to_summarize": 7}),
    (HumanInTheLoopMiddleware, {"interrupt_on": {"pay": True}, "interrupt_mode": "per_call", "edit_notice": None}),
    (ModelCallLimitMiddleware, {"thread_limit": 3, "run_limit": 2, "exit_behavior": "error"}),
    (ToolCallLimitMiddleware, {"tool_name": "pay", "thread_limit": 3, "run_limit": 2, "exit_behavior": "end"}),
    (PIIMiddleware, {"pii_type": "email", "strategy": "mask", "detector": detect, "apply_to_input": False}),
    (TodoListMiddleware, {"system_prompt": "plan", "tool_description": "writes"}),
    (ToolRetryMiddleware, {"max_retries": 1, "on_failure": "error", "initial_delay": 0.5, "jitter": False}),
]


@pytest.mark.parametrize(("kind", "given"), SETTINGS, ids=lambda one: getattr(one, "__name__", ""))
def test_what_middleware_was_given_can_be_read_by_the_same_names(kind, given):
    model = {"model": scripted("ok")} if kind is SummarizationMiddleware else {}
    made = kind(**model, **given)
    assert {name: getattr(made, name) for name in given} == given


@dataclass
class Said:
    messages: list[Any]


def telling(kind: str, strategy: Any = "redact", **options: Any) -> Any:
    """An agent with a tool that tells an address: as its result, in a Command, or as the words of its failure."""
    asked: list[str] = []

    @tool
    def ask(name: str, runtime: ToolRuntime) -> Any:
        """Ask for an address."""
        asked.append(name)
        runtime.emit_output_delta(f"{name}@")
        if kind == "failure":
            raise ToolException(f"{name}@x.org is gone")
        told = f"it is {name}@x.org"
        said = ToolMessage(told, tool_call_id="a1")
        updates = {"command": {"messages": [said]}, "bare": {"messages": said}, "object": Said([said])}
        return told if kind == "text" else Command(update=updates[kind])

    ask.handle_tool_error = kind == "failure"
    hides = PIIMiddleware("email", strategy=strategy, apply_to_tool_results=True)
    return create_agent(
        scripted(calls(call("ask", "a1", name="ana")), "ok"), [ask], middleware=[hides], **options
    ), asked


@pytest.mark.parametrize("kind", ["text", "command", "bare", "object", "failure"])
@pytest.mark.parametrize("saver", [None, InMemorySaver()], ids=["unsaved", "saved"])
@pytest.mark.parametrize("mode", ["messages", "updates", "values", "debug", "tasks", "tools", "checkpoints"])
def test_what_a_tool_says_is_in_no_stream_either(mode, saver, kind):
    app, asked = telling(kind, checkpointer=saver)
    place = thread(f"{mode} {kind}")
    shown = list(app.stream(USER, place, stream_mode=mode))
    ashown = asyncio.run(collected(telling(kind)[0].astream(USER, stream_mode=mode)))
    assert "@" not in repr((shown, ashown))
    assert asked == ["ana"]
    if saver is not None:
        assert "@" not in repr(list(app.get_state_history(place)))
    if mode not in ("tools", "checkpoints") or (mode == "checkpoints" and saver is not None):
        assert "[REDACTED_EMAIL]" in repr(shown)


async def collected(stream: Any) -> list[Any]:
    return [part async for part in stream]


def test_a_result_that_is_blocked_is_not_shown_and_not_in_the_state_and_its_tool_not_called_again():
    app, asked = telling("text", "block", checkpointer=InMemorySaver())
    place, shown = thread("blocked result"), []
    with pytest.raises(PIIDetectionError):
        shown.extend(app.stream(USER, place, stream_mode=["tools", "updates", "values"]))
    with pytest.raises(PIIDetectionError):
        app.invoke(None, place)
    assert "@" not in repr((shown, app.get_state(place)))
    assert asked == ["ana"]


def test_what_is_not_looked_through_costs_nothing():
    agents = [
        create_agent(scripted("ok"), middleware=[PIIMiddleware("email", apply_to_input=inward, apply_to_output=True)])
        for inward in (True, False)
    ]
    assert [len(app.nodes) for app in agents] == [3, 2]


def test_one_that_does_more_than_that_is_heard():
    class Louder(PIIMiddleware):
        def wrap_model_call(self, request: Any, handler: Any) -> Any:
            return AIMessage("LOUD")

    app = create_agent(scripted("ok"), middleware=[Louder("email", apply_to_input=False)])
    assert app.invoke(USER)["messages"][-1].text == "LOUD"


def test_a_detector_need_only_say_where_something_is():
    app = PIIMiddleware("x", strategy="mask", detector=lambda text: [{"text": "123456", "start": 1, "end": 7}])  # type: ignore[typeddict-item,typeddict-unknown-key]
    assert app.replaced("a123456b") == "a****3456b"


def test_a_pattern_of_ones_own_is_all_that_counts_and_nothing_of_a_short_match_is_shown():
    assert PIIMiddleware("ip", detector=r"host-\d+").replaced("host-7") == "[REDACTED_IP]"
    assert PIIMiddleware("pin", strategy="mask", detector=r"\d+").replaced("1234 and 12345") == "**** and ****2345"


def test_personal_data_that_is_blocked_never_gets_to_the_model(open_agent):
    model, block = scripted("ok"), PIIMiddleware("email", strategy="block")
    app = open_agent(lambda saver: create_agent(model, middleware=[block], checkpointer=saver))
    with pytest.raises(PIIDetectionError, match="email") as raised:
        app.invoke({"messages": [("user", "I am a@x.org")]})
    assert (raised.value.pii_type, raised.value.matches[0]["value"], model.seen) == ("email", "a@x.org", [])
    with pytest.raises(PIIDetectionError) as again:
        app.invoke({"messages": [("user", "and now?")]})
    assert f"RemoveMessage({again.value.message_id!r})" in str(again.value)
    app.update_state({"messages": [RemoveMessage(str(again.value.message_id))]})
    assert app.invoke(None)["messages"][-1].text == "ok"
    assert [message.text for message in model.seen[0]] == ["and now?"]


@pytest.mark.parametrize("names", [["fly"], [{"name": "fly"}]])
def test_a_choice_that_is_none_is_asked_for_again(open_agent, desk, names):
    chooser = scripted(structured={"tools": names})
    select = LLMToolSelectorMiddleware(model=chooser, max_retries=2)
    app = open_agent(lambda saver: create_agent(scripted("ok"), desk.tools, middleware=[select], checkpointer=saver))
    with pytest.raises(InvalidInput, match="'fly'.*on_parsing_failure"):
        app.invoke(USER)
    assert len(chooser.seen) == 3


def test_nobody_chooses_where_there_is_no_choice_or_nobody_has_said_anything(desk):
    names = [tool.name for tool in desk.tools]
    for always, said in ((names, USER), ([], {"messages": [AIMessage("hello")]})):
        chooser = scripted(structured={"tools": []})
        select = LLMToolSelectorMiddleware(model=chooser, always_include=always)
        create_agent(model := scripted("ok", "ok"), desk.tools, middleware=[select]).invoke(said)
        assert (chooser.seen, model.bound[-1]["tools"]) == ([], names)


class Chooser(GenericFakeChatModel):
    """Says what it chooses, word by word."""

    def with_structured_output(self, schema: Any, **options: Any) -> Any:
        return self | (lambda said: {"tools": ["look"]})


def test_what_is_said_behind_the_scenes_is_not_streamed(desk):
    """Whoever reads the stream of messages would take it for what the agent says."""
    layers = [
        LLMToolSelectorMiddleware(model=Chooser(messages=iter(["tools: look"] * 2))),
        LLMToolEmulator(model=scripted("found, I guess")),
    ]
    app = create_agent(scripted(calls(LOOK), "I am done"), desk.tools, middleware=layers)
    shown = [message.content for message, _ in app.stream(USER, stream_mode="messages") if message.type != "tool"]
    assert [text for text in shown if text] == ["I am done"]


def test_a_tool_whose_result_is_made_up_does_not_run(open_agent, desk):
    emulate = LLMToolEmulator(tools=["pay"], model=scripted("paid, I guess"))
    app = open_agent(
        lambda saver: create_agent(scripted(calls(PAY, LOOK)), desk.tools, middleware=[emulate], checkpointer=saver)
    )
    assert results(app.invoke(USER)) == {"c1": "paid, I guess", "c2": "found ana"}
    assert desk.ran == ["look ana"]


MISTAKES = [
    (lambda: ToolCallLimitMiddleware(), "thread_limit, a run_limit"),
    (lambda: ToolCallLimitMiddleware(run_limit=3, thread_limit=2), "never reached"),
    (lambda: ToolCallLimitMiddleware(run_limit=3, exit_behavior="stop"), "'stop'"),  # type: ignore[arg-type]
    (lambda: ToolCallLimitMiddleware(run_limit=-1), "run_limit is -1"),
    (lambda: ModelCallLimitMiddleware(thread_limit="5"), "thread_limit is '5'"),  # type: ignore[arg-type]
    (lambda: ContextEditingMiddleware(edits=["all"]), "'all' is no edit"),  # type: ignore[list-item]
    (lambda: ToolRetryMiddleware(max_retries=-1), "max_retries is -1"),
    (lambda: ModelRetryMiddleware(initial_delay=-0.5), "initial_delay is -0.5"),
    (lambda: ModelRetryMiddleware(on_failure="fail"), "'fail'"),  # type: ignore[arg-type]
    (lambda: ToolRetryMiddleware(on_failure="raise"), 'Write "error"'),  # type: ignore[arg-type]
    (lambda: ToolRetryMiddleware(on_failure="return_message"), 'Write "continue"'),  # type: ignore[arg-type]
    (lambda: ToolRetryMiddleware(tools="pay"), r"tools=\['pay'\]"),
    (lambda: ToolErrorMiddleware(), "on_error"),
    (lambda: ContextEditingMiddleware(token_count_method="exact"), "'exact'"),  # type: ignore[arg-type]
    (lambda: PIIMiddleware("passport"), "email, credit_card"),
    (lambda: PIIMiddleware("key", detector="(sk"), "no pattern"),
    (lambda: PIIMiddleware("email", strategy="drop"), "'drop'"),  # type: ignore[arg-type]
    (lambda: LLMToolSelectorMiddleware(max_retries=-1), "max_retries is -1"),
    (lambda: LLMToolEmulator(), "needs a model"),
]


@pytest.mark.parametrize(("make", "told"), MISTAKES, ids=[told for _, told in MISTAKES])
def test_what_cannot_be_meant_is_refused(make, told):
    with pytest.raises(InvalidInput, match=told):
        make()


def test_a_tool_that_is_always_there_has_to_be_there(desk):
    select = LLMToolSelectorMiddleware(model=scripted(structured={"tools": []}), always_include=["fly"])
    with pytest.raises(InvalidInput, match=r"'fly'.*pay, mail, look, close"):
        create_agent(scripted("ok"), desk.tools, middleware=[select]).invoke(USER)
