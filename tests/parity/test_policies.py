"""Policies: retries, error handlers and timeouts of nodes."""

import asyncio
from datetime import timedelta

import httpx
import openai
import requests
from langchain_core.runnables import RunnableConfig, RunnableLambda

from .harness import Boom, Programs, thread
from .states import Log, a, b, d

program = Programs()


def _retry(lib, attempts=3, **options):
    return lib.RetryPolicy(**{"initial_interval": 0.001, "jitter": False, "max_attempts": attempts, **options})


def _graph_with(lib, node, edges="START>a>node>b>END", **options):
    graph = lib.StateGraph(Log)
    graph.add_node("a", a).add_node("b", b)
    graph.add_node("node", node, **options)
    return lib.connect(graph, edges)


def _failing(times, error=Boom, done="done"):
    left = [times]

    def node(state):
        if left[0]:
            left[0] -= 1
            raise error(f"{left[0]} left")
        return {"log": [done]}

    return node


@program
def a_retry_that_succeeds(lib):
    app = lib.app(_graph_with(lib, _failing(2), retry_policy=_retry(lib)))
    yield app.invoke({"log": []})


@program
def a_retry_that_gives_up(lib):
    calls = []

    def node(state):
        calls.append(1)
        raise Boom("always")

    app = lib.saved(_graph_with(lib, node, retry_policy=_retry(lib)))
    yield app.invoke({"log": []}, thread(), fails=True)
    yield len(calls)
    yield app.get_state(thread())


def _answer(status):
    return httpx.Response(status, request=httpx.Request("GET", "https://a.example"))


def _requests_answer(status):
    answer = requests.Response()
    answer.status_code = status
    return answer


@program
def which_errors_of_web_services_are_retried_by_default(lib):
    retried = lib.RetryPolicy().retry_on
    for status in (404, 429, 500):
        answer = _answer(status)
        yield retried(httpx.HTTPStatusError("no", request=answer.request, response=answer))
        # Libraries of services have errors of their own, with the answer in them: one for too many calls, say.
        yield retried(openai.APIStatusError("no", response=answer, body=None))
    yield retried(httpx.ConnectError("no"))
    yield retried(requests.HTTPError("no answer"))
    yield retried(requests.HTTPError(response=_requests_answer(503)))
    yield retried(requests.exceptions.InvalidURL("no"))


@program
def a_function_that_asks_the_default_which_errors_are_retried(lib):
    def retried(error):
        return not isinstance(error, Boom) and lib.default_retry_on(error)

    for error in (Boom, ConnectionError, ValueError):
        node = _failing(1, error)
        app = lib.app(_graph_with(lib, node, retry_policy=_retry(lib, retry_on=retried)))
        yield app.invoke({"log": []}, fails="maybe")


@program
def which_errors_are_retried(lib):
    for retry_on in (Boom, (Boom, KeyError), lambda error: isinstance(error, Boom)):
        app = lib.app(_graph_with(lib, _failing(1), retry_policy=_retry(lib, retry_on=retry_on)))
        yield app.invoke({"log": []})
    app = lib.app(_graph_with(lib, _failing(1), retry_policy=_retry(lib, retry_on=KeyError)))
    yield app.invoke({"log": []}, fails=True)


@program
def which_errors_are_retried_by_default(lib):
    for error in (
        Boom,
        ConnectionError,
        ValueError,
        TypeError,
        KeyError,
        RuntimeError,
        OSError,
        TimeoutError,
        ArithmeticError,
    ):
        app = lib.app(_graph_with(lib, _failing(1, error), retry_policy=_retry(lib)))
        try:
            yield error.__name__, app.invoke({"log": []})
        except Exception as raised:
            yield error.__name__, raised


@program
def a_node_that_is_cancelled_from_inside_has_failed(lib):
    calls = []

    def node(state):
        calls.append(1)
        raise asyncio.CancelledError("inside")

    for beside in ("", ", START>a"):
        app = lib.saved(_graph_with(lib, node, f"START>node{beside}", retry_policy=_retry(lib, retry_on=Exception)))
        yield app.invoke({"log": []}, thread(), fails=True)
        yield app.get_state(thread()).next, len(calls)


