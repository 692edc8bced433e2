"""Runs that are called off, most of them async: what a thread is at work on is finished and kept, not done again."""

import asyncio
import gc
import json
import operator
import threading
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypedDict

import anyio
import pytest
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.runnables import Runnable, RunnableBranch, RunnableLambda
from langchain_core.tools import BaseTool, Tool, tool
from pydantic import BaseModel

from prebuilt.models import call, calls
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver
from signoff.drivers.workers import Crew
from signoff.errors import ThreadBusy
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.prebuilt import ToolNode
from signoff.types import Command, RetryPolicy, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list, operator.add]


class Work:
    """Something that takes its time in a thread, and counts."""

    def __init__(self):
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.count = 0
        self.at_once = 0

    def __call__(self, *_):
        self.at_once += 1
        assert self.at_once == 1, "never beside itself"
        self.begun.set()
        assert self.may_end.wait(10)
        self.count += 1
        self.at_once -= 1
        return {"log": ["worked"]}

    async def is_begun(self):
        assert await asyncio.to_thread(self.begun.wait, 10)


async def turns():
    """Long enough for a run that does not wait to be over."""
    for _ in range(50):
        await asyncio.sleep(0)


async def call_off(run, work):
    """Cancel a run whose function has begun: it is over when the function is."""
    await work.is_begun()
    run.cancel()
    await turns()
    assert not run.done(), "the run is not over while the function works"
    work.may_end.set()
    with pytest.raises(asyncio.CancelledError):
        await run


@pytest.fixture(params=["memory", "sqlite"])
def opened(request, tmp_path):
    @asynccontextmanager
    async def memory():
        yield InMemorySaver()

    return memory if request.param == "memory" else lambda: AsyncSqliteSaver.from_conn_string(str(tmp_path / "a.db"))


# Programs that call some work


def lone_node(work, saver):
    return StateGraph(State).add_node("work", work).add_edge(START, "work").compile(saver)


def two_nodes(work, saver):
    async def beside(state):
        await asyncio.sleep(0)

    graph = StateGraph(State).add_node("work", work).add_node(beside)
    return graph.add_edge(START, "work").add_edge(START, "beside").compile(saver)


def two_steps(work, saver):
    graph = StateGraph(State).add_node("first", lambda state: None).add_node("work", work)
    graph.add_node("last", lambda state: None)
    return graph.add_edge(START, "first").add_edge("first", "work").add_edge("work", "last").compile(saver)


def with_a_choice(work, saver):
    graph = StateGraph(State).add_node("work", work).add_node("last", lambda state: None).add_edge(START, "work")
    return graph.add_conditional_edges("work", lambda state: "last", ["last"]).compile(saver)


def nested(work, saver):
    return StateGraph(State).add_node("inner", lone_node(work, None)).add_edge(START, "inner").compile(saver)


def called_from_a_coroutine(work, saver):
    inner = lone_node(work, True)

    async def outer(state):
        return {"log": (await inner.ainvoke({"log": []}))["log"]}

    return StateGraph(State).add_node(outer).add_edge(START, "outer").compile(saver)


def a_task_of_a_coroutine(work, saver):
    done = task(work, name="done")

    async def outer(state):
        return await done(1)

    return StateGraph(State).add_node(outer).add_edge(START, "outer").compile(saver)


def a_task_of_a_function(work, saver):
    done = task(work, name="done")
    return StateGraph(State).add_node("outer", lambda state: done(1).result()).add_edge(START, "outer").compile(saver)


def a_workflow(work, saver):
    done = task(work, name="done")

    @entrypoint(checkpointer=saver)
    async def flow(value):
        return await done(value)

    return flow


def a_tool(work, saver):
    @tool
    def pay() -> str:
        """Pay."""
        return str(work()["log"][0])

    graph = StateGraph(State).add_node("think", lambda state: {"log": [calls(call("pay", "p"))]})
    graph.add_node("tools", ToolNode([pay], messages_key="log"))
    graph.add_node("last", lambda state: {"log": [message.content for message in state["log"][1:]]})
    return graph.add_edge(START, "think").add_edge("think", "tools").add_edge("tools", "last").compile(saver)


