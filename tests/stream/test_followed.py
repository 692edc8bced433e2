"""Runs that are followed: who may read what, and when; how they end; what goes wrong in transformers."""

import asyncio
import operator
import threading
import time
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.errors import (
    InvalidAnswer,
    InvalidInput,
    MissingThreadId,
    NeedsAsync,
    StreamAborted,
    StreamMisused,
    SubgraphFailed,
)
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.stream import StreamChannel, StreamTransformer, UpdatesTransformer
from signoff.types import Command, RetryPolicy, Send, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list, operator.add]


def chain(saver=None, transformers=(), **nodes):
    """Nodes one after the other."""
    graph = StateGraph(State)
    for before, (name, node) in zip([START, *nodes], nodes.items(), strict=False):
        graph.add_node(name, node).add_edge(before, name)
    return graph.compile(checkpointer=saver, transformers=transformers)


def one(state):
    return {"log": [1]}


def two(state):
    return {"log": [2]}


def ask(state):
    return {"log": [interrupt("sure?")]}


def follow(app, input, config=None, **options):
    return app.stream_events(input, config, version="v3", **options)


# Reading


def test_a_run_that_nobody_reads_has_not_begun():
    begun = []
    follow(chain(one=begun.append), {"log": []})
    assert begun == []


def test_an_event_has_the_name_of_its_mode_or_of_the_channel_that_somebody_has_made():
    class Counting(Named):
        def __init__(self, scope=()):
            super().__init__(scope)
            self.named = StreamChannel("count")

        def init(self):
            return {"count": self.named}

        def process(self, event):
            if event["method"] == "values" and not self.scope:
                self.named.push(len(event["params"]["data"]["log"]))
            return True

    run = follow(_nested(chain(one=one)), {"log": []}, CONFIG, transformers=[Counting])
    assert {event["method"] for event in run} == {"values", "lifecycle", "custom:count"}


def test_an_event_says_when_it_was_in_milliseconds():
    begun = time.time_ns() // 1_000_000
    times = [event["params"]["timestamp"] for event in follow(chain(one=one), {"log": []})]
    assert begun <= min(times) <= max(times) <= time.time_ns() // 1_000_000


def test_projections_may_be_read_one_after_the_other():
    run = follow(chain(one=one, two=two, transformers=[UpdatesTransformer]), {"log": []})
    assert [*run.updates] == [{"one": {"log": [1]}}, {"two": {"log": [2]}}]
    assert [*run.values] == [{"log": []}, {"log": [1]}, {"log": [1, 2]}]


def test_interleaved_projections_come_in_the_order_in_which_things_happened():
    run = follow(chain(one=one, two=two, transformers=[UpdatesTransformer]), {"log": []})
    assert [name for name, _ in run.interleave("updates", "values")] == [
        "values", "updates", "values", "updates", "values",
    ]  # fmt: skip


def test_what_is_not_interleaved_any_more_may_be_read():
    run = follow(chain(one=one, two=two), {"log": []})
    several = run.interleave("values", "lifecycle")
    assert next(several) == ("values", {"log": []})
    several.close()
    assert [*run.values] == [{"log": [1]}, {"log": [1, 2]}]


def test_interleaved_projections_come_in_their_order_on_an_event_loop_too():
    async def read():
        app = chain(one=one, two=two, transformers=[UpdatesTransformer])
        run = await app.astream_events({"log": []}, version="v3")
        return [name async for name, _ in run.interleave("updates", "values")]

    assert asyncio.run(read()) == ["values", "updates", "values", "updates", "values"]


def test_whoever_reads_too_late_is_told_so_and_does_not_get_the_rest_in_silence():
    class Chatty(StreamTransformer):
        required_stream_modes = ("values",)

        def init(self):
            self.few = StreamChannel(maxlen=2)
            return {"few": self.few}

        def process(self, event):
            if event["method"] == "values":
                self.few.push(event["params"]["data"]["log"])

    run = follow(chain(one=one, two=two, transformers=[Chatty]), {"log": []})
    assert run.output == {"log": [1, 2]}
    with pytest.raises(StreamMisused, match="1 things of this projection have passed"):
        iter(run.extensions["few"])