@program
def a_node_that_is_cancelled_from_inside_is_handled(lib):
    def node(state):
        raise asyncio.CancelledError("inside")

    def handle(state, error: lib.NodeError):
        return {"log": [type(error.error).__name__, type(error.error.__cause__).__name__]}

    yield lib.app(_graph_with(lib, node, error_handler=handle)).invoke({"log": []})


@program
def the_first_policy_that_fits_decides(lib):
    calls = []

    def node(state):
        calls.append(1)
        raise KeyError("always")

    policies = [_retry(lib, 2, retry_on=Boom), _retry(lib, 4, retry_on=KeyError)]
    app = lib.app(_graph_with(lib, node, retry_policy=policies))
    yield app.invoke({"log": []}, fails=True)
    yield len(calls)


@program
def a_retry_knows_its_attempt(lib):
    seen = []

    def node(state, runtime: lib.Runtime):
        seen.append(runtime.execution_info.node_attempt)
        if len(seen) < 3:
            raise Boom("again")
        return {"log": ["done"]}

    yield lib.app(_graph_with(lib, node, retry_policy=_retry(lib))).invoke({"log": []})
    yield seen


@program
def a_retried_nested_graph_starts_over(lib):
    calls = []

    def one(state):
        calls.append("one")
        return {"log": ["one"]}

    def two(state):
        calls.append("two")
        if calls.count("two") < 2:
            raise Boom("again")
        return {"log": ["two"]}

    inner = lib.graph(Log, one, two, edges="START>one>two>END").compile()
    yield lib.app(_graph_with(lib, inner, retry_policy=_retry(lib))).invoke({"log": []})
    yield calls


@program
def defaults_for_all_nodes(lib):
    graph = lib.StateGraph(Log)
    graph.set_node_defaults(retry_policy=_retry(lib))
    graph.add_node("one", _failing(1, done="one"))
    graph.add_node("two", _failing(2, done="two"), retry_policy=_retry(lib, 2))
    app = lib.app(lib.connect(graph, "START>one>two>END"))
    yield app.stream({"log": []}, mode="updates", fails=True)


@program
def defaults_that_are_said_one_by_one(lib):
    graph = _graph_with(lib, _failing(2))
    graph.set_node_defaults(retry_policy=_retry(lib))
    graph.set_node_defaults(error_handler=lambda state: {"log": ["handled"]})
    yield lib.app(graph).invoke({"log": []})


@program
def defaults_for_handlers(lib):
    graph = _graph_with(lib, _failing(9), error_handler=_failing(2, done="handled"))
    graph.set_node_defaults(retry_policy=_retry(lib))
    yield lib.app(graph).invoke({"log": []})


@program
def p28_a_handler_runs_after_the_last_attempt(lib):
    calls, seen = [], []

    def node(state):
        calls.append(1)
        raise Boom("always")

    def handle(state, error: lib.NodeError):
        seen.append((error.node, str(error.error), type(error.error).__name__, list(state["log"])))
        return {"log": ["handled"]}

    app = lib.saved(_graph_with(lib, node, retry_policy=_retry(lib), error_handler=handle))
    yield app.invoke({"log": ["in"]}, thread())
    yield len(calls), seen
    yield _named(app.stream({"log": ["in"]}, thread("2"), mode=["updates", "values"]))


def _named(chunks):
    """The chunks with the names of handlers, which the libraries choose themselves, left out."""
    return [(mode, list(payload.values()) if mode == "updates" else payload) for mode, payload in chunks]


@program
def p28_a_handler_may_route(lib):
    def node(state):
        raise Boom("always")

    def handle(state, error: lib.NodeError):
        return lib.Command(update={"log": ["handled"]}, goto="d")

    graph = _graph_with(lib, node, error_handler=handle)
    graph.add_node("d", d)
    yield lib.app(graph).invoke({"log": []})


@program
def p28_what_follows_a_failed_node_does_not_run_unless_the_handler_says_so(lib):
    def node(state):
        raise Boom("always")

    def handle(state, error: lib.NodeError):
        return {"log": ["handled"]}

    app = lib.app(_graph_with(lib, node, error_handler=handle))
    yield app.invoke({"log": []})