def a_tool_in_a_wrapper(work, saver):
    """A call that a call makes, of a node that lets go of both."""

    @tool
    def pay() -> str:
        """Pay."""
        return str(work()["log"][0])

    @tool
    async def look() -> str:
        """Look."""
        return "seen"

    async def around(request, execute):
        return await execute(request)

    graph = StateGraph(State).add_node("think", lambda state: {"log": [calls(call("look", "l"), call("pay", "p"))]})
    graph.add_node("tools", ToolNode([pay, look], messages_key="log", awrap_tool_call=around))
    graph.add_node("last", lambda state: {"log": [message.content for message in state["log"][1:]]})
    return graph.add_edge(START, "think").add_edge("think", "tools").add_edge("tools", "last").compile(saver)


# The same with runnables of LangChain's


def a_runnable(work, saver):
    return two_nodes(RunnableLambda(work), saver)


def a_runnable_with_a_choice(work, saver):
    return with_a_choice(RunnableLambda(work).with_retry(), saver)


def the_last_of_a_chain(work, saver):
    return lone_node(RunnableLambda(lambda state: state) | RunnableLambda(work), saver)


def the_last_resort(work, saver):
    def fail(state):
        raise ValueError

    chosen = RunnableBranch((lambda state: True, RunnableLambda(work)), RunnableLambda(fail))
    return lone_node(RunnableLambda(fail).with_fallbacks([chosen]), saver)


def runnables_side_by_side(work, saver):
    async def log(state):
        return (await work(state))["log"]

    async def other(state):
        return 1

    return lone_node({"other": other, "log": log}, saver)


def a_runnable_of_a_class(work, saver):
    class Working(Runnable):
        def invoke(self, state, config=None, **kwargs):
            return work(state)

    return lone_node(Working(), saver)


class Paying(BaseTool):
    """A tool that says only what it does."""

    name: str = "pay"
    description: str = "Pay."
    work: Any

    def _run(self) -> Any:
        return self.work()


def a_tool_of_a_class(work, saver):
    return lone_node(RunnableLambda(lambda state: {}) | Paying(work=work), saver)


def a_tool_of_a_class_in_a_tool_node(work, saver):
    graph = StateGraph(State).add_node("think", lambda state: {"log": [calls(call("pay", "p"))]})
    graph.add_node("tools", ToolNode([Paying(work=lambda: work()["log"][0])], messages_key="log"))
    graph.add_node("last", lambda state: {"log": [message.content for message in state["log"][1:]]})
    return graph.add_edge(START, "think").add_edge("think", "tools").add_edge("tools", "last").compile(saver)


def a_runnable_that_another_picks(work, saver):
    return lone_node(RunnableLambda(lambda state: RunnableLambda(lambda state: state) | RunnableLambda(work)), saver)


class Order(BaseModel):
    n: int


def a_runnable_as_a_tool(work, saver):
    paying = tool("pay", RunnableLambda(work).with_types(input_type=Order), description="Pay.")
    return with_a_tool(paying, call("pay", "p", n=1), saver)


def another_runnable_as_a_tool(work, saver):
    """One that is given a text."""
    paying = RunnableLambda(work)
    paying = Tool(name="pay", description="Pay.", func=paying.invoke, coroutine=paying.ainvoke)
    return with_a_tool(paying, call("pay", "p", __arg1="ana"), saver)


def with_a_tool(paying, wanted, saver):
    graph = StateGraph(State).add_node("think", lambda state: {"log": [calls(wanted)]})
    graph.add_node("tools", ToolNode([paying], messages_key="log"))
    graph.add_node("last", lambda state: {"log": json.loads(state["log"][-1].content)["log"]})
    return graph.add_edge(START, "think").add_edge("think", "tools").add_edge("tools", "last").compile(saver)


def a_tool_behind_a_runnable(work, saver):
    @tool
    async def pay() -> Any:
        """Pay."""
        return await work()

    return lone_node(RunnableLambda(lambda state: {}) | pay, saver)


