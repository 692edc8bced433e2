"""Scenario 20: retries, timeouts and error handlers; and a thread that failed for good is repaired."""

import asyncio
from typing import TypedDict

import pytest

from signoff.errors import InvalidGraph, NodeError, NodeTimeoutError
from signoff.graph import START, StateGraph
from signoff.runtime import Runtime
from signoff.types import Command, RetryPolicy

THRICE = RetryPolicy(max_attempts=3, initial_interval=0.001, jitter=False)


class Parcel(TypedDict):
    address: str
    price: int


@pytest.fixture
def attempts():
    return []


@pytest.fixture
def failing(attempts):
    """Makes a node that fails with an error, the first few times or for ever."""

    def make(error, times=1_000_000):
        def quote(state: Parcel, runtime: Runtime):
            attempts.append(runtime.execution_info.node_attempt)
            if len(attempts) <= times:
                raise error
            return {"price": 7}

        return quote

    return make


def label(state: Parcel):
    return {"address": f"{state['address']}!"}


def parcel_graph(quote, **settings):
    graph = StateGraph(Parcel)
    graph.add_node("quote", quote, **settings)
    graph.add_node(label)
    return graph.add_edge(START, "quote").add_edge("quote", "label")


def test_a_node_is_tried_again_until_it_succeeds(open_app, failing, attempts):
    app = open_app(parcel_graph(failing(ConnectionError("busy"), times=2), retry_policy=THRICE))
    assert app.invoke({"address": "here"}) == {"address": "here!", "price": 7}
    assert attempts == [1, 2, 3]


def test_after_the_last_attempt_the_run_raises_and_the_thread_knows_why(open_app, failing, attempts):
    app = open_app(parcel_graph(failing(ConnectionError("busy")), retry_policy=THRICE))
    with pytest.raises(ConnectionError, match="busy"):
        app.invoke({"address": "here"})
    assert attempts == [1, 2, 3]
    state = app.get_state()
    assert state.next == ("quote",)
    assert state.tasks[0].error == "ConnectionError('busy')"


def test_a_mistake_is_not_tried_again(open_app, failing, attempts):
    app = open_app(parcel_graph(failing(ValueError("no address")), retry_policy=THRICE))
    with pytest.raises(ValueError, match="no address"):
        app.invoke({"address": ""})
    assert attempts == [1]


def test_when_the_cause_is_gone_the_run_goes_on(open_app, failing, attempts):
    app = open_app(parcel_graph(failing(ConnectionError("busy"), times=3), retry_policy=THRICE))
    with pytest.raises(ConnectionError):
        app.invoke({"address": "here"})
    assert app.invoke(None) == {"address": "here!", "price": 7}
    assert attempts == [1, 2, 3, 1]


def test_a_person_stands_in_for_the_node_that_failed(open_app, failing, attempts):
    app = open_app(parcel_graph(failing(ConnectionError("busy")), retry_policy=THRICE))
    with pytest.raises(ConnectionError):
        app.invoke({"address": "here"})
    app.update_state({"price": 8}, as_node="quote")
    assert app.get_state().next == ("label",)
    assert app.invoke(None) == {"address": "here!", "price": 8}
    assert attempts == [1, 2, 3]


def test_a_person_mends_what_the_node_reads(open_app, attempts):
    def quote(state: Parcel):
        attempts.append(state["address"])
        if not state["address"]:
            raise ValueError("no address")
        return {"price": 7}

    app = open_app(parcel_graph(quote))
    with pytest.raises(ValueError, match="no address"):
        app.invoke({"address": ""})
    app.update_state({"address": "there"})
    assert app.invoke(None) == {"address": "there!", "price": 7}
    assert attempts == ["", "there"]


def test_a_handler_takes_over_when_the_attempts_are_used_up(open_app, failing, attempts):
    told = []

    def guess(state: Parcel, error: NodeError):
        told.append((error.node, repr(error.error)))
        return Command(update={"price": 9}, goto="label")

    app = open_app(parcel_graph(failing(ConnectionError("busy")), retry_policy=THRICE, error_handler=guess))
    assert app.invoke({"address": "here"}) == {"address": "here!", "price": 9}
    assert attempts == [1, 2, 3]
    assert told == [("quote", "ConnectionError('busy')")]


def test_a_node_that_takes_too_long_fails(open_async_app):
    async def quote(state: Parcel):
        await asyncio.Event().wait()

    app = open_async_app(parcel_graph(quote, timeout=0.01))
    with pytest.raises(NodeTimeoutError, match="Node 'quote' ran for"):
        app.invoke({"address": "here"})
    assert app.get_state().next == ("quote",)


def test_a_timeout_is_tried_again(open_async_app, attempts):
    async def quote(state: Parcel):
        attempts.append(1)
        if len(attempts) == 1:
            await asyncio.Event().wait()
        return {"price": 7}

    app = open_async_app(parcel_graph(quote, timeout=0.3, retry_policy=THRICE))
    assert app.invoke({"address": "here"})["price"] == 7
    assert len(attempts) == 2


def test_a_timeout_on_a_sync_node_is_refused():
    with pytest.raises(InvalidGraph, match="Make it `async def label"):
        StateGraph(Parcel).add_node(label, timeout=1)
