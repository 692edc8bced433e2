"""The drivers: threads, event loops, slow readers, cancellation, timeouts."""

import asyncio
import contextvars
import operator
import threading
from functools import partial
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite.aio import AsyncSqliteSaver
from signoff.config import get_config, get_stream_writer
from signoff.errors import InvalidInput, NodeCancelledError, NodeTimeoutError, SwallowedPause
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.types import Command, Send, TimeoutPolicy, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list, operator.add]


def graph(saver=None, **nodes):
    """All nodes at once."""
    builder = StateGraph(State)
    for name, node in nodes.items():
        builder.add_node(name, node).add_edge(START, name)
    return builder.compile(saver)


def test_a_lone_sync_node_runs_in_place():
    where = []
    graph(only=lambda state: where.append(threading.current_thread())).invoke({"log": []})
    assert where == [threading.current_thread()]


def test_several_sync_nodes_run_at_the_same_time():
    together = threading.Barrier(3, timeout=10)
    nodes = {name: lambda state: {"log": [together.wait() >= 0]} for name in "abc"}
    assert graph(**nodes).invoke({"log": []}) == {"log": [True] * 3}


def test_max_concurrency_bounds_the_threads():
    running, most, lock = 0, 0, threading.Lock()

    def work(item):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.002)
        with lock:
            running -= 1
        return {"log": [item]}

    builder = StateGraph(State).add_node("work", work)
    app = builder.add_conditional_edges(START, lambda state: [Send("work", n) for n in range(20)]).compile()
    assert app.invoke({"log": []}, {"max_concurrency": 3}) == {"log": list(range(20))}
    assert most <= 3


def test_max_concurrency_bounds_async_tasks():
    running, most = 0, 0

    async def work(item):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return {"log": [item]}

    builder = StateGraph(State).add_node("work", work)
    app = builder.add_conditional_edges(START, lambda state: [Send("work", n) for n in range(20)]).compile()
    assert asyncio.run(app.ainvoke({"log": []}, {"max_concurrency": 3})) == {"log": list(range(20))}
    assert most <= 3


def test_a_sync_node_does_not_block_the_event_loop():
    released = threading.Event()

    def wait(state):
        assert released.wait(10)
        return {"log": ["went on"]}

    async def main():
        run = asyncio.create_task(graph(only=wait).ainvoke({"log": []}))
        await asyncio.sleep(0)
        released.set()
        return await run

    assert asyncio.run(main()) == {"log": ["went on"]}


def test_nested_graphs_in_many_threads_do_not_wait_for_each_other():
    inner = graph(x=lambda state: {"log": ["x"]}, y=lambda state: {"log": ["y"]})
    nodes = {f"n{n}": lambda state: inner.invoke({"log": []}) for n in range(30)}
    assert graph(**nodes).invoke({"log": []}, {"max_concurrency": 4}) == {"log": ["x", "y"] * 30}


def test_context_variables_reach_nodes_in_threads_and_do_not_leak_out_of_them():
    color = contextvars.ContextVar("color", default="none")

    def look(state):
        seen = color.get()
        color.set("changed")
        return {"log": [seen]}

    color.set("blue")
    assert graph(a=look, b=look).invoke({"log": []}) == {"log": ["blue", "blue"]}
    assert color.get() == "blue"


# Streams


def test_custom_words_arrive_while_the_node_runs():
    released = threading.Event()

    def speak(state):
        get_stream_writer()("before")
        assert released.wait(10)
        return {"log": ["done"]}

    stream = graph(only=speak).stream({"log": []}, stream_mode=["custom", "updates"])
    assert next(stream) == ("custom", "before")
    released.set()
    assert list(stream) == [("updates", {"only": {"log": ["done"]}})]


def test_a_slow_reader_holds_the_run_at_the_next_step():
    ran = []
    builder = StateGraph(State).add_sequence(
        [(name, lambda state, name=name: ran.append(name)) for name in ("first", "second", "third")]
    )
    stream = builder.add_edge(START, "first").compile().stream({"log": []})
    assert next(stream) == {"first": None}
    assert ran == ["first"]
    assert next(stream) == {"second": None}
    assert ran == ["first", "second"]


