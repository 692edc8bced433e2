"""Promise 4: finished work is not repeated, and what still waits is not run again for the answer of another."""

import operator
from dataclasses import dataclass
from typing import Annotated

import pytest

from signoff.errors import InvalidUpdateError
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, Overwrite, Send, StateUpdate, interrupt

from .programs import NEW, Log, Works, beside, line
from .ways import SERVER_WAYS

ON_SERVERS = SERVER_WAYS

HUNDRED = 100


def test_a_finished_sibling_is_not_run_again(open_app):
    works = Works()
    app = open_app(beside(ask=works.asking("ask"), work=works.node("work")))
    app.invoke(NEW)
    app.invoke(None)
    assert sorted(app.invoke(Command(resume="yes"))["log"]) == ["ask: yes", "work"]
    assert works.done == {"ask": 2, "work": 1}


def test_a_sibling_that_waits_is_not_run_again(open_app):
    works = Works()
    app = open_app(beside(one=works.asking("one"), two=works.asking("two"), three=works.asking("three")))
    app.invoke(NEW)
    ids = app.ids()
    for name in ("two", "three", "one"):
        app.invoke(Command(resume={ids[name]: "yes"}))
    assert works.done == {"one": 2, "two": 2, "three": 2}
    assert app.get_state().values["log"] == ["one: yes", "three: yes", "two: yes"]


def test_the_steps_before_a_question_are_not_run_again(open_app):
    works = Works()
    app = open_app(line(a=works.node("a"), ask=works.asking("ask"), b=works.node("b")))
    app.invoke(NEW)
    assert app.invoke(Command(resume="yes")) == {"log": ["a", "ask: yes", "b"]}
    assert works.done == {"a": 1, "ask": 2, "b": 1}


def test_calls_before_a_question_return_what_they_returned(open_app):
    works = Works()

    @task
    def fetch(name):
        works.done[name] += 1
        return f"{name} {works.done[name]}"

    def advise(state):
        data = [fetch(name) for name in ("market", "risk")]
        found = [future.result() for future in data]
        first = interrupt("buy?")
        more = fetch("more").result()
        return {"log": [*found, first, more, interrupt("sell?")]}

    app = open_app(beside(advise=advise))
    app.invoke(NEW)
    app.invoke(None)
    app.invoke(Command(resume="yes"))
    app.invoke(None)
    result = app.invoke(Command(resume="no"))
    assert result["log"] == ["market 1", "risk 1", "yes", "more 1", "no"]
    assert works.done == {"market": 1, "risk": 1, "more": 1}


def test_nested_calls_return_what_they_returned(open_app):
    works = Works()

    @task
    def inner(name):
        works.done[name] += 1
        return name

    @task
    def outer():
        return [inner("a").result(), interrupt("sure?"), inner("b").result()]

    def program(saver):
        @entrypoint(checkpointer=saver)
        def flow(text):
            return [*outer().result(), inner("c").result()]

        return flow

    app = open_app(program)
    app.invoke("x")
    assert app.invoke(Command(resume="yes")) == ["a", "yes", "b", "c"]
    assert works.done == {"a": 1, "b": 1, "c": 1}


def test_the_nodes_of_a_nested_graph_are_not_run_again(open_app):
    works = Works()
    inner = line(first=works.node("first"), ask=works.asking("ask"), last=works.node("last")).compile()
    app = open_app(line(before=works.node("before"), inner=inner, after=works.node("after")))
    app.invoke(NEW)
    app.invoke(None)
    app.invoke(Command(resume="yes"))
    assert works.done == {"before": 1, "first": 1, "ask": 2, "last": 1, "after": 1}


def test_the_other_branches_of_a_failed_step_are_not_run_again(open_app):
    works, broken = Works(), [True]

    def fail(state):
        answer = interrupt("fail")
        if broken:
            raise LookupError("not today")
        return {"log": [answer]}

    app = open_app(beside(ask=works.asking("ask"), fail=fail, work=works.node("work")))
    app.invoke(NEW)
    ids = app.ids()
    with pytest.raises(LookupError):
        app.invoke(Command(resume={ids["fail"]: "no"}))
    broken.clear()
    assert app.ask(None) == ["ask"]
    assert sorted(app.invoke(Command(resume="yes"))["log"]) == ["ask: yes", "no", "work"]
    assert works.done == {"ask": 2, "work": 1}


class Priced(Log):
    price: int


