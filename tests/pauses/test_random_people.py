"""Promise 2 at random: people answer whatever they have seen, at any time, while others change the state.

Each answer says what it was given to, and each node looks whether that is what it asks, and whether what it does then
is what was done. Programs are random, too.
"""

import operator
from collections.abc import Callable
from random import Random
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import ReplayMismatch, SignoffError
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, interrupt

from .ways import CONFIG


def last(before: int, now: int) -> int:
    return now


class Amounts(TypedDict, total=False):
    a: Annotated[int, last]
    b: Annotated[int, last]
    c: Annotated[int, last]
    paid: Annotated[list[str], operator.add]


KEYS = "abc"


class People:
    """A thread, and whoever works on it."""

    def __init__(self, seed: int) -> None:
        self.random, self.ways = Random(seed), Random(f"{seed}, ways")
        self.seen: dict[tuple[str, str], None] = {}
        """Questions by id and words, in the order in which they came up."""
        self.wrong: list[str] = []
        self.saver = InMemorySaver()
        self.pause: Any = self.random.choice(["step", "branch"])
        self.names: list[str] = []
        self.graph = StateGraph(Amounts)
        for number in range(self.random.randint(1, 4)):
            name = f"n{number}"
            self.graph.add_node(name, self.node(name))
            self.lead(self.random.choice([START, START, *self.names]), name)
            self.names.append(name)
        self.open()

    def lead(self, start: str, end: str) -> None:
        """From one node to another: by an edge, or by a node between them with a `goto` or a Send of its own."""
        way = self.ways.choice(["edge", "edge", "goto", "Send"])
        if way == "edge":
            self.graph.add_edge(start, end)
            return

        def leading(state: Amounts) -> Any:
            return Command(goto=end if way == "goto" else Send(end, {**state, "paid": []}))

        self.graph.add_node(f"to {end}", leading).add_edge(start, f"to {end}")

    # Programs

    def node(self, name: str, depth: int = 0) -> Any:
        """Something that asks about amounts: by itself, by calls, by both, or in a graph; or that changes one."""
        kind = self.random.choice(["asks", "asks", "calls", "both", "graph", "called graph", "changes"])
        keys = self.random.choices(KEYS, k=self.random.randint(1, 3))
        if kind == "changes" or (depth == 2 and "graph" in kind):
            change = {keys[0]: self.random.randint(10, 12)}
            return lambda state: change
        if "graph" in kind:
            inner = self.inner(name, depth + 1)
            return inner if kind == "graph" else lambda state: {"paid": inner.invoke({**state, "paid": []})["paid"]}
        ways = {"asks": [self.ask], "calls": [self.called()], "both": [self.ask, self.called()]}[kind]
        others = [key for key in KEYS if key not in keys]
        tells = {"update": {others[0]: 900}} if kind == "asks" and others and self.random.random() < 0.2 else {}
        named = [self.random.random() < 0.3 for _ in keys]
        done = self.random.choice([str, self.paid()])

        def pay(state: Amounts) -> Any:
            paid = []
            for place, key in enumerate(keys):
                words = f"{name}, {place}: pay {key} {state.get(key)}?"
                settings = {"key": f"{name} {place}"} if named[place] else {}
                ways[place % len(ways)](words, **settings, **(tells if not place else {}))
                paid.append(done(words))
                if paid[-1] != words:
                    self.wrong.append(f"{words} was approved, and {paid[-1]} was done")
            return {"paid": paid}

        return pay

    def inner(self, name: str, depth: int) -> Any:
        graph = StateGraph(Amounts).add_node("first", self.node(f"{name}, first", depth))
        graph.add_node("second", self.node(f"{name}, second", depth)).add_edge(START, "first")
        graph.add_edge(self.random.choice([START, "first"]), "second")
        return graph.compile(checkpointer=self.random.choice([None, None, True]))

    def paid(self) -> Callable[[str], str]:
        """Does what was approved, by a call; returns what was done."""
        pay = task(str, name="pay")
        return lambda words: pay(words).result()

    def ask(self, words: str, **settings: Any) -> None:
        if (answer := interrupt(words, **settings)) != f"to {words}":
            self.wrong.append(f"{words} got the answer {answer}")

    def called(self) -> Callable[..., None]:
        ask = task(self.ask, name="ask")
        return lambda words, **settings: ask(words, **settings).result()

    # People

    def open(self) -> None:
        """Open the graph, as another process would."""
        self.app = self.graph.compile(checkpointer=self.saver, pause=self.pause)

    def look(self) -> None:
        self.seen.update(((one.id, one.value), None) for one in self.app.get_state(CONFIG).interrupts)

    def work(self) -> None:
        """One of them does something. Much of it is refused."""
        change = {self.random.choice(KEYS): self.random.randint(1, 4)}
        if self.random.random() < 0.3:
            self.open()
        match self.random.choice(["answer"] * 5 + ["update"] * 2 + ["go on", "tell", "begin"]):
            case "answer" if self.seen:
                id, words = self.random.choice([*self.seen][-4:])
                self.app.invoke(Command(resume={id: f"to {words}"}), CONFIG)
            case "update":
                self.app.update_state(CONFIG, change, as_node=self.random.choice([None, None, START, *self.names]))
            case "tell":
                self.app.invoke(Command(update=change), CONFIG)
            case "begin" if self.random.random() < 0.3:
                self.app.invoke(change, CONFIG, on_pending="discard")
            case _:
                self.app.invoke(None, CONFIG)

    def finish(self) -> None:
        """Answer what is open, as it is asked, until nothing is."""
        for _ in range(100):
            state = self.app.get_state(CONFIG)
            if not state.next:
                return
            answers = {question.id: f"to {question.value}" for question in state.interrupts}
            try:
                self.go_on(Command(resume=answers) if answers else None)
            except ReplayMismatch:
                self.go_on(None)
        raise AssertionError("it asks on and on")

    def go_on(self, input: Any) -> None:
        self.app.invoke(input, CONFIG)


# One that has found something once, and whatever comes.
FOUND = [10381]


@pytest.mark.parametrize("seeds", [FOUND, range(30), range(30, 60), range(60, 90), range(90, 120)], ids=str)
def test_nobody_is_paid_what_nobody_has_said_yes_to(seeds):
    for one in seeds:
        people = People(one)
        people.app.invoke({"a": 1, "b": 2, "c": 3}, CONFIG)
        for _ in range(people.random.randint(3, 12)):
            people.look()
            try:
                people.work()
            except SignoffError:
                pass  # it came too late, or for nothing
        people.finish()
        assert not people.wrong, f"seed {one}"
