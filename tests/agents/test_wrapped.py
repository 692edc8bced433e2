"""What a tool has done is not done again, whatever a wrapper around its call asks afterwards."""

import asyncio
import threading
from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from signoff.agents import create_agent, create_deep_agent
from signoff.agents.middleware import AgentMiddleware
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import NotStorable
from signoff.graph import START, MessagesState, StateGraph
from signoff.prebuilt import ToolNode
from signoff.types import Command, interrupt

from .desk import (
    APPROVE,
    LOOK,
    MAIL,
    PAY,
    USER,
    WATCHED,
    Repeating,
    call,
    calls,
    check_transcript,
    decide,
    edit,
    records,
    reject,
    respond,
    results,
    scripted,
)


def checked_by_a_person(result: Any) -> Any:
    verdict = interrupt(f"{result.content}: is it right?")
    return result.model_copy(update={"content": f"{result.content}, {verdict}"})


class Checking(AgentMiddleware):
    """Has a person look at every result."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return checked_by_a_person(handler(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return checked_by_a_person(await handler(request))


class Stubborn(AgentMiddleware):
    """Tries a call again until it does not fail."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        while True:
            try:
                return handler(request)
            except OSError:
                continue

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        while True:
            try:
                return await handler(request)
            except OSError:
                continue


@pytest.fixture
def open_desk(open_in_all_ways, desk):
    def open_desk(*wanted: Any, **settings: Any) -> Any:
        model = scripted(calls(*wanted))
        return open_in_all_ways(lambda saver: create_agent(model, desk.tools, checkpointer=saver, **settings))

    return open_desk


def test_a_tool_whose_result_a_wrapper_asks_about_runs_once(open_desk, desk):
    app = open_desk(LOOK, middleware=[Checking()])
    app.invoke(USER)
    assert app.questions() == ["found ana: is it right?"]
    result = app.invoke(Command(resume="yes"))
    assert results(result) == {"c2": "found ana, yes"}
    assert desk.ran == ["look ana"]
    check_transcript(result["messages"])


def test_tools_side_by_side_whose_results_are_asked_about_run_once_each(open_desk, desk):
    app = open_desk(LOOK, MAIL, middleware=[Checking()])
    app.invoke(USER)
    answers = {question.id: "yes" for question in app.get_state().interrupts}
    assert len(answers) == 2
    for id in answers:
        result = app.invoke(Command(resume={id: "yes"}))
    assert results(result) == {"c2": "found ana, yes", "c3": "wrote to bo, yes"}
    assert sorted(desk.ran) == ["look ana", "mail bo"]


def test_a_watched_tool_beside_one_that_nobody_watches_runs_once_too(open_desk, desk):
    app = open_desk(PAY, LOOK, middleware=[Checking()], interrupt_on=WATCHED)
    app.invoke(USER)
    while waiting := app.get_state().interrupts:
        answer = {one.id: "yes" if isinstance(one.value, str) else decide({"type": "approve"}) for one in waiting[:1]}
        app.invoke(Command(resume=answer))
    assert sorted(desk.ran) == ["look ana", "pay 5 ana"]


def test_a_wrapper_that_makes_a_call_twice_makes_it_twice(open_desk, desk):
    app = open_desk(LOOK, middleware=[Checking(), Repeating()])
    app.invoke(USER)
    app.invoke(Command(resume="yes"))
    assert desk.ran == ["look ana", "look ana"]


@pytest.mark.parametrize("watched", [{}, {"pay": True}], ids=["unwatched", "watched"])
def test_a_tool_that_was_tried_again_until_it_had_paid_does_not_pay_again(open_in_all_ways, watched):
    tries = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        tries.append(amount)
        if len(tries) < 3:
            raise OSError("no connection")
        return "paid"

    model = scripted(calls(call("pay", amount=1)))
    settings = {"middleware": [Checking(), Stubborn()], "interrupt_on": watched}
    app = open_in_all_ways(lambda saver: create_agent(model, [pay], checkpointer=saver, **settings))
    app.invoke(USER)
    if watched:
        app.invoke(Command(resume=decide({"type": "approve"})))
    assert results(app.invoke(Command(resume="yes")))["c1"].endswith("paid, yes")
    assert tries == [1, 1, 1]


