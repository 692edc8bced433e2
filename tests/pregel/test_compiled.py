"""A compiled graph: schemas, nested graphs, caches, batches, pictures, savers of LangGraph's kind."""

import asyncio
import inspect
import operator
import sqlite3
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Annotated, Any
from unittest.mock import AsyncMock, MagicMock, Mock, create_autospec

import pytest
from langgraph.checkpoint.memory import InMemorySaver as TheirMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver as TheirSqliteSaver
from pydantic import BaseModel
from typing_extensions import TypedDict

from signoff.cache.memory import InMemoryCache
from signoff.channels import LastValue
from signoff.checkpoint.memory import InMemorySaver
from signoff.config import RunnableConfig, get_config
from signoff.errors import GraphDrained, InvalidContext, InvalidGraph, InvalidInput, InvalidUpdateError, NeedsAsync
from signoff.func import entrypoint, task
from signoff.graph import END, START, StateGraph
from signoff.pregel import ChannelWriteEntry, NodeBuilder, Pregel
from signoff.runtime import RunControl
from signoff.store.memory import InMemoryStore
from signoff.types import CachePolicy, Command, Send, interrupt

CONFIG = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    log: Annotated[list[str], operator.add]


class Question(TypedDict):
    text: str


@dataclass
class Settings:
    user: str
    limit: int = 3


class Model(BaseModel):
    text: str
    count: int | None = None


def one_node(schema=State, **settings):
    return StateGraph(schema, **settings).add_node("only", lambda state: None).add_edge(START, "only")


@pytest.mark.parametrize(
    "mock", [AsyncMock, lambda **told: partial(AsyncMock(**told)), MagicMock], ids=["async", "partial", "sync"]
)
def test_a_mock_may_stand_for_a_node(mock):
    app = StateGraph(State).add_node("only", mock(return_value={"log": ["done"]})).add_edge(START, "only").compile()
    assert asyncio.run(app.ainvoke({"log": []})) == {"log": ["done"]}


def work(state, config: RunnableConfig): ...


async def awork(state, config: RunnableConfig): ...


def of_a_node(mock):
    return StateGraph(State).add_node("only", mock).add_edge(START, "only").compile()


def of_a_path(mock):
    mock.return_value = END
    return one_node().add_conditional_edges("only", mock).compile()


def of_a_task(mock):
    called = task(mock)

    @entrypoint()
    async def flow(input):
        return await called(input)

    return flow


@pytest.mark.parametrize("mock", [MagicMock, Mock, AsyncMock, create_autospec], ids=lambda mock: mock.__name__)
@pytest.mark.parametrize("function", [work, awork])
@pytest.mark.parametrize("use", [of_a_node, of_a_path, of_a_task, lambda mock: entrypoint()(mock)],
                         ids=["node", "path", "task", "entrypoint"])  # fmt: skip
def test_a_mock_may_stand_for_a_function(mock, function, use):
    stand_in = mock(spec=function, return_value={"log": ["done"]})
    app = use(stand_in)
    asyncio.run(app.ainvoke({"log": []}))
    assert stand_in.call_args.args == ({"log": []},)
    assert list(stand_in.call_args.kwargs) == (["config"] if mock is create_autospec else [])
    if not inspect.iscoroutinefunction(function) and mock is not AsyncMock and use is not of_a_task:
        app.invoke({"log": []})
        assert stand_in.call_count == 2


def test_a_mock_is_named_by_what_it_is():
    app = StateGraph(State).add_node(MagicMock(spec=work, return_value={})).add_edge(START, "MagicMock").compile()
    assert app.invoke({"log": ["in"]}) == {"log": ["in"]}


def test_a_mock_of_a_node_may_ask():
    async def ask(state):
        return {"log": [interrupt("sure?")]}

    node = AsyncMock(side_effect=ask)
    app = StateGraph(State).add_node("only", node).add_edge(START, "only").compile(checkpointer=InMemorySaver())

    async def talk():
        await app.ainvoke({"log": []}, CONFIG)
        return await app.ainvoke(Command(resume="yes"), CONFIG)

    assert asyncio.run(talk()) == {"log": ["yes"]}
    assert node.await_count == 2


def test_schemas_of_typed_dicts():
    app = one_node(State, context_schema=Settings, input_schema=Question).compile()
    assert app.get_input_jsonschema()["properties"] == {"text": {"title": "Text", "type": "string"}}
    assert app.get_input_jsonschema()["required"] == ["text"]
    assert app.get_output_jsonschema()["properties"]["log"]["type"] == "array"
    assert app.get_context_jsonschema()["required"] == ["user"]
    assert one_node().compile().get_context_jsonschema() is None