PROGRAMS = [
    lone_node, two_nodes, two_steps, with_a_choice, nested, called_from_a_coroutine,
    a_task_of_a_coroutine, a_task_of_a_function, a_workflow, a_tool, a_tool_in_a_wrapper, a_runnable,
    a_runnable_with_a_choice, the_last_of_a_chain, the_last_resort, a_runnable_of_a_class, a_tool_of_a_class,
    a_tool_of_a_class_in_a_tool_node, a_runnable_that_another_picks, a_runnable_as_a_tool, another_runnable_as_a_tool,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_what_is_under_way_in_a_thread_is_finished_and_kept(program, durability, opened):
    async def main():
        work = Work()
        async with opened() as saver:
            app = program(work, saver)
            run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG, durability=durability))
            await call_off(run, work)
            assert work.count == 1
            result = await app.ainvoke(None, CONFIG, durability=durability)
            assert work.count == 1
            assert result["log"][-1] == "worked"

    asyncio.run(main())


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("is_nested", [False, True], ids=["root", "nested"])
def test_so_it_is_if_the_run_had_failed_already_and_waited_for_the_thread(is_nested, durability, opened):
    async def main():
        work, away = Work(), [True]

        async def fail(state):
            await work.is_begun()
            if away.pop():
                raise ConnectionError("away")
            return {"log": ["back"]}

        async with opened() as saver:
            graph = StateGraph(State).add_node("work", work).add_edge(START, "work")
            app = graph.add_node(fail).add_edge(START, "fail").compile(None if is_nested else saver)
            if is_nested:
                app = StateGraph(State).add_node("inner", app).add_edge(START, "inner").compile(saver)
            run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG, durability=durability))
            while away:
                await asyncio.sleep(0)
            await turns()
            await call_off(run, work)
            away.append(False)
            assert sorted((await app.ainvoke(None, CONFIG))["log"]) == ["back", "worked"]
            assert work.count == 1

    asyncio.run(main())


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("often", [2, 100])
def test_whoever_cancels_twice_need_not_wait_and_the_thread_is_taken_meanwhile(program, often, opened):
    async def main():
        work = Work()
        async with opened() as saver:
            app = program(work, saver)
            run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG))
            await work.is_begun()
            for _ in range(often):  # as anyio does, until it is obeyed
                run.cancel()
                await asyncio.sleep(0)
            with pytest.raises(asyncio.CancelledError):
                await run
            with pytest.raises(ThreadBusy):
                await app.ainvoke(None, CONFIG)
            work.may_end.set()
            result = await _once_free(app)
            assert work.count == 1
            assert result["log"][-1] == "worked"

    asyncio.run(main())


async def _once_free(app):
    async with asyncio.timeout(10):
        while True:
            try:
                return await app.ainvoke(None, CONFIG)
            except ThreadBusy:
                await asyncio.sleep(0.001)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("mode", ["updates", "values", "custom"])
def test_a_stream_that_is_called_off_finishes_what_is_under_way(program, mode, opened):
    async def main():
        work = Work()
        async with opened() as saver:
            app = program(work, saver)

            async def read():
                async for _ in app.astream({"log": []}, CONFIG, stream_mode=mode, subgraphs=True):
                    pass

            run = asyncio.create_task(read())
            await call_off(run, work)
            assert (await app.ainvoke(None, CONFIG))["log"][-1] == "worked"
            assert work.count == 1

    asyncio.run(main())


async def invoked(app):
    await app.ainvoke({"log": []}, CONFIG)


async def followed(app):
    async for _ in app.astream({"log": []}, CONFIG, subgraphs=True):
        pass


@pytest.mark.parametrize("way", [invoked, followed])
@pytest.mark.parametrize("program", [lone_node, two_nodes, two_steps, nested, called_from_a_coroutine])
@pytest.mark.parametrize("at_work", ["in a thread", "in the loop"])
def test_a_scope_of_anyio_ends_with_the_run_that_it_has_called_off(at_work, program, way):
    async def main():
        work, begun = Work(), asyncio.Event()

        async def wait(*_):
            begun.set()
            await asyncio.Event().wait()

        async with anyio.create_task_group() as group:  # as a web framework runs a request
            with anyio.CancelScope() as scope:

                async def leave():
                    await (asyncio.wait_for(begun.wait(), 10) if at_work == "in the loop" else work.is_begun())
                    scope.cancel()

                group.start_soon(leave)
                await way(program(wait if at_work == "in the loop" else work, InMemorySaver()))
            assert scope.cancelled_caught
            work.may_end.set()

    asyncio.run(main())


def test_a_timeout_of_the_caller_comes_after_the_function():
    async def main():
        work = Work()
        app = lone_node(work, InMemorySaver())
        asyncio.get_running_loop().call_later(0.05, work.may_end.set)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(app.ainvoke({"log": []}, CONFIG), 0.01)
        assert work.count == 1
        assert await app.ainvoke(None, CONFIG) == {"log": ["worked"]}
        assert work.count == 1

    asyncio.run(main())