class Consulting(AgentMiddleware):
    """Asks a person whether to try again what has failed, as often as it fails."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        while True:
            try:
                return handler(request)
            except OSError as error:
                given_up = self._given_up(request, error)
            if given_up is not None:
                return given_up

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        while True:
            try:
                return await handler(request)
            except OSError as error:
                given_up = self._given_up(request, error)
            if given_up is not None:
                return given_up

    def _given_up(self, request: Any, error: Exception) -> Any:
        if interrupt(f"{error}: again?"):
            return None
        return ToolMessage("given up", tool_call_id=request.tool_call["id"])


def test_what_has_failed_is_not_tried_again_unless_a_person_says_so(open_in_all_ways):
    tries = []

    @tool
    def pay(amount: int) -> str:
        """Pay."""
        tries.append(amount)
        raise OSError(f"try {len(tries)} failed")

    model = scripted(calls(call("pay", amount=1)))
    app = open_in_all_ways(lambda saver: create_agent(model, [pay], checkpointer=saver, middleware=[Consulting()]))
    asked = [app.invoke(USER), app.invoke(Command(resume=True)), app.invoke(Command(resume=True))]
    assert [one["__interrupt__"][0].value for one in asked] == [f"try {nth} failed: again?" for nth in (1, 2, 3)]
    assert results(app.invoke(Command(resume=False)))["c1"] == "given up"
    assert len(tries) == 3


class Tries:
    """What fails the first time, and what was done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def failing_once(self, what: str) -> str:
        self.done.append(what)
        if self.done.count(what) == 1:
            raise OSError(f"{what} failed")
        return what


@pytest.mark.parametrize("watched", [{}, {"pay": True}], ids=["unwatched", "watched"])
def test_a_subagent_that_is_tried_again_goes_on_where_it_failed(open_in_all_ways, desk, watched):
    tries = Tries()

    @tool
    def send() -> str:
        """Send."""
        return tries.failing_once("send")

    model = scripted(calls(PAY), calls(call("send", "c9")), "all done")
    worker = {"name": "worker", "description": "works", "system_prompt": "Work.", "model": model}
    main = scripted(calls(call("task", "t1", description="pay and send", subagent_type="worker")))
    settings = {"subagents": [worker], "middleware": [Stubborn()], "interrupt_on": watched}
    app = open_in_all_ways(lambda saver: create_deep_agent(main, [*desk.tools, send], checkpointer=saver, **settings))
    result = app.invoke(USER)
    if watched:
        result = app.invoke(Command(resume=decide({"type": "approve"})))
    assert results(result) == {"t1": "all done"}
    assert (desk.ran, tries.done, len(model.seen)) == (["pay 5 ana"], ["send", "send"], 3)


class Thrice(AgentMiddleware):
    """Makes every call three times, and as often as that again where it fails."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        made = [Stubborn().wrap_tool_call(request, handler) for _ in range(3)]
        return made[-1].model_copy(update={"content": ", ".join(one.content for one in made)})

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        made = [await Stubborn().awrap_tool_call(request, handler) for _ in range(3)]
        return made[-1].model_copy(update={"content": ", ".join(one.content for one in made)})


def test_a_call_that_failed_between_others_is_not_taken_for_one_of_them(open_in_all_ways):
    tries = []

    @tool
    def count() -> str:
        """Count."""
        tries.append(len(tries))
        if len(tries) == 2:
            raise OSError("lost count")
        return str(len(tries))

    model = scripted(calls(call("count")))
    settings = {"middleware": [Checking(), Thrice()]}
    app = open_in_all_ways(lambda saver: create_agent(model, [count], checkpointer=saver, **settings))
    app.invoke(USER)
    assert app.questions() == ["1, 3, 4: is it right?"]
    assert results(app.invoke(Command(resume="yes"))) == {"c1": "1, 3, 4, yes"}
    assert tries == [0, 1, 2, 3]


def test_a_question_of_the_tool_itself_comes_before_that_of_its_wrapper(open_in_all_ways):
    ran = []

    @tool
    def order(what: str) -> str:
        """Order something."""
        size = interrupt("which size?")
        ran.append(size)
        return f"ordered {what} in {size}"

    model = scripted(calls(call("order", what="shoes")))
    app = open_in_all_ways(lambda saver: create_agent(model, [order], middleware=[Checking()], checkpointer=saver))
    app.invoke(USER)
    assert app.questions() == ["which size?"]
    app.invoke(Command(resume=41))
    assert app.questions() == ["ordered shoes in 41: is it right?"]
    assert results(app.invoke(Command(resume="yes"))) == {"c1": "ordered shoes in 41, yes"}
    assert ran == [41]


class Stamping(AgentMiddleware):
    """Changes a result as it is, and asks then."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self.stamped(handler(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self.stamped(await handler(request))

    def stamped(self, result: Any) -> Any:
        result.content += ", stamped"
        interrupt("is it right?")
        return result


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_wrapper_that_asks_is_given_the_result_as_it_was_though_it_has_changed_it(open_desk, durability):
    app = open_desk(LOOK, middleware=[Stamping()])
    app.invoke(USER, durability=durability)
    assert results(app.invoke(Command(resume="yes"), durability=durability)) == {"c2": "found ana, stamped"}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_the_model_is_told_once_that_a_person_has_changed_a_call(open_desk, durability):
    app = open_desk(PAY, middleware=[Checking()], interrupt_on=WATCHED)
    app.invoke(USER, durability=durability)
    app.invoke(Command(resume=decide(edit("pay", amount=4, to="ana"))), durability=durability)
    text = results(app.invoke(Command(resume="yes"), durability=durability))["c1"]
    assert text.count("A person changed this call") == 1
    assert text.endswith("paid 4 to ana, yes")