def test_a_projection_has_one_reader_or_as_many_as_were_asked_for():
    run = follow(chain(one=one), {"log": []})
    first, second = run.values.tee(2)
    assert [*first] == [*second] == [{"log": []}, {"log": [1]}]
    with pytest.raises(StreamMisused, match="is being read already"):
        iter(run.values)


def test_on_an_event_loop_too_there_may_be_several():
    async def read():
        run = await chain(one=one).astream_events({"log": []}, version="v3")

        async def all_of(source):
            return [item async for item in source]

        return await asyncio.gather(*map(all_of, run.values.atee(3)))

    assert asyncio.run(read()) == [[{"log": []}, {"log": [1]}]] * 3


def test_threads_may_read_one_run():
    run = follow(chain(one=one, two=two, transformers=[UpdatesTransformer]), {"log": []})
    read = {}
    threads = [
        threading.Thread(target=lambda name=name: read.update({name: [*getattr(run, name)]}))
        for name in ("values", "updates", "lifecycle")
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: len(items) for name, items in read.items()} == {"values": 3, "updates": 2, "lifecycle": 0}


def test_threads_may_read_one_projection():
    nodes = {f"n{i}": one for i in range(50)}
    run = follow(chain(**nodes), {"log": []}, {"recursion_limit": 100})
    read = []
    threads = [threading.Thread(target=lambda source=source: read.append([*source])) for source in run.values.tee(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(states) for states in read] == [51, 51, 51]


def test_a_sync_run_is_not_read_with_async_for_nor_the_other_way_round():
    run = follow(chain(one=one), {"log": []})
    with pytest.raises(StreamMisused, match="begun with stream_events: read its projections with `for`"):
        aiter(run.values)

    async def read():
        iter((await chain(one=one).astream_events({"log": []}, version="v3")).values)

    with pytest.raises(StreamMisused, match="with `async for`"):
        asyncio.run(read())


def test_a_projection_that_is_not_there_names_those_that_are():
    run = follow(chain(one=one), {"log": []})
    with pytest.raises(AttributeError, match="no projection 'updates'. It has: lifecycle, messages, subgraphs, values"):
        _ = run.updates
    with pytest.raises(InvalidInput, match=r"interleave\('updates'\): there is no such projection"):
        next(run.interleave("updates"))


# Questions


def test_what_is_asked_is_in_the_run_and_the_answer_goes_on():
    app = chain(InMemorySaver(), one=one, ask=ask)
    run = follow(app, {"log": []}, CONFIG)
    assert run.interrupted
    assert [question.value for question in run.interrupts] == ["sure?"]
    run = follow(app, Command(resume={run.interrupts[0].id: "yes"}), CONFIG)
    assert not run.interrupted
    assert run.output == {"log": [1, "yes"]}


def test_an_answer_that_does_not_fit_is_refused_by_whatever_is_read_first():
    app = chain(InMemorySaver(), one=one)
    assert follow(app, {"log": []}, CONFIG).output == {"log": [1]}
    with pytest.raises(InvalidAnswer):
        [*follow(app, Command(resume="yes"), CONFIG).messages]
    with pytest.raises(MissingThreadId):
        _ = follow(app, {"log": []}).output


def test_the_functional_way_of_writing_is_followed_too():
    @task
    def shout(word):
        return word.upper()

    @entrypoint(checkpointer=InMemorySaver())
    def flow(word):
        return shout(word).result() + interrupt("louder?")

    assert [question.value for question in follow(flow, "hey", CONFIG).interrupts] == ["louder?"]
    assert follow(flow, Command(resume="!"), CONFIG).output == "HEY!"


# Ends


def test_a_failure_is_raised_to_everybody_who_reads():
    def fail(state):
        raise ValueError("no")

    run = follow(chain(one=one, fail=fail), {"log": []})
    seen = iter(run.values)
    assert [next(seen), next(seen)] == [{"log": []}, {"log": [1]}]
    for read in (lambda: next(seen), lambda: run.output, lambda: [*run], lambda: [*run.messages]):
        with pytest.raises(ValueError, match="no"):
            read()
    with pytest.raises(ValueError, match="no"):
        list(follow(chain(one=one, fail=fail), {"log": []}).interleave("values", "lifecycle"))


def test_whoever_leaves_stops_the_run_and_what_has_finished_is_stored():
    app = chain(InMemorySaver(), one=one, two=two)
    with follow(app, {"log": []}, CONFIG) as run:
        for update in run.values:
            if update["log"]:
                break
    with pytest.raises(StreamAborted, match="aborted before its end"):
        _ = run.output
    assert app.get_state(CONFIG).values == {"log": [1]}
    assert app.invoke(None, CONFIG) == {"log": [1, 2]}


def test_a_run_that_was_read_to_its_end_has_an_output_after_the_block():
    with follow(chain(one=one), {"log": []}) as run:
        assert len([*run.values]) == 2
    assert run.output == {"log": [1]}


def test_on_an_event_loop_whoever_leaves_cancels_what_runs():
    async def live():
        cancelled, stands = [], asyncio.Event()

        async def slow(state):
            stands.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        app = chain(InMemorySaver(), one=one, slow=slow)
        async with await app.astream_events({"log": []}, CONFIG, version="v3") as run:
            reading = asyncio.create_task(run.output())
            await stands.wait()
        with pytest.raises(StreamAborted):
            await reading
        return cancelled, (await app.aget_state(CONFIG)).next

    assert asyncio.run(live()) == ([True], ("slow",))


def _waiting_run():
    """A run whose node waits, and what lets it go on."""
    gates = {"is_there": asyncio.Event(), "may_go": asyncio.Event()}

    async def slow(state):
        gates["is_there"].set()
        await gates["may_go"].wait()
        return {"log": ["slow"]}

    return chain(InMemorySaver(), slow=slow), gates


def test_if_one_of_two_readers_gives_up_the_other_one_reads_on():
    async def live():
        app, gates = _waiting_run()
        run = await app.astream_events({"log": []}, CONFIG, version="v3")
        one, other = asyncio.create_task(run.output()), asyncio.create_task(run.interrupts())
        await gates["is_there"].wait()
        one.cancel()
        await asyncio.wait({one})
        gates["may_go"].set()
        return await other, await run.output()

    assert asyncio.run(live()) == ([], {"log": ["slow"]})


def test_if_the_last_reader_is_cancelled_so_is_the_run():
    async def live():
        app, gates = _waiting_run()
        run = await app.astream_events({"log": []}, CONFIG, version="v3")
        reading = asyncio.create_task(run.output())
        await gates["is_there"].wait()
        reading.cancel()
        await asyncio.wait({reading})
        assert reading.cancelled()
        with pytest.raises(StreamAborted, match="called off, since whoever waited for it was"):
            await run.output()
        gates["may_go"].set()
        return await app.ainvoke(None, CONFIG)

    assert asyncio.run(live()) == {"log": ["slow"]}


def test_a_run_that_was_broken_off_has_no_output():
    def leave(state):
        raise SystemExit("enough")

    run = follow(chain(one=one, leave=leave), {"log": []})
    with pytest.raises(SystemExit, match="enough"):
        [*run.values]
    with pytest.raises(StreamAborted, match="broken off"):
        _ = run.output


# Nested graphs


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_node_may_follow_a_graph_that_asks_and_its_run_asks(is_async):
    inner = chain(one=one, ask=ask)

    def node(state):
        return {"log": ["out", *follow(inner, {"log": []}).output["log"]]}

    async def anode(state):
        run = await inner.astream_events({"log": []}, version="v3")
        return {"log": ["out", *(await run.output())["log"]]}

    app = chain(InMemorySaver(), node=anode if is_async else node)

    async def live():
        run = await app.astream_events({"log": []}, CONFIG, version="v3")
        (question,) = await run.interrupts()
        run = await app.astream_events(Command(resume={question.id: "yes"}), CONFIG, version="v3")
        return question.value, await run.output()

    def live_sync():
        (question,) = follow(app, {"log": []}, CONFIG).interrupts
        return question.value, follow(app, Command(resume={question.id: "yes"}), CONFIG).output

    assert (asyncio.run(live()) if is_async else live_sync()) == ("sure?", {"log": ["out", 1, "yes"]})


def _nested(inner, **options):
    graph = StateGraph(State).add_node("inner", inner, **options).add_edge(START, "inner")
    return graph.compile(checkpointer=InMemorySaver())


def test_what_is_read_of_a_nested_graph_is_all_of_it_however_late():
    run = follow(_nested(chain(one=one, two=two)), {"log": []}, CONFIG)
    (inner,) = run.subgraphs
    assert (inner.status, inner.output) == ("completed", {"log": [1, 2]})
    assert [*inner.values] == [{"log": [1]}, {"log": [1, 2]}]
    with pytest.raises(StreamMisused, match="'inner' cannot be aborted alone"):
        inner.abort()


def test_the_output_is_that_of_the_graph_itself_though_a_nested_one_was_the_last_to_change():
    run = follow(_nested(chain(one=one, ask=ask)), {"log": ["in"]}, CONFIG)
    assert (run.output, run.interrupted) == ({"log": ["in"]}, True)


def test_on_an_event_loop_too_nested_graphs_end_with_the_run():
    def leave(state):
        return Command(graph=Command.PARENT, update={"log": ["left"]})

    async def broken(state):
        raise ValueError("no")

    async def ended(node):
        run = await _nested(chain(node=node)).astream_events({"log": []}, CONFIG, version="v3")
        inner = [inner async for inner in run.subgraphs]
        return inner[0].status, await inner[0].output(), [values["log"] async for values in inner[0].values]

    assert asyncio.run(ended(leave)) == ("completed", None, [])
    with pytest.raises(ValueError, match="no"):
        asyncio.run(ended(broken))


def test_all_graphs_that_a_node_calls_are_told_of_and_end_with_it():
    first, second = chain(one=one), chain(two=two)

    def both(state):
        return {"log": first.invoke({"log": []})["log"] + second.invoke({"log": []})["log"]}

    told = [
        (one["event"], one.get("graph_name"), len(one["namespace"]))
        for one in follow(chain(both=both, last=one), {"log": []}).lifecycle
    ]
    assert told == [
        ("started", "both", 1), ("started", "both", 2), ("completed", None, 1), ("completed", None, 2),
    ]  # fmt: skip


def _shaky():
    """A node that fails at its first try."""
    tried = []

    def shaky(state):
        tried.append(1)
        if len(tried) == 1:
            raise ConnectionError("line is dead")
        return {"log": ["there"]}

    return shaky


def test_a_nested_graph_that_failed_says_so_though_the_run_went_on():
    run = follow(_nested(chain(shaky=_shaky()), error_handler=lambda state: {"log": ["handled"]}), {"log": []}, CONFIG)
    (inner,) = run.subgraphs
    with pytest.raises(SubgraphFailed, match="'inner' failed: .*line is dead"):
        _ = inner.output
    assert run.output == {"log": ["handled"]}
    assert [told.get("error", "none") for told in run.lifecycle] == ["none", "line is dead"]


def test_a_graph_that_remembers_ends_with_the_task_that_has_called_it():
    inner = chain(True, one=one)
    app = StateGraph(State).add_node("inner", inner).add_edge(START, "inner")
    app.add_conditional_edges("inner", lambda state: "inner" if len(state["log"]) < 3 else "__end__")
    run = follow(app.compile(checkpointer=InMemorySaver()), {"log": []}, CONFIG)
    runs = [inner for name, inner in run.interleave("lifecycle", "subgraphs") if name == "subgraphs"]
    assert [inner.output for inner in runs] == [{"log": [1]}, {"log": [1, 1, 1]}]
    assert len({inner.trigger_call_id for inner in runs} - {None}) == 2


def test_a_graph_that_remembers_says_how_it_has_ended():
    def told(app):
        return [one["event"] for one in follow(app, {"log": []}, CONFIG).lifecycle]

    assert told(_nested(chain(True, ask=ask))) == ["started", "interrupted"]
    failing = _nested(chain(True, shaky=_shaky()), error_handler=lambda state: {"log": ["handled"]})
    assert told(failing) == ["started", "failed"]


def test_a_graph_that_remembers_has_ended_when_all_tasks_side_by_side_are_done_with_it():
    both = threading.Barrier(2)

    def meet(state):
        both.wait()
        return {"log": []}

    graph = StateGraph(State).add_node("inner", chain(True, meet=meet))
    graph.add_conditional_edges(START, lambda state: [Send("inner", {"log": [n]}) for n in (1, 2)])
    told = follow(graph.compile(checkpointer=InMemorySaver()), {"log": []}, CONFIG).lifecycle
    assert [one["event"] for one in told] == ["started", "completed"]


def test_a_nested_graph_that_is_tried_again_is_one_run():
    retry = RetryPolicy(initial_interval=0, jitter=False)
    run = follow(_nested(chain(shaky=_shaky()), retry_policy=retry), {"log": []}, CONFIG)
    assert [(inner.output, inner.status) for inner in run.subgraphs] == [({"log": ["there"]}, "completed")]


# Transformers


class Named(StreamTransformer):
    required_stream_modes = ("values",)

    def init(self):
        return {"named": StreamChannel("named")}

    def process(self, event):
        return True


def test_what_goes_wrong_in_a_transformer_ends_the_run_with_its_error():
    class Broken(Named):
        def process(self, event):
            raise KeyError("broken")

    app = chain(InMemorySaver(), one=one, two=two)
    run = follow(app, {"log": []}, CONFIG, transformers=[Broken])
    with pytest.raises(KeyError, match="broken"):
        _ = run.output
    assert app.invoke(None, CONFIG) == {"log": [1, 2]}, "nobody holds the thread"


def test_what_goes_wrong_as_a_run_ends_is_raised_to_whoever_reads():
    class Broken(Named):
        def finalize(self):
            raise ValueError("no")

    run = follow(chain(one=one), {"log": []}, transformers=[Broken])
    for read in (lambda: [*run.values], lambda: [*run.messages], lambda: run.output):
        with pytest.raises(ValueError, match="no"):
            read()


def test_a_nested_graph_ends_once_whatever_goes_wrong_as_the_run_ends():
    class Broken(Named):
        def finalize(self):
            if not self.scope:
                raise ValueError("no")

    inner = chain(one=one, two=two).copy({"interrupt_after": ["one"]})
    run = follow(_nested(inner), {"log": []}, CONFIG, transformers=[Broken])
    with pytest.raises(ValueError, match="no") as raised:
        _ = run.output
    assert getattr(raised.value, "__notes__", []) == []


def test_a_transformer_hears_how_the_run_ends():
    heard = []

    class Ending(Named):
        def finalize(self):
            heard.append("end")

        def fail(self, err):
            heard.append(err)

    def fail(state):
        raise ValueError("no")

    _ = follow(chain(one=one), {"log": []}, transformers=[Ending]).output
    with pytest.raises(ValueError, match="no") as raised:
        _ = follow(chain(fail=fail), {"log": []}, transformers=[Ending]).output
    assert heard == ["end", raised.value]

    async def end(app):
        return await (await app.astream_events({"log": []}, version="v3", transformers=[Ending])).output()

    asyncio.run(end(chain(one=one)))
    with pytest.raises(ValueError, match="no") as raised:
        asyncio.run(end(chain(fail=fail)))
    assert heard[2:] == ["end", raised.value]


def test_a_transformer_that_waits_is_waited_for():
    class Looking(StreamTransformer):
        required_stream_modes = ("values",)

        def init(self):
            self.looked_up, self.later = StreamChannel(), StreamChannel()
            return {"looked_up": self.looked_up, "later": self.later}

        async def aprocess(self, event):
            await asyncio.sleep(0)
            if event["method"] == "values":
                self.looked_up.push(len(event["params"]["data"]["log"]))
                self.schedule(self.look_again())

        async def look_again(self):
            await asyncio.sleep(0)
            self.later.push("again")

    async def read():
        run = await chain(one=one).astream_events({"log": []}, version="v3", transformers=[Looking])
        await run.output()
        return [[item async for item in run.extensions[name]] for name in ("looked_up", "later")]

    assert asyncio.run(read()) == [[0, 1], ["again", "again"]]
    with pytest.raises(NeedsAsync, match="Looking waits for an event loop"):
        follow(chain(one=one), {"log": []}, transformers=[Looking])


def test_what_was_scheduled_and_is_done_is_kept_no_longer():
    made = []

    class Busy(Named):
        requires_async = True

        def __init__(self, scope=()):
            super().__init__(scope)
            made.append(self)

        def process(self, event):
            self.schedule(asyncio.sleep(0))
            return True

    async def read():
        app = chain(**{f"n{i}": one for i in range(20)})
        run = await app.astream_events({"log": []}, version="v3", transformers=[Busy])
        return [len(made[0].scheduled()) async for _ in run.values]

    assert max(asyncio.run(read())) < 10
    with pytest.raises(NeedsAsync, match="Busy waits for an event loop"):
        follow(chain(one=one), {"log": []}, transformers=[Busy])


def test_what_was_scheduled_and_failed_is_logged_and_the_run_ends_well(caplog):
    class Shaky(Named):
        requires_async = True

        async def fail_beside(self):
            raise ValueError("beside")

        def process(self, event):
            if event["params"]["data"] == {"log": [1]}:
                self.schedule(self.fail_beside())
            return True

    async def read():
        run = await chain(one=one).astream_events({"log": []}, version="v3", transformers=[Shaky])
        return await run.output()

    assert asyncio.run(read()) == {"log": [1]}
    assert [record.exc_info[1].args for record in caplog.records] == [("beside",)]


def test_an_event_is_kept_back_only_if_a_transformer_says_so():
    class Silent(Named):
        def process(self, event):
            pass

    class Jealous(Named):
        def process(self, event):
            return event["method"] != "values"

    assert [event["method"] for event in follow(chain(one=one), {"log": []}, transformers=[Silent])] == ["values"] * 2
    assert [*follow(chain(one=one), {"log": []}, transformers=[Jealous])] == []


def test_what_was_scheduled_and_failed_ends_the_run_if_it_is_to():
    class Strict(StreamTransformer):
        requires_async = True

        def init(self):
            return {}

        def process(self, event):
            self.schedule(self.check(), on_error="raise")

        async def check(self):
            raise PermissionError("not allowed")

    async def read():
        run = await chain(one=one).astream_events({"log": []}, version="v3", transformers=[Strict])
        await run.output()

    with pytest.raises(PermissionError, match="not allowed"):
        asyncio.run(read())


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (Named(), "Give the class of a StreamTransformer"),
        ("named", "Give the class of a StreamTransformer"),
        (lambda scope: "named", "Make a StreamTransformer"),
    ],
    ids=["made", "text", "makes-text"],
)
def test_what_is_no_transformer_is_refused_before_anything_runs(given, said):
    with pytest.raises(InvalidInput, match=said):
        follow(chain(one=one), {"log": []}, transformers=[given])


