"""What a node knows of its run: the server it is served from, its execution, contexts that do not fit, drains."""

from dataclasses import dataclass
from types import SimpleNamespace

from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from .harness import Programs, thread
from .states import Log, a, b

program = Programs()


@dataclass
class Context:
    user: str


class User:
    identity = "ana"


def _looking(lib, look, **options):
    graph = lib.StateGraph(Log, **options)
    graph.add_node("look", look)
    return lib.connect(graph, "START>look>END")


@program
def the_server_that_a_config_tells_of(lib):
    def look(state, runtime: lib.Runtime):
        server = runtime.server_info
        return {"log": [server and (server.assistant_id, server.graph_id, getattr(server.user, "identity", None))]}

    app = lib.app(_looking(lib, look))
    for said in (
        {},
        {"assistant_id": "mail"},
        {"assistant_id": "mail", "graph_id": 7},
        {"graph_id": ""},
        {"langgraph_auth_user": User()},
        {"langgraph_auth_user": {"identity": "ana"}},
        {"langgraph_auth_user": object(), "graph_id": "post"},
    ):
        yield app.invoke({"log": []}, {"configurable": said})["log"]


@program
def callbacks_that_a_node_hands_on(lib):
    def look(state, config: RunnableConfig):
        RunnableLambda(len).invoke("four", {"callbacks": config["callbacks"]})
        return {"log": ["callbacks" in lib.get_config()]}

    app = lib.app(_looking(lib, look))
    yield app.invoke({"log": []})
    traces = RunCollectorCallbackHandler()
    yield app.invoke({"log": []}, {"callbacks": [traces]})
    yield [run.name for run in traces.traced_runs[0].child_runs[0].child_runs]


@program
def the_server_seen_from_a_nested_graph(lib):
    def look(state, runtime: lib.Runtime):
        return {"log": [runtime.server_info.assistant_id]}

    inner = _looking(lib, look).compile()
    app = lib.app(lib.graph(Log, edges="START>inner>END", inner=inner))
    yield app.invoke({"log": []}, {"configurable": {"assistant_id": "mail"}})


@program
def what_a_server_put_into_the_place_of_the_runtime(lib):
    store = lib.InMemoryStore()

    def look(state, runtime: lib.Runtime):
        return {"log": [str(runtime.context), runtime.store is store]}

    app = lib.app(_looking(lib, look))
    config = {"configurable": {"__pregel_runtime": SimpleNamespace(context="of the server", store=store)}}
    yield app.invoke({"log": []}, config)
    yield app.invoke({"log": []}, config, context="of the call")


@program
def the_time_of_the_first_attempt(lib):
    seen = []

    def look(state, runtime: lib.Runtime):
        info = runtime.execution_info
        seen.append(info.node_first_attempt_time)
        if info.node_attempt < 3:
            raise ConnectionError
        return {"log": [info.node_attempt]}

    graph = lib.StateGraph(Log)
    graph.add_node("look", look, retry_policy=lib.RetryPolicy(initial_interval=0, jitter=False))
    yield lib.app(lib.connect(graph, "START>look>END")).invoke({"log": []})
    yield isinstance(seen[0], float), seen[0] == seen[1] == seen[2]
    yield isinstance(_facts(lib).node_first_attempt_time, float)


def _facts(lib):
    seen = []

    def look(state, runtime: lib.Runtime):
        seen.append(runtime.execution_info)

    lib.app(_looking(lib, look)).invoke({"log": []})
    return seen[0]


@program
def a_context_with_the_wrong_keys(lib):
    app = lib.app(_looking(lib, lambda state: None, context_schema=Context))
    yield app.invoke({"log": []}, context={}, fails=True)
    yield app.invoke({"log": []}, context={"user": "ana", "level": 1}, fails=True)


def _drained(lib, control):
    def stop(state):
        control.request_drain("closing time")
        return {"log": ["stop"]}

    return lib.graph(Log, stop, a, b, edges="START>stop>a>b>END")


@program
def a_drain_where_the_run_stops_anyway(lib):
    for breakpoints in ({"interrupt_before": ["a"]}, {"interrupt_after": ["stop"]}):
        control = lib.RunControl()
        app = lib.saved(_drained(lib, control), **breakpoints)
        yield app.invoke({"log": []}, thread(), control=control)
        yield app.get_state(thread()).next
        yield app.invoke(None, thread())


@program
def a_drain_before_a_run_that_stops_at_once(lib):
    control = lib.RunControl()
    control.request_drain()
    app = lib.saved(_drained(lib, control), interrupt_before=["stop"])
    yield app.invoke({"log": []}, thread(), control=control, fails="maybe")
    yield app.invoke(None, thread())


@program
def a_drain_where_a_nested_graph_stops_anyway(lib):
    control = lib.RunControl()
    inner = _drained(lib, control).compile(interrupt_before=["a"])
    app = lib.saved(lib.graph(Log, edges="START>inner>END", inner=inner))
    app.invoke({"log": []}, thread(), control=control)
    yield app.get_state(thread()).next
    yield app.invoke(None, thread())


@program
def the_tags_in_the_config_of_a_node(lib):
    def look(state, config: RunnableConfig):
        return {"log": [config.get("tags", "none")]}

    app = lib.app(_looking(lib, look))
    yield app.invoke({"log": []})
    yield app.invoke({"log": []}, {"tags": ["asked"]})


def _places(config):
    said = config["metadata"]["langgraph_checkpoint_ns"], config["configurable"]["checkpoint_ns"]
    return [[level.partition(":")[0] for level in ns.split("|")] for ns in said]


@program
def where_calls_inside_of_nodes_are(lib):
    @lib.task
    def deep(config: RunnableConfig):
        return _places(config)

    @lib.task
    def call(config: RunnableConfig):
        return [_places(config), deep().result()]

    def look(state, config: RunnableConfig):
        return {"log": [_places(config), call().result()]}

    inner = _looking(lib, look)
    yield lib.app(inner).invoke({"log": []})
    yield lib.saved(inner).invoke({"log": []}, thread())
    yield lib.saved(lib.graph(Log, edges="START>outer>END", outer=inner.compile())).invoke({"log": []}, thread())
    yield lib.flow(lambda n: call().result()).invoke(1)


test_same = program.as_test()