@pytest.mark.parametrize("count", [1, 2])
def test_a_tool_node_with_a_wrapper_of_its_own_runs_its_tools_once(open_in_all_ways, desk, count):
    node = ToolNode(desk.tools, wrap_tool_call=Checking().wrap_tool_call, awrap_tool_call=Checking().awrap_tool_call)
    graph = StateGraph(MessagesState).add_node(node).add_edge(START, "tools")
    app = open_in_all_ways(lambda saver: graph.compile(checkpointer=saver))
    app.invoke({"messages": [calls(*[LOOK, MAIL][:count])]})
    app.invoke(Command(resume={question.id: "yes" for question in app.get_state().interrupts}))
    assert sorted(desk.ran) == ["look ana", "mail bo"][:count]
    assert app.get_state().next == ()


@pytest.mark.parametrize("count", [1, 2])
def test_a_tool_node_with_a_sync_wrapper_alone_runs_its_tools_once_in_async_runs_too(open_in_all_ways, desk, count):
    graph = StateGraph(MessagesState).add_node(ToolNode(desk.tools, wrap_tool_call=Checking().wrap_tool_call))
    app = open_in_all_ways(lambda saver: graph.add_edge(START, "tools").compile(checkpointer=saver))
    app.invoke({"messages": [calls(*[LOOK, MAIL][:count])]})
    app.invoke(Command(resume={question.id: "yes" for question in app.get_state().interrupts}))
    assert sorted(desk.ran) == ["look ana", "mail bo"][:count]
    assert app.get_state().next == ()


def test_a_sync_wrapper_stands_around_async_tools_in_an_async_run():
    @tool
    async def look(name: str) -> str:
        """Look somebody up."""
        return f"found {name}"

    node = ToolNode([look], wrap_tool_call=lambda request, handler: handler(request))
    app = StateGraph(MessagesState).add_node(node).add_edge(START, "tools").compile(checkpointer=InMemorySaver())
    result = asyncio.run(app.ainvoke({"messages": [calls(LOOK)]}, {"configurable": {"thread_id": "1"}}))
    assert results(result) == {"c2": "found ana"}


@pytest.mark.parametrize("wrapped", [{}, {"wrap_tool_call": lambda request, handler: handler(request)}])
@pytest.mark.parametrize("count", [1, 2])
def test_an_async_node_may_call_a_tool_node_synchronously(desk, count, wrapped):
    node = ToolNode(desk.tools, **wrapped)

    async def use_tools(state: MessagesState) -> Any:
        return node.invoke(state)

    app = StateGraph(MessagesState).add_node(use_tools).add_edge(START, "use_tools").compile()
    result = asyncio.run(app.ainvoke({"messages": [calls(*[LOOK, MAIL][:count])]}))
    assert list(results(result)) == ["c2", "c3"][:count]
    assert sorted(desk.ran) == ["look ana", "mail bo"][:count]


