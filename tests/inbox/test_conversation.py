"""Request by request: one call decides from the thread what a message is for, and takes it once."""

import asyncio
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from dataclasses import dataclass

import pytest
from pydantic import BaseModel, field_validator

from inbox.programs import Log, Work, form, on, transfer, two_branches
from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import AlreadyAnswered, InvalidAnswer, InvalidInput, QuestionsOpen, StateChanged, ThreadBusy
from signoff.graph import END, START, StateGraph
from signoff.inbox import Failed, Finished, Inbox, Paused, aconverse, converse
from signoff.inbox.answering import answer
from signoff.inbox.asking import aperform, perform
from signoff.steps import adrive, drive
from signoff.types import Command, interrupt

START_IT = {"log": []}


@pytest.fixture
def work() -> Work:
    return Work()


def transfers(work):
    return lambda saver: transfer(work, saver)


def values(outcome):
    assert isinstance(outcome, Paused)
    return [question.value for question in outcome.questions]


# What a message is for


def test_a_first_message_starts_the_thread_and_the_next_one_answers(desk, work):
    assert values(desk.converse(transfers(work), START_IT, thread_id="a")) == ["Transfer 500 euros?"]
    assert desk.converse(transfers(work), "yes", thread_id="a", by="ana") == Finished(
        {"log": ["prepare", "review said yes", "execute"]}
    )
    assert [event.by for event in desk.inbox("history", "a") if event.kind == "answered"] == ["ana"]


def test_a_message_to_a_thread_that_has_ended_is_a_new_turn(desk, work):
    desk.converse(transfers(work), START_IT, thread_id="a")
    desk.converse(transfers(work), "yes", thread_id="a")
    more = desk.converse(transfers(work), "again", thread_id="a", as_input=lambda text: {"log": [text]})
    assert (values(more), more.value["log"][-2:]) == (["Transfer 500 euros?"], ["again", "prepare"])
    assert work.done == {"prepare": 2, "execute": 1}


def test_several_open_questions_need_an_id(desk, work):
    def build(saver):
        return two_branches(work, saver)

    asked = desk.converse(build, START_IT, thread_id="a").questions
    with pytest.raises(InvalidAnswer, match="question_id="):
        desk.converse(build, "yes", thread_id="a")
    left = next(question for question in asked if question.value == "left?")
    assert values(desk.converse(build, "yes", thread_id="a", question_id=left.id)) == ["right?"]
    assert isinstance(desk.converse(build, "no", thread_id="a"), Finished)
    assert work.done == {"left": 1, "right": 1}


@pytest.mark.parametrize("name", ["request_id", "question_id"])
def test_an_empty_id_is_refused_and_changes_nothing(desk, work, name):
    """As it is with a header that is there and says nothing: it is no id, and of two messages it is not the same."""
    (question,) = desk.converse(transfers(work), START_IT, thread_id="a").questions
    with pytest.raises(InvalidInput, match=rf"{name} is empty"):
        desk.converse(transfers(work), "yes", thread_id="a", **{name: ""})
    assert [one.id for one in desk.open()] == [question.id]
    with pytest.raises(InvalidInput, match=rf"{name} is empty"):
        desk.converse(transfers(work), START_IT, thread_id="b", **{name: ""})
    assert desk.inbox("history", "b") == []


@pytest.mark.parametrize("question_id", [0, False, []])
def test_what_is_no_id_answers_no_question(desk, work, question_id):
    desk.converse(transfers(work), START_IT, thread_id="a")
    with pytest.raises(InvalidInput, match=r"question\.id"):
        desk.converse(transfers(work), "yes", thread_id="a", question_id=question_id)
    assert len(desk.open()) == 1


def test_what_was_told_with_the_pause_is_in_the_outcome(desk):
    def ask(state):
        return {"log": [interrupt("Confirm payment?", update={"log": ["awaiting payment"]})]}

    def build(saver):
        return StateGraph(Log).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=saver)

    assert desk.converse(build, START_IT, thread_id="a").value == {"log": ["awaiting payment"]}


def test_a_late_answer_by_id_is_told_who_was_first(desk, work):
    (question,) = desk.converse(transfers(work), START_IT, thread_id="a").questions
    desk.converse(transfers(work), "yes", thread_id="a", by="ana")
    with pytest.raises(AlreadyAnswered, match="ana"):
        desk.converse(transfers(work), "no", thread_id="a", question_id=question.id)


