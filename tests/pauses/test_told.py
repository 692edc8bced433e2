"""Promise 5: what a node tells the state as it asks is saved with the pause."""

import asyncio
import operator
from itertools import count
from typing import Annotated, TypedDict

import pytest

from signoff.errors import InvalidInput, InvalidUpdateError
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

from .programs import NEW, Works, asking, beside


class Order(TypedDict, total=False):
    status: str
    log: Annotated[list, operator.add]


def graph(**nodes):
    described = StateGraph(Order).add_sequence(list(nodes.items()))
    return described.add_edge(START, next(iter(nodes)))


def pay(state):
    answer = interrupt("pay?", update={"status": "awaiting payment", "log": ["asked"]})
    return {"status": "paid" if answer else "refused", "log": ["answered"]}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_a_node_tells_as_it_asks_is_in_the_state(open_app, durability):
    app = open_app(graph(pay=pay))
    result = app.invoke({"status": "new", "log": []}, durability=durability)
    assert (result["status"], result["log"]) == ("awaiting payment", ["asked"])
    state = app.get_state()
    assert state.values == {"status": "awaiting payment", "log": ["asked"]}
    assert state.next == ("pay",)


def test_it_is_told_once_however_often_the_node_runs(open_app):
    app = open_app(graph(pay=pay))
    app.invoke({"log": []})
    assert app.ask(None) == ["pay?"]
    assert app.invoke(Command(resume=True)) == {"status": "paid", "log": ["asked", "answered"]}


def test_a_branch_of_the_past_in_which_it_is_asked_again_is_told_once_too(open_app):
    app = open_app(graph(pay=pay))
    app.invoke({"log": ["new"]})
    paused = app.get_state().config
    app.invoke(Command(resume=False))
    app.invoke(None, paused)
    assert app.get_state().values["log"] == ["new", "asked"]
    assert app.invoke(Command(resume=True)) == {"status": "paid", "log": ["new", "asked", "answered"]}


def test_so_is_a_branch_of_a_nested_graph(open_app):
    inner = graph(pay=pay).compile()
    app = open_app(graph(inner=inner))
    app.invoke({"log": ["new"]})
    paused = app.get_state(subgraphs=True).tasks[0].state.config
    app.invoke(Command(resume=False))
    app.invoke(None, paused)
    assert app.get_state(subgraphs=True).tasks[0].state.values["log"] == ["new", "asked"]


@pytest.mark.parametrize("is_answered", [True, False])
def test_new_input_at_an_old_pause_comes_on_top_of_what_was_told_there(open_app, is_answered):
    app = open_app(graph(pay=pay))
    app.invoke({"log": ["new"]})
    paused = app.get_state().config
    if is_answered:
        app.invoke(Command(resume=False))
    else:
        app.update_state({"status": "told"})
    assert app.invoke({"log": ["again"]}, paused)["log"] == ["new", "asked", "again", "asked"]


def test_each_question_tells_its_own(open_app):
    def ask(state):
        first = interrupt("one?", update={"status": "first", "log": ["one"]})
        second = interrupt("two?", update={"status": "second", "log": ["two"]})
        return {"log": [first, second]}

    app = open_app(graph(ask=ask))
    app.invoke({"log": []})
    assert app.get_state().values == {"status": "first", "log": ["one"]}
    app.invoke(Command(resume="a"))
    assert app.get_state().values == {"status": "second", "log": ["one", "two"]}
    assert app.invoke(Command(resume="b")) == {"status": "second", "log": ["one", "two", "a", "b"]}


def test_the_node_sees_what_it_told_when_it_goes_on(open_app):
    seen = []

    def ask(state):
        seen.append(state.get("status"))
        return {"log": [interrupt("sure?", update={"status": "asked"})]}

    app = open_app(graph(ask=ask))
    app.invoke({"log": []})
    app.invoke(Command(resume="yes"))
    assert seen[0] is None
    assert app.get_state().values["status"] == "asked"


def test_a_nested_graph_tells_its_own_state(open_app):
    inner = graph(pay=pay).compile()
    app = open_app(graph(inner=inner))
    app.invoke({"log": []})
    inside = app.get_state(subgraphs=True).tasks[0].state
    assert inside.values["status"] == "awaiting payment"
    assert app.invoke(Command(resume=True)) == {"status": "paid", "log": ["asked", "answered"]}


