"""Random programs: calls, graphs and questions inside and beside each other, crashed and scheduled at random.

A program is a tree. Each part knows how it is run, and what it comes to if nothing goes wrong: some calls fail, and the
program catches that.
"""

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Any, TypedDict

import pytest

from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.testing import Input, World, did
from signoff.types import interrupt

SEEDS = range(10)


@task
async def effect(name):
    did(name)
    return f"did {name}"


@task
async def asking(name):
    answer = interrupt(name)
    did(name)
    return answer


@task
async def failing(name):
    did(name)
    raise ConnectionError(name)


@task
async def calling(program):
    return await program.run()


@dataclass(frozen=True)
class Leaf:
    """Something that is done, or asked: by the program itself, by name, or by a call."""

    kind: str
    name: str

    async def run(self):
        match self.kind:
            case "effect":
                return await effect(self.name)
            case "question":
                return interrupt(self.name)
            case "question with a key":
                return interrupt(self.name, key=self.name)
            case "question in a call":
                return await asking(self.name)
            case "failure":
                return await self.caught(failing(self.name))
            case "failure of a graph":
                return await self.caught(GRAPH.ainvoke({"program": Leaf("failure, not caught", self.name)}))
            case "failure, not caught":
                return await failing(self.name)

    async def caught(self, failure):
        try:
            return await failure
        except ConnectionError as error:
            return f"failed {error}"

    def expected(self):
        return f"{EXPECTED.get(self.kind, 'to')} {self.name}"


EXPECTED = {"effect": "did", "failure": "failed", "failure of a graph": "failed"}


@dataclass(frozen=True)
class Branch:
    """Parts that are run one after the other, in a call, in a graph, or side by side."""

    kind: str
    parts: tuple[Any, ...]

    async def run(self):
        match self.kind:
            case "gather":
                return list(await asyncio.gather(*[part.run() for part in self.parts]))
            case "group":
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(part.run()) for part in self.parts]
                return [task.result() for task in tasks]
            case "call":
                return await calling(Branch("line", self.parts))
            case "graph":
                return (await GRAPH.ainvoke({"program": Branch("line", self.parts)}))["result"]
        return [await part.run() for part in self.parts]

    def expected(self):
        return [part.expected() for part in self.parts]


class State(TypedDict, total=False):
    program: Leaf | Branch
    result: Any


async def node(state):
    return {"result": await state["program"].run()}


GRAPH = StateGraph(State).add_node("node", node).add_edge(START, "node").compile()


def grown(random: Random, name: str = "", depth: int = 0) -> Any:
    """A part of a program."""
    if depth and (depth > 3 or random.random() < 0.5):
        kinds = ["effect", "effect", "question", "question with a key", "question in a call"]
        kinds += ["failure", "failure of a graph"]
        return Leaf(random.choice(kinds), name)
    kind = "line" if not depth else random.choice(["gather", "group", "call", "graph", "line"])
    return Branch(kind, tuple(grown(random, f"{name}{at}", depth + 1) for at in range(random.randint(2, 3))))


def entry(program):
    def build(saver):
        async def work(input):
            return await program.run()

        return entrypoint(checkpointer=saver)(work)

    return build


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_program_survives_what_may_happen(seed):
    random = Random(seed)
    program = grown(random)
    settings = {"durability": random.choice(["sync", "async", "exit"]), "answers_together": random.random() < 0.5}
    world = World(
        entry(program),
        [Input("go")],
        answers=lambda question: f"to {question.value}",
        is_async=True,
        rebuilds=False,
        same_history=False,  # graphs side by side are counted as they come
        **settings,
    )
    assert world.run().values == program.expected()
    assert {*world.run().witness.done.values()} <= {1}
    world.crash_everywhere(every=11)
    world.schedules(5)
