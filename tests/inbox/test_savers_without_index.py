"""A saver that keeps no index of open questions: the inbox says so, once, and looks through its threads."""

import asyncio
import operator
import warnings
from typing import Annotated, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver as ForeignSaver

from inbox.programs import Work, form, on, transfer
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import AlreadyAnswered, InvalidInput
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox, NoQuestionIndex, scanning
from signoff.types import interrupt


class Log(TypedDict):
    log: Annotated[list, operator.add]


class Plain(InMemorySaver):
    """One of ours whose puts were changed, and which therefore goes piece by piece."""

    def put(self, *args):
        return super().put(*args)


@pytest.fixture(params=[Plain, ForeignSaver])
def saver(request, monkeypatch):
    monkeypatch.setattr(scanning, "_told", set())
    return request.param()


def test_it_is_said_once_and_the_questions_are_found(saver):
    transfer(Work(), saver).invoke({"log": []}, on("a"))
    form(saver).invoke({"log": []}, on("b"))
    with pytest.warns(NoQuestionIndex, match="looks through all"):
        page = Inbox(saver).open()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [(one.thread_id, one.node) for one in Inbox(saver).open()] == [("a", "review"), ("b", "ask")]
    assert [one.value for one in page] == ["Transfer 500 euros?", "name?"]


def test_it_can_be_filtered_paged_and_answered(saver):
    work = Work()
    app = transfer(work, saver)
    for thread in "abc":
        app.invoke({"log": []}, on(thread))
    inbox = Inbox(saver)
    with pytest.warns(NoQuestionIndex):
        page = inbox.open(limit=2)
    assert [one.thread_id for one in page] == ["a", "b"]
    assert [one.thread_id for one in inbox.open(after=page.cursor)] == ["c"]
    question = inbox.open(thread_id="b", text="euros")[0]
    inbox.answer(question.id, "yes", by="ana")
    with pytest.raises(AlreadyAnswered, match="ana"):
        inbox.answer(question.id, "no")
    assert app.resume_answered().keys() == {"b"}
    assert work.done["execute"] == 1


@pytest.mark.filterwarnings("ignore::signoff.inbox.NoQuestionIndex")
def test_a_question_tells_the_graph_whose_thread_it_is_and_when_it_was_asked(saver):
    def ask(state):
        return {"log": [interrupt("sure?")]}

    inner = StateGraph(Log).add_node("ask", ask).add_edge(START, "ask").compile(name="inner")
    for name in ("orders", "refunds"):
        app = StateGraph(Log).add_node("ask", inner).add_edge(START, "ask").compile(saver, name=name)
        app.invoke({"log": []}, on(name))
    inbox = Inbox(saver)
    assert [one.thread_id for one in inbox.open()] == ["orders", "refunds"]
    (question,) = inbox.open(graph="refunds")
    assert (question.thread_id, question.graph) == ("refunds", "refunds")
    for one in inbox.open():
        inbox.answer(one.id, "yes")
    assert app.resume_answered().keys() == {"refunds"}, "the other one's answer is for the other graph"


def test_a_config_names_no_thread_of_a_saver_of_another_kind_either(saver):
    with pytest.raises(InvalidInput, match="thread_id"):
        Inbox(saver).why_closed("0" * 32, thread_id=on("a"))


@pytest.mark.filterwarnings("ignore::signoff.inbox.NoQuestionIndex")
def test_on_an_event_loop_too_answers_are_found(saver):
    app = transfer(Work(), saver)
    for thread in "ab":
        app.invoke({"log": []}, on(thread))
    inbox = Inbox(saver)
    inbox.answer(inbox.open(thread_id="b")[0].id, "yes")
    assert asyncio.run(app.aresume_answered()).keys() == {"b"}
