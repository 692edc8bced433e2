"""Promise 4, for a question of a conditional edge: the node before it has finished, and does not run again."""

from itertools import count
from typing import Annotated, Any, NotRequired, TypedDict

import pytest

from signoff.channels import UntrackedValue
from signoff.func import task
from signoff.graph import END, START, StateGraph
from signoff.testing import Input, World, did
from signoff.types import Command, interrupt


class Mail(TypedDict):
    draft: NotRequired[str]
    sent: NotRequired[str]


def send(state):
    return {"sent": state["draft"]}


def choose(state):
    return "send" if interrupt(f"Send {state['draft']}?") == "yes" else END


def graph_of(write: Any, path: Any = choose) -> StateGraph:
    graph = StateGraph(Mail).add_node("write", write).add_node(send).add_edge(START, "write")
    return graph.add_conditional_edges("write", path, ["send", END])


def writer() -> Any:
    """Writes something else each time."""
    numbers = count(1)
    return lambda state: {"draft": f"draft {next(numbers)}"}


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_is_approved_is_what_is_sent(open_app, durability):
    app = open_app(graph_of(writer()))
    assert app.ask({}, durability=durability) == ["Send draft 1?"]
    assert app.get_state().values == {}
    assert app.invoke(Command(resume="yes"), durability=durability) == {"draft": "draft 1", "sent": "draft 1"}


@pytest.mark.parametrize("pause", ["step", "branch"])
def test_nor_does_it_run_again_for_further_questions_and_beside_others(open_app, pause):
    def choose_twice(state):
        return "send" if interrupt("Sure?", key="sure") == interrupt(f"Send {state['draft']}?") == "yes" else END

    graph = graph_of(writer(), choose_twice).add_node("other", lambda state: None).add_edge(START, "other")
    app = open_app(graph, pause=pause)
    assert app.ask({}) == ["Sure?"]
    assert app.ask(Command(resume="yes")) == ["Send draft 1?"]
    assert app.invoke(Command(resume="yes"))["sent"] == "draft 1"


def test_a_command_leads_where_it_said(open_app):
    numbers = count(1)

    def write(state):
        return Command(update={"draft": f"draft {next(numbers)}"}, goto="send")

    app = open_app(graph_of(write, lambda state: interrupt(f"Send {state['draft']}?") and END))
    assert app.ask({}) == ["Send draft 1?"]
    assert app.invoke(Command(resume=True))["sent"] == "draft 1"


def test_a_node_that_writes_nothing_is_not_run_again_either(open_app):
    ran = []
    app = open_app(graph_of(lambda state: ran.append(1), lambda state: interrupt("Go?")))
    app.invoke({"draft": "given"})
    assert app.invoke(Command(resume="send"))["sent"] == "given"
    assert ran == [1]


def test_an_update_by_hand_has_it_run_on_the_new_state(open_app):
    app = open_app(graph_of(writer()))
    app.ask({})
    app.update_state({"sent": "nothing"}, as_node=START)
    assert app.ask(None) == ["Send draft 2?"]


class Secret(Mail):
    key: NotRequired[Annotated[str, UntrackedValue]]


def test_one_that_writes_what_is_not_stored_runs_again(open_app):
    numbers = count(1)

    def write(state):
        return {"draft": "draft", "key": f"key {next(numbers)}"}

    graph = StateGraph(Secret).add_node(write).add_edge(START, "write")
    graph.add_node("send", lambda state: {"sent": state["key"]})
    app = open_app(graph.add_conditional_edges("write", choose, ["send", END]))
    assert app.ask({}) == ["Send draft?"]
    assert app.invoke(Command(resume="yes"))["sent"] == "key 2"


def test_so_does_one_that_asks_or_calls(open_app):
    ran = []

    @task
    def call(number):
        return number

    def asks(state):
        ran.append("asks")
        return {"draft": interrupt("What?")}

    def calls(state):
        ran.append("calls")
        return {"draft": f"{call(1).result()}"}

    for node in (asks, calls):
        config = {"configurable": {"thread_id": node.__name__}}
        app = open_app(graph_of(node))
        app.invoke({}, config)
        while "__interrupt__" in (result := app.invoke(Command(resume="yes"), config)):
            pass
        assert result["sent"] == result["draft"]
    assert ran == ["asks", "asks", "asks", "calls", "calls"]


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_so_it_is_wherever_a_process_is_killed(is_async):
    def write(state):
        did("write")
        return {"draft": "draft"}

    world = World(
        lambda saver: graph_of(write).compile(saver), [Input({})], answers={"Send draft?": "yes"}, is_async=is_async
    )
    assert world.run().witness.done["write"] == 1
    world.crash_everywhere()
