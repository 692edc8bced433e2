"""Mistakes in what an agent is made of: refused with a typed error that says what to do."""

import asyncio
from functools import partial
from importlib import import_module

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool, tool

from prebuilt.models import scripted
from signoff.agents import Rule, create_agent, create_deep_agent, list_rules
from signoff.agents.backends import StateBackend
from signoff.agents.middleware import (
    AgentMiddleware,
    ContextEditingMiddleware,
    HumanInTheLoopMiddleware,
    LLMToolSelectorMiddleware,
    ModelRetryMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
    ToolErrorMiddleware,
    ToolRetryMiddleware,
    after_agent,
    before_model,
    wrap_model_call,
    wrap_tool_call,
)
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer, InvalidGraph, InvalidInput, InvalidUpdateError
from signoff.prebuilt import ToolNode, add_human_in_the_loop, create_react_agent
from signoff.types import Command


class Model:
    """Answers the same to everything."""

    def bind_tools(self, tools, **options):
        return self

    def invoke(self, messages, config=None):
        return AIMessage("Done.")


def pay(amount: int) -> str:
    """Pay somebody."""
    return f"Paid {amount}."


def undocumented(amount: int) -> str:
    return f"Paid {amount}."


both = pytest.mark.parametrize("create", [create_agent, create_deep_agent])


def test_middleware_of_langchain_is_refused_with_where_to_find_it_here():
    theirs = import_module("langchain.agents.middleware")
    with pytest.raises(InvalidInput, match=r"Import TodoListMiddleware from signoff\.agents\.middleware"):
        create_agent(Model(), middleware=[theirs.TodoListMiddleware()])

    class Own(theirs.AgentMiddleware):
        pass

    with pytest.raises(InvalidInput, match=r"Derive its class from signoff\.agents\.middleware\.AgentMiddleware"):
        create_agent(Model(), middleware=[Own()])


def hooked(method):
    """A middleware with one method, which does nothing."""
    return type("Limits", (AgentMiddleware,), {method: lambda self, one, other: None})()


@both
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("before_modell", "before_model"),
        ("befor_agent", "before_agent"),
        ("afterModel", "after_model"),
        ("aafter_agents", "aafter_agent"),
        ("wrap_tool_calls", "wrap_tool_call"),
        ("awrap_modelcall", "awrap_model_call"),
    ],
)
def test_a_hook_whose_name_is_misspelt_is_refused_since_it_would_never_be_called(create, written, meant):
    with pytest.raises(InvalidInput, match=rf"'Limits' has a method {written}, .* Write {meant};"):
        create(Model(), middleware=[hooked(written)])


@pytest.mark.parametrize("name", ["_before_modell", "before_tool", "check_before_model", "wrap", "model_call"])
def test_helpers_of_a_middleware_may_have_any_other_name(name):
    assert create_agent(Model(), middleware=[hooked(name)])


def test_a_helper_may_have_a_name_like_that_of_a_hook_which_is_there_or_other_parameters():
    class Limits(AgentMiddleware):
        def before_model(self, state, runtime):
            return self.before_models(state, runtime)

        def before_models(self, state, runtime):
            return None

        def after_models(self):
            return None

    assert create_agent(Model(), middleware=[Limits()])


async def awaits(self, one, other):
    return None


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"before_model": awaits}, "Limits.before_model is async, .* Name it abefore_model"),
        ({"wrap_tool_call": awaits}, "Limits.wrap_tool_call is async, .* Name it awrap_tool_call"),
        (
            {"after_agent": "never"},
            r"after_agent is 'never'. Define it .* def after_agent\(self, state, runtime\)",
        ),
        (
            {"wrap_model_call": lambda self, request: None},
            r"takes \(request\), and is called with \(request, h",
        ),
        ({"before_model": lambda state, runtime: None}, r"Write def before_model\(self, state, runtime\)"),
        ({"state_schema": "calls"}, "state_schema of middleware 'Limits' is 'calls'. Give a TypedDict"),
    ],
)
def test_a_method_of_a_middleware_that_cannot_be_called_is_refused_when_the_agent_is_made(members, words):
    with pytest.raises(InvalidInput, match=words):
        create_agent(Model(), middleware=[type("Limits", (AgentMiddleware,), members)()])


