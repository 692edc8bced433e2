"""Functions that define their classes and make a graph of them, called again and again: each graph has its own."""

import gc
import operator
import weakref
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.serde import register
from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.types import Command, interrupt

from .ways import SERVER_WAYS, on_thread

ON_SERVERS = SERVER_WAYS


class Made(NamedTuple):
    """What a factory has made."""

    graph: Any
    item: Any
    seen: list[Any]
    """What its nodes were given."""


def with_dataclasses() -> Made:
    @dataclass
    class Item:
        n: int = 0

    @dataclass
    class State:
        item: Item = field(default_factory=Item)
        log: Annotated[list, operator.add] = field(default_factory=list)

    return made_of(State, Item)


def with_models() -> Made:
    class Item(BaseModel):
        n: int = 0

    class State(BaseModel):
        item: Item = Item()
        log: Annotated[list, operator.add] = []

    return made_of(State, Item)


def made_of(state: Any, item: Any) -> Made:
    """A graph with another one in it, that counts, asks, and counts again."""
    seen: list[Any] = []

    def count(given: Any) -> Any:
        seen.append(given.item)
        return {"item": item(n=given.item.n + 1), "log": [item(n=given.item.n)]}

    def ask(given: Any) -> Any:
        seen.append(given.item)
        return {"log": [interrupt("more?")]}

    inner = StateGraph(state).add_node("ask", ask).add_node("count", count)
    inner = inner.add_edge(START, "ask").add_edge("ask", "count")
    graph = StateGraph(state).add_node("count", count).add_node("inner", inner.compile()).add_node("last", count)
    graph = graph.add_edge(START, "count").add_edge("count", "inner").add_edge("inner", "last")
    return Made(graph.compile(), item, seen)


def on(graph: Any) -> Any:
    """A graph that was compiled once, for whichever saver."""

    def with_saver(saver: Any) -> Any:
        graph.checkpointer = saver
        return graph

    return with_saver


@pytest.fixture(params=[with_dataclasses, with_models])
def make(request: Any) -> Any:
    return request.param


def kinds(values: Any) -> set[type]:
    return {type(values["item"]), *(type(one) for one in values["log"] if type(one) is not str)}


def test_every_graph_of_a_factory_stores_and_reads_instances_of_its_own_classes(open_app, make):
    made = [make(), make(), make()]
    apps = [open_app(on(one.graph)) for one in made]
    for number, app in enumerate(apps):
        assert app.ask({}, on_thread(f"{number}")) == ["more?"]
    for number, (app, one) in reversed(list(enumerate(zip(apps, made, strict=True)))):
        there = on_thread(f"{number}")
        inside = app.get_state(there, subgraphs=True).tasks[0].state
        assert kinds(inside.values) == {one.item}
        app.invoke(Command(resume="yes"), there)
        shown = [app.get_state(there), *app.history(there)]
        assert shown[0].values["item"] == one.item(n=3)
        for snapshot in shown:
            assert kinds({"item": one.item(), "log": [], **snapshot.values}) == {one.item}
        assert {type(given) for given in one.seen} == {one.item}


def test_a_graph_that_is_made_anew_goes_on_with_what_its_forerunner_stored(open_app, make):
    first = make()
    open_app(on(first.graph)).ask({})
    second = make()
    app = open_app(on(second.graph))
    app.invoke(Command(resume="yes"))
    assert app.get_state().values["item"] == second.item(n=3)
    assert kinds(app.get_state().values) == {second.item}
    assert {type(given) for given in second.seen} == {second.item}


def test_a_graph_changes_its_state_in_its_own_classes(open_app, make):
    first, _ = make(), make()
    app = open_app(on(first.graph))
    app.ask({})
    app.update_state({"item": first.item(n=7)}, as_node="inner")
    assert app.get_state().values["item"] == first.item(n=7)
    app.invoke(None)
    assert app.get_state().values["item"] == first.item(n=8)


class Nothing(TypedDict):
    pass


