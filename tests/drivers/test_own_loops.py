"""A sync node may have an event loop of its own, and call graphs there, in a sync run and in an async one."""

import asyncio
import operator
from contextvars import copy_context
from threading import Event, Thread, Timer
from typing import Annotated, Any

import pytest
from typing_extensions import TypedDict

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

CONFIG: Any = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list[Any], operator.add]


async def ask(state):
    await asyncio.sleep(0)
    return {"log": [interrupt(state["log"][-1])]}


async def work(state):
    await asyncio.sleep(0)
    return {"log": ["worked"]}


def graph_of(node, saver=None):
    return StateGraph(State).add_node("node", node).add_edge(START, "node").compile(checkpointer=saver)


def run(app, input, is_async, **options):
    if is_async:
        return asyncio.run(app.ainvoke(input, CONFIG, **options))
    return app.invoke(input, CONFIG, **options)


WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@WAYS
def test_what_a_graph_comes_to_there_is_the_nodes(is_async):
    inner = graph_of(work)
    app = graph_of(lambda state: {"log": asyncio.run(inner.ainvoke({"log": ["in"]}))["log"]})
    assert run(app, {"log": []}, is_async) == {"log": ["in", "worked"]}


@WAYS
def test_what_it_asks_there_is_asked_and_answered(is_async):
    inner = graph_of(ask)
    app = graph_of(lambda state: {"log": asyncio.run(inner.ainvoke({"log": ["sure?"]}))["log"]}, InMemorySaver())
    assert [question.value for question in run(app, {"log": []}, is_async)["__interrupt__"]] == ["sure?"]
    assert run(app, Command(resume="yes"), is_async) == {"log": ["sure?", "yes"]}


@WAYS
def test_several_there_are_each_answered(is_async):
    inner = graph_of(ask)

    async def both():
        return await asyncio.gather(*(inner.ainvoke({"log": [word]}) for word in ("rent", "tax")))

    def node(state):
        return {"log": [state["log"] for state in asyncio.run(both())]}

    app = graph_of(node, InMemorySaver())
    said = run(app, {"log": []}, is_async)
    while questions := said.get("__interrupt__"):
        said = run(app, Command(resume={questions[0].id: f"{questions[0].value} paid"}), is_async)
    assert said == {"log": [["rent", "rent paid"], ["tax", "tax paid"]]}


@WAYS
def test_calls_of_tasks_are_awaited_there(is_async):
    paid = []

    @task
    def pay(word):
        said = interrupt(word)
        paid.append(word)
        return said

    async def both():
        return await asyncio.gather(pay("rent"), pay("tax"))

    app = graph_of(lambda state: {"log": asyncio.run(both())}, InMemorySaver())
    said = run(app, {"log": []}, is_async)
    while questions := said.get("__interrupt__"):
        said = run(app, Command(resume={questions[0].id: f"{questions[0].value} paid"}), is_async)
    assert said == {"log": ["rent paid", "tax paid"]}
    assert sorted(paid) == ["rent", "tax"]


@WAYS
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_call_that_a_loop_there_gives_up_is_waited_for_and_kept(is_async, durability):
    under_way, given_up, paid = Event(), Event(), []

    @task
    def pay():
        under_way.set()
        assert given_up.wait(30)
        paid.append("rent")
        return "rent"

    async def ask():
        assert await asyncio.to_thread(under_way.wait, 30)
        return interrupt("sure?")

    async def both():
        return await asyncio.gather(pay(), ask())

    def node(state):
        try:
            return {"log": asyncio.run(both())}
        finally:
            Timer(0.02, given_up.set).start()  # the node is over by then

    app = graph_of(node, InMemorySaver())
    run(app, {"log": []}, is_async, durability=durability)
    assert paid == ["rent"]
    assert run(app, Command(resume="yes"), is_async, durability=durability) == {"log": ["rent", "yes"]}
    assert paid == ["rent"]


@WAYS
def test_a_failure_there_is_the_nodes(is_async):
    async def fail(state):
        raise LookupError("not today")

    inner = graph_of(fail)
    with pytest.raises(LookupError, match="not today"):
        run(graph_of(lambda state: asyncio.run(inner.ainvoke({"log": []}))), {"log": []}, is_async)


@WAYS
def test_a_loop_there_that_ends_waits_for_the_graphs_that_it_calls_off(is_async):
    under_way, let_go, paid = Event(), Event(), []

    def pay(state):
        under_way.set()
        assert let_go.wait(30)
        paid.append("rent")
        return {"log": ["rent"]}

    async def fail_once():
        assert await asyncio.to_thread(under_way.wait, 30)
        if not let_go.is_set():
            Timer(0.02, let_go.set).start()  # the loop calls off everything by then
            raise LookupError("not today")

    async def both():
        return (await asyncio.gather(inner.ainvoke({"log": []}), fail_once()))[0]

    inner = graph_of(pay)
    app = graph_of(lambda state: asyncio.run(both()), InMemorySaver())
    with pytest.raises(LookupError, match="not today"):
        run(app, {"log": []}, is_async)
    assert paid == ["rent"]
    assert run(app, None, is_async) == {"log": ["rent"]}
    assert paid == ["rent"]


@WAYS
def test_what_a_loop_there_leaves_undone_is_not_waited_for(is_async):
    tries = []

    async def take_long(state):
        await asyncio.sleep(60 if len(tries) == 1 else 0)
        return {"log": ["at last"]}

    async def fail_once():
        tries.append("")
        await asyncio.sleep(0)
        if len(tries) == 1:
            raise LookupError("not today")

    async def both():
        return (await asyncio.gather(inner.ainvoke({"log": []}), fail_once()))[0]

    def node(state):
        loops.append(asyncio.new_event_loop())
        return loops[-1].run_until_complete(both())

    loops, inner = [], graph_of(take_long)
    app = graph_of(node, InMemorySaver())
    with pytest.raises(LookupError, match="not today"):
        run(app, {"log": []}, is_async)
    assert run(app, None, is_async) == {"log": ["at last"]}
    for loop in loops:
        end(loop)


def end(loop):
    """End what a loop has left undone."""
    left = asyncio.all_tasks(loop)
    for one in left:
        one.cancel()
    loop.run_until_complete(asyncio.wait(left) if left else asyncio.sleep(0))
    loop.close()


@WAYS
def test_what_a_loop_in_a_thread_of_the_nodes_own_leaves_undone_when_the_node_is_over_is_not_waited_for(is_async):
    under_way, is_over, loops, left = Event(), Event(), [], []

    async def take_long(state):
        under_way.set()
        await asyncio.Event().wait()

    async def leave():
        left.append(asyncio.create_task(inner.ainvoke({"log": []})))
        assert await asyncio.to_thread(is_over.wait, 30)

    def node(state):
        loops.append(asyncio.new_event_loop())
        Thread(target=copy_context().run, args=(loops[-1].run_until_complete, leave())).start()
        assert under_way.wait(30)
        Timer(0.02, is_over.set).start()  # the node is over by then
        return {"log": ["done"]}

    inner = graph_of(take_long)
    assert run(graph_of(node, InMemorySaver()), {"log": []}, is_async) == {"log": ["done"]}
    assert not left[0].done()
    end(loops[0])
