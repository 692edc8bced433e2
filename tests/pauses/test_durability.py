"""What each durability stores, and what a crash can cost; a pause and an answer are stored in all three.

| killed while                  | sync               | async                       | exit                    |
|-------------------------------|--------------------|-----------------------------|-------------------------|
| a task runs                   | this task          | and what was not yet stored | all since the run began |
| the first step is not over    | the input is kept  | the input is kept           | the input is lost       |
| an answer is worked on        | the answer is kept | the answer is kept          | the answer is kept      |
| a question is shown           | nothing            | nothing                     | nothing                 |
"""

import operator
import sqlite3
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.engine.storing.ledger import Ledger
from signoff.errors import SaverUnavailable, ThreadBusy
from signoff.func import task
from signoff.graph import END, START, StateGraph
from signoff.types import Command, RetryPolicy, Send, interrupt

from .desk import Desk, Process
from .programs import NEW, Log, Works, asking, beside, line
from .ways import on_thread

ALL = ("sync", "async", "exit")
CLEAN = ["check", "fetch market", "fetch risk", "after the answer: yes", "pay"]

LOST = {
    # Killed at: how often the work before it is done in the end. With sync it is once: tests/scenarios/test_kills.py.
    "fetch risk": ("fetch market", {"async": {1, 2}, "exit": {2}}),
    "before the question": ("fetch market", {"async": {1, 2}, "exit": {2}}),
    "after the answer": ("fetch market", {"async": {1}, "exit": {1}}),
    "pay": ("after the answer", {"async": {1, 2}, "exit": {2}}),
}


@pytest.mark.parametrize("durability", ["async", "exit"])
@pytest.mark.parametrize("moment", LOST)
def test_what_a_killed_process_costs(tmp_path, moment, durability):
    work, times = LOST[moment]
    desk, settings = Desk(str(tmp_path)), {"durability": durability}
    process = Process(tmp_path, stop_at=moment)
    process.tell(thread="1", input={"log": []}, settings=settings, is_async=moment == "pay")
    if moment in ("after the answer", "pay"):
        assert process.hear() == CLEAN[:3]
        process.tell(thread="1", answer="yes", settings=settings, is_async=moment == "pay")
    assert process.hear() == "stopped"
    process.close()
    assert went_on(desk) == CLEAN
    assert Counter(desk.done())[work] in times[durability]
    assert Counter(desk.done())["check"] <= 2


def went_on(desk):
    """The thread in the end, as a service would bring it there: it goes on, or begins anew; it answers if asked."""
    result = desk.run({"thread": "1"})
    if isinstance(result, str):
        assert result.startswith("EmptyInputError"), result
        result = desk.run({"thread": "1", "input": {"log": []}})
    return result if len(result) == len(CLEAN) else desk.run({"thread": "1", "answer": "yes"})


@pytest.mark.parametrize(("durability", "times"), [("sync", {1}), ("async", {1, 2}), ("exit", {1})])
def test_what_a_killed_process_costs_while_a_branch_waits(tmp_path, durability, times):
    desk, process = Desk(str(tmp_path), branches=True), Process(tmp_path, stop_at="archive", branches=True)
    process.tell(thread="1", input={"log": []}, settings={"durability": durability})
    assert process.hear() == "stopped"
    process.close()
    result = desk.run({"thread": "1"})
    if isinstance(result, str):
        result = desk.run({"thread": "1", "input": {"log": []}})
    assert result == [*CLEAN[:3], "report", "archive"]
    assert desk.run({"thread": "1", "answer": "yes"}) == [*result, *CLEAN[3:]]
    done = Counter(desk.done())
    assert {done["report"], done["fetch market"]} <= times, "a pause is stored as it comes, with all that was before"
    assert done["before the question"] == done["report"] + 1
    assert done["pay"] == 1


# What others see meanwhile


def watching(app, seen, name):
    """A node that notes what somebody else would find stored while it runs."""

    def node(state):
        with ThreadPoolExecutor(1) as other:
            found = other.submit(app.get_state).result()
        seen.append(found.values.get("log") if found.created_at else None)
        return {"log": [name]}

    return node


@pytest.mark.parametrize(("durability", "stored"), [("sync", [[], ["a"]]), ("exit", [None, None])])
def test_what_is_stored_while_a_run_goes_on(open_app, durability, stored):
    seen = []
    app = open_app(lambda saver: graph.compile(checkpointer=saver))
    graph = line(a=watching(app, seen, "a"), b=watching(app, seen, "b"))
    assert app.invoke(NEW, durability=durability) == {"log": ["a", "b"]}
    assert seen == stored
    assert app.get_state().values == {"log": ["a", "b"]}