def test_graphs_of_two_calls_in_one_graph_have_each_their_own_classes(open_app, make):
    one, two = make(), make()
    around = StateGraph(Nothing).add_node("one", one.graph).add_node("two", two.graph)
    app = open_app(on(around.add_edge(START, "one").add_edge(START, "two").compile()))
    app.invoke({})
    for made, inside in zip((one, two), app.get_state(subgraphs=True).tasks, strict=True):
        assert kinds(inside.state.values) == {made.item}
    app.invoke(Command(resume={question.id: "yes" for question in app.get_state().interrupts}))
    for made in (one, two):
        assert {type(given) for given in made.seen} == {made.item}


def with_a_subclass() -> Made:
    """A factory with a class that no schema names."""

    @dataclass
    class Item:
        n: int = 0

    @register
    @dataclass
    class Special(Item):
        note: str = ""

    class State(TypedDict, total=False):
        item: Item

    seen: list[Any] = []

    def ask(given: Any) -> Any:
        seen.append(given["item"])
        return {"item": Special(given["item"].n, interrupt("note?"))}

    graph = StateGraph(State).add_node("make", lambda given: {"item": Special(1)}).add_node("ask", ask)
    graph = graph.add_edge(START, "make").add_edge("make", "ask")
    return Made(graph.compile(checkpointer=InMemorySaver()), Special, seen)


def test_what_a_factory_registers_beside_its_schemas_belongs_to_its_graph():
    one, two = with_a_subclass(), with_a_subclass()
    for number, made in enumerate((one, two, one)):
        made.graph.invoke({}, on_thread(f"{number}"))
        made.graph.invoke(Command(resume="fine"), on_thread(f"{number}"))
        assert made.graph.get_state(on_thread(f"{number}")).values == {"item": made.item(1, "fine")}
        assert {type(given) for given in made.seen} == {made.item}


def with_functions() -> Made:
    @dataclass
    class Item:
        n: int = 0

    seen: list[Any] = []

    @task
    def count(item: Item) -> Item:
        return Item(item.n + 1)

    @entrypoint(checkpointer=InMemorySaver())
    def flow(item: Item) -> Item:
        counted = count(item).result()
        seen.extend([item, counted])
        interrupt("more?")
        return count(counted).result()

    return Made(flow, Item, seen)


def test_every_entrypoint_of_a_factory_has_its_own_classes():
    one, two = with_functions(), with_functions()
    for number, made in enumerate((one, two, one)):
        made.graph.invoke(made.item(1), on_thread(f"{number}"))
    for number, made in enumerate((one, two, one)):
        result = made.graph.invoke(Command(resume="yes"), on_thread(f"{number}"))
        assert (result, type(result)) == (made.item(3), made.item)
        assert {type(given) for given in made.seen} == {made.item}


def test_who_reads_without_a_graph_gets_the_newest_class():
    saver = InMemorySaver()
    made = [with_dataclasses(), with_dataclasses()]
    for number, one in enumerate(made):
        on(one.graph)(saver).invoke({}, on_thread(f"{number}"))
    assert {question.value for question in Inbox(saver).open()} == {"more?"}
    for number in range(2):
        assert type(saver.get(on_thread(f"{number}"))["channel_values"]["item"]) is made[-1].item


def test_a_serializer_with_types_of_its_own_reads_for_each_graph():
    one, two = with_dataclasses(), with_dataclasses()
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=[one.item, made_elsewhere()]))
    for number, made in enumerate((one, two, one)):
        app = on(made.graph)(saver)
        app.invoke({}, on_thread(f"{number}"))
        app.invoke(Command(resume="yes"), on_thread(f"{number}"))
        assert kinds(app.get_state(on_thread(f"{number}")).values) == {made.item}


def made_elsewhere() -> type:
    @dataclass
    class Other:
        n: int = 0

    return Other


def test_graphs_that_are_dropped_do_not_stay_in_memory(make):
    saver, refs = InMemorySaver(), []
    for number in range(50):
        one, two = make(), make()
        for at, made in enumerate((one, two, one)):
            on(made.graph)(saver).invoke({}, on_thread(f"{number}, {at}"))
        refs += [weakref.ref(one.item), weakref.ref(two.item)]
        del one, two, made
    del saver  # it keeps the last lists of threads
    gc.collect()
    assert len([ref for ref in refs if ref() is not None]) <= 1