@dataclass
class Limits:
    loops: int = field(default=6, metadata={"title": "Rounds", "description": "How often to try."})


def test_the_schema_of_a_context_says_what_the_metadata_of_its_fields_say():
    shown = one_node(context_schema=Limits).compile().get_context_jsonschema()["properties"]["loops"]
    assert shown == {"default": 6, "description": "How often to try.", "title": "Rounds", "type": "integer"}


def test_schemas_of_models_dataclasses_and_bare_values():
    assert one_node(Model).compile().input_schema is Model
    assert one_node(Settings).compile().get_output_jsonschema()["properties"]["limit"]["default"] == 3
    assert one_node(Annotated[list, operator.add]).compile().get_input_jsonschema()["type"] == "array"


def test_schemas_of_a_low_level_graph_and_of_an_entrypoint():
    app = Pregel(
        nodes={"one": NodeBuilder().subscribe_only("a").do(str).write_to("b")},
        channels={"a": LastValue(int), "b": LastValue(str)},
        input_channels="a",
        output_channels=["b"],
    )
    assert app.get_input_jsonschema()["type"] == "integer"
    assert app.get_output_jsonschema()["properties"]["b"]["type"] == "string"
    assert app.invoke(3) == {"b": "3"}
    assert app.output_schema.model_json_schema() == app.get_output_jsonschema()


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda b: b.subscribe_only("a").subscribe_only("b"), "listens to"),
        (lambda b: b.subscribe_only("a").subscribe_to("b"), "single channel"),
        (lambda b: b.subscribe_only("a").read_from("b"), "bare value"),
        (lambda b: b.subscribe_only(["a"]), r"listens to \['a'\]. Give it names of channels"),
        (lambda b: b.subscribe_to("a", 5), "listens to 5. Give it names of channels"),
        (lambda b: b.subscribe_to("a").read_from(None), "listens to None. Give it names of channels"),
        (lambda b: b.add_retry_policies(5), "5"),
        (lambda b: b.add_cache_policy("daily"), "'daily'"),
    ],
)
def test_a_node_builder_refuses_what_cannot_be_meant(build, words):
    with pytest.raises(InvalidGraph, match=words):
        build(NodeBuilder())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"input_channels": "nope"}, "input_channels"),
        ({"output_channels": ["nope"]}, "output_channels"),
        ({"nodes": {"one": NodeBuilder()}}, "'one'"),
        ({"nodes": {"one": NodeBuilder().subscribe_only("b")}}, "No node listens"),
    ],
)
def test_a_low_level_graph_is_checked(settings, words):
    whole = {
        "nodes": {"one": NodeBuilder().subscribe_only("a").write_to("b")},
        "channels": {"a": LastValue(int), "b": LastValue(str)},
        "input_channels": "a",
        "output_channels": "b",
    }
    with pytest.raises(InvalidGraph, match=words):
        Pregel(**{**whole, **settings})


def low_level(*actions):
    node = NodeBuilder().subscribe_only("a").write_to("b")
    for action in actions:
        node.do(action)
    channels = {"a": LastValue(int), "b": LastValue(str)}
    return Pregel(
        nodes={"one": node},
        channels=channels,
        input_channels=["a"],
        output_channels=["b"],
        checkpointer=InMemorySaver(),
    )


@pytest.mark.parametrize("input", [5, ["a"], [("a", 5)], {"b": 5}, {}], ids=repr)
def test_a_low_level_graph_of_several_channels_takes_a_dict_of_them(input):
    with pytest.raises(InvalidInput, match="some of the keys a"):
        low_level(str).invoke(input, {"configurable": {"thread_id": "1"}})


def test_a_command_to_a_low_level_graph_writes_to_channels_that_there_are():
    with pytest.raises(InvalidUpdateError, match="The Command writes to 'c', which is not a channel"):
        low_level(str).invoke(Command(update={"c": 5}), {"configurable": {"thread_id": "1"}})


def test_a_low_level_node_does_one_thing_after_the_other_whether_they_are_awaited_or_not():
    async def double(number):
        return 2 * number

    app, config = low_level(double, str, double), {"configurable": {"thread_id": "1"}}
    assert asyncio.run(app.ainvoke({"a": 2}, config)) == {"b": "44"}
    with pytest.raises(NeedsAsync, match="'one' is async"):
        app.invoke({"a": 2}, config)


