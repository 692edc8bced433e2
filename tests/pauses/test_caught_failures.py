"""Promises 4 and 7: what a person was asked about is what is done, also if something had failed before that.

A failure that a task has caught before it asked is caught again: the call is not made again.
"""

import asyncio
from contextlib import suppress

import pytest

from signoff.errors import ReplayMismatch
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, RetryPolicy, interrupt

from .programs import NEW, Log


class Market:
    """Two who tell a price. The first is away at first."""

    def __init__(self, error=ConnectionError):
        self.asked = []
        self.is_away = True

        @task
        def first(item="tea"):
            self.asked.append("first")
            if self.is_away:
                raise error(f"no {item}")
            return 5

        @task
        def second(item="tea"):
            self.asked.append("second")
            return 900

        self.first, self.second = first, second

    def price(self):
        try:
            return self.first().result()
        except ConnectionError as error:
            return f"{self.second().result()} ({error})"


def test_what_was_shown_is_what_is_paid(open_app):
    market = Market()

    def buy(_):
        price = market.price()
        return [price, interrupt(f"Pay {price}?")]

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(buy))
    assert app.invoke(0)["__interrupt__"][0].value == "Pay 900 (no tea)?"
    market.is_away = False
    assert app.invoke(Command(resume="yes")) == ["900 (no tea)", "yes"]
    assert market.asked == ["first", "second"]


def test_so_it_is_however_often_it_asks(open_app):
    market = Market()

    def buy(state):
        return {"log": [str(market.price()), interrupt("Sure?"), interrupt("Quite sure?")]}

    app = open_app(StateGraph(Log).add_node("buy", buy).add_edge(START, "buy"))
    app.invoke(NEW)
    market.is_away = False
    app.invoke(Command(resume="yes"))
    assert app.invoke(Command(resume="quite"))["log"] == ["900 (no tea)", "yes", "quite"]
    assert market.asked == ["first", "second"]


def test_each_try_of_a_loop_is_what_it_was(open_app):
    market, tries = Market(), []

    def buy(_):
        for nth in range(3):
            with suppress(ConnectionError):
                return [market.first().result(), nth]
            tries.append(interrupt(f"Try {nth} failed. Again?"))
        return None

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(buy))
    app.invoke(0)
    app.invoke(Command(resume="once more"))
    market.is_away = False
    assert app.invoke(Command(resume="and again")) == [5, 2]
    assert market.asked == ["first"] * 3


def test_it_is_so_in_a_task_inside_of_a_task(open_app):
    market = Market()

    @task
    def buy(item):
        price = market.price()
        return [price, interrupt(f"Pay {price} for {item}?")]

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(lambda _: buy("tea").result()))
    app.invoke(0)
    market.is_away = False
    assert app.invoke(Command(resume="yes")) == ["900 (no tea)", "yes"]
    assert market.asked == ["first", "second"]


def test_it_is_so_for_coroutines_side_by_side(open_async_app):
    asked = []

    @task
    async def fetch(site):
        asked.append(site)
        if len(asked) <= 2:
            raise OSError(2, "gone", site)
        return "new"

    async def work(_):
        found = await asyncio.gather(fetch("a"), fetch("b"), return_exceptions=True)
        return [[one.filename for one in found], interrupt("sure?")]

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(work))
    app.invoke(0)
    assert app.invoke(Command(resume="yes")) == [["a", "b"], "yes"]
    assert sorted(asked) == ["a", "b"]


def test_a_branch_that_waits_while_others_go_on_keeps_it(open_app):
    market = Market()
    graph = StateGraph(Log).add_node("buy", lambda state: {"log": [str(market.price()), interrupt("Pay?")]})
    graph.add_node("a", lambda state: {"log": ["a"]}).add_node("b", lambda state: {"log": ["b"]})
    app = open_app(graph.add_edge(START, "buy").add_edge(START, "a").add_edge("a", "b"), pause="branch")
    app.invoke(NEW)
    market.is_away = False
    assert sorted(app.invoke(Command(resume="yes"))["log"]) == ["900 (no tea)", "a", "b", "yes"]
    assert market.asked == ["first", "second"]


