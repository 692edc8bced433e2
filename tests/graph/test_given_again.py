"""An attempt that has failed leaves no trace in what its node was given: each begins with the same."""

import asyncio
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel, Field

from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import RetryPolicy, Send

RETRIES = RetryPolicy(initial_interval=0.0, jitter=False, max_attempts=3)


class Cart(TypedDict):
    total: int
    items: list[str]
    notes: dict[str, int]
    tags: set[str]


@dataclass
class CartData:
    total: int = 0
    items: list[str] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)
    tags: set[str] = field(default_factory=set)


class CartModel(BaseModel):
    total: int = 0
    items: list[str] = Field(default_factory=list)
    notes: dict[str, int] = Field(default_factory=dict)
    tags: set[str] = Field(default_factory=set)


STATES = pytest.mark.parametrize("state", [Cart, CartData, CartModel])
WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


class Shop:
    """A node that changes its state in place, and fails the first times."""

    def __init__(self, failures: int, *, is_async: bool) -> None:
        self.failures = failures
        self.seen: list[Any] = []
        self.node = self.abuy if is_async else self.buy

    def buy(self, state: Any) -> Any:
        cart = state if isinstance(state, dict) else vars(state)
        self.seen.append(shown(cart))
        cart["total"] += 5
        cart["items"].append("pen")
        cart["notes"]["fee"] = 1
        cart["tags"].add("new")
        if len(self.seen) <= self.failures:
            raise ConnectionError("the shop is closed")
        return {**cart}

    async def abuy(self, state: Any) -> Any:
        return self.buy(state)


def shown(cart: Any) -> Any:
    cart = cart if isinstance(cart, dict) else vars(cart)
    return cart["total"], [*cart["items"]], {**cart["notes"]}, {*cart["tags"]}


def new_cart() -> dict[str, Any]:
    return {"total": 0, "items": [], "notes": {}, "tags": set()}


EMPTY = (0, [], {}, set())
BOUGHT = {"total": 5, "items": ["pen"], "notes": {"fee": 1}, "tags": {"new"}}


def run(graph: StateGraph, input: Any, *, is_async: bool) -> Any:
    app = graph.compile()
    return asyncio.run(app.ainvoke(input)) if is_async else app.invoke(input)


@STATES
@WAYS
def test_each_try_begins_with_the_same(state, is_async):
    shop = Shop(failures=2, is_async=is_async)
    graph = StateGraph(state).add_node("buy", shop.node, retry_policy=RETRIES).add_edge(START, "buy")
    assert run(graph, new_cart(), is_async=is_async) == BOUGHT
    assert shop.seen == [EMPTY] * 3


@WAYS
def test_so_it_does_with_what_a_send_brings(is_async):
    shop = Shop(failures=2, is_async=is_async)
    graph = StateGraph(Cart).add_node("buy", shop.node, retry_policy=RETRIES)
    graph.add_conditional_edges(START, lambda state: [Send("buy", new_cart())], ["buy"])
    assert run(graph, new_cart(), is_async=is_async) == BOUGHT
    assert shop.seen == [EMPTY] * 3


@dataclass(slots=True)
class Order:
    items: list[str]


@WAYS
@pytest.mark.parametrize("brings", [list, Order])
@pytest.mark.parametrize("is_sent", [False, True])
def test_so_it_does_with_a_list_and_with_fields_in_slots(is_async, brings, is_sent):
    seen = []

    def buy(given: Any) -> Any:
        items = given if isinstance(given, list) else given.items
        seen.append([*items])
        items.append("pen")
        if len(seen) < 3:
            raise ConnectionError

    graph = StateGraph(brings).add_node("buy", buy, retry_policy=RETRIES)
    if is_sent:
        graph.add_conditional_edges(START, lambda state: [Send("buy", brings([]))], ["buy"])
    else:
        graph.add_edge(START, "buy")
    run(graph, brings([]), is_async=is_async)
    assert seen == [[], [], []]


@STATES
@WAYS
def test_whoever_handles_a_failure_sees_what_the_node_was_given(state, is_async):
    shop, handled = Shop(failures=1, is_async=is_async), []

    def handle(state: Any) -> Any:
        handled.append(shown(state))

    graph = StateGraph(state).add_node("buy", shop.node, error_handler=handle).add_edge(START, "buy")
    run(graph, new_cart(), is_async=is_async)
    assert handled == [EMPTY]


@WAYS
def test_what_another_node_does_meanwhile_stays(is_async):
    begun, added = threading.Event(), threading.Event()

    def add(state: Cart) -> Any:
        begun.wait(10)
        state["items"].append("ink")
        added.set()
        return {"items": state["items"]}

    def pay(state: Cart) -> Any:
        if not begun.is_set():
            begun.set()
            added.wait(10)
            raise ConnectionError
        return {"total": 5}

    graph = StateGraph(Cart).add_node(add).add_node(pay, retry_policy=RETRIES)
    graph.add_edge(START, "add").add_edge(START, "pay")
    assert run(graph, new_cart(), is_async=is_async) == {**new_cart(), "total": 5, "items": ["ink"]}


@WAYS
@pytest.mark.parametrize("is_class", [False, True])
def test_an_object_that_a_send_brings_is_left_alone(is_async, is_class):
    @dataclass
    class Counter:
        """Its objects would be states; itself is none."""

        count = 0

    def work(counter: Any) -> None:
        counter.count += 1
        if counter.count < 3:
            raise ConnectionError

    counter = Counter if is_class else SimpleNamespace(count=0)
    graph = StateGraph(Cart).add_node("work", work, retry_policy=RETRIES)
    graph.add_conditional_edges(START, lambda state: [Send("work", counter)], ["work"])
    run(graph, new_cart(), is_async=is_async)
    assert counter.count == 3


@WAYS
def test_each_try_of_a_call_begins_with_the_same(is_async):
    seen = []

    @task(retry_policy=RETRIES)
    def pay(order, *, fees):
        seen.append((order.pop("amount", "gone"), fees.pop()))
        if len(seen) < 3:
            raise ConnectionError

    def work(order):
        pay(order, fees=[1, 2]).result()

    async def awork(order):
        await pay(order, fees=[1, 2])

    flow = entrypoint()(awork if is_async else work)
    asyncio.run(flow.ainvoke({"amount": 5})) if is_async else flow.invoke({"amount": 5})
    assert seen == [(5, 2)] * 3