def test_a_question_that_is_asked_after_the_run_was_called_off_is_kept():
    async def main():
        work = Work()

        def ask(state):
            work()
            return {"log": [interrupt("Sure?")]}

        app = lone_node(ask, InMemorySaver())
        run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG))
        await work.is_begun()
        run.cancel()
        await turns()
        work.may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert [question.value for question in (await app.aget_state(CONFIG)).interrupts] == ["Sure?"]
        assert await app.ainvoke(Command(resume="yes"), CONFIG) == {"log": ["yes"]}

    asyncio.run(main())


def test_what_fails_after_the_run_was_called_off_is_not_tried_again():
    async def main():
        work = Work()

        def fail(state):
            work()
            raise ValueError("no")

        policy = RetryPolicy(initial_interval=60, retry_on=ValueError)
        graph = StateGraph(State).add_node("fail", fail, retry_policy=policy).add_edge(START, "fail")
        app = graph.compile(InMemorySaver())
        run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG))
        await work.is_begun()
        run.cancel()
        await turns()
        work.may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(run, 10)
        assert work.count == 1

    asyncio.run(main())


class Slow(AsyncCallbackHandler):
    """Somebody who takes long to hear that a node has ended."""

    def __init__(self):
        self.hears = asyncio.Event()

    async def on_chain_end(self, outputs, **named):
        if named.get("parent_run_id") is not None:
            self.hears.set()
            await asyncio.Event().wait()


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("program", [lone_node, two_nodes, nested])
def test_a_node_that_has_returned_is_not_run_again_though_nobody_has_heard_of_it(program, is_async):
    async def main():
        ran = []

        async def awork(state):
            ran.append("worked")
            return {"log": ["worked"]}

        def work(state):
            ran.append("worked")
            return {"log": ["worked"]}

        app, slow = program(awork if is_async else work, InMemorySaver()), Slow()
        run = asyncio.create_task(app.ainvoke({"log": []}, {**CONFIG, "callbacks": [slow]}))
        await slow.hears.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert await app.ainvoke(None, CONFIG) == {"log": ["worked"]}
        assert ran == ["worked"]

    asyncio.run(main())


class SlowAtEdges(AsyncCallbackHandler):
    """Somebody who takes long to hear that a conditional edge is asked."""

    def __init__(self):
        self.hears = asyncio.Event()

    async def on_chain_start(self, serialized, inputs, **named):
        if named.get("name") == "choose":
            self.hears.set()
            await asyncio.Event().wait()


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
@pytest.mark.parametrize("is_beside", [False, True], ids=["alone", "beside"])
def test_nor_if_nobody_has_heard_yet_that_its_edges_are_asked(is_beside, durability, is_async):
    async def main():
        ran = []

        async def work(state):
            ran.append("worked")
            return {"log": ["worked"]}

        def choose(state):
            return "last"

        async def achoose(state):
            return "last"

        achoose.__name__ = "choose"
        graph = StateGraph(State).add_node(work).add_node("last", lambda state: {"log": ["last"]})
        graph.add_edge(START, "work").add_conditional_edges("work", achoose if is_async else choose, ["last"])
        if is_beside:
            graph.add_node("beside", lambda state: None).add_edge(START, "beside")
        app, slow = graph.compile(InMemorySaver()), SlowAtEdges()
        run = asyncio.create_task(app.ainvoke({"log": []}, {**CONFIG, "callbacks": [slow]}, durability=durability))
        await slow.hears.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert await app.ainvoke(None, CONFIG) == {"log": ["worked", "last"]}
        assert ran == ["worked"]

    asyncio.run(main())


def test_nobody_waits_for_those_who_hear_of_a_node_that_returns_after_the_run_was_called_off():
    async def main():
        work, slow = Work(), Slow()
        app = two_nodes(work, InMemorySaver())
        run = asyncio.create_task(app.ainvoke({"log": []}, {**CONFIG, "callbacks": [slow]}))
        await slow.hears.wait()
        await work.is_begun()
        run.cancel()
        await turns()
        work.may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(run, 10)
        assert await app.ainvoke(None, CONFIG) == {"log": ["worked"]}
        assert work.count == 1

    asyncio.run(main())