def test_an_async_hook_that_is_a_plain_function_says_so():
    agent = create_agent(Model(), middleware=[hooked("abefore_model")])
    with pytest.raises(InvalidUpdateError, match=r"'Limits.before_model' returned None at once. Write async def"):
        asyncio.run(agent.ainvoke({"messages": "hello"}))


@pytest.mark.parametrize(
    ("create", "keyword", "words"),
    [
        (create_agent, "prompt", "Write system_prompt= instead"),
        (create_agent, "pre_model_hook", "before_model"),
        (create_agent, "config_schema", "Write context_schema= instead"),
        (create_deep_agent, "instructions", "Write system_prompt= instead"),
        (create_deep_agent, "skills", "system_prompt"),
        (create_deep_agent, "memory", "system_prompt"),
        (create_deep_agent, "permissions", "interrupt_on"),
        (create_react_agent, "state_modifier", "Write prompt= instead"),
        (create_react_agent, "middleware", "Take create_agent"),
    ],
)
def test_a_keyword_that_another_way_to_make_an_agent_has_is_refused_with_what_to_write(create, keyword, words):
    with pytest.raises(InvalidGraph, match=rf"has no keyword {keyword}=\. .*{words}"):
        create(Model(), [pay], **{keyword: None})


@both
@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"model": None}, "The model is None"),
        ({"model": Model}, "The model is <class"),
        ({"tools": pay}, "tools=\\[...\\]"),
        ({"tools": [5]}, "5 is no tool"),
        ({"tools": [undocumented]}, "'undocumented' cannot be a tool.*docstring"),
        ({"middleware": [5]}, "5 is no middleware"),
        ({"middleware": HumanInTheLoopMiddleware({})}, "middleware=\\[...\\]"),
        ({"interrupt_on": ["pay"]}, "'pay': True"),
        ({"system_prompt": 5}, "system_prompt is 5"),
        ({"state_schema": int}, "state_schema is <class 'int'>"),
        ({"response_format": 5}, "response_format is 5"),
    ],
)
def test_an_agent_of_the_wrong_parts_is_refused(create, named, words):
    with pytest.raises(InvalidInput, match=words):
        create(**{"model": Model(), "tools": [pay], **named})


WRITER = {"name": "writer", "description": "Writes.", "system_prompt": "Write.", "tools": [pay]}
GRAPH = {"name": "graph", "description": "Works.", "runnable": create_agent(Model(), [])}


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"subagents": {"name": "writer"}}, "subagents=\\[...\\]"),
        ({"subagents": ["writer"]}, "'writer' is no subagent"),
        ({"subagents": [{"name": "w", "description": "d", "runnable": 5}]}, "no compiled graph"),
        ({"subagents": [{**WRITER, "interupt_on": {"pay": True}}]}, "'writer' has 'interupt_on'.*mean 'interrupt_on'"),
        ({"subagents": [{**WRITER, "prompt": "Write."}]}, "'writer' has 'prompt'.*mean 'system_prompt'"),
        ({"subagents": [{**WRITER, "interrupt_on": {"pya": True}}]}, "interrupt_on names 'pya'"),
        ({"subagents": [{**GRAPH, "interrupt_on": {"pay": True}}]}, "'graph' has 'interrupt_on'.*asks by itself"),
        ({"backend": "work"}, "FolderBackend\\('work'\\)"),
        ({"backend": StateBackend}, "The backend is .*StateBackend.*such as StateBackend\\(\\)"),
        ({"backend": lambda runtime: StateBackend()}, "The backend is .*such as StateBackend\\(\\)"),
        ({"summarize_at": 5}, "5 is no size"),
    ],
)
def test_a_deep_agent_of_the_wrong_parts_is_refused(named, words):
    with pytest.raises((InvalidInput, InvalidGraph), match=words):
        create_deep_agent(**{"model": Model(), **named})


