"""Promises 1, 4 and 7, for what conditional edges do: they ask, call and catch as nodes do, and are as well guarded."""

import asyncio
import threading
from typing import Any, TypedDict

import pytest

from signoff.cache.memory import InMemoryCache
from signoff.errors import InvalidUpdateError, NodeTimeoutError, ReplayMismatch, SwallowedPause
from signoff.func import task
from signoff.graph import END, START, StateGraph
from signoff.types import CachePolicy, Command, RetryPolicy, interrupt

from .programs import NEW, Log, Works

AT_ONCE = RetryPolicy(initial_interval=0.0, jitter=False, retry_on=Exception)
PLACES = pytest.mark.parametrize("behind", [START, "order"])


def shop(path: Any, behind: str = "order", **order: Any) -> StateGraph:
    """A graph that pays if an edge says so: one behind a node, or behind START."""
    graph = StateGraph(Log).add_node("order", lambda state: {"log": ["ordered"]}, **order)
    graph.add_node("pay", lambda state: {"log": ["paid"]})
    if behind == START:
        return graph.add_conditional_edges(START, path, ["pay", END])
    return graph.add_edge(START, "order").add_conditional_edges("order", path, ["pay", END])


@PLACES
def test_a_pause_that_an_edge_eats_fails_the_run_and_names_the_node(open_app, behind):
    def path(state):
        try:
            return "pay" if interrupt("Pay?") else END
        except:  # noqa: E722
            return "pay"

    app = open_app(shop(path, behind))
    with pytest.raises(SwallowedPause, match=f"Node '{behind}' asked 'Pay\\?'"):
        app.invoke(NEW)
    assert "paid" not in app.get_state().values.get("log", [])


def test_an_edge_cannot_go_on_without_an_answer_that_was_not_handed_over(open_app):
    def changed(state):
        try:
            return "pay" if interrupt("Pay 900?") else END
        except Exception:
            return "pay"

    assert open_app(shop(lambda state: "pay" if interrupt("Pay 5?") else END)).ask(NEW) == ["Pay 5?"]
    app = open_app(shop(changed))
    with pytest.raises(ReplayMismatch, match="Pay 900"):
        app.invoke(Command(resume=False))
    assert [question.value for question in app.get_state().interrupts] == ["Pay 5?"]


@PLACES
def test_what_a_call_asks_that_an_edge_does_not_wait_for_is_asked(open_app, behind):
    works = Works()

    @task
    def confirm():
        return interrupt("Sure?")

    def path(state):
        works.done["path"] += 1
        confirm()
        return "pay"

    app = open_app(shop(path, behind))
    assert app.ask(NEW) == ["Sure?"]
    assert app.invoke(Command(resume="yes"))["log"][-1] == "paid"
    assert works.done == {"path": 2}


@PLACES
def test_a_run_waits_for_the_calls_of_an_edge(open_app, behind):
    works, gate = Works(), threading.Event()

    @task
    def late():
        gate.wait(10)
        works.done["late"] += 1

    def path(state):
        late()
        threading.Timer(0.05, gate.set).start()
        return END

    open_app(shop(path, behind)).invoke(NEW)
    assert works.done == {"late": 1}


def test_an_edge_that_fails_after_its_question_is_tried_again_as_before_it(open_app):
    tries = []

    def path(state):
        answer = interrupt("Pay?")
        tries.append(answer)
        if len(tries) < 3:
            raise LookupError("not yet")
        return "pay"

    app = open_app(shop(path, retry_policy=AT_ONCE))
    assert app.ask(NEW) == ["Pay?"]
    assert app.invoke(Command(resume="yes")) == {"log": ["ordered", "paid"]}
    assert tries == ["yes"] * 3


# Behind a graph that hands over


def handing() -> Any:
    """A nested graph that hands over to the graph around it."""
    inner = StateGraph(Log).add_node("hand", lambda state: Command(graph=Command.PARENT, update={"log": ["handed"]}))
    return inner.add_edge(START, "hand").compile()


