"""Promises 2 and 4 at random, in functions that call functions: some ask, some fail, some are called side by side.

People answer what is open, in parts. What a program comes to, and what it has done by then, is what it comes to and
does where each question has its answer at once.
"""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from random import Random
from threading import Lock
from typing import Any
from zlib import crc32

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.questions import Wanted
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, RetryPolicy, interrupt

from .programs import Log
from .ways import CONFIG

Work = Callable[[str], str]
DEEPEST = 2
TWICE = RetryPolicy(max_attempts=2, initial_interval=0, jitter=False, retry_on=ConnectionError)


def mixed(*words: str) -> str:
    return f"{crc32(repr(words).encode()):08x}"


class Program:
    """A random function, as the seed says. With is_asked=False, its questions have their answers at once."""

    def __init__(self, seed: int, *, is_asked: bool) -> None:
        self.random, self.is_asked, self.names = Random(seed), is_asked, count()
        self.done, self.tries, self.wrong = Counter[str](), Counter[str](), list[str]()
        self.counting = Lock()
        work = self.work(0)
        self.app = entrypoint(checkpointer=InMemorySaver())(lambda words: work(words))

    def is_so(self, chance: float) -> bool:
        return self.random.random() < chance

    def work(self, depth: int) -> Work:
        """Several things, one after the other: each is given what the one before it came to."""
        kinds = [self.asking, self.calling, self.beside, self.late, self.caught, self.graph]
        kinds = kinds if depth < DEEPEST else kinds[:1]
        parts = [self.random.choice(kinds)(depth) for _ in range(self.random.randint(1, 3))]

        def work(words: str) -> str:
            for part in parts:
                words = part(words)
            return words

        return work

    def asking(self, depth: int) -> Work:
        name, settings = f"question {next(self.names)}", {"response_schema": str} if self.is_so(0.2) else {}

        def ask(words: str) -> str:
            question = f"{name} after {words}?"
            answer = interrupt(question, **settings) if self.is_asked else f"to {question}"
            if answer != f"to {question}":
                self.wrong.append(f"{question} got the answer {answer}")
            return mixed(question)

        return ask

    def function(self, depth: int, *, fails: bool = False) -> Any:
        """A task. It may be away the first time that it is called with something, and then it may be tried again."""
        name, work, is_away = f"function {next(self.names)}", self.work(depth + 1), self.is_so(0.3)

        def function(words: str) -> str:
            result = work(words)
            with self.counting:
                self.tries[f"{name} with {words}"] += 1
                if is_away and self.tries[f"{name} with {words}"] == 1:
                    raise ConnectionError(name)
                if fails:
                    raise LookupError(result)
                self.done[f"{name} with {words}"] += 1
            return result

        return task(name=name, retry_policy=TWICE if self.is_so(0.3) else None)(function)

    def calling(self, depth: int) -> Work:
        function, times = self.function(depth), self.random.randint(1, 2)
        return lambda words: mixed(words, *[function(f"{words} {at}").result() for at in range(times)])

    def beside(self, depth: int) -> Work:
        """Calls side by side; those with the same do not call anything themselves."""
        is_same = self.is_so(0.5)
        function, ends = self.function(DEEPEST if is_same else depth), self.random.choice([("", "", "b"), ("a", "b")])

        def call(words: str) -> str:
            calls = [function(f"{words}{end}") for end in ends]
            return mixed(*[call.result() for call in calls])

        return call

    def late(self, depth: int) -> Work:
        function, work = self.function(depth), self.work(depth + 1)

        def call(words: str) -> str:
            early = function(words)
            return mixed(work(words), early.result())

        return call

    def caught(self, depth: int) -> Work:
        function = self.function(depth, fails=True)

        def call(words: str) -> str:
            try:
                return function(words).result()
            except LookupError as error:
                return mixed(words, str(error))

        return call

    def graph(self, depth: int) -> Work:
        """A graph, of which one node comes after the other, or beside it."""
        graph = StateGraph(Log)
        for at, before in enumerate([START, self.random.choice([START, "0"])]):
            graph.add_node(str(at), self.node(depth)).add_edge(before, str(at))
        app = graph.compile(checkpointer=self.random.choice([None, True]) if depth == 0 else None)
        return lambda words: mixed(*app.invoke({"log": [words]})["log"])

    def node(self, depth: int) -> Callable[[Any], Any]:
        work = self.work(depth + 1)
        return lambda state: {"log": [work(state["log"][-1])]}

    # People

    def run(self) -> Any:
        """Have it begin, and answer what it asks, until it has come to its end."""
        people, input = Random(self.random.random()), "begin"
        for _ in range(200):
            with suppress(ConnectionError):
                self.app.invoke(input, CONFIG, durability=people.choice(["sync", "async", "exit"]))
            state = self.app.get_state(CONFIG)
            if not state.next:
                return state.values
            filed = self.app.checkpointer.find_questions(Wanted(limit=None))
            assert {one.id for one in filed} == {one.id for one in state.interrupts}
            asked = people.sample(state.interrupts, people.randint(0, len(state.interrupts)))
            input = Command(resume={one.id: f"to {one.value}" for one in asked}) if asked else None
        raise AssertionError("it goes on and on")


# Some that have found something once, and whatever comes.
FOUND = [86, 170, 263]


@pytest.mark.parametrize("seeds", [FOUND, range(10), range(10, 20)], ids=str)
def test_a_program_that_asks_comes_to_what_one_comes_to_that_need_not(seeds):
    for seed in seeds:
        asked, told = Program(seed, is_asked=True), Program(seed, is_asked=False)
        assert asked.run() == told.run(), f"seed {seed}"
        assert asked.done == told.done, f"seed {seed}"
        assert not asked.wrong, f"seed {seed}"
        unread = [one.metadata.get("unread_answers") for one in asked.app.get_state_history(CONFIG)]
        assert not any(unread), f"seed {seed}: its code was not changed"
