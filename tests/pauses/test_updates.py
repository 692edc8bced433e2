"""Promise 8: an update by a person drops no question silently; one whose node is still due stays open."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Literal

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.constants import COPY, INPUT
from signoff.errors import AlreadyAnswered, InvalidAnswer, InvalidUpdateError, ReplayMismatch, TaskNotFound
from signoff.func import task
from signoff.graph import END, START, StateGraph
from signoff.inbox import Inbox
from signoff.types import Command, Send, StateUpdate, interrupt

from .programs import NEW, Log, Works, asking, beside, line
from .ways import CONFIG


def discarded(app, config=None):
    """Which questions the history says were dropped, oldest first."""
    found = app.history() if config is None else app.history(config)
    return [one for snapshot in found for one in snapshot.metadata.get("discarded", ())]


def draft(works=None):
    """A graph that drafts, then asks about the draft."""
    works = works or Works()
    return line(draft=works.node("draft"), ask=works.asking("ask"), after=works.node("after"))


WAYS_TO_DROP = {
    "as another node": ({"log": ["told"]}, "after"),
    "as the node itself": ({"log": ["told"]}, "ask"),
    "as the end": (None, END),
    "as the input": ({"log": ["told"]}, INPUT),
}


@pytest.mark.parametrize("case", WAYS_TO_DROP)
def test_a_question_that_an_update_drops_is_in_the_history_and_not_open_any_more(open_app, case):
    values, as_node = WAYS_TO_DROP[case]
    app = open_app(draft())
    app.invoke(NEW)
    dropped = app.ids()["ask"]
    app.update_state(values, as_node=as_node)
    assert discarded(app) == [dropped]
    assert app.get_state().metadata["discarded"] == [dropped]
    assert (app.questions(), app.filed()) == ([], [])
    with pytest.raises(InvalidAnswer, match="no open question"):
        app.invoke(Command(resume={dropped: "yes"}))


def test_an_update_as_a_node_whose_edge_asks_is_refused_and_changes_nothing(open_app):
    graph = line(ask=Works().node("ask"))
    graph.add_node("after", Works().node("after"))
    graph.add_conditional_edges("ask", lambda state: interrupt("Which way?"), ["after", END])
    app = open_app(graph)
    app.invoke(NEW)
    asked = app.ids()
    with pytest.raises(InvalidUpdateError, match=r"'ask'.*Which way\?.*Command\(resume=\.\.\., update=\.\.\.\)"):
        app.update_state({"log": ["told"]}, as_node="ask")
    assert app.ids() == asked
    assert "told" not in app.get_state().values["log"]


def two_that_lead_elsewhere():
    graph = beside(one=asking("one?"), two=asking("two?"))
    for name in ("one", "two"):
        graph.add_node(f"after {name}", Works().node(f"after {name}")).add_edge(name, f"after {name}")
    return graph


@pytest.mark.parametrize("as_node", [None, "two"])
def test_an_update_that_names_a_task_comes_as_its_node(open_app, as_node):
    app = open_app(two_that_lead_elsewhere())
    app.invoke(NEW)
    _, two = app.get_state().tasks
    app.update_state({"log": ["told"]}, as_node=as_node, task_id=two.id)
    assert app.get_state().next == ("after two",)
    assert app.invoke(None)["log"] == ["told", "after two"]


def test_an_update_that_names_a_task_of_another_node_is_refused_and_changes_nothing(open_app):
    app = open_app(two_that_lead_elsewhere())
    app.invoke(NEW)
    asked = app.ids()
    _, two = app.get_state().tasks
    with pytest.raises(InvalidUpdateError, match=f"'{two.id}' is one of 'two', not of 'one'"):
        app.update_state({"log": ["told"]}, as_node="one", task_id=two.id)
    assert app.ids() == asked
    assert app.get_state().values == {"log": []}


def test_a_task_that_an_update_at_an_old_checkpoint_names_does_not_tell_again_what_it_told(open_app):
    def telling(name):
        return lambda state: {"log": [interrupt(f"{name}?", update={"log": [f"{name} asks"]})]}

    app = open_app(beside(one=telling("one"), two=telling("two")))
    app.invoke(NEW)
    old = app.get_state()
    app.invoke(Command(resume=dict.fromkeys(app.ids().values(), "yes")))
    branch = app.update_state({"log": ["told"]}, old.config, task_id=old.tasks[1].id)
    assert app.get_state(branch).values["log"] == ["two asks", "told"]


@pytest.mark.parametrize("says", ["which way?", "which way with {}?"])
def test_an_answer_that_an_edge_was_given_is_for_an_update_as_its_node_if_the_edge_asks_the_same(open_app, says):
    graph = beside(ask=Works().node("ask"), other=asking("other?")).add_node("after", Works().node("after"))
    graph.add_conditional_edges("ask", lambda state: interrupt(says.format(state["log"])), ["after", END])
    app = open_app(graph)
    asked, _ = app.ask(NEW)
    app.invoke(Command(resume={app.ids()[asked]: "after"}))
    with pytest.raises(InvalidUpdateError, match="which asks") if "{}" in says else nullcontext():
        app.update_state({"log": ["told"]}, as_node="ask")
    assert app.get_state().values["log"] == (["ask"] if "{}" in says else ["told"])
    assert app.get_state().next == (("other",) if "{}" in says else ("after",))


@pytest.mark.parametrize("as_node", [None, "draft"])
def test_a_question_stays_open_if_its_node_is_still_due(open_app, as_node):
    works = Works()
    app = open_app(draft(works))
    app.invoke(NEW)
    before, (filed,) = app.ids(), app.filed()
    app.update_state({"log": ["told"]}, as_node=as_node)
    assert app.ids() == before
    assert app.get_state().next == ("ask",)
    assert app.filed() == [filed]
    assert discarded(app) == []
    assert app.invoke(Command(resume={before["ask"]: "yes"})) == {"log": ["draft", "told", "ask: yes", "after"]}
    assert app.filed() == []
    assert works.done == {"draft": 1, "ask": 2, "after": 1}


def test_a_copy_of_the_head_keeps_the_question(open_app):
    app = open_app(draft())
    app.invoke(NEW)
    before, filed = app.ids(), app.filed()
    app.update_state(None, as_node=COPY)
    assert (app.ids(), app.filed(), discarded(app)) == (before, filed, [])
    assert app.invoke(Command(resume="yes"))["log"] == ["draft", "ask: yes", "after"]


def about_the_log(**settings):
    def ask(state):
        return {"log": [interrupt(f"keep {state['log']}?", **settings)]}

    return line(draft=Works().node("draft"), ask=ask)


def test_a_question_with_the_same_words_is_filed_with_the_form_that_it_has_after_an_update(open_app):
    def ask(state):
        return {"log": [interrupt("Which?", response_schema=Literal[tuple(state["log"])])]}

    app = open_app(line(draft=Works().node("draft"), ask=ask))
    app.invoke(NEW)
    app.update_state({"log": ["told"]})
    assert app.ask(None) == ["Which?"]
    (filed,) = app.filed()
    assert filed.interrupt.response_schema["enum"] == ["draft", "told"]


@pytest.mark.parametrize("settings", [{}, {"key": "keep"}], ids=["by place", "by key"])
def test_an_answer_is_not_for_what_the_question_says_after_an_update(open_app, settings):
    app = open_app(about_the_log(**settings))
    (asked,) = app.ask(NEW)
    id = app.ids()[asked]
    app.update_state({"log": ["told"]})
    with pytest.raises(ReplayMismatch, match="changed by hand.*keep \\['draft', 'told'\\]"):
        app.invoke(Command(resume={id: "yes"}))
    assert app.ids() == {asked: id}
    assert [question.id for question in app.filed()] == [id]
    assert app.ask(None) == ["keep ['draft', 'told']?"]
    assert [question.value for question in app.filed()] == ["keep ['draft', 'told']?"]
    with pytest.raises(
        InvalidAnswer, match=f"no open question '{id}': the state was changed, and .*keep.*in its place"
    ):
        app.invoke(Command(resume={id: "yes"}))  # whoever had seen the old words
    assert app.invoke(Command(resume=dict.fromkeys(app.ids().values(), "yes")))["log"] == ["draft", "told", "yes"]


def test_each_time_a_question_says_something_else_after_an_update_it_is_another_one(open_app):
    app = open_app(about_the_log())
    app.invoke(NEW)
    ids = [*app.ids().values()]
    for word in ("one", "two"):
        app.update_state({"log": [word]})
        app.invoke(None)
        assert app.invoke(None)["__interrupt__"][0].id == app.ids().popitem()[1]
        ids += app.ids().values()
    app.update_state({"log": []})
    app.invoke(None)
    ids += app.ids().values()
    assert len({*ids}) == 3
    assert ids[2] == ids[3], "what says the same stays the same question"
    assert app.invoke(Command(resume={ids[3]: "yes"}))["log"] == ["draft", "one", "two", "yes"]


def test_what_is_told_beside_an_answer_that_is_not_for_what_is_asked_now_is_taken_back(open_app):
    app = open_app(about_the_log())
    app.invoke(NEW)
    app.update_state({"log": ["edited"]})
    with pytest.raises(ReplayMismatch, match="changed by hand"):
        app.invoke(Command(resume="yes", update={"log": ["told"]}))
    assert app.ask(None) == ["keep ['draft', 'edited']?"]
    assert app.invoke(Command(resume="yes", update={"log": ["told"]}))["log"] == ["draft", "edited", "told", "yes"]


@pytest.mark.parametrize("by_command", [False, True], ids=["update_state", "Command"])
@pytest.mark.parametrize("pause", ["step", "branch"])
def test_what_need_not_be_asked_any_more_after_an_update_is_not_open_while_others_wait(open_app, pause, by_command):
    def pay(state):
        return {"log": ["paid"] if state["log"] else [interrupt("pay 900?")]}

    app = open_app(beside(pay=pay, other=asking("other?")), pause=pause)
    assert set(app.ask(NEW)) == {"pay 900?", "other?"}
    if by_command:
        assert app.ask(Command(update={"log": ["only 5"]})) == ["other?"]
    else:
        app.update_state({"log": ["only 5"]})
        assert app.ask(None) == ["other?"]
    assert [question.value for question in app.filed()] == app.questions() == ["other?"]
    assert sorted(app.invoke(Command(resume="yes"))["log"]) == ["only 5", "paid", "yes"]
    assert app.filed() == []


def test_an_answer_may_be_accepted_for_what_the_question_says_after_an_update(open_app):
    app = open_app(about_the_log())
    app.invoke(NEW)
    app.update_state({"log": ["told"]})
    assert app.invoke(Command(resume="yes"), on_changed="accept")["log"] == ["draft", "told", "yes"]


def test_a_question_outlives_several_updates(open_app):
    app = open_app(draft())
    app.invoke(NEW)
    before = app.ids()
    for word in ("one", "two"):
        app.update_state({"log": [word]}, as_node="draft")
        assert app.ids() == before
    assert app.ask(None) == ["ask"]
    app.update_state({"log": ["three"]}, as_node="draft")
    assert app.ids() == before
    assert app.invoke(Command(resume="yes"))["log"] == ["draft", "one", "two", "three", "ask: yes", "after"]


def test_what_siblings_have_finished_is_not_repeated_if_their_node_is_still_due(open_app):
    works = Works()
    app = open_app(beside(ask=works.asking("ask"), work=works.node("work")))
    app.invoke(NEW)
    before = app.ids()
    app.update_state({"log": ["told"]})
    assert app.ids() == before
    assert app.invoke(Command(resume="yes"))["log"] == ["told", "ask: yes", "work"]
    assert works.done == {"ask": 2, "work": 1}


def test_one_question_goes_and_another_stays(open_app):
    app = open_app(beside(one=asking("one?"), two=asking("two?")).add_edge("two", "one"))
    app.invoke(NEW)
    before = app.ids()
    app.update_state({"log": ["told"]}, as_node="two")
    assert app.ids() == {"one?": before["one?"]}
    assert discarded(app) == [before["two?"]]
    assert [question.value for question in app.filed()] == ["one?"]
    assert app.invoke(Command(resume="yes"))["log"] == ["told", "yes"]


def test_the_question_of_a_call_is_asked_anew_on_the_changed_state(open_app):
    @task
    def confirm(log):
        return interrupt(f"{log}?")

    app = open_app(line(draft=Works().node("draft"), ask=lambda state: {"log": [confirm(state["log"]).result()]}))
    (asked,) = app.ask(NEW)
    dropped = app.ids()[asked]
    app.update_state({"log": ["told"]})
    assert (app.ids(), app.filed(), discarded(app)) == ({}, [], [dropped])
    assert app.ask(None) == ["['draft', 'told']?"]


def test_the_question_of_a_nested_graph_is_asked_anew_on_the_changed_state(open_app):
    inner = StateGraph(Log).add_node("ask", lambda state: {"log": [interrupt(f"{state['log']}?")]})
    app = open_app(line(draft=Works().node("draft"), inner=inner.add_edge(START, "ask").compile()))
    (asked,) = app.ask(NEW)
    dropped = app.ids()[asked]
    app.update_state({"log": ["told"]})
    assert (app.ids(), app.filed(), discarded(app)) == ({}, [], [dropped])
    assert app.ask(None) == ["['draft', 'told']?"]


def nested(works, **others):
    """A graph that drafts and asks, in another; beside it, other nodes."""
    return beside(inner=draft(works).compile(), **others)


def test_an_update_inside_leaves_what_others_ask(open_app):
    app = open_app(nested(Works(), other=asking("other?")))
    app.invoke(NEW)
    before, filed = app.ids(), app.filed()
    place = next(task.state for task in app.get_state().tasks if task.name == "inner")
    app.update_state({"log": ["told"]}, place)
    assert app.ids() == before
    assert app.filed() == filed
    result = app.invoke(Command(resume={before["ask"]: "yes", before["other?"]: "no"}))
    assert result["log"] == ["draft", "told", "ask: yes", "after", "no"]


def test_a_question_that_an_update_inside_drops_is_in_the_history_there(open_app):
    app = open_app(nested(Works(), other=asking("other?")))
    app.invoke(NEW)
    before = app.ids()
    place = next(task.state for task in app.get_state().tasks if task.name == "inner")
    app.update_state({"log": ["told"]}, place, as_node="ask")
    assert app.ids() == {"other?": before["other?"]}
    assert [question.value for question in app.filed()] == ["other?"]
    assert discarded(app, place) == [before["ask"]]
    assert app.invoke(Command(resume="no"))["log"] == ["draft", "told", "after", "no"]


@pytest.mark.parametrize("as_node", ["draft", "ask"])
def test_an_update_two_levels_down_leaves_what_others_ask(open_app, as_node):
    works = Works()
    app = open_app(beside(outer=nested(works, other=asking("other?")).compile()))
    app.invoke(NEW)
    before = app.ids()
    (outer,) = app.get_state(subgraphs=True).tasks
    place = next(task.state.config for task in outer.state.tasks if task.name == "inner")
    app.update_state({"log": ["told"]}, place, as_node=as_node)
    left = before if as_node == "draft" else {"other?": before["other?"]}
    assert app.ids() == {question.value: question.id for question in app.filed()} == left
    assert app.ask(None) == list(left)
    assert works.done["after"] == (as_node == "ask"), "the others need not be answered first"
    result = app.invoke(Command(resume=dict.fromkeys(left.values(), "yes")))
    assert result["log"] == ["draft", "told", *(["ask: yes"] if as_node == "draft" else []), "after", "yes"]


def test_an_update_of_a_memory_inside_of_a_graph_that_forgets_is_noticed_around_it(open_app):
    app = open_app(beside(outer=nested_memory(Works()), other=asking("other?")))
    app.invoke(NEW)
    before = app.ids()
    outer = next(task for task in app.get_state(subgraphs=True).tasks if task.name == "outer")
    app.update_state({"log": ["told"]}, outer.state.tasks[0].state.config, as_node="ask")
    assert app.ids() == {question.value: question.id for question in app.filed()} == {"other?": before["other?"]}
    assert app.invoke(Command(resume="no"))["log"] == ["no", "draft", "told", "after"]


def nested_memory(works):
    return beside(inner=draft(works).compile(checkpointer=True)).compile()


def test_an_answer_in_the_inbox_outlives_an_update_of_what_asks_beside_it(inbox_app):
    app, inbox = inbox_app(beside(outer=nested(Works(), other=asking("other?")).compile()))
    app.invoke(NEW, CONFIG)
    ids = {question.value: question.id for question in inbox.open()}
    inbox.answer(ids["other?"], "no", by="ana")
    (outer,) = app.get_state(CONFIG, subgraphs=True).tasks
    place = next(task.state.config for task in outer.state.tasks if task.name == "inner")
    app.update_state(place, {"log": ["told"]}, as_node="ask")
    assert [question.value for question in inbox.open()] == []
    assert app.invoke(None, CONFIG)["log"] == ["draft", "told", "after", "no"]


def test_an_update_inside_that_another_run_was_quicker_than_leaves_what_was_asked_in_the_history(open_app):
    meanwhile = []

    def route(state):
        if meanwhile:
            with ThreadPoolExecutor(1) as somebody:  # who does not know of the update
                somebody.submit(meanwhile.pop()).result()
        return "ask"

    inner = beside(draft=Works().node("draft")).add_node("ask", asking("sure?")).add_conditional_edges("draft", route)
    app = open_app(beside(inner=inner.compile()))
    app.invoke(NEW)
    place = app.get_state().tasks[0].state
    meanwhile.append(lambda: app.invoke(Command(resume="yes")))
    app.update_state({"log": ["told"]}, place, as_node="draft")
    assert app.get_state().values["log"] == ["draft", "yes"]
    asked = [question.value for one in app.history() for task in one.tasks for question in task.interrupts]
    assert asked == ["sure?"]
    assert app.filed() == []


AFTER_IT_WAS_HANDLED = {
    "answer": (lambda app: app.invoke(Command(resume="no")), ["no", "down: skip"]),
    "update": (lambda app: app.update_state({"log": ["told"]}, as_node="ask"), ["down: skip", "told"]),
    "end": (lambda app: app.update_state(None, as_node=END), ["down: skip"]),
    "discard": (lambda app: app.invoke({"log": ["new"]}, on_pending="discard"), ["down: skip", "new"]),
}


@pytest.mark.parametrize("how", AFTER_IT_WAS_HANDLED)
def test_what_has_handled_an_error_beside_a_question_shows_and_is_not_lost(open_app, how):
    works = Works()

    def broken(state):
        works.done["broken"] += 1
        raise ConnectionError("down")

    def handle(state, error):
        works.done["handle"] += 1
        return {"log": [f"{error.error}: {interrupt('what now?')}"]}

    graph = beside(ask=asking("other?")).add_node("broken", broken, error_handler=handle).add_edge(START, "broken")
    app = open_app(graph)
    app.invoke(NEW)
    result = app.invoke(Command(resume={app.ids()["what now?"]: "skip"}))
    state = app.get_state()
    assert result["log"] == state.values["log"] == ["down: skip"]
    assert state.next == ("ask",)
    change, log = AFTER_IT_WAS_HANDLED[how]
    change(app)
    assert app.get_state().values["log"] == log
    assert works.done == ({"broken": 2, "handle": 3} if how == "discard" else {"broken": 1, "handle": 2})


@pytest.mark.parametrize("how", ["update", "replay", "new input"])
def test_a_branch_from_an_old_checkpoint_drops_what_the_head_asks_and_says_so(open_app, how):
    app = open_app(draft())
    app.invoke(NEW)
    dropped = app.ids()["ask"]
    old = next(one for one in app.history() if one.next == ("draft",))
    if how == "update":
        app.update_state({"log": ["told"]}, old.config, as_node="draft")
        app.invoke(None)
    else:
        app.invoke(None if how == "replay" else {"log": ["new"]}, old.config)
    assert discarded(app) == [dropped]
    assert app.ids()["ask"] != dropped
    assert [question.id for question in app.filed()] == list(app.ids().values())


def test_a_branch_from_inside_of_a_nested_graph_drops_what_the_head_asks_and_says_so(open_app):
    app = open_app(nested(Works(), other=asking("other?")))
    app.invoke(NEW)
    dropped = app.ids()
    place = next(task.state for task in app.get_state().tasks if task.name == "inner")
    old = next(one for one in app.history(place) if one.next == ("draft",))
    app.invoke(None, old.config)
    assert set(discarded(app)) == set(dropped.values())
    assert app.ids().keys() == dropped.keys()
    assert set(app.ids().values()).isdisjoint(dropped.values())


def test_a_branch_that_waits_goes_on_waiting_while_others_are_updated(open_app):
    works = Works()
    graph = beside(ask=works.asking("ask"), work=works.node("work")).add_node("more", works.node("more"))
    app = open_app(graph.add_edge("work", "more"), pause="branch")
    app.invoke(NEW)
    before, filed = app.ids(), app.filed()
    app.update_state({"log": ["told"]}, as_node="work")
    assert (app.ids(), app.filed(), discarded(app)) == (before, filed, [])
    assert app.invoke(Command(resume="yes"))["log"] == ["work", "more", "told", "more", "ask: yes"]
    assert works.done == {"ask": 2, "work": 1, "more": 2}


@pytest.mark.parametrize("times", [1, 2])
def test_a_branch_whose_question_an_update_inside_has_dropped_is_still_answered_what_it_was(open_app, times):
    @task
    def confirm():
        return interrupt("sure?")

    inner = beside(ask=lambda state: {"log": [interrupt("first?"), confirm().result()]}).compile()
    app = open_app(beside(inner=inner, work=Works().node("work")), pause="branch")
    app.invoke(NEW)
    assert app.ask(Command(resume="one")) == ["sure?"]
    place = next(one.state for one in app.get_state().tasks if one.name == "inner")
    app.update_state({"log": ["inside"]}, config=place)
    for _ in range(times):
        app.update_state({"log": ["told"]}, as_node="work")
    assert app.ask(None) == ["sure?"]
    assert app.invoke(Command(resume="two"))["log"] == ["work", *["told"] * times, "inside", "one", "two"]


def test_an_answer_that_no_run_has_taken_yet_outlives_an_update(inbox_app):
    app, inbox = inbox_app(draft())
    app.invoke(NEW, CONFIG)
    inbox.answer(app.get_state(CONFIG).interrupts[0].id, "yes")
    app.update_state(CONFIG, {"log": ["told"]})
    assert list(inbox.open()) == []
    assert app.resume_answered()["1"]["log"] == ["draft", "told", "ask: yes", "after"]


@pytest.mark.parametrize("inside", [False, True])
def test_an_answer_that_no_run_has_taken_yet_is_not_for_what_is_asked_after_an_update(inbox_app, inside):
    app, inbox = inbox_app(beside(inner=about_the_log().compile()) if inside else about_the_log())
    app.invoke(NEW, CONFIG)
    inbox.answer(app.get_state(CONFIG).interrupts[0].id, "yes")
    app.update_state(app.get_state(CONFIG).tasks[0].state if inside else CONFIG, {"log": ["told"]})
    assert list(inbox.open()) == []
    with pytest.raises(ReplayMismatch, match="changed by hand"):
        app.resume_answered()
    assert [question.value for question in inbox.open()] == ["keep ['draft']?"]
    assert app.invoke(None, CONFIG)["__interrupt__"][0].value == "keep ['draft', 'told']?"
    assert [question.value for question in inbox.open()] == ["keep ['draft', 'told']?"]


def confirming(asks, about=slice(None)):
    """A graph that drafts, and then has a call ask, itself or in a graph, about what it is given of the log."""

    @task
    def confirm(log):
        return asks(log)

    return line(draft=Works().node("draft"), ask=lambda state: {"log": [confirm(state["log"][about]).result()]})


def ask_in_a_graph(log):
    inner = StateGraph(Log).add_node("ask", lambda state: {"log": [interrupt(f"keep {state['log']}?")]})
    return inner.add_edge(START, "ask").compile().invoke({"log": log})["log"][-1]


@pytest.mark.parametrize("asks", [lambda log: interrupt(f"keep {log}?"), ask_in_a_graph], ids=["itself", "in a graph"])
@pytest.mark.parametrize("times", [1, 2])
def test_so_does_one_to_what_a_call_asks_that_is_made_again_with_the_same(inbox_app, asks, times):
    app, inbox = inbox_app(confirming(asks, about=slice(1)))
    app.invoke(NEW, CONFIG)
    inbox.answer(app.get_state(CONFIG).interrupts[0].id, "yes")
    for _ in range(times):
        app.update_state(CONFIG, {"log": ["told"]})
    assert app.invoke(None, CONFIG)["log"] == ["draft", *["told"] * times, "yes"]


@pytest.mark.parametrize("asks", [lambda log: interrupt("sure?"), ask_in_a_graph], ids=["itself", "in a graph"])
def test_but_not_to_what_a_call_asks_that_is_given_something_else(inbox_app, asks):
    app, inbox = inbox_app(confirming(asks))
    app.invoke(NEW, CONFIG)
    inbox.answer(app.get_state(CONFIG).interrupts[0].id, "yes")
    app.update_state(CONFIG, {"log": ["told"]})
    assert app.invoke(None, CONFIG)["__interrupt__"]
    assert app.invoke(Command(resume="no"), CONFIG)["log"] == ["draft", "told", "no"]


@pytest.fixture
def inbox_app():
    def opened(graph):
        saver = InMemorySaver()
        return graph.compile(checkpointer=saver), Inbox(saver)

    return opened


def test_a_branch_that_waits_waits_once_if_its_node_is_due_again(open_app):
    works = Works()
    app = open_app(draft(works).add_node("other", works.node("other")).add_edge("draft", "other"), pause="branch")
    app.invoke(NEW)
    before, filed = app.ids(), app.filed()
    app.update_state({"log": ["told"]}, as_node="draft")
    assert (app.ids(), app.filed(), discarded(app)) == (before, filed, [])
    assert sorted(app.invoke(Command(resume="yes"))["log"]).count("ask: yes") == 1


# Sends


class Items(Log):
    items: list


def fan(works):
    """A graph that Sends its items, one by one, to a node that asks about the large ones."""

    def each(item):
        works.done[f"{item['n']}"] += 1
        return {"log": [f"{item['n']} {interrupt(str(item['n'])) if item['n'] > 9 else 'small'}"]}

    graph = StateGraph(Items).add_node("fan", lambda state: None).add_node("each", each).add_edge(START, "fan")
    return graph.add_conditional_edges("fan", lambda state: [Send("each", item) for item in state["items"]], ["each"])


def items(*numbers):
    return {"items": [{"n": number} for number in numbers]}


@pytest.mark.parametrize("numbers", [(20, 30), (30, 20), (30,), (1, 20)])
def test_a_send_that_is_made_again_is_still_due_and_one_that_is_not_is_dropped(open_app, numbers):
    works = Works()
    app = open_app(fan(works))
    app.invoke({**NEW, **items(20, 30)})
    before = app.ids()
    app.update_state(items(*numbers), as_node="fan")
    stays = {value: id for value, id in before.items() if int(value) in numbers}
    assert app.ids() == stays
    assert discarded(app) == [id for value, id in before.items() if value not in stays]
    log = app.invoke(Command(resume=dict.fromkeys(stays.values(), "yes")))["log"]
    assert log == [f"{number} {'yes' if number > 9 else 'small'}" for number in numbers]


@pytest.mark.parametrize("numbers", [(20, 30), (30, 20), (30,), (1, 20)])
def test_a_send_that_waits_in_a_branch_waits_once(open_app, numbers):
    works = Works()
    app = open_app(fan(works), pause="branch")
    app.invoke({**NEW, **items(20, 30)})
    before = app.ids()
    app.update_state(items(*numbers), as_node="fan")
    assert (app.ids(), discarded(app)) == (before, [])
    log = app.invoke(Command(resume=dict.fromkeys(before.values(), "yes")))["log"]
    assert sorted(log) == sorted({"20 yes", "30 yes", *(f"{number} small" for number in numbers if number < 10)})
    assert works.done == {"20": 2, "30": 2, **{str(number): 1 for number in numbers if number < 10}}


def test_a_send_that_has_finished_is_not_repeated_because_it_is_made_again(open_app):
    works = Works()
    app = open_app(fan(works))
    app.invoke({**NEW, **items(1, 20)})
    app.update_state(items(20, 1, 2), as_node="fan")
    assert app.invoke(Command(resume="yes"))["log"] == ["20 yes", "1 small", "2 small"]
    assert works.done == {"1": 1, "2": 1, "20": 2}


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_sends_that_say_the_same_are_several(open_app, pause):
    app = open_app(fan(Works()), pause=pause)
    ids = [question.id for question in app.invoke({**NEW, **items(20, 20)})["__interrupt__"]]
    app.update_state(items(20, 20, 20), as_node="fan")
    assert [question.id for question in app.get_state().interrupts] == ids
    assert len(app.invoke(None)["__interrupt__"]) == 3


@pytest.mark.parametrize("sent", [20, 2])
@pytest.mark.parametrize("pause", ["step", "branch"])
def test_a_send_of_the_caller_takes_nothing_away_from_those_that_are_under_way(open_app, pause, sent):
    """It would have had the result of the first one, without having run, and nobody would have been asked."""
    works = Works()
    app = open_app(fan(works), pause=pause)
    app.invoke({**NEW, **items(1, 30, 40)})
    before = app.ids()
    app.invoke(Command(goto=Send("each", {"n": sent})))
    assert app.ids().items() >= before.items()
    assert discarded(app) == []
    log = app.invoke(Command(resume=dict.fromkeys(app.ids().values(), "yes")))["log"]
    assert sorted(log) == sorted(["1 small", "30 yes", "40 yes", "20 yes" if sent == 20 else "2 small"])
    assert works.done == {"1": 1, "30": 2, "40": 2, str(sent): 2 if sent == 20 else 1}


def last_of_all(works):
    """A graph with a node that asks when all else is done."""
    graph = StateGraph(Log).add_node("work", works.node("work")).add_node("last", works.asking("last"), defer=True)
    return graph.add_edge(START, "work").add_edge(START, "last")


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_a_caller_who_goes_to_a_deferred_node_that_asks_leaves_its_question_open(open_app, pause):
    app = open_app(last_of_all(Works()), pause=pause)
    before = app.ask(NEW)
    assert app.ask(Command(goto="last")) == before
    assert app.invoke(Command(resume="yes"))["log"] == ["work", "last: yes"]


def test_a_caller_may_go_to_a_deferred_node_of_a_thread_that_has_ended(open_app):
    app = open_app(last_of_all(Works()))
    app.invoke(NEW)
    app.invoke(Command(resume="yes"))
    app.invoke(Command(goto="last"))
    assert app.invoke(Command(resume="no"))["log"] == ["work", "last: yes", "last: no"]


def test_a_node_behind_a_join_that_a_person_has_passed_is_not_due_again_for_one_who_comes_a_second_time(open_app):
    works = Works()
    nodes = {name: works.node(name) for name in ("a", "b", "beside")}
    graph = beside(a=nodes["a"], b=nodes["b"]).add_node("beside", nodes["beside"]).add_node("pay", works.asking("pay"))
    app = open_app(graph.add_edge(["a", "b"], "pay").add_edge("b", "beside"))
    app.invoke(NEW)
    app.update_state({"log": ["paid by hand"]}, as_node="pay")
    app.update_state({"log": ["told"]}, as_node="b")
    assert app.invoke(None) == {"log": ["a", "b", "beside", "paid by hand", "told", "beside"]}


# What was answered


def two_questions(asks, by_key):
    """A graph that drafts, then asks two questions in one node; what they say, `asks` makes of the log."""

    def ask(state):
        keys = ({"key": "first"}, {"key": "second"}) if by_key else ({}, {})
        return {"log": [interrupt(question, **key) for question, key in zip(asks(state["log"]), keys, strict=True)]}

    return line(draft=Works().node("draft"), ask=ask)


@pytest.mark.parametrize("by_key", [False, True])
@pytest.mark.parametrize("times", [1, 2])
def test_what_was_answered_stays_answered_if_it_is_still_asked(open_app, by_key, times):
    app = open_app(two_questions(lambda log: ("one?", "two?"), by_key))
    app.invoke(NEW)
    app.invoke(Command(resume=1))
    before = app.ids()
    for _ in range(times):
        app.update_state({"log": ["told"]})
        assert (app.ids(), discarded(app)) == (before, [])
    assert app.ask(None) == ["two?"]
    assert app.ids() == before
    assert app.invoke(Command(resume=2))["log"] == ["draft", *["told"] * times, 1, 2]


@pytest.mark.parametrize("by_key", [False, True])
def test_a_question_that_says_something_else_after_an_update_is_asked_again_though_it_was_answered(open_app, by_key):
    app = open_app(two_questions(lambda log: (f"one {log}?", "two?"), by_key))
    app.invoke(NEW)
    first = app.ids()["one ['draft']?"]
    app.invoke(Command(resume="old"))
    before = app.ids()["two?"]
    app.update_state({"log": ["told"]})
    assert app.ask(None) == ["one ['draft', 'told']?"]
    with pytest.raises(AlreadyAnswered, match="one \\['draft'\\]"):
        app.invoke(Command(resume={first: "old"}))  # sent twice
    assert app.ids() == {value.value: value.id for value in app.filed()}
    assert list(app.ids()) == ["one ['draft', 'told']?"]
    assert app.ask(Command(resume="new")) == ["two?"]
    assert app.ids() == {"two?": before}
    assert app.invoke(Command(resume=2))["log"] == ["draft", "told", "new", 2]


@pytest.mark.parametrize(("by_key", "of_log"), [(False, False), (True, True)])
def test_so_it_is_inside_of_a_nested_graph(open_app, by_key, of_log):
    first = two_questions(lambda log: (f"one {log if of_log else ''}?", "two?"), by_key)
    app = open_app(beside(inner=first.compile()))
    app.invoke(NEW)
    app.invoke(Command(resume="old"))
    before = app.ids()
    for told in ([], ["told"]):
        app.update_state({"log": told}, app.get_state().tasks[0].state)
        assert app.ids() == {value.value: value.id for value in app.filed()} == before
    if of_log:
        assert app.ask(None) == ["one ['draft', 'told']?"]
        assert app.ask(Command(resume="new")) == ["two?"]
    else:
        assert app.ask(None) == ["two?"]
    assert app.ids() == before
    assert app.invoke(Command(resume=2))["log"] == ["draft", "told", "new" if of_log else "old", 2]


@pytest.mark.parametrize("by_key", [False, True])
def test_what_says_something_else_after_an_update_and_is_answered_then_stays_answered(open_app, by_key):
    app = open_app(two_questions(lambda log: (f"one {log}?", "two?"), by_key))
    app.invoke(NEW)
    app.update_state({"log": ["told"]})
    assert app.ask(None) == ["one ['draft', 'told']?"]
    assert app.ask(Command(resume=1)) == ["two?"]
    app.update_state({"log": []})
    assert app.ask(None) == ["two?"]
    assert app.invoke(Command(resume=2))["log"] == ["draft", "told", 1, 2]


@pytest.mark.parametrize("by_key", [False, True])
def test_what_was_answered_before_an_update_may_be_accepted_for_what_is_asked_now(open_app, by_key):
    app = open_app(two_questions(lambda log: (f"one {log}?", "two?"), by_key))
    app.invoke(NEW)
    app.invoke(Command(resume="old"))
    app.update_state({"log": ["told"]})
    assert app.invoke(Command(resume=2), on_changed="accept")["log"] == ["draft", "told", "old", 2]


@pytest.mark.parametrize("by_key", [False, True])
def test_an_answer_to_a_later_question_waits_until_that_is_asked(open_app, by_key):
    app = open_app(two_questions(lambda log: (f"one {log}?", "two?"), by_key))
    app.invoke(NEW)
    app.invoke(Command(resume="old"))
    app.update_state({"log": ["told"]})
    assert app.ask(Command(resume={app.ids()["two?"]: 2})) == ["one ['draft', 'told']?"]
    assert app.invoke(Command(resume="new"))["log"] == ["draft", "told", "new", 2]


def asking_inside(how, asks):
    """A graph that drafts, then asks, and then has a call or a nested graph ask."""
    inner = beside(ask=asking("two?")).compile()

    @task
    def call():
        return interrupt("two?")

    def ask(state):
        first = interrupt(asks(state["log"]))
        return {"log": [first, *([call().result()] if how == "call" else inner.invoke(NEW)["log"])]}

    return line(draft=Works().node("draft"), ask=ask)


@pytest.mark.parametrize("how", ["call", "graph"])
def test_what_was_answered_stays_answered_if_what_a_call_asks_goes(open_app, how):
    app = open_app(asking_inside(how, lambda log: "one?"))
    app.invoke(NEW)
    assert app.ask(Command(resume=1)) == ["two?"]
    for _ in range(2):
        app.update_state({"log": ["told"]})
        assert app.ask(None) == ["two?"]
    assert app.invoke(Command(resume=2))["log"] == ["draft", "told", "told", 1, 2]


@pytest.mark.parametrize("how", ["call", "graph"])
@pytest.mark.parametrize("by_command", [False, True])
def test_what_was_answered_before_a_call_asked_is_asked_again_if_it_says_something_else(open_app, how, by_command):
    app = open_app(asking_inside(how, lambda log: f"one of {len(log)}?"))
    app.invoke(NEW)
    assert app.ask(Command(resume=1)) == ["two?"]
    if by_command:
        assert app.ask(Command(update={"log": ["told"]})) == ["two?"]
        assert app.ask(Command(resume=2)) == ["one of 2?"]
        assert app.invoke(Command(resume=1.5))["log"] == ["draft", "told", 1.5, 2]
    else:
        app.update_state({"log": ["told"]})
        assert app.ask(None) == ["one of 2?"]
        assert app.ask(Command(resume=1.5)) == ["two?"]
        assert app.invoke(Command(resume=2))["log"] == ["draft", "told", 1.5, 2]


@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("by_state", [False, True])
def test_what_a_question_tells_is_told_again_only_if_it_says_something_else(open_app, pause, by_state):
    def ask(state):
        return {"log": [interrupt(f"keep {state['log'] if by_state else 'it'}?", update={"log": ["asked"]})]}

    app = open_app(line(draft=Works().node("draft"), ask=ask), pause=pause)
    app.invoke(NEW)
    app.update_state({"log": ["told"]})
    log = ["draft", "asked", "told", *(["asked"] if by_state else [])]
    assert app.invoke(None)["log"] == log
    assert app.get_state().values["log"] == log
    assert app.invoke(Command(resume="yes"))["log"] == [*log, "yes"]


# An update that comes with a Command


def test_a_command_that_changes_the_state_has_what_is_open_asked_again(open_app):
    app = open_app(about_the_log())
    (asked,) = app.ask(NEW)
    id = app.ids()[asked]
    assert app.ask(Command(update={"log": ["told"]})) == ["keep ['draft', 'told']?"]
    assert [question.value for question in app.filed()] == ["keep ['draft', 'told']?"]
    with pytest.raises(InvalidAnswer, match=f"no open question '{id}'"):
        app.invoke(Command(resume={id: "yes"}))
    assert app.invoke(Command(resume=dict.fromkeys(app.ids().values(), "yes")))["log"] == ["draft", "told", "yes"]
    assert app.filed() == []


def test_an_answer_is_not_for_what_a_neighbour_asks_after_the_update_beside_it(open_app):
    def pay(state):
        return {"log": [interrupt(f"pay {len(state['log'])}?")]}

    app = open_app(beside(pay=pay, ask=asking("sure?")))
    app.invoke(NEW)
    ids = app.ids()
    assert app.ask(Command(resume={ids["sure?"]: "yes"}, update={"log": [1, 2, 3]})) == ["pay 3?"]
    assert app.ids()["pay 3?"] != ids["pay 0?"]
    assert app.invoke(Command(resume="paid"))["log"] == [1, 2, 3, "yes", "paid"]


@pytest.mark.parametrize(("key", "by_command"), [(None, False), ("pay", False), ("pay", True)])
def test_what_a_node_asks_itself_is_asked_again_though_a_call_beside_it_asks_too(open_async_app, key, by_command):
    @task
    async def sure():
        return interrupt("sure?")

    async def ask(state):
        async def pay():
            return interrupt(f"pay {len(state['log'])}?", key=key)

        async def confirm():
            return await sure()

        return {"log": await asyncio.gather(pay(), confirm())}

    app = open_async_app(line(ask=ask))
    app.invoke(NEW)
    before = app.ids()
    if not by_command:
        app.update_state({"log": [1]})
        assert app.ids() == {"pay 0?": before["pay 0?"]}
    assert sorted(app.ask(Command(update={"log": [1]}) if by_command else None)) == ["pay 1?", "sure?"]
    assert app.ids() == {question.value: question.id for question in app.filed()}
    assert app.ids()["sure?"] == before["sure?"]
    assert app.ids()["pay 1?"] != before["pay 0?"]
    assert app.invoke(Command(resume=dict.fromkeys(app.ids().values(), "yes")))["log"] == [1, "yes", "yes"]


def test_an_answer_is_not_for_a_question_that_could_not_be_asked_again_after_an_update(open_app):
    is_down = False

    def ask(state):
        if is_down:
            raise ConnectionError("the rates are not to be had")
        return {"log": [interrupt(f"pay {len(state['log'])}?")]}

    app = open_app(line(ask=ask))
    app.invoke(NEW)
    is_down = True
    with pytest.raises(ConnectionError):
        app.invoke(Command(update={"log": [1]}))
    is_down = False
    assert list(app.ids()) == ["pay 0?"]
    with pytest.raises(ReplayMismatch, match="changed by hand.*pay 1"):
        app.invoke(Command(resume="yes"))
    assert app.ask(None) == ["pay 1?"]
    assert app.invoke(Command(resume="yes"))["log"] == [1, "yes"]


def pay_if_sure(state):
    first = interrupt(f"pay {len(state['log'])}?")
    return {"log": [first, interrupt("sure?")]}


def test_what_was_answered_before_the_update_of_a_command_is_asked_again_if_it_says_something_else(open_app):
    app = open_app(line(ask=pay_if_sure))
    app.invoke(NEW)
    assert app.ask(Command(resume="five")) == ["sure?"]
    assert app.ask(Command(update={"log": [1]})) == ["pay 1?"]
    assert app.ask(Command(resume="six")) == ["sure?"]
    assert app.invoke(Command(resume="yes"))["log"] == [1, "six", "yes"]


def test_so_it_is_if_the_command_answers_what_was_asked_after_it(open_app):
    app = open_app(line(ask=pay_if_sure))
    app.invoke(NEW)
    assert app.ask(Command(resume="five")) == ["sure?"]
    assert app.ask(Command(resume="yes", update={"log": [1]})) == ["pay 1?"]
    assert [question.value for question in app.filed()] == ["pay 1?"]
    assert app.invoke(Command(resume="six"))["log"] == [1, "six", "yes"]


def test_what_a_send_asks_does_not_depend_on_the_state_and_is_not_asked_again(open_app):
    works = Works()

    def ask(item):
        works.done[item] += 1
        return {"log": [interrupt(item)]}

    graph = StateGraph(Log).add_node("ask", ask)
    graph.add_conditional_edges(START, lambda state: [Send("ask", "one"), Send("ask", "two")], ["ask"])
    app = open_app(graph)
    app.invoke(NEW)
    assert app.ask(Command(update={"log": ["told"]})) == ["one", "two"]
    assert works.done == {"one": 1, "two": 1}
    answers = {id: f"{value}!" for value, id in app.ids().items()}
    assert app.invoke(Command(resume=answers))["log"] == ["told", "one!", "two!"]


def test_what_was_told_with_a_question_is_not_told_again_when_the_state_is_changed(open_app):
    def ask(state):
        return {"log": [interrupt(f"of {state['log']}?", update={"log": ["asked"]})]}

    app = open_app(line(ask=ask))
    app.invoke(NEW)
    app.invoke(Command(update={"log": ["told"]}))
    assert sorted(app.get_state().values["log"]) == ["asked", "told"]
    assert sorted(app.invoke(Command(resume="yes"))["log"]) == ["asked", "told", "yes"]


def test_an_answer_that_was_stored_before_the_update_of_a_command_is_not_for_what_is_asked_after_it(inbox_app):
    app, inbox = inbox_app(about_the_log())
    (asked,) = app.invoke(NEW, CONFIG)["__interrupt__"]
    inbox.answer(asked.id, "yes")
    with pytest.raises(ReplayMismatch, match="changed by hand"):
        app.invoke(Command(update={"log": ["told"]}), CONFIG)
    assert app.invoke(None, CONFIG)["__interrupt__"][0].value == "keep ['draft', 'told']?"
    assert [question.value for question in inbox.open()] == ["keep ['draft', 'told']?"]
    assert app.invoke(Command(resume="no"), CONFIG)["log"] == ["draft", "told", "no"]


def paid_into(done):
    """A call that pays, and notes it."""

    @task
    def pay(amount):
        done.append(amount)
        return f"paid {amount}"

    return pay


def paying(done, amount=lambda state: len(state["log"])):
    """A node that pays, then asks."""
    pay = paid_into(done)

    @task
    def pay_both(amount):
        return [pay(amount).result(), pay(amount + 1).result()]

    def work(state):
        return {"log": [pay(5).result(), *pay_both(amount(state)).result(), interrupt("sure?")]}

    return beside(work=work)


def test_what_a_node_has_paid_before_it_asked_is_not_paid_again_after_an_update(open_app):
    done = []
    app = open_app(paying(done, amount=lambda state: 6))
    app.invoke(NEW)
    for told in ("one", "two"):
        app.update_state({"log": [told]})
    assert app.invoke(Command(resume="yes"))["log"] == ["one", "two", "paid 5", "paid 6", "paid 7", "yes"]
    assert done == [5, 6, 7]


@pytest.mark.parametrize("as_node", ["work", "other", "ask"])
def test_a_branch_that_waits_and_has_paid_outlives_an_update(open_app, as_node):
    done = []
    pay = paid_into(done)

    def work(state):
        return {"log": [pay(5).result(), interrupt("sure?")]}

    def also(state):
        return {"log": [pay(7).result(), interrupt("also?")]}

    works = Works()
    graph = beside(work=work, ask=also, other=works.node("other")).add_node("after", works.node("after"))
    app = open_app(graph.add_edge("other", "after"), pause="branch")
    app.invoke(NEW)
    app.update_state({"log": ["told"]}, as_node=as_node)
    result = app.invoke(Command(resume=dict.fromkeys(app.ids().values(), "yes")))
    assert "__interrupt__" not in result
    assert result["log"].count("told") == 1
    assert done == [5, 7] or done == [7, 5]


def test_what_is_to_be_paid_after_an_update_and_was_not_before_is_paid(open_app):
    done = []
    app = open_app(paying(done))
    app.invoke(NEW)
    app.update_state({"log": ["told"]})
    assert app.invoke(Command(resume="yes"))["log"] == ["told", "paid 5", "paid 1", "paid 2", "yes"]
    assert done == [5, 0, 1, 1, 2]


def test_what_a_node_has_paid_before_it_failed_is_not_paid_again_after_an_update(open_app):
    done = []
    pay = paid_into(done)

    def work(state):
        paid = pay(5).result()
        if not state["log"]:
            raise ConnectionError
        return {"log": [paid]}

    app = open_app(beside(work=work))
    with pytest.raises(ConnectionError):
        app.invoke(NEW)
    app.update_state({"log": ["mended"]})
    assert app.invoke(None)["log"] == ["mended", "paid 5"]
    assert done == [5]


def test_what_a_node_has_paid_before_a_call_of_it_asked_is_not_paid_again_after_an_update(open_app):
    done = []
    pay = paid_into(done)

    @task
    def approve(what):
        return [pay(1).result(), interrupt(what)]

    def work(state):
        return {"log": [pay(5).result(), *approve("sure?").result()]}

    app = open_app(beside(work=work))
    app.invoke(NEW)
    app.update_state({"log": ["told"]})
    assert app.ask(None) == ["sure?"]
    assert app.invoke(Command(resume="yes"))["log"] == ["told", "paid 5", "paid 1", "yes"]
    assert done == [5, 1]


@pytest.mark.parametrize("ends", ["asks", "fails"])
def test_what_a_call_has_paid_is_not_paid_again_however_often_the_state_is_updated(open_app, ends):
    done, failures = [], [ConnectionError] if ends == "fails" else []
    pay = paid_into(done)

    @task
    def approve():
        paid = pay(1).result()
        if failures:
            raise failures.pop()
        return [paid, interrupt("sure?")]

    def work(state):
        return {"log": approve().result()}

    app = open_app(beside(work=work))
    with pytest.raises(ConnectionError) if ends == "fails" else nullcontext():
        app.invoke(NEW)
    for told in ("one", "two"):
        app.update_state({"log": [told]})
    app.invoke(None)
    assert app.invoke(Command(resume="yes"))["log"] == ["one", "two", "paid 1", "yes"]
    assert done == [1]


def test_what_a_graph_inside_of_a_call_was_answered_stays_answered_after_an_update(open_app):
    """It goes on where it was, and what it has paid is not paid again: so must be what people have said to it."""
    done = []
    pay = paid_into(done)

    def twice(state):
        return {"log": [pay(5).result(), interrupt("one?"), interrupt("two?", key="two"), interrupt("three?")]}

    inner = StateGraph(Log).add_node(twice).add_edge(START, "twice").compile()

    @task
    def review():
        return inner.invoke(NEW)["log"]

    def work(state):
        return {"log": review().result()}

    app = open_app(beside(work=work))
    assert app.ask(NEW) == ["one?"]
    assert app.ask(Command(resume="first")) == ["two?"]
    assert app.ask(Command(resume="second")) == ["three?"]
    app.update_state({"log": ["told"]})
    assert app.ask(None) == ["three?"]
    assert app.invoke(Command(resume="third"))["log"] == ["told", "paid 5", "first", "second", "third"]
    assert done == [5]


@pytest.mark.parametrize("key", [None, "sum"])
@pytest.mark.parametrize("times", [1, 2])
def test_what_a_call_was_answered_stays_answered_however_often_the_state_is_updated(open_app, key, times):
    @task
    def review():
        return [interrupt("first?", key=key), interrupt("second?")]

    app = open_app(beside(work=lambda state: {"log": review().result()}))
    app.invoke(NEW)
    app.invoke(Command(resume="one"))
    for _ in range(times):
        app.update_state({"log": ["told"]})
    assert app.ask(None) == ["second?"]
    assert app.invoke(Command(resume="two"))["log"] == [*["told"] * times, "one", "two"]


@pytest.mark.parametrize("key", [None, "sum"])
def test_what_a_call_was_answered_is_not_for_what_it_asks_after_an_update(open_app, key):
    def work(state):
        @task
        def review():
            return [interrupt(f"Pay {len(state['log'])}?", key=key), interrupt("sure?")]

        return {"log": review().result()}

    app = open_app(beside(work=work))
    assert app.ask(NEW) == ["Pay 0?"]
    assert app.ask(Command(resume="yes")) == ["sure?"]
    app.update_state({"log": ["told"]})
    assert app.ask(None) == ["Pay 1?"]
    assert app.ask(Command(resume="no")) == ["sure?"]
    assert app.invoke(Command(resume="yes"))["log"] == ["told", "no", "yes"]


def test_an_update_in_the_place_of_a_task_that_is_not_pending_or_of_another_node_is_refused(open_app):
    app = open_app(beside(one=asking("one?"), two=asking("two?")))
    app.invoke(NEW)
    before = app.get_state()
    for node, id, error in [("one", "none", TaskNotFound), ("two", before.tasks[0].id, InvalidUpdateError)]:
        with pytest.raises(error, match=id):
            app.bulk_update_state([[StateUpdate({"log": ["by hand"]}, node, id)]])
    assert app.get_state() == before


def test_an_answer_to_nothing_is_refused_too_where_a_person_has_moved_the_thread(open_app):
    works = Works()
    app = open_app(line(work=works.node("work"), ask=asking()))
    app.update_state({"log": ["by hand"]}, as_node=START)
    with pytest.raises(InvalidAnswer):
        app.invoke(Command(resume="yes"))
    assert works.done == {}
    assert app.ask(None) == ["sure?"]


def test_what_is_told_at_an_old_checkpoint_is_part_of_the_branch_that_begins_there(open_app):
    app = open_app(line(first=asking("first?"), second=asking("second?")))
    app.invoke(NEW)
    app.invoke(Command(resume=1))
    old = next(one.config for one in app.history() if one.next == ("first",))
    assert app.ask(Command(update={"log": ["told"]}), old) == ["first?"]
    assert app.invoke(Command(resume=2))["log"] == ["told", 2]