def test_a_deep_agent_of_the_right_parts_is_not():
    assert create_deep_agent(Model(), (pay,), backend=StateBackend(), summarize_at=("messages", 5))


@pytest.mark.parametrize(
    "middleware",
    [
        [HumanInTheLoopMiddleware({"pya": True})],
        [HumanInTheLoopMiddleware({"pya": True}), ToolRetryMiddleware()],
        [HumanInTheLoopMiddleware({"pya": True}), ToolErrorMiddleware(str)],
        [ToolCallLimitMiddleware(tool_name="pya", run_limit=1)],
    ],
)
def test_a_name_that_no_tool_has_is_refused_since_nothing_would_be_watched_over(middleware):
    with pytest.raises(InvalidGraph, match="names 'pya', and the agent has no such tool"):
        create_agent(Model(), [pay], middleware=middleware, checkpointer=InMemorySaver())


def test_middleware_of_the_users_may_handle_tools_that_the_agent_does_not_know_and_the_log_says_so(caplog):
    middleware = [HumanInTheLoopMiddleware({"fly": True}), wrap_tool_call(lambda request, handler: handler(request))]
    assert create_agent(Model(), [pay], middleware=middleware, checkpointer=InMemorySaver())
    (told,) = caplog.messages
    assert "interrupt_on names 'fly'" in told


@pytest.mark.parametrize("hook", [before_model, after_agent, wrap_model_call, wrap_tool_call])
def test_a_hook_that_cannot_be_called_is_refused(hook):
    with pytest.raises(InvalidInput, match=r"'alone' is called with \((state, runtime|request, handler)\)"):

        @hook
        def alone(state):
            return None


def test_a_tool_node_takes_a_list():
    with pytest.raises(InvalidInput, match="Give a list of tools"):
        ToolNode(pay)


def test_what_watches_over_tools_is_told_them_by_name():
    with pytest.raises(InvalidInput, match="'pay': True"):
        HumanInTheLoopMiddleware(["pay"])


def test_a_pattern_is_not_taken_letter_by_letter():
    # The star in it would be a rule of its own, which lets every call pass.
    for make in (lambda **named: HumanInTheLoopMiddleware({"pay": True}, **named), partial(create_deep_agent, Model())):
        with pytest.raises(InvalidInput, match="'read_\\*', Rule\\(...\\)"):
            make(rules="read_*")


async def asks_elsewhere(request):
    return False


@pytest.mark.parametrize(
    "named", [{"tool": 5}, {"args": "git *"}, {"when": 5}, {"when": asks_elsewhere}, {"until": "tomorrow"}]
)
def test_a_rule_that_cannot_be_meant_is_refused(named):
    with pytest.raises(InvalidInput, match="rule"):
        Rule(**named)


def test_what_is_no_rule_is_refused():
    with pytest.raises(InvalidInput, match="has 5"):
        HumanInTheLoopMiddleware({"pay": True}, rules=[5])


class Mute:
    def invoke(self, messages, config=None):
        return AIMessage("Done.")


class Unable(Mute):
    def bind_tools(self, tools, **options):
        raise NotImplementedError


FAKE = FakeListChatModel(responses=["Done."])


@pytest.mark.parametrize(
    ("create", "model"),
    [(create_agent, Mute()), (create_agent, Unable()), (create_agent, FAKE), (create_react_agent, FAKE)],
)
def test_a_model_that_cannot_call_tools_is_told(create, model):
    with pytest.raises(InvalidInput, match="bind_tools"):
        create(model, [pay]).invoke({"messages": [("user", "Pay Ana")]})


def test_tools_of_other_agents_are_named_too():
    with pytest.raises(InvalidInput, match="Give a list of tools"):
        create_react_agent(Model(), pay)
    with pytest.raises(InvalidInput, match="'undocumented' cannot be a tool"):
        add_human_in_the_loop(undocumented)


# Wrappers


class Payer(Model):
    """Pays once, and is done."""

    def invoke(self, messages, config=None):
        call = {"name": "pay", "args": {"amount": 1}, "id": "call-1"}
        return AIMessage("Done.") if messages[-1].type == "tool" else AIMessage("", tool_calls=[call])