def shop(market):
    """A graph that asks the first one for a price."""
    graph = StateGraph(Log).add_node("ask", lambda state: {"log": [str(market.first().result())]})
    return graph.add_edge(START, "ask").compile()


def price_in(shop, fallback):
    try:
        return shop.invoke(NEW)["log"]
    except ConnectionError as error:
        return [f"{fallback} ({error})"]


def test_it_is_so_for_a_graph_that_is_called(open_app):
    market = Market()
    inner = shop(market)

    def buy(state):
        prices = [*price_in(inner, 7), *price_in(inner, 8)]
        return {"log": [*prices, interrupt(f"Pay {prices}?")]}

    app = open_app(StateGraph(Log).add_node("buy", buy).add_edge(START, "buy"))
    app.invoke(NEW)
    market.is_away = False
    assert app.invoke(Command(resume="yes"))["log"] == ["7 (no tea)", "8 (no tea)", "yes"]
    assert market.asked == ["first"] * 2


def test_it_is_so_for_graphs_that_coroutines_call(open_async_app):
    market = Market()
    inner = shop(market)

    async def price(fallback):
        try:
            return (await inner.ainvoke(NEW))["log"]
        except ConnectionError as error:
            return [f"{fallback} ({error})"]

    async def buy(state):
        prices = await asyncio.gather(price(7), price(8))
        return {"log": [*sum(prices, []), interrupt(f"Pay {prices}?")]}

    app = open_async_app(StateGraph(Log).add_node("buy", buy).add_edge(START, "buy"))
    app.invoke(NEW)
    market.is_away = False
    assert app.invoke(Command(resume="yes"))["log"] == ["7 (no tea)", "8 (no tea)", "yes"]
    assert market.asked == ["first"] * 2


FIRST_PRICES = {
    "call": lambda market: [str(market.first().result())],
    "graph": lambda market: shop(market).invoke(NEW)["log"],
}


@pytest.mark.parametrize("price", FIRST_PRICES.values(), ids=FIRST_PRICES)
def test_what_the_task_fails_with_is_tried_again(price, open_app):
    market = Market()
    graph = StateGraph(Log).add_node("buy", lambda state: {"log": [interrupt("Buy?"), *price(market)]})
    app = open_app(graph.add_edge(START, "buy"))
    app.invoke(NEW)
    with pytest.raises(ConnectionError):
        app.invoke(Command(resume="yes"))
    market.is_away = False
    assert app.invoke(None)["log"] == ["yes", "5"]


def test_so_is_what_a_node_is_tried_again_for(open_app):
    market = Market()

    def buy(state):
        market.is_away = len(market.asked) == 0
        return {"log": [str(market.first().result()), interrupt("Pay?")]}

    policy = RetryPolicy(initial_interval=0, jitter=False, retry_on=ConnectionError)
    app = open_app(StateGraph(Log).add_node("buy", buy, retry_policy=policy).add_edge(START, "buy"))
    app.invoke(NEW)
    assert app.invoke(Command(resume="yes"))["log"] == ["5", "yes"]
    assert market.asked == ["first"] * 2


@pytest.mark.parametrize("price", FIRST_PRICES.values(), ids=FIRST_PRICES)
def test_code_that_does_not_catch_it_any_more_fails_once_and_then_has_it_tried_again(price, open_app):
    market = Market()

    def old(_):
        with suppress(ConnectionError):
            price(market)
        return interrupt("Go on?")

    def new(_):
        return [*price(market), interrupt("Go on?")]

    new.__name__ = old.__name__
    open_app(lambda saver: entrypoint(checkpointer=saver)(old)).invoke(0)
    app = open_app(lambda saver: entrypoint(checkpointer=saver)(new))
    market.is_away = False
    with pytest.raises(ConnectionError, match="no tea"):
        app.invoke(Command(resume="yes"))
    assert app.invoke(None) == ["5", "yes"]