def test_a_low_level_node_writes_fixed_and_mapped_values():
    node = NodeBuilder().subscribe_to("a").read_from("c").do(lambda seen: seen).do(lambda seen: len(seen))
    node.write_to("b", kind="fixed", double=lambda count: count * 2, none=lambda count: None).meta("tag", key=1)
    app = Pregel(
        nodes={"one": node},
        channels={name: LastValue(int) for name in ("a", "b", "c", "kind", "double", "none")},
        input_channels=["a", "c"],
        output_channels=["b", "kind", "double", "none"],
    )
    assert app.invoke({"a": 1, "c": 2}) == {"b": 2, "kind": "fixed", "double": 4, "none": None}
    assert asyncio.run(app.ainvoke({"a": 1})) == {"b": 1, "kind": "fixed", "double": 2, "none": None}
    with pytest.raises(InvalidInput, match="a, c"):
        app.invoke({"zzz": 1})


def test_a_low_level_node_may_leave_none_out():
    node = NodeBuilder().subscribe_only("text").do(lambda text: text * 2 if len(text) < 10 else None)
    node.write_to(ChannelWriteEntry("text", skip_none=True))
    app = Pregel(nodes={"n": node}, channels={"text": LastValue(str)}, input_channels="text", output_channels="text")
    assert app.invoke("ab") == "abababababababab"


def test_a_low_level_node_writes_to_channels():
    with pytest.raises(InvalidGraph, match=r"write_to has \['b'\]. Give it names"):
        NodeBuilder().write_to(["b"])


def test_a_picture_has_an_edge_once_that_a_node_and_its_paths_lead_along():
    graph = one_node().add_node("led", lambda state: None, destinations=("only",)).add_edge(START, "led")
    for path in (str, repr):
        graph.add_conditional_edges("led", path, ["only", END])
    edges = graph.compile().get_graph().edges
    assert sorted(edge.target for edge in edges if edge.source == "led") == [END, "only"]


def test_nested_graphs_are_listed():
    inner = one_node().compile()
    middle = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").compile()
    outer = StateGraph(State).add_node("middle", middle).add_edge(START, "middle").compile()
    assert [name for name, _ in outer.get_subgraphs()] == ["middle"]
    assert [name for name, _ in outer.get_subgraphs(recurse=True)] == ["middle", "middle|inner"]
    assert [name for name, _ in outer.get_subgraphs(namespace="middle|inner", recurse=True)] == ["middle|inner"]
    assert [name for name, _ in outer.get_subgraphs(namespace="middle", recurse=True)] == ["middle"]
    assert list(outer.get_subgraphs(namespace="middle|inner")) == []
    assert list(outer.get_subgraphs(namespace="nope")) == []


def test_a_cache_is_cleared_as_a_whole_or_for_a_node():
    ran = []

    def work(state):
        ran.append("work")
        return {"log": ["worked"]}

    builder = StateGraph(State).add_node("work", work, cache_policy=CachePolicy()).add_edge(START, "work")
    app = builder.compile(cache=InMemoryCache())
    for clear in (
        lambda: None,
        lambda: app.clear_cache(["work"]),
        app.clear_cache,
        lambda: asyncio.run(app.aclear_cache()),
    ):
        clear()
        assert app.invoke({"log": []}) == {"log": ["worked"]}
    assert len(ran) == 4
    app.invoke({"log": []})
    assert len(ran) == 4
    with pytest.raises(InvalidInput, match="no cache"):
        one_node().compile().clear_cache()


class CountedSaver(InMemorySaver):
    def __len__(self):
        return len(list(self.list(None)))


class CountedStore(InMemoryStore):
    def __len__(self):
        return len(self.search(()))


def test_a_saver_or_a_store_that_is_empty_is_one():
    own, saver = CountedStore(), CountedSaver()

    def note(state, *, store):
        store.put(("notes",), "k", {"text": "mine"})

    nested = StateGraph(State).add_node("note", note).add_edge(START, "note").compile(store=own)
    app = StateGraph(State).add_node("nested", nested).add_edge(START, "nested").compile(saver, store=InMemoryStore())
    app.invoke({"log": []}, {"configurable": {"thread_id": "1"}})
    assert len(own) == 1
    assert len(saver) > 0


