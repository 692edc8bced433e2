"""What entrypoints and tasks are given and return can be stored, if their annotations name its class."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from pydantic import BaseModel

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import NotStorable
from signoff.func import entrypoint, task
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class Order(BaseModel):
    amount: int


@task
def priced(order: Order) -> Price | None:  # a class that is defined further below
    return Price(order.amount * 2)


@entrypoint(checkpointer=InMemorySaver())
def buy(order: Order) -> Receipt:
    price = priced(order).result()
    return Receipt(price, bool(interrupt("sure?")))


@dataclass
class Price:
    amount: int


@dataclass
class Receipt:
    price: Price
    is_paid: bool


def test_classes_in_annotations_are_stored_and_come_back():
    assert buy.invoke(Order(amount=2), CONFIG)["__interrupt__"][0].value == "sure?"
    assert buy.invoke(Command(resume=True), CONFIG) == Receipt(Price(4), True)
    assert buy.get_state(CONFIG).values == Receipt(Price(4), True)


def test_a_class_that_only_a_task_names_is_stored_and_comes_back():
    @dataclass
    class Coin:
        cents: int

    @task
    def paid(cents: int) -> Coin:
        return Coin(cents)

    @entrypoint(checkpointer=InMemorySaver())
    def pay(cents: int) -> list[object]:
        return [paid(cents).result().cents, interrupt("sure?")]

    pay.invoke(5, CONFIG)
    assert pay.invoke(Command(resume="yes"), CONFIG) == [5, "yes"]


def test_a_class_that_no_annotation_names_is_refused_with_the_remedy():
    class Secret(BaseModel):
        word: str

    @entrypoint(checkpointer=InMemorySaver())
    def tell(question: str) -> object:
        return Secret(word=question)

    with pytest.raises(NotStorable, match="register\\(Secret\\)"):
        tell.invoke("?", CONFIG)


def test_a_name_that_is_never_defined_hides_nothing_else():
    @entrypoint(checkpointer=InMemorySaver())
    def take(order: Order, *, config: OnlyForTypeCheckers = None) -> Order:  # type: ignore[name-defined]  # noqa: F821
        return order

    assert take.invoke(Order(amount=3), CONFIG) == Order(amount=3)


def test_classes_that_are_made_in_a_function_are_found_there():
    @task
    def weighed(amount: int) -> Weight:
        return Weight(amount)

    @dataclass
    class Weight:
        grams: int

    @entrypoint(checkpointer=InMemorySaver())
    def send(amount: int) -> list[Weight]:
        return [weighed(amount).result(), Weight(interrupt("and?"))]

    send.invoke(2, CONFIG)
    assert send.invoke(Command(resume=3), CONFIG) == [Weight(2), Weight(3)]


def test_a_final_result_needs_no_types():
    @entrypoint(checkpointer=InMemorySaver())
    def add(number: int, *, previous: int | None) -> entrypoint.final:
        return entrypoint.final(value=previous, save=number)

    assert [add.invoke(number, CONFIG) for number in (1, 2)] == [None, 1]