@program
def p28_a_handler_that_fails(lib):
    calls, broken = [], [True]

    def node(state):
        calls.append("node")
        raise Boom("always")

    def handle(state, error: lib.NodeError):
        calls.append("handle")
        if broken:
            raise Boom("handler")
        return {"log": [f"handled {error.error}"]}

    app = lib.saved(_graph_with(lib, node, error_handler=handle))
    yield app.invoke({"log": []}, thread(), fails=True)
    broken.clear()
    yield app.invoke(None, thread())
    yield calls


@program
def p28_a_handler_beside_other_tasks(lib):
    def node(state):
        raise Boom("always")

    def handle(state, error: lib.NodeError):
        return {"log": ["handled"]}

    app = lib.app(_graph_with(lib, node, "START>a>b>END, START>node", error_handler=handle))
    yield app.invoke({"log": []})


@program
def p28_a_default_handler(lib):
    def node(state):
        raise Boom("always")

    def handle(state, error: lib.NodeError):
        return {"log": [f"default for {error.node}"]}

    graph = _graph_with(lib, node)
    graph.set_node_defaults(error_handler=handle)
    yield lib.app(graph).invoke({"log": []})


@program
def p5_a_handler_does_not_swallow_a_pause(lib):
    calls = []

    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    def handle(state, error: lib.NodeError):
        calls.append("handle")

    app = lib.saved(_graph_with(lib, ask, error_handler=handle, retry_policy=_retry(lib)))
    yield app.invoke({"log": []}, thread())
    yield app.invoke(lib.Command(resume="yes"), thread())
    yield calls


@program.only_async
def p28_an_async_handler(lib):
    async def node(state):
        raise Boom("always")

    async def handle(state, error: lib.NodeError):
        return {"log": [f"handled {error.node}"]}

    yield lib.app(_graph_with(lib, node, error_handler=handle)).invoke({"log": []})


@program.timed
def a_node_that_runs_too_long(lib):
    async def slow(state):
        await asyncio.sleep(10)

    app = lib.saved(_graph_with(lib, slow, timeout=0.02))
    yield app.invoke({"log": []}, thread(), fails=True)
    state = app.get_state(thread())
    yield state.values, state.next


@program.timed
def a_node_that_is_quick_enough(lib):
    async def quick(state):
        return {"log": ["quick"]}

    for timeout in (5, timedelta(seconds=5), lib.TimeoutPolicy(run_timeout=5), lib.TimeoutPolicy(idle_timeout=5)):
        yield lib.app(_graph_with(lib, quick, timeout=timeout)).invoke({"log": []})


@program.timed
def an_idle_node(lib):
    async def silent(state):
        await asyncio.sleep(10)

    yield lib.app(_graph_with(lib, silent, timeout=lib.TimeoutPolicy(idle_timeout=0.02))).invoke(
        {"log": []}, fails=True
    )


@program.timed
def a_node_that_shows_life_is_not_idle(lib):
    async def lively(state, runtime: lib.Runtime):
        for _ in range(7):
            await asyncio.sleep(0.05)
            runtime.heartbeat()
        return {"log": ["lively"]}

    async def chatty(state):
        writer = lib.get_stream_writer()
        for _ in range(7):
            await asyncio.sleep(0.05)
            writer("word")
        return {"log": ["chatty"]}

    async def calling(state):
        for _ in range(7):
            await asyncio.sleep(0.05)
            await RunnableLambda(str).ainvoke(1)
        return {"log": ["calling"]}

    async def calling_with_a_config(state, config: RunnableConfig):
        for _ in range(7):
            await asyncio.sleep(0.05)
            await RunnableLambda(str).ainvoke(1, config)
        return {"log": ["calling with a config"]}

    inner = lib.graph(Log, a, edges="START>a>END").compile()

    async def nesting(state):
        for _ in range(7):
            await asyncio.sleep(0.05)
            await inner.ainvoke({"log": []})
        return {"log": ["nesting"]}

    for node in (lively, chatty, calling, calling_with_a_config, nesting):
        app = lib.app(_graph_with(lib, node, timeout=lib.TimeoutPolicy(idle_timeout=0.25)))
        yield app.stream({"log": []}, mode="updates")