def test_with_async_the_next_step_does_not_wait_for_the_storage(tmp_path):
    file, found = str(tmp_path / "threads.db"), []
    with SqliteSaver.from_conn_string(file) as saver, closing(sqlite3.connect(file, check_same_thread=False)) as other:

        def lock(state):
            other.isolation_level = None
            other.execute("BEGIN IMMEDIATE")  # nobody else can write from here on
            return {"log": ["lock"]}

        def unlock(state):
            with SqliteSaver.from_conn_string(file) as reader:
                found.append(reader.get_tuple(on_thread("1")).checkpoint["channel_values"]["log"])
            other.execute("ROLLBACK")
            return {"log": ["unlock"]}

        app = line(lock=lock, unlock=unlock).compile(checkpointer=saver)
        assert app.invoke(NEW, on_thread("1"), durability="async") == {"log": ["lock", "unlock"]}
        assert found == [[]], "a crash here costs the step before, too"
        assert app.get_state(on_thread("1")).values == {"log": ["lock", "unlock"]}


@pytest.mark.parametrize("durability", ALL)
def test_a_pause_is_stored_before_anybody_sees_it(open_app, durability):
    app = open_app(line(a=Works().node("a"), ask=asking()))
    found = []

    def look(chunk):
        if "__interrupt__" in chunk:
            with ThreadPoolExecutor(1) as other:
                found.append(other.submit(app.get_state).result())
        return "__interrupt__" in chunk

    app.stream(NEW, until=look, durability=durability)
    assert [question.value for question in found[0].interrupts] == ["sure?"]
    assert found[0].values == {"log": ["a"]}
    assert app.invoke(Command(resume="yes"), durability=durability) == {"log": ["a", "yes"]}


@pytest.mark.parametrize("nested", ["a call", "a nested graph"])
@pytest.mark.parametrize("durability", ALL)
def test_a_pause_inside_is_stored_before_the_stream_of_tasks_shows_it(open_app, durability, nested):
    inside = line(ask=asking()).compile()
    confirm = task(asking(), name="confirm")
    node = inside if nested == "a nested graph" else lambda state: confirm(state).result()
    app = open_app(line(a=Works().node("a"), node=node))
    found = []

    def look(chunk):
        _, shown = chunk
        if shown.get("interrupts") and not found:
            with ThreadPoolExecutor(1) as other:
                found.append((shown["name"], other.submit(app.get_state).result()))
        return bool(found)

    app.stream(NEW, until=look, durability=durability, stream_mode="tasks", subgraphs=True)
    name, there = found[0]
    assert (name, [question.value for question in there.interrupts]) == (
        "ask" if nested == "a nested graph" else "confirm",
        ["sure?"],
    )
    app.invoke(Command(resume="yes"), durability=durability)
    assert app.questions() == []


@pytest.mark.parametrize("durability", ALL)
def test_an_answer_is_stored_before_anything_runs_on_it(open_app, durability):
    seen = []

    def ask(state):
        answer = asking()(state)
        with ThreadPoolExecutor(1) as other:
            seen.append(other.submit(app.questions).result())
        return answer

    app = open_app(beside(ask=ask))
    app.invoke(NEW, durability=durability)
    app.invoke(Command(resume="yes"), durability=durability)
    assert seen == [[]]


@pytest.mark.parametrize("durability", ALL)
def test_a_run_that_fails_has_stored_what_was_finished(open_app, durability):
    works, broken, has_worked = Works(), [True], threading.Event()

    def fail(state):
        if broken:
            has_worked.wait()
            raise LookupError("not today")
        return {"log": ["mended"]}

    def sibling(state):
        has_worked.set()
        return works.node("sibling")(state)

    graph = line(a=works.node("a"), b=works.node("b"), fail=fail).add_node(sibling).add_edge("b", "sibling")
    app = open_app(graph)
    with pytest.raises(LookupError):
        app.invoke(NEW, durability=durability)
    broken.clear()
    assert app.invoke(None, durability=durability) == {"log": ["a", "b", "mended", "sibling"]}
    assert works.done == {"a": 1, "b": 1, "sibling": 1}