def test_another_failure_may_be_raised_from_itself(open_app):
    market = Market()

    def buy(_):
        with suppress(ConnectionError):
            market.first().result()
        if market.is_away:
            return interrupt("Go on?")
        failure = ValueError("no price")
        raise failure from failure

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(buy))
    app.invoke(0)
    market.is_away = False
    with pytest.raises(ValueError, match="no price"):
        app.invoke(Command(resume="yes"))
    assert market.asked == ["first"]


class OutOfStock(ConnectionError):
    """An error that comes back as another one: its class is not registered."""


def test_an_error_that_would_not_come_back_as_what_it_is_is_tried_again(open_app):
    market = Market(OutOfStock)

    def buy(_):
        try:
            price = market.first().result()
        except OutOfStock:
            price = market.second().result()
        return [price, interrupt("Pay?")]

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(buy))
    app.invoke(0)
    assert app.invoke(Command(resume="yes")) == [900, "yes"]
    assert market.asked == ["first", "second", "first"]


class Response:
    """What no saver can store."""

    code = 503


def with_response():
    error = RuntimeError("away")
    error.response = Response()
    return error


def codes(error):
    return [
        one.response.code if isinstance(one, RuntimeError) else str(one)
        for one in getattr(error, "exceptions", [error])
    ]


HALF_STORABLE = {
    "attribute": with_response,
    "group": lambda: ExceptionGroup("some", [OutOfStock("no tea")]),
    "attribute in a group": lambda: ExceptionGroup("some", [with_response()]),
}


@pytest.mark.parametrize("error", HALF_STORABLE.values(), ids=HALF_STORABLE)
def test_so_is_one_a_part_of_which_would_not_come_back(error, open_app):
    @task
    def look():
        raise error()

    def buy(_):
        try:
            look().result()
        except (RuntimeError, ExceptionGroup) as failure:
            found = [type(one).__name__ for one in getattr(failure, "exceptions", [failure])]
            return [found, codes(failure), interrupt("Pay?")]

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(buy))
    app.invoke(0)
    found, code, answer = app.invoke(Command(resume="yes"))
    assert (found, code, answer) in [(["RuntimeError"], [503], "yes"), (["OutOfStock"], ["no tea"], "yes")]


def test_code_that_makes_another_failure_of_it_fails_once_and_then_has_it_tried_again(open_app):
    market = Market()

    def old(_):
        return [market.price(), interrupt("Pay?")]

    def new(_):
        try:
            return [market.first().result(), interrupt("Pay?")]
        except ConnectionError as error:
            raise ExceptionGroup("several", [ValueError("no price")]) from error

    new.__name__ = old.__name__
    open_app(lambda saver: entrypoint(checkpointer=saver)(old)).invoke(0)
    app = open_app(lambda saver: entrypoint(checkpointer=saver)(new))
    market.is_away = False
    with pytest.raises(ExceptionGroup):
        app.invoke(Command(resume="yes"))
    assert app.invoke(None) == [5, "yes"]


def test_so_has_a_task_inside_of_a_task_that_looks_at_it_after_the_question_only(open_app):
    market = Market()

    @task
    def order():
        price = market.first()
        return [interrupt("Go on?"), price.result()]

    @task
    def errand():
        return order().result()

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(lambda _: errand().result()))
    app.invoke(0)
    market.is_away = False
    with pytest.raises(ConnectionError, match="no tea"):
        app.invoke(Command(resume="yes"))
    assert app.invoke(None) == ["yes", 5]


