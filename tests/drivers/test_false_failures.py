"""An exception that is false, as one that holds no items is, is a failure like any other."""

import asyncio
import operator
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.serde import register
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

ON_THREAD: Any = {"configurable": {"thread_id": "1"}}


class Problems(Exception):
    """What is wrong with a form; nothing, perhaps."""

    def __len__(self):
        return len(self.args)


register(Problems, name="problems")


class Log(TypedDict):
    log: Annotated[list, operator.add]


def fail(*_):
    raise Problems


async def afail(*_):
    raise Problems


def beside(node):
    """A graph in which a node stands beside another one, and before a third."""
    graph = StateGraph(Log).add_node("node", node).add_node("other", lambda state: {"log": ["other"]})
    graph.add_node("last", lambda state: {"log": ["last"]}).add_edge("node", "last")
    return graph.add_edge(START, "node").add_edge(START, "other")


def alone(node):
    return (
        StateGraph(Log)
        .add_sequence([("node", node), ("last", lambda state: {"log": ["last"]})])
        .add_edge(START, "node")
    )


def at_the_edge(fail):
    return (
        StateGraph(Log).add_node("node", lambda state: None).add_edge(START, "node").add_conditional_edges("node", fail)
    )


def inside(fail):
    return alone(alone(fail).compile())


def run(program, given, is_async):
    return asyncio.run(program.ainvoke(given, ON_THREAD)) if is_async else program.invoke(given, ON_THREAD)


KINDS = pytest.mark.parametrize(("fail", "is_async"), [(fail, False), (fail, True), (afail, True)])


@pytest.mark.parametrize("shape", [alone, beside, at_the_edge, inside])
@KINDS
def test_a_run_fails_by_it(shape, fail, is_async):
    app = shape(fail).compile(checkpointer=InMemorySaver())
    for given in ({"log": []}, None):
        with pytest.raises(Problems):
            run(app, given, is_async)
        assert app.get_state(ON_THREAD).next == ("node",)


@KINDS
@pytest.mark.parametrize("limit", [None, 1])
def test_a_call_fails_by_it_and_so_again_with_the_answer(fail, is_async, limit):
    call = task(fail)
    caught = []

    @entrypoint(checkpointer=InMemorySaver())
    def flow(given):
        try:
            call(given).result()
        except Problems:
            caught.append(given)
        return interrupt("What now?")

    flow = flow.with_config(max_concurrency=limit)
    run(flow, 1, is_async)
    assert run(flow, Command(resume="nothing"), is_async) == "nothing"
    assert caught == [1, 1]


def test_a_call_that_a_coroutine_awaits_fails_by_it():
    call = task(afail)

    @entrypoint()
    async def flow(given):
        with pytest.raises(Problems):
            await call(given)
        return "caught"

    assert asyncio.run(flow.ainvoke(1)) == "caught"
