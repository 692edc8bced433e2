"""A default that a function makes is made once for a thread: what is approved is what is done."""

import itertools
import threading
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from signoff.graph import END, START, StateGraph
from signoff.types import Command, interrupt

numbers = itertools.count(1)


@dataclass
class Order:
    id: str = field(default_factory=lambda: uuid4().hex)
    at: datetime = field(default_factory=datetime.now)
    paid: str = ""


class OrderModel(BaseModel):
    id: str = Field(default_factory=lambda: uuid4().hex)
    at: datetime = Field(default_factory=datetime.now)
    paid: str = ""


@dataclass(frozen=True, slots=True)
class OrderOfItsOwn:
    """It makes these fields itself, and takes them from nobody."""

    id: str = field(default_factory=lambda: uuid4().hex, init=False)
    at: datetime = field(default_factory=datetime.now, init=False)
    paid: str = ""


BOTH = pytest.mark.parametrize("state", [Order, OrderModel])
ALL = pytest.mark.parametrize("state", [Order, OrderModel, OrderOfItsOwn])


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def pay(state):
    interrupt(state.id)
    return {"paid": state.id}


def graph_of(state: Any, *nodes: Any, saver: Any = None) -> Any:
    graph = StateGraph(state).add_sequence(nodes)
    return graph.add_edge(START, nodes[0].__name__).compile(checkpointer=saver)


@ALL
def test_what_is_approved_is_what_is_paid(state, saver):
    graph = graph_of(state, pay, saver=saver)
    [question] = graph.invoke({}, thread("1"))["__interrupt__"]
    done = graph.invoke(Command(resume="yes"), thread("1"))
    assert done["paid"] == done["id"] == question.value == graph.get_state(thread("1")).values["id"]


@ALL
def test_it_stays_for_all_turns_of_a_thread_and_each_thread_has_its_own(state, saver):
    seen = []

    def look(state):
        seen.append((state.id, state.at))

    def look_again(state):
        seen.append((state.id, state.at))

    graph = graph_of(state, look, look_again, saver=saver)
    for _ in range(2):
        graph.invoke({"paid": "no"}, thread("1"))
    assert len(seen) == 4
    assert len({*seen}) == 1
    graph.invoke({"paid": "no"}, thread("2"))
    assert len({*seen}) == 2


@BOTH
def test_what_the_caller_gives_counts(state):
    def show(state):
        return {"paid": state.id}

    for given in ({"id": "mine"}, state(id="mine")):
        assert graph_of(state, show).invoke(given)["paid"] == "mine"


def test_a_field_that_the_type_does_not_take_is_what_the_state_says_as_any_other(saver):
    def show(state):
        return {"paid": state.id}

    def change(state):
        return {"id": f"not {state.id}"}

    graph = graph_of(OrderOfItsOwn, show, saver=saver)
    given = OrderOfItsOwn()
    assert graph.invoke(given, thread("1"))["paid"] == given.id
    assert graph.invoke({"id": "mine"}, thread("2"))["paid"] == "mine"
    assert graph_of(OrderOfItsOwn, change, show).invoke({"id": "mine"})["paid"] == "not mine"


@ALL
def test_a_conditional_edge_behind_the_start_sees_it(state):
    seen = []

    def show(state):
        seen.append(state.id)

    def choose(state):
        seen.append(state.id)
        return "show"

    graph = StateGraph(state).add_node(show).add_conditional_edges(START, choose)
    graph.compile().invoke({"paid": "no"})
    assert len(seen) == 2
    assert len({*seen}) == 1


class Place(TypedDict, total=False):
    paid: str


@ALL
@pytest.mark.parametrize("start", [START, "look"])
def test_a_conditional_edge_that_asks_for_a_type_of_its_own_sees_the_same_each_time(state, start, saver):
    seen = []

    def look(place):
        return {"paid": "no"}

    def choose(order: state):
        seen.append(order.id)
        interrupt(order.id)
        return END

    graph = StateGraph(Place).add_node(look).add_edge(START, "look").add_conditional_edges(start, choose)
    graph = graph.compile(saver)
    graph.invoke({"paid": "no"}, thread("1"))
    graph.invoke(Command(resume="yes"), thread("1"))
    assert len(seen) == 2
    assert len({*seen}) == 1


