"""Promise 1: no retry, error handler, cache or callback mistakes a pause for a failure."""

import contextlib

import pytest
from langchain_core.callbacks import BaseCallbackHandler

from signoff.cache.memory import InMemoryCache
from signoff.errors import SwallowedPause
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import CachePolicy, Command, RetryPolicy, interrupt

from .programs import NEW, Log, Works, asking, beside
from .test_never_swallowed import goes_on

AT_ONCE = RetryPolicy(initial_interval=0.0, jitter=False, retry_on=Exception)


def test_a_pause_is_not_tried_again(open_app):
    works = Works()
    graph = StateGraph(Log).add_node("one", works.asking("one"), retry_policy=AT_ONCE).add_edge(START, "one")
    app = open_app(graph)
    assert app.ask(NEW) == ["one"]
    assert works.done == {"one": 1}
    assert app.invoke(Command(resume="yes")) == {"log": ["one: yes"]}
    assert works.done == {"one": 2}


def test_a_failure_before_the_question_is_tried_again_until_it_asks(open_app):
    tries = []

    def ask(state):
        tries.append(1)
        if len(tries) < 3:
            raise LookupError("not yet")
        return {"log": [interrupt("sure?")]}

    goes_on(open_app(StateGraph(Log).add_node("ask", ask, retry_policy=AT_ONCE).add_edge(START, "ask")))
    assert len(tries) == 4


def test_a_failure_after_the_answer_is_tried_again_with_the_answer(open_app):
    tries = []

    def ask(state):
        answer = interrupt("sure?")
        tries.append(answer)
        if len(tries) < 3:
            raise LookupError("not yet")
        return {"log": [answer]}

    goes_on(open_app(StateGraph(Log).add_node("ask", ask, retry_policy=AT_ONCE).add_edge(START, "ask")))
    assert tries == ["yes"] * 3


def test_an_error_handler_does_not_hear_of_a_pause(open_app):
    handled = []
    graph = StateGraph(Log).add_node("ask", asking(), error_handler=lambda state, error: handled.append(error))
    goes_on(open_app(graph.add_edge(START, "ask")))
    assert handled == []


def test_an_error_handler_may_ask(open_app):
    def fail(state):
        raise LookupError("broken")

    def handle(state):
        return {"log": [interrupt("sure?")]}

    graph = StateGraph(Log).add_node("fail", fail, error_handler=handle).add_edge(START, "fail")
    goes_on(open_app(graph))


def eating(state):
    try:
        return {"log": [interrupt("sure?")]}
    except BaseException:
        return {"log": ["eaten"]}


def turning(state):
    try:
        return {"log": [interrupt("sure?")]}
    except BaseException as pause:
        raise LookupError("broken") from pause


def forgetting(state):
    with contextlib.suppress(BaseException):
        interrupt("sure?")
    raise LookupError("broken")


def failing_on_the_way_out(state):
    try:
        return {"log": [interrupt("sure?")]}
    finally:
        raise LookupError("broken")


@pytest.mark.parametrize("node", [eating, turning, forgetting, failing_on_the_way_out])
def test_a_swallowed_pause_is_neither_tried_again_nor_handled(open_app, node):
    tries, handled = [], []

    def ask(state):
        tries.append(1)
        return node(state)

    def handle(state, error):
        handled.append(error)

    graph = StateGraph(Log).add_node("ask", ask, retry_policy=AT_ONCE, error_handler=handle).add_edge(START, "ask")
    app = open_app(graph)
    with pytest.raises(SwallowedPause, match="Node 'ask' asked 'sure\\?'") as caught:
        app.invoke(NEW)
    assert (len(tries), handled) == (1, [])
    assert ("LookupError('broken')" in str(caught.value)) is (node is not eating)
    assert app.get_state().next == ("ask",)


def test_failures_that_come_of_each_other_beside_a_question_end(open_app):
    @task
    def approve():
        return interrupt("sure?")

    def work(state):
        approve()
        one, other = LookupError("one"), LookupError("other")
        one.__cause__, other.__cause__ = other, one
        raise one

    app = open_app(StateGraph(Log).add_node("work", work).add_edge(START, "work"))
    with pytest.raises(LookupError, match="one"):
        app.invoke(NEW)
    assert app.questions() == ["sure?"]


def test_the_pause_of_a_call_that_is_turned_into_a_failure_pauses(open_app):
    @task
    def approve():
        return interrupt("sure?")

    def work(state):
        try:
            return {"log": [approve().result()]}
        except BaseException as pause:
            raise LookupError("broken") from pause

    def handle(state):
        return {"log": ["handled"]}

    goes_on(open_app(StateGraph(Log).add_node("work", work, error_handler=handle).add_edge(START, "work")))