class Stripping(AgentMiddleware):
    """Takes what a tool returns for the program alone, once it has seen it."""

    def __init__(self, then: Any = lambda result: None) -> None:
        self.then = then

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self.stripped(handler(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self.stripped(await handler(request))

    def stripped(self, result: Any) -> Any:
        self.then(result)
        return result.model_copy(update={"artifact": None})


@pytest.fixture
def open_vault(open_in_all_ways):
    """An agent with a tool whose artifact cannot be stored."""

    def open_vault(*wanted: Any, **settings: Any) -> Any:
        model = scripted(calls(*wanted))
        app = open_in_all_ways(lambda saver: create_agent(model, [unlock, ask], checkpointer=saver, **settings))
        return app, ran

    ran: list[str] = []

    @tool(response_format="content_and_artifact")
    def unlock(door: str) -> Any:
        """Unlock a door."""
        ran.append(door)
        return f"{door} is open", threading.Lock()

    @tool
    def ask(what: str) -> str:
        """Ask a person."""
        return str(interrupt(what))

    return open_vault


FRONT, BACK = call("unlock", "c1", door="front"), call("unlock", "c2", door="back")


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_wrapper_may_take_away_what_cannot_be_stored(open_vault, durability):
    app, ran = open_vault(FRONT, BACK, middleware=[Stripping()])
    result = app.invoke(USER, durability=durability)
    assert results(result) == {"c1": "front is open", "c2": "back is open"}
    assert sorted(ran) == ["back", "front"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_a_wrapper_has_taken_away_is_not_needed_by_a_question_beside_it(open_vault, durability):
    app, ran = open_vault(FRONT, call("ask", "c2", what="who is it?"), middleware=[Stripping()])
    app.invoke(USER, durability=durability)
    assert app.questions() == ["who is it?"]
    result = app.invoke(Command(resume="Ana"), durability=durability)
    assert results(result) == {"c1": "front is open", "c2": "Ana"}
    assert ran == ["front"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_wrapper_that_asks_about_what_cannot_be_stored_is_told_so(open_vault, durability):
    app, _ = open_vault(FRONT, middleware=[Stripping(then=lambda result: interrupt("let them in?"))])
    with pytest.raises(NotStorable, match="'let them in\\?' cannot be asked: .* would be done again.*artifact"):
        app.invoke(USER, durability=durability)
    assert app.questions() == []


MORE = call("pay", "c1", amount=6, to="ana")


@pytest.mark.parametrize("watched", [{}, {"pay": True}], ids=["unwatched", "watched"])
@pytest.mark.parametrize("wanted", [[PAY], [PAY, MAIL]], ids=["alone", "beside another"])
def test_a_call_that_was_made_is_not_made_again_if_it_is_changed_while_its_wrapper_waits(
    open_desk, desk, watched, wanted
):
    app = open_desk(*wanted, middleware=[Checking()], interrupt_on=watched)
    app.invoke(USER)
    for question in [one for one in app.get_state().interrupts if isinstance(one.value, dict)]:
        app.invoke(Command(resume={question.id: decide({"type": "approve"})}))
    said = app.get_state().values["messages"][-1]
    for amount in (6, 7):
        changed = call("pay", "c1", amount=amount, to="ana")
        app.update_state({"messages": [calls(changed, *wanted[1:], id=said.id)]})
        app.invoke(None)
    assert "paid 5 to ana: is it right?" in app.questions()
    result = app.invoke(Command(resume={one.id: "yes" for one in app.get_state().interrupts}))
    assert results(result)["c1"] == "paid 5 to ana, yes"
    assert sorted(desk.ran) == ["mail bo", "pay 5 ana"][-len(wanted) :]
    check_transcript(result["messages"])


class Rehearsing(AgentMiddleware):
    """Pays a cent first, and the rest if a person says so."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        args = {**request.tool_call["args"], "amount": 0}
        handler(request.override(tool_call={**request.tool_call, "args": args}))
        interrupt(f"{request.tool_call['args']['amount']}?")
        return handler(request)


def test_what_a_wrapper_makes_of_a_call_is_not_the_call_itself(desk):
    """A person who changes the call after the rehearsal is asked about the change, and it is made."""
    model = scripted(calls(PAY, id="ai-1"))
    agent = create_agent(model, desk.tools, checkpointer=InMemorySaver(), middleware=[Rehearsing()])
    config: Any = {"configurable": {"thread_id": "1"}}
    agent.invoke(USER, config)
    agent.update_state(config, {"messages": [calls(MORE, id="ai-1")]})
    (asked,) = agent.invoke(None, config)["__interrupt__"]
    assert asked.value == "6?"
    agent.invoke(Command(resume="yes"), config)
    assert desk.ran == ["pay 0 ana", "pay 0 ana", "pay 6 ana"]


def test_a_changed_call_that_its_wrapper_makes_twice_is_made_as_often_as_it_was_not(desk):
    model = scripted(calls(PAY, id="ai-1"))
    layers = [Repeating(), Checking()]
    agent = create_agent(model, desk.tools, checkpointer=InMemorySaver(), middleware=layers)
    config: Any = {"configurable": {"thread_id": "1"}}
    agent.invoke(USER, config)
    agent.update_state(config, {"messages": [calls(MORE, id="ai-1")]})
    agent.invoke(None, config)
    for asked in ("paid 5 to ana: is it right?", "paid 6 to ana: is it right?"):
        (question,) = agent.get_state(config).interrupts
        assert question.value == asked
        result = agent.invoke(Command(resume="yes"), config)
    assert desk.ran == ["pay 5 ana", "pay 6 ana"]
    check_transcript(result["messages"])


def test_a_call_that_failed_may_be_corrected_while_its_wrapper_waits(desk):
    model = scripted(calls(call("close", "c1", number="B1"), id="ai-1"))
    agent = create_agent(model, desk.tools, checkpointer=InMemorySaver(), middleware=[Checking()])
    config: Any = {"configurable": {"thread_id": "1"}}
    agent.invoke(USER, config)
    agent.update_state(config, {"messages": [calls(call("close", "c1", number="A1"), id="ai-1")]})
    agent.invoke(None, config)
    agent.invoke(Command(resume="yes"), config)
    assert desk.ran == ["close A1"]


def test_a_wrapper_of_a_tool_node_makes_a_changed_call_once(open_in_all_ways, desk):
    def wrap(request: Any, execute: Any) -> Any:
        return checked_by_a_person(execute(request))

    async def awrap(request: Any, execute: Any) -> Any:
        return checked_by_a_person(await execute(request))

    def build(saver: Any) -> Any:
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode(desk.tools, wrap_tool_call=wrap, awrap_tool_call=awrap))
        return graph.add_edge(START, "tools").compile(checkpointer=saver)

    app = open_in_all_ways(build)
    app.invoke({"messages": [calls(PAY, id="ai-1")]})
    app.update_state({"messages": [calls(MORE, id="ai-1")]}, as_node=START)
    app.invoke(None)
    result = app.invoke(Command(resume="yes"))
    assert results(result) == {"c1": "paid 5 to ana, yes"}
    assert desk.ran == ["pay 5 ana"]


class StandingIn(AgentMiddleware):
    """Answers in the place of tools, as a cache or a sandbox does."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        self.made.append((request.tool.name, request.tool_call["args"]))
        return ToolMessage("made elsewhere", tool_call_id=request.tool_call["id"])

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return self.wrap_tool_call(request, handler)


@pytest.mark.parametrize(
    ("decision", "told"),
    [(reject(), "A person rejected this call"), (respond("It is paid."), "It is paid.")],
    ids=["reject", "respond"],
)
def test_what_a_person_says_in_the_place_of_a_call_no_wrapper_overrides(open_desk, desk, decision, told):
    elsewhere = StandingIn()
    app = open_desk(PAY, middleware=[elsewhere], interrupt_on={"pay": {"allowed_decisions": ["reject", "respond"]}})
    app.invoke(USER)
    result = app.invoke(Command(resume=decide(decision)))
    assert (elsewhere.made, desk.ran) == ([], [])
    assert results(result)["c1"].startswith(told)
    assert records(result)["c1"]["type"] == decision["type"]


@pytest.mark.parametrize("put", [edit("pay", amount=4, to="bo"), edit("mail", to="bo")], ids=["args", "tool"])
def test_wrappers_are_given_what_a_person_has_put_in_the_place_of_a_call(open_desk, desk, put):
    elsewhere = StandingIn()
    app = open_desk(PAY, middleware=[elsewhere], interrupt_on={"pay": True})
    app.invoke(USER)
    result = app.invoke(Command(resume=decide(put)))
    action = put["edited_action"]
    assert (elsewhere.made, desk.ran) == ([(action["name"], action["args"])], [])
    assert results(result)["c1"].endswith("made elsewhere")
    assert (records(result)["c1"]["type"], records(result)["c1"]["ran"]) == ("edit", action)


def test_a_wrapper_may_answer_in_the_place_of_a_call_that_was_approved(open_desk, desk):
    elsewhere = StandingIn()
    app = open_desk(PAY, middleware=[elsewhere], interrupt_on={"pay": True})
    app.invoke(USER)
    result = app.invoke(Command(resume=decide(APPROVE)))
    assert (elsewhere.made, desk.ran) == ([("pay", PAY["args"])], [])
    assert results(result) == {"c1": "made elsewhere"}


def test_what_a_person_has_put_in_the_place_of_a_call_passes_wrappers_and_is_not_asked_about_again(open_desk, desk):
    app = open_desk(PAY, middleware=[Checking()], interrupt_on={"pay": True})
    app.invoke(USER)
    (question,) = app.invoke(Command(resume=decide(edit("pay", amount=4, to="bo"))))["__interrupt__"]
    assert question.value.endswith("paid 4 to bo: is it right?")
    result = app.invoke(Command(resume="yes"))
    assert desk.ran == ["pay 4 bo"]
    assert records(result)["c1"]["proposed"] == {"name": "pay", "args": PAY["args"]}