@ALL
def test_a_nested_graph_has_that_of_the_graph_around_it(state, saver):
    graph = StateGraph(state).add_node("inner", graph_of(state, pay)).add_edge(START, "inner").compile(saver)
    [question] = graph.invoke({"paid": "no"}, thread("1"))["__interrupt__"]
    done = graph.invoke(Command(resume="yes"), thread("1"))
    assert done["paid"] == done["id"] == question.value


@ALL
def test_a_thread_that_begins_with_an_update_has_it(state, saver):
    graph = graph_of(state, pay, saver=saver)
    graph.update_state(thread("1"), {"paid": "no"}, as_node=START)
    told = graph.get_state(thread("1")).values["id"]
    [question] = graph.invoke(None, thread("1"))["__interrupt__"]
    done = graph.invoke(Command(resume="yes"), thread("1"))
    assert done["paid"] == done["id"] == question.value == told
    graph.update_state(thread("2"), {"id": "mine"}, as_node=START)
    assert graph.get_state(thread("2")).values["id"] == "mine"


def test_a_thread_from_before_the_field_was_there_gets_it_with_its_next_turn(saver):
    @dataclass
    class Old:
        paid: str = ""

    def nothing(state):
        return None

    graph_of(Old, nothing, saver=saver).invoke({"paid": "no"}, thread("1"))
    graph = graph_of(Order, nothing, saver=saver)
    first = graph.invoke({"paid": "no"}, thread("1"))
    assert first["id"] == graph.invoke({"paid": "yes"}, thread("1"))["id"]


class Plain(BaseModel):
    """What is left to the type: constants, what does not fit, what depends on other fields."""

    x: int = 0
    word: str = Field(default_factory=lambda: "pending")
    items: list[int] = Field(default_factory=list)
    settings: dict[str, list[int]] = Field(default_factory=lambda: {"sizes": list(range(2))})
    id: str = Field(default_factory=uuid4)  # type: ignore[arg-type]
    double: int = Field(default_factory=lambda data: data["x"] * 2)


@dataclass
class PlainData:
    x: int = 0
    word: str = field(default_factory=lambda: "pending")
    items: list[int] = field(default_factory=list)
    local: Any = field(default_factory=lambda: local())
    lock: Any = field(default_factory=lambda: [threading.Lock()])


@pytest.mark.parametrize("state", [Plain, PlainData])
def test_what_need_not_or_cannot_be_kept_is_no_part_of_the_state(state):
    def count(state):
        return {"x": state.x + 1}

    assert graph_of(state, count).invoke({"x": 1}) == {"x": 2}


def local() -> Any:
    """Of a class that no other process can find."""

    @dataclass
    class Ticket:
        id: int = field(default_factory=lambda: next(numbers))

    return Ticket()


@dataclass(slots=True)
class Line:
    id: UUID = field(default_factory=uuid4)
    note: str | None = None


class Kinds(BaseModel):
    x: int = 0
    number: int = Field(default_factory=lambda: next(numbers))
    share: float = Field(default_factory=lambda: next(numbers) / 8)
    id: UUID = Field(default_factory=uuid4)
    wait: timedelta = Field(default_factory=lambda: timedelta(seconds=next(numbers)))
    order: OrderModel = Field(default_factory=OrderModel)
    lines: list[Line] = Field(default_factory=lambda: [Line(), Line()])
    marks: dict[str, tuple[int, ...]] = Field(default_factory=lambda: {"all": (next(numbers), 0)})


def test_whatever_differs_each_time_is_kept_as_it_is_made(saver):
    def count(state):
        return {"x": state.x + 1}

    graph = graph_of(Kinds, count, saver=saver)
    first = graph.invoke({"x": 1}, thread("1"))
    assert graph.get_state(thread("1")).values == first
    assert first.keys() == Kinds.model_fields.keys()
    assert graph.invoke({"x": 1}, thread("1")) == first


class Greeting(BaseModel):
    name: str
    words: str = Field(default_factory=lambda known: "Dear " + str(known["name"]))


def test_what_is_made_of_other_fields_is_left_to_the_type():
    seen = []
    app = (
        StateGraph(Greeting).add_node("read", lambda state: seen.append(state.words)).add_edge(START, "read").compile()
    )
    app.invoke({"name": "Ana"})
    assert seen == ["Dear Ana"]