ONE, OTHER = ({"configurable": {"thread_id": thread_id}} for thread_id in "12")


def test_neither_a_pause_is_cached_nor_what_rests_on_an_answer(open_app):
    works, cache = Works(), InMemoryCache()
    graph = StateGraph(Log).add_node("one", works.asking("one"), cache_policy=CachePolicy()).add_edge(START, "one")
    app = open_app(graph, cache=cache)
    assert app.ask(NEW) == ["one"]
    assert app.invoke(Command(resume="yes")) == {"log": ["one: yes"]}
    assert app.ask(NEW, OTHER) == ["one"]
    assert app.invoke(Command(resume="no"), OTHER) == {"log": ["one: no"]}


def test_a_call_or_a_nested_graph_that_has_asked_is_not_cached(open_app):
    @task(cache_policy=CachePolicy())
    def approve(what):
        return interrupt(what)

    def work(state):
        return {"log": [approve("call").result()]}

    nested = StateGraph(Log).add_node("ask", asking("nested")).add_edge(START, "ask").compile()
    graph = StateGraph(Log).add_node(work).add_node("nested", nested, cache_policy=CachePolicy())
    app = open_app(graph.add_edge(START, "work").add_edge("work", "nested"), cache=InMemoryCache())
    for config, answer in (ONE, "yes"), (OTHER, "no"):
        assert app.ask(NEW, config) == ["call"]
        assert app.ask(Command(resume="yes"), config) == ["nested"]
        assert app.invoke(Command(resume=answer), config)["log"][-1] == answer


def test_what_a_cache_has_given_beside_a_pause_is_stored_with_it(open_app):
    works, cache = Works(), InMemoryCache()

    def ask(state):
        return {"log": [interrupt("sure?")] if state["log"] else []}

    policy = CachePolicy(key_func=lambda state: "all the same")
    graph = StateGraph(Log).add_node("one", works.node("one"), cache_policy=policy).add_node(ask)
    app = open_app(graph.add_edge(START, "one").add_edge(START, "ask"), cache=cache)
    app.invoke(NEW, ONE)
    assert app.ask({"log": ["new"]}, OTHER) == ["sure?"]
    cache.clear()
    assert app.invoke(Command(resume="yes"), OTHER) == {"log": ["new", "yes", "one"]}
    assert works.done == {"one": 1}


def test_what_a_cache_gives_later_beside_a_question_is_stored_too(open_app):
    works, cache, broken = Works(), InMemoryCache(), [True]

    def one(state):
        if broken:
            raise LookupError("not yet")
        return works.node("one")(state)

    def ask(state):
        return {"log": [interrupt("sure?")] if state["log"] else []}

    policy = CachePolicy(key_func=lambda state: "all the same")
    graph = StateGraph(Log).add_node("one", one, cache_policy=policy).add_node(ask)
    app = open_app(graph.add_edge(START, "one").add_edge(START, "ask"), cache=cache)
    with pytest.raises(LookupError):
        app.invoke({"log": ["new"]}, OTHER)
    broken.clear()
    app.invoke(NEW, ONE)
    assert app.ask(None, OTHER) == ["sure?"]
    cache.clear()
    assert app.invoke(Command(resume="yes"), OTHER) == {"log": ["new", "yes", "one"]}
    assert works.done == {"one": 1}


def test_callbacks_do_not_hear_of_an_error(open_app):
    heard = []

    class Handler(BaseCallbackHandler):
        def on_chain_error(self, error, **kwargs):
            heard.append(error)

    app = open_app(beside(ask=asking()))
    config = {"configurable": {"thread_id": "1"}, "callbacks": [Handler()]}
    assert app.ask(NEW, config) == ["sure?"]
    assert app.invoke(Command(resume="yes"), config) == {"log": ["yes"]}
    assert heard == []


def test_what_an_error_handler_writes_counts_beside_what_had_finished_before(open_app):
    def pay(state):
        raise LookupError(interrupt("Pay?"))

    graph = StateGraph(Log).add_node("pay", pay, error_handler=lambda state: {"log": ["handled"]})
    graph.add_node("work", Works().node("work")).add_edge(START, "pay").add_edge(START, "work")
    app = open_app(graph)
    app.invoke(NEW)
    assert app.invoke(Command(resume="no"))["log"] == ["handled", "work"]
