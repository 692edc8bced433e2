"""What a node changes in place, and does not return, is gone when it is asked again: it is given what it was given."""

from typing import Any

import pytest

from signoff.cache.memory import InMemoryCache
from signoff.func import entrypoint
from signoff.graph import START, StateGraph
from signoff.types import CachePolicy, Command, RetryPolicy, Send, interrupt

from .programs import NEW, Log, beside


class Todo(Log, total=False):
    todo: list[str]


def work(given: Any) -> dict[str, Any]:
    item = given["todo"].pop()
    return {"log": [f"{item} {interrupt(f'do {item}?')}"]}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("pause", ["step", "branch"])
@pytest.mark.parametrize("is_sent", [False, True], ids=["by an edge", "by a Send"])
def test_what_is_approved_is_what_is_done(open_app, is_sent, pause, durability):
    given = {"todo": ["a", "b"]}
    graph = StateGraph(Todo).add_node("work", work)
    if is_sent:
        graph.add_node("send", lambda state: Command(goto=[Send("work", given), "other"])).add_edge(START, "send")
    else:
        graph.add_edge(START, "work").add_edge(START, "other")
    graph.add_node("other", lambda state: {"log": ["other"]}).add_node("last", lambda state: {"log": ["last"]})
    app = open_app(graph.add_edge("other", "last"), pause=pause)
    assert app.ask({"log": [], **given}, durability=durability) == ["do b?"]
    assert "b yes" in app.invoke(Command(resume="yes"), durability=durability)["log"]


class Cart(Log, total=False):
    cart: dict[str, Any]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("pause", ["step", "branch"])
def test_so_it_is_with_what_is_deeper_in_it(open_app, pause, durability):
    def buy(state):
        item = state["cart"]["items"].pop()
        interrupt(f"buy {item}?")
        return {"log": [item]}

    app = open_app(StateGraph(Cart).add_node(buy).add_edge(START, "buy"), pause=pause)
    assert app.ask({"cart": {"items": ["a", "b"]}}, durability=durability) == ["buy b?"]
    assert app.invoke(Command(resume=1), durability=durability)["log"] == ["b"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_so_it_is_with_what_a_nested_graph_has_returned(open_app, durability):
    inner = StateGraph(Todo).add_node("list", lambda state: {"todo": ["a", "b"]}).add_edge(START, "list").compile()

    def buy(state):
        item = inner.invoke({"log": []})["todo"].pop()
        interrupt(f"buy {item}?")
        return {"log": [item]}

    app = open_app(StateGraph(Log).add_node(buy).add_edge(START, "buy"))
    assert app.ask(NEW, durability=durability) == ["buy b?"]
    assert app.invoke(Command(resume=1), durability=durability) == {"log": ["b"]}


@pytest.mark.parametrize("is_cached", [False, True])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("behind", ["plan", "silent", START])
def test_an_edge_takes_nothing_away(open_app, behind, durability, is_cached):
    def route(state):
        item = state["todo"].pop()
        interrupt(f"go to {item}?")
        return item

    graph = StateGraph(Todo).add_node("a", lambda state: {"log": ["a"]}).add_node("b", lambda state: {"log": ["b"]})
    if behind != START:
        cache_policy = CachePolicy() if is_cached else None
        node = (lambda state: None) if behind == "silent" else lambda state: {"todo": ["a", "b"]}
        graph.add_node(behind, node, cache_policy=cache_policy).add_edge(START, behind)
    app = open_app(graph.add_conditional_edges(behind, route, ["a", "b"]), cache=InMemoryCache())
    for number in range(2):
        config = {"configurable": {"thread_id": f"{number}"}}
        assert app.ask({"todo": ["a", "b"]}, config, durability=durability) == ["go to b?"]
        assert app.invoke(Command(resume=1), config, durability=durability)["log"] == ["b"]


def test_an_edge_that_is_tried_again_sees_what_it_saw_first(open_app):
    seen = []

    def route(state):
        seen.append([*state["todo"]])
        item = state["todo"].pop()
        if len(seen) < 3:
            raise ConnectionError("away")
        return item

    policy = RetryPolicy(initial_interval=0.0, jitter=False)
    graph = StateGraph(Todo).add_node("plan", lambda state: None, retry_policy=policy).add_edge(START, "plan")
    graph.add_node("a", lambda state: {"log": ["a"]}).add_node("b", lambda state: {"log": ["b"]})
    app = open_app(graph.add_conditional_edges("plan", route, ["a", "b"]))
    assert app.invoke({"log": [], "todo": ["a", "b"]})["log"] == ["b"]
    assert seen == [["a", "b"]] * 3


# Answers


def taking(question: str) -> Any:
    """A node that takes the amount out of its answer."""

    def take(state):
        return {"log": [interrupt(question).pop("amount", "gone")]}

    return take


def test_one_answer_to_several_questions_reaches_each(open_app):
    app = open_app(beside(a=taking("a?"), b=taking("b?")))
    app.invoke(NEW)
    given = {"amount": 5}
    assert app.invoke(Command(resume=dict.fromkeys(app.ids().values(), given)))["log"] == [5, 5]
    assert given == {"amount": 5}


def test_an_answer_is_there_again_for_the_next_try(open_app):
    tries = []

    def take(state):
        tries.append(taking("a?")(state))
        if len(tries) < 3:
            raise ConnectionError("away")
        return tries[-1]

    policy = RetryPolicy(initial_interval=0.0, jitter=False)
    app = open_app(StateGraph(Log).add_node("take", take, retry_policy=policy).add_edge(START, "take"))
    app.invoke(NEW)
    assert app.invoke(Command(resume={"amount": 5})) == {"log": [5]}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("pause", ["step", "branch"])
def test_an_answer_is_there_again_for_the_next_question(open_app, pause, durability):
    def take(state):
        taken = taking("how much?")(state)
        interrupt("sure?")
        return taken

    graph = beside(take=take, other=lambda state: {"log": [interrupt("m?")]})
    app = open_app(graph.add_node("last", lambda state: {"log": ["last"]}).add_edge("other", "last"), pause=pause)
    app.invoke(NEW, durability=durability)
    ids = app.ids()
    app.invoke(Command(resume={ids["how much?"]: {"amount": 5}, ids["m?"]: "m"}), durability=durability)
    assert 5 in app.invoke(Command(resume="yes"), durability=durability)["log"]


def test_an_entrypoint_has_its_previous_result_for_each_try(open_app):
    def program(saver):
        policy = RetryPolicy(initial_interval=0.0, jitter=False)

        @entrypoint(checkpointer=saver, retry_policy=policy)
        def flow(number, *, previous=None):
            numbers = previous or []
            numbers.append(number)
            if number == 2 and not failed:
                failed.append(1)
                raise ConnectionError("away")
            return numbers

        return flow

    failed = []
    app = open_app(program)
    assert (app.invoke(1), app.invoke(2)) == ([1], [1, 2])


def test_a_join_that_the_start_leads_to_is_compiled_with_branches_that_pause(open_app):
    graph = beside().add_node("a", lambda state: {"log": ["a"]}).add_node("b", lambda state: {"log": ["b"]})
    graph.add_conditional_edges(START, lambda state: "a", ["a"]).add_edge([START, "a"], "b")
    assert open_app(graph, pause="branch").invoke(NEW) == {"log": ["a", "b"]}
