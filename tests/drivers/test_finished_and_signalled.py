"""A signal whose handler raises, heard at any moment behind a task that has finished: that is not run again."""

import operator
from collections.abc import Callable
from typing import Annotated, Any, TypedDict

import pytest

from interrupting import interrupted_at
from pauses.programs import Works
from signoff.checkpoint.memory import InMemorySaver
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.runtime import Runtime
from signoff.types import Command, interrupt

pytestmark = pytest.mark.usefixtures("not_for_ever")

CONFIG: Any = {"configurable": {"thread_id": "1"}}
ROOMS = ("/signoff/engine/", "/signoff/drivers/", "/signoff/steps", "/checkpoint/memory/")


class Log(TypedDict):
    log: Annotated[list[str], operator.add]


class Work(Works):
    """Graphs of nodes that count how often they ran."""

    def side_by_side(self, names: str, last: str) -> Any:
        graph = StateGraph(Log).add_node(last, self.node(last))
        for name in names:
            graph.add_node(name, self.node(name)).add_edge(START, name)
        return graph.add_edge([*names], last)


def alone(work: Work) -> Any:
    return work.side_by_side("a", "z")


def in_threads(work: Work) -> Any:
    return work.side_by_side("abc", "z")


def with_edges(work: Work) -> Any:
    def a(state: Log, runtime: Runtime) -> Any:
        return work.node("a")(state)

    graph = StateGraph(Log).add_node(a).add_node("z", work.node("z")).add_edge(START, "a")
    return graph.add_conditional_edges("a", lambda state: "z", ["z"])


def beside_a_question(work: Work) -> Any:
    graph = work.side_by_side("abc", "z").add_node("ask", lambda state: {"log": [interrupt("?")]})
    return graph.add_edge(START, "ask")


def in_a_graph_inside(work: Work) -> Any:
    inner = work.side_by_side("abc", "z").compile()
    graph = StateGraph(Log).add_node("inner", lambda state: {"log": inner.invoke({"log": []})["log"]})
    graph.add_node("e", work.node("e")).add_edge(START, "inner").add_edge("inner", "e")
    return graph


def with_a_call(work: Work) -> Any:
    call = task(name="call")(work.node("call"))

    def a(state: Log) -> Any:
        return call(state).result()

    return StateGraph(Log).add_node(a).add_edge(START, "a")


def called(app: Any, given: Any, durability: str) -> None:
    app.invoke(given, CONFIG, durability=durability)


def streamed(app: Any, given: Any, durability: str) -> None:
    for _ in app.stream(given, CONFIG, durability=durability, stream_mode=["updates", "tasks"]):
        pass


def to_its_end(app: Any, call: Callable[..., None], durability: str) -> list[str]:
    """What is in the log in the end, from wherever the thread stands."""
    while True:
        at = app.get_state(CONFIG)
        if at.created_at is not None and not (at.next or at.interrupts):
            return sorted(at.values["log"])
        given = {"log": []} if at.created_at is None else Command(resume="yes") if at.interrupts else None
        call(app, given, durability)


@pytest.mark.parametrize(
    ("program", "call", "durability", "pause", "log", "stride"),
    [
        (alone, called, "sync", "step", "a z", 4),
        (alone, called, "exit", "step", "a z", 4),
        (with_edges, called, "sync", "step", "a z", 4),
        (in_threads, called, "sync", "step", "a b c z", 5),
        (in_threads, called, "exit", "step", "a b c z", 5),
        (in_threads, streamed, "async", "step", "a b c z", 7),
        (beside_a_question, called, "sync", "step", "a b c yes z", 13),
        (beside_a_question, called, "exit", "branch", "a b c yes z", 13),
        (in_a_graph_inside, called, "sync", "step", "a b c e z", 11),
        (in_a_graph_inside, streamed, "exit", "step", "a b c e z", 11),
    ],
)
def test_what_has_finished_when_a_signal_is_heard_is_not_done_again(program, call, durability, pause, log, stride):
    number = 0
    while True:
        number += stride
        work = Work()
        app = program(work).compile(checkpointer=InMemorySaver(), pause=pause)
        if not interrupted_at(number, ROOMS, lambda app=app: to_its_end(app, call, durability)):
            break
        assert to_its_end(app, call, durability) == log.split(), f"moment {number}"
        assert set(work.done.values()) == {1}, f"moment {number}"
    assert number > 100


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_a_call_whose_save_a_signal_cuts_off_is_not_made_again(durability):
    number = 0
    while True:
        number += 1
        work = Work()
        app = with_a_call(work).compile(checkpointer=InMemorySaver())
        if not interrupted_at(number, ["/checkpoint/memory/"], lambda app=app: to_its_end(app, called, durability)):
            break
        assert to_its_end(app, called, durability) == ["call"], f"moment {number}"
        assert work.done == {"call": 1}, f"moment {number}"
    assert number > 10


def test_what_graphs_inside_leave_is_stored_once_though_a_signal_is_heard_as_they_leave_it():
    number, rooms = 0, ("/engine/storing/exit_durability", "/engine/storing/ledger")
    while True:
        number += 1
        work = Work()
        app = in_a_graph_inside(work).compile(checkpointer=InMemorySaver())
        if not interrupted_at(number, rooms, lambda app=app: to_its_end(app, called, "exit")):
            break
        assert to_its_end(app, called, "exit") == [*"abcez"], f"moment {number}"
        assert set(work.done.values()) == {1}, f"moment {number}"
    assert number > 10
