"""Failures: retries, handlers, timeouts, limits, drains, cancellation, and savers that fail."""

import asyncio

from .harness import Boom, Programs, drain, thread
from .states import Log, a, b, c, d

program = Programs()


@program
def an_error_of_a_node_reaches_the_caller(lib):
    for error in (Boom("mine"), ValueError("v"), KeyError("k"), ZeroDivisionError()):

        def fail(state, what=error):
            raise what

        graph = lib.StateGraph(Log)
        graph.add_node("fail", fail)
        yield lib.app(lib.connect(graph, "START>fail>END")).invoke({"log": []}, fails=True)


def _half_failed(lib):
    """A thread whose step has finished one task, and failed another after that."""
    calls, broken = [], [True]

    def done(state):
        calls.append("done")
        return {"log": ["done"]}

    def fail(state):
        calls.append("fail")
        if broken:
            raise Boom("broken")
        return {"log": ["mended"]}

    app = lib.saved(lib.graph(Log, done, fail, c, edges="START>done>c>END, START>fail>c"))
    app.invoke({"log": ["in"]}, {**thread(), "max_concurrency": 1}, fails=True)
    return app, calls, broken


@program
def p19_a_failing_task_does_not_undo_its_finished_siblings(lib):
    app, calls, broken = _half_failed(lib)
    head = app.get_state(thread())
    yield head
    yield app.get_state(head.config)
    yield app.invoke(None, thread(), fails=True)
    yield len(app.history(thread()))
    broken.clear()
    yield app.invoke(None, thread())
    yield sorted(calls)


@program
def p7_a_finished_sibling_is_streamed_again_as_cached(lib):
    app, _, broken = _half_failed(lib)
    broken.clear()
    yield app.stream(None, thread(), mode=["updates", "values"])


@program
def p20_new_input_after_a_failure_forgets_the_finished_siblings(lib):
    app, calls, broken = _half_failed(lib)
    broken.clear()
    yield app.invoke({"log": ["two"]}, thread())
    yield sorted(calls)


@program.only_async
def p21_when_one_async_node_raises_the_others_are_cancelled(lib):
    seen = []

    async def slow(state):
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return {"log": ["slow"]}

    async def fail(state):
        await asyncio.sleep(0)
        raise Boom("broken")

    app = lib.app(lib.graph(Log, slow, fail, edges="START>slow>END, START>fail>END"))
    yield app.invoke({"log": []}, fails=True)
    yield seen


@program.only_async
def p21_a_consumer_that_leaves_cancels_what_runs(lib):
    seen = []

    async def first(state):
        return {"log": ["first"]}

    async def slow(state):
        seen.append("started")
        try:
            await asyncio.sleep(10)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def later(state):
        seen.append("later")

    graph = lib.graph(Log, first, slow, later, edges="START>first>slow>later>END")
    app = lib.saved(graph)

    async def leave():
        task = asyncio.create_task(drain(app.graph.astream({"log": []}, thread(), stream_mode="updates"), seen))
        while "started" not in seen:
            await asyncio.sleep(0.001)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"

    yield lib.call(leave)
    yield seen
    state = app.get_state(thread())
    yield state.values, state.next


@program.only_async
def p22_a_cancelled_run_with_durability_exit_is_stored(lib):
    started = []

    async def slow(state):
        started.append(1)
        await asyncio.sleep(10)

    app = lib.saved(lib.graph(Log, a, slow, edges="START>a>slow>END"))

    async def cancel():
        task = asyncio.create_task(app.graph.ainvoke({"log": ["in"]}, thread(), durability="exit"))
        while not started:
            await asyncio.sleep(0.001)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return "cancelled"

    yield lib.call(cancel)
    yield app.history(thread())


@program.only_sync
def a_consumer_that_leaves_a_sync_stream(lib):
    seen = []

    def later(state):
        seen.append("later")
        return {"log": ["later"]}

    app = lib.saved(lib.graph(Log, a, later, b, edges="START>a>later>b>END"))
    stream = app.graph.stream({"log": []}, thread(), stream_mode="updates")
    yield next(stream)
    stream.close()
    yield seen
    yield app.invoke(None, thread())


