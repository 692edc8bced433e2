"""Scenario 6: several questions in one node, in order; with keys, in any order."""

from typing import TypedDict

from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Person(TypedDict, total=False):
    name: str
    age: int
    city: str


def graph(node):
    return StateGraph(Person).add_node("ask", node).add_edge(START, "ask")


def test_each_answer_moves_one_question_further(open_app):
    def ask(state):
        return {"name": interrupt("name?"), "age": interrupt("age?"), "city": interrupt("city?")}

    app = open_app(graph(ask))
    app.invoke({})
    asked = [app.questions()]
    for answer in ("Ana", 41):
        app.invoke(Command(resume=answer))
        asked.append(app.questions())
    assert asked == [["name?"], ["age?"], ["city?"]]
    assert app.get_state().values == {}
    assert app.invoke(Command(resume="Oslo")) == {"name": "Ana", "age": 41, "city": "Oslo"}


def test_answers_given_are_never_asked_again(open_app):
    shown = []

    def ask(state):
        return {"name": interrupt("name?"), "age": interrupt("age?")}

    app = open_app(graph(ask))
    shown += app.invoke({})["__interrupt__"]
    shown += app.invoke(Command(resume="Ana"))["__interrupt__"]
    shown += app.invoke(None)["__interrupt__"]
    assert [question.value for question in shown] == ["name?", "age?", "age?"]


def test_with_keys_they_may_be_asked_in_another_order(open_app):
    order = ["name", "age", "city"]

    def ask(state):
        return {key: interrupt(f"{key}?", key=key) for key in order}

    app = open_app(graph(ask))
    app.invoke({})
    app.invoke(Command(resume={"name": "Ana"}))
    assert app.questions() == ["age?"]
    order.reverse()
    app.invoke(Command(resume={"age": 41}))
    assert app.questions() == ["city?"]
    assert app.invoke(Command(resume="Oslo")) == {"name": "Ana", "age": 41, "city": "Oslo"}
