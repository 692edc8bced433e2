"""Scenario 10: a payload that cannot travel is refused at the call, with the path of the field."""

import socket
from typing import Any, TypedDict

import pytest

from signoff.errors import NotStorable
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


class State(TypedDict):
    answer: Any


def graph(node):
    return StateGraph(State).add_node("ask", node).add_edge(START, "ask")


def test_a_function_in_a_payload_is_refused_with_its_path(open_app):
    app = open_app(graph(lambda state: interrupt({"actions": [{"run": print}]})))
    with pytest.raises(NotStorable, match=r"actions.*0.*run"):
        app.invoke({"answer": None})
    assert app.questions() == []


def test_an_open_socket_is_refused_with_its_path(open_app):
    with socket.socket() as connection:
        app = open_app(graph(lambda state: interrupt({"connection": connection})))
        with pytest.raises(NotStorable, match="connection"):
            app.invoke({"answer": None})


def test_the_refusal_comes_at_the_call_so_that_the_node_can_ask_otherwise(open_app):
    def ask(state):
        try:
            return {"answer": interrupt({"run": print})}
        except NotStorable:
            return {"answer": interrupt({"run": "print"})}

    app = open_app(graph(ask))
    app.invoke({"answer": None})
    assert app.questions() == [{"run": "print"}]
    assert app.invoke(Command(resume="yes")) == {"answer": "yes"}


def test_what_can_be_stored_comes_back_equal(open_app):
    payload = {"pair": ("a", 1), "set": {1, 2}, "bytes": b"\x00", "nested": [{"none": None}]}
    app = open_app(graph(lambda state: {"answer": interrupt(payload)}))
    app.invoke({"answer": None})
    assert app.questions() == [payload]
    assert app.invoke(Command(resume=payload)) == {"answer": payload}