def test_what_a_graph_two_levels_down_has_done_is_kept_with_exit_too(opened):
    async def main():
        begun, ran = asyncio.Event(), []

        async def wait(state):
            if not begun.is_set():
                begun.set()
                await asyncio.Event().wait()
            return {"log": ["waited"]}

        def done(state):
            ran.append("done")
            return {"log": ["done"]}

        below = StateGraph(State).add_sequence([("ask", lambda state: {"log": [interrupt("Sure?")]}), done, wait])
        inner = StateGraph(State).add_node("below", below.add_edge(START, "ask").compile()).add_edge(START, "below")
        async with opened() as saver:
            app = StateGraph(State).add_node("inner", inner.compile()).add_edge(START, "inner").compile(saver)
            await app.ainvoke({"log": []}, CONFIG, durability="exit")
            run = asyncio.create_task(app.ainvoke(Command(resume="yes"), CONFIG, durability="exit"))
            await asyncio.wait_for(begun.wait(), 10)
            run.cancel()
            with pytest.raises(asyncio.CancelledError):
                await run
            result = await app.ainvoke(None, CONFIG, durability="exit")
            assert result["log"] == ["yes", "done", "waited"]
            assert ran == ["done"]

    asyncio.run(main())


class Leaves(BaseException):
    """Like KeyboardInterrupt or SystemExit: no failure of the task, the whole program is to end."""


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_sync_run_that_has_failed_waits_for_its_threads_though_it_is_broken_off_meanwhile(durability, monkeypatch):
    stop, waits, ran, away = Crew.call_off, threading.Event(), [], [True]

    def broken_off(crew, at_rest):
        monkeypatch.setattr(Crew, "call_off", stopped)
        raise Leaves  # as a signal does

    def stopped(crew, at_rest):
        stop(crew, at_rest)
        waits.set()

    def work(state):
        assert waits.wait(10)
        ran.append("work")
        return {"log": ["worked"]}

    def fail(state):
        if away.pop():
            raise ConnectionError("away")
        return {"log": ["back"]}

    monkeypatch.setattr(Crew, "call_off", broken_off)
    graph = StateGraph(State).add_node(work).add_node(fail).add_edge(START, "work").add_edge(START, "fail")
    app = graph.compile(InMemorySaver())
    with pytest.raises(Leaves):
        app.invoke({"log": []}, CONFIG, durability=durability)
    assert ran == ["work"], "the run is not over while the function works"
    away.append(False)
    assert sorted(app.invoke(None, CONFIG)["log"]) == ["back", "worked"]
    assert ran == ["work"]


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_sync_run_that_ends_finishes_the_calls_under_way_and_keeps_them(durability):
    """Nobody can call off a thread: the next run would pay beside it."""
    order, under_way, is_over = [], threading.Event(), threading.Event()

    @task
    def pay(order_id):
        under_way.set()
        is_over.wait(0.1)
        order.append(f"paid {order_id}")
        return order_id

    @task
    def look(order_id):
        under_way.wait()
        if "over" not in order:
            raise Leaves
        return order_id

    @entrypoint(checkpointer=InMemorySaver())
    def work(order_id):
        payment, seen = pay(order_id), look(order_id)
        return [seen.result(), payment.result()]

    with pytest.raises(Leaves):
        work.invoke(1, CONFIG, durability=durability)
    order.append("over")
    is_over.set()
    assert work.invoke(None, CONFIG) == [1, 1]
    assert order == ["paid 1", "over"]


class Ending:
    """Something on the event loop that calls its own run off, some turns of the loop before it ends; and counts."""

    def __init__(self, turns_before):
        self.turns_before, self.count = turns_before, 0
        self.run = None

    async def __call__(self, *_):
        if not self.run.cancelling():
            self.run.cancel()
            for _ in range(self.turns_before):
                await asyncio.sleep(0)
        self.count += 1
        return {"log": ["worked"]}


def some_tools(work, saver, *, many=1, **settings):
    @tool
    async def pay() -> str:
        """Pay."""
        return str((await work())["log"][0])

    @tool
    async def look() -> str:
        """Look."""
        await asyncio.sleep(0)
        return "seen"

    told = [call("pay", "p"), *(call("look", f"{number}") for number in range(1, many))]
    graph = StateGraph(State).add_node("think", lambda state: {"log": [calls(*told)]})
    graph.add_node("tools", ToolNode([pay, look], messages_key="log", **settings))
    graph.add_node("last", lambda state: {"log": [message.content for message in state["log"][1:2]]})
    return graph.add_edge(START, "think").add_edge("think", "tools").add_edge("tools", "last").compile(saver)


def a_coroutine_tool(work, saver):
    return some_tools(work, saver)


