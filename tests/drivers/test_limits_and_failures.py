"""max_concurrency: when something has failed, nothing more of the step begins, and what runs comes to its end."""

import asyncio
import operator
import threading
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, RetryPolicy, Send, interrupt

WAYS = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


class Log(TypedDict):
    log: Annotated[list, operator.add]


class Work:
    """What was begun. Number 0 fails until it is mended."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.is_mended = False

    def do(self, number: int) -> Any:
        self.begun.append(number)
        return self._end(number)

    async def ado(self, number: int) -> Any:
        self.begun.append(number)
        for _ in range(2 * number):
            await asyncio.sleep(0)
        return self._end(number)

    def _end(self, number: int) -> Any:
        if number == 0 and not self.is_mended:
            raise LookupError("not today")
        return {"log": [number]}


def config(limit: int) -> Any:
    return {"configurable": {"thread_id": "1"}, "max_concurrency": limit}


def call(app: Any, input: Any, limit: int, is_async: bool) -> Any:
    return asyncio.run(app.ainvoke(input, config(limit))) if is_async else app.invoke(input, config(limit))


def nodes(work: Work, is_async: bool) -> Any:
    graph = StateGraph(Log)
    for number in range(4):

        async def anode(state: Any, number: int = number) -> Any:
            return await work.ado(number)

        def node(state: Any, number: int = number) -> Any:
            return work.do(number)

        graph.add_node(str(number), anode if is_async else node).add_edge(START, str(number))
    return graph


def sends(work: Work, is_async: bool) -> Any:
    async def anode(number: int) -> Any:
        return await work.ado(number)

    graph = StateGraph(Log).add_node("work", anode if is_async else work.do)
    return graph.add_conditional_edges(START, lambda _: [Send("work", number) for number in range(4)], ["work"])


@pytest.mark.parametrize("program", [nodes, sends])
@pytest.mark.parametrize(("limit", "is_async"), [(1, False), (1, True), (2, True)], ids=["sync", "async", "two"])
def test_nothing_of_a_step_begins_after_one_of_its_tasks_has_failed(program, limit, is_async):
    work = Work()
    app = program(work, is_async).compile(InMemorySaver())
    with pytest.raises(LookupError):
        call(app, {"log": []}, limit, is_async)
    assert work.begun == list(range(limit))
    work.is_mended = True
    assert call(app, None, limit, is_async) == {"log": [0, 1, 2, 3]}


@WAYS
def test_after_a_failure_that_is_handled_the_others_begin(is_async):
    async def fail(state: Any) -> Any:
        raise LookupError("not today")

    def fail_here(state: Any) -> Any:
        raise LookupError("not today")

    def mend(state: Any) -> Any:
        return {"log": ["mended"]}

    graph = StateGraph(Log).add_node("fails", fail if is_async else fail_here, error_handler=mend)
    graph.add_node("works", lambda state: {"log": ["worked"]}).add_edge(START, "fails").add_edge(START, "works")
    assert call(graph.compile(), {"log": []}, 1, is_async) == {"log": ["mended", "worked"]}


@WAYS
def test_others_of_the_step_begin_after_one_that_asks_or_leads_to_the_graph_around(is_async):
    def ask(state: Any) -> Any:
        return {"log": [interrupt("ok?")]}

    def leave(state: Any) -> Any:
        return Command(graph=Command.PARENT, update={"log": ["left"]})

    inner = StateGraph(Log).add_node(leave).add_node("works", lambda state: {"log": ["worked"]})
    inner.add_edge(START, "leave").add_edge(START, "works")
    app = StateGraph(Log).add_node(ask).add_node("inner", inner.compile()).add_node("last", lambda state: None)
    app = app.add_edge(START, "ask").add_edge(START, "inner").compile(InMemorySaver())
    call(app, {"log": []}, 1, is_async)
    assert call(app, Command(resume="yes"), 1, is_async)["log"] == ["yes", "left"]


@WAYS
@pytest.mark.parametrize("tries", [1, 2])
def test_calls_whose_turn_has_not_come_are_not_made_when_their_task_has_failed(tries, is_async):
    begun, is_under_way, is_last_called_off = [], threading.Event(), threading.Event()

    @task
    def work(number):
        begun.append(number)
        is_under_way.set()
        assert is_last_called_off.wait(10)

    @task
    async def awork(number):
        begun.append(number)
        is_under_way.set()
        assert await asyncio.to_thread(is_last_called_off.wait, 10)

    def fail_once(last):
        last.add_done_callback(lambda _: is_last_called_off.set())
        if not is_last_called_off.is_set():
            assert is_under_way.wait(10)
            raise LookupError("not today")

    def flow(count):
        futures = [work(number) for number in range(count)]
        fail_once(futures[-1])
        return [future.result() for future in futures]

    async def aflow(count):
        futures = [awork(number) for number in range(count - 1)]
        await asyncio.sleep(0)
        futures.append(awork(count - 1))  # it begins to wait for its turn when the task has failed
        fail_once(futures[-1])
        return await asyncio.gather(*futures)

    again = RetryPolicy(max_attempts=tries, initial_interval=0, jitter=False, retry_on=LookupError)
    app = entrypoint(checkpointer=InMemorySaver(), retry_policy=again)(aflow if is_async else flow)
    if tries == 1:
        with pytest.raises(LookupError):
            call(app, 4, 1, is_async)
        assert begun == [0]
    assert call(app, None if tries == 1 else 4, 1, is_async) == [None] * 4
    assert sorted(begun) == [0, 1, 2, 3]