@pytest.mark.parametrize(("durability", "steps"), [("sync", 4), ("async", 4), ("exit", 1)])
def test_exit_stores_one_checkpoint_for_a_run(open_app, durability, steps):
    app = open_app(line(a=Works().node("a"), b=Works().node("b")))
    app.invoke(NEW, durability=durability)
    assert len(app.history()) == steps


@pytest.mark.parametrize("durability", ALL)
def test_the_history_shows_what_was_asked_and_its_head_what_is_open(open_app, durability):
    app = open_app(line(ask=asking("one?"), also=beside(left=asking("two?"), right=asking("three?")).compile()))
    app.invoke(NEW, durability=durability)
    app.invoke(Command(resume="yes"), durability=durability)
    app.invoke(Command(resume={app.ids()["two?"]: "yes"}), durability=durability)

    def asked():
        return [sorted(each.value for each in one.interrupts) for one in app.history() if one.interrupts]

    assert asked() == [["one?"], ["three?"]]
    app.invoke(Command(resume="yes"), durability=durability)
    assert asked() == [["one?"], ["three?"]]
    assert app.get_state().interrupts == ()


@pytest.mark.parametrize("durability", ALL)
def test_a_question_in_a_nested_graph_is_stored_in_all(open_app, durability):
    works = Works()
    inner = line(first=works.node("first"), ask=asking()).compile()
    app = open_app(line(inner=inner, after=works.node("after")))
    assert app.ask(NEW, durability=durability) == ["sure?"]
    assert app.invoke(Command(resume="yes"), durability=durability) == {"log": ["first", "yes", "after"]}
    assert works.done == {"first": 1, "after": 1}


@pytest.mark.parametrize("durability", ALL)
@pytest.mark.parametrize("pause", ["step", "branch"])
def test_nobody_else_gets_a_thread_while_a_sibling_of_the_question_still_runs(tmp_path, pause, durability):
    is_refused = threading.Event()

    def work(state):
        assert is_refused.wait(10)
        return {"log": ["worked"]}

    with SqliteSaver.from_conn_string(str(tmp_path / "threads.db")) as saver:
        app = beside(ask=asking(), work=work).compile(checkpointer=saver, pause=pause)
        for chunk in app.stream(NEW, on_thread("1"), durability=durability):
            if "__interrupt__" in chunk:
                with pytest.raises(ThreadBusy):
                    app.invoke(Command(resume="yes"), on_thread("1"))
                is_refused.set()
        assert app.invoke(Command(resume="yes"), on_thread("1"))["log"].count("worked") == 1


@pytest.mark.parametrize("durability", ALL)
@pytest.mark.parametrize("goes_on", ["a branch", "an error handler"])
def test_a_thread_stays_taken_while_something_goes_on_beside_the_question(goes_on, durability):
    saver, holders = InMemorySaver(), []

    def look(state):
        holders.append(saver.look(on_thread("1"))[1].holder)

    def fail(state):
        raise LookupError("not today")

    graph = beside(ask=asking())
    if goes_on == "a branch":
        graph.add_sequence([("work", Works().node("work")), ("look", look)]).add_edge(START, "work")
    else:
        graph.add_node("fail", fail, error_handler=look).add_edge(START, "fail")
    app = graph.compile(checkpointer=saver, pause="branch" if goes_on == "a branch" else "step")
    app.invoke(NEW, on_thread("1"), durability=durability)
    assert len(holders) == 1
    assert (holders[0] is None, saver.look(on_thread("1"))[1].holder) == (False, None)


@pytest.mark.parametrize("durability", ["async", "exit"])
def test_a_retried_node_finds_again_what_its_graph_had_finished(open_app, durability):
    works, failures = Works(), [LookupError("not today")]

    def fail(state):
        if failures:
            raise failures.pop()
        return {"log": ["mended"]}

    inner = line(work=works.node("work"), fail=fail).compile()
    graph = StateGraph(Log).add_node(
        "inner", inner, retry_policy=RetryPolicy(retry_on=LookupError, initial_interval=0, jitter=False)
    )
    app = open_app(graph.add_edge(START, "inner"))
    assert app.invoke(NEW, durability=durability) == {"log": ["work", "mended"]}
    assert works.done == {"work": 1}


