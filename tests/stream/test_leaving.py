"""Followed runs that somebody leaves: at any moment, from anywhere, and even without a word."""

import asyncio
import gc
import operator
import threading
import time
from typing import Annotated, TypedDict

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import GraphDrained, StreamAborted, StreamMisused
from signoff.graph import START, MessagesState, StateGraph
from signoff.runtime import RunControl
from signoff.stream import StreamTransformer, UpdatesTransformer

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list, operator.add]


def chain(*nodes):
    graph = StateGraph(State).add_sequence(list(nodes))
    return graph.add_edge(START, nodes[0].__name__).compile(checkpointer=InMemorySaver())


def one(state):
    return {"log": [1]}


def two(state):
    return {"log": [2]}


async def turn(state):
    await asyncio.sleep(0)
    return {"log": ["turn"]}


async def again(state):
    await asyncio.sleep(0)
    return {"log": ["again"]}


def follow(app, **options):
    return app.stream_events({"log": []}, CONFIG, version="v3", **options)


async def afollow(app, **options):
    return await app.astream_events({"log": []}, CONFIG, version="v3", **options)


async def all_of(source):
    return [item async for item in source]


class Watching(StreamTransformer):
    """Does something when a node has written."""

    required_stream_modes = ("updates",)

    def init(self):
        return {}

    def process(self, event):
        if event["method"] == "updates":
            self.on_update()
        return True

    def on_update(self):
        raise NotImplementedError


# By those who are part of it


def test_a_transformer_may_abort_its_run():
    class Enough(Watching):
        before_builtins = True

        def on_update(self):
            run.abort()

    app = chain(one, two)
    run = follow(app, transformers=[Enough, UpdatesTransformer])
    assert list(run.values) == [{"log": []}]
    with pytest.raises(StreamAborted, match="aborted before its end"):
        _ = run.output
    assert app.invoke(None, CONFIG) == {"log": [1, 2]}


def test_a_node_may_abort_its_run_and_what_it_returns_is_stored():
    def enough(state):
        run.abort()
        return {"log": ["enough"]}

    app = chain(one, enough, two)
    run = follow(app)
    with pytest.raises(StreamAborted):
        _ = run.output
    assert app.get_state(CONFIG).next == ("two",)
    assert app.invoke(None, CONFIG) == {"log": [1, "enough", 2]}


def test_one_of_two_nodes_at_a_time_may_abort_their_run():
    def enough(state):
        run.abort()
        return {"log": ["enough"]}

    graph = StateGraph(State).add_node(enough).add_node(one).add_edge(START, "enough").add_edge(START, "one")
    app = graph.compile(checkpointer=InMemorySaver())
    run = follow(app)
    with pytest.raises(StreamAborted):
        _ = run.output
    assert app.invoke(None, CONFIG)["log"] in (["enough", 1], [1, "enough"])


@pytest.mark.parametrize("is_beside", [False, True], ids=["alone", "beside"])
def test_on_an_event_loop_too_a_node_may(is_beside):
    async def live():
        async def enough(state):
            await run.abort()
            return {"log": ["not reached"]}

        graph = StateGraph(State).add_node(enough).add_edge(START, "enough")
        if is_beside:
            graph.add_node(turn).add_edge(START, "turn")
        app = graph.compile(checkpointer=InMemorySaver())
        run = await afollow(app)
        with pytest.raises(StreamAborted):
            await run.output()
        return (await app.aget_state(CONFIG)).next

    assert "enough" in asyncio.run(live())


def test_a_node_that_reads_its_own_run_is_told_why_it_cannot():
    def reads(state):
        return {"log": [run.output]}

    run = follow(chain(reads))
    with pytest.raises(StreamMisused, match="cannot read the run that it is part of"):
        _ = run.output

    async def live():
        async def areads(state):
            return {"log": [await arun.output()]}

        arun = await afollow(chain(areads))
        with pytest.raises(StreamMisused, match="cannot read the run that it is part of"):
            await arun.output()

    asyncio.run(live())


# From outside


def test_another_thread_may_abort_a_run_while_it_is_read():
    is_there = threading.Event()

    def slow(state):
        is_there.set()
        while not run._puller._is_called_off:
            time.sleep(0)
        return {"log": ["slow"]}

    app = chain(slow, two)
    run = follow(app)

    def abort():
        is_there.wait()
        run.abort()

    thread = threading.Thread(target=abort)
    thread.start()
    with pytest.raises(StreamAborted):
        _ = run.output
    thread.join()
    assert app.invoke(None, CONFIG) == {"log": ["slow", 2]}


def test_ctrl_c_in_a_transformer_lets_go_of_the_thread():
    class Pressed(Watching):
        def on_update(self):
            raise KeyboardInterrupt

    app = chain(one, two)
    with pytest.raises(KeyboardInterrupt):
        _ = follow(app, transformers=[Pressed]).output
    assert app.invoke(None, CONFIG) == {"log": [1, 2]}