def test_what_is_beside_writes_that_collide_is_not_run_again(open_app):
    works = Works()
    graph = StateGraph(Priced).add_node("work", works.node("work")).add_edge(START, "work")
    for name, price in (("one", 1), ("two", 2)):
        graph.add_node(name, lambda state, price=price: {"price": price}).add_edge(START, name)
    app = open_app(graph)
    for given in (NEW, None):
        with pytest.raises(InvalidUpdateError, match="'price'"):
            app.invoke(given)
    assert works.done == {"work": 1}


def pricing(works, *prices):
    def quote(state):
        works.done[state["price"]] += 1
        return {"price": state["price"]}

    def sends(state):
        return [Send("quote", {"price": price}) for price in prices]

    graph = StateGraph(Priced).add_node("quote", quote).add_conditional_edges(START, sends, ["quote"])
    return graph.add_node("work", works.node("work")).add_edge("quote", "work")


@pytest.mark.parametrize("prices", [(1, 2), (1, 2, 3, 4, 5)])
def test_writes_that_collide_are_kept_and_the_error_says_how_to_go_on(open_app, prices):
    works = Works()
    app = open_app(pricing(works, *prices))
    for given in (NEW, None):
        with pytest.raises(InvalidUpdateError, match="let the others have written nothing: (bulk_)?update_state"):
            app.invoke(given)
    app.bulk_update_state([[StateUpdate(None, "quote")] * (len(prices) - 1)])
    assert app.invoke(None) == {"log": ["work"], "price": prices[-1]}
    assert works.done == {"work": 1} | dict.fromkeys(prices, 1)


@dataclass
class Picky:
    log: Annotated[list, operator.add]

    def __post_init__(self):
        if "odd" in self.log:
            raise ValueError("odd")


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_has_led_to_a_state_that_its_type_refuses_is_not_run_again(open_app, durability):
    works = Works()
    graph = StateGraph(Picky).add_node("ask", works.asking("ask")).add_node("odd", works.node("odd"))
    graph.add_node("last", works.node("last")).add_edge(START, "ask").add_edge(START, "odd")
    app = open_app(graph.add_edge("ask", "last"))
    app.invoke(NEW, durability=durability)
    for given in (Command(resume="yes"), None):
        with pytest.raises(ValueError, match="odd"):
            app.invoke(given, durability=durability)
        assert (app.get_state().next, app.get_state().values["log"]) == (("last",), ["ask: yes", "odd"])
    app.update_state({"log": Overwrite(["even"])}, as_node="ask")
    assert app.invoke(None, durability=durability)["log"] == ["even", "last"]
    assert works.done == {"ask": 2, "odd": 1, "last": 1}


def test_a_failure_after_an_answer_keeps_the_answer(open_app):
    broken = [True]

    def ask(state):
        answer = interrupt("sure?")
        if broken:
            raise LookupError("not today")
        return {"log": [answer]}

    app = open_app(beside(ask=ask))
    app.invoke(NEW)
    with pytest.raises(LookupError):
        app.invoke(Command(resume="yes"))
    assert app.questions() == []
    broken.clear()
    assert app.invoke(None) == {"log": ["yes"]}


def test_among_a_hundred_parallel_questions_no_unanswered_one_runs_again(open_app):
    works = Works()

    def each(number):
        works.done[number] += 1
        return {"log": [interrupt(number)]}

    graph = StateGraph(Log).add_node("each", each)
    app = open_app(
        graph.add_conditional_edges(START, lambda state: [Send("each", n) for n in range(HUNDRED)], ["each"])
    )
    app.invoke(NEW)
    ids = app.ids()
    assert set(works.done.values()) == {1}
    for number in range(0, HUNDRED, 10):
        left = app.ask(Command(resume={ids[number]: "yes"}))
        assert number not in left
    assert works.done == {number: 1 + (number % 10 == 0) for number in range(HUNDRED)}


def test_among_a_hundred_calls_that_ask_no_unanswered_one_runs_again(tmp_path):
    from .conftest import opener

    works = Works()

    def program(saver):
        @task
        def confirm(number):
            works.done[number] += 1
            return interrupt(number)

        @entrypoint(checkpointer=saver)
        def flow(numbers):
            return [future.result() for future in [confirm(number) for number in numbers]]

        return flow

    app = opener(tmp_path, "memory-sync")(program)
    app.invoke(list(range(HUNDRED)))
    ids = app.ids()
    for number in range(HUNDRED):
        result = app.invoke(Command(resume={ids[number]: number}))
    assert result == list(range(HUNDRED))
    assert set(works.done.values()) == {2}