def several_tools(work, saver):
    return some_tools(work, saver, many=3)


def a_wrapped_tool(work, saver):
    async def around(request, handler):
        return await handler(request)

    return some_tools(work, saver, awrap_tool_call=around)


def with_an_async_choice(work, saver):
    async def choose(state):
        await asyncio.sleep(0)
        return "last"

    graph = StateGraph(State).add_node("work", work).add_node("last", lambda state: None).add_edge(START, "work")
    return graph.add_conditional_edges("work", choose, ["last"]).compile(saver)


def with_a_choice_and_a_neighbour(work, saver):
    async def choose(state):
        await asyncio.sleep(0)
        return "last"

    async def beside(state):
        await asyncio.sleep(0)

    graph = StateGraph(State).add_node("work", work).add_node("last", lambda state: None).add_node(beside)
    graph.add_edge(START, "work").add_edge(START, "beside")
    return graph.add_conditional_edges("work", choose, ["last"]).compile(saver)


ON_THE_LOOP = [
    lone_node, two_nodes, two_steps, with_a_choice, with_an_async_choice, with_a_choice_and_a_neighbour, nested,
    called_from_a_coroutine, a_task_of_a_coroutine, a_task_of_a_function, a_workflow, a_coroutine_tool, several_tools,
    a_wrapped_tool, a_runnable, a_runnable_with_a_choice, the_last_of_a_chain, the_last_resort,
    runnables_side_by_side,
    a_tool_behind_a_runnable, a_runnable_that_another_picks, a_runnable_as_a_tool, another_runnable_as_a_tool,
]  # fmt: skip


@pytest.mark.parametrize("program", ON_THE_LOOP)
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_coroutine_that_has_returned_when_its_run_is_called_off_is_not_run_again(program, durability, opened):
    async def main():
        async with opened() as saver:
            for turns_before in range(8):
                work = Ending(turns_before)
                app, config = program(work, saver), {"configurable": {"thread_id": f"{turns_before} turns"}}
                work.run = asyncio.create_task(app.ainvoke({"log": []}, config, durability=durability))
                with pytest.raises(asyncio.CancelledError):
                    await work.run
                before = work.count
                result = await app.ainvoke(None, config, durability=durability)
                assert work.count == 1, f"called off {turns_before} turns before, it had returned {before} times"
                assert result["log"][-1] == "worked"

    asyncio.run(main())


async def never(state):
    await asyncio.Event().wait()


def test_a_thread_beside_a_coroutine_in_a_runnable_is_waited_for_when_its_run_is_called_off():
    async def main():
        work = Work()
        app = lone_node({"log": work, "other": never}, InMemorySaver())
        run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG))
        await call_off(run, work)
        assert work.count == 1

    asyncio.run(main())


def test_a_thread_beside_a_coroutine_in_a_runnable_is_waited_for_when_another_node_fails():
    async def main():
        work = Work()

        async def fail(state):
            await work.is_begun()
            raise ValueError("no")

        graph = StateGraph(State).add_node("side by side", {"log": work, "other": never}).add_node("fail", fail)
        app = graph.add_edge(START, "side by side").add_edge(START, "fail").compile(InMemorySaver())
        run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG))
        await work.is_begun()
        await asyncio.to_thread(work.may_end.wait, 0.05)
        assert not run.done()
        work.may_end.set()
        with pytest.raises(ValueError, match="no"):
            await run

    asyncio.run(main())


def test_a_node_does_not_fail_before_what_is_under_way_beside_the_failure_in_a_runnable():
    async def main():
        work = Work()

        def fail(state):
            assert work.begun.wait(10)
            raise ValueError("no")

        run = asyncio.create_task(lone_node({"log": work, "other": fail}, InMemorySaver()).ainvoke({"log": []}, CONFIG))
        await work.is_begun()
        await asyncio.to_thread(work.may_end.wait, 0.05)
        assert not run.done()
        work.may_end.set()
        with pytest.raises(ValueError, match="no"):
            await run
        assert work.count == 1

    asyncio.run(main())


def test_what_comes_behind_a_function_in_a_chain_does_not_begin_once_the_run_is_called_off():
    async def main():
        work, begun = Work(), []

        async def behind(state):
            begun.append(state)
            return state

        app = lone_node(RunnableLambda(work) | RunnableLambda(behind), InMemorySaver())
        run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG))
        await work.is_begun()
        run.cancel()
        await turns()
        work.may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert begun == []

    asyncio.run(main())


