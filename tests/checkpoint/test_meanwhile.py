"""Keeping house while others work: a thread that somebody has gone on with meanwhile is left alone."""

import operator
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.base import Commit, Lease
from signoff.checkpoint.questions import Filing, Question
from signoff.graph import START, StateGraph
from signoff.testing.conformance._saver_words import T, after, at, ids, made, put, store
from signoff.types import Interrupt, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class Chat(TypedDict):
    log: Annotated[list[str], operator.add]


def reply(chat: Chat):
    return {"log": [interrupt("Pay 90 euros?") if chat["log"][-1] == "pay" else "hello"]}


def checkpoints(saver):
    return [saved.config["configurable"]["checkpoint_id"] for saved in saver.list(CONFIG)]


def before_it_tidies(saver, work):
    """Have something done between the moment when a saver looks which threads are idle, and when it tidies them up."""
    tidy = saver._backend.tidy

    def after_work(thread_id, rule):
        work()
        return tidy(thread_id, rule)

    saver._backend.tidy = after_work


def once_it_has_listed(saver, work):
    """Have something done when a saver has listed the threads, and not yet looked at each of them."""
    threads = saver._backend.threads

    def and_work():
        found = yield from threads()
        work()
        return found

    saver._backend.threads = and_work


@pytest.mark.parametrize("name", ["sqlite", "postgres", "redis"])
def test_a_thread_that_a_run_takes_while_others_are_tidied_up_is_left_alone(openers, name):
    saver, keeper = openers[name](), openers[name]()
    app = StateGraph(Chat).add_node(reply).add_edge(START, "reply").compile(checkpointer=saver)
    app.invoke({"log": ["hello"]}, CONFIG)
    before = checkpoints(saver)
    before_it_tidies(keeper, lambda: app.invoke({"log": ["pay"]}, CONFIG))
    freed = keeper.keep_last(1)
    assert freed.checkpoints == 0
    assert [question.value for question in app.get_state(CONFIG).interrupts] == ["Pay 90 euros?"]
    assert checkpoints(saver)[-len(before) :] == before
    assert len(checkpoints(saver)) > len(before)


@pytest.mark.parametrize("name", ["sqlite", "postgres", "redis"])
def test_a_thread_that_asks_once_it_goes_on_keeps_its_past(openers, name):
    saver, keeper, is_down = openers[name](), openers[name](), [True]

    def pay(chat: Chat):
        if is_down:
            raise ConnectionError("The bank is down.")
        return {"log": [interrupt("Pay 90 euros?")]}

    app = StateGraph(Chat).add_node(pay).add_edge(START, "pay").compile(checkpointer=saver)
    with pytest.raises(ConnectionError):
        app.invoke({"log": ["pay"]}, CONFIG)
    app.update_state(CONFIG, {"log": ["now"]}, as_node=START)
    before = checkpoints(saver)
    is_down.clear()
    once_it_has_listed(keeper, lambda: app.invoke(None, CONFIG))
    assert keeper.keep_last(1).checkpoints == 0
    assert [question.value for question in app.get_state(CONFIG).interrupts] == ["Pay 90 euros?"]
    assert checkpoints(saver) == before


SOON = datetime.now(UTC) + timedelta(days=365 * 100)

MEANWHILE = {
    "a checkpoint": lambda saver: put(saver, "3", parent="2"),
    "a write": lambda saver: saver.put_writes(at("2"), [("a", 1)], "task"),
    "a run": lambda saver: saver.store([], Lease(T, "ana", saver.look(at())[1].seen)),
    "a run that is over": lambda saver: saver.store([], Lease(T, "ana", saver.look(at())[1].seen), ends=True),
}


def begun_anew(saver):
    saver.delete_thread(T)
    lease = Lease(T, "ana", saver.look(at())[1].seen)
    for id, parent in (("1", None), ("2", "1")):
        store(saver, Commit(after(parent), (), made(id), {}, ()), lease, ends=id == "2")


MEANWHILE["another thread of this name"] = begun_anew

TIDYING = {
    "cleanup_before": lambda saver: saver.cleanup_before(SOON),
    "keep_last": lambda saver: saver.keep_last(1),
}


@pytest.mark.parametrize("tidy", TIDYING)
@pytest.mark.parametrize("what", MEANWHILE)
@pytest.mark.parametrize("name", ["sqlite", "postgres", "redis"])
def test_whatever_a_thread_was_given_meanwhile_nothing_is_removed_from_it(openers, name, what, tidy):
    saver, keeper = openers[name](), openers[name]()
    for id, parent in (("1", None), ("2", "1")):
        put(saver, id, parent=parent)
    before_it_tidies(keeper, lambda: MEANWHILE[what](saver))
    assert TIDYING[tidy](keeper) == (0, 0, 0)
    assert ids(saver.list(at()))[-2:] == ["2", "1"]


@pytest.mark.parametrize("name", ["sqlite", "postgres", "redis"])
def test_an_old_thread_that_has_begun_to_ask_is_not_removed(openers, name):
    saver, keeper = openers[name](), openers[name]()
    put(saver, "1")
    question = Question("q", T, "g", "node", "2030-01-01", Interrupt(value="?", id="q"))
    before_it_tidies(keeper, lambda: store(saver, Commit(after("1"), filing=Filing([question]))))
    assert keeper.cleanup_before(SOON).threads == 0
    assert ids(saver.list(at())) == ["1"]


def listed(saver):
    return [(one.checkpoint["id"], len(one.checkpoint["channel_values"]["list"])) for one in saver.list(at())]


@pytest.mark.parametrize(("read", "left"), [(listed, [("2", 41)]), (lambda saver: saver.get_tuple(at("1")), None)])
@pytest.mark.parametrize("name", ["sqlite", "postgres", "redis"])
def test_what_is_removed_while_it_is_read_is_not_there_and_all_else_is(openers, name, read, left):
    saver, keeper = openers[name](), openers[name]()
    put(saver, "1", {"large": "y" * 10_000, "list": ["x" * 100] * 40})
    put(saver, "2", {"large": "z" * 10_000, "list": ["x" * 100] * 41}, parent="1", versions={"list": 2, "large": 2})
    parts = saver._backend.parts

    def parts_too_late(*asked):
        keeper.keep_last(1)
        return parts(*asked)

    saver._backend.parts = parts_too_late
    assert read(saver) == left