def test_so_has_one_that_fails_with_a_group_beside_a_coroutine_that_asks(open_async_app):
    market = Market()

    async def price():
        return await market.first()

    @task
    async def order(asks):
        if asks:
            return interrupt("Go on?")
        async with asyncio.TaskGroup() as group:
            found = group.create_task(price())
        return found.result()

    async def buy(_):
        return await asyncio.gather(order(False), order(True))

    app = open_async_app(lambda saver: entrypoint(checkpointer=saver)(buy))
    app.invoke(0)
    market.is_away = False
    with pytest.raises(ExceptionGroup):
        app.invoke(Command(resume="yes"))
    assert app.invoke(None) == [5, "yes"]


def test_what_a_person_said_of_it_stands_though_the_task_fails_for_it(open_app):
    market = Market()

    def buy(_):
        try:
            return market.first().result()
        except ConnectionError as error:
            if interrupt("Try again?") == "no":
                raise ValueError("given up") from error

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(buy))
    app.invoke(0)
    market.is_away = False
    for command in (Command(resume="no"), None):
        with pytest.raises(ValueError, match="given up"):
            app.invoke(command)
    assert market.asked == ["first"]


def test_what_failed_again_after_it_was_forgotten_is_kept_as_well(open_app):
    failures = ["away", "no tea", None]
    asked = []

    @task
    def first():
        asked.append(failures[len(asked)])
        if asked[-1] is not None:
            raise ConnectionError(asked[-1])
        return 5

    def buy(_):
        try:
            price = first().result()
        except ConnectionError as error:
            if str(error) == "away":
                interrupt("Shall it fail?", key="fail")
                raise
            price = 900
        return [price, interrupt(f"Pay {price}?", key="pay")]

    app = open_app(lambda saver: entrypoint(checkpointer=saver)(buy))
    app.invoke(0)
    with pytest.raises(ConnectionError, match="away"):
        app.invoke(Command(resume="yes"))
    assert app.invoke(None)["__interrupt__"][0].value == "Pay 900?"
    assert app.invoke(Command(resume="yes")) == [900, "yes"]


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_a_person_who_changes_the_state_meanwhile_does_not_have_it_tried_again(pause, open_app):
    market = Market()
    graph = StateGraph(Log).add_node("start", lambda state: {"log": []})
    graph.add_node("buy", lambda state: {"log": [str(market.price()), interrupt("Pay?")]})
    app = open_app(graph.add_edge(START, "start").add_edge("start", "buy"), pause=pause)
    app.invoke(NEW)
    market.is_away = False
    app.update_state({"log": ["a note"]}, as_node="start")
    assert app.invoke(Command(resume="yes"))["log"] == ["a note", "900 (no tea)", "yes"]
    assert market.asked == ["first", "second"]


@pytest.mark.parametrize("key", [None, "pay"])
@pytest.mark.parametrize("is_away", [True, False])
def test_an_answer_is_not_for_what_a_graph_came_to_that_is_called_anew_after_an_update(is_away, key, open_app):
    market, prices = Market(), iter([5, 900])
    market.is_away = is_away
    inner = StateGraph(Log).add_node("ask", lambda state: {"log": [f"{market.first().result()}, {next(prices)}"]})
    shop = inner.add_edge(START, "ask").compile()

    def buy(state):
        price = price_in(shop, 7)
        return {"log": [*price, interrupt("Pay?", key=key), interrupt("Sure?")]}

    graph = StateGraph(Log).add_node("start", lambda state: {"log": []}).add_node("buy", buy)
    app = open_app(graph.add_edge(START, "start").add_edge("start", "buy"))
    app.invoke(NEW)
    market.is_away = False
    app.update_state({"log": ["a note"]}, as_node="start")
    with pytest.raises(ReplayMismatch, match="graph that it calls first came to something else"):
        app.invoke(Command(resume="yes"))
    assert app.ask(None) == ["Pay?"]
    assert app.ask(Command(resume="yes")) == ["Sure?"]
    app.update_state({"log": ["another"]}, as_node="start")
    prices = iter([7])
    assert app.ask(Command(resume={app.ids()["Sure?"]: "yes"})) == ["Pay?"]