def test_what_comes_from_the_cache_is_not_cached_anew_so_that_it_is_forgotten_in_time():
    stored = []

    class Noting(InMemoryCache):
        def set(self, pairs):
            stored.extend(ttl for _, ttl in pairs.values())
            super().set(pairs)

    policy = CachePolicy(key_func=lambda state: 10**5000, ttl=60)  # a number may stand for an input, however long
    builder = StateGraph(State).add_node("work", lambda state: {"log": ["done"]}, cache_policy=policy)
    builder.add_node("after", lambda state: {"log": ["after"]}).add_edge(START, "work").add_edge("work", "after")
    app = builder.compile(cache=Noting())
    assert [app.invoke({"log": []}) for _ in range(3)] == [{"log": ["done", "after"]}] * 3
    assert stored == [60]


def test_a_task_forgets_its_cached_results():
    ran = []

    @task(cache_policy=CachePolicy())
    def double(x):
        ran.append(x)
        return x * 2

    cache = InMemoryCache()

    @entrypoint(cache=cache)
    def flow(x):
        return double(x).result()

    assert [flow.invoke(2), flow.invoke(2)] == [4, 4]
    assert ran == [2]
    double.clear_cache(cache)
    flow.invoke(2)
    asyncio.run(double.aclear_cache(cache))
    flow.invoke(2)
    assert ran == [2, 2, 2]


def failing_on_two():
    def node(state):
        if "2" in state["log"]:
            raise ZeroDivisionError("two")
        return {"log": ["ok"]}

    return StateGraph(State).add_node("node", node).add_edge(START, "node").compile()


@pytest.mark.parametrize("is_async", [False, True])
def test_a_batch_keeps_the_order_and_may_keep_errors(is_async):
    app = failing_on_two()

    def batch(*args, **named):
        return asyncio.run(app.abatch(*args, **named)) if is_async else app.batch(*args, **named)

    inputs = [{"log": [str(number)]} for number in range(4)]
    assert batch(inputs[:2]) == [{"log": ["0", "ok"]}, {"log": ["1", "ok"]}]
    assert batch([]) == []
    kept = batch(inputs, {"max_concurrency": 2}, return_exceptions=True)
    assert [type(result).__name__ for result in kept] == ["dict", "dict", "ZeroDivisionError", "dict"]
    with pytest.raises(ZeroDivisionError):
        batch(inputs)
    with pytest.raises(InvalidInput, match="4 inputs and 1 configs"):
        batch(inputs, [{}])
    with pytest.raises(InvalidInput, match="a list of inputs"):
        batch("ab")


def test_what_a_nested_graph_shows_comes_while_it_runs():
    seen = Event()
    inner = StateGraph(State).add_node("a", lambda state: {"log": ["a"]})
    inner.add_node("b", lambda state: {"log": [seen.wait(10)]}).add_edge(START, "a").add_edge("a", "b")
    outer = StateGraph(State).add_node("inner", inner.compile()).add_edge(START, "inner").compile()
    chunks = outer.stream({"log": []}, stream_mode="updates", subgraphs=True)
    assert next(chunks)[1] == {"a": {"log": ["a"]}}
    seen.set()
    assert next(chunks)[1] == {"b": {"log": [True]}}
    chunks.close()


def test_print_mode_and_debug_show_the_run(capsys):
    app = StateGraph(State).add_node("a", lambda state: {"log": ["a"]}).add_edge(START, "a").compile()
    assert app.invoke({"log": []}, print_mode="updates") == {"log": ["a"]}
    assert capsys.readouterr().out == "[updates] {'a': {'log': ['a']}}\n"
    asyncio.run(app.ainvoke({"log": []}, print_mode="updates"))
    assert capsys.readouterr().out == "[updates] {'a': {'log': ['a']}}\n"
    shown_by_itself = app.builder.compile(debug=True)
    for show in (
        lambda: list(app.stream({"log": []}, debug=True)),
        lambda: asyncio.run(app.ainvoke({}, debug=True)),
        lambda: shown_by_itself.invoke({}),
    ):
        show()
        shown = capsys.readouterr().out
        assert ("[values]" in shown, "[updates]" in shown) == (True, True)


