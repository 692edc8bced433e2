"""The functional API: entrypoints, tasks, futures, what is remembered between calls."""

import asyncio

from .harness import Boom, Programs, thread, unordered

program = Programs()


@program
def an_entrypoint_is_called_with_its_input(lib):
    def flow(inputs):
        return {"got": inputs}

    app = lib.flow(flow)
    yield app.invoke(1)
    yield app.invoke({"k": "v"})
    yield app.stream(2, mode="values")
    yield app.stream(2, mode="updates")
    yield app.stream(2, mode=["updates", "values"])


@program
def tasks_return_futures(lib):
    @lib.task
    def double(n):
        return n * 2

    def flow(numbers):
        futures = [double(n) for n in numbers]
        return [future.result() for future in futures]

    yield lib.flow(flow).invoke([3, 1, 2])
    yield unordered(lib.flow(flow).stream([3, 1, 2], mode="updates"))


@program
def p54_each_task_is_a_chunk_and_the_entrypoint_comes_last(lib):
    @lib.task
    def first(n):
        return n + 1

    @lib.task(name="renamed")
    def second(n):
        return {"second": n}

    def flow(n):
        return second(first(n).result()).result()

    app = lib.flow(flow)
    yield app.stream(1, mode="updates")
    yield app.stream(1, mode=["updates", "values"])


@program.only_async
def p54_async_tasks_and_entrypoints(lib):
    @lib.task
    async def double(n):
        await asyncio.sleep(0)
        return n * 2

    async def flow(numbers):
        return await asyncio.gather(*(double(n) for n in numbers))

    yield lib.flow(flow).invoke([3, 1, 2])
    yield unordered(lib.flow(flow).stream([3, 1, 2], mode="updates"))


@program
def a_task_with_several_arguments(lib):
    @lib.task
    def join(left, right="r", *, sep="-"):
        return f"{left}{sep}{right}"

    def flow(_):
        return [join("l").result(), join("l", "x").result(), join("l", right="y", sep="+").result()]

    yield lib.flow(flow).invoke("go")


@program
def tasks_call_tasks(lib):
    @lib.task
    def inner(n):
        return n + 1

    @lib.task
    def outer(n):
        return inner(n).result() * 10

    def flow(n):
        return outer(n).result()

    yield lib.flow(flow).invoke(1)
    yield lib.flow(flow).stream(1, mode="updates")


@program
def p54_previous_is_what_was_returned_last(lib):
    def flow(n, *, previous=None):
        return (previous or 0) + n

    app = lib.flow(flow, checkpointer=lib.saver())
    yield app.invoke(1, thread())
    yield app.invoke(2, thread())
    yield app.invoke(5, thread("2"))
    yield app.get_state(thread())
    yield app.get_state(thread()).values


@program
def p54_what_is_saved_may_differ_from_what_is_returned(lib):
    def flow(n, *, previous=None):
        return lib.entrypoint.final(value=f"said {previous}", save=n)

    app = lib.flow(flow, checkpointer=lib.saver())
    yield app.invoke(1, thread())
    yield app.invoke(2, thread())
    yield app.stream(3, thread(), mode=["updates", "values"])


@program
def p54_an_update_replaces_previous(lib):
    def flow(n, *, previous=None):
        return (previous or 0) + n

    app = lib.flow(flow, checkpointer=lib.saver())
    app.invoke(1, thread())
    app.update_state(thread(), 100)
    yield app.invoke(2, thread())


@program
def p54_the_history_of_an_entrypoint(lib):
    @lib.task
    def double(n):
        return n * 2

    def flow(n, *, previous=None):
        return double(n).result()

    app = lib.flow(flow, checkpointer=lib.saver())
    app.invoke(1, thread())
    app.invoke(2, thread())
    yield [(s.values, s.next, s.metadata, [(t.name, t.result) for t in s.tasks]) for s in app.history(thread())]


@program
def p55_a_task_error_that_is_caught_does_not_end_the_run(lib):
    @lib.task
    def fail(n):
        raise Boom("broken")

    @lib.task
    def fine(n):
        return "fine"

    def flow(n):
        try:
            fail(n).result()
        except Boom as error:
            return f"caught {error}, {fine(n).result()}"

    yield lib.flow(flow).invoke(1)
    yield lib.flow(flow).stream(1, mode="updates")
    yield lib.flow(flow, checkpointer=lib.saver()).invoke(1, thread())