def test_a_reader_who_is_cancelled_in_a_transformer_lets_go_of_the_thread():
    async def live():
        is_there = asyncio.Event()

        class Slow(Watching):
            async def aprocess(self, event):
                if event["method"] == "updates":
                    is_there.set()
                    await asyncio.Event().wait()

        app = chain(turn, again)
        run = await afollow(app, transformers=[Slow])
        reading = asyncio.create_task(run.output())
        await is_there.wait()
        reading.cancel()
        await asyncio.wait({reading})
        return await app.ainvoke(None, CONFIG)

    assert asyncio.run(live()) == {"log": ["turn", "again"]}


@pytest.mark.parametrize("what", ["output", "values"])
@pytest.mark.parametrize("turns", range(1, 25))
def test_the_last_reader_calls_the_run_off_at_whatever_turn_of_the_loop_he_is_cancelled(what, turns):
    async def live():
        app = chain(turn, again)
        run = await afollow(app)
        reading = asyncio.create_task(run.output() if what == "output" else all_of(run.values))
        for _ in range(turns):
            await asyncio.sleep(0)
        reading.cancel()
        await asyncio.wait({reading})
        if not reading.cancelled():
            return reading.result()[-1] if what == "values" else reading.result()
        with pytest.raises(StreamAborted):
            await run.output()
        return await app.ainvoke(None, CONFIG)

    assert asyncio.run(live()) == {"log": ["turn", "again"]}


def test_whoever_aborts_does_not_wait_for_what_a_transformer_has_scheduled():
    called_off = []

    class Waiting(Watching):
        requires_async = True

        def on_update(self):
            self.schedule(self.wait())

        async def wait(self):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                called_off.append(True)
                raise

    async def live():
        app = chain(turn, again)
        run = await afollow(app, transformers=[Waiting])
        async for state in run.values:
            if len(state["log"]) == 1:
                await asyncio.sleep(0)
                break
        await asyncio.gather(run.abort(), run.abort())
        return await app.ainvoke(None, CONFIG)

    assert asyncio.run(live()) == {"log": ["turn", "again"]}
    assert called_off == [True]


def test_something_scheduled_that_was_cancelled_is_no_failure():
    class Hasty(Watching):
        requires_async = True

        def on_update(self):
            self.schedule(asyncio.Event().wait(), on_error="raise").cancel()
            self.schedule(asyncio.Event().wait()).cancel()

    async def live():
        return await (await afollow(chain(turn), transformers=[Hasty])).output()

    assert asyncio.run(live()) == {"log": ["turn"]}


# What is left


def test_what_has_not_ended_in_an_aborted_run_has_no_output_either():
    inner = StateGraph(State).add_sequence([one, two]).add_edge(START, "one").compile()
    app = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").compile()
    with app.stream_events({"log": []}, version="v3") as run:
        nested = next(iter(run.subgraphs))
        assert next(iter(nested.values)) == {"log": [1]}
    with pytest.raises(StreamAborted):
        _ = nested.output
    assert nested.status == "started"
    assert [told["event"] for told in run.lifecycle] == ["started"]


def test_a_nested_graph_that_was_drained_has_not_completed():
    control = RunControl()

    def drain(state):
        control.request_drain()
        return {"log": ["drain"]}

    inner = StateGraph(State).add_sequence([drain, two]).add_edge(START, "drain").compile()
    app = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").compile(checkpointer=InMemorySaver())
    run = follow(app, control=control)
    nested = next(iter(run.subgraphs))
    for read in (lambda: nested.output, lambda: run.output):
        with pytest.raises(GraphDrained):
            read()
    assert nested.status == "drained"
    assert app.invoke(None, CONFIG) == {"log": ["drain", 2]}


def test_a_message_that_was_not_written_to_its_end_says_so():
    model = GenericFakeChatModel(messages=iter([AIMessage("Dear Ana and Bo")]))

    def write(state):
        return {"messages": [model.invoke("Write!")]}

    app = StateGraph(MessagesState).add_node(write).add_edge(START, "write").compile()
    with app.stream_events({"messages": []}, version="v3") as run:
        message = next(iter(run.messages))
        words = iter(message.text)
        assert next(words) == "Dear"
    with pytest.raises(StreamAborted):
        list(words)


def test_a_run_that_is_dropped_halfway_lets_go_of_its_thread_when_it_is_collected():
    app = chain(one, two)
    for state in follow(app).values:
        if state["log"]:
            break
    gc.collect()
    assert app.invoke(None, CONFIG) == {"log": [1, 2]}


def test_so_it_does_on_an_event_loop():
    async def live():
        app = chain(turn, again)
        async for state in (await afollow(app)).values:
            if state["log"]:
                break
        for _ in range(3):
            await asyncio.sleep(0)
        gc.collect()
        return await app.ainvoke(None, CONFIG)

    assert asyncio.run(live()) == {"log": ["turn", "again"]}
