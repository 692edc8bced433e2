"""Savers that somebody has changed by a subclass: what it changes is what runs use, sync and async."""

import asyncio
from contextlib import ExitStack
from functools import partial
from typing import Any, TypedDict

import pytest
from langgraph.checkpoint.memory import InMemorySaver as langgraph_saver

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver
from signoff.func import task
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

pytestmark = pytest.mark.filterwarnings("ignore::signoff.errors.LimitedSaver")

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    x: int


def app(saver: Any, nodes: int = 1) -> Any:
    graph = StateGraph(State)
    for number in range(nodes):
        name = f"n{number}"
        graph.add_node(name, lambda state: {"x": state["x"] + 1} if nodes == 1 else None).add_edge(START, name)
    return graph.compile(checkpointer=saver)


def run(graph: Any) -> Any:
    return graph.invoke({"x": 0}, CONFIG)


def arun(graph: Any) -> Any:
    return asyncio.run(graph.ainvoke({"x": 0}, CONFIG))


both = pytest.mark.parametrize("call", [run, arun], ids=["sync", "async"])


class Full(Exception):
    """What a saver that refuses raises."""


@both
def test_a_changed_get_tuple_is_what_runs_read_with(call):
    class Refuses(InMemorySaver):
        def get_tuple(self, config):
            raise Full

    with pytest.raises(Full):
        call(app(Refuses()))


def test_reads_that_are_counted_leave_the_thread_to_one_run(tmp_path):
    reads = []

    class Counts(SqliteSaver):
        def get_tuple(self, config):
            reads.append(config)
            return super().get_tuple(config)

    assert Counts.has_leases, "how it is read has nothing to do with who may write"
    with Counts.from_conn_string(str(tmp_path / "a.db")) as saver:
        assert run(app(saver)) == {"x": 1}
        assert len(reads) == 1


def test_reads_of_an_async_saver_that_are_counted_leave_the_thread_to_one_run(tmp_path):
    reads = []

    class Counts(AsyncSqliteSaver):
        async def aget_tuple(self, config):
            reads.append(config)
            return await super().aget_tuple(config)

    async def run_on_a_loop():
        async with Counts.from_conn_string(str(tmp_path / "a.db")) as saver:
            return await app(saver).ainvoke({"x": 0}, CONFIG)

    assert Counts.has_leases
    assert asyncio.run(run_on_a_loop()) == {"x": 1}
    assert len(reads) == 1


@pytest.mark.parametrize(("call", "name"), [(run, "get_tuple"), (arun, "aget_tuple")], ids=["sync", "async"])
@pytest.mark.parametrize("kind", [InMemorySaver, SqliteSaver])
def test_a_run_reads_once_and_in_its_own_way_if_both_ways_are_changed(call, name, kind, tmp_path):
    reads = []

    class Counts(kind):
        def get_tuple(self, config):
            reads.append("get_tuple")
            return kind.get_tuple(self, config)

        async def aget_tuple(self, config):
            reads.append("aget_tuple")
            return kind.get_tuple(self, config)

    with ExitStack() as stack:
        opened = Counts if kind is InMemorySaver else partial(Counts.from_conn_string, str(tmp_path / "a.db"))
        assert call(app(stack.enter_context(opened()))) == {"x": 1}
    assert reads == [name]


def test_a_sync_run_reads_once_if_both_ways_of_an_async_saver_are_changed(tmp_path):
    reads = []

    class Counts(AsyncSqliteSaver):
        def get_tuple(self, config):
            reads.append("get_tuple")
            return super().get_tuple(config)

        async def aget_tuple(self, config):
            reads.append("aget_tuple")
            return await super().aget_tuple(config)

    async def run_in_a_thread():
        async with Counts.from_conn_string(str(tmp_path / "a.db")) as saver:
            return await asyncio.to_thread(run, app(saver))

    assert asyncio.run(run_in_a_thread()) == {"x": 1}
    assert reads == ["get_tuple", "aget_tuple"], "the one by way of the other"


@both
@pytest.mark.parametrize("nodes", [1, 2])
def test_writes_go_to_a_put_writes_of_the_time_before_there_were_paths(call, nodes):
    written = []

    class Old(InMemorySaver):
        def put_writes(self, config, writes, task_id):
            written.append(task_id)
            super().put_writes(config, writes, task_id)

        async def aput_writes(self, config, writes, task_id):
            self.put_writes(config, writes, task_id)

    call(app(Old(), nodes))
    assert len(written) >= nodes


@both
def test_an_error_of_a_changed_put_writes_reaches_the_caller_from_the_background(call):
    class Refuses(InMemorySaver):
        def put_writes(self, config, writes, task_id, task_path=""):
            raise Full

    with pytest.raises(Full):
        call(app(Refuses(), nodes=2))


def update(graph: Any, values: Any) -> Any:
    return graph.update_state(CONFIG, values)


def aupdate(graph: Any, values: Any) -> Any:
    return asyncio.run(graph.aupdate_state(CONFIG, values))


class Counting(InMemorySaver):
    """One that sees each write on its way."""

    def put_writes(self, config, writes, task_id, task_path=""):
        super().put_writes(config, writes, task_id, task_path)

    async def aput_writes(self, config, writes, task_id, task_path=""):
        await super().aput_writes(config, writes, task_id, task_path)


@pytest.mark.parametrize("saver", [Counting, langgraph_saver], ids=["changed", "LangGraph's"])
@pytest.mark.parametrize("call", [update, aupdate], ids=["sync", "async"])
def test_a_thread_may_begin_with_an_update_on_a_saver_that_stores_piece_by_piece(saver, call):
    graph = app(saver())
    call(graph, {"x": 5})
    assert graph.get_state(CONFIG).values == {"x": 5}
    assert graph.invoke(None, CONFIG) == {"x": 6}


@pytest.mark.parametrize("saver", [Counting, langgraph_saver], ids=["changed", "LangGraph's"])
def test_what_was_paid_and_answered_outlives_an_update_on_a_saver_that_stores_piece_by_piece(saver):
    paid = []

    @task
    def pay(amount):
        paid.append(amount)

    def work(state):
        pay(5).result()
        return {"x": interrupt("one?") + interrupt("two?")}

    graph = StateGraph(State).add_node(work).add_edge(START, "work").compile(checkpointer=saver())
    run(graph)
    graph.invoke(Command(resume=1), CONFIG)
    update(graph, {"x": 9})
    assert [question.value for question in graph.invoke(None, CONFIG)["__interrupt__"]] == ["two?"]
    assert graph.invoke(Command(resume=2), CONFIG) == {"x": 3}
    assert paid == [5]
