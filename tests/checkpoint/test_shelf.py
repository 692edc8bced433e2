"""Threads in memory that nobody uses are folded, and nobody notices."""

import operator
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver, shelf
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.testing.conformance import savers
from signoff.types import Command, interrupt


class Log(TypedDict):
    log: Annotated[list[Any], operator.add]


def asking(saver):
    graph = StateGraph(Log).add_node("ask", lambda state: {"log": [interrupt({"sure?": state["log"]})]})
    return graph.add_edge(START, "ask").compile(saver)


def thread(number):
    return {"configurable": {"thread_id": f"thread {number}"}}


@pytest.mark.parametrize("check", [*savers.CHECKS, *savers.OWN_CHECKS], ids=str)
def test_a_saver_that_folds_every_thread_but_two(check, monkeypatch):
    monkeypatch.setattr(shelf, "AT_HAND", 2)
    monkeypatch.setattr(shelf, "AT_REST", 0)
    check(savers.World(InMemorySaver))


def test_many_threads_wait_and_each_is_answered():
    saver = InMemorySaver()
    app, many = asking(saver), 3 * shelf.AT_HAND
    for number in range(many):
        app.invoke({"log": [number]}, thread(number))
    assert len(Inbox(saver).open(limit=many).questions) == many
    for number in range(many):
        assert app.invoke(Command(resume="yes"), thread(number)) == {"log": [number, "yes"]}
        assert len(list(app.get_state_history(thread(number)))) == 3


def test_a_thread_that_waits_for_nobody_is_folded_only_after_many_others(monkeypatch):
    monkeypatch.setattr(shelf, "AT_HAND", 2)
    monkeypatch.setattr(shelf, "AT_REST", 3)
    saver = InMemorySaver()
    app = asking(saver)
    for number in range(4):
        app.invoke({"log": [number]}, thread(number))
        app.invoke(Command(resume="yes"), thread(number))
    app.invoke({"log": [4]}, thread(4))  # waits
    for number in range(5, 8):
        app.invoke({"log": [number]}, thread(number))
        app.invoke(Command(resume="yes"), thread(number))
    assert set(saver._threads._folded) == {"thread 0", "thread 1", "thread 4"}
    assert len(saver._threads.ids()) == 8
    for number in range(8):
        answers = [] if number == 4 else ["yes"]
        assert app.get_state(thread(number)).values == {"log": [number, *answers]}


def test_a_thread_that_waits_for_nobody_goes_on_as_it_was(monkeypatch):
    monkeypatch.setattr(shelf, "AT_HAND", 1)
    saver = InMemorySaver()
    app = asking(saver)
    for number in (0, 1, 0):
        app.invoke({"log": [number]}, thread(number))
        app.invoke(Command(resume="yes"), thread(number))
    heads = [one.checkpoint["channel_values"] for one in saver.heads()]
    assert heads == [{"log": [0, "yes", 0, "yes"]}, {"log": [1, "yes"]}]


def test_a_thread_that_is_folded_takes_a_few_hundred_bytes():
    saver = InMemorySaver()
    app = asking(saver)
    for number in range(2 * shelf.AT_HAND):
        app.invoke({"log": [f"order {number}"]}, thread(number))
    folded = list(saver._threads._folded.values())
    assert len(folded) == shelf.AT_HAND
    assert max(len(one.data) for one in folded[1:]) < 600


def test_a_thread_that_cannot_be_written_down_stays_as_it_is(monkeypatch):
    monkeypatch.setattr(shelf, "AT_HAND", 1)
    monkeypatch.setattr(shelf, "AT_REST", 0)
    saver = InMemorySaver()
    for name in ("a", "b", "c"):
        held = saver._threads.new(name)
        held.holder = lambda: name
    assert sorted(saver._threads.ids()) == ["a", "b", "c"]
    assert not saver._threads._folded