def test_a_breakpoint_is_passed_with_the_next_message(desk, work):
    def build(saver):
        app = transfer(work, saver)
        app.interrupt_before = ["execute"]
        return app

    desk.converse(build, START_IT, thread_id="a")
    stopped = [desk.converse(build, "yes", thread_id="a", request_id="2") for _ in range(2)]
    assert [(values(one), one.is_repeat) for one in stopped] == [([], False), ([], True)]
    assert work.done["execute"] == 0
    assert isinstance(desk.converse(build, "go on", thread_id="a"), Finished)


# What goes wrong


def failing(work):
    def attempt(state):
        work.did("attempt")
        if work.done["attempt"] < 3:
            raise ConnectionError("the bank does not answer")
        return {"log": ["paid"]}

    return lambda saver: StateGraph(Log).add_node("pay", attempt).add_edge(START, "pay").compile(checkpointer=saver)


def test_a_failure_is_an_outcome_and_the_same_request_tries_again(desk, work):
    first = desk.converse(failing(work), START_IT, thread_id="a", request_id="1")
    assert isinstance(first, Failed)
    assert "bank" in str(first.error)
    assert isinstance(desk.converse(failing(work), START_IT, thread_id="a", request_id="1"), Failed)
    again = desk.converse(failing(work), START_IT, thread_id="a", request_id="1")
    assert again == Finished({"log": ["paid"]}, is_repeat=True)


def test_a_new_message_after_a_failure_is_a_new_beginning(desk, work):
    for _ in range(2):
        assert isinstance(desk.converse(failing(work), START_IT, thread_id="a"), Failed)
    assert desk.converse(failing(work), {"log": ["once more"]}, thread_id="a").value["log"] == ["once more", "paid"]
    assert work.done == {"attempt": 3}


def test_a_graph_without_a_saver_cannot_converse(work):
    with pytest.raises(InvalidInput, match="saver"):
        converse(transfer(work, None), START_IT, thread_id="a")
    with pytest.raises(InvalidInput, match="compiled graph"):
        converse(StateGraph(Log), START_IT, thread_id="a")


# Delivered twice


def test_the_same_request_is_taken_once(desk, work):
    first = desk.converse(transfers(work), START_IT, thread_id="a", request_id="1")
    second = desk.converse(transfers(work), START_IT, thread_id="a", request_id="1")
    assert second.questions == first.questions
    assert (first.is_repeat, second.is_repeat) == (False, True)
    for _ in range(2):
        done = desk.converse(transfers(work), "yes", thread_id="a", request_id="2")
        assert done.value == {"log": ["prepare", "review said yes", "execute"]}
    assert work.done == {"prepare": 1, "execute": 1}


def test_an_old_request_that_comes_again_later_is_told_how_the_thread_stands(desk, work):
    desk.converse(transfers(work), START_IT, thread_id="a", request_id="1")
    desk.converse(transfers(work), "yes", thread_id="a", request_id="2")
    late = desk.converse(transfers(work), START_IT, thread_id="a", request_id="1")
    assert late == Finished({"log": ["prepare", "review said yes", "execute"]}, is_repeat=True)
    assert work.done == {"prepare": 1, "execute": 1}


def test_a_request_of_long_ago_is_known_again(work):
    app = failing(work)(InMemorySaver())
    work.done["attempt"] = 9
    for number in range(12):
        converse(app, {"log": [number]}, thread_id="a", request_id=str(number))
    assert converse(app, {"log": [0]}, thread_id="a", request_id="0").is_repeat
    assert work.done == {"attempt": 21}


def test_an_answer_that_comes_again_does_not_answer_the_next_question(desk):
    desk.converse(form, START_IT, thread_id="a", request_id="1")
    for _ in range(2):
        assert values(desk.converse(form, "Ana", thread_id="a", request_id="2")) == ["age?"]
    assert desk.converse(form, 30, thread_id="a", request_id="3") == Finished({"log": ["Ana", 30]})
    assert desk.converse(form, "Ana", thread_id="a", request_id="2") == Finished({"log": ["Ana", 30]}, is_repeat=True)


def test_an_answer_is_known_again_although_a_plain_run_went_on_with_it(desk):
    desk.converse(form, START_IT, thread_id="a", request_id="1")
    desk.converse(form, "Ana", thread_id="a", request_id="2")
    desk.graph(form, "invoke", Command(resume=30), on("a"))
    desk.graph(form, "invoke", START_IT, on("a"))
    assert values(desk.converse(form, "Ana", thread_id="a", request_id="2")) == ["name?"]