@program
def an_error_of_a_task_that_nobody_catches(lib):
    broken, calls = [True], []

    @lib.task
    def work(n):
        calls.append("work")
        return n

    @lib.task
    def fail(n):
        if broken:
            raise Boom("broken")
        return n * 10

    def flow(n):
        return [work(n).result(), fail(n).result()]

    app = lib.flow(flow, checkpointer=lib.saver())
    yield app.invoke(1, thread(), fails=True)
    broken.clear()
    yield app.invoke(None, thread())
    yield calls


@program
def a_task_that_is_retried(lib):
    left = [2]

    def fragile(n):
        if left[0]:
            left[0] -= 1
            raise Boom("again")
        return n

    policy = lib.RetryPolicy(initial_interval=0.001, jitter=False)
    task = lib.task(retry_policy=policy)(fragile)

    def flow(n):
        return task(n).result()

    yield lib.flow(flow).invoke(1)


@program
def an_entrypoint_that_is_retried(lib):
    left = [2]

    def flow(n):
        if left[0]:
            left[0] -= 1
            raise Boom("again")
        return n

    yield lib.flow(flow, retry_policy=lib.RetryPolicy(initial_interval=0.001, jitter=False)).invoke(1)


@program
def p56_a_task_with_a_cache(lib):
    calls = []

    def work(n):
        calls.append(n)
        return n * 10

    task = lib.task(cache_policy=lib.CachePolicy())(work)

    def flow(numbers):
        return [task(n).result() for n in numbers]

    app = lib.flow(flow, cache=lib.InMemoryCache())
    yield app.invoke([1, 2, 1])
    yield app.invoke([1, 2])
    yield app.stream([1], mode="updates")
    yield calls


@program
def an_entrypoint_with_config_store_and_writer(lib):
    def flow(n, *, config, store, writer):
        writer("word")
        store.put(("ns",), "key", {"n": n})
        return [config["configurable"]["user"], store.get(("ns",), "key").value]

    app = lib.flow(_annotated(lib, flow), store=lib.InMemoryStore())
    yield app.invoke(1, {"configurable": {"user": "ana"}})
    yield app.stream(1, {"configurable": {"user": "ana"}}, mode=["custom", "updates"])


def _annotated(lib, function):
    def flow(n, *, runtime: lib.Runtime):
        return function(n, config=lib.get_config(), store=runtime.store, writer=lib.get_stream_writer())

    return flow


@program
def an_entrypoint_with_a_context(lib):
    from dataclasses import dataclass

    @dataclass
    class Context:
        user: str

    def flow(n, *, runtime: lib.Runtime):
        return [n, runtime.context.user, runtime.previous]

    app = lib.flow(flow, context_schema=Context, checkpointer=lib.saver())
    yield app.invoke(1, thread(), context=Context("ana"))
    yield app.invoke(2, thread(), context={"user": "bob"})


@program
def a_graph_called_in_a_task(lib):
    from .states import Log, a, b

    inner = lib.graph(Log, a, b, edges="START>a>b>END").compile()

    @lib.task
    def call(word):
        return inner.invoke({"log": [word]})["log"]

    def flow(word):
        return call(word).result()

    yield lib.flow(flow).invoke("in")
    yield lib.flow(flow, checkpointer=lib.saver()).invoke("in", thread())


@program
def an_entrypoint_as_a_node(lib):
    from .states import Log, a

    def flow(state):
        return {"log": [f"flow {len(state['log'])}"]}

    entry = lib.entrypoint()(flow)
    app = lib.app(lib.graph(Log, a, edges="START>a>entry>END", entry=entry))
    yield app.invoke({"log": ["in"]})
    yield app.stream({"log": ["in"]}, mode="updates", subgraphs=True)


@program
def p27_a_drain_lets_tasks_of_the_step_end(lib):
    control = lib.RunControl()

    @lib.task
    def work(n):
        return n * 10

    def flow(n):
        control.request_drain()
        return work(n).result()

    app = lib.flow(flow, checkpointer=lib.saver())
    yield app.invoke(1, thread(), control=control)


