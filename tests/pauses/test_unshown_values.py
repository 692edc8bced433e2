"""Values that cannot be shown are asked and answered, too: Python does not write out thousands of digits."""

import pytest

from signoff.errors import InvalidAnswer, InvalidUpdateError, NotStorable, QuestionsOpen
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

from .programs import NEW, Log, asking, beside

LONG = 10**5000
PARTS = {"rates": [1, print]}


@pytest.mark.parametrize("value", [LONG, {"amount": LONG}], ids=["alone", "inside"])
def test_a_number_that_cannot_be_shown_is_asked_and_answered(open_app, value):
    app = open_app(beside(ask=asking(value)))
    assert app.invoke(NEW)["__interrupt__"][0].value == value
    with pytest.raises(QuestionsOpen, match="cannot be shown"):
        app.invoke(NEW)
    assert value in app.invoke(Command(resume=value))["log"]


def test_an_answer_that_cannot_be_shown_is_refused_like_others(open_app):
    app = open_app(beside(ask=asking("how much?", response_schema={"type": "string"})))
    app.invoke(NEW)
    with pytest.raises(InvalidAnswer, match="is still open"):
        app.invoke(Command(resume=LONG))
    assert "yes" in app.invoke(Command(resume="yes"))["log"]


def test_a_failure_that_cannot_be_shown_is_the_one_that_is_raised(open_app):
    def fail(state):
        raise LookupError(LONG)

    app = open_app(beside(ask=fail))
    with pytest.raises(LookupError):
        app.invoke(NEW)
    assert "LookupError" in app.get_state().tasks[0].error


def test_a_call_with_such_a_number_is_not_made_again(open_app):
    done = []

    @task
    def pay(amount):
        done.append(amount)
        return amount

    def work(_):
        return [pay(LONG).result() == LONG, pay(LONG + 1).result() == LONG, interrupt("sure?")]

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0)
    assert app.invoke(Command(resume="yes")) == [True, False, "yes"]
    assert len(done) == 2


def test_a_node_that_returns_one_says_what_to_return():
    app = StateGraph(Log).add_node("ask", lambda state: LONG).add_edge(START, "ask").compile()
    with pytest.raises(InvalidUpdateError, match="Node 'ask' returned .*cannot be shown.* Return a dict"):
        app.invoke(NEW)


def test_a_question_that_cannot_be_stored_is_told_by_its_node_its_key_and_the_way_to_what_is_wrong(open_app):
    app = open_app(beside(ask=asking(PARTS, key="rates")))
    told = r"What node 'ask' asks with the key 'rates' .* Cannot store the question, value.rates\[1\]: a function"
    with pytest.raises(NotStorable, match=told):
        app.invoke(NEW)
    assert not app.get_state().interrupts
