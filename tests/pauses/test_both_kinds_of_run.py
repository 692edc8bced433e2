"""Promises 2 and 11: what a runnable asks in a sync run may be answered in an async one, and the other way round."""

import asyncio
import threading
from functools import partial
from itertools import count, product
from typing import TypedDict

import pytest
from langchain_core.runnables import (
    RouterRunnable,
    Runnable,
    RunnableBranch,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
)
from langchain_core.tools import StructuredTool

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}

ORDERS = ["sync async async", "async sync sync", "sync async sync", "async sync async"]


class Trip(TypedDict, total=False):
    plan: str


def program(node, saver=None):
    return (
        StateGraph(Trip).add_node("plan", node).add_edge(START, "plan").compile(checkpointer=saver or InMemorySaver())
    )


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


def both_questions():
    return f"{interrupt('where to?')}, {interrupt('when?')}"


def ask_by_helper(trip):
    return {"plan": both_questions()}


async def ask_by_helper_aio(trip):
    return {"plan": both_questions()}


class AskByHelper(Runnable):
    def invoke(self, input, config=None, **named):
        return ask_by_helper(input)

    async def ainvoke(self, input, config=None, **named):
        return await ask_by_helper_aio(input)


class InAThread(Runnable):
    """Does in a thread beside its task what it does itself in a sync run."""

    def __init__(self, func):
        self.func = func

    def invoke(self, input, config=None, **named):
        return self.func(input)

    async def ainvoke(self, input, config=None, **named):
        return await asyncio.to_thread(self.func, input)


def map_of_one(func):
    return RunnableLambda(lambda trip: [trip]) | RunnableLambda(func).map() | RunnableLambda(lambda trips: trips[0])


def fail(trip):
    raise ValueError("full")


EITHER = RunnableLambda(ask_by_helper, afunc=ask_by_helper_aio)