def invoked(agent):
    return agent.invoke({"messages": [("user", "Pay Ana")]})


def ainvoked(agent):
    return asyncio.run(agent.ainvoke({"messages": [("user", "Pay Ana")]}))


@pytest.mark.parametrize("returned", [None, "hello"])
def test_a_wrapper_that_returns_something_else_is_told(returned):
    around_model = wrap_model_call(lambda request, handler: handler(request) and returned)
    with pytest.raises(InvalidUpdateError, match=r"wrap_model_call returned .* Return what handler\(request\) gives"):
        invoked(create_agent(Payer(), [pay], middleware=[around_model]))
    around_tool = wrap_tool_call(lambda request, handler: handler(request) and returned)
    with pytest.raises(InvalidUpdateError, match=r"around the call of 'pay' returned .* what handler\(request\) gives"):
        invoked(create_agent(Payer(), [pay], middleware=[around_tool]))


def test_an_async_wrapper_is_told_too():
    @wrap_tool_call
    async def forgets(request, handler):
        await handler(request)

    class AsyncPayer(Payer):
        async def ainvoke(self, messages, config=None):
            return self.invoke(messages)

    with pytest.raises(InvalidUpdateError, match="around the call of 'pay' returned None"):
        ainvoked(create_agent(AsyncPayer(), [pay], middleware=[forgets]))


def test_a_wrapper_of_a_tool_node_is_told_too():
    call = {"name": "pay", "args": {"amount": 1}, "id": "call-1"}
    node = ToolNode([pay], wrap_tool_call=lambda request, handler: None)
    with pytest.raises(InvalidUpdateError, match="around the call of 'pay' returned None"):
        node.invoke({"messages": [AIMessage("", tool_calls=[call])]})


def test_an_async_tool_in_a_sync_run_is_named():
    async def pay(amount: int) -> str:
        """Pay somebody."""
        return "Paid."

    with pytest.raises(InvalidInput, match="'pay' is async.*ainvoke"):
        invoked(create_agent(Payer(), [pay]))


# Decisions


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_watch_that_no_agent_has_says_that_it_asks_nobody(is_async):
    """In LangChain the hook asks; a graph of one's own may call it before it runs the tools."""
    state = {"messages": [AIMessage("", tool_calls=[{"name": "pay", "args": {}, "id": "1"}])]}
    watch = HumanInTheLoopMiddleware({"pay": True})
    with pytest.raises(InvalidInput, match="asks nobody here.*create_agent"):
        asyncio.run(watch.aafter_model(state, None)) if is_async else watch.after_model(state, None)


def test_a_watch_may_do_more_after_the_model():
    class Watch(HumanInTheLoopMiddleware):
        def after_model(self, state, runtime):
            seen.append(len(state["messages"]))
            return super().after_model(state, runtime)

    @tool
    def pay() -> str:
        """Pay."""
        return "paid"

    seen = []
    wanted = AIMessage("", tool_calls=[{"name": "pay", "args": {}, "id": "1"}])
    agent = create_agent(scripted(wanted), [pay], middleware=[Watch({"pay": True})], checkpointer=InMemorySaver())
    asked = agent.invoke({"messages": ["Pay it."]}, {"configurable": {"thread_id": "1"}})["__interrupt__"]
    assert [action["name"] for action in asked[0].value["action_requests"]] == ["pay"]
    assert seen == [2]


def refused(mode, decision, words):
    """An agent that has asked, and was given a decision that it cannot take."""
    watch = HumanInTheLoopMiddleware({"pay": True}, interrupt_mode=mode)
    agent = create_agent(Payer(), [pay], middleware=[watch], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": [("user", "Pay Ana")]}, config)
    with pytest.raises(InvalidAnswer, match=words):
        agent.invoke(Command(resume=decision if mode == "per_call" else {"decisions": [decision]}), config)
    return agent, config


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ({}, "'type' is a required property"),
        ({"message": "no"}, "'type' is a required property"),
        ({"typ": "approve"}, "'typ' is not one of"),
        ({"type": "edit", "edited_action": {"args": {}}}, "'name' is a required property"),
    ],
)
def test_a_decision_that_lacks_its_type_is_told_just_that(mode, decision, words):
    refused(mode, decision, words)


