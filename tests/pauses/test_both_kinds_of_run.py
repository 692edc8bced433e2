"""Promises 2 and 11: what a runnable asks in a sync run may be answered in an async one, and the other way round."""

import asyncio
from typing import TypedDict

import pytest
from langchain_core.runnables import Runnable, RunnableLambda, RunnablePassthrough

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}

ORDERS = ["sync async async", "async sync sync", "sync async sync", "async sync async"]


class Trip(TypedDict, total=False):
    plan: str


def program(node):
    return StateGraph(Trip).add_node("plan", node).add_edge(START, "plan").compile(checkpointer=InMemorySaver())


def call(app, kind, input):
    return app.invoke(input, CONFIG) if kind == "sync" else asyncio.run(app.ainvoke(input, CONFIG))


def asked(result):
    return [question.value for question in result["__interrupt__"]]


def ask(trip):
    return {"plan": f"{interrupt('where to?')}, {interrupt('when?')}"}


async def ask_aio(trip):
    return {"plan": f"{interrupt('where to?')}, {interrupt('when?')}"}


def ask_until_it_is_short(trip):
    while len(where := interrupt("where to?")) > 4:
        pass
    return {"plan": where}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "node",
    [RunnableLambda(ask), RunnableLambda(ask, afunc=ask_aio), RunnablePassthrough() | RunnableLambda(ask)],
    ids=["one function", "a function for each kind", "a chain"],
)
def test_an_answer_reaches_the_question_of_a_runnable_whatever_kind_of_run_asked_it(node, order):
    app, (first, second, third) = program(node), order.split()
    assert asked(call(app, first, {"plan": ""})) == ["where to?"]
    assert asked(call(app, second, Command(resume="Rome"))) == ["when?"]
    assert call(app, third, Command(resume="in May")) == {"plan": "Rome, in May"}


@pytest.mark.parametrize("order", ORDERS)
def test_a_runnable_that_asks_the_same_again_gets_one_answer_after_the_other(order):
    app, (first, second, third) = program(RunnableLambda(ask_until_it_is_short)), order.split()
    assert asked(call(app, first, {"plan": ""})) == ["where to?"]
    assert asked(call(app, second, Command(resume="Constantinople"))) == ["where to?"]
    assert call(app, third, Command(resume="Rome")) == {"plan": "Rome"}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("is_called", [False, True], ids=["in a chain", "called by a function"])
def test_a_graph_that_a_runnable_calls_goes_on_whatever_kind_of_run_it_began_in(order, is_called):
    looked = []
    steps = [("look", lambda trip: looked.append("map")), ("ask", ask)]
    graph = StateGraph(Trip).add_sequence(steps).add_edge(START, "look").compile()
    node = RunnableLambda(lambda trip: graph.invoke(trip)) if is_called else RunnablePassthrough() | graph
    app, (first, second, third) = program(node), order.split()
    assert asked(call(app, first, {"plan": ""})) == ["where to?"]
    assert asked(call(app, second, Command(resume="Rome"))) == ["when?"]
    assert call(app, third, Command(resume="in May")) == {"plan": "Rome, in May"}
    assert looked == ["map"]


@pytest.mark.parametrize("order", ORDERS)
def test_a_runnable_that_says_where_to_go_gets_its_answers_whatever_kind_of_run_it_asked_in(order):
    def where(trip):
        interrupt("where to?")
        return interrupt("by train?")

    graph = StateGraph(Trip).add_node("plan", lambda trip: {"plan": "a trip"}).add_edge(START, "plan")
    graph.add_node("train", lambda trip: {"plan": "by train"})
    graph.add_conditional_edges("plan", RunnableLambda(where), {"yes": "train"})
    app, (first, second, third) = graph.compile(checkpointer=InMemorySaver()), order.split()
    assert asked(call(app, first, {"plan": ""})) == ["where to?"]
    assert asked(call(app, second, Command(resume="Rome"))) == ["by train?"]
    assert call(app, third, Command(resume="yes")) == {"plan": "by train"}


class AskTwice(Runnable):
    """Asks by itself, and in a coroutine beside it, with the same words."""

    def invoke(self, input, config=None, **named):
        raise NotImplementedError

    async def ainvoke(self, input, config=None, **named):
        async def ask_beside():
            return interrupt("sure?")

        beside = asyncio.create_task(ask_beside())
        await asyncio.sleep(0)
        return {"plan": f"{interrupt('sure?')}, {await beside}"}


def test_an_answer_is_not_given_to_a_coroutine_that_has_asked_the_same():
    app = program(AskTwice())
    questions = call(app, "async", {"plan": ""})["__interrupt__"]
    (own,) = [question.id for question in questions if "is_beside" not in question.origin]
    (beside,) = [question.id for question in questions if question.id != own]
    (left,) = call(app, "async", Command(resume={own: "yes"}))["__interrupt__"]
    assert left.id == beside
    assert call(app, "async", Command(resume="no")) == {"plan": "yes, no"}