def test_a_reader_who_leaves_stops_the_run_and_what_it_has_seen_is_kept():
    ran = []
    builder = StateGraph(State).add_sequence(
        [(name, lambda state, name=name: ran.append(name) or {"log": [name]}) for name in ("first", "second", "third")]
    )
    app = builder.add_edge(START, "first").compile(InMemorySaver())
    for _ in app.stream({"log": []}, CONFIG):
        break
    assert ran == ["first"]
    assert app.get_state(CONFIG).values == {"log": ["first"]}
    assert app.invoke(None, CONFIG) == {"log": ["first", "second", "third"]}
    assert ran == ["first", "second", "third"]


@pytest.mark.parametrize("is_on_disk", [False, True])
def test_a_thread_whose_reader_has_just_left_can_be_gone_on_with(is_on_disk, tmp_path):
    async def noted(state, name):
        return {"log": [name]}

    builder = StateGraph(State).add_sequence([(name, partial(noted, name=name)) for name in ("a", "b", "c")])

    async def read_and_go_on(saver):
        app = builder.add_edge(START, "a").compile(saver)
        async for _ in app.astream({"log": []}, CONFIG):
            break  # the loop closes the stream when it gets to it
        return await app.ainvoke(None, CONFIG)

    async def main():
        if not is_on_disk:
            return await read_and_go_on(InMemorySaver())
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "saver.db")) as saver:
            return await read_and_go_on(saver)

    assert asyncio.run(main()) == {"log": ["a", "b", "c"]}


def test_an_async_reader_who_leaves_cancels_what_runs():
    cancelled = []

    async def quick(state):
        return {"log": ["quick"]}

    async def slow(state):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("slow")
            raise

    async def main():
        app = graph(InMemorySaver(), quick=quick, slow=slow)
        stream = app.astream({"log": []}, CONFIG)
        async for chunk in stream:
            assert chunk == {"quick": {"log": ["quick"]}}
            break
        await stream.aclose()
        return await app.aget_state(CONFIG)

    state = asyncio.run(main())
    assert cancelled == ["slow"]
    assert state.next == ("slow",)
    assert state.values == {"log": ["quick"]}


def test_a_reader_may_leave_while_a_node_reads_a_stream_of_its_own():
    may_end = asyncio.Event()

    async def noted(state):
        get_stream_writer()("here")
        await may_end.wait()
        return {"log": ["noted"]}

    inner = graph(noted=noted)

    async def read(state):
        return {"log": [chunk async for chunk in inner.astream({"log": []})]}

    async def main():
        app = graph(InMemorySaver(), read=read)
        stream = app.astream({"log": []}, CONFIG, stream_mode="custom", subgraphs=True)
        await anext(stream)
        await stream.aclose()
        may_end.set()
        return await app.ainvoke(None, CONFIG)

    assert asyncio.run(main()) == {"log": [{"noted": {"log": ["noted"]}}]}


# Cancellation and failure


def test_a_cancelled_run_leaves_a_valid_thread():
    entered = asyncio.Event()
    attempts = []

    async def stuck(state):
        attempts.append(len(attempts))
        if len(attempts) == 1:
            entered.set()
            await asyncio.Event().wait()
        return {"log": ["went on"]}

    async def main():
        app = graph(InMemorySaver(), stuck=stuck)
        run = asyncio.create_task(app.ainvoke({"log": []}, CONFIG))
        await entered.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return await app.ainvoke(None, CONFIG)

    assert asyncio.run(main()) == {"log": ["went on"]}
    assert attempts == [0, 1]


def test_the_error_of_one_node_surfaces_and_the_others_are_cancelled():
    async def fail(state):
        raise ZeroDivisionError("no")

    async def slow(state):
        await asyncio.Event().wait()

    with pytest.raises(ZeroDivisionError):
        asyncio.run(graph(fail=fail, slow=slow).ainvoke({"log": []}))