def test_a_call_inside_of_a_node_tells_the_state_of_its_graph(open_app):
    @task
    def confirm():
        return interrupt("sure?", update={"status": "asked", "log": ["told"]})

    def ask(state):
        return {"log": [confirm().result()]}

    app = open_app(graph(ask=ask))
    app.invoke({"log": []})
    assert app.get_state().values == {"status": "asked", "log": ["told"]}
    assert app.invoke(Command(resume="yes")) == {"status": "asked", "log": ["told", "yes"]}


def test_sends_tell_in_order(open_app):
    described = StateGraph(Order)
    described.add_node("each", lambda n: {"log": [interrupt(n, update={"log": [f"asked {n}"]})]})
    described.add_conditional_edges(START, lambda state: [Send("each", n) for n in range(3)], ["each"])
    app = open_app(described)
    app.invoke({"log": []})
    assert app.get_state().values["log"] == ["asked 0", "asked 1", "asked 2"]
    ids = app.ids()
    app.invoke(Command(resume={ids[1]: "b"}))
    assert app.get_state().values["log"][:3] == ["asked 0", "asked 1", "asked 2"]
    result = app.invoke(Command(resume={ids[0]: "a", ids[2]: "c"}))
    assert result["log"] == ["asked 0", "asked 1", "asked 2", "a", "b", "c"]


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_calls_of_a_node_tell_in_the_order_in_which_they_were_made(open_app, pause):
    names = ["zoe", "ana", "moe", "bob", "eve"]

    @task
    def ask(name):
        return interrupt(name, update={"log": [name]})

    def ask_all(state):
        return {"log": [[call.result() for call in [ask(name) for name in names]]]}

    described = graph(ask_all=ask_all).add_node("beside", lambda state: None).add_edge(START, "beside")
    app = open_app(described, pause=pause)
    assert app.invoke({"log": []})["log"] == names
    assert app.get_state().values["log"] == names
    answers = {question.id: question.value.upper() for question in app.get_state().interrupts}
    assert app.invoke(Command(resume=answers))["log"] == [*names, [name.upper() for name in names]]


def test_what_one_of_several_coroutines_has_told_is_told_once_though_it_asks_again(open_async_app):
    async def ask(name):
        return interrupt(name, update={"log": [name]})

    async def ask_all(state):
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(ask(name)) for name in ("ana", "bob")]
        return {"log": [[one.result() for one in asked]]}

    app = open_async_app(graph(ask_all=ask_all))
    told = app.invoke({"log": []})["log"]
    assert sorted(told) == ["ana", "bob"]
    ids = app.ids()
    assert app.invoke(Command(resume={ids["ana"]: 1}))["log"] == told
    assert app.invoke(Command(resume={ids["bob"]: 2}))["log"] == [*told, [1, 2]]


def test_it_survives_a_caller_who_updates_beside_the_answer(open_app):
    app = open_app(graph(pay=pay))
    app.invoke({"log": []})
    result = app.invoke(Command(resume=True, update={"log": ["caller"]}))
    assert result["log"] == ["asked", "caller", "answered"]


def test_what_nodes_and_callers_tell_while_waiting_is_kept_in_the_order_in_which_it_came(open_app):
    def ask(name):
        def node(state):
            first = interrupt(f"{name}1?", update={"log": [f"{name}1"]})
            return {"log": [first + interrupt(f"{name}2?", update={"log": [f"{name}2"]})]}

        return node

    described = StateGraph(Order).add_node("a", ask("a")).add_node("b", ask("b"))
    app = open_app(described.add_edge(START, "a").add_edge(START, "b"))
    told = ["a1", "b1", "one", "two", "b2", "a2", "three"]

    def is_kept(count, command):
        return app.invoke(command)["log"] == app.get_state().values["log"] == told[:count]

    def answer(question, **more):
        ids = {one.value: one.id for one in app.get_state().interrupts}
        return Command(resume={ids[question]: question}, **more)

    assert is_kept(2, {"log": []})
    assert is_kept(3, Command(update={"log": ["one"]}))
    assert is_kept(5, answer("b1?", update={"log": ["two"]}))
    assert is_kept(6, answer("a1?"))
    assert is_kept(7, Command(update={"log": ["three"]}))
    app.invoke(answer("a2?"))
    assert app.invoke(answer("b2?"))["log"] == [*told, "a1?a2?", "b1?b2?"]


