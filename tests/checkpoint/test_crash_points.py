"""Crash points: a write that fails at any statement, heard or unheard, has done all of it or nothing."""

import inspect
from typing import TypedDict

import pytest

from signoff.checkpoint.base import Commit, TaskWrites
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.questions import Wanted
from signoff.errors import InvalidInput
from signoff.graph import START, StateGraph
from signoff.testing.conformance._saver_words import after, at, made
from signoff.types import interrupt

SERVERS = [("postgres", False), ("postgres_aio", True), ("redis", True), ("redis_aio", False)]
"""Where, and whether the statement is performed, and only the answer is lost."""


class Fire(Exception):
    """What nobody expects."""


class Failing:
    """Performs the effects of a saver, and fails at one of them: before it is performed, or after."""

    def __init__(self, saver):
        self.fail_at, self.is_after = None, False
        connection = saver._connection
        if hasattr(connection, "session"):
            session = connection.session
            connection.session = lambda: _Performer(session(), self.wrapped)
        else:
            connection.perform = self.wrapped(connection.perform)

    def wrapped(self, perform):
        if inspect.iscoroutinefunction(perform):
            return lambda effect: self.aperform(perform, effect)
        return lambda effect: self.perform(perform, effect)

    def perform(self, perform, effect):
        is_due = self.is_due(effect)
        if is_due and not self.is_after:
            raise Fire
        result = perform(effect)
        if is_due:
            raise Fire
        return result

    async def aperform(self, perform, effect):
        is_due = self.is_due(effect)
        if is_due and not self.is_after:
            raise Fire
        result = await perform(effect)
        if is_due:
            raise Fire
        return result

    def is_due(self, effect):
        if self.fail_at is None or type(effect).__name__ in ("Take", "Give", "Rollback"):
            return False
        self.fail_at -= 1
        return self.fail_at == -1


class _Performer:
    def __init__(self, session, wrapped):
        self.perform, self.end = wrapped(session.perform), session.end


def stored(saver):
    """A step with a list that grew, the writes that led to it, and a branch off the past."""
    real = getattr(saver, "inner", saver)
    step = made("6", {"a": list(range(26))}, {"a": 6})
    branch = made("7", {"a": "other"}, {"a": 7})
    writes = [TaskWrites("task", [("a", [25])])]
    saver.store(real.prepare([Commit(after("5"), writes, step, {}, {"a"}), Commit(after("2"), (), branch, {}, {"a"})]))


ACTIONS = {
    "store": stored,
    "put_writes": lambda saver: saver.put_writes(at("3"), [("a", 1), ("b", 2)], "task"),
    "delete_thread": lambda saver: saver.delete_thread("thread"),
    "delete_for_runs": lambda saver: saver.delete_for_runs(["r"]),
    "copy_thread": lambda saver: saver.copy_thread("thread", "copy"),
    "prune": lambda saver: saver.prune(["thread"]),
}


def grown(saver):
    """A thread with five checkpoints, of which a run made one; nothing else is there."""
    saver.prune(["thread", "copy"], strategy="delete")
    saver.commit([step(number) for number in range(1, 6)])
    return list(saver.list(None))


def step(number):
    parent, metadata = str(number - 1) if number > 1 else None, {"run_id": "r"} if number == 4 else {}
    writes = [TaskWrites("task", [("x", number)])] if parent else ()
    return Commit(
        after(parent), writes, made(str(number), {"a": list(range(20 + number))}, {"a": number}), metadata, {"a"}
    )


@pytest.mark.parametrize(("name", "is_after"), SERVERS)
def test_an_action_that_fails_anywhere_has_done_all_of_it_or_nothing(openers, name, is_after):
    saver, twin = openers[name](), InMemorySaver()
    failing = Failing(getattr(saver, "inner", saver))
    for action in ACTIONS.values():
        grown(twin)
        action(twin)
        done = list(twin.list(None))
        failures = 0
        while True:
            before = grown(saver)
            failing.fail_at, failing.is_after = failures, is_after
            try:
                action(saver)
            except Fire:
                failing.fail_at = None
                assert list(saver.list(None)) in (before, done)
                action_again(saver, action)
                failures += 1
            else:
                failing.fail_at = None
                break
            assert list(saver.list(None)) == done
        assert failures > 0
        assert list(saver.list(None)) == done


def action_again(saver, action):
    """Once more, as whoever heard nothing would; a copy that is there already stays as it is."""
    try:
        action(saver)
    except InvalidInput as error:
        if "copy" not in str(error):
            raise


class State(TypedDict):
    answer: str


def asking(saver):
    graph = StateGraph(State).add_node("ask", lambda state: {"answer": interrupt("Pay 90 euros?")})
    return graph.add_edge(START, "ask").compile(checkpointer=saver)


def asked_and_dropped(saver):
    """A thread that asks, and a run that has dropped that and asks anew."""
    saver.delete_thread("thread")
    app = asking(saver)
    for run_id in ("asks", "drops it"):
        config = {"configurable": {"thread_id": "thread"}, "metadata": {"run_id": run_id}}
        app.invoke({"answer": ""}, config, on_pending="discard")
    return lambda: [question.id for question in app.get_state(config).interrupts]


@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("name", ["postgres", "postgres_aio", "redis", "redis_aio"])
def test_what_a_thread_asks_is_in_the_index_wherever_the_removal_of_a_run_was_cut_off(openers, name, is_after):
    opened = openers[name]()
    saver = getattr(opened, "inner", opened)
    failing, failures, is_cut_off = Failing(saver), 0, True
    while is_cut_off:
        asked = asked_and_dropped(saver)
        failing.fail_at, failing.is_after = failures, is_after
        try:
            saver.delete_for_runs(["drops it"])
            is_cut_off = False
        except Fire:
            failures += 1
        failing.fail_at = None
        assert len(asked()) == 1
        assert [question.id for question in saver.find_questions(Wanted(thread_id="thread"))] == asked()
    assert failures > 0
