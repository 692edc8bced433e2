"""Promise 1: a nested graph that hands over to the graph around it does so when nobody in it is asked any more."""

import threading

import pytest

from signoff.errors import InvalidUpdateError
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

from .programs import NEW, Log, Works, asking, beside


def handing(to, works=None):
    """A node that hands over to a node of the graph around."""

    def hand_over(state):
        if works is not None:
            works.done["hand_over"] += 1
        return Command(graph=Command.PARENT, goto=to, update={"log": [f"to {to}"]})

    return hand_over


def office(pause="step", **desks):
    """A graph around one whose nodes run beside each other; it has people to hand over to."""
    graph = StateGraph(Log).add_node("desk", beside(**desks).compile(pause=pause)).add_edge(START, "desk")
    for name in ("ana", "ben"):
        graph.add_node(name, lambda state, name=name: {"log": [name]})
    return graph


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_a_question_beside_a_handoff_is_asked_before_it_hands_over(open_app, pause):
    works = Works()
    app = open_app(office(pause, ask=works.asking("ask"), hand_over=handing("ana", works)))
    assert app.ask(NEW) == ["ask"]
    assert app.get_state().next == ("desk",)
    assert app.invoke(Command(resume="yes"))["log"] == ["to ana", "ana"]
    assert works.done == {"ask": 2, "hand_over": 1}


def test_all_questions_beside_a_handoff_are_asked(open_app):
    works = Works()
    app = open_app(office(ask=asking("one?"), hand_over=handing("ana", works), other=asking("two?")))
    app.invoke(NEW)
    ids = app.ids()
    assert sorted(ids) == ["one?", "two?"]
    assert sorted(app.ask(Command(resume={ids["one?"]: "yes"}))) == ["two?"]
    assert app.invoke(Command(resume={ids["two?"]: "yes"}))["log"] == ["to ana", "ana"]
    assert works.done == {"hand_over": 1}


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_a_handoff_that_an_answer_leads_to_waits_for_the_other_questions(open_app, pause):
    def approve(state):
        interrupt("one?")
        return handing("ana")(state)

    app = open_app(office(pause, approve=approve, other=asking("two?")))
    app.invoke(NEW)
    assert app.ask(Command(resume={app.ids()["one?"]: "yes"})) == ["two?"]
    assert app.invoke(Command(resume="yes"))["log"] == ["to ana", "ana"]


def test_a_node_that_fails_beside_a_handoff_is_tried_again_and_the_handoff_is_not(open_app):
    works, broken, handed = Works(), [True], threading.Event()

    def fail(state):
        if broken:
            handed.wait(5)
            raise LookupError("not today")

    def hand_over(state):
        handed.set()
        return handing("ana", works)(state)

    app = open_app(office(fail=fail, hand_over=hand_over))
    with pytest.raises(LookupError):
        app.invoke(NEW)
    broken.clear()
    assert app.invoke(None)["log"] == ["to ana", "ana"]
    assert works.done == {"hand_over": 1}


def test_of_two_handoffs_both_count_in_the_order_of_the_nodes(open_app):
    second = threading.Event()

    def to_ana(state):
        second.wait(5)
        return handing("ana")(state)

    def to_ben(state):
        second.set()
        return handing("ben")(state)

    app = open_app(office(a=to_ana, b=to_ben))
    assert app.invoke(NEW)["log"] == ["to ana", "to ben", "ana", "ben"]


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_two_handoffs_wait_together_for_a_question_beside_them(open_app, pause):
    works = Works()
    app = open_app(office(pause, a=handing("ana", works), ask=works.asking("ask"), b=handing("ben", works)))
    assert app.ask(NEW) == ["ask"]
    assert app.invoke(Command(resume="yes"))["log"] == ["to ana", "to ben", "ana", "ben"]
    assert works.done == {"ask": 2, "hand_over": 2}


@pytest.mark.parametrize("asks", [False, True], ids=["alone", "beside a question"])
def test_a_node_may_hand_over_to_several(open_app, asks):
    def both(state):
        return [handing("ana")(state), handing("ben")(state)]

    app = open_app(office(both=both, **({"ask": asking("sure?")} if asks else {})))
    result = app.invoke(NEW)
    if asks:
        result = app.invoke(Command(resume="yes"))
    assert result["log"] == ["to ana", "to ben", "ana", "ben"]


