"""Eager event loops: with `asyncio.eager_task_factory` a task begins, and perhaps ends, before it is handed out.

Python has it since 3.12. Before that these programs run on an ordinary loop, and show nothing new.
"""

import asyncio
import operator
import sys
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.stream import StreamTransformer
from signoff.types import Command, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}
MANY = 2_000
"""More than there may be calls inside of each other."""


class State(TypedDict):
    log: Annotated[list, operator.add]


class Shelf(InMemorySaver):
    """A saver as others write it, which never lets the event loop go on meanwhile."""

    async def aput(self, *args):
        return self.put(*args)

    async def aput_writes(self, *args):
        return self.put_writes(*args)


def run(program, since=(3, 12)):
    """Run a coroutine on an eager loop, if there are any."""

    async def main():
        if sys.version_info >= since:
            asyncio.get_running_loop().set_task_factory(asyncio.eager_task_factory)
        return await asyncio.wait_for(program, 60)

    return asyncio.run(main())


def side_by_side(saver=None, **nodes):
    graph = StateGraph(State)
    for name, node in nodes.items():
        graph.add_node(name, node).add_edge(START, name)
    return graph.compile(saver)


def saying(text):
    async def say(state):
        return {"log": [text]}

    return say


def asking(question):
    async def ask(state):
        return {"log": [interrupt(question)]}

    return ask


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_nodes_that_end_at_once_run_side_by_side(limit):
    app = side_by_side(a=saying("a"), b=saying("b"), c=saying("c"))

    assert run(app.ainvoke({"log": []}, {"max_concurrency": limit}))["log"] == ["a", "b", "c"]


def test_however_many_wait_for_their_turn_each_of_them_runs():
    app = side_by_side(**{f"node{number}": saying(number) for number in range(MANY)})

    assert len(run(app.ainvoke({"log": []}, {"max_concurrency": 1}))["log"]) == MANY


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("saver", [Shelf, InMemorySaver])
def test_branches_ask_and_are_answered(saver, durability):
    app = side_by_side(saver(), ann=asking("ann?"), bob=asking("bob?"))

    async def program():
        asked = await app.ainvoke({"log": []}, CONFIG, durability=durability)
        answers = {question.id: question.value.upper() for question in asked["__interrupt__"]}
        return await app.ainvoke(Command(resume=answers), CONFIG, durability=durability)

    assert run(program())["log"] == ["ANN?", "BOB?"]


def test_calls_of_tasks_end_at_once_or_ask():
    made = []

    @task
    async def double(number):
        made.append(number)
        return 2 * number

    @task
    async def approve(number):
        return interrupt(number)

    @entrypoint(checkpointer=InMemorySaver())
    async def flow(numbers):
        doubled = await asyncio.gather(*map(double, numbers))
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(waited_for(approve(number))) for number in doubled]
        return [one.result() for one in asked]

    async def program():
        questions = (await flow.ainvoke([1, 2], CONFIG))["__interrupt__"]
        return await flow.ainvoke(Command(resume={one.id: f"{one.value} is fine" for one in questions}), CONFIG)

    assert (run(program()), made) == (["2 is fine", "4 is fine"], [1, 2])


async def waited_for(call):
    return await call


def test_graphs_that_a_node_calls_side_by_side_ask_each_for_itself():
    inner = side_by_side(ask=asking("sure?"))

    async def outer(state):
        found = await asyncio.gather(*(inner.ainvoke({"log": [name]}) for name in ("ann", "bob")))
        return {"log": [one["log"] for one in found]}

    app = side_by_side(InMemorySaver(), outer=outer)

    async def program():
        questions = (await app.ainvoke({"log": []}, CONFIG))["__interrupt__"]
        return await app.ainvoke(Command(resume={one.id: "yes" for one in questions}), CONFIG)

    assert run(program())["log"] == [["ann", "yes"], ["bob", "yes"]]


class Notes(StreamTransformer):
    """Takes its notes beside the run."""

    required_stream_modes = ("updates",)
    requires_async = True

    def init(self):
        self.notes = []
        return {"notes": self.notes}

    def process(self, event):
        if event["method"] == "updates":
            self.schedule(self.note(event["params"]["data"]))

    async def note(self, update):
        self.notes.append(update)


def test_a_run_is_followed_to_its_end():
    app = side_by_side(a=saying("a"), b=saying("b"))

    async def program():
        followed = await app.astream_events({"log": []}, version="v3", transformers=[Notes])
        states = [state async for state in followed.values]
        return states[-1], await followed.output(), followed.extensions["notes"]

    shown, output, notes = run(program())
    assert shown == output == {"log": ["a", "b"]}
    assert notes == [{"a": {"log": ["a"]}}, {"b": {"log": ["b"]}}]


def test_a_run_that_is_called_off_goes_on_where_it_was():
    started = []

    async def work(state):
        started.append("work")
        return {"log": ["worked"]}

    async def wait(state):
        started.append("wait")
        if started.count("wait") == 1:
            await asyncio.Event().wait()

    app = side_by_side(InMemorySaver(), work=work, wait=wait)

    async def program():
        first = asyncio.create_task(app.ainvoke({"log": []}, CONFIG))
        while "wait" not in started:
            await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await app.ainvoke(None, CONFIG)

    assert run(program())["log"] == ["worked"]
    assert (started.count("work"), started.count("wait")) == (1, 2)


@pytest.mark.parametrize("is_refused", [False, True], ids=["asks", "fails"])
def test_a_group_that_begins_nothing_more_after_a_question_has_not_failed(is_refused):
    """The first coroutine has asked before the second one is begun, which asyncio.TaskGroup then refuses.

    In Python 3.12 it also cancels, a moment later, whoever has caught that.
    """
    ask = asking("sure?")

    async def outer(state):
        async with asyncio.TaskGroup() as group:
            first = group.create_task(ask(state))
            if is_refused:
                raise RuntimeError("no money")
            second = group.create_task(ask(state))
        return {"log": [*first.result()["log"], *second.result()["log"]]}

    app = side_by_side(InMemorySaver(), outer=outer)

    async def program():
        found = await app.ainvoke({"log": []}, CONFIG)
        while "__interrupt__" in found:
            found = await app.ainvoke(Command(resume={one.id: "yes" for one in found["__interrupt__"]}), CONFIG)
        return found

    if is_refused:
        with pytest.raises(BaseExceptionGroup):
            run(program(), since=(3, 13))
    else:
        assert run(program(), since=(3, 13))["log"] == ["yes", "yes"]
