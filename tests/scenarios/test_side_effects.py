"""Scenario 19: side effects around a question, in the four ways in which users handle them, and in the wrong one."""

from typing import TypedDict

import pytest

from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class Order(TypedDict, total=False):
    is_charged: bool
    approved: bool


class Bank:
    """Counts calls and charges."""

    def __init__(self):
        self.calls = 0
        self.charges = set()

    def charge(self, key):
        self.calls += 1
        self.charges.add(key)  # with the same key it is the same charge


@pytest.fixture
def bank():
    return Bank()


def answered(app):
    """Ask, look again, answer."""
    app.invoke({})
    app.invoke(None)
    return app.invoke(Command(resume=True))


def one_node(node):
    return StateGraph(Order).add_node("order", node).add_edge(START, "order")


def test_work_before_the_question_is_done_twice(open_app, bank):
    def order(state):
        bank.charge("order-7")
        return {"approved": interrupt("ship it?")}

    assert answered(open_app(one_node(order))) == {"approved": True}
    assert bank.calls == 2


def test_a_flag_in_the_state(open_app, bank):
    def order(state):
        if not state.get("is_charged"):
            bank.charge("order-7")
        return {"approved": interrupt("ship it?", update={"is_charged": True})}

    assert answered(open_app(one_node(order))) == {"is_charged": True, "approved": True}
    assert bank.calls == 1


def test_an_idempotent_call(open_app, bank):
    def order(state):
        bank.charge("order-7")
        return {"approved": interrupt("ship it?")}

    answered(open_app(one_node(order)))
    assert len(bank.charges) == 1


def test_work_after_the_question(open_app, bank):
    def order(state):
        approved = interrupt("ship it?")
        bank.charge("order-7")
        return {"approved": approved}

    answered(open_app(one_node(order)))
    assert bank.calls == 1


def test_work_in_a_node_of_its_own(open_app, bank):
    def charge(state):
        bank.charge("order-7")
        return {"is_charged": True}

    def ask(state):
        return {"approved": interrupt("ship it?")}

    answered(open_app(StateGraph(Order).add_sequence([charge, ask]).add_edge(START, "charge")))
    assert bank.calls == 1


def test_a_task(open_app, bank):
    @task
    def charge():
        bank.charge("order-7")

    def order(state):
        charge().result()
        return {"approved": interrupt("ship it?")}

    answered(open_app(one_node(order)))
    assert bank.calls == 1