def desk(path: Any, node: Any = None, **settings: Any) -> StateGraph:
    """A node that hands over, and an edge behind it."""
    graph = StateGraph(Log).add_node("desk", node or handing(), **settings).add_edge(START, "desk")
    graph.add_node("pay", lambda state: {"log": ["paid"]})
    return graph.add_conditional_edges("desk", path, ["pay", END])


def test_an_edge_behind_a_handoff_may_ask(open_app):
    app = open_app(desk(lambda state: interrupt("Pay?") and "pay"))
    assert app.ask(NEW) == ["Pay?"]
    assert app.invoke(Command(resume=True)) == {"log": ["handed", "paid"]}


def test_an_edge_behind_a_handoff_that_fails_is_tried_again_and_handled(open_app):
    tries = []

    def path(state):
        tries.append(1)
        raise LookupError("no way")

    def handle(state):
        return {"log": ["handled"]}

    assert open_app(desk(path, retry_policy=AT_ONCE, error_handler=handle)).invoke(NEW) == {"log": ["handled"]}
    assert len(tries) == AT_ONCE.max_attempts


def test_what_a_call_asks_beside_a_handoff_is_asked(open_app):
    inner, works = handing(), Works()

    @task
    def confirm():
        return interrupt("Sure?")

    @task
    def count():
        works.done["count"] += 1

    def node(state):
        confirm()
        count()
        inner.invoke(NEW)

    app = open_app(desk(lambda state: "pay", node))
    assert app.ask(NEW) == ["Sure?"]
    assert app.invoke(Command(resume=True)) == {"log": ["handed", "paid"]}
    assert works.done == {"count": 1}


def test_a_pause_that_is_eaten_before_a_handoff_fails_the_run(open_app):
    inner = handing()

    def node(state):
        try:
            interrupt("Sure?")
        except:  # noqa: E722
            inner.invoke(NEW)

    with pytest.raises(SwallowedPause, match="Node 'desk' asked 'Sure\\?'"):
        open_app(desk(lambda state: "pay", node)).invoke(NEW)


def test_an_edge_cannot_hand_over(open_app):
    inner = handing()
    with pytest.raises(InvalidUpdateError, match="edge of node 'order'.*Return the names"):
        open_app(shop(lambda state: inner.invoke(NEW))).invoke(NEW)


def test_a_call_may_hand_over_to_the_graph_that_its_node_belongs_to(open_app):
    inner = handing()

    @task
    def call():
        inner.invoke(NEW)

    def node(state):
        call().result()

    app = open_app(desk(lambda state: "pay", node))
    assert app.invoke(NEW) == {"log": ["handed", "paid"]}


# In time


@pytest.mark.parametrize("fails", [False, True])
def test_an_edge_has_as_much_time_as_its_node(open_async_app, fails):
    async def order(state):
        return {"log": ["ordered"]}

    async def path(state):
        await asyncio.sleep(30)

    async def handle(state):
        return {"log": ["handled"]}

    settings = {} if fails else {"error_handler": handle}
    graph = StateGraph(Log).add_node("order", order, timeout=0.05, **settings).add_edge(START, "order")
    app = open_async_app(graph.add_conditional_edges("order", path, [END]))
    if fails:
        with pytest.raises(NodeTimeoutError, match="order"):
            app.invoke(NEW)
    else:
        assert app.invoke(NEW) == {"log": ["handled"]}


@pytest.mark.parametrize("is_async", [False, True])
def test_an_edge_behind_a_node_with_a_timeout_may_ask(open_async_app, is_async):
    works = Works()

    async def order(state):
        works.done["order"] += 1
        return {"log": ["ordered"]}

    async def path(state):
        return "pay" if interrupt("Pay?") else END

    graph = StateGraph(Log).add_node("order", order, timeout=30).add_edge(START, "order")
    graph.add_node("pay", lambda state: {"log": ["paid"]})
    edge = path if is_async else lambda state: "pay" if interrupt("Pay?") else END
    app = open_async_app(graph.add_conditional_edges("order", edge, ["pay", END]))
    assert app.ask(NEW) == ["Pay?"]
    assert app.invoke(Command(resume=True)) == {"log": ["ordered", "paid"]}
    assert works.done == {"order": 1}


