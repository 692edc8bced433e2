"""Scenario 28: an order service, request by request, that does not know whether a message starts or answers."""

from typing import Any, TypedDict

import pytest

from signoff.graph import START, StateGraph
from signoff.types import interrupt


class Order(TypedDict, total=False):
    item: str
    status: str


def pay(state: Order) -> Any:
    said = interrupt("Confirm payment?", update={"status": "awaiting payment"})
    return {"status": "paid" if said == "yes" else "cancelled"}


@pytest.fixture
def service(open_app):
    app = open_app(StateGraph(Order).add_node(pay).add_edge(START, "pay"), on_pending="answer")

    def handle(session, message):
        """One call decides from the thread itself; the reply is the question or the result."""
        config = {"configurable": {"thread_id": session}}
        result = app.invoke(message, config)
        return [question.value for question in result.get("__interrupt__", ())] or result["status"]

    handle.app = app
    return handle


def config_of(session):
    return {"configurable": {"thread_id": session}}


def test_the_first_message_starts_an_order_and_the_next_answers_the_question(service):
    assert service("a", {"item": "lamp", "status": "new"}) == ["Confirm payment?"]
    assert service("a", "yes") == "paid"


def test_sessions_are_independent(service):
    assert service("a", {"item": "lamp"}) == ["Confirm payment?"]
    assert service("b", {"item": "chair"}) == ["Confirm payment?"]
    assert service("b", "no") == "cancelled"
    assert service("a", "yes") == "paid"


def test_while_it_waits_the_state_says_awaiting_payment(service):
    service("a", {"item": "lamp", "status": "new"})
    state = service.app.get_state(config_of("a"))
    assert state.values == {"item": "lamp", "status": "awaiting payment"}
    assert state.metadata["paused"] is True
    assert state.metadata["questions"] == [state.interrupts[0].id]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_pause_is_always_saved_and_its_metadata_say_so(service, durability):
    service.app.invoke({"item": "lamp"}, config_of("a"), durability=durability)
    assert service.app.get_state(config_of("a")).metadata["paused"] is True
    assert service("a", "yes") == "paid"
    assert "paused" not in service.app.get_state(config_of("a")).metadata


def test_a_finished_session_starts_a_new_order_with_the_next_message(service):
    service("a", {"item": "lamp"})
    service("a", "yes")
    assert service("a", {"item": "chair"}) == ["Confirm payment?"]
    assert service.app.get_state(config_of("a")).values == {"item": "chair", "status": "awaiting payment"}