def test_two_projections_of_one_name_are_refused():
    with pytest.raises(InvalidInput, match="Named and Named both have a projection 'named'"):
        follow(chain(one=one), {"log": []}, transformers=[Named, Named])


@pytest.mark.parametrize("name", ["output", "abort", "extensions", "status"])
def test_a_native_projection_is_refused_if_a_run_has_something_else_of_that_name(name):
    class Native(Named):
        _native = True

        def init(self):
            return {name: StreamChannel()}

    with pytest.raises(InvalidInput, match=f"has a projection '{name}', and `_native = True`"):
        follow(chain(one=one), {"log": []}, transformers=[Native])


def test_a_stream_mode_that_there_is_not_is_refused_before_anything_runs():
    class Unknown(Named):
        required_stream_modes = ("feelings",)

    with pytest.raises(InvalidInput, match="no stream mode 'feelings'"):
        follow(chain(one=one), {"log": []}, transformers=[Unknown])


@pytest.mark.parametrize("option", ["stream_mode", "subgraphs", "on_pendign"])
def test_options_that_it_does_not_have_are_refused(option):
    with pytest.raises(StreamMisused, match=f"does not take {option}"):
        follow(chain(one=one), {"log": []}, **{option: "updates"})


def test_the_first_two_versions_are_for_event_loops():
    with pytest.raises(InvalidInput, match='give version="v3", or call astream_events'):
        chain(one=one).stream_events({"log": []})
