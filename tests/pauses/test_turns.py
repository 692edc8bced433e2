"""A nested graph that remembers, and that is called several times in one step: each call is a turn of its own."""

import operator
import sys
import threading
from contextlib import suppress
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.engine.storing import exit_durability
from signoff.errors import InvalidAnswer
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, RetryPolicy, Send, interrupt

from .diaries import NESTED, Diary, Kept, Turn, around
from .ways import CONFIG


class Payments:
    """A graph that remembers what it has paid, and pays after a question if it is told to."""

    def __init__(self, *, asks: bool) -> None:
        self.paid: list[str] = []
        self.asks = asks
        self.graph = StateGraph(Kept).add_node("pay", self.pay).add_edge(START, "pay").compile(checkpointer=True)

    def pay(self, state: Kept) -> Any:
        said = interrupt(f"pay {state['word']}?") if self.asks else "yes"
        self.paid.append(state["word"])
        return {"kept": [f"{state['word']}: {said}"]}

    def last(self, word: str) -> str:
        """What has come of a payment, which is the newest in the memory of its call."""
        return str(self.graph.invoke({"word": word})["kept"][-1])


def by_calls(payments: Payments) -> Any:
    """A function that makes calls side by side, each of which calls the graph."""
    pay = task(payments.last, name="pay")
    return lambda saver: entrypoint(saver)(lambda words: [call.result() for call in [pay(word) for word in words]])


def one_after_the_other(payments: Payments) -> Any:
    """A function that makes a call when the one before has ended."""
    pay = task(payments.last, name="pay")
    return lambda saver: entrypoint(saver)(lambda words: [pay(word).result() for word in words])


WORDS = ["rent", "tax", "power"]
SEVERAL = {"calls": by_calls, "one after the other": one_after_the_other}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("several", SEVERAL)
def test_each_task_that_calls_a_graph_that_remembers_is_a_turn_of_its_own(open_app, several, durability):
    payments = Payments(asks=False)
    app = open_app(SEVERAL[several](payments))
    assert app.invoke(WORDS, durability=durability) == ["rent: yes", "tax: yes", "power: yes"]
    assert sorted(payments.paid) == sorted(WORDS)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("several", SEVERAL)
def test_each_task_that_calls_a_graph_that_remembers_has_its_own_answer(open_app, several, durability):
    payments = Payments(asks=True)
    app = open_app(SEVERAL[several](payments))
    result = app.invoke(WORDS, durability=durability)
    while "__interrupt__" in result:
        question = result["__interrupt__"][-1]
        answer = Command(resume={question.id: f"yes to {question.value}"})
        result = app.invoke(answer, durability=durability)
    assert result == [f"{word}: yes to pay {word}?" for word in WORDS]
    assert sorted(payments.paid) == sorted(WORDS)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_task_that_is_tried_again_goes_on_with_its_own_turn(open_app, durability):
    paid, both_paid, failed = [], threading.Barrier(2), set()
    pay = task(paid.append, name="pay")

    def turn(state: Kept) -> Any:
        pay(state["word"]).result()
        if state["word"] not in failed:
            both_paid.wait(10)
            failed.add(state["word"])
            raise ConnectionError("the books are away")
        return {"kept": [state["word"]]}

    graph = StateGraph(Kept).add_node(turn).add_edge(START, "turn").compile(checkpointer=True)
    again = RetryPolicy(max_attempts=2, initial_interval=0, jitter=False)
    book = task(lambda word: graph.invoke({"word": word})["kept"][-1], name="book", retry_policy=again)
    app = open_app(
        lambda saver: entrypoint(saver)(lambda words: [one.result() for one in [book(word) for word in words]])
    )
    assert app.invoke(["rent", "tax"], durability=durability) == ["rent", "tax"]
    assert sorted(paid) == ["rent", "tax"]


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_each_task_has_its_own_answer_where_graphs_that_forget_call_one_that_remembers(open_app, pause):
    payments = Payments(asks=True)

    class Words(TypedDict):
        words: list[str]

    def pay(state: Turn) -> None:
        payments.last(state["word"])

    def at_desk(word: str) -> None:
        desk.invoke({"word": word})

    desk = StateGraph(Turn).add_node(pay).add_edge(START, "pay").compile()
    graph = StateGraph(Words).add_node("desk", at_desk)
    graph.add_conditional_edges(START, lambda state: [Send("desk", word) for word in state["words"]], ["desk"])
    app = open_app(graph, pause=pause)
    app.invoke({"words": WORDS})
    for question in app.get_state().interrupts:
        app.invoke(Command(resume={question.id: "yes"}))
    assert (payments.paid, app.questions()) == (WORDS, [])


@pytest.mark.parametrize("asks", [False, True])
def test_each_send_to_a_graph_that_remembers_is_a_turn_of_its_own(open_app, asks):
    payments = Payments(asks=asks)

    class Words(TypedDict):
        words: list[str]
        told: Annotated[list[str], operator.add]

    graph = StateGraph(Words).add_node("pay", lambda word: {"told": [payments.last(word)]})
    graph.add_conditional_edges(START, lambda state: [Send("pay", word) for word in state["words"]], ["pay"])
    app = open_app(graph)
    app.invoke({"words": WORDS})
    for question in app.get_state().interrupts:
        app.invoke(Command(resume={question.id: "yes"}))
    assert app.get_state().values["told"] == ["rent: yes", "tax: yes", "power: yes"]
    assert sorted(payments.paid) == sorted(WORDS)


