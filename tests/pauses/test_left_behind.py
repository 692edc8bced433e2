"""What a node leaves behind, a thread that it does not wait for, or a context, asks nobody once the node has ended."""

import asyncio
import contextvars

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import OutsideOfRun
from signoff.func import task
from signoff.types import interrupt

from .programs import NEW, asking, beside, line
from .ways import CONFIG


@task
def pay():
    pytest.fail("nobody hears of this call")


@pytest.fixture(params=["sync", "async"])
def left(request):
    """The context of a node whose run has ended."""
    contexts = []

    def node(state):
        contexts.append(contextvars.copy_context())

    async def anode(state):
        node(state)

    if request.param == "sync":
        beside(node=node).compile(checkpointer=InMemorySaver()).invoke(NEW, CONFIG)
    else:
        asyncio.run(beside(node=anode).compile(checkpointer=InMemorySaver()).ainvoke(NEW, CONFIG))
    return contexts[0]


@pytest.mark.parametrize("call", [lambda: interrupt("sure?"), pay], ids=["interrupt", "task"])
def test_a_context_that_outlives_its_run_asks_and_calls_nothing(left, call):
    with pytest.raises(OutsideOfRun, match="after the run of node 'node' had ended"):
        left.run(call)


def test_a_graph_that_is_called_in_it_has_nobody_to_ask(left):
    with pytest.raises(OutsideOfRun, match="after the run of node 'ask' had ended"):
        left.run(beside(ask=asking()).compile().invoke, NEW)


def test_a_graph_with_a_saver_of_its_own_asks_as_ever(left):
    own = beside(ask=asking()).compile(checkpointer=InMemorySaver())
    assert left.run(own.invoke, NEW, CONFIG)["__interrupt__"][0].value == "sure?"


def test_a_context_that_outlives_its_node_asks_nobody():
    contexts = []

    def later(state):
        with pytest.raises(OutsideOfRun, match="after node 'first' had ended"):
            contexts[0].run(interrupt, "sure?")

    graph = line(first=lambda state: contexts.append(contextvars.copy_context()), later=later)
    assert graph.compile(checkpointer=InMemorySaver()).invoke(NEW, CONFIG) == NEW