@pytest.mark.parametrize("name", ["memory", "sqlite"])
@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_saver_written_for_langgraph_runs_under_the_engine(name, durability):
    theirs = {
        "memory": TheirMemorySaver,
        "sqlite": lambda: TheirSqliteSaver(sqlite3.connect(":memory:", check_same_thread=False)),
    }[name]()
    ran = []

    def ask(state):
        return {"log": [interrupt({"sure": True})]}

    def beside(state):
        ran.append("beside")
        return {"log": ["beside"]}

    builder = StateGraph(State).add_node("ask", ask).add_node("beside", beside).add_node("last", lambda state: None)
    builder.add_edge(START, "ask").add_edge(START, "beside").add_edge(["ask", "beside"], "last").add_edge("last", END)
    app = builder.compile(theirs)
    assert app.invoke({"log": ["in"]}, CONFIG, durability=durability)["__interrupt__"][0].value == {"sure": True}
    assert app.get_state(CONFIG).next == ("ask",)
    assert app.invoke(Command(resume="yes"), CONFIG, durability=durability) == {"log": ["in", "yes", "beside"]}
    assert ran == ["beside"]
    assert app.get_state(CONFIG).values == {"log": ["in", "yes", "beside"]}
    if isinstance(theirs, TheirSqliteSaver):
        theirs.conn.close()


def test_a_graph_without_a_saver_of_its_own_says_what_checkpointer_true_means():
    with pytest.raises(InvalidInput, match="checkpointer=True"):
        one_node().compile(checkpointer=True).invoke({"log": []}, CONFIG)


def test_settings_travel_with_a_copy_and_leave_the_original_alone():
    app = one_node().compile(InMemorySaver(), name="desk")
    bound = app.with_config(configurable={"thread_id": "9"}, recursion_limit=7)
    assert bound.invoke({"log": ["x"]}) == {"log": ["x"]}
    assert bound.get_state({}).values == {"log": ["x"]}
    assert app.config is None
    assert bound.get_name() == app.name == "desk"
    assert app.copy({"checkpointer": None}).invoke({"log": []}) == {"log": []}


@pytest.mark.parametrize("is_async", [False, True])
def test_a_version_of_results_that_there_is_not_is_refused(is_async):
    app = one_node().compile()
    with pytest.raises(InvalidInput, match='must be "v1" or "v2"'):
        asyncio.run(app.ainvoke({"log": []}, version="v9")) if is_async else app.invoke({"log": []}, version="v9")


def test_nested_graphs_are_found_on_an_event_loop_too():
    inner = StateGraph(State).add_node("a", lambda state: None).add_edge(START, "a").compile()
    outer = StateGraph(State).add_node("inner", inner).add_edge(START, "inner").compile()

    async def found(**where):
        return [name async for name, _ in outer.aget_subgraphs(**where)]

    assert asyncio.run(found()) == [name for name, _ in outer.get_subgraphs()] == ["inner"]
    assert asyncio.run(found(namespace="nope")) == []


def test_what_v2_returns_says_where_to_look():
    output = (
        StateGraph(dict).add_node("a", lambda state: {"x": 1}).add_edge(START, "a").compile().invoke({}, version="v2")
    )
    with pytest.raises(TypeError, match="'x' in its value"):
        output["x"]
    with pytest.raises(TypeError, match="questions in its interrupts"):
        assert "__interrupt__" in output


def test_a_node_of_a_run_without_a_thread_is_told_of_none():
    seen = []
    graph = StateGraph(State).add_node("a", lambda state: seen.append(get_config())).add_edge(START, "a")
    graph.compile().invoke({"log": []})
    graph.compile(InMemorySaver()).invoke({"log": []}, CONFIG)
    assert ["thread_id" in one["configurable"] for one in seen] == [False, True]
    assert ["thread_id" in one["metadata"] for one in seen] == [False, True]


def test_a_conditional_edge_is_not_shown_where_a_command_leads():
    seen = []

    def lead(state):
        return Command(update={"log": ["led"]}, goto=["b", Send("b", {"log": []})])

    graph = StateGraph(State).add_node("a", lead).add_node("b", lambda state: None).add_edge(START, "a")
    graph.add_conditional_edges("a", lambda state: seen.append({**state}) or END, [END])
    graph.compile().invoke({"log": []})
    assert seen == [{"log": ["led"]}]


def test_a_deferred_node_waits_for_what_was_sent():
    graph = StateGraph(State).add_node("each", lambda state: {"log": ["each"]})
    graph.add_node("last", lambda state: {"log": ["last"]}, defer=True).add_edge(START, "last")
    graph.add_conditional_edges(START, lambda state: [Send("each", state), Send("each", state)], ["each"])
    assert graph.compile().invoke({"log": []}) == {"log": ["each", "each", "last"]}