def _endless(lib):
    graph = lib.graph(Log, a, edges="START>a")
    graph.add_conditional_edges("a", lambda state: "a")
    return graph


@program
def a_run_without_an_end_is_out_of_steps(lib):
    for limit in (1, 2, 5):
        yield lib.app(_endless(lib)).stream({"log": []}, {"recursion_limit": limit}, mode="values", fails=True)


@program
def the_limit_is_just_enough(lib):
    app = lib.app(lib.graph(Log, a, b, c, edges="START>a>b>c>END"))
    yield app.invoke({"log": []}, {"recursion_limit": 2}, fails=True)
    yield app.invoke({"log": []}, {"recursion_limit": 3}, fails=True)
    yield app.invoke({"log": []}, {"recursion_limit": 4})


@program
def a_run_out_of_steps_goes_on(lib):
    app = lib.saved(lib.graph(Log, a, b, c, d, edges="START>a>b>c>d>END"))
    config = {**thread(), "recursion_limit": 2}
    yield app.invoke({"log": []}, config, fails=True)
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def a_limit_below_one_is_refused(lib):
    app = lib.app(lib.graph(Log, a, edges="START>a>END"))
    yield app.invoke({"log": []}, {"recursion_limit": 0}, fails=True)


@program
def a_limit_of_the_graph(lib):
    app = lib.watch(_endless(lib).compile().with_config(recursion_limit=3))
    yield app.invoke({"log": []}, fails=True)


@program
def a_limit_of_a_nested_graph(lib):
    def on(state):
        ran.append(1)
        return lib.Command(goto="on" if len(ran) < 8 else lib.END)

    inner = lib.graph(Log, on, edges="START>on").compile().with_config(recursion_limit=3)
    for call in (inner, lambda state: inner.invoke(state), lambda state, config: inner.invoke(state, config)):
        for limit in ({}, {"recursion_limit": 5}):
            ran = []
            lib.app(lib.graph(Log, edges="START>inner", inner=call)).invoke({"log": []}, limit, fails=True)
            yield len(ran)


def _draining(lib, control, at):
    def maybe(name):
        def node(state):
            if name == at:
                control.request_drain("closing time")
            return {"log": [name]}

        return node

    return lib.graph(Log, edges="START>one>two>three>END", **{name: maybe(name) for name in ("one", "two", "three")})


@program
def p27_a_drain_lets_the_step_end(lib):
    control = lib.RunControl()
    app = lib.saved(_draining(lib, control, "two"))
    yield app.invoke({"log": []}, thread(), control=control, fails=True)
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p27_a_drain_in_the_last_step_changes_nothing(lib):
    control = lib.RunControl()
    app = lib.saved(_draining(lib, control, "three"))
    yield app.invoke({"log": []}, thread(), control=control)


@program
def p27_a_drain_before_the_run(lib):
    control = lib.RunControl()
    control.request_drain()
    app = lib.saved(_draining(lib, control, "nowhere"))
    yield app.invoke({"log": []}, thread(), control=control, fails=True)
    yield app.get_state(thread())
    yield app.invoke(None, thread())


@program
def p27_a_drain_from_a_nested_graph(lib):
    control = lib.RunControl()
    inner = _draining(lib, control, "one").compile()
    app = lib.saved(lib.graph(Log, a, edges="START>a>inner>END", inner=inner))
    yield app.invoke({"log": []}, thread(), control=control, fails=True)
    yield app.invoke(None, thread())


@program
def p27_a_drain_that_nobody_has_a_handle_for(lib):
    """The run has one: a node may ask it to stop, and so may one in a graph inside of it."""

    def tire(state, runtime: lib.Runtime):
        runtime.control.request_drain("tired")
        return {"log": [runtime.drain_reason]}

    inner = lib.graph(Log, tire, b, edges="START>tire>b>END").compile()

    def call(state):
        return inner.invoke({"log": []})

    for node in (tire, inner, call):
        app = lib.saved(lib.graph(Log, a, edges="START>node>a>END", node=node))
        yield app.invoke({"log": []}, thread(), fails=True)
        yield app.get_state(thread(), subgraphs=True)
        yield app.invoke(None, thread(), fails="maybe")