@pytest.mark.parametrize("is_async", [False, True])
def test_a_result_that_cannot_be_written_is_left_to_the_error_handler(is_async):
    async def amistaken(state):
        return "a"

    def mistaken(state):
        return "a"

    builder = StateGraph(State)
    node = amistaken if is_async else mistaken
    builder.add_node("mistaken", node, error_handler=lambda state, error: {"log": [type(error.error).__name__]})
    app = builder.add_edge(START, "mistaken").compile()
    result = asyncio.run(app.ainvoke({"log": []})) if is_async else app.invoke({"log": []})
    assert result == {"log": ["InvalidUpdateError"]}


def test_a_node_that_cancels_itself_is_named():
    async def quit(state):
        raise asyncio.CancelledError

    async def other(state):
        return None

    with pytest.raises(NodeCancelledError, match="'quit'"):
        asyncio.run(graph(quit=quit, other=other).ainvoke({"log": []}))


def test_a_sync_sibling_of_a_failure_is_finished_and_kept():
    failed = threading.Event()
    ran = []

    def fail(state):
        if not ran:
            failed.set()
            raise ZeroDivisionError("no")
        return {"log": ["mended"]}

    def slow(state):
        assert failed.wait(10)
        ran.append("slow")
        return {"log": ["slow"]}

    app = graph(InMemorySaver(), fail=fail, slow=slow)
    with pytest.raises(ZeroDivisionError):
        app.invoke({"log": []}, CONFIG)
    assert app.invoke(None, CONFIG) == {"log": ["mended", "slow"]}
    assert ran == ["slow"]


def test_system_exit_in_a_thread_ends_the_run():
    def leave(state):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        graph(leave=leave, other=lambda state: None).invoke({"log": []})


class Leave(BaseException):
    """What no node catches as an error."""


@pytest.mark.parametrize("reason", [Leave(), BaseExceptionGroup("both", [Leave()])], ids=["alone", "in a group"])
def test_what_is_more_than_an_error_ends_an_async_run(reason):
    ended = []

    async def leave(state):
        raise reason

    async def other(state):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("other")

    with pytest.raises(type(reason)):
        asyncio.run(graph(leave=leave, other=other).ainvoke({"log": []}))
    assert ended == ["other"]


# Timeouts


def test_a_node_that_runs_too_long_is_cancelled_and_named():
    ended = []

    async def slow(state):
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("slow")

    async def program():
        with pytest.raises(NodeTimeoutError, match="'slow'") as error:
            await builder.compile().ainvoke({"log": []})
        return error.value.kind, ended.copy()

    builder = StateGraph(State).add_node("slow", slow, timeout=0.01).add_edge(START, "slow")
    assert asyncio.run(program()) == ("run", ["slow"])


class Clock(asyncio.SelectorEventLoop):
    """An event loop whose time passes when it is told so."""

    now = 0.0

    def time(self):
        return self.now


@pytest.mark.parametrize("sign", ["heartbeat", "none"])
def test_signs_of_life_keep_an_idle_timeout_away(sign):
    async def steady(state, runtime):
        for _ in range(8):
            asyncio.get_running_loop().now += 0.4
            if sign == "heartbeat":
                runtime.heartbeat()
            await asyncio.sleep(0)
        return {"log": ["alive"]}

    policy = TimeoutPolicy(idle_timeout=0.5)
    app = StateGraph(State).add_node("steady", steady, timeout=policy).add_edge(START, "steady").compile()
    with asyncio.Runner(loop_factory=Clock) as runner:
        if sign == "heartbeat":
            assert runner.run(app.ainvoke({"log": []})) == {"log": ["alive"]}
        else:
            with pytest.raises(NodeTimeoutError):
                runner.run(app.ainvoke({"log": []}))


def test_a_timeout_of_all_nodes_ends_one_that_hangs():
    async def hang(state):
        await asyncio.Event().wait()

    graph = StateGraph(State).set_node_defaults(timeout=0.01).add_node("hang", hang).add_edge(START, "hang")
    with pytest.raises(NodeTimeoutError):
        asyncio.run(graph.compile().ainvoke({"log": []}))