# What the edges see and follow, where their node need not run


class Order(TypedDict, total=False):
    url: str
    amount: int
    page: str
    paid: bool


class Url(TypedDict):
    url: str


def fetching(write: Any, path: Any, ends: list[str], **fetch: Any) -> StateGraph:
    """A graph with a node that reads less than it writes."""
    graph = StateGraph(Order).add_node("fetch", write, input_schema=Url, **fetch).add_edge(START, "fetch")
    for name in ends:
        graph.add_node(name, lambda state, name=name: {"paid": name == "pay"})
    return graph.add_conditional_edges("fetch", path, [*ends, END])


@pytest.mark.parametrize("is_command", [False, True])
def test_an_edge_sees_after_the_answer_what_it_saw_before(open_app, is_command):
    seen = []

    def write(state):
        update = {"page": f"page {state['url']}"}
        return Command(update=update) if is_command else update

    def path(state):
        seen.append(state)
        return "pay" if interrupt(f"Pay {state['page']}?") else END

    app = open_app(fetching(write, path, ["pay"]))
    assert app.ask({"url": "u"}) == ["Pay page u?"]
    assert app.invoke(Command(resume=True))["paid"] is True
    assert seen == [{"page": "page u", "url": "u"}] * 2


ONE, OTHER = ({"configurable": {"thread_id": thread_id}} for thread_id in "12")


def test_the_edges_of_a_cached_node_are_asked_for_each_thread(open_app):
    works = Works()

    def write(state):
        works.done["write"] += 1
        return {"page": "page"}

    def path(state):
        return "pay" if state["amount"] < 100 or interrupt(f"Pay {state['amount']}?") else END

    # All of the state is for the edge: the cache goes by what the node itself reads.
    cached = CachePolicy(key_func=lambda state: state["url"])
    graph = StateGraph(Order).add_node("fetch", write, cache_policy=cached).add_edge(START, "fetch")
    graph.add_node("pay", lambda state: {"paid": True}).add_conditional_edges("fetch", path, ["pay", END])
    app = open_app(graph, cache=InMemoryCache())
    assert app.invoke({"url": "u", "amount": 5}, ONE)["paid"] is True
    assert app.ask({"url": "u", "amount": 900}, OTHER) == ["Pay 900?"]
    assert "paid" not in app.invoke(Command(resume=False), OTHER)
    assert works.done == {"write": 1}


def test_a_cached_node_leads_where_its_edges_lead_now(open_app):
    def write(state):
        return {"page": "page"}

    cache, cached = InMemoryCache(), {"cache_policy": CachePolicy()}
    first = open_app(fetching(write, lambda state: "pay", ["pay"], **cached), cache=cache)
    assert first.invoke({"url": "u"}, ONE)["paid"] is True
    then = open_app(fetching(write, lambda state: "refuse", ["refuse"], **cached), cache=cache)
    assert then.invoke({"url": "u"}, OTHER)["paid"] is False
    last = StateGraph(Order).add_node("fetch", write, input_schema=Url, **cached).add_edge(START, "fetch")
    assert open_app(last, cache=cache).invoke({"url": "u"}, {"configurable": {"thread_id": "3"}}) == {
        "url": "u",
        "page": "page",
    }


def test_a_cached_node_with_edges_is_shown_as_cached(open_app):
    def write(state):
        return {"page": "page"}

    app = open_app(fetching(write, lambda state: END, [], cache_policy=CachePolicy()), cache=InMemoryCache())
    app.invoke({"url": "u"}, ONE)
    shown = {"fetch": {"page": "page"}, "__metadata__": {"cached": True}}
    assert app.stream({"url": "u"}, OTHER, stream_mode="updates") == [shown]