@pytest.mark.parametrize("durability", ["sync", "exit"])
def test_inside_of_a_graph_that_stores_nothing_each_turn_asks_a_question_of_its_own(open_app, durability):
    def ask(state: Any) -> Any:
        return {"kept": [interrupt(f"keep {state['word']}?")]}

    diary = Diary(ask=ask)
    app = open_app(NESTED["in a graph that stores nothing"](diary))
    asked = []
    for word in ("one", "two"):
        app.invoke({"word": word}, durability=durability)
        asked += app.ids().values()
        if word == "two":
            with pytest.raises(InvalidAnswer):
                app.invoke(Command(resume={asked[0]: "no"}))
        app.invoke(Command(resume={asked[-1]: "yes"}), durability=durability)
    assert asked[0] != asked[1]
    assert diary.seen == [[], ["one", "yes"]]


ONE_BY_ONE = {**CONFIG, "max_concurrency": 1}


class Spending(TypedDict):
    words: list[str]
    kept: Annotated[list[str], operator.add]


def sends(state: Any) -> list[Send]:
    return [Send("diary", {"word": word}) for word in state["words"]]


@pytest.mark.parametrize("nested", ["as a node", "called by a node"])
def test_a_turn_does_not_know_what_another_one_of_its_step_is_in_the_middle_of(open_app, nested):
    def ask(state: Any) -> Any:
        return {"kept": [interrupt(f"pay {state['word']}?")]}

    diary = Diary(ask=ask)
    graph = StateGraph(Spending).add_node("diary", diary.graph if nested == "as a node" else diary.call)
    app = open_app(graph.add_conditional_edges(START, sends, ["diary"]))
    app.invoke({"words": ["rent"]})
    app.invoke(Command(resume="paid"))
    assert app.ask({"words": ["tax", "power"]}, ONE_BY_ONE) == ["pay tax?", "pay power?"]
    assert diary.seen == [[], ["rent", "paid"], ["rent", "paid"]]
    app.invoke(Command(resume={app.ids()["pay tax?"]: "refused"}), ONE_BY_ONE)
    assert app.questions() == ["pay power?"]
    app.invoke(Command(resume="paid, too"), ONE_BY_ONE)
    app.invoke({"words": ["water"]})
    assert diary.seen[3:] == [["rent", "paid", "power", "paid, too"]]


@pytest.mark.parametrize("nested", ["as a node", "called by a node", "in a graph that remembers"])
def test_one_by_one_each_send_knows_what_those_before_it_have_left(open_app, nested):
    diary = Diary()
    inside = {"as a node": diary.graph, "called by a node": diary.call}
    node = inside.get(nested) or around(diary.graph).compile(checkpointer=True)
    app = open_app(StateGraph(Spending).add_node("diary", node).add_conditional_edges(START, sends, ["diary"]))
    app.invoke({"words": ["rent", "tax", "power"]}, ONE_BY_ONE)
    app.invoke({"words": ["water"]}, ONE_BY_ONE)
    assert diary.seen == [[], ["rent"], ["rent", "tax"], ["rent", "tax", "power"]]


@pytest.mark.parametrize("nested", ["as a node", "called by a node", "in a graph that remembers"])
def test_what_was_finished_beside_a_question_that_is_dropped_stays_in_the_memory(open_app, nested):
    def look(state: Any) -> Any:
        return {"kept": ["looked"]}

    def ask(state: Any) -> Any:
        if state["word"] == "one":
            interrupt("keep it?")

    diary = Diary()
    inner = StateGraph(Kept).add_node("note", diary.note).add_node(look).add_node(ask).add_edge(START, "note")
    diary.graph = inner.add_edge("note", "look").add_edge("note", "ask").compile(checkpointer=True)
    app = open_app(NESTED[nested](diary))
    app.invoke({"word": "one"})
    app.invoke({"word": "two"}, on_pending="discard")
    assert diary.seen == [[], ["one", "looked"]]
    app.invoke({"word": "one"})
    app.invoke(Command(resume="yes"))
    app.invoke({"word": "two"})
    assert diary.seen[2:] == [["one", "looked", "two", "looked"], ["one", "looked", "two", "looked", "one", "looked"]]


def test_what_was_finished_beside_a_failure_that_is_caught_is_not_in_the_memory(open_app):
    def look(state: Any) -> Any:
        return {"kept": ["looked"]}

    def fail(state: Any) -> Any:
        if state["word"] == "one":
            raise ValueError("one")

    diary = Diary()
    inner = StateGraph(Kept).add_node("note", diary.note).add_node(look).add_node(fail).add_edge(START, "note")
    diary.graph = inner.add_edge("note", "look").add_edge("note", "fail").compile(checkpointer=True)

    def call(state: Any) -> None:
        with suppress(ValueError):
            diary.call(state)

    app = open_app(around(call))
    app.invoke({"word": "one"})
    app.invoke({"word": "two"})
    assert diary.seen == [[], ["one"]]


def test_a_turn_that_others_stand_on_has_been_handed_over_before():
    remembered, handed_over = threading.Event(), threading.Event()

    def watch(frame, event, _):
        if event == "return" and frame.f_code is exit_durability.leave.__code__:
            handed_over.set()
        if event == "return" and frame.f_code is exit_durability.remember.__code__:
            is_first = not remembered.is_set()
            remembered.set()
            if is_first:
                handed_over.wait(10)  # by the other turn, if not by this one

    graph = Payments(asks=False).graph

    @task
    def pay(word):
        if word == "tax":
            remembered.wait(10)
        sys.setprofile(watch)
        try:
            return graph.invoke({"word": word})["kept"]
        finally:
            sys.setprofile(None)

    @entrypoint(InMemorySaver())
    def several(words):
        return [call.result() for call in [pay(word) for word in words]]

    assert several.invoke(["rent", "tax"], CONFIG, durability="exit") == [["rent: yes"], ["rent: yes", "tax: yes"]]
