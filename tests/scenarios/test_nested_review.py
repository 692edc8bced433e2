"""Scenario 9: a review of several steps is a graph of its own, used as a node or called like a function."""

import operator
from collections import Counter
from typing import Annotated, TypedDict

import pytest

from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Article(TypedDict):
    text: str
    notes: list[str]
    published: bool


class Review(TypedDict):
    text: str
    notes: Annotated[list[str], operator.add]


@pytest.fixture
def ran():
    """How often each node was started."""
    return Counter()


@pytest.fixture
def review(ran):
    def reviewer(state: Review):
        ran["reviewer"] += 1
        return {"notes": [f"reviewer: {interrupt('Is it correct?')}"]}

    def manager(state: Review):
        ran["manager"] += 1
        return {"notes": [f"manager: {interrupt('May it go out?')}"]}

    return StateGraph(Review).add_sequence([reviewer, manager]).add_edge(START, "reviewer").compile()


@pytest.fixture(params=["as a node", "called in a node"])
def app(request, open_app, ran, review):
    def write(state: Article):
        ran["write"] += 1
        return {"text": "the article"}

    def reviewed(state: Article):
        return {"notes": review.invoke({"text": state["text"]})["notes"]}

    def publish(state: Article):
        ran["publish"] += 1
        return {"published": True}

    middle = review if request.param == "as a node" else reviewed
    return open_app(StateGraph(Article).add_sequence([write, ("review", middle), publish]).add_edge(START, "write"))


def test_each_reviewer_is_asked_in_turn(app):
    app.invoke({"published": False})
    assert app.questions() == ["Is it correct?"]
    app.invoke(Command(resume="yes"))
    assert app.questions() == ["May it go out?"]
    result = app.invoke(Command(resume="certainly"))
    assert result == {
        "text": "the article",
        "notes": ["reviewer: yes", "manager: certainly"],
        "published": True,
    }


def test_what_finished_is_not_run_again(app, ran):
    app.invoke({"published": False})
    app.invoke(Command(resume="yes"))
    app.invoke(Command(resume="yes"))
    assert ran == {
        "write": 1,
        "reviewer": 2,
        "manager": 2,
        "publish": 1,
    }  # who asks is started again to hear the answer


def test_the_review_can_be_looked_into_while_it_waits(app):
    app.invoke({"published": False})
    app.invoke(Command(resume="yes"))
    state = app.get_state(subgraphs=True)
    assert state.next == ("review",)
    assert state.tasks[0].state.next == ("manager",)
    assert state.tasks[0].state.values == {"text": "the article", "notes": ["reviewer: yes"]}


def test_an_answer_may_name_its_question(app):
    (question,) = app.invoke({"published": False})["__interrupt__"]
    app.invoke(Command(resume={question.id: "by id"}))
    assert app.invoke(Command(resume="yes"))["notes"][0] == "reviewer: by id"
