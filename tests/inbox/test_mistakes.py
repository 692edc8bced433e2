"""Mistakes at the inbox: refused with a typed error that says what to do, and nothing is changed."""

import asyncio
from functools import partial

import pytest

from inbox.programs import Work, on, transfer
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import InvalidAnswer, InvalidInput, InvalidUpdateError, MissingThreadId, NotStorable
from signoff.inbox import Inbox, converse
from signoff.types import Command


@pytest.fixture
def app():
    return transfer(Work(), InMemorySaver())


@pytest.fixture
def inbox(app):
    app.invoke({"log": []}, on("order-1"))
    return Inbox(app.checkpointer)


@pytest.mark.parametrize("saver", ["orders.db", None, InMemorySaver])
def test_an_inbox_needs_a_saver(saver):
    with pytest.raises(InvalidInput, match=r"Inbox\(saver\)"):
        Inbox(saver)


def test_a_graph_is_no_saver_and_the_mend_is_said(app):
    with pytest.raises(InvalidInput, match=r"Inbox\(graph.checkpointer\)"):
        Inbox(app)


def test_a_graph_is_no_name_of_one(app, inbox):
    with pytest.raises(InvalidInput, match="graph="):
        inbox.open(graph=app)


def test_a_thread_may_be_named_by_a_number(app, inbox):
    app.invoke({"log": []}, on(7))
    (question,) = inbox.open(thread_id=7)
    assert inbox.get(question.id, thread_id=7) == question


@pytest.mark.parametrize("limit", [-1, "ten"])
def test_a_limit_is_a_number(inbox, limit):
    for call in (inbox.open, inbox.threads):
        with pytest.raises(InvalidInput, match="limit"):
            call(limit=limit)


def test_an_age_is_a_length_of_time_or_a_time(inbox):
    with pytest.raises(InvalidInput, match="timedelta"):
        inbox.open(older_than=5)


def test_a_question_is_named_by_its_id(inbox):
    question = inbox.open()[0]
    for named in (None, question, [question.id]):
        for call in (inbox.get, inbox.why_closed, partial(inbox.answer, value={"ok": True})):
            with pytest.raises(InvalidInput, match=r"question\.id"):
                call(named)
    assert len(inbox.open()) == 1


def test_an_answer_is_the_value_and_no_command(inbox):
    question = inbox.open()[0]
    with pytest.raises(InvalidAnswer, match="without Command"):
        inbox.answer(question.id, Command(resume="yes"))
    with pytest.raises(InvalidAnswer, match="without the id of the question"):
        inbox.answer(question.id, {question.id: "yes"})
    assert len(inbox.open()) == 1


def test_one_thread_to_resume_is_given_in_a_list(app, inbox):
    inbox.answer(inbox.open()[0].id, "yes")
    with pytest.raises(InvalidInput, match=r"\['order-1'\]"):
        app.resume_answered("order-1")
    with pytest.raises(InvalidInput, match=r"\['order-1'\]"):
        asyncio.run(app.aresume_answered("order-1"))
    with pytest.raises(InvalidInput, match="config="):
        app.resume_answered(on("order-1"))
    with pytest.raises(InvalidInput, match="list of threads"):
        app.resume_answered(7)
    assert list(app.resume_answered(["order-1"])) == ["order-1"]


@pytest.mark.parametrize(("message", "error"), [("hello", InvalidUpdateError), ({"log": [print]}, NotStorable)])
def test_a_message_that_cannot_be_the_input_is_refused_and_not_failed(app, message, error):
    with pytest.raises(error):
        converse(app, message, thread_id="order-2")
    assert not app.get_state(on("order-2")).values


@pytest.mark.parametrize("thread_id", [None, ""])
def test_a_conversation_has_a_thread(app, thread_id):
    with pytest.raises(InvalidInput, match="thread"):
        converse(app, {"log": []}, thread_id=thread_id)


@pytest.mark.parametrize(("name", "mend"), [("on_pendng", "'on_pending'"), ("streams", "durability"), ("bye", "'by'")])
def test_a_setting_that_converse_does_not_have_is_named(app, name, mend):
    with pytest.raises(TypeError, match=rf"converse\(\) got an unexpected keyword argument '{name}'.*{mend}"):
        converse(app, {"log": []}, thread_id="order-3", **{name: "x"})
    assert app.get_state(on("order-3")).values == {}


def test_who_answers_is_a_text(app, inbox):
    question = inbox.open()[0]
    for answer in (
        lambda: inbox.answer(question.id, "yes", by=5),
        lambda: app.invoke(Command(resume="yes", by=5), on("order-1")),
    ):
        with pytest.raises(InvalidInput, match="by is 5"):
            answer()
    assert [one.id for one in inbox.open()] == [question.id]


def test_what_makes_the_input_is_a_function_that_need_not_be_awaited(app):
    async def as_input(text):
        return {"log": [text]}

    with pytest.raises(InvalidInput, match="as_input is {'log': \\[\\]}. Give a function"):
        converse(app, "hello", thread_id="order-4", as_input={"log": []})
    with pytest.raises(InvalidInput, match="as_input is async"):
        converse(app, "hello", thread_id="order-4", as_input=as_input)
    assert app.get_state(on("order-4")).values == {}


@pytest.mark.parametrize(
    "call",
    [
        lambda inbox, config: inbox.history(config),
        lambda inbox, config: asyncio.run(inbox.ahistory(config)),
        lambda inbox, config: inbox.open(thread_id=config),
        lambda inbox, config: inbox.get(inbox.open()[0].id, thread_id=config),
        lambda inbox, config: inbox.answer(inbox.open()[0].id, "yes", thread_id=config),
        lambda inbox, config: inbox.why_closed("0" * 32, thread_id=config),
        lambda inbox, config: inbox.saver.prune([config]),
        lambda inbox, config: list(inbox.saver.list({"configurable": {"thread_id": config}})),
    ],
)
def test_a_config_names_no_thread(inbox, call):
    with pytest.raises(InvalidInput, match="Give a text that names the thread"):
        call(inbox, on("order-1"))
    assert len(inbox.open()) == 1


def test_the_history_is_that_of_one_thread(inbox):
    with pytest.raises(MissingThreadId, match="Which thread"):
        inbox.history(None)