NODES = {
    "one function": RunnableLambda(ask),
    "a function for each kind": RunnableLambda(ask, afunc=ask_aio),
    "a chain": RunnablePassthrough() | RunnableLambda(ask),
    "a helper of both functions": EITHER,
    "a method for each kind": AskByHelper(),
    "a tool": StructuredTool.from_function(
        lambda plan: ask_by_helper(plan), lambda plan: ask_by_helper_aio(plan), "ask", "Ask."
    ),
    "a choice": RunnableBranch((lambda trip: True, EITHER), RunnableLambda(fail)),
    "fallbacks": RunnableLambda(fail).with_fallbacks([EITHER]),
    "a key assigned": RunnablePassthrough.assign(plan=EITHER | (lambda trip: trip["plan"])),
    "a runnable picked by name": (lambda trip: {"key": "ask", "input": trip}) | RouterRunnable({"ask": EITHER}),
    "a runnable picked by a function": RunnableLambda(lambda trip: EITHER),
    "a thread of its own": InAThread(ask),
    "a map of one": map_of_one(ask),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
def test_an_answer_reaches_the_question_of_a_runnable_whatever_kind_of_run_asked_it(node, order):
    app, (first, second, third) = program(node), order.split()
    assert asked(call(app, first, {"plan": ""})) == ["where to?"]
    assert asked(call(app, second, Command(resume="Rome"))) == ["when?"]
    assert call(app, third, Command(resume="in May")) == {"plan": "Rome, in May"}


def numbered(numbers):
    def ask(trip):
        return {"plan": f"{interrupt(f'{next(numbers)}: where to?')}, {interrupt(f'{next(numbers)}: when?')}"}

    async def ask_aio(trip):
        return ask(trip)

    return RunnableLambda(ask), RunnableLambda(ask_aio)


@pytest.mark.parametrize("is_coroutine", [False, True], ids=["function", "coroutine"])
@pytest.mark.parametrize(
    "made",
    [
        lambda ask: ask,
        lambda ask: RunnablePassthrough() | ask,
        lambda ask: RunnableLambda(fail).with_fallbacks([ask]),
        lambda ask: RunnableBranch((lambda trip: True, ask), ask),
    ],
    ids=["alone", "in a chain", "a fallback", "in a choice"],
)
def test_a_runnable_of_an_async_run_may_ask_in_other_words_when_it_is_answered(made, is_coroutine):
    app = program(made(numbered(count(1))[is_coroutine]))
    assert asked(call(app, "async", {"plan": ""})) == ["1: where to?"]
    assert asked(call(app, "async", Command(resume="Rome"))) == ["3: when?"]
    assert call(app, "async", Command(resume="in May")) == {"plan": "Rome, in May"}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("made", [RunnableLambda, InAThread, map_of_one])
def test_a_runnable_that_asks_the_same_again_gets_one_answer_after_the_other(made, order):
    app, (first, second, third) = program(made(ask_until_it_is_short)), order.split()
    assert asked(call(app, first, {"plan": ""})) == ["where to?"]
    assert asked(call(app, second, Command(resume="Constantinople"))) == ["where to?"]
    assert call(app, third, Command(resume="Rome")) == {"plan": "Rome"}


@pytest.mark.parametrize("order", ORDERS)
def test_what_stands_beside_a_task_in_one_kind_of_run_only_does_not_take_the_answers_of_others(order):
    def sure(trip):
        return {"plan": trip["plan"] + interrupt("sure?")}

    node = RunnableLambda(sure) | InAThread(sure) | RunnableLambda(sure)
    app, (first, *_) = program(node), order.split()
    result = call(app, first, {"plan": ""})
    for answer, kind in zip("abc", order.split(), strict=True):
        assert asked(result) == ["sure?"]
        result = call(app, kind, Command(resume=answer))
    assert result == {"plan": "abc"}


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


class Turns:
    """Two graphs, called side by side: which of them is called first."""

    def __init__(self):
        self.begin("where")

    def begin(self, first):
        self.first, self.has_begun = first, threading.Event()

    def await_turn(self, name):
        assert name == self.first or self.has_begun.wait(10)

    def graph(self, name):
        def ask(trip):
            self.has_begun.set()
            return {"plan": interrupt(f"{name}?")}

        return StateGraph(Trip).add_node(f"ask {name}", ask).add_edge(START, f"ask {name}")

    def called(self, name, made):
        return RunnableLambda(lambda trip: self.await_turn(name) or trip) | made(self.graph(name), name)


@pytest.mark.parametrize(
    "made",
    [
        lambda graph, name: graph.compile(name=name),
        lambda graph, name: graph.compile(),
        lambda graph, name: graph.compile(name=name).with_retry(),
    ],
    ids=["with names", "without names", "with retry"],
)
@pytest.mark.parametrize("kind", ["sync", "async"])
def test_graphs_side_by_side_in_a_runnable_get_their_own_answers_whoever_comes_first(made, kind):
    turns = Turns()
    parts = RunnableParallel(where=turns.called("where", made), when=turns.called("when", made))
    app = program(parts | (lambda found: {"plan": f"{found['where']['plan']}, {found['when']['plan']}"}))
    questions = call(app, kind, {"plan": ""})["__interrupt__"]
    assert {question.value for question in questions} == {"where?", "when?"}
    turns.begin("when")
    answers = {question.id: "Rome" if question.value == "where?" else "in May" for question in questions}
    assert call(app, kind, Command(resume=answers)) == {"plan": "Rome, in May"}


def asking_graph(name):
    graph = StateGraph(Trip).add_node("ask", lambda trip: {"plan": f"{name}: {interrupt(f'{name}?')}"})
    return graph.add_edge(START, "ask").compile()


def in_parallel(names):
    return RunnableParallel({name: asking_graph(name) for name in names}) | _joined


def in_chains(names):
    return RunnableParallel({name: RunnablePassthrough() | asking_graph(name) for name in names}) | _joined


def decorated_graph(name):
    def traced(function):
        return lambda trip: function(trip)

    ask = traced(lambda trip: {"plan": f"{name}: {interrupt(f'{name}?')}"})
    return StateGraph(Trip).add_node("ask", ask).add_edge(START, "ask").compile()


def graph_around(name):
    inner = asking_graph(name)
    return StateGraph(Trip).add_node("ask", lambda trip: inner.invoke(trip)).add_edge(START, "ask").compile()


def gathered(names, made):
    graphs = {name: made(name) for name in names}

    async def gather(trip):
        found = await asyncio.gather(*(graph.ainvoke(trip) for graph in graphs.values()))
        return _joined(dict(zip(graphs, found, strict=True)))

    return gather


def _joined(found):
    return {"plan": f"{found['where']['plan']}, {found['when']['plan']}"}


KINDS = ["sync sync", "sync async", "async sync", "async async"]


GATHERED = [
    pytest.param(partial(gathered, made=made), "async async", id=made.__name__)
    for made in (asking_graph, decorated_graph, graph_around)
]


@pytest.mark.parametrize(("made", "kinds"), [*GATHERED, *product([in_parallel, in_chains], KINDS)])
def test_graphs_that_look_alike_get_their_own_answers_in_whichever_order_they_are_called(made, kinds):
    saver, (first, second) = InMemorySaver(), kinds.split()
    questions = call(program(made(["where", "when"]), saver), first, {"plan": ""})["__interrupt__"]
    answers = {question.id: "Rome" if question.value == "where?" else "in May" for question in questions}
    result = call(program(made(["when", "where"]), saver), second, Command(resume=answers))
    assert result == {"plan": "where: Rome, when: in May"}


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