def test_an_answer_that_was_stored_before_a_crash_is_not_taken_again(desk, work):
    """The process dies between storing the answer and running on it; the request comes again."""
    desk.converse(transfers(work), START_IT, thread_id="a", request_id="1")
    question = desk.open()[0]

    class Storing:
        def __init__(self, saver):
            self.saver = saver

        def store(self):
            steps = answer(self.saver, question.id, "yes", "ana", "a", "2")
            return drive(steps, lambda effect: perform(self.saver, effect))

        async def astore(self):
            steps = answer(self.saver, question.id, "yes", "ana", "a", "2")
            return await adrive(steps, lambda effect: aperform(self.saver, effect))

    desk.graph(Storing, "store")
    again = desk.converse(transfers(work), "yes", thread_id="a", request_id="2")
    assert again == Finished({"log": ["prepare", "review said yes", "execute"]}, is_repeat=True)
    assert work.done == {"prepare": 1, "execute": 1}


def test_a_new_message_for_a_thread_with_a_stored_answer_lets_that_go_first(desk, work):
    desk.converse(transfers(work), START_IT, thread_id="a")
    desk.answer(desk.open()[0].id, "yes")
    assert values(desk.converse(transfers(work), {"log": ["again"]}, thread_id="a")) == ["Transfer 500 euros?"]
    assert work.done == {"prepare": 2, "execute": 1}


def test_a_message_for_a_thread_whose_stream_was_left_lets_that_end_first(work):
    graph = StateGraph(Log).add_node("one", lambda state: {"log": [work.did("one")]})
    graph.add_node("two", lambda state: {"log": [work.did("two")]})
    app = graph.add_edge(START, "one").add_edge("one", "two").compile(checkpointer=InMemorySaver())
    stream = app.stream({"log": ["first"]}, on("a"))
    next(stream)
    stream.close()
    assert converse(app, {"log": ["second"]}, thread_id="a") == Finished(
        {"log": ["first", "one", "two", "second", "one", "two"]}
    )


def test_a_message_is_not_taken_if_the_thread_fails_that_it_lets_go_first():
    def pay(state):
        interrupt("pay?")
        raise ConnectionError("the bank does not answer")

    app = StateGraph(Log).add_node("pay", pay).add_edge(START, "pay").compile(saver := InMemorySaver())
    (question,) = converse(app, START_IT, thread_id="a").questions
    Inbox(saver).answer(question.id, "yes")
    assert isinstance(converse(app, {"log": ["hello?"]}, thread_id="a"), Failed)
    assert app.get_state(on("a")).values == START_IT


def test_a_message_is_not_the_answer_to_a_question_that_its_sender_has_not_seen(desk):
    desk.converse(form, START_IT, thread_id="a")
    desk.answer(desk.open()[0].id, "Ana")
    with pytest.raises(QuestionsOpen, match="age"):
        desk.converse(form, "hello?", thread_id="a")
    assert desk.converse(form, 30, thread_id="a") == Finished({"log": ["Ana", 30]})


# At the same time


def test_of_many_deliveries_of_one_request_at_once_one_is_taken(desk, work):
    outcomes = at_once(desk, transfers(work), [(START_IT, "1")] * 8)
    assert {tuple(values(outcome)) for outcome in outcomes} == {("Transfer 500 euros?",)}
    assert sum(not outcome.is_repeat for outcome in outcomes) == 1
    outcomes = at_once(desk, transfers(work), [("yes", "2")] * 8)
    assert [outcome.value["log"] for outcome in outcomes] == [["prepare", "review said yes", "execute"]] * 8
    assert sum(not outcome.is_repeat for outcome in outcomes) == 1
    assert work.done == {"prepare": 1, "execute": 1}


def test_a_thread_without_questions_runs_once_however_often_one_request_is_delivered(desk, work):
    def build(saver):
        graph = StateGraph(Log).add_node("pay", lambda state: {"log": [work.did("pay")]})
        return graph.add_edge(START, "pay").add_edge("pay", END).compile(checkpointer=saver)

    outcomes = at_once(desk, build, [(START_IT, "1")] * 8)
    assert [outcome.value for outcome in outcomes] == [{"log": ["pay"]}] * 8
    assert work.done == {"pay": 1}