def test_the_next_nodes_see_it(open_app):
    works = Works()

    def look(state):
        works.done[state["status"]] += 1

    def ask(state):
        interrupt("sure?", update={"status": "asked"})

    app = open_app(graph(ask=ask, look=look))
    app.invoke({"log": []})
    app.invoke(Command(resume="yes"))
    assert works.done == {"asked": 1}


def test_a_wrong_update_is_refused_at_the_call(open_app):
    app = open_app(graph(ask=lambda state: interrupt("sure?", update={"staus": "asked"})))
    with pytest.raises(InvalidUpdateError, match="'staus'.*Did you mean 'status'"):
        app.invoke({"log": []})
    assert app.questions() == []


def test_an_entrypoint_has_no_state_to_tell(open_app):
    def program(saver):
        @entrypoint(checkpointer=saver)
        def flow(text):
            return interrupt("sure?", update={"status": "asked"})

        return flow

    with pytest.raises(InvalidInput, match="an @entrypoint has none"):
        open_app(program).invoke("x")


def test_the_metadata_of_a_pause_say_so_and_list_the_questions(open_app):
    app = open_app(graph(work=Works().node("work"), pay=pay))
    app.invoke({"log": []})
    state = app.get_state()
    assert state.metadata["paused"] is True
    assert state.metadata["questions"] == [question.id for question in state.interrupts]
    app.invoke(Command(resume=True))
    assert "paused" not in app.get_state().metadata


@task
def confirm(number):
    return interrupt(f"pay {number}?", update={"log": ["asked"]})


@task
def confirm_for_another(number):
    return confirm(number).result()


def pay_by_call(state):
    confirm_for_another(1).result()
    return {"log": ["answered"]}


BY_ITSELF_OR_BY_CALL = pytest.mark.parametrize("node", [pay, pay_by_call], ids=["by itself", "by a call"])


def around(ask):
    """A graph with a node before one that asks, and another one beside that."""
    described = StateGraph(Order).add_node("ask", ask)
    for name in ("before", "beside"):
        described.add_node(name, Works().node(name))
    return described.add_edge(START, "before").add_edge("before", "ask").add_edge("before", "beside")


def first_pause(app):
    return next(one for one in app.history() if "ask" in one.next)


@BY_ITSELF_OR_BY_CALL
@pytest.mark.parametrize("pause", ["step", "branch"])
def test_what_is_asked_again_after_an_update_of_an_old_pause_is_told_once(open_app, pause, node):
    app = open_app(around(node), pause=pause)
    app.invoke({"log": []})
    app.invoke(Command(resume=True))
    app.update_state({"log": ["by hand"]}, as_node="before", config=first_pause(app).config)
    app.invoke(None)
    app.invoke(Command(resume=True))
    assert sorted(app.get_state().values["log"]) == ["answered", "asked", "before", "beside", "by hand"]


@pytest.mark.parametrize("key", [None, "sure"])
@pytest.mark.parametrize("first", [interrupt, task(interrupt)], ids=["by itself", "by a call"])
def test_what_a_node_told_stays_if_a_person_stands_in_for_it_at_an_old_pause(open_app, first, key):
    def ask(state):
        asked = first("sure?", key=key, update={"log": ["asked"]})
        if first is not interrupt:
            asked.result()
        return {"log": [interrupt("really?", update={"log": ["asked again"]})]}

    app = open_app(around(ask))
    app.invoke({"log": []})
    for _ in range(2):
        app.invoke(Command(resume=True))
    app.update_state({"log": ["by hand"]}, as_node="ask", config=first_pause(app).config)
    assert app.get_state().values["log"] == ["before", "asked", "asked again", "by hand"]


@task
def ask_twice():
    return [interrupt(word, update={"log": [word]}) for word in ("one", "two")]


@pytest.mark.parametrize("by", ["itself", "a call", "two calls"])
def test_a_task_that_waits_tells_what_it_asks_next_too(open_app, by):
    def ask(state):
        if by == "two calls":
            return {"log": [task(interrupt)(word, update={"log": [word]}).result() for word in ("one", "two")]}
        return {"log": ask_twice.func() if by == "itself" else ask_twice().result()}

    app = open_app(around(ask).add_node("last", Works().node("last")).add_edge("beside", "last"), pause="branch")
    app.invoke({"log": []})
    assert app.invoke(Command(resume=1))["log"] == ["before", "one", "beside", "last", "two"]
    assert app.invoke(Command(resume=2))["log"] == ["before", "one", "beside", "last", "two", 1, 2]