@pytest.mark.parametrize("is_done", [False, True], ids=["refused", "done, and not confirmed"])
def test_a_run_that_could_not_take_its_thread_says_so_and_has_stored_no_input(is_done):
    class Unreachable(InMemorySaver):
        is_away = True

        def store(self, prepared, lease=None, *, ends=False):
            epoch, is_away, self.is_away = lease.epoch, self.is_away, False
            if is_done or not is_away:
                super().store(prepared, lease, ends=ends)
            if is_away:
                lease.epoch = epoch
                raise SaverUnavailable("The database does not answer.")

    works = Works()
    app = line(fetch=works.node("fetch"), ask=asking()).compile(checkpointer=Unreachable())
    with pytest.raises(SaverUnavailable, match="does not answer"):
        app.invoke({"log": ["in"]}, on_thread("1"), durability="exit")
    assert (works.done, app.get_state(on_thread("1")).values) == ({}, {})
    assert app.invoke({"log": ["in"]}, on_thread("1"), durability="exit")["log"] == ["in", "fetch"]
    assert app.invoke(Command(resume="yes"), on_thread("1"), durability="exit")["log"] == ["in", "fetch", "yes"]


class Kept(TypedDict):
    kept: Annotated[list[str], operator.add]


@pytest.mark.parametrize("durability", ["async", "exit"])
def test_a_graph_that_remembers_finds_what_it_did_in_the_same_run(open_app, durability):
    seen = []

    def note(state):
        seen.append(list(state["kept"]))
        return {"kept": [f"note {len(seen)}"]}

    memory = StateGraph(Kept).add_node(note).add_edge(START, "note").compile(checkpointer=True)

    def call(state):
        memory.invoke({"kept": []})["kept"].append("changed by the caller")

    graph = StateGraph(Log).add_node(call).add_edge(START, "call")
    app = open_app(graph.add_conditional_edges("call", lambda state: "call" if len(seen) % 2 else END))
    for _ in range(2):
        app.invoke(NEW, durability=durability)
    assert seen == [[f"note {number}" for number in range(1, count + 1)] for count in range(4)]


def test_with_exit_a_memory_inside_of_a_graph_that_forgets_may_ask_again_in_the_same_run(open_app):
    works = Works()
    memory = line(ask=works.asking("ask")).compile(checkpointer=True)
    graph = line(outer=line(memory=memory).compile())
    graph.add_conditional_edges("outer", lambda state: "outer" if state["log"][-1] == "ask: one" else END)
    app = open_app(graph)
    app.invoke(NEW, durability="exit")
    app.invoke(Command(resume="one"), durability="exit")
    assert app.questions() == ["ask"]
    assert app.invoke(Command(resume="two"), durability="exit")["log"][-1] == "ask: two"
    assert works.done == {"ask": 4}


@pytest.mark.parametrize("remembers", [None, True])
def test_with_exit_a_graph_that_was_answered_and_is_tried_again_does_nothing_twice(open_app, remembers):
    done = []
    pay = task(lambda: done.append("pay"), name="pay")

    def order(state):
        interrupt("sure?")
        pay().result()
        done.append("ship")
        if done.count("ship") == 1:
            raise ConnectionError("away")

    shop = line(order=order).compile(checkpointer=remembers)
    policy = RetryPolicy(initial_interval=0, jitter=False, retry_on=ConnectionError)
    graph = StateGraph(Log).add_node("shop", lambda state: shop.invoke(NEW) and None, retry_policy=policy)
    app = open_app(graph.add_edge(START, "shop"))
    app.invoke(NEW, durability="exit")
    app.invoke(Command(resume="yes"), durability="exit")
    assert done == ["pay", "ship", "ship"]


def test_with_exit_a_turn_is_stored_together_with_the_one_beside_it_that_it_stands_on():
    spoken, stored = threading.Event(), threading.Event()

    class Noticing(InMemorySaver):
        def save(self, commits, *args, **named):
            try:
                super().save(commits, *args, **named)
            finally:
                if commits:  # else the run has taken its thread
                    stored.set()

    memory = line(write=lambda state: None).compile(checkpointer=True)

    def speak(state):
        if state["log"] == ["second"]:
            assert spoken.wait(20)
        memory.invoke(state)
        spoken.set()

    def end(state):
        if state["log"] == ["second"]:
            interrupt("sure?")
        assert stored.wait(20)

    turn = line(speak=speak, end=end).compile()
    graph = StateGraph(Log).add_node("turn", lambda state: turn.invoke(state) and None)
    sends = [Send("turn", {"log": [word]}) for word in ("first", "second")]
    app = graph.add_conditional_edges(START, lambda state: sends, ["turn"]).compile(checkpointer=Noticing())
    config = on_thread("1")
    assert len(app.invoke(NEW, config, durability="exit")["__interrupt__"]) == 1
    assert app.invoke(Command(resume="yes"), config) == NEW