@pytest.mark.parametrize("asks", [False, True])
def test_a_run_that_is_drained_before_it_begins_takes_its_input_and_runs_nothing(asks):
    ran, control = [], RunControl()
    control.request_drain("closing time")

    def way(state):
        ran.append("way")
        return "a"

    graph = StateGraph(State).add_node("a", lambda state: ran.append("a"))
    app = (graph.add_conditional_edges(START, way, ["a"]) if asks else graph.add_edge(START, "a")).compile(
        InMemorySaver()
    )
    with pytest.raises(GraphDrained, match="closing time"):
        app.invoke({"log": ["given"]}, CONFIG, control=control)
    assert ran == []
    app.invoke(None, CONFIG)
    assert (ran[-1], app.get_state(CONFIG).values) == ("a", {"log": ["given"]})


@pytest.mark.parametrize("is_async", [False, True])
def test_what_is_cached_of_a_function_is_not_taken_for_another_one_of_a_node_of_that_name(is_async):
    cache = InMemoryCache()

    def one(state):
        return {"log": ["one"]}

    def two(state):
        return {"log": ["two"]}

    async def aone(state):
        return {"log": ["one"]}

    async def atwo(state):
        return {"log": ["two"]}

    def said(node):
        graph = StateGraph(State).add_node("say", node, cache_policy=CachePolicy()).add_edge(START, "say")
        app = graph.compile(cache=cache)
        return asyncio.run(app.ainvoke({"log": []})) if is_async else app.invoke({"log": []})

    nodes = (aone, atwo) if is_async else (one, two)
    assert [said(node)["log"] for node in nodes] == [["one"], ["two"]]


def test_a_graph_that_a_function_reaches_through_an_object_of_its_module_is_found():
    class Desk:
        inner = StateGraph(State).add_node("a", lambda state: None).add_edge(START, "a").compile()

    known = {"DESK": Desk()}
    exec("def call(state):\n    return DESK.inner.invoke(state)", known)
    outer = StateGraph(State).add_node("call", known["call"]).add_edge(START, "call").compile()
    assert [(name, graph is Desk.inner) for name, graph in outer.get_subgraphs()] == [("call", True)]
    assert outer.nodes["call"].subgraphs == [Desk.inner]


def test_a_context_that_does_not_fit_is_named():
    @dataclass
    class Context:
        user: str

    app = StateGraph(State, Context).add_node("a", lambda state: None).add_edge(START, "a").compile()
    with pytest.raises(InvalidContext, match="does not fit Context: .*'who'"):
        app.invoke({"log": []}, context={"who": "Ana"})


def test_what_has_another_way_to_be_called_is_called_that_way():
    class Both:
        def __call__(self, state):
            return {"log": ["called"]}

        def invoke(self, state):
            raise NotImplementedError

        ainvoke = invoke

    app = StateGraph(State).add_node("both", Both()).add_edge(START, "both").compile()
    assert app.invoke({"log": []}) == {"log": ["called"]}


def test_a_low_level_graph_streams_in_the_mode_that_it_was_made_with():
    node = NodeBuilder().subscribe_only("in").do(str.upper).write_to("out")
    channels = {"in": LastValue(str), "out": LastValue(str)}
    app = Pregel(
        nodes={"loud": node}, channels=channels, input_channels="in", output_channels="out", stream_mode="updates"
    )
    assert list(app.stream("a")) == [{"loud": {"out": "A"}}]


def test_an_extra_that_may_be_anything_or_none_is_given():
    def node(state, *, store: Any | None):
        return {"log": [type(store).__name__]}

    app = StateGraph(State).add_node("node", node).add_edge(START, "node").compile(store=InMemoryStore())
    assert app.invoke({"log": []}) == {"log": ["InMemoryStore"]}


def test_a_low_level_graph_has_a_policy_for_all_nodes():
    calls = []
    node = NodeBuilder().subscribe_only("in").do(lambda word: calls.append(word) or word).write_to("out")
    app = Pregel(
        nodes={"note": node}, channels={"in": LastValue(str), "out": LastValue(str)}, input_channels="in",
        output_channels="out", cache_policy=CachePolicy(), cache=InMemoryCache(),
    )  # fmt: skip
    assert [app.invoke("a"), app.invoke("a"), calls] == ["a", "a", ["a"]]


def test_the_policies_of_all_nodes_are_for_those_that_have_none():
    calls = []

    def node(state):
        calls.append(state["log"])

    graph = StateGraph(State).set_node_defaults(cache_policy=CachePolicy()).add_node("node", node)
    app = graph.set_entry_point("node").set_finish_point("node").compile(cache=InMemoryCache())
    for word in "aab":
        app.invoke({"log": [word]})
    assert calls == [["a"], ["b"]]