@BY_ITSELF_OR_BY_CALL
@pytest.mark.parametrize("how", ["replay", "update"])
def test_a_task_that_waits_tells_once_though_the_thread_goes_back_to_where_it_had_told(open_app, how, node):
    app = open_app(around(node).add_node("last", Works().node("last")).add_edge("beside", "last"), pause="branch")
    app.invoke({"log": []})
    for _ in range(2):
        old = next(one for one in reversed(app.history()) if one.next == ("ask", "last"))
        if how == "update":
            app.update_state({"log": []}, as_node="beside", config=old.config)
        app.invoke(None, *([old.config] if how == "replay" else []))
        assert app.get_state().values["log"] == ["before", "asked", "beside", "last"]
    app.invoke(Command(resume=True))
    assert app.get_state().values["log"] == ["before", "asked", "beside", "last", "answered"]


@pytest.mark.parametrize(("node", "is_answered"), [(pay, True), (pay_by_call, False)])
def test_so_does_one_that_had_told_in_a_run_before_the_others_went_on(open_app, is_answered, node):
    def ask(state):
        node(state)
        return {"log": [interrupt("really?")]}

    def beside(state):
        return {"log": [interrupt("beside?")]}

    described = StateGraph(Order).add_node("ask", ask).add_node("beside", beside).add_node("last", Works().node("last"))
    described.add_edge(START, "ask").add_edge(START, "beside").add_edge("beside", "last")
    app = open_app(described, pause="branch")
    first, other = app.ask({"log": []})
    if is_answered:
        app.invoke(Command(resume={app.ids()[first]: True}))
    app.invoke(Command(resume={app.ids()[other]: "beside"}))
    old = next(one for one in app.history() if one.next == ("ask", "last"))
    app.invoke(None, old.config)
    assert app.get_state().values["log"] == ["asked", "beside", "last"]
    app.invoke(Command(resume=True))
    assert app.invoke(Command(resume="yes"))["log"] == ["asked", "beside", "last", "yes"]


def test_so_does_a_call_in_it_that_is_given_something_else_each_time(open_app):
    now = count(1)

    def pay_now(state):
        confirm_for_another(next(now)).result()
        return {"log": ["answered"]}

    app = open_app(around(pay_now).add_node("last", Works().node("last")).add_edge("beside", "last"), pause="branch")
    app.invoke({"log": []})
    for _ in range(2):
        old = next(one for one in reversed(app.history()) if one.next == ("ask", "last"))
        assert app.ask(None, old.config) == [f"pay {next(now) - 1}?"]
        assert app.get_state().values["log"] == ["before", "asked", "beside", "last"]


def test_a_call_in_a_task_that_waits_tells_what_it_asks_on_a_state_that_a_person_has_changed(open_app):
    @task
    def confirm(count):
        return interrupt(f"keep {count}?", update={"log": [f"asked about {count}"]})

    def keep(state):
        return {"log": [confirm(len(state["log"])).result()]}

    app = open_app(around(keep).add_node("last", Works().node("last")).add_edge("beside", "last"), pause="branch")
    app.invoke({"log": []})
    old = next(one for one in app.history() if one.next == ("ask", "last"))
    app.update_state({"log": ["by hand"]}, as_node="last", config=old.config)
    assert app.ask(None) == ["keep 4?"]
    told = ["before", "asked about 1", "beside", "by hand", "asked about 4"]
    assert app.invoke(Command(resume="yes"))["log"] == [*told, "yes"]


def test_what_was_told_is_told_once_however_often_others_go_on_beside_the_question(open_app):
    app = open_app(beside(a=asking("a?", update={"log": ["told"]}), b=asking("b?"), c=asking("c?")), pause="branch")
    app.invoke(NEW)
    ids = app.ids()
    app.invoke(Command(resume={ids["b?"]: "b"}, update={"log": ["by hand"]}))
    app.invoke(Command(resume={ids["c?"]: "c"}))
    assert sorted(app.get_state().values["log"]) == ["b", "by hand", "c", "told"]
    assert sorted(app.invoke(Command(resume={ids["a?"]: "a"}))["log"]) == ["a", "b", "by hand", "c", "told"]