@program
def p27_a_run_has_one_handle(lib):
    handles = []

    def look(state, runtime: lib.Runtime):
        handles.append(runtime.control)
        return {"log": [(runtime.drain_requested, runtime.drain_reason)]}

    inner = lib.graph(Log, look, edges="START>look>END").compile()
    app = lib.app(lib.graph(Log, look, edges="START>inner>look>END", inner=inner))
    yield app.invoke({"log": []})
    yield len(set(map(id, handles))), handles[0] is not None
    app.invoke({"log": []})
    yield len(set(map(id, handles)))


@program
def p27_a_node_knows_of_the_drain(lib):
    seen = []

    def look(state, runtime: lib.Runtime):
        before = runtime.drain_requested
        runtime.control.request_drain("tired")
        seen.append((before, runtime.drain_requested, runtime.drain_reason))

    app = lib.app(lib.graph(Log, look, a, edges="START>look>a>END"))
    yield app.invoke({"log": []}, control=lib.RunControl(), fails=True)
    yield seen


@program
def p23_a_drain_with_durability_exit_is_stored(lib):
    control = lib.RunControl()
    app = lib.saved(_draining(lib, control, "one"))
    yield app.invoke({"log": []}, thread(), control=control, durability="exit", fails=True)
    yield app.history(thread())


@program
def p25_errors_of_the_saver_reach_the_caller(lib):
    class Broken(lib.InMemorySaver):
        def __init__(self, method):
            super().__init__()
            self.method = method

        def fail(self, method):
            if method == self.method:
                raise Boom(method)

        def get_tuple(self, config):
            self.fail("get_tuple")
            return super().get_tuple(config)

        def put(self, *args):
            self.fail("put")
            return super().put(*args)

        def get_next_version(self, current, channel):
            self.fail("get_next_version")
            return super().get_next_version(current, channel)

        async def aget_tuple(self, config):
            return self.get_tuple(config)

        async def aput(self, *args):
            return self.put(*args)

    for method in ("get_tuple", "put", "get_next_version"):
        app = lib.app(lib.graph(Log, a, b, edges="START>a>b>END"), checkpointer=Broken(method))
        yield app.invoke({"log": []}, thread(), fails=True)
        yield app.invoke({"log": []}, thread(), durability="exit", fails=True)


@program.only_sync
def an_async_node_in_a_sync_run(lib):
    async def slow(state):
        return {"log": ["slow"]}

    async def flow(n):
        return n

    app = lib.saved(lib.graph(Log, a, slow, edges="START>a>slow>END"))
    yield app.invoke({"log": []}, thread(), fails=True)
    yield app.get_state(thread()).next
    yield lib.flow(flow).invoke(1, fails=True)


def _left_after(lib, app, count, **options):
    """The chunks of a stream whose reader leaves after some."""
    chunks = []
    if not lib.is_async:
        stream = app.graph.stream({"log": ["in"]}, thread(), **options)
        chunks += [chunk for _, chunk in zip(range(count), stream, strict=False)]
        stream.close()
        return chunks

    async def read():
        stream = app.graph.astream({"log": ["in"]}, thread(), **options)
        async for chunk in stream:
            chunks.append(chunk)
            if len(chunks) == count:
                break
        await stream.aclose()

    lib.runner.run(read())
    return chunks


@program
def what_a_reader_has_seen_before_it_left_is_part_of_the_state(lib):
    for count in (1, 2, 3):
        for options in ({}, {"durability": "exit"}, {"stream_mode": ["values", "updates"]}):
            app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>b>c>END"))
            yield _left_after(lib, app, count, **options)
            state = app.get_state(thread())
            yield state.values, state.next
            yield app.invoke({"log": ["again"]}, thread())


@program
def a_reader_that_leaves_at_a_breakpoint(lib):
    app = lib.saved(lib.graph(Log, a, b, c, edges="START>a>b>c>END"), interrupt_before=["b"])
    _left_after(lib, app, 1)
    state = app.get_state(thread())
    yield state.values, state.next
    yield app.invoke(None, thread())


test_same = program.as_test()