def test_of_many_answers_at_once_one_wins_and_the_others_are_told(desk, work):
    (question,) = desk.converse(transfers(work), START_IT, thread_id="a").questions
    outcomes = at_once(desk, transfers(work), [(name, name) for name in "abcd"], question_id=question.id)
    kinds = Counter(type(outcome) for outcome in outcomes)
    assert kinds == {Finished: 1, AlreadyAnswered: 3}
    assert work.done == {"prepare": 1, "execute": 1}


def at_once(desk, build, requests, **named):
    async def together():
        async with desk.storage.aopened() as saver:
            app = build(saver)
            calls = [aconverse(app, value, thread_id="a", request_id=id, **named) for value, id in requests]
            return await asyncio.gather(*calls, return_exceptions=True)

    def one(app, value, id):
        try:
            return converse(app, value, thread_id="a", request_id=id, **named)
        except Exception as error:
            return error

    if desk.is_async:
        return asyncio.run(together())
    with desk.storage.opened() as saver, ThreadPoolExecutor(len(requests)) as pool:
        app = build(saver)
        return [call.result() for call in [pool.submit(one, app, value, id) for value, id in requests]]


def test_a_message_that_cannot_wait_is_told_that_the_thread_is_busy():
    seen = []

    def call_as_another_request(state):
        with pytest.raises(ThreadBusy, match="just now"):
            Context().run(converse, app, START_IT, thread_id="b", wait_s=0)
        seen.append(True)
        return {"log": ["done"]}

    graph = StateGraph(Log).add_node("busy", call_as_another_request).add_edge(START, "busy")
    app = graph.compile(checkpointer=InMemorySaver())
    assert converse(app, START_IT, thread_id="b") == Finished({"log": ["done"]})
    assert seen == [True]


# Answers that only their type can refuse


class Even(BaseModel):
    n: int

    @field_validator("n")
    @classmethod
    def check(cls, n: int) -> int:
        if n % 2:
            raise ValueError("must be even")
        return n


def even(saver):
    def ask(state):
        return {"log": [interrupt("An even number?", response_schema=Even).n]}

    return StateGraph(Log).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=saver, name="even")


def test_an_answer_that_its_type_refuses_is_taken_back_and_the_question_is_open_again(desk):
    desk.converse(even, START_IT, thread_id="a", request_id="1")
    for _ in range(2):
        with pytest.raises(InvalidAnswer, match="must be even"):
            desk.converse(even, {"n": 3}, thread_id="a", request_id="2")
        assert desk.asked() == ["An even number?"]
    assert desk.converse(even, {"n": 4}, thread_id="a", request_id="3") == Finished({"log": [4]})


def test_a_stored_answer_that_its_type_refuses_is_taken_back_when_its_thread_goes_on(desk):
    desk.converse(even, START_IT, thread_id="a")
    desk.answer(desk.open()[0].id, {"n": 3})
    with pytest.raises(InvalidAnswer, match="must be even"):
        desk.graph(even, "resume_answered")
    desk.answer(desk.open()[0].id, {"n": 4})
    assert desk.graph(even, "resume_answered") == {"a": {"log": [4]}}


def test_an_answer_whose_run_failed_is_not_taken_again(desk, work):
    def build(saver):
        def pay(state):
            if work.done["pay"] == 0 and work.did("pay"):
                raise ConnectionError("the bank does not answer")
            return {"log": ["paid"]}

        graph = StateGraph(Log).add_node("ask", lambda state: {"log": [interrupt("Pay?")]}).add_node("pay", pay)
        return graph.add_edge(START, "ask").add_edge("ask", "pay").compile(checkpointer=saver)

    desk.converse(build, START_IT, thread_id="a", request_id="1")
    assert isinstance(desk.converse(build, "yes", thread_id="a", request_id="2"), Failed)
    again = desk.converse(build, "yes", thread_id="a", request_id="2")
    assert again == Finished({"log": ["yes", "paid"]}, is_repeat=True)


def test_a_state_that_the_code_cannot_read_any_more_is_told_as_failed_and_the_answer_stands(desk):
    @dataclass
    class Old:
        amount: int

    @dataclass
    class New(Old):
        currency: str

    def shop(state):
        return lambda saver: (
            StateGraph(state)
            .add_node("ask", lambda state: {"amount": interrupt("How much?")})
            .add_edge(START, "ask")
            .compile(checkpointer=saver)
        )

    desk.converse(shop(Old), {"amount": 1}, thread_id="a")
    told = desk.converse(shop(New), 5, thread_id="a")
    assert isinstance(told, Failed)
    assert isinstance(told.error, StateChanged)
    assert desk.graph(shop(Old), "resume_answered") == {"a": {"amount": 5}}
