"""Promise 2 at random, in graphs of many shapes: edges that ask, Sends, joins, Commands, failures and their handlers.

And whoever looks sees the same: the state, the index of open questions, the list of threads.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import Any

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.questions import Wanted
from signoff.errors import SignoffError
from signoff.graph import END, START, StateGraph
from signoff.inbox import Inbox
from signoff.types import Command, RetryPolicy, Send

from .test_random_people import KEYS, Amounts, People
from .ways import CONFIG

ROUNDS = 3


class Broken(Exception):
    """What a node fails with now and then."""


class Workers(People):
    """People, and a program of many shapes."""

    def __init__(self, seed: int) -> None:
        self.random, self.seed = Random(seed), seed
        self.seen, self.wrong, self.rounds, self.tries = {}, [], 0, Counter[str]()
        self.saver = InMemorySaver()
        self.pause = self.random.choice(["step", "branch"])
        self.names = [f"n{number}" for number in range(self.random.randint(2, 6))]
        self.graph = StateGraph(Amounts)
        for at, name in enumerate(self.names):
            self.add_node(name, self.names[at + 1 :])
        for at, name in enumerate(self.names[:-1]):
            self.add_edges(name, self.names[:at], self.names[at + 1 :])
        self.graph.add_edge(START, self.names[0])
        if self.is_so(0.3):
            self.graph.add_conditional_edges(self.names[-1], self.once_more, [self.names[0], END])
        self.open()

    def is_so(self, chance: float) -> bool:
        return self.random.random() < chance

    # Programs

    def add_node(self, name: str, later: Sequence[str]) -> None:
        work, settings = self.node(name), {}
        if later and self.is_so(0.2):
            work, settings["destinations"] = self.leading(work, later), tuple(later)
        if self.is_so(0.25):
            work = self.failing(name, work)
        if callable(work) and self.is_so(0.2):
            settings["retry_policy"] = RetryPolicy(max_attempts=2, initial_interval=0, jitter=False, retry_on=Broken)
        if callable(work) and self.is_so(0.2):
            settings["error_handler"] = self.handler(name)
        self.graph.add_node(name, work, defer=self.is_so(0.15), **settings)

    def add_edges(self, name: str, earlier: Sequence[str], later: Sequence[str]) -> None:
        match self.random.choice(["edges", "edges", "choice", "choice that asks", "sends", "join"]):
            case "choice" | "choice that asks" as kind:
                self.graph.add_conditional_edges(name, self.choice(name, later, asks="asks" in kind), [*later, END])
            case "sends":
                self.graph.add_conditional_edges(name, self.sends(self.random.choice(later)), [*later])
            case "join" if earlier:
                self.graph.add_edge([self.random.choice(earlier), name], self.random.choice(later))
            case _:
                for other in {self.random.choice(later), self.random.choice(later)}:
                    self.graph.add_edge(name, other)

    def leading(self, work: Any, later: Sequence[str]) -> Callable[[Any], Any]:
        key, ways = self.random.choice(KEYS), self.random.choices(later, k=2)
        return lambda state: Command(update=self.paid_by(work, state), goto=ways[state.get(key, 0) % 2])

    def failing(self, name: str, work: Any) -> Callable[[Any], Any]:
        def run(state: Any) -> Any:
            self.may_fail(f"{name} begins with {state.get('a')}", 0.3)
            result = self.paid_by(work, state)
            self.may_fail(f"{name} ends with {state.get('a')}", 0.2)
            return result

        return run

    def may_fail(self, moment: str, chance: float) -> None:
        """Fail now and then: in any order of the tasks at the same moments."""
        self.tries[moment] += 1
        if Random(f"{self.seed}, {moment}, {self.tries[moment]}").random() < chance:
            raise Broken

    def paid_by(self, work: Any, state: Any) -> Any:
        return work(state) if callable(work) else {"paid": work.invoke({**state, "paid": []})["paid"]}

    def handler(self, name: str) -> Callable[[Any], Any]:
        asks = self.is_so(0.5)

        def handle(state: Any) -> Any:
            if asks:
                self.ask(f"{name} is broken, and a is {state.get('a')}. Go on?")
            return {"c": 7}

        return handle

    def choice(self, name: str, later: Sequence[str], *, asks: bool) -> Callable[[Any], Any]:
        key, ways = self.random.choice(KEYS), [*self.random.choices(later, k=2), END]

        def choose(state: Any) -> str:
            if asks:
                self.ask(f"On from {name} with {key} {state.get(key)}?")
            return ways[state.get(key, 0) % 3]

        return choose

    def sends(self, to: str) -> Callable[[Any], Any]:
        number = self.random.randint(1, 3)
        return lambda state: [Send(to, {"a": at, "b": state.get("b")}) for at in range(number)]

    def once_more(self, state: Any) -> str:
        self.rounds += 1
        return self.names[0] if self.rounds < ROUNDS else END

    # People

    def check(self) -> None:
        """Whether all who look see the same."""
        state, (thread,) = self.app.get_state(CONFIG), Inbox(self.saver).threads()
        asked = {question.id for question in state.interrupts}
        assert {question.id for question in self.saver.find_questions(Wanted())} == asked
        assert (thread.status == "paused") == bool(asked)
        assert not (thread.status == "resting" and state.next)

    def go_on(self, input: Any) -> None:
        with suppress(Broken):
            super().go_on(input)
        self.check()


# Those that have found something once, and whatever comes.
FOUND = [983, 1123, 1219]


@pytest.mark.parametrize("seeds", [FOUND, range(25), range(25, 50), range(50, 75)], ids=str)
def test_an_answer_is_for_what_was_asked_in_a_graph_of_any_shape(seeds):
    for one in seeds:
        people = Workers(one)
        people.go_on({"a": 1, "b": 2, "c": 3})
        for _ in range(people.random.randint(3, 12)):
            people.look()
            with suppress(SignoffError, Broken):  # it came too late, or for nothing
                people.work()
            people.check()
        people.finish()
        assert not people.wrong, f"seed {one}"
