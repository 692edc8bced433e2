"""Promises 5 and 7: a class that cannot be read any more is shown with what was stored, and nothing is lost."""

import asyncio
import operator
from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from signoff.cache.memory import InMemoryCache
from signoff.checkpoint.serde import Unread, register
from signoff.errors import NotStorable, Undecodable
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.types import CachePolicy, Command, interrupt

from .ways import SERVER_WAYS, on_thread

ON_SERVERS = SERVER_WAYS


def program(change: str = "") -> StateGraph:
    """The program as it was, and with an Order, or what it asks with, that needs a field which was not there before."""

    @register
    @dataclass
    class Order:
        article: str

    @register
    @dataclass
    class Form:
        text: str

    if change in ("order", "both"):

        @register
        @dataclass
        class Order:  # type: ignore[no-redef]
            article: str
            price: int

    if change in ("form", "both"):

        @register
        @dataclass
        class Form:  # type: ignore[no-redef]
            text: str
            title: str

    class State(TypedDict, total=False):
        order: Order
        items: Annotated[list[Order | str], operator.add]
        form: Form

    def take(state: Any) -> Any:
        return {"order": Order("lamp"), "items": [Order("lamp"), "done"]} if not change else {}

    def ask(state: Any) -> Any:
        return {"items": [interrupt(Form("sure?") if not change else "sure?", key="sure")]}

    return StateGraph(State).add_node(take).add_node(ask).add_edge(START, "take").add_edge("take", "ask")


def plain() -> StateGraph:
    class State(TypedDict, total=False):
        items: Annotated[list[str], operator.add]

    return StateGraph(State).add_node("ask", lambda state: {"items": [interrupt("else?")]}).add_edge(START, "ask")


def at_desk(app: Any, work: Any) -> Any:
    """What is done with the inbox of an app: `work` is given it, and the prefix of its methods."""
    if not app.is_async:
        with app._saver() as saver:
            return work(Inbox(saver), "")

    async def awork() -> Any:
        async with app._asaver() as saver:
            return await work(Inbox(saver), "a")

    return asyncio.run(awork())


def call(method: str, *args: Any, **named: Any) -> Any:
    return lambda inbox, prefix: getattr(inbox, prefix + method)(*args, **named)


def parts(unread: Any) -> Any:
    assert isinstance(unread, Unread)
    return unread.type_name.rpartition(".")[2], unread.fields


def test_a_question_that_cannot_be_read_hides_no_other(open_app):
    open_app(program()).invoke({}, on_thread("old"))
    open_app(plain()).invoke({}, on_thread("new"))
    deployed = open_app(program("form"))
    first, second = at_desk(deployed, call("open"))
    assert (first.thread_id, parts(first.value)) == ("old", ("Form", {"text": "sure?"}))
    assert "Form.title was not stored and has no default" in str(first.value.why)
    assert (second.thread_id, second.value) == ("new", "else?")
    assert at_desk(deployed, call("get", first.id)).thread_id == "old"


def test_a_thread_that_cannot_be_read_hides_no_other(open_app):
    open_app(program()).invoke({}, on_thread("old"))
    open_app(plain()).invoke({}, on_thread("new"))
    found = at_desk(open_app(program("both")), call("threads"))
    assert {one.thread_id: (one.status, one.questions) for one in found} == {"old": ("paused", 1), "new": ("paused", 1)}


@pytest.mark.parametrize("change", ["order", "form", "both"])
def test_the_state_and_its_history_are_shown_with_what_cannot_be_read(open_app, change):
    first, deployed = open_app(program()), open_app(program(change))
    first.invoke({})
    before = first.get_state()
    shown = deployed.get_state()
    assert shown.next == ("ask",)
    assert [question.id for question in shown.interrupts] == [question.id for question in before.interrupts]
    assert len(deployed.history()) == len(first.history()) == 3
    if change != "form":
        assert parts(shown.values["order"]) == ("Order", {"article": "lamp"})
        assert [type(item) for item in shown.values["items"]] == [Unread, str]
    if change != "order":
        assert parts(shown.interrupts[0].value) == ("Form", {"text": "sure?"})
    events = at_desk(deployed, call("history", "1"))
    assert [event.kind for event in events] == ["input", "ran", "asked"]


@pytest.mark.parametrize("change", ["order", "form", "both"])
def test_a_run_says_which_thread_and_key_and_goes_on_once_the_code_is_mended(open_app, change):
    first, deployed = open_app(program()), open_app(program(change))
    first.invoke({})
    before = first.get_state()
    with pytest.raises(Undecodable, match=r"Thread '1', .*: A stored .*(Order|Form) cannot be read.*has no default"):
        deployed.invoke(Command(resume="yes"))
    assert [one.id for one in open_app(program()).get_state().interrupts] == [one.id for one in before.interrupts]
    assert open_app(program()).invoke(Command(resume="yes"))["items"][-1] == "yes"


def test_a_run_says_which_nested_graph_has_what_cannot_be_read(open_app):
    def around(change: str = "") -> StateGraph:
        inner = program(change).compile()
        return StateGraph(inner.builder.state_schema).add_node("inner", inner).add_edge(START, "inner")

    open_app(around()).invoke({})
    with pytest.raises(Undecodable, match=r"^Thread '1', nested graph 'inner:.*', key '(order|items)': ") as refused:
        open_app(around("order")).invoke(Command(resume="yes"))
    assert refused.value.thread_id == "1"