@pytest.mark.parametrize("turns_before", range(6))
@pytest.mark.parametrize("is_async", [False, True])
def test_a_call_that_a_thread_makes_while_its_run_is_called_off_does_not_hang(turns_before, is_async):
    go, made, ran = threading.Event(), threading.Event(), []

    def work(value):
        ran.append(value)
        return value

    async def awork(value):
        return work(value)

    done = task(awork if is_async else work, name="done")

    def outer(state):
        assert go.wait(10)
        try:
            call = done(1)
        finally:
            made.set()
        return {"log": [call.result()]}

    def let_go(loop, turns):
        if turns:
            return loop.call_soon(let_go, loop, turns - 1)
        go.set()
        return made.wait(10)

    async def main():
        app = StateGraph(State).add_node(outer).add_edge(START, "outer").compile(InMemorySaver())
        run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG))
        await turns()
        run.cancel()
        let_go(asyncio.get_running_loop(), turns_before)
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(asyncio.shield(run), 10)
        assert await app.ainvoke(None, CONFIG) == {"log": [1]}
        assert ran == [1]

    asyncio.run(main())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::RuntimeWarning")
def test_a_run_whose_loop_was_closed_has_its_thread_no_more(tmp_path):
    """As after an error out of a signal handler: `run_until_complete` is left, and nobody has called anything off."""
    started = []

    async def work(state):
        started.append("work")
        if started == ["work"]:
            await asyncio.Event().wait()
        return {"log": ["worked"]}

    async def is_started():
        while not started:
            await asyncio.sleep(0)

    with SqliteSaver.from_conn_string(str(tmp_path / "a.db")) as saver:
        app = StateGraph(State).add_node(work).add_edge(START, "work").compile(saver)
        loop = asyncio.new_event_loop()
        run = loop.create_task(app.ainvoke({"log": []}, CONFIG))
        loop.run_until_complete(is_started())
        with pytest.raises(ThreadBusy):
            asyncio.run(app.ainvoke(None, CONFIG))  # that loop may go on
        loop.close()

        assert asyncio.run(app.ainvoke(None, CONFIG)) == {"log": ["worked"]}
    assert (len(started), run.done()) == (2, False)
    del run, loop
    gc.collect()


@pytest.mark.parametrize("fails", [False, True])
def test_a_call_in_a_thread_that_was_given_up_ends_before_its_task_is_tried_again(fails):
    async def main():
        work, tries = Work(), []

        @task
        def slow():
            work()
            if fails and len(tries) == 1:
                raise LookupError("nobody hears of it")
            return "worked"

        @task
        async def failing():
            await work.is_begun()
            raise ConnectionError("away")

        async def both(value):
            tries.append(value)
            try:
                async with asyncio.TaskGroup() as group:
                    slowly = group.create_task(_awaited(slow))
                    if len(tries) == 1:
                        group.create_task(_awaited(failing))
            finally:
                work.may_end.set()
            return slowly.result()

        policy = RetryPolicy(initial_interval=0, jitter=False, retry_on=ExceptionGroup)
        app = entrypoint(checkpointer=InMemorySaver(), retry_policy=policy)(both)
        assert await app.ainvoke(1, CONFIG) == "worked"
        assert (work.count, len(tries)) == (2 if fails else 1, 2)

    asyncio.run(main())


@pytest.mark.parametrize("is_deep", [False, True])
@pytest.mark.parametrize("durability", ["exit", "async", "sync"])
def test_a_call_in_a_thread_that_a_call_has_made_which_was_given_up_is_kept(durability, is_deep):
    async def main():
        work, tries = Work(), []

        @task
        def slow():
            return work()["log"]

        @task
        async def around():
            return await slow()

        @task
        async def further_around():
            return await around()

        async def let_it_end():
            await turns()
            work.may_end.set()

        @entrypoint(checkpointer=InMemorySaver())
        async def app(value):
            call = further_around() if is_deep else around()
            tries.append(value)
            if len(tries) > 1:
                return await call
            await work.is_begun()
            call.cancel()
            tries.append(asyncio.create_task(let_it_end()))
            raise ConnectionError("away")

        with pytest.raises(ConnectionError):
            await app.ainvoke(1, CONFIG, durability=durability)
        assert await app.ainvoke(None, CONFIG) == ["worked"]
        assert work.count == 1

    asyncio.run(main())


async def _awaited(call):
    return await call()