@program
def words_of_tasks_in_the_custom_stream(lib):
    @lib.task
    def talk(n):
        lib.get_stream_writer()(f"task {n}")
        return n

    def flow(n):
        lib.get_stream_writer()("flow")
        return talk(n).result()

    yield lib.flow(flow).stream(1, mode=["custom", "updates", "values"])
    yield lib.flow(flow).stream(1, mode="custom", subgraphs=True)


@program
def words_of_tasks_that_tasks_call(lib):
    @lib.task
    def inner(n):
        lib.get_stream_writer()("inner")
        return n

    @lib.task
    def outer(n):
        lib.get_stream_writer()("outer")
        return inner(n).result()

    flow = lib.flow(lambda n: outer(n).result())
    for version in ("v1", "v2"):
        for subgraphs in (False, True):
            yield flow.stream(1, mode=["custom", "updates"], version=version, subgraphs=subgraphs)


@program
def words_of_a_task_inside_of_a_nested_entrypoint(lib):
    from .states import Log

    @lib.task
    def talk():
        lib.get_stream_writer()("word")

    def flow(state):
        talk().result()
        return {"log": ["flow"]}

    app = lib.app(lib.graph(Log, edges="START>entry>END", entry=lib.entrypoint()(flow)))
    for subgraphs in (False, True):
        yield app.stream({"log": []}, mode=["custom"], version="v2", subgraphs=subgraphs)


@program
def tasks_of_an_entrypoint_in_the_tasks_stream(lib):
    @lib.task
    def double(n):
        return n * 2

    def flow(n):
        return double(n).result() + 1

    chunks = lib.flow(flow).stream(1, mode="tasks")
    yield [{**chunk, "triggers": "", "input": ""} for chunk in chunks]


@program
def p20_new_input_of_a_finished_entrypoint(lib):
    calls = []

    @lib.task
    def work(n):
        calls.append(n)
        return n

    def flow(n):
        return work(n).result()

    app = lib.flow(flow, checkpointer=lib.saver())
    yield [app.invoke(n, thread()) for n in (1, 1, 2)]
    yield calls
    yield app.invoke(None, thread(), fails="maybe")


@program
def p30_a_replay_of_an_entrypoint(lib):
    calls = []

    @lib.task
    def work(n):
        calls.append(n)
        return n * 10

    def flow(n, *, previous=None):
        return [previous, work(n).result()]

    app = lib.flow(flow, checkpointer=lib.saver())
    app.invoke(1, thread())
    app.invoke(2, thread())
    before = next(snapshot for snapshot in app.history(thread()) if snapshot.next == ("flow",))
    calls.clear()
    yield app.invoke(None, before.config)
    yield calls


@program
def an_entrypoint_returns_none_or_falsy(lib):
    for value in (None, 0, False, "", [], {}):

        def flow(n, *, previous="nothing", value=value):
            return value

        app = lib.flow(flow, checkpointer=lib.saver())
        yield app.invoke(1, thread())
        yield app.stream(1, thread(), mode=["updates", "values"])


@program
def an_input_of_any_kind(lib):
    def flow(inputs):
        return repr(inputs)

    for value in (0, False, "", [], {}, [1], {"a": {"b": 1}}, 1.5):
        yield lib.flow(flow).invoke(value)


@program
def tasks_of_a_method_and_a_partial(lib):
    from functools import partial

    class Worker:
        def work(self, n):
            return n + 1

    def scaled(n, by):
        return n * by

    method = lib.task(name="method")(Worker().work)
    part = lib.task(name="part")(partial(scaled, by=3))

    def flow(n):
        return [method(n).result(), part(n).result()]

    yield lib.flow(flow).invoke(5)


@program
def a_task_outside_of_a_run_is_refused(lib):
    @lib.task
    def work(n):
        return n

    try:
        work(1)
        yield "taken"
    except Exception:
        yield "refused"


@program.timed
def an_async_entrypoint_with_a_timeout(lib):
    async def flow(n):
        await asyncio.sleep(10)

    yield lib.flow(flow, timeout=0.02).invoke(1, fails=True)


test_same = program.as_test()
