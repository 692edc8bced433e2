"""Promise 8: who changes the state and names no node, ends nothing: what a `goto` or a Send has led to stays due."""

import re

import pytest

from signoff.errors import InvalidUpdateError, ReplayMismatch
from signoff.graph import END, START, StateGraph
from signoff.types import Command, Send, StateUpdate, interrupt

from .programs import NEW, Log, Works, asking, line

TOLD = {"log": ["told"]}


def led(*targets, to=None):
    """A graph whose first node leads on by a Command of its own."""
    graph = StateGraph(Log).add_edge(START, "lead")
    goto = [node if to is None else Send(node, {"log": [to]}) for node, _ in targets]
    graph.add_node("lead", lambda state: Command(update={"log": ["led"]}, goto=goto))
    for node, func in targets:
        graph.add_node(node, func)
    return graph


@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("to", [None, "sent"])
def test_a_question_stays_open(open_app, pause, to):
    app = open_app(led(("ask", asking("sure?")), to=to), pause=pause)
    app.invoke(NEW)
    before = app.ids()
    app.update_state(TOLD)
    app.update_state(TOLD)
    assert (app.ids(), app.get_state().next) == (before, ("ask",))
    assert app.invoke(Command(resume="yes"))["log"] == ["led", "told", "told", "yes"]


def test_one_that_says_something_else_now_is_asked_again(open_app):
    app = open_app(led(("ask", lambda state: {"log": [interrupt(f"keep {len(state['log'])}?")]})))
    app.invoke(NEW)
    app.update_state(TOLD)
    with pytest.raises(ReplayMismatch, match=r"keep 1\?.*keep 2\?"):
        app.invoke(Command(resume="yes"))
    app.invoke(None)
    assert app.invoke(Command(resume="yes"))["log"] == ["led", "told", "yes"]


def test_what_a_breakpoint_holds_back_is_done_behind_it(open_app):
    app = open_app(led(("pay", Works().node("pay"))), interrupt_before=["pay"])
    app.invoke(NEW)
    app.update_state(TOLD)
    assert app.invoke(None)["log"] == ["led", "told", "pay"]


def test_what_has_failed_is_tried_again_on_the_mended_state(open_app):
    def pay(state):
        if "told" not in state["log"]:
            raise LookupError("whom?")
        return {"log": ["pay"]}

    app = open_app(led(("pay", pay)))
    with pytest.raises(LookupError, match="whom"):
        app.invoke(NEW)
    app.update_state(TOLD)
    assert app.invoke(None)["log"] == ["led", "told", "pay"]


def test_what_a_sibling_has_finished_is_not_done_again(open_app):
    works = Works()
    app = open_app(led(("pay", works.node("pay")), ("ask", asking("sure?"))))
    app.invoke(NEW)
    app.update_state(TOLD)
    assert app.get_state().next == ("ask",)
    assert app.invoke(Command(resume="yes"))["log"] == ["led", "pay", "told", "yes"]
    assert works.done == {"pay": 1}


def back_by_goto():
    def age(state):
        answer = interrupt("How old?")
        return {"log": [answer]} if answer.isdigit() else Command(update={"log": [answer]}, goto="age")

    return StateGraph(Log).add_node(age).add_edge(START, "age")


def back_by_edge():
    graph = StateGraph(Log).add_node("age", asking("How old?")).add_edge(START, "age")
    return graph.add_conditional_edges("age", lambda state: END if state["log"][-1].isdigit() else "age", ["age", END])


@pytest.mark.parametrize("back", [back_by_goto, back_by_edge])
def test_a_node_that_leads_back_to_itself_is_not_stood_in_for(open_app, back):
    app = open_app(back())
    app.invoke(NEW)
    app.invoke(Command(resume="old"))
    before = app.ids()
    app.update_state(TOLD)
    assert app.ids() == before
    assert app.invoke(Command(resume="9"))["log"] == ["old", "told", "9"]


def test_a_branch_from_an_old_checkpoint_goes_where_the_old_one_went(open_app):
    works = Works()
    app = open_app(led(("pay", works.node("pay"))))
    app.invoke(NEW)
    old = next(one for one in app.history() if one.next == ("pay",))
    app.update_state(TOLD, config=old.config)
    assert app.invoke(None)["log"] == ["led", "told", "pay"]


@pytest.mark.parametrize(("goto", "next"), [("pay", ("pay",)), (END, ())])
def test_a_person_who_says_where_to_go_on_goes_there_alone(open_app, goto, next):
    app = open_app(led(("ask", asking("sure?"))).add_node("pay", Works().node("pay")))
    app.invoke(NEW)
    app.update_state(Command(update=TOLD, goto=goto))
    assert (app.get_state().next, app.questions()) == (next, [])


def test_so_does_one_who_says_as_which_node(open_app):
    app = open_app(led(("ask", asking("sure?"))))
    app.invoke(NEW)
    app.update_state(TOLD, as_node="lead")
    assert (app.get_state().next, app.questions()) == ((), [])


def test_a_conditional_edge_decides_anew(open_app):
    graph = line(draft=Works().node("draft"))
    graph.add_node("ask", asking("sure?"))
    graph.add_conditional_edges("draft", lambda state: END if "told" in state["log"] else "ask", ["ask", END])
    app = open_app(graph)
    app.invoke(NEW)
    app.update_state(TOLD)
    assert (app.get_state().next, app.questions()) == ((), [])


def test_what_a_nested_graph_hands_over_to_stays_due(open_app):
    inner = StateGraph(Log).add_edge(START, "hand")
    inner.add_node("hand", lambda state: Command(graph=Command.PARENT, update={"log": ["handed"]}, goto="ask"))
    app = open_app(
        StateGraph(Log).add_node("first", inner.compile()).add_node("ask", asking("sure?")).add_edge(START, "first")
    )
    app.invoke(NEW)
    before = app.ids()
    app.update_state(TOLD)
    assert app.ids() == before
    assert app.invoke(Command(resume="yes"))["log"] == ["handed", "told", "yes"]


def test_so_does_what_a_caller_has_led_to(open_app):
    app = open_app(line(first=Works().node("first")).add_node("ask", asking("sure?")))
    app.invoke(NEW)
    app.invoke(Command(goto="ask"))
    before = app.ids()
    app.update_state(TOLD)
    assert app.ids() == before


def test_where_several_came_last_it_is_refused_and_says_how_to_come_from_all_of_them(open_app):
    graph = StateGraph(Log)
    for name in ("a", "b"):
        graph.add_node(name, Works().node(name)).add_node(f"ask {name}", asking(f"{name}?"))
        graph.add_edge(START, name).add_edge(name, f"ask {name}")
    app = open_app(graph)
    app.invoke(NEW)
    before = app.ids()
    with pytest.raises(InvalidUpdateError, match="Ambiguous update") as refused:
        app.update_state(TOLD)
    said = re.search(r"bulk_update_state\(config, (.*)\)\.$", str(refused.value))
    assert said is not None
    app.bulk_update_state(eval(said[1], {"StateUpdate": StateUpdate, "values": TOLD}))
    assert app.ids() == before
    assert app.get_state().values["log"] == ["a", "b", "told"]
