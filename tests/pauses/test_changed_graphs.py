"""Promise 7: a node that is gone while it waits, or is due, is noticed; its question is kept."""

import pytest

from signoff.errors import GraphChanged
from signoff.graph import END, START, StateGraph
from signoff.types import Command, Send, interrupt

from .programs import NEW, Log, Works, asking, beside, line


def sends(name):
    graph = StateGraph(Log).add_node(name, lambda n: {"log": [interrupt(n)]})
    return graph.add_conditional_edges(START, lambda state: [Send(name, 1), Send(name, 2)], [name])


GONE = {
    "renamed": (lambda: beside(ask=asking()), lambda: beside(confirm=asking())),
    "removed beside another": (
        lambda: beside(ask=asking(), other=Works().node("other")),
        lambda: beside(other=Works().node("other")),
    ),
    "in a nested graph": (
        lambda: beside(inner=beside(ask=asking()).compile()),
        lambda: beside(inner=beside(confirm=asking()).compile()),
    ),
    "the nested graph": (
        lambda: beside(inner=beside(ask=asking()).compile()),
        lambda: beside(nested=beside(ask=asking()).compile()),
    ),
    "by a Send": (lambda: sends("each"), lambda: sends("every")),
}


@pytest.mark.parametrize("case", GONE)
def test_a_node_that_is_gone_is_noticed_and_its_question_kept(open_app, case):
    old, new = GONE[case]
    first = open_app(old())
    first.invoke(NEW)
    before = first.get_state()
    answers = dict.fromkeys(first.ids().values(), "yes")
    with pytest.raises(GraphChanged, match="does not have"):
        open_app(new()).invoke(Command(resume=answers))
    assert first.get_state() == before
    assert {question.id for question in first.filed()} == answers.keys()
    result = first.invoke(Command(resume=answers))
    assert "__interrupt__" not in result
    assert "yes" in result["log"]


@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("case", GONE)
def test_what_a_node_that_is_gone_asks_is_still_shown(open_app, case, pause):
    old, new = GONE[case]
    first, deployed = open_app(old(), pause=pause), open_app(new(), pause=pause)
    first.invoke(NEW)
    before, after = first.get_state(), deployed.get_state()
    assert after.interrupts == before.interrupts != ()
    assert (after.next, after.metadata) == (before.next, before.metadata)
    waiting = [(task.id, task.name, task.path, task.interrupts) for task in before.tasks if task.interrupts]
    assert [(task.id, task.name, task.path, task.interrupts) for task in after.tasks if task.interrupts] == waiting
    assert deployed.get_state(subgraphs=True).interrupts == before.interrupts
    assert [one.interrupts for one in deployed.history()] == [one.interrupts for one in first.history()]


def test_a_node_behind_a_join_that_is_gone_is_still_shown(open_app):
    def joined(name):
        graph = beside(one=Works().node("one"), two=Works().node("two")).add_node(name, asking())
        return graph.add_edge(["one", "two"], name)

    first, deployed = open_app(joined("ask")), open_app(joined("confirm"))
    first.invoke(NEW)
    assert deployed.get_state().interrupts == first.get_state().interrupts != ()
    assert deployed.get_state().next == ("ask",)
    with pytest.raises(GraphChanged):
        deployed.invoke(Command(resume="yes"))


@pytest.mark.parametrize("case", GONE)
def test_a_question_of_a_node_that_is_gone_is_dropped_by_an_update_and_in_the_history(open_app, case):
    old, new = GONE[case]
    first, deployed = open_app(old()), open_app(new())
    first.invoke(NEW)
    dropped = sorted(first.ids().values())
    deployed.update_state(None, as_node=END)
    assert sorted(deployed.get_state().metadata["discarded"]) == dropped
    assert (deployed.questions(), deployed.filed(), deployed.get_state().next) == ([], [], ())


def test_a_handler_of_errors_does_not_take_care_of_a_node_that_is_gone(open_app):
    handled = []

    def shop(name):
        inner = beside(**{name: asking()}).compile()
        graph = StateGraph(Log).add_node("inner", inner, error_handler=lambda state: handled.append(1))
        return open_app(graph.add_edge(START, "inner"))

    shop("ask").invoke(NEW)
    with pytest.raises(GraphChanged):
        shop("confirm").invoke(Command(resume="yes"))
    assert handled == []
    assert shop("ask").invoke(Command(resume="yes")) == {"log": ["yes"]}


def test_a_node_that_is_due_and_gone_is_noticed(open_app):
    def fail(state):
        raise LookupError("not today")

    first = open_app(line(a=Works().node("a"), b=fail))
    with pytest.raises(LookupError):
        first.invoke(NEW)
    with pytest.raises(GraphChanged, match="'b'"):
        open_app(line(a=Works().node("a"), c=Works().node("c"))).invoke(None)
    assert open_app(line(a=Works().node("a"), b=Works().node("b"))).invoke(None) == {"log": ["a", "b"]}


def test_a_thread_of_a_node_that_is_gone_can_be_moved(open_app):
    open_app(beside(ask=asking())).invoke(NEW)
    deployed = open_app(line(confirm=asking(), after=Works().node("after")))
    deployed.update_state({"log": ["by hand"]}, as_node="confirm")
    assert deployed.invoke(None) == {"log": ["by hand", "after"]}
    assert deployed.filed() == []


def test_nodes_may_be_added_and_others_renamed_while_one_waits(open_app):
    open_app(line(ask=asking(), last=Works().node("last"))).invoke(NEW)
    deployed = open_app(line(ask=asking(), check=Works().node("check"), final=Works().node("final")))
    assert deployed.invoke(Command(resume="yes")) == {"log": ["yes", "check", "final"]}
