"""What a person has decided holds, though the agent was changed by a deploy while the question was open."""

from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langchain_core.tools import StructuredTool, tool

from signoff.agents import create_agent
from signoff.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware, ToolRetryMiddleware
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer, ReplayMismatch
from signoff.prebuilt import add_human_in_the_loop
from signoff.types import Command, interrupt

from .desk import (
    APPROVE,
    LOOK,
    MAIL,
    PAY,
    USER,
    WATCHED,
    call,
    calls,
    check_transcript,
    decide,
    edit,
    reject,
    results,
    scripted,
)


class Paying(AgentMiddleware):
    """Pays, whatever was to be done."""

    def _paying(self, request: Any) -> Any:
        return request.override(tool_call={**request.tool_call, "name": "pay", "args": PAY["args"]})

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(self._paying(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(self._paying(request))


@pytest.fixture(params=["batched", "per_call"])
def mode(request) -> Any:
    return request.param


@pytest.fixture
def deploy(open_agent, desk, mode):
    """Opens an agent that watches over tools, or gives one that is open other settings."""
    app = open_agent(lambda saver: None)

    def deploy(*wanted: Any, watched: Any = WATCHED, rules: Any = (), tools: Any = None, middleware: Any = ()) -> Any:
        def make(saver: Any) -> Any:
            watch = HumanInTheLoopMiddleware(watched, interrupt_mode=mode, rules=rules)
            model = scripted(calls(*wanted, id="ai-1") if wanted else "done")
            layers = [*([watch] if watched else []), *middleware]
            given = desk.tools if tools is None else tools
            return create_agent(model, given, middleware=layers, checkpointer=saver)

        app.compile = make
        return app

    return deploy


def with_answer(app: Any, mode: str, **decisions: Any) -> Any:
    """The answer that decides on the calls of these tools."""
    if mode == "batched":
        return Command(resume=decide(*decisions.values()))
    asked = {question.value["name"]: question.id for question in app.get_state().interrupts}
    return Command(resume={asked[name]: said for name, said in decisions.items()})


def names(questions: Any) -> list[str]:
    """The tools that questions are about."""
    return [one["name"] for value in questions for one in value.get("action_requests", [value])]


@pytest.mark.parametrize("decision", [reject("no"), APPROVE], ids=["rejected", "approved"])
def test_a_decision_on_a_tool_that_nobody_watches_over_any_more_is_refused_and_the_question_kept(
    deploy, desk, mode, decision
):
    app = deploy(PAY)
    app.invoke(USER)
    app = deploy(watched={})
    with pytest.raises(ReplayMismatch, match="'pay', and the agent does not watch over that tool any more"):
        app.invoke(with_answer(app, mode, pay=decision))
    assert desk.ran == []
    assert names(app.questions()) == ["pay"]


def test_a_rejected_call_does_not_run_because_only_the_other_tool_is_watched_over_now(deploy, desk, mode):
    app = deploy(PAY, MAIL)
    app.invoke(USER)
    app = deploy(watched={"mail": True})
    with pytest.raises(ReplayMismatch):
        app.invoke(with_answer(app, mode, pay=reject(), mail=APPROVE))
    assert "pay 5 ana" not in desk.ran


def test_a_decision_on_a_tool_that_is_gone_is_refused(deploy, desk, mode):
    app = deploy(PAY)
    app.invoke(USER)
    app = deploy(watched={}, tools=[one for one in desk.tools if one.name != "pay"])
    with pytest.raises(ReplayMismatch):
        app.invoke(with_answer(app, mode, pay=APPROVE))
    assert names(app.questions()) == ["pay"]


def test_the_thread_goes_on_when_the_tool_is_watched_over_again(deploy, desk, mode):
    app = deploy(PAY)
    app.invoke(USER)
    app = deploy(watched={})
    with pytest.raises(ReplayMismatch):
        app.invoke(with_answer(app, mode, pay=APPROVE))
    app = deploy()
    result = app.invoke(with_answer(app, mode, pay=APPROVE))
    assert desk.ran == ["pay 5 ana"]
    check_transcript(result["messages"])


def test_the_question_about_a_tool_that_nobody_watches_over_any_more_can_be_dropped(deploy, desk):
    app = deploy(PAY)
    app.invoke(USER)
    app = deploy(watched={})
    result = app.invoke({"messages": [HumanMessage("never mind")]}, on_pending="discard")
    assert desk.ran == []
    check_transcript(result["messages"])


def test_a_rejected_call_does_not_run_by_a_rule_that_came_with_a_deploy(deploy, desk, mode):
    app = deploy(PAY)
    app.invoke(USER)
    app = deploy(rules=["pay"])
    assert "rejected this call of pay" in results(app.invoke(with_answer(app, mode, pay=reject())))["c1"]
    assert desk.ran == []


def test_a_rejected_call_with_what_is_not_a_number_does_not_run_by_a_rule_that_came_with_a_deploy(deploy, mode):
    ran = []

    @tool
    def transfer(amount: float) -> str:
        """Transfer money."""
        ran.append(amount)
        return "transferred"

    app = deploy(call("transfer", amount=float("nan")), watched={"transfer": True}, tools=[transfer])
    app.invoke(USER)
    app = deploy(watched={"transfer": True}, tools=[transfer], rules=["transfer"])
    result = app.invoke(with_answer(app, mode, transfer=reject()))
    assert "rejected this call of transfer" in results(result)["c1"]
    assert ran == []


def test_a_rejected_call_that_middleware_made_does_not_run_by_a_rule_that_came_with_a_deploy(deploy, desk, mode):
    app = deploy(LOOK, middleware=[Paying()])
    app.invoke(USER)
    app = deploy(rules=["pay"], middleware=[Paying()])
    assert "rejected this call of pay" in results(app.invoke(with_answer(app, mode, pay=reject())))["c2"]
    assert desk.ran == []


def test_an_answer_about_a_tool_that_asks_nobody_any_more_is_refused_though_others_are_watched_over(deploy, desk):
    pay, *others = desk.tools
    asking = add_human_in_the_loop(pay, interrupt_config={"allow_ignore": True, "allow_accept": True})
    app = deploy(PAY, watched={"mail": True}, tools=[asking, *others])
    app.invoke(USER)
    app = deploy(watched={"mail": True})
    with pytest.raises(ReplayMismatch, match="'pay', and that tool asks nobody any more"):
        app.invoke(Command(resume=[{"type": "ignore", "args": None}]))
    assert desk.ran == []


@pytest.fixture
def asking_pay(desk) -> Any:
    """A tool that asks by itself, once a person has decided on its call."""

    @tool
    def pay(amount: int, to: str) -> str:
        """Pay somebody."""
        desk.ran.append(f"pay {amount} {interrupt('Really?')}")
        return "paid"

    return pay


def test_an_edit_holds_though_a_rule_came_with_a_deploy_before_the_tool_asked_by_itself(deploy, desk, mode, asking_pay):
    app = deploy(PAY, watched={"pay": True}, tools=[asking_pay])
    app.invoke(USER)
    assert "__interrupt__" in app.invoke(with_answer(app, mode, pay=edit("pay", amount=3, to="ana")))
    app = deploy(watched={"pay": True}, tools=[asking_pay], rules=["pay"])
    app.invoke(Command(resume="yes"))
    assert desk.ran == ["pay 3 yes"]


def test_an_edit_is_not_forgotten_when_the_tool_is_not_watched_over_any_more(deploy, desk, mode, asking_pay):
    app = deploy(PAY, watched={"pay": True}, tools=[asking_pay])
    app.invoke(USER)
    app.invoke(with_answer(app, mode, pay=edit("pay", amount=3, to="ana")))
    app = deploy(watched={}, tools=[asking_pay])
    with pytest.raises(ReplayMismatch):
        app.invoke(Command(resume="yes"))
    assert desk.ran == []
    assert app.questions() == ["Really?"]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("Really?", None),
        ("Really?", "sure"),
        ("Really?", "c1-sure"),
        ({"action_requests": [{"name": "pay", "args": {}}], "review_configs": []}, None),
        ({"action_requests": [{"name": "pay", "args": {}}]}, "sure"),
        ({"review_configs": []}, "sure"),
        ({"type": "tool_approval", "name": "pay", "args": {}, "tool_call_id": "c1"}, "sure"),
        ({"review_config": {}, "name": "pay", "args": {}, "tool_call_id": "c1"}, "sure"),
    ],
)
def test_a_tool_that_asks_by_itself_need_not_be_watched_over(desk, question, key):
    @tool
    def pay(amount: int, to: str) -> str:
        """Pay somebody."""
        desk.ran.append(f"pay {amount} {interrupt(question, key=key)} {interrupt('Now?')}")
        return "paid"

    app = create_agent(scripted(calls(PAY)), [pay], checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    app.invoke(USER, config)
    app.invoke(Command(resume="yes"), config)
    app.invoke(Command(resume="now"), config)
    assert desk.ran == ["pay 5 yes now"]


def test_a_tool_that_calls_an_agent_which_asks_need_not_be_watched_over(open_agent, desk):
    """What an agent asks that a tool has called is not about the call of that tool."""

    def make(saver: Any) -> Any:
        bank = create_agent(scripted(calls(PAY)), desk.tools, interrupt_on={"pay": True})

        def pay(amount: int, to: str) -> str:
            """Have the bank pay."""
            return str(bank.invoke(USER)["messages"][-1].content)

        return create_agent(scripted(calls(call("pay", "c9", amount=5, to="ana"))), [pay], checkpointer=saver)

    app = open_agent(make)
    app.invoke(USER)
    app.invoke(Command(resume=decide(APPROVE)))
    assert desk.ran == ["pay 5 ana"]


def test_an_agent_whose_answer_is_refused_is_not_begun_anew_by_a_retry(open_agent, desk):
    """The inbox cannot look at the arguments of another tool: that is found out when the agent goes on."""

    def make(saver: Any) -> Any:
        bank = create_agent(scripted(calls(LOOK, PAY)), desk.tools, interrupt_on={"pay": True})

        def ask_bank() -> str:
            """Have the bank pay."""
            return str(bank.invoke(USER)["messages"][-1].content)

        async def aask_bank() -> str:
            return str((await bank.ainvoke(USER))["messages"][-1].content)

        ask = StructuredTool.from_function(ask_bank, aask_bank)
        again = ToolRetryMiddleware(initial_delay=0)
        return create_agent(scripted(calls(call("ask_bank", "c9"))), [ask], middleware=[again], checkpointer=saver)

    app = open_agent(make)
    app.invoke(USER)
    with pytest.raises(InvalidAnswer, match="no argument 'address'"):
        app.invoke(Command(resume=decide(edit("mail", address="bo"))))
    assert desk.ran == ["look ana"]
    assert names(app.questions()) == ["pay"]
    app.invoke(Command(resume=decide(APPROVE)))
    assert desk.ran == ["look ana", "pay 5 ana"]
