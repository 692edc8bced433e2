"""Promise 1: no retry, error handler, cache or callback mistakes a pause for a failure."""

from langchain_core.callbacks import BaseCallbackHandler

from signoff.cache.memory import InMemoryCache
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


def test_a_pause_is_not_cached_and_the_answered_result_is(open_app):
    works, cache = Works(), InMemoryCache()
    graph = StateGraph(Log).add_node("one", works.asking("one"), cache_policy=CachePolicy()).add_edge(START, "one")
    app = open_app(graph, cache=cache)
    assert app.ask(NEW) == ["one"]
    assert app.ask(NEW, {"configurable": {"thread_id": "2"}}) == ["one"]
    app.invoke(Command(resume="yes"))
    assert app.invoke(NEW, {"configurable": {"thread_id": "3"}}) == {"log": ["one: yes"]}
    assert works.done == {"one": 3}


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
