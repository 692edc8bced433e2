"""Crash everywhere: stop the world before and after every effect, start again, compare.

A crash here is what kill -9 is outside: from that moment on no effect is performed any more. What was stored is all
that the next run knows.
"""

import operator
from collections import Counter
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.drivers import sync
from signoff.errors import EmptyInputError
from signoff.func import entrypoint, task
from signoff.graph import END, START, StateGraph
from signoff.pregel import invoking
from signoff.types import Command, Send, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class Crash(BaseException):
    """The process is gone."""


class World:
    """Performs effects until it crashes, and none after that."""

    def __init__(self) -> None:
        self.effects = 0
        self.crash_at: int | None = None
        self.is_dead = False

    def perform(self, driver: sync.Driver, effect: Any) -> Any:
        self._moment()
        result = sync.Driver.perform(driver, effect)
        self._moment()
        return result

    def _moment(self) -> None:
        if self.crash_at == self.effects:
            self.is_dead = True
        if self.is_dead:
            raise Crash
        self.effects += 1


class Program:
    """A graph over a saver that survives, with a count of how often each piece of work was done."""

    def __init__(self, build, input, answers=()) -> None:
        self.saver = InMemorySaver()
        self.done = Counter()
        self.app = build(self, self.saver)
        self.input = input
        self.answers = list(answers)

    def work(self, name: str) -> str:
        self.done[name] += 1
        return f"did {name}"

    def run(self, durability: str) -> Any:
        """Run to the end, as a service would: new input if nothing is saved, else go on; answer what is asked."""
        try:
            result = self.app.invoke(None, CONFIG, durability=durability)
        except EmptyInputError:
            result = self.app.invoke(self.input, CONFIG, durability=durability)
        while isinstance(result, dict) and "__interrupt__" in result:
            asked = result["__interrupt__"][0]
            result = self.app.invoke(Command(resume={asked.id: f"to {asked.value}"}), CONFIG, durability=durability)
        return result


class State(TypedDict):
    log: Annotated[list, operator.add]


def linear(program, saver):
    graph = StateGraph(State)
    names = ["a", "b", "c"]
    for name in names:
        graph.add_node(name, lambda state, name=name: {"log": [program.work(name)]})
    for start, end in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(start, end)
    return graph.compile(saver)


def branches_and_a_join(program, saver):
    graph = StateGraph(State)
    for name in "abcd":
        graph.add_node(name, lambda state, name=name: {"log": [program.work(name)]})
    graph.add_edge(START, "a").add_edge("a", "b").add_edge("a", "c").add_edge(["b", "c"], "d")
    return graph.compile(saver)


def sends(program, saver):
    graph = StateGraph(State)
    graph.add_node("each", lambda item: {"log": [program.work(item)]})
    graph.add_node("last", lambda state: {"log": [program.work("last")]})
    graph.add_conditional_edges(START, lambda state: [Send("each", f"item {n}") for n in range(4)])
    graph.add_edge("each", "last")
    return graph.compile(saver)


def a_loop(program, saver):
    graph = StateGraph(State)
    graph.add_node("again", lambda state: {"log": [program.work(f"round {len(state['log'])}")]})
    graph.add_edge(START, "again")
    graph.add_conditional_edges("again", lambda state: "again" if len(state["log"]) < 4 else END)
    return graph.compile(saver)


def questions(program, saver):
    def ask(state):
        return {"log": [interrupt("name?"), interrupt("age?")]}

    graph = StateGraph(State)
    graph.add_node("before", lambda state: {"log": [program.work("before")]})
    graph.add_node("ask", ask)
    graph.add_node("beside", lambda state: {"log": [program.work("beside")]})
    graph.add_node("after", lambda state: {"log": [program.work("after")]})
    graph.add_edge(START, "before").add_edge("before", "ask").add_edge("before", "beside")
    graph.add_edge(["ask", "beside"], "after")
    return graph.compile(saver)