CHANGE = {"name": "pay", "args": {"amount": 1}}


@pytest.mark.parametrize("mode", ["batched", "per_call"])
@pytest.mark.parametrize(
    ("decision", "words"),
    [
        ({"type": "reject", "from_here_on": True}, "'from_here_on' is not one of"),
        ({"type": "respond", "message": "later", "from_here_on": True}, "'from_here_on' is not one of"),
        ({"type": "edit", "edited_action": CHANGE, "from_here_on": True}, "'from_here_on' is not one of"),
        ({"type": "approve", "edited_action": CHANGE}, "'edited_action' is not one of"),
        ({"type": "reject", "edited_action": CHANGE}, "'edited_action' is not one of"),
    ],
)
def test_a_decision_that_says_two_things_at_once_is_refused(mode, decision, words):
    agent, config = refused(mode, decision, words)
    assert list_rules(agent, config) == []
    assert len(agent.get_state(config).interrupts) == 1


# Tools of one name


def named_pay(word):
    @tool("pay", description=f"Pay {word}.")
    def pay(amount: int) -> str:
        return f"{word} paid {amount}."

    return pay


creators = [create_react_agent, create_agent, create_deep_agent]
every_list = pytest.mark.parametrize(
    "give",
    [ToolNode, *(partial(create, scripted()) for create in creators)],
    ids=["ToolNode", *(create.__name__ for create in creators)],
)


@every_list
def test_two_tools_of_one_name_are_refused_and_both_are_named(give):
    words = "Two tools have the name 'pay'.*test_mistakes.pay.*'Pay somebody.'.*'Pay in cash.'.*another name"
    with pytest.raises(InvalidInput, match=words):
        give([pay, named_pay("in cash")])


class Till:
    def pay(self, amount: int) -> str:
        """Pay somebody."""
        return f"Paid {amount}."


@every_list
@pytest.mark.parametrize("same", [pay, named_pay("in cash"), Till().pay], ids=["function", "tool", "method"])
def test_the_very_same_tool_twice_is_one(give, same):
    give([same, same])


def test_two_middleware_that_bring_tools_of_one_name_are_refused():
    class One(AgentMiddleware):
        tools = [named_pay("in cash")]

    class Two(AgentMiddleware):
        tools = [named_pay("by card")]

    with pytest.raises(InvalidInput, match="Two tools have the name 'pay'"):
        create_agent(Model(), [], middleware=[One(), Two()])


def test_an_agents_own_tool_takes_the_place_of_one_that_middleware_brings():
    class One(AgentMiddleware):
        tools = [named_pay("in cash")]

    agent = create_agent(Payer(), [named_pay("by card")], middleware=[One()])
    assert agent.invoke({"messages": [("user", "Pay Ana")]})["messages"][2].text == "by card paid 1."


def test_the_tool_for_subagents_keeps_its_name():
    def task(description: str) -> str:
        """Do something."""
        return description

    with pytest.raises(InvalidInput, match="calls its subagents with the tool 'task'"):
        create_deep_agent(Model(), [task])


def test_a_form_of_the_answer_that_is_called_like_a_tool_is_refused():
    form = {"title": "pay", "type": "object", "properties": {"amount": {"type": "integer"}}}
    with pytest.raises(InvalidInput, match="The response_format 'pay' has the name of a tool"):
        invoked(create_agent(Payer(), [pay], response_format=form))


class Careful(HumanInTheLoopMiddleware):
    """A watch under another name."""


@pytest.mark.parametrize("second", [HumanInTheLoopMiddleware, Careful])
@pytest.mark.parametrize("make", [create_agent, create_deep_agent])
def test_a_second_watch_is_refused_whatever_it_is_called(make, second):
    """A call passes one gate: the tools of the second one would have run without a question."""

    def pay() -> str:
        """Pay."""
        return "paid"

    with pytest.raises(InvalidGraph, match="Put all of it into one HumanInTheLoopMiddleware"):
        make(Model(), [pay], middleware=[HumanInTheLoopMiddleware({}), second({"pay": True})])


