"""A signal whose handler raises, heard at any moment of a run: the thread goes on from a state that there was.

One moment after the other is chosen by its number, in the rooms where a run has something to lose.
"""

import operator
from collections import Counter
from typing import Annotated, TypedDict

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from interrupting import Interrupted, interrupted_at
from signoff.checkpoint.memory import InMemorySaver
from signoff.drivers.saving import holding
from signoff.func import task
from signoff.graph import START, MessagesState, StateGraph
from signoff.types import Command, interrupt

pytestmark = pytest.mark.usefixtures("not_for_ever")

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict, total=False):
    log: Annotated[list[str], operator.add]


class Program:
    """A node that makes a call, one that asks beside it or behind it, and one behind both."""

    def __init__(self, durability, pause):
        self.durability = durability
        self.seen = Counter()
        """How often calls were made of whose results the program has seen."""

        @task
        def call(name):
            self.made[name] += 1
            return name

        def made(name):
            call(name).result()
            self.seen[name] = self.made[name]
            return {"log": [name]}

        self.made = Counter()
        graph = StateGraph(State)
        graph.add_node("a", lambda state: made("a"))
        graph.add_node("q", lambda state: {"log": [made("q") and interrupt("?")]})
        graph.add_node("z", lambda state: {"log": ["z"]})
        graph.add_edge(START, "a").add_edge(START if pause == "branch" else "a", "q").add_edge(["a", "q"], "z")
        self.app = graph.compile(checkpointer=InMemorySaver(), pause=pause)

    def run(self):
        """Run the thread to its end, from wherever it stands."""
        while True:
            at = self.app.get_state(CONFIG)
            if at.created_at is not None and not at.next and not at.interrupts:
                return at.values
            given = {"log": []} if at.created_at is None else Command(resume="yes") if at.interrupts else None
            self.app.invoke(given, CONFIG, durability=self.durability)


ROOMS = {
    "the saver": (
        "/checkpoint/memory/saver",
        "/checkpoint/memory/shelf",
        "/checkpoint/memory/spaces",
        "/checkpoint/memory/threads",
        "/checkpoint/memory/written",
    ),
    "the ledger": (
        "/engine/storing/ledger",
        "/engine/planning/fold",
        "/engine/state",
        "/engine/stepping/ending",
        "/engine/storing/exit_durability",
    ),
    "branches": ("/engine/stepping/branching", "/engine/storing/ledger", "/engine/state"),
    "calls": ("/drivers/calls/futures", "/drivers/calls/soon", "/drivers/scopes/", "/drivers/tasks/sync_tasks"),
    "steps": ("/signoff/steps",),
    "the end": ("/drivers/sync.py", "/drivers/saving/holding", "/pregel/invoking"),
}


@pytest.mark.parametrize(
    ("rooms", "durability", "pause", "stride"),
    [
        ("the saver", "sync", "step", 5),
        ("the ledger", "exit", "step", 5),
        ("branches", "sync", "branch", 3),
        ("branches", "exit", "branch", 3),
        ("calls", "sync", "step", 2),
        ("steps", "sync", "step", 1),
        ("steps", "exit", "step", 1),
        ("the end", "exit", "step", 1),
    ],
)
def test_a_thread_goes_on_whenever_a_signal_was_heard(rooms, durability, pause, stride):
    number, log, held = 0, sorted(["a", "yes", "z"]), set(holding._held)
    while True:
        number += stride
        program = Program(durability, pause)
        if not interrupted_at(number, ROOMS[rooms], program.run):
            break
        assert set(holding._held) == held, f"moment {number}"
        assert program.app.checkpointer.look(CONFIG)[1].holder is None, f"moment {number}"
        seen = dict(program.seen)
        assert sorted(program.run()["log"]) == log, f"moment {number}"
        assert {name: program.made[name] for name in seen} == seen, f"moment {number}"
    assert number > 10


def test_a_list_that_grows_loses_nothing_whenever_a_signal_was_heard():
    rooms, number = ("/checkpoint/memory/lists", "/checkpoint/log/growth", "/checkpoint/memory/lineages"), 0
    said, given = {id: AIMessage(id, id=id) for id in "abc"}, {"messages": [HumanMessage("h", id="h")]}
    graph = StateGraph(MessagesState)
    graph.add_sequence([(id, lambda state, id=id: {"messages": [said[id]]}) for id in said]).add_edge(START, "a")

    def run(app):
        while True:
            at = app.get_state(CONFIG)
            if at.created_at is not None and not at.next:
                return "".join(message.id for message in at.values["messages"])
            app.invoke(given if at.created_at is None else None, CONFIG)

    while True:
        number += 1
        app = graph.compile(checkpointer=InMemorySaver())
        if not interrupted_at(number, rooms, lambda app=app: run(app)):
            break
        assert run(app) == "habc", f"moment {number}"
    assert number > 10


def test_a_signal_in_a_call_that_nobody_waits_for_ends_the_run():
    @task
    def call():
        raise Interrupted

    def node(state):
        call()
        return {"log": ["a"]}

    app = StateGraph(State).add_node("a", node).add_edge(START, "a").compile()
    with pytest.raises(Interrupted):
        app.invoke({"log": []})
