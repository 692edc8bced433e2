"""What LangChain's callbacks hear of a run, as `astream_events` tells it, and the metadata they are given."""

import operator
from typing import Annotated

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableBranch, RunnableLambda

from .harness import Boom, Programs, drain, thread
from .states import Log, a, b

program = Programs()


def _heard(lib, app, input, config=None):
    """Events with their data and their depth. What the run itself is called is a matter of taste."""
    seen = []
    try:
        lib.runner.run(drain(app.graph.astream_events(input, config, version="v2"), seen))
    except Boom as error:
        seen.append(error)
    return [event if isinstance(event, Boom) else _facts(event) for event in seen]


def _facts(event):
    depth = len(event["parent_ids"])
    return depth, event["event"], event["name"] if depth else "", event["data"]


@program.only_async
def events_of_nodes_that_return_what_they_like(lib):
    def go(state):
        return lib.Command(update={"log": ["go"]}, goto="b")

    def nothing(state):
        return None

    def several(state):
        return [{"log": [1]}, lib.Command(update={"log": [2]})]

    yield _heard(lib, lib.app(lib.graph(Log, a, go, b, edges="START>a>go, b>END")), {"log": []})
    yield _heard(lib, lib.app(lib.graph(Log, nothing, several, edges="START>nothing>several>END")), {"log": []})


@program.only_async
def events_of_a_node_that_fails(lib):
    def fail(state):
        raise Boom("no")

    yield _heard(lib, lib.app(lib.graph(Log, a, fail, edges="START>a>fail>END")), {"log": []})


def _attempts(lib):
    tried = []

    def shaky(state):
        tried.append(1)
        if len(tried) % 3:
            raise Boom(f"attempt {len(tried)}")
        return {"log": ["at last"]}

    graph = lib.StateGraph(Log)
    policy = lib.RetryPolicy(initial_interval=0.001, jitter=False, max_attempts=3, retry_on=Boom)
    return lib.app(lib.connect(graph.add_node("shaky", shaky, retry_policy=policy), "START>shaky>END"))


@program.only_async
def events_of_a_node_that_is_tried_again(lib):
    yield _heard(lib, _attempts(lib), {"log": []})


def _with_paths(lib, path):
    def then(state):
        return "b"

    graph = lib.graph(Log, a, b, edges="b>END")
    graph.add_conditional_edges(lib.START, path)
    graph.add_conditional_edges("a", then, ["b"])
    graph.add_conditional_edges("a", RunnableLambda(lambda state: lib.END, name="runnable"))
    return lib.app(graph)


@program.only_async
def events_of_conditional_edges(lib):
    def first(state):
        return "a"

    async def first_async(state):
        return "a"

    def broken(state):
        raise Boom("lost")

    for path in (first, first_async, broken):
        yield _heard(lib, _with_paths(lib, path), {"log": []})


class Ear(BaseCallbackHandler):
    """Notes the chains that begin, end and fail."""

    run_inline = True

    def __init__(self):
        self.heard = []

    def on_chain_start(self, serialized, inputs, *, name, tags, metadata, **_):
        self.heard.append((name, inputs, sorted(tags), metadata.get("langgraph_node")))

    def on_chain_end(self, outputs, **_):
        self.heard.append(outputs)

    def on_chain_error(self, error, **_):
        self.heard.append(error)


@program
def what_callbacks_hear_of_conditional_edges_and_attempts(lib):
    def first(state):
        return "a"

    for app in (_attempts(lib), _with_paths(lib, first)):
        ear = Ear()
        app.invoke({"log": []}, {"callbacks": [ear]})
        yield ear.heard


@program
def what_callbacks_hear_of_runnables_that_are_nodes_or_that_nodes_call(lib):
    inner = RunnableLambda(lambda state: {"log": ["inner"]}, name="inner")

    def call(state):
        return inner.invoke(state)

    nested = lib.graph(Log, call, edges="START>call>END").compile(name="nested")
    for node in (call, inner, RunnableBranch((lambda state: False, inner), inner), nested):
        ear = Ear()
        lib.app(lib.graph(Log, edges="START>node>END", node=node)).invoke({"log": []}, {"callbacks": [ear]})
        yield ear.heard


@program.only_async
def events_of_a_nested_graph(lib):
    inner = lib.graph(Log, b, edges="START>b>END").compile(name="inside")
    yield _heard(lib, lib.app(lib.graph(Log, a, edges="START>a>inner>END", inner=inner)), {"log": []})


