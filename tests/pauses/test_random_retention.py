"""Retention at random: a thread that is tidied up on the way comes to the same as one that is not.

Graphs are nested in one another, and some of them remember. Tasks wait in them side by side, while others go on, and
call them again.
"""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

from .programs import Log, line
from .ways import CONFIG

ONE_BY_ONE: Any = {**CONFIG, "max_concurrency": 1}


class Orders:
    """A thread whose orders wait for people, in graphs of any depth."""

    def __init__(self, seed: int, tidy: Callable[[Any], None]) -> None:
        self.random, self.tidy = Random(seed), tidy
        self.seen: list[list[str]] = []
        """What was known in the innermost graph, each time that something was paid."""
        self.saver = InMemorySaver()
        graph = StateGraph(Log).add_node("order", self.nested(self.random.randint(0, 2)))
        graph.add_sequence([("pack", lambda state: None), ("weigh", lambda state: None), ("check", self.check)])
        count = self.random.randint(1, 2)
        graph.add_conditional_edges(START, lambda state: ["pack", *self.sent(f"{state['log'][-1]}", count)])
        graph.add_conditional_edges("check", lambda state: self.sent("late", 1), ["order"])
        self.app = graph.compile(checkpointer=self.saver, pause=self.random.choice(["branch", "branch", "step"]))

    # The program

    def nested(self, depth: int) -> Any:
        """A graph, or a node that calls one, by itself or in a task."""
        graph = line(inner=self.nested(depth - 1)) if depth else line(pay=self.pay, confirm=self.confirm)
        inner = graph.compile(checkpointer=self.random.choice([None, True, True]))

        def call(log: list[str]) -> Any:
            return {"log": [" ".join(inner.invoke({"log": log})["log"][-3:])]}

        ways = [inner, lambda state: call(state["log"][-1:]), lambda state: in_task(state["log"][-1:]).result()]
        in_task = task(call)
        return self.random.choice(ways)

    def sent(self, what: str, count: int) -> list[Send]:
        return [Send("order", {"log": [f"{what} {number}"]}) for number in range(count)]

    def pay(self, state: Any) -> Any:
        self.seen.append(state["log"])
        return {"log": [f"{state['log'][-1]} is paid"]}

    def confirm(self, state: Any) -> Any:
        return {"log": [self.ask(f"{state['log'][-1]}, {what}?") for what in ("delivered", "accepted")]}

    def check(self, state: Any) -> None:
        self.ask("checked?")

    def ask(self, question: str) -> str:
        answer: str = interrupt(question)
        assert answer == f"yes to {question}"
        return "yes"

    # People

    def play(self) -> Any:
        """Two turns, from the first question to the last answer."""
        for turn in ("first", "second"):
            self.go_on({"log": [turn]})
            while open := sorted(self.app.get_state(CONFIG).interrupts, key=lambda question: question.value):
                some = self.random.sample(open, self.random.randint(1, len(open)))
                self.go_on(Command(resume={question.id: f"yes to {question.value}" for question in some}))
        assert self.app.get_state(CONFIG).next == ()
        return self.app.get_state(CONFIG).values, self.seen

    def go_on(self, input: Any) -> None:
        self.app.invoke(input, ONE_BY_ONE)
        self.tidy(self.saver)


def prune(saver: Any) -> None:
    saver.prune([CONFIG["configurable"]["thread_id"]])


def keep_one(saver: Any) -> None:
    saver.keep_last(1, with_questions=True)


@pytest.mark.parametrize("seeds", [range(8), range(8, 16), range(16, 24)], ids=str)
def test_a_thread_that_is_tidied_up_comes_to_the_same(seeds):
    for seed in seeds:
        came_to = Orders(seed, lambda saver: None).play()
        for tidy in (prune, keep_one):
            assert Orders(seed, tidy).play() == came_to, f"seed {seed}"