def nested_three_deep(program, saver):
    def ask(state):
        return {"log": [interrupt("deep?")]}

    inner = StateGraph(State)
    inner.add_node("first", lambda state: {"log": [program.work("inner first")]})
    inner.add_node("ask", ask)
    inner.add_edge(START, "first").add_edge("first", "ask")
    middle = StateGraph(State)
    middle.add_node("inner", inner.compile())
    middle.add_node("last", lambda state: {"log": [program.work("middle last")]})
    middle.add_edge(START, "inner").add_edge("inner", "last")
    outer = StateGraph(State)
    outer.add_node("middle", middle.compile())
    outer.add_node("end", lambda state: {"log": [program.work("outer end")]})
    outer.add_edge(START, "middle").add_edge("middle", "end")
    return outer.compile(saver)


def tasks_in_an_entrypoint(program, saver):
    @task
    def double(number):
        return number * 2 if program.work(f"double {number}") else None

    @entrypoint(checkpointer=saver)
    def flow(number):
        first = double(number).result()
        answer = interrupt(f"go on with {first}?")
        rest = [double(first + n) for n in range(3)]
        return [answer, *[future.result() for future in rest]]

    return flow


def tasks_in_a_node(program, saver):
    @task
    def fetch(site):
        return program.work(site)

    def gather(state):
        futures = [fetch(f"site {n}") for n in range(3)]
        return {"log": [future.result() for future in futures]}

    graph = StateGraph(State)
    graph.add_node("gather", gather)
    graph.add_node("end", lambda state: {"log": [program.work("end")]})
    graph.add_edge(START, "gather").add_edge("gather", "end")
    return graph.compile(saver)


PROGRAMS = {
    build.__name__: (build, input)
    for build, input in [
        (linear, {"log": ["in"]}),
        (branches_and_a_join, {"log": ["in"]}),
        (sends, {"log": []}),
        (a_loop, {"log": []}),
        (questions, {"log": []}),
        (nested_three_deep, {"log": []}),
        (tasks_in_an_entrypoint, 1),
        (tasks_in_a_node, {"log": []}),
    ]
}


@pytest.fixture
def world(monkeypatch):
    world = World()

    class Driver(sync.Driver):
        def __init__(self, host):
            super().__init__(host)
            host.perform = self.perform

        def perform(self, effect):
            return world.perform(self, effect)

    monkeypatch.setattr(invoking, "Driver", Driver)
    return world


def crashes(world: World, build, input, durability):
    """The program after a crash at each moment of a run, until a run gets by without one."""
    moment = 0
    while True:
        world.effects, world.crash_at, world.is_dead = 0, moment, False
        program = Program(build, input)
        try:
            program.run(durability)
        except Crash:
            world.crash_at, world.is_dead = None, False
            yield moment, program
        else:
            assert moment > 10, "a run has more moments than that"
            return
        moment += 1


@pytest.mark.parametrize("durability", ["sync", "async"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_survives_a_crash_at_any_effect(world, name, durability):
    build, input = PROGRAMS[name]
    expected = Program(build, input).run(durability)
    for moment, program in crashes(world, build, input, durability):
        assert program.run(durability) == expected, f"after a crash at moment {moment}"
        often = {work: count for work, count in program.done.items() if count > 2}
        assert not often, f"a crash at moment {moment} repeated {often}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_stored_before_a_crash_is_not_done_again(world, name):
    build, input = PROGRAMS[name]
    for moment, program in crashes(world, build, input, "sync"):
        before, stored = Counter(program.done), _stored_work(program)
        program.run("sync")
        repeated = {work for work, count in program.done.items() if count > before[work] > 0}
        assert not repeated & stored, f"a crash at moment {moment} repeated {repeated & stored}, which was stored"


def _stored_work(program: Program) -> set[str]:
    """Everything that a checkpoint or a saved write mentions."""
    texts = [repr((saved.checkpoint["channel_values"], saved.pending_writes)) for saved in program.saver.list(None)]
    return {work for work in program.done if any(f"did {work}'" in text for text in texts)}