def test_handoffs_that_cannot_both_be_followed_are_an_error_that_names_the_key(open_app):
    class Turns(Log):
        active: str

    def to(name):
        return lambda state: Command(graph=Command.PARENT, goto=name, update={"active": name})

    graph = StateGraph(Turns).add_node("desk", beside(a=to("ana"), b=to("ben")).compile()).add_edge(START, "desk")
    for name in ("ana", "ben"):
        graph.add_node(name, lambda state, name=name: {"log": [name]})
    app = open_app(graph)
    with pytest.raises(InvalidUpdateError, match="'active'"):
        app.invoke(NEW)
    assert app.get_state().next == ("desk",)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_two_tools_that_hand_over_in_one_turn_both_do(open_app, version):
    from langchain_core.tools import tool

    from prebuilt.models import call, calls, scripted
    from signoff.graph import MessagesState
    from signoff.prebuilt import create_react_agent

    @tool
    def to_ana() -> Command:
        """Hand over to Ana."""
        return Command(graph=Command.PARENT, goto="ana")

    @tool
    def to_ben() -> Command:
        """Hand over to Ben."""
        return Command(graph=Command.PARENT, goto="ben")

    turn = calls(call("to_ana", "c1"), call("to_ben", "c2"))
    desk = create_react_agent(scripted(turn), [to_ana, to_ben], version=version)
    graph = StateGraph(MessagesState).add_node("desk", desk).add_edge(START, "desk")
    for name in ("ana", "ben"):
        graph.add_node(name, lambda state, name=name: {"messages": [("ai", name)]})
    said = open_app(graph).invoke({"messages": [("user", "hi")]})["messages"]
    assert [message.text for message in said] == ["hi", "ana", "ben"]


def test_an_update_that_would_drop_a_handoff_is_refused_and_another_keeps_it(open_app):
    works = Works()
    app = open_app(office(ask=works.asking("ask"), hand_over=handing("ana", works)))
    app.invoke(NEW)
    inside = app.get_state(subgraphs=True).tasks[0].state.config
    with pytest.raises(InvalidUpdateError, match="'hand_over' hands over"):
        app.update_state({"log": ["for ask"]}, as_node="ask", config=inside)
    app.update_state({"log": ["told"]}, config=inside)
    assert app.invoke(Command(resume="yes"))["log"] == ["to ana", "ana"]
    assert works.done == {"ask": 2, "hand_over": 1}


def test_a_handoff_waits_with_a_question_of_an_inner_graph(open_app):
    inner = beside(ask=asking("sure?")).compile()
    app = open_app(office(inner=inner, hand_over=handing("ben")))
    assert app.ask(NEW) == ["sure?"]
    assert app.invoke(Command(resume="yes"))["log"] == ["to ben", "ben"]


def test_a_tool_that_asks_beside_a_handoff_to_another_agent_is_answered(open_app):
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool

    from prebuilt.models import call, calls
    from signoff.graph import MessagesState
    from signoff.prebuilt import ToolNode

    sold = []

    @tool
    def sell(what: str) -> str:
        """Sell something."""
        sold.append((what, interrupt(f"Sell {what}?")))
        return f"sold {what}"

    @tool
    def transfer() -> Command:
        """Hand over to Ana."""
        return Command(graph=Command.PARENT, goto="ana")

    def each(state):
        from signoff.types import Send

        return [Send("tools", [call]) for call in state["messages"][-1].tool_calls]

    desk = StateGraph(MessagesState).add_node("tools", ToolNode([sell, transfer]))
    desk.add_conditional_edges(START, each, ["tools"])
    graph = StateGraph(MessagesState).add_node("desk", desk.compile()).add_edge(START, "desk")
    graph.add_node("ana", lambda state: {"messages": [ToolMessage("here", tool_call_id="2")]})
    app = open_app(graph)
    wanted = calls(call("sell", "1", what="shares"), call("transfer", "2"))
    assert app.ask({"messages": [HumanMessage("hi"), wanted]}) == ["Sell shares?"]
    assert app.invoke(Command(resume="yes"))["messages"][-1].content == "here"
    assert sold == [("shares", "yes")]