def test_with_exit_a_call_that_finishes_as_the_question_beside_it_is_stored_is_not_made_again():
    is_storing, is_made, works = threading.Event(), threading.Event(), Works()
    pay = task(works.node("pay"), name="pay")

    def watch(frame, event, _):
        if event == "call" and frame.f_code is Ledger._commit.__code__ and not is_storing.is_set():
            is_storing.set()
            is_made.wait(10)

    def order(state):
        is_storing.wait(10)
        paid = pay(state).result()
        is_made.set()
        return {"log": [*paid["log"], interrupt("order?")]}

    app = beside(ask=asking("ask?"), order=order).compile(checkpointer=InMemorySaver())
    sys.setprofile(watch)
    try:
        asked = app.invoke(NEW, on_thread("1"), durability="exit")["__interrupt__"]
    finally:
        sys.setprofile(None)
    answers = {question.id: "yes" for question in asked}
    assert app.invoke(Command(resume=answers), on_thread("1"), durability="exit") == {"log": ["yes", "pay", "yes"]}
    assert works.done == {"pay": 1}


class Bank:
    """Work that is done at once, and work that fails at first."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def pay(self, state):
        self.done.append("pay")
        return {"log": ["paid"]}

    def book(self, state):
        self.done.append("book")
        if self.done.count("book") == 1:
            raise ConnectionError("the books are away")
        return {"log": ["booked"]}


def tried_twice(work):
    again = RetryPolicy(max_attempts=2, initial_interval=0, jitter=False, retry_on=ConnectionError)
    return StateGraph(Log).add_node("work", work, retry_policy=again).add_edge(START, "work")


@pytest.mark.parametrize("durability", ["sync", "exit"])
def test_a_graph_in_a_graph_does_not_repeat_in_another_try_what_it_has_finished(open_app, durability):
    bank = Bank()
    inner = line(pay=bank.pay, book=bank.book).compile()
    middle = line(inner=lambda state: inner.invoke(state)).compile()
    app = open_app(tried_twice(lambda state: middle.invoke(state)))
    assert app.invoke(NEW, durability=durability) == {"log": ["paid", "booked"]}
    assert bank.done == ["pay", "book", "book"]


@pytest.mark.parametrize("remembers", [None, True])
@pytest.mark.parametrize("durability", ["sync", "exit"])
def test_a_graph_that_was_answered_does_not_repeat_in_another_try_what_it_has_finished(open_app, durability, remembers):
    bank = Bank()
    nodes = {"pay": bank.pay, "book": bank.book}
    asked = {name: lambda state, work=work, name=name: interrupt(name) and work(state) for name, work in nodes.items()}
    inner = beside(**asked).compile(checkpointer=remembers)
    app = open_app(tried_twice(lambda state: inner.invoke(state)))
    first, second = app.invoke(NEW, durability=durability)["__interrupt__"]
    app.invoke(Command(resume={first.id: "yes", second.id: "yes"}), durability=durability)
    assert sorted(bank.done) == ["book", "book", "pay"]


@pytest.mark.parametrize("remembers", [None, True])
def test_with_exit_a_call_that_finishes_beside_a_failure_is_not_made_again_in_another_try(remembers):
    done, tries, is_noted = [], Counter(), threading.Event()
    pay = task(lambda number: done.append(number), name="pay")

    def watch(frame, event, _):
        if event == "return" and frame.f_code is Ledger.outcomes.__code__ and tries["failing"] == 2:
            is_noted.set()

    def failing(state):
        tries["failing"] += 1
        if tries["failing"] < 3:
            raise ConnectionError("the bank is away")

    def paying(state):
        tries["paying"] += 1
        if tries["paying"] == 2:
            is_noted.wait(10)  # it goes on beside what has failed
            pay(1).result()
        if tries["paying"] < 3:
            raise ConnectionError("the books are away")
        pay(1).result()

    inner = beside(failing=failing, paying=paying).compile(checkpointer=remembers)
    again = RetryPolicy(max_attempts=3, initial_interval=0, jitter=False, retry_on=ConnectionError)
    graph = StateGraph(Log).add_node("work", lambda state: inner.invoke(state), retry_policy=again)
    app = graph.add_edge(START, "work").compile(checkpointer=InMemorySaver())
    sys.setprofile(watch)
    try:
        app.invoke(NEW, on_thread("1"), durability="exit")
    finally:
        sys.setprofile(None)
    assert is_noted.is_set()
    assert done == [1]