def test_silence_ends_with_an_idle_timeout():
    async def silent(state):
        await asyncio.Event().wait()

    policy = TimeoutPolicy(idle_timeout=0.01)
    builder = StateGraph(State).add_node("silent", silent, timeout=policy).add_edge(START, "silent")
    with pytest.raises(NodeTimeoutError) as error:
        asyncio.run(builder.compile().ainvoke({"log": []}))
    assert error.value.kind == "idle"


def test_a_step_timeout_ends_a_sync_step():
    released = threading.Event()
    app = graph(slow=lambda state: released.wait(0.2))
    app.step_timeout = 0.01
    with pytest.raises(TimeoutError, match="step_timeout"):
        app.invoke({"log": []})
    released.set()


def test_a_step_timeout_ends_an_async_step_and_cancels_what_runs():
    ended = []

    async def slow(state):
        try:
            await asyncio.wait_for(asyncio.Event().wait(), 5)
        finally:
            ended.append("slow")

    app = graph(slow=slow)
    app.step_timeout = 0.01
    with pytest.raises(TimeoutError, match="step_timeout"):
        asyncio.run(app.ainvoke({"log": []}))
    assert ended == ["slow"]


# Pauses


@pytest.mark.parametrize("catch", [Exception, ValueError])
def test_a_pause_passes_an_except_clause(catch):
    def ask(state):
        try:
            return {"log": [interrupt("sure?")]}
        except catch:
            return {"log": ["swallowed"]}

    app = graph(InMemorySaver(), ask=ask)
    assert app.invoke({"log": []}, CONFIG)["__interrupt__"][0].value == "sure?"
    assert app.invoke(Command(resume="yes"), CONFIG) == {"log": ["yes"]}


def test_a_pause_that_a_bare_except_eats_fails_the_run_and_names_the_node():
    def greedy(state):
        try:
            interrupt("sure?")
        except:  # noqa: E722
            pass
        return {"log": ["went on"]}

    with pytest.raises(SwallowedPause, match="'greedy'"):
        graph(InMemorySaver(), greedy=greedy).invoke({"log": []}, CONFIG)


def test_a_pause_in_a_task_group_is_a_pause():
    async def ask(state):
        async def one():
            return interrupt("sure?")

        async with asyncio.TaskGroup() as group:
            answer = group.create_task(one())
        return {"log": [answer.result()]}

    app = graph(InMemorySaver(), ask=ask)
    assert asyncio.run(app.ainvoke({"log": []}, CONFIG))["__interrupt__"][0].value == "sure?"
    assert asyncio.run(app.ainvoke(Command(resume="yes"), CONFIG)) == {"log": ["yes"]}


# Calls


def test_tasks_run_at_the_same_time_and_waiting_for_one_may_run_it_here():
    together = threading.Barrier(3, timeout=10)

    @task
    def meet(name):
        together.wait()
        return name

    @entrypoint()
    def flow(names):
        return [future.result() for future in [meet(name) for name in names]]

    assert flow.invoke(["a", "b", "c"]) == ["a", "b", "c"]


def test_a_sync_task_in_a_sync_node_of_an_async_run():
    @task
    def double(x):
        return 2 * x

    @entrypoint()
    def flow(x):
        return double(double(x).result()).result()

    assert asyncio.run(flow.ainvoke(3)) == 12


def test_a_run_may_end_in_the_moment_in_which_a_call_does():
    @task
    async def tell(news):
        news.set_result("told")

    @entrypoint()
    async def flow(_):
        news = asyncio.get_running_loop().create_future()
        tell(news)
        return await news

    assert asyncio.run(flow.ainvoke("go")) == "told"


def test_a_task_outside_of_a_run_says_so():
    @task
    def lonely():
        return None

    with pytest.raises(InvalidInput, match="'lonely'"):
        lonely()


def test_interrupt_outside_of_a_run_says_so():
    with pytest.raises(InvalidInput, match="interrupt"):
        interrupt("anybody?")
    with pytest.raises(InvalidInput, match="get_config"):
        get_config()