@pytest.mark.parametrize("change", ["order", "form", "both"])
def test_an_answer_can_be_given_and_waits_until_the_code_is_mended(open_app, change):
    open_app(program()).invoke({})
    deployed = open_app(program(change))
    question = at_desk(deployed, call("open"))[0]
    at_desk(deployed, call("answer", question.id, "yes", by="ana"))
    with pytest.raises(Undecodable):
        deployed.invoke(None)
    assert open_app(program()).invoke(None)["items"][-1] == "yes"


def test_threads_that_can_be_read_go_on_beside_one_that_cannot(open_app):
    graph = program()
    for thread_id in ("old", "new"):
        open_app(graph).invoke({}, on_thread(thread_id))
    broken = open_app(program("order"))
    at_desk(broken, lambda inbox, prefix: answer_all(inbox, prefix))
    results = resumed(open_app(program("order")), return_exceptions=True)
    assert {id: type(result) for id, result in results.items()} == {"old": Undecodable, "new": Undecodable}
    assert {id: result["items"][-1] for id, result in resumed(open_app(program())).items()} == {"old": 1, "new": 1}


def answer_all(inbox: Inbox, prefix: str) -> Any:
    if not prefix:
        return [inbox.answer(one.id, 1, thread_id=one.thread_id) for one in inbox.open()]

    async def work() -> Any:
        return [await inbox.aanswer(one.id, 1, thread_id=one.thread_id) for one in await inbox.aopen()]

    return work()


def resumed(app: Any, **settings: Any) -> Any:
    if not app.is_async:
        with app._saver() as saver:
            return app.compile(saver).resume_answered(**settings)

    async def work() -> Any:
        async with app._asaver() as saver:
            return await app.compile(saver).aresume_answered(**settings)

    return asyncio.run(work())


def test_what_was_shown_in_place_of_a_value_is_not_stored(open_app):
    open_app(program()).invoke({})
    shown = open_app(program("order")).get_state().values["order"]
    with pytest.raises(NotStorable, match="stands for a .*Order that could not be read"):
        open_app(plain()).invoke({"items": [shown]}, on_thread("2"))


def tally(change: bool = False) -> StateGraph:
    """A program that adds up, before it asks and as it does."""
    if not change:

        @register
        @dataclass
        class Money:
            cents: int

            def __add__(self, other: Any) -> Any:
                return Money(self.cents + other.cents)
    else:

        @register
        @dataclass
        class Money:  # type: ignore[no-redef]
            cents: int
            currency: str

    class State(TypedDict, total=False):
        total: Annotated[Money, operator.add]

    def ask(state: Any) -> Any:
        interrupt("sure?", update={"total": Money(5)}, key="sure")

    graph = StateGraph(State).add_node("count", lambda state: {"total": Money(1)}).add_node(ask)
    graph = graph.add_node("beside", lambda state: {"total": Money(2)})
    return graph.add_edge(START, "count").add_edge("count", "ask").add_edge("count", "beside")


def test_a_value_that_a_reducer_cannot_take_unread_is_shown_as_it_was_stored_last(open_app):
    open_app(tally()).invoke({})
    shown = open_app(tally(change=True)).get_state()
    assert parts(shown.values["total"]) == ("Money", {"cents": 1})
    assert [question.value for question in shown.interrupts] == ["sure?"]
    assert len(open_app(tally(change=True)).history()) == 3
    open_app(tally()).invoke(Command(resume="yes"))
    assert open_app(tally()).get_state().values["total"].cents == 8


def test_a_cached_result_that_cannot_be_read_is_made_again():
    cache, runs = InMemoryCache(), []

    def cached(fields: dict[str, Any]) -> Any:
        namespace = {"__annotations__": dict.fromkeys(fields, int), "__module__": __name__}
        result = register(dataclass(type("Result", (), namespace)))
        state = type("State", (), {"__annotations__": {"result": result}, "__module__": __name__})

        def work(state: Any) -> Any:
            runs.append(result)
            return {"result": result(**fields)}

        graph = StateGraph(state).add_node("work", work, cache_policy=CachePolicy()).add_edge(START, "work")
        return graph.compile(cache=cache)

    cached({"a": 1}).invoke({})
    assert cached({"a": 1, "b": 2}).invoke({})["result"].b == 2
    assert cached({"a": 1, "b": 2}).invoke({})["result"].b == 2
    assert len(runs) == 2


@pytest.mark.parametrize("other", [7, "text", [1], {"a": 1}])
def test_what_is_no_result_in_a_cache_is_passed_over(other):
    runs: list[int] = []

    class State(TypedDict, total=False):
        runs: int

    def work(state: Any) -> Any:
        runs.append(1)
        return {"runs": len(runs)}

    graph = StateGraph(State).add_node("work", work, cache_policy=CachePolicy()).add_edge(START, "work")
    keys: list[Any] = []

    class Watched(InMemoryCache):
        def get(self, wanted: Any) -> Any:
            keys.extend(wanted)
            return super().get(wanted)

    cache = Watched()
    graph.compile(cache=cache).invoke({})
    cache.set({keys[0]: (other, None)})
    assert graph.compile(cache=cache).invoke({}) == {"runs": 2}