@program.only_async
def events_of_tasks_in_tasks(lib):
    @lib.task
    async def double(number, times=2):
        return number * times

    @lib.task
    async def around(number):
        return await double(number, times=3)

    async def flow(number):
        return await around(number)

    yield _heard(lib, lib.flow(flow), 1)


@program.only_async
def events_of_a_command_that_comes_up_to_its_graph(lib):
    def up(state):
        return lib.Command(graph=lib.Command.PARENT, update={"log": ["up"]}, goto="b")

    inner = lib.graph(Log, up, edges="START>up").compile()
    app = lib.app(lib.graph(Log, b, edges="START>inner, b>END", inner=inner))
    yield app.stream({"log": []}, {"callbacks": [BaseCallbackHandler()]}, mode="updates")


PLACE = {
    "thread_id": "1",
    "task_id": "t",
    "run_id": "r",
    "assistant_id": "as",
    "graph_id": "g",
    "secret": "s",
    "settings": {"deep": True},
}


def _said(lib, **options):
    def answer(state: lib.MessagesState):
        return {"messages": AIMessage("hi", id="1")}

    app = lib.app(lib.graph(lib.MessagesState, answer, edges="START>answer>END"))
    ((_, metadata),) = app.stream({"messages": []}, options, mode="messages")
    # What LangSmith calls the library that it watches is that library's own business.
    return {key: value for key, value in metadata.items() if key != "ls_integration"}


@program
def metadata_that_the_place_of_a_call_gives(lib):
    yield _said(lib, configurable=PLACE)
    yield _said(lib, configurable={"checkpoint_id": "c", "checkpoint_ns": "n"})
    yield _said(lib, configurable={"checkpoint_id": "", "checkpoint_ns": "", "thread_id": ""})
    yield _said(lib, configurable=PLACE, metadata={"run_id": "mine", "own": 1})


@program
def metadata_that_a_checkpoint_keeps(lib):
    app = lib.saved(lib.graph(Log, a, edges="START>a>END"))
    app.invoke({"log": []}, {"configurable": PLACE, "metadata": {"run_id": "mine", "own": 1}})
    yield app.get_state(thread()).metadata


@program
def facts_about_the_call_of_a_task(lib):
    seen = []

    @lib.task
    def look():
        metadata = lib.get_config()["metadata"]
        seen.append((metadata["langgraph_triggers"], metadata["langgraph_path"]))

    @lib.task
    def around():
        look().result()

    flow = lib.flow(lambda number: (look().result(), around().result(), None)[2])
    yield [chunk for chunk in flow.stream(1, mode="tasks") if "triggers" in chunk]
    yield seen


@program
def metadata_and_tags_of_tasks(lib):
    inner = lib.graph(Log, b, edges="START>b>END").compile()
    graph = lib.StateGraph(Log)
    graph.add_node("a", a, metadata={"kind": "first"}).add_node("inner", inner)
    app = lib.app(lib.connect(graph, "START>a>inner>END"))
    for config in ({}, {"metadata": {"own": 1}, "tags": ["urgent"]}, {"configurable": {**PLACE, "checkpoint_id": "c"}}):
        chunks = app.stream({"log": []}, config, mode="tasks", subgraphs=True)
        yield [(chunk["name"], chunk.get("metadata")) for _, chunk in chunks if "input" in chunk]


@program
def several_updates_of_a_state_that_is_one_value(lib):
    def twice(state):
        return [lib.Command(update="a1"), lib.Command(update="a2")]

    graph = lib.StateGraph(Annotated[str, operator.add])
    graph.add_node("twice", twice).add_node("once", lambda state: "b")
    app = lib.app(lib.connect(graph, "START>twice>once>END"))
    yield app.stream("", mode="updates")
    yield app.invoke("")


@program
def places_of_a_stateful_and_of_another_nested_graph(lib):
    remembers = lib.graph(Log, a, edges="START>a>END").compile(checkpointer=True)
    forgets = lib.graph(Log, b, edges="START>b>END").compile()

    def both(state):
        remembers.invoke({"log": []})
        forgets.invoke({"log": []})

    app = lib.saved(lib.graph(Log, both, edges="START>both>END"))
    for _ in range(2):
        yield app.stream({"log": []}, thread(), mode="updates", subgraphs=True)


test_same = program.as_test()