@program.timed
def a_node_of_which_only_its_own_word_counts_as_life(lib):
    async def calling(state):
        for _ in range(50):
            await asyncio.sleep(0.01)
            await RunnableLambda(str).ainvoke(1)

    policy = lib.TimeoutPolicy(idle_timeout=0.1, refresh_on="heartbeat")
    yield lib.app(_graph_with(lib, calling, timeout=policy)).invoke({"log": []}, fails=True)


@program.timed
def a_timeout_that_is_retried(lib):
    calls = []

    async def slow_once(state):
        calls.append(1)
        if len(calls) == 1:
            await asyncio.sleep(10)
        return {"log": ["done"]}

    yield lib.app(_graph_with(lib, slow_once, timeout=0.2, retry_policy=_retry(lib))).invoke({"log": []})


@program.timed
def a_timeout_that_is_handled(lib):
    async def slow(state):
        await asyncio.sleep(10)

    def handle(state, error: lib.NodeError):
        return {"log": [type(error.error).__name__]}

    yield lib.app(_graph_with(lib, slow, timeout=0.02, error_handler=handle)).invoke({"log": []})


@program.timed
def a_timeout_of_a_send(lib):
    async def work(state):
        await asyncio.sleep(state)
        return {"log": [f"work {state}"]}

    graph = lib.graph(Log, work, edges="work>END")
    graph.add_conditional_edges(lib.START, lambda state: [lib.Send("work", 0), lib.Send("work", 10, timeout=0.02)])
    yield lib.app(graph).invoke({"log": []}, fails=True)


@program
def a_sync_node_cannot_have_a_timeout(lib):
    try:
        _graph_with(lib, a, timeout=1).compile()
        yield "taken"
    except ValueError:
        yield "refused"


@program
def a_sync_node_cannot_have_the_timeout_of_all_nodes(lib):
    async def fail(state):
        raise Boom("broken")

    for nodes in ({"node": a}, {"node": fail, "error_handler": a}, {"node": fail}):
        graph = lib.connect(lib.StateGraph(Log).add_node("node", nodes.pop("node"), **nodes), "START>node>END")
        try:
            graph.set_node_defaults(timeout=1).compile()
            yield "taken"
        except ValueError:
            yield "refused"


@program
def a_sync_run_breaks_nothing_off(lib):
    """So what has a timeout is refused there."""
    inner = lib.graph(Log, a, edges="START>a>END").compile()
    timed = lib.StateGraph(Log).add_node("inner", inner, timeout=60)
    graphs = [lib.connect(timed, "START>inner>END")]
    sent = lib.StateGraph(Log).add_node("node", inner)
    graphs.append(sent.add_conditional_edges(lib.START, lambda state: [lib.Send("node", state, timeout=60)], ["node"]))
    for graph in graphs:
        try:
            yield lib.app(graph).invoke({"log": []})
        except ValueError:
            yield "refused"


@program.timed
def a_step_timeout(lib):
    async def slow(state):
        await asyncio.sleep(10)

    compiled = lib.graph(Log, a, slow, edges="START>a>slow>END").compile(checkpointer=lib.saver())
    compiled.step_timeout = 0.2
    app = lib.watch(compiled)
    yield app.invoke({"log": []}, thread(), fails=True)
    yield app.get_state(thread()).next


@program
def what_a_handler_writes_stands_where_its_node_would(lib):
    def fail(state):
        raise Boom("broken")

    def ask(state):
        return {"log": [lib.interrupt("sure?")]}

    def handle(state, error: lib.NodeError):
        return {"log": [f"handled {error.node}"]}

    graph = lib.StateGraph(Log).add_node("z", a).add_node("c", ask)
    graph.add_node("b", fail, error_handler=handle).add_node("d", fail, error_handler=handle)
    app = lib.saved(lib.connect(graph, "START>z>END, START>b>END, START>c>END, START>d>END"))
    paused = app.invoke({"log": []}, thread())
    yield paused["log"]
    yield app.invoke(lib.Command(resume="yes"), thread())["log"]


test_same = program.as_test()