@pytest.mark.parametrize(
    ("made", "named"),
    [
        (lambda: ModelRetryMiddleware(max_retries="2"), "max_retries"),
        (lambda: ModelRetryMiddleware(max_retries=1.5), "max_retries"),
        (lambda: ToolRetryMiddleware(initial_delay=float("nan")), "initial_delay"),
        (lambda: ToolRetryMiddleware(backoff_factor=None), "backoff_factor"),
        (lambda: ToolRetryMiddleware(retry_on=("ConnectionError",)), "retry_on"),
        (lambda: ToolRetryMiddleware(retry_on=asyncio.sleep), "retry_on is async"),
        (lambda: ToolCallLimitMiddleware(run_limit=1, tool_name=["pay"]), "tool_name"),
        (lambda: ToolRetryMiddleware(on_failure=asyncio.sleep), "on_failure is async"),
        (lambda: ToolErrorMiddleware(asyncio.sleep), "on_error is async"),
        (lambda: ToolErrorMiddleware("It failed."), "on_error"),
        (lambda: ToolErrorMiddleware(aon_error="It failed."), "aon_error"),
        (lambda: ContextEditingMiddleware(edits=7), "edits"),
        (lambda: ContextEditingMiddleware(token_counter=7), "token_counter"),
        (lambda: ContextEditingMiddleware(token_counter=asyncio.sleep), "token_counter is async"),
        (lambda: SummarizationMiddleware(Model(), token_counter=asyncio.sleep), "token_counter is async"),
        (lambda: LLMToolSelectorMiddleware(always_include="pay"), "always_include"),
        (lambda: LLMToolSelectorMiddleware(max_tools="3"), "max_tools"),
        (lambda: LLMToolSelectorMiddleware(model=7), "model"),
        (lambda: LLMToolSelectorMiddleware(on_parsing_failure="nothing"), "on_parsing_failure"),
        (lambda: LLMToolSelectorMiddleware(on_parsing_failure=asyncio.sleep), "on_parsing_failure is async"),
        (lambda: PIIMiddleware(["email"]), "pii_type"),
        (lambda: PIIMiddleware("email", detector=7), "detector"),
        (lambda: PIIMiddleware("email", detector=asyncio.sleep), "detector is async"),
        (lambda: ToolNode([pay], handle_tool_errors=asyncio.sleep), "handle_tool_errors is async"),
        (lambda: add_human_in_the_loop(pay, description=asyncio.sleep), "description is async"),
        (lambda: TodoListMiddleware(system_prompt=None), "system_prompt"),
    ],
)
def test_what_middleware_cannot_work_with_is_refused_when_it_is_made(made, named):
    with pytest.raises(InvalidInput, match=named):
        made()


UNREADABLE = {
    "a type that is none": {"type": "objct"},
    "a mark in place of a list": {"type": "object", "properties": {"to": {"type": "string", "required": True}}},
    "a reference that is no text": {"type": "object", "properties": {"to": {"$ref": 5}}},
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_watched_tool_whose_schema_is_no_json_schema_is_refused_by_its_name(kind):
    send = StructuredTool(name="send", description="Send.", args_schema=UNREADABLE[kind], func=pay)
    create_agent(Model(), [send, pay], interrupt_on={"pay": True})  # nobody has to read it
    with pytest.raises(InvalidInput, match="The args_schema of the tool 'send' is not a JSON Schema: "):
        create_agent(Model(), [send], interrupt_on={"send": True})


@pytest.mark.parametrize("kind", UNREADABLE)
def test_a_schema_of_arguments_that_is_no_json_schema_is_refused(kind):
    setting = {"pay": {"args_schema": UNREADABLE[kind]}}
    with pytest.raises(InvalidInput, match=r"'args_schema' of interrupt_on\['pay'\] is not a JSON Schema: "):
        create_agent(Model(), [pay], interrupt_on=setting)
