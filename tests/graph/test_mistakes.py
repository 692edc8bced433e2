"""Mistakes in the description of a graph, and in calls of it: refused with a typed error that says what to do."""

import asyncio
import functools
import importlib
import operator
import re
import sqlite3
from contextlib import closing
from typing import Annotated, TypedDict

import aiosqlite
import pytest
from langgraph.managed import RemainingSteps as TheirRemainingSteps
from langgraph.types import Command as TheirCommand
from langgraph.types import Send as TheirSend

from signoff import types
from signoff.cache.memory import InMemoryCache
from signoff.channels import BaseChannel, DeltaChannel
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import AsyncSqliteSaver, SqliteSaver
from signoff.config import get_config, get_store, get_stream_writer
from signoff.errors import (
    GraphInterrupt,
    InvalidAnswer,
    InvalidGraph,
    InvalidInput,
    InvalidUpdateError,
    NotCompiled,
    NotStorable,
    OutsideOfRun,
    ParentCommand,
    StateChanged,
    UnknownNode,
)
from signoff.func import entrypoint, task
from signoff.graph import END, START, StateGraph, updating
from signoff.prebuilt import ToolNode
from signoff.runtime import get_runtime
from signoff.store.sqlite import SqliteStore
from signoff.types import CachePolicy, Command, RetryPolicy, StateUpdate, TimeoutPolicy, TracePolicy, interrupt

OLD_KEYWORDS = [
    (lambda: StateGraph(dict, config_schema=dict), "config_schema", "context_schema"),
    (lambda: StateGraph(dict, input=dict), "input", "input_schema"),
    (lambda: StateGraph(dict, output=dict), "output", "output_schema"),
    (lambda: StateGraph(dict).add_node("a", print, retry=RetryPolicy()), "retry", "retry_policy"),
    (lambda: StateGraph(dict).add_node("a", print, input=dict), "input", "input_schema"),
    (lambda: task(retry=RetryPolicy()), "retry", "retry_policy"),
    (lambda: entrypoint(config_schema=dict), "config_schema", "context_schema"),
    (lambda: entrypoint(retry=RetryPolicy()), "retry", "retry_policy"),
    (lambda: entrypoint(saver=None), "saver", "checkpointer"),
    (lambda: StateGraph(dict).compile(saver=None), "saver", "checkpointer"),
    (lambda: StateGraph(dict).compile(checkpoint=None), "checkpoint", "checkpointer"),
    (lambda: StateGraph(dict).compile(interupt_before=["a"]), "interupt_before", "interrupt_before"),
    (lambda: StateGraph(dict).add_node("a", print, retry_polcy=None), "retry_polcy", "retry_policy"),
]

OLD_NAMES = [
    ("constants", "Send", "from signoff.types"),
    ("constants", "Interrupt", "from signoff.types"),
    ("constants", "CONFIG_KEY_THREAD_ID", 'Write "thread_id"'),
    ("constants", "CONFIG_KEY_SEND", "A node is given the state"),
    ("types", "CacheKey", "FullKey, in signoff.cache.base"),
    ("typing", "NodeInputT", "A type variable of your own"),
    ("pregel.main", "Pregel", "from signoff.pregel"),
    ("graph", "MessageGraph", "StateGraph(MessagesState)"),
    ("graph.message", "MessageGraph", "StateGraph(MessagesState)"),
    ("graph", "Graph", "StateGraph"),
    ("prebuilt", "ToolExecutor", "ToolNode"),
    ("prebuilt", "ToolInvocation", "ToolNode"),
    ("checkpoint", "MemorySaver", "from signoff.checkpoint.memory"),
    ("errors", "NodeInterrupt", "interrupt(...)"),
    ("errors", "UnknownInterruptError", "InvalidAnswer"),
    ("errors", "is_invalid_resume", "InvalidAnswer"),
    ("checkpoint.postgres", "ShallowPostgresSaver", 'durability="exit"'),
    ("checkpoint.postgres", "BasePostgresSaver", "from BaseCheckpointSaver"),
]

OLD_MODULES = [
    ("_internal._config", "ensure_config", "from langchain_core.runnables.config"),
    ("_internal._runnable", "RunnableCallable", "RunnableLambda(f, afunc=af)"),
    ("checkpoint.base.id", "uuid6", "from signoff.checkpoint.ids"),
    ("checkpoint.conformance", "validate", "in signoff.testing.conformance.savers"),
    ("checkpoint.duckdb", "DuckDBSaver", "import from langgraph.checkpoint.duckdb, as before"),
    ("checkpoint.mongodb", "MongoDBSaver", "import from langgraph.checkpoint.mongodb, as before"),
    ("checkpoint.mysql.pymysql", "PyMySQLSaver", "import from langgraph.checkpoint.mysql, as before"),
    ("store.mongodb", "MongoDBStore", "import from langgraph.store.mongodb, as before"),
    ("checkpoint.serde.event_hooks", "register_serde_event_listener", "refused"),
    ("pregel.read", "PregelNode", "NodeBuilder()"),
    ("pregel.write", "ChannelWrite", "NodeBuilder()"),
    ("utils.config", "get_store", "signoff.config"),
    ("utils.config", "ensure_config", "from langchain_core.runnables.config"),
    ("utils.runnable", "RunnableCallable", "RunnableLambda(f, afunc=af)"),
    ("utils.runnable", "RunnableCallable", "get_store() and get_runtime()"),
    ("graph.graph", "CompiledGraph", "CompiledStateGraph, from signoff.graph.state"),
    ("prebuilt.tool_executor", "ToolExecutor", "ToolNode"),
    ("checkpoint.aiosqlite", "AsyncSqliteSaver", "from signoff.checkpoint.sqlite.aio"),
    ("graph.ui", "push_ui_message", "get_stream_writer()"),
    ("pregel.debug", "CheckpointPayload", "from signoff.types"),
    ("pregel.protocol", "PregelProtocol", "from signoff.pregel"),
    ("pregel.remote", "RemoteGraph", "a client of LangGraph's server"),
    ("pregel.types", "StateSnapshot", "from signoff.types"),
    ("store.base.batch", "AsyncBatchedBaseStore", "from BaseStore"),
    ("checkpoint.postgres.base", "BasePostgresSaver", "from BaseCheckpointSaver"),
    ("checkpoint.postgres.shallow", "ShallowPostgresSaver", 'durability="exit"'),
    ("store.postgres.base", "BasePostgresStore", "from BaseStore"),
    ("store.sqlite.base", "BaseSqliteStore", "from BaseStore"),
    ("warnings", "LangGraphDeprecationWarning", "Nothing here is deprecated"),
]

ON_THREAD = {"configurable": {"thread_id": "1"}}


class Log(TypedDict):
    log: Annotated[list, operator.add]


def work(state):
    return {"log": ["worked"]}


def ask(state):
    return {"log": [interrupt("Sure?")]}


def graph(node=work, **settings):
    return StateGraph(Log).add_node("node", node, **settings).add_edge(START, "node")


def saved(node=work):
    return graph(node).compile(InMemorySaver())


# Descriptions


def test_a_reducer_that_needs_a_third_argument_is_refused():
    class Wrong(TypedDict):
        text: Annotated[list, lambda old, new, more: old]

    with pytest.raises(InvalidGraph, match="reducer of key 'text' must take two arguments"):
        StateGraph(Wrong)


async def never_awaited(*args):
    raise AssertionError("is called by nobody")


class Awaited:
    __call__ = staticmethod(never_awaited)


@pytest.mark.parametrize("amount", [-1, float("nan"), "1"])
def test_an_amount_of_a_policy_that_is_none_is_refused_and_named(amount):
    for name in ("initial_interval", "backoff_factor", "max_interval"):
        with pytest.raises(InvalidGraph, match=f"{name} of a RetryPolicy must be 0 or more"):
            graph(retry_policy=RetryPolicy(**{name: amount}))
    with pytest.raises(InvalidGraph, match="max_attempts counts the first one"):
        graph(retry_policy=RetryPolicy(max_attempts=amount))
    with pytest.raises(InvalidGraph, match="ttl of a CachePolicy"):
        graph(cache_policy=CachePolicy(ttl=amount))


def test_an_update_as_a_node_that_is_not_there_names_those_that_are():
    with pytest.raises(UnknownNode, match="'nodes', which the graph does not have. Its nodes are: 'node'"):
        saved().update_state({"configurable": {"thread_id": "1"}}, {"log": ["x"]}, as_node="nodes")


@pytest.mark.parametrize("function", [never_awaited, functools.partial(never_awaited, 1), Awaited()])
def test_an_async_function_where_nobody_awaits_it_is_refused_at_once(function):
    class Merging(TypedDict):
        log: Annotated[list, function]

    with pytest.raises(InvalidGraph, match="reducer of key 'log' is async.*plain function"):
        StateGraph(Merging)
    with pytest.raises(InvalidGraph, match="reducer of a DeltaChannel is async"):
        DeltaChannel(function)
    with pytest.raises(InvalidGraph, match="retry_on of a RetryPolicy is async"):
        graph(retry_policy=RetryPolicy(retry_on=function))
    with pytest.raises(InvalidGraph, match="key_func of a CachePolicy is async"):
        graph(cache_policy=CachePolicy(key_func=function))
    for part in ("process_inputs", "process_outputs"):
        with pytest.raises(InvalidGraph, match=f"{part} of a TracePolicy is async"):
            graph(trace_policy=TracePolicy(**{part: function}))
    with pytest.raises(InvalidInput, match="handle_tool_errors is async"):
        ToolNode([], handle_tool_errors=function)


def test_a_reducer_may_have_more_parameters_with_defaults():
    class Fine(TypedDict):
        text: Annotated[list, lambda old, new, more=(): [*old, *new]]

    app = StateGraph(Fine).add_node("node", lambda state: {"text": ["b"]}).add_edge(START, "node").compile()
    assert app.invoke({"text": ["a"]}) == {"text": ["a", "b"]}


@pytest.mark.parametrize("schema", [{"text": str}, 5, "Log", None])
def test_a_state_that_is_no_type_is_refused(schema):
    with pytest.raises(InvalidGraph, match="is no type"):
        StateGraph(schema)


@pytest.mark.parametrize("told", [{"reducer": 5}, {"reducer": max, "snapshot_frequency": 0}])
def test_what_a_delta_channel_is_made_of_is_checked(told):
    with pytest.raises(InvalidGraph, match=r"give a reducer|Give a whole number above 0"):
        DeltaChannel(**told)


class Newest(BaseChannel):
    def __init__(self, count: int, typ: type = list, key: str = "") -> None:
        super().__init__(typ, key)
        self.count = count

    def fold(self, stored, writes):
        return [item for write in writes for item in write][-self.count :]


class NewestSlotted(Newest):
    __slots__ = "slot"

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.slot = count


@pytest.mark.parametrize("rule", [Newest, NewestSlotted])
@pytest.mark.parametrize("count", [1, 3])
def test_a_key_has_one_rule_also_if_it_is_of_ones_own(rule, count):
    class Given(TypedDict):
        log: Annotated[list, rule(count)]

    class State(TypedDict):
        log: Annotated[list, rule(3)]

    graph = StateGraph(State, input_schema=Given).add_node("a", lambda state: None).add_edge(START, "a")
    if count == 3:
        assert graph.compile().invoke({"log": [1, 2, 3, 4]}) == {"log": [2, 3, 4]}
    else:
        with pytest.raises(InvalidGraph, match="two different rules"):
            graph.compile()


@pytest.mark.parametrize(
    "key", ["__interrupt__", "__start__", "__resume__", "__waiting__", "__asks__", "branch:to:pay"]
)
def test_a_key_of_the_state_is_not_one_of_the_engines(key):
    with pytest.raises(InvalidGraph, match=f"'{key}' of Wrong is reserved"):
        StateGraph(TypedDict("Wrong", {key: str}))


def test_a_command_for_a_parent_that_is_not_there_says_what_to_do():
    app = saved(lambda state: Command(graph=Command.PARENT, goto="elsewhere"))
    with pytest.raises(ParentCommand, match="as a node of another one, or leave graph= out") as told:
        app.invoke({"log": []}, ON_THREAD)
    assert told.value.args == (Command(graph=Command.PARENT, goto="elsewhere"),)


def test_a_saver_class_is_no_saver():
    with pytest.raises(InvalidGraph, match=r"InMemorySaver\(\)"):
        graph().compile(InMemorySaver)


def test_a_saver_that_was_not_opened_says_with(tmp_path):
    with pytest.raises(InvalidGraph, match="with .* as saver"):
        graph().compile(SqliteSaver.from_conn_string(str(tmp_path / "a.db")))


@pytest.mark.parametrize("name", ["store", "cache"])
def test_what_is_no_store_or_cache_is_refused(name):
    with pytest.raises(InvalidGraph, match=f"The {name} is {{}}"):
        graph().compile(**{name: {}})


def test_on_pending_is_checked_when_the_graph_is_compiled():
    with pytest.raises(InvalidInput, match='"raise", "answer" or "discard"'):
        graph().compile(on_pending="drop")


@pytest.mark.parametrize("retry", [3, {"max_attempts": 3}, [RetryPolicy(), "again"]])
def test_what_is_no_retry_policy_is_refused(retry):
    with pytest.raises(InvalidGraph, match="RetryPolicy"):
        graph(retry_policy=retry)


@pytest.mark.parametrize("which", ["ConnectionError", int, [OSError, int], 5])
def test_what_cannot_say_which_errors_are_tried_again_is_refused(which):
    with pytest.raises(InvalidGraph, match=re.escape(repr(which))):
        graph(retry_policy=RetryPolicy(retry_on=which))


def test_what_is_no_cache_policy_is_refused():
    with pytest.raises(InvalidGraph, match="CachePolicy"):
        graph(cache_policy=True)
    with pytest.raises(InvalidGraph, match="CachePolicy"):
        task(cache_policy=True)(work)


def test_a_timeout_is_a_number_of_seconds():
    with pytest.raises(InvalidInput, match="run_timeout must be more than 0 seconds, not 'soon'"):
        TimeoutPolicy(run_timeout="soon")


def test_an_edge_leads_to_one_node():
    with pytest.raises(InvalidGraph, match="one edge for each"):
        graph().add_edge(START, ["node", "other"])


def test_an_edge_is_told_names_and_not_functions():
    with pytest.raises(InvalidGraph, match="Give its name: 'work'"):
        StateGraph(Log).add_node(work).add_edge(START, work)


def test_an_uncompiled_graph_as_a_node_says_compile():
    with pytest.raises(InvalidGraph, match=r"compile\(\)"):
        StateGraph(Log).add_node("inner", graph())


@pytest.mark.parametrize("add", [lambda: graph(5), lambda: StateGraph(Log).add_sequence(["work", "ask"])])
def test_what_cannot_be_called_is_no_node(add):
    with pytest.raises(InvalidGraph, match="must be a function"):
        add()


@pytest.mark.parametrize("nodes", [work, [], [("work",)]])
def test_a_sequence_is_a_list_of_nodes(nodes):
    with pytest.raises(InvalidGraph):
        StateGraph(Log).add_sequence(nodes)


@pytest.mark.parametrize("path_map", [5, "node"])
def test_a_path_map_is_a_dict_or_a_list(path_map):
    with pytest.raises(InvalidGraph, match="path_map"):
        graph().add_conditional_edges("node", lambda state: "node", path_map)


@pytest.mark.parametrize("named", ["input_schema", "output_schema"])
def test_the_other_schemas_are_types_too(named):
    with pytest.raises(InvalidGraph, match="5, which is no type"):
        StateGraph(Log, **{named: 5})


def test_the_result_of_a_function_is_no_node():
    with pytest.raises(InvalidGraph, match="Node 'node'"):
        graph(work({}))


@pytest.mark.parametrize("method", ["invoke", "astream", "get_state", "update_state", "with_config"])
def test_a_graph_that_is_used_before_it_is_compiled_says_compile(method):
    with pytest.raises(NotCompiled, match=rf"compile\(\) makes .* call {method}\(\) of that"):
        getattr(graph(), method)
    assert not hasattr(graph(), method)


@pytest.mark.parametrize("node", [lambda: None, lambda state, one, two: None, type("Empty", (), {})])
def test_a_node_that_cannot_be_called_with_the_state_is_refused(node):
    with pytest.raises(InvalidGraph, match="'node' is called with the state, and takes"):
        graph(node)


def test_a_conditional_edge_that_cannot_be_called_with_the_state_is_refused():
    def choose():
        return END

    with pytest.raises(InvalidGraph, match="'choose' is called with the state, and takes"):
        graph().add_conditional_edges("node", choose)


def test_a_decorator_may_fill_in_what_a_node_needs():
    def with_name(function):
        @functools.wraps(function)
        def called(state):
            return function(state, "Ana")

        return called

    @with_name
    def greet(state, name):
        return {"log": [name]}

    assert graph(greet).compile().invoke({"log": []}) == {"log": ["Ana"]}


@pytest.mark.parametrize("reducer", [operator.add, lambda old, new: {}["nothing"]])
def test_a_reducer_that_fails_tells_its_key_and_who_wrote_what(reducer):
    class Numbers(TypedDict):
        log: Annotated[list, reducer]

    app = StateGraph(Numbers).add_node("count", lambda state: {"log": 5}).add_edge(START, "count").compile()
    with pytest.raises((TypeError, KeyError)) as raised:
        app.invoke({})
    assert raised.value.__notes__ == ["The reducer of key 'log' failed. It was given 5 by 'count'."]


def test_a_conditional_edge_that_is_no_function_is_named():
    with pytest.raises(InvalidGraph, match="conditional edge behind 'node'"):
        graph().add_conditional_edges("node", "work").compile()


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("where", ["task", "entrypoint"])
def test_a_coroutine_that_nobody_awaits_is_no_result(where, is_async):
    async def fetch(url):
        return f"<{url}>"

    get = task(name="get")(lambda url: fetch(url))
    flow = entrypoint()((lambda url: get(url).result()) if where == "task" else lambda url: fetch(url))
    with pytest.raises(InvalidUpdateError, match=r"returned a coroutine of .*fetch.*async def"):
        asyncio.run(flow.ainvoke("a")) if is_async else flow.invoke("a")


def test_an_entrypoint_without_a_parameter_is_refused():
    with pytest.raises(InvalidGraph, match="takes no input"):

        @entrypoint()
        def start():
            return 1


# Calls


@pytest.mark.parametrize("config", ["1", ["1"], {"configurable": "1"}, {"configurable": ["thread_id"]}])
@pytest.mark.parametrize("method", ["invoke", "get_state", "update_state"])
def test_what_is_no_config_is_refused(config, method):
    app = saved()
    args = {"invoke": ({"log": []}, config), "get_state": (config,), "update_state": (config, {"log": []})}[method]
    with pytest.raises(InvalidInput, match=r'\{"configurable": \{"thread_id": "..."\}\}'):
        getattr(app, method)(*args)
    assert not list(app.checkpointer.list(None))


def test_a_graph_takes_a_config_that_is_one():
    with pytest.raises(InvalidInput, match="with_config"):
        saved().with_config("1")


def test_a_thread_may_be_named_beside_configurable():
    app = saved(ask)
    app.invoke({"log": []}, {"thread_id": "1"})
    assert app.get_state({"thread_id": "1"}).next == app.get_state(ON_THREAD).next == ("node",)
    app.update_state({"thread_id": "1"}, {"log": ["by hand"]}, as_node=START)
    assert app.invoke(Command(resume="yes"), {"thread_id": "1"}) == {"log": ["by hand", "yes"]}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recursion_limit", "five"),
        ("max_concurrency", "two"),
        ("max_concurrency", 0),
        ("metadata", "hello"),
        ("tags", "mine"),
        ("callbacks", "mine"),
    ],
)
def test_a_config_with_a_value_of_the_wrong_kind_names_it(name, value):
    app = saved()
    with pytest.raises(InvalidInput, match=f"{name} must be .* not {value!r}"):
        app.invoke({"log": []}, {**ON_THREAD, name: value})
    assert not list(app.checkpointer.list(None))


def test_a_filter_of_a_history_is_a_dict():
    app = saved()
    app.invoke({"log": []}, ON_THREAD)
    with pytest.raises(InvalidInput, match="filter must be a dict of metadata, .* not 'loop'"):
        list(app.get_state_history(ON_THREAD, filter="loop"))


def test_a_stream_mode_is_a_name():
    with pytest.raises(InvalidInput, match="There is no stream mode 3"):
        list(saved().stream({"log": []}, ON_THREAD, stream_mode=3))


@pytest.mark.parametrize("key", [None, [], object()], ids=["None", "list", "object"])
def test_a_key_that_tells_no_inputs_apart_is_refused(key):
    from signoff.cache.memory import InMemoryCache

    app = graph(cache_policy=CachePolicy(key_func=lambda state: key)).compile(cache=InMemoryCache())
    with pytest.raises(InvalidInput, match="key_func of 'node' returned .*return a text"):
        app.invoke({"log": []})


def test_an_input_that_has_no_key_in_a_cache_says_what_to_do():
    from signoff.cache.memory import InMemoryCache

    app = graph(cache_policy=CachePolicy()).compile(cache=InMemoryCache())
    with pytest.raises(NotStorable, match="input of 'node'.*give its CachePolicy a key_func"):
        app.invoke({"log": [len]})


def test_the_cache_of_an_unknown_node_cannot_be_cleared():
    from signoff.cache.memory import InMemoryCache

    app = graph(cache_policy=CachePolicy()).compile(cache=InMemoryCache())
    with pytest.raises(UnknownNode, match="'nodes'"):
        app.clear_cache(["nodes"])


def test_an_answer_to_a_graph_without_a_saver_says_that_it_needs_one():
    app = graph(ask).compile()
    app.invoke({"log": []})
    with pytest.raises(InvalidAnswer, match=r"no saver.*InMemorySaver\(\)"):
        app.invoke(Command(resume="yes"))


def test_a_name_that_no_open_question_has_is_told():
    builder = StateGraph(Log).add_node("one", lambda state: {"log": [interrupt("1?", key="one")]})
    builder.add_node("two", lambda state: {"log": [interrupt("2?", key="two")]})
    app = builder.add_edge(START, "one").add_edge(START, "two").compile(InMemorySaver())
    app.invoke({"log": []}, ON_THREAD)
    with pytest.raises(InvalidAnswer, match="'tow'"):
        app.invoke(Command(resume={"one": 1, "tow": 2}), ON_THREAD)
    assert len(app.get_state(ON_THREAD).interrupts) == 2


@pytest.mark.parametrize("key", [5, ""])
def test_the_key_of_a_question_is_a_name(key):
    app = saved(lambda state: {"log": [interrupt("Sure?", key=key)]})
    with pytest.raises(InvalidInput, match="key"):
        app.invoke({"log": []}, ON_THREAD)
    assert not app.get_state(ON_THREAD).interrupts


@pytest.mark.parametrize("supersteps", [[({"log": []}, "node")], [[({"log": []}, "node")]]])
def test_a_bulk_update_is_made_of_updates(supersteps):
    app = saved()
    with pytest.raises(InvalidInput, match="StateUpdate"):
        app.bulk_update_state(ON_THREAD, supersteps)
    app.bulk_update_state(ON_THREAD, [[StateUpdate({"log": ["by hand"]}, "node")]])
    assert app.get_state(ON_THREAD).values == {"log": ["by hand"]}


def test_a_batch_takes_a_list():
    with pytest.raises(InvalidInput, match="list"):
        saved().batch({"log": []}, ON_THREAD)


def test_what_is_no_run_control_is_refused():
    with pytest.raises(InvalidInput, match="RunControl"):
        saved().invoke({"log": []}, ON_THREAD, control=5)


@pytest.mark.parametrize("call", [get_config, get_store, get_stream_writer, get_runtime, lambda: types.interrupt("?")])
def test_calls_that_belong_into_a_run_are_runtime_errors_outside_of_one(call):
    # As in LangGraph: libraries try them, and go on without where there is no run.
    with pytest.raises(RuntimeError, match="outside of a running node or task"):
        call()
    with pytest.raises(InvalidInput):
        call()


def test_a_task_that_was_not_waited_for_says_result():
    @task
    def double(number):
        return 2 * number

    @entrypoint(checkpointer=InMemorySaver())
    def start(number):
        return double(number)

    with pytest.raises(NotStorable, match=r"\.result\(\)"):
        start.invoke(1, ON_THREAD)


def test_a_call_in_a_coroutine_that_was_not_awaited_says_await():
    @task
    def double(number):
        return number * 2

    @entrypoint()
    async def doubled(number):
        return double(number).result()

    with pytest.raises(InvalidInput, match="Write `await call"):
        asyncio.run(doubled.ainvoke(2))


def test_what_only_looks_like_a_saver_is_refused():
    class Duck:
        def get_tuple(self, config):
            return None

    with pytest.raises(InvalidGraph, match="Give a saver"):
        graph().compile(Duck())


@pytest.mark.parametrize(("describe", "old", "new"), OLD_KEYWORDS)
def test_whoever_writes_a_keyword_of_the_time_before_is_told_the_one_of_now(describe, old, new):
    with pytest.raises(InvalidGraph, match=rf"has no keyword {old}=. Write {new}= instead"):
        describe()


@pytest.mark.parametrize("call", ["invoke", "ainvoke", "stream", "astream"])
def test_whoever_runs_a_graph_with_a_keyword_of_the_time_before_is_told_the_one_of_now(call):
    def run():
        result = getattr(graph().compile(), call)({"log": []}, checkpoint_during=False)
        return asyncio.run(result) if call == "ainvoke" else result

    with pytest.raises(
        InvalidInput, match=rf"^{call}\(\) has no keyword checkpoint_during=. Write durability= instead"
    ):
        run()


def test_a_keyword_that_is_misspelt_in_a_call_is_told_as_it_is_written():
    with pytest.raises(InvalidInput, match=r"stream\(\) has no keyword stream_modes=. Write stream_mode= instead"):
        graph().compile().stream({"log": []}, stream_modes="updates")


def test_a_keyword_that_there_never_was_is_refused():
    with pytest.raises(InvalidGraph, match=r"add_node\(\) has no keyword retries=. Leave it out"):
        StateGraph(dict).add_node("a", print, retries=3)


@pytest.mark.parametrize(("module", "name", "instead"), OLD_MODULES)
def test_whoever_imports_a_module_of_langgraph_that_is_not_there_is_told_what_there_is_instead(module, name, instead):
    with pytest.raises(ModuleNotFoundError, match=re.escape(instead)):
        exec(f"from signoff.{module} import {name}")


@pytest.mark.parametrize(("module", "name", "instead"), OLD_NAMES)
def test_whoever_imports_a_name_of_the_time_before_is_told_what_there_is_instead(module, name, instead):
    with pytest.raises(ImportError, match=re.escape(instead)):
        exec(f"from signoff.{module} import {name}")
    with pytest.raises(ImportError, match="cannot import name 'NothingAtAll'"):
        exec(f"from signoff.{module} import NothingAtAll")


@pytest.mark.parametrize(("module", "name", "instead"), OLD_NAMES)
def test_whoever_asks_whether_a_name_of_the_time_before_is_there_hears_that_it_is_not(module, name, instead):
    found = importlib.import_module(f"signoff.{module}")
    assert not hasattr(found, name)
    with pytest.raises(AttributeError, match=re.escape(instead)):
        getattr(found, name)


def test_the_version_is_where_langgraph_has_its_own():
    assert importlib.import_module("signoff.version").__version__ == importlib.import_module("signoff").__version__


@pytest.mark.parametrize("name", ["config_schema", "get_config_jsonschema"])
def test_whoever_asks_a_graph_for_a_method_of_the_time_before_is_told_what_to_call(name):
    with pytest.raises(AttributeError, match=rf"'{name}'. Call get_context_jsonschema\(\)"):
        getattr(saved(), name)


# A program that was moved from LangGraph in part


def leading(node):
    return StateGraph(Log).add_node("a", node).add_node("b", work).add_edge(START, "a").compile()


@pytest.mark.parametrize(
    ("app", "words"),
    [
        (leading(lambda state: TheirCommand(goto="b")), "Node 'a' returned Command(goto='b'), a Command of LangGraph"),
        (leading(lambda state: [TheirSend("b", {})]), "Node 'a' returned Send(node='b', arg={}), a Send of LangGraph"),
        (leading(lambda state: Command(goto=TheirSend("b", {}))), "Node 'a' goes to Send(node='b', arg={}), a Send"),
        (
            StateGraph(Log).add_node("b", work).add_conditional_edges(START, lambda state: [TheirSend("b", {})], ["b"]),
            "behind '__start__' returned Send(node='b', arg={}), a Send of LangGraph. Import Send from signoff.types.",
        ),
    ],
    ids=["command", "send", "goto", "edge"],
)
def test_what_is_still_of_langgraph_is_refused_and_not_dropped(app, words):
    app = app.compile() if isinstance(app, StateGraph) else app
    with pytest.raises(InvalidUpdateError, match=re.escape(words)):
        app.invoke({"log": []})


def test_an_answer_in_a_command_of_langgraph_is_refused_and_the_question_stays():
    app = saved(ask)
    app.invoke({"log": []}, ON_THREAD)
    with pytest.raises(InvalidInput, match=r"a Command of LangGraph\. Import Command from signoff\.types"):
        app.invoke(TheirCommand(resume=True), ON_THREAD)
    assert app.invoke(Command(resume=True), ON_THREAD) == {"log": [True]}


def test_a_managed_value_of_langgraph_is_refused_when_the_graph_is_described():
    class Counted(Log):
        steps: TheirRemainingSteps

    with pytest.raises(InvalidGraph, match=r"'steps' is a managed value of LangGraph.*signoff\.managed"):
        StateGraph(Counted)


@pytest.mark.parametrize("path_map", [None, ["b"]])
def test_a_conditional_edge_that_returns_no_name_of_a_node_says_what_to_return(path_map):
    builder = StateGraph(Log).add_node("b", work).add_conditional_edges(START, lambda state: {"to": "b"}, path_map)
    with pytest.raises((InvalidUpdateError, UnknownNode), match="returned {'to': 'b'}"):
        builder.compile().invoke({"log": []})


def test_a_node_that_forgets_to_await_is_told_so():
    async def look_up():
        return {"log": []}

    started = []
    with pytest.raises(InvalidUpdateError, match=r"\(a coroutine\)\. Await it\."):
        graph(lambda state: started.append(look_up()) or started[0]).compile().invoke({"log": []})
    started[0].close()


def test_an_answer_to_a_thread_that_has_not_begun_says_that_it_may_be_another_thread():
    with pytest.raises(InvalidAnswer, match="thread '1' has not begun here.*right thread_id, and the right database"):
        saved(ask).invoke(Command(resume=True), ON_THREAD)


def test_a_thread_id_as_a_keyword_is_told_where_it_belongs():
    with pytest.raises(InvalidInput, match=re.escape('Give config={"configurable": {"thread_id": ...}}')):
        saved().invoke({"log": []}, thread_id="1")


@pytest.mark.parametrize(
    ("resume", "words"),
    [
        (lambda question: {question.id: "yes", "other": "no"}, "there is no open question 'other'"),
        (lambda question: {question: "yes"}, "named by the whole of its id"),
        (lambda question: {question.id[:8]: "yes"}, "named by the whole of its id"),
    ],
    ids=["another name beside it", "the question itself", "the beginning of its id"],
)
def test_an_answer_that_names_its_question_half_is_not_handed_over_with_the_name(resume, words):
    app = saved(ask)
    (question,) = app.invoke({"log": []}, ON_THREAD)["__interrupt__"]
    with pytest.raises(InvalidAnswer, match=f"{words}.*still open"):
        app.invoke(Command(resume=resume(question)), ON_THREAD)
    assert app.get_state(ON_THREAD).interrupts == (question,)
    assert app.invoke(Command(resume={"other": "no"}), ON_THREAD) == {"log": [{"other": "no"}]}


def test_who_names_two_questions_by_their_one_key_is_told_their_ids():
    keyed = StateGraph(Log)
    for name in ("a", "b"):
        keyed.add_node(name, lambda state: {"log": [interrupt("Sure?", key="sure")]}).add_edge(START, name)
    app = keyed.compile(InMemorySaver())
    questions = app.invoke({"log": []}, ON_THREAD)["__interrupt__"]
    with pytest.raises(InvalidAnswer, match="by id") as told:
        app.invoke(Command(resume={"sure": True}), ON_THREAD)
    assert all(question.id in str(told.value) for question in questions)


def test_an_answer_does_not_go_under_in_an_update():
    app = saved(ask)
    (question,) = app.invoke({"log": []}, ON_THREAD)["__interrupt__"]
    with pytest.raises(InvalidUpdateError, match=re.escape("Answer with invoke(Command(resume=...), config)")):
        app.update_state(ON_THREAD, Command(resume="yes"))
    assert app.get_state(ON_THREAD).interrupts == (question,)


def test_an_update_that_is_no_dict_is_not_blamed_on_a_node():
    app = saved()
    app.invoke({"log": []}, ON_THREAD)
    with pytest.raises(InvalidUpdateError, match=r"^The update is \[1\] \(a list\)"):
        app.update_state(ON_THREAD, [1])
    with pytest.raises(InvalidUpdateError, match=r"^The update is \['x'\] \(a list\)"):
        saved(lambda state: interrupt("Sure?", update=["x"])).invoke({"log": []}, ON_THREAD)


def test_an_interrupt_that_is_returned_asks_nobody_and_that_is_said():
    with pytest.raises(InvalidUpdateError, match=re.escape("call interrupt('Sure?')")):
        saved(lambda state: types.Interrupt("Sure?")).invoke({"log": []}, ON_THREAD)


def test_a_future_that_is_returned_says_result():
    with pytest.raises(InvalidUpdateError, match=r"`\.result\(\)`"):
        saved(lambda state: task(work)(state)).invoke({"log": []}, ON_THREAD)


def test_a_pause_that_is_raised_by_hand_says_interrupt():
    def stop(state):
        raise GraphInterrupt("Sure?")

    with pytest.raises(InvalidInput, match=re.escape("not of 'Sure?'. Ask with interrupt(...)")):
        saved(stop).invoke({"log": []}, ON_THREAD)


def test_a_question_of_a_retry_policy_does_not_leave_the_graph_as_a_signal():
    def fail(state):
        raise LookupError("no such customer")

    app = graph(fail, retry_policy=RetryPolicy(retry_on=lambda error: interrupt("Again?"))).compile(InMemorySaver())
    for invoke in (app.invoke, lambda *given: asyncio.run(app.ainvoke(*given))):
        with pytest.raises(OutsideOfRun, match="retry_on of node 'node' asked 'Again.'.*error_handler") as told:
            invoke({"log": []}, ON_THREAD)
        assert isinstance(told.value.__cause__, LookupError)


@pytest.mark.parametrize(
    "run",
    [
        lambda: graph().add_edge("node", "END").compile(),
        lambda: graph().add_edge("node", "end").compile(),
        lambda: graph(lambda state: Command(goto="END")).compile().invoke({"log": []}),
        lambda: graph().add_conditional_edges("node", lambda state: "END").compile().invoke({"log": []}),
    ],
    ids=["an edge", "an edge in small letters", "a goto", "a conditional edge"],
)
def test_end_in_quotes_is_told_to_be_written_without(run):
    with pytest.raises((InvalidGraph, UnknownNode), match="Write END without quotes"):
        run()


def test_the_name_of_a_node_behind_its_function_is_not_dropped():
    with pytest.raises(InvalidGraph, match=re.escape("add_node(work, 'review'): the name comes first")):
        StateGraph(Log).add_node(work, "review")


def test_a_node_that_reads_its_thread_with_its_own_config_is_told_to_leave_the_namespace_out():
    """Its namespace is that of the graph inside of it, and there is none: it would see nothing."""

    def look(state, config):
        return {"log": [app.get_state(config).values]}

    app = StateGraph(Log).add_node(look).add_edge(START, "look").compile(checkpointer=InMemorySaver())
    with pytest.raises(
        InvalidInput, match="'look', which is no nested graph.* Leave checkpoint_ns out to read the thread"
    ):
        app.invoke({"log": []}, {"configurable": {"thread_id": "1"}})


def test_a_name_behind_a_node_of_that_name_is_taken():
    """As some write it down for tools: nothing is left out, so there is nothing to refuse."""
    graph = StateGraph(Log).add_node(work, "work").add_node(ToolNode([], name="tools"), "tools")
    assert list(graph.nodes) == ["work", "tools"]


def test_an_error_handler_that_cannot_be_called_is_not_taken_for_its_node():
    with pytest.raises(InvalidGraph, match="^'error handler of node' is called with the state"):
        graph(error_handler=lambda: None).compile()


def test_a_reducer_that_returns_nothing_is_told_to_return_the_value():
    class Notes(TypedDict):
        notes: Annotated[list, lambda old, new: old.extend(new)]

    app = StateGraph(Notes).add_node("node", lambda state: {"notes": ["b"]}).add_edge(START, "node").compile()
    with pytest.raises(StateChanged, match="returned None, let it return the new value"):
        app.invoke({"notes": ["a"]})


async def _later():
    return 1


@pytest.mark.parametrize(
    ("make", "words"),
    [(_later, "not awaited"), (lambda: (one for one in "ab"), "Store a list")],
    ids=["coroutine", "generator"],
)
def test_a_value_that_is_still_to_be_made_is_told_how(make, words):
    value = make()
    with pytest.raises(NotStorable, match=words):
        saved(lambda state: {"log": [value]}).invoke({"log": []}, ON_THREAD)
    value.close()


@pytest.mark.parametrize("thread_id", [ON_THREAD, ["1"], object(), work], ids=["config", "list", "object", "function"])
@pytest.mark.parametrize("method", ["invoke", "get_state"])
def test_what_names_no_thread_is_refused(thread_id, method):
    given = ({"log": []},) if method == "invoke" else ()
    with pytest.raises(InvalidInput, match="^The thread_id is .*Give a text"):
        getattr(saved(), method)(*given, {"configurable": {"thread_id": thread_id}})


def test_a_question_of_a_graph_that_runs_on_its_own_in_a_node_is_not_dropped_without_a_word(caplog):
    inner = graph(ask).compile()
    app = graph(lambda state: inner.invoke({"log": []}, {"configurable": {"thread_id": "own"}})).compile()
    updating._warn_of.cache_clear()
    app.invoke({"log": []})
    assert "has asked something there, and nobody is asked here" in caplog.text


@pytest.mark.parametrize("kind", [SqliteSaver, SqliteStore])
def test_what_is_no_connection_is_refused_when_the_saver_or_store_is_made(kind, tmp_path):
    unopened = aiosqlite.connect(tmp_path / "a.db")
    for conn, words in ((None, "None is no connection"), (unopened, "take the async saver or store")):
        with pytest.raises(InvalidInput, match=words):
            kind(conn)
    with pytest.raises(InvalidInput, match="None is no name of a file"), kind.from_conn_string(None):
        pass
    with closing(sqlite3.connect(tmp_path / "a.db")) as conn:  # the right one
        kind(conn)


def test_an_async_saver_takes_no_sync_connection():
    async def make():
        with closing(sqlite3.connect(":memory:")) as conn:
            AsyncSqliteSaver(conn)

    with pytest.raises(InvalidInput, match="take the sync saver or store"):
        asyncio.run(make())


@pytest.mark.parametrize(
    ("name", "words"),
    [("configurable", 'config={"configurable": ...}'), ("recursion_limit", 'config={"recursion_limit": ...}')],
)
def test_a_part_of_the_config_as_a_keyword_is_told_where_it_belongs(name, words):
    with pytest.raises(InvalidInput, match=re.escape(words)):
        saved().invoke({"log": []}, **{name: {}})


def test_an_answer_as_a_keyword_is_told_where_it_belongs():
    app = saved(ask)
    app.invoke({"log": []}, ON_THREAD)
    with pytest.raises(InvalidInput, match=re.escape("Give Command(resume=...) in the place of the input")):
        app.invoke(None, ON_THREAD, resume=True)


def test_the_name_of_a_task_is_a_keyword():
    with pytest.raises(InvalidGraph, match=re.escape("@task(name='fetch')")):
        task("fetch")


@pytest.mark.parametrize(("decorator", "shown"), [(entrypoint(), "@entrypoint()"), (task, "@task"), (task(), "@task")])
def test_a_decorator_of_what_is_no_function_says_so(decorator, shown):
    with pytest.raises(InvalidGraph, match=re.escape(f"{shown} is given 1, which is no function")):
        decorator(1)


class Shop:
    """Has methods."""

    def sell(self, state):
        return {"log": ["sold"]}


def test_a_method_of_no_object_is_told_to_be_that_of_one():
    with pytest.raises(InvalidGraph, match="It is a method: give that of an object"):
        StateGraph(dict).add_node("sell", Shop.sell)
    with pytest.raises(InvalidGraph, match="It is a method: give that of an object"):
        entrypoint()(Shop.sell)
    assert StateGraph(dict).add_node("sell", Shop().sell)


class Caller(TypedDict):
    user: str


def greet(state, runtime):
    return {"log": [runtime.context["user"]]}


def greet_by_attribute(state, runtime):
    return {"log": [runtime.context.user]}


def greet_nobody(state, runtime):
    return {"log": ["nobody" if runtime.context is None else runtime.context["user"]]}


@pytest.mark.parametrize("node", [greet, greet_by_attribute])
@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
def test_a_node_that_fails_for_want_of_a_context_says_so(call, node):
    app = StateGraph(Log, context_schema=Caller).add_node("greet", node).add_edge(START, "greet").compile()

    def run():
        return app.invoke({"log": []}) if call == "invoke" else asyncio.run(app.ainvoke({"log": []}))

    with pytest.raises((TypeError, AttributeError)) as failure:
        run()
    assert "called without a context" in "".join(failure.value.__notes__)
    assert "context=Caller(...)" in "".join(failure.value.__notes__)


def test_a_node_may_do_without_the_context_that_its_graph_declares():
    app = StateGraph(Log, context_schema=Caller).add_node("greet", greet_nobody).add_edge(START, "greet").compile()
    assert app.invoke({"log": []}) == {"log": ["nobody"]}


@pytest.mark.parametrize(
    "call",
    [
        lambda app, snapshot: app.get_state(snapshot),
        lambda app, snapshot: app.invoke(None, snapshot),
        lambda app, snapshot: app.update_state(snapshot, {"log": []}),
        lambda app, snapshot: asyncio.run(app.ainvoke(None, snapshot)),
        lambda app, snapshot: list(app.get_state_history(ON_THREAD, before=snapshot)),
    ],
)
def test_a_snapshot_is_no_config_but_has_one(call):
    app = saved()
    app.invoke({"log": []}, ON_THREAD)
    with pytest.raises(InvalidInput, match="config"):
        call(app, app.get_state(ON_THREAD))


@pytest.mark.parametrize("begins", [True, False], ids=["at the beginning", "later"])
@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
def test_a_callers_command_for_a_graph_around_this_one_is_refused(call, begins):
    app = saved()
    if not begins:
        app.invoke({"log": []}, ON_THREAD)
    before = app.get_state(ON_THREAD)

    def run():
        command = Command(graph=Command.PARENT, update={"log": ["lost"]})
        return app.invoke(command, ON_THREAD) if call == "invoke" else asyncio.run(app.ainvoke(command, ON_THREAD))

    with pytest.raises(InvalidUpdateError, match="Leave graph= out"):
        run()
    assert app.get_state(ON_THREAD) == before


class Ticket(TypedDict, total=False):
    log: Annotated[list, operator.add]
    customer: str


def test_a_key_of_the_input_that_looks_like_one_that_is_missing_is_told_in_the_log(caplog):
    app = StateGraph(Ticket).add_node("node", work).add_edge(START, "node").compile()
    app.invoke({"log": [], "custmer": "ana"})
    assert "was called with the key 'custmer', which it does not take: it was dropped. Did you mean 'customer'?" in (
        caplog.text
    )
    caplog.clear()
    app.invoke({"log": [], "customer": "ana", "customers": 2, "elsewhere": 1})
    assert not caplog.text, "what is not missing was not meant"


def test_a_nested_graph_is_given_what_the_one_around_it_has_without_a_word(caplog):
    class Outer(TypedDict, total=False):
        log: Annotated[list, operator.add]
        custmer: str

    inner = StateGraph(Ticket).add_node("node", work).add_edge(START, "node").compile()
    for node in (inner, lambda state: inner.invoke(state)):
        app = StateGraph(Outer).add_node("inner", node).add_edge(START, "inner").compile()
        app.invoke({"log": [], "custmer": "ana"})
    assert not caplog.text


def test_the_name_of_a_graph_is_a_text():
    with pytest.raises(InvalidGraph, match="The name of a graph is 3"):
        graph().compile(name=3)


def test_the_destinations_of_a_node_are_no_lone_text():
    with pytest.raises(InvalidGraph, match="destinations is 'b'"):
        StateGraph(Log).add_node("a", lambda state: None, destinations="b")


def test_the_metadata_of_a_node_is_a_dict():
    with pytest.raises(InvalidGraph, match="The metadata of node 'node' is 'costly'. Give a dict"):
        graph(metadata="costly")


def test_a_cache_policy_without_a_cache_is_told_in_the_log(caplog):
    graph(cache_policy=CachePolicy()).compile(cache=InMemoryCache())
    graph().compile()
    assert not caplog.text
    graph(cache_policy=CachePolicy()).compile()
    assert "Node 'node' has a cache_policy, and the graph has no cache" in caplog.text
    caplog.clear()
    entrypoint(cache_policy=CachePolicy())(work)
    assert "Node 'work' has a cache_policy" in caplog.text


def test_two_nodes_whose_tasks_could_not_be_told_apart_are_refused():
    alike = "n2706822", "n2938566"  # one pair in millions
    with pytest.raises(InvalidGraph, match="'n2706822' and 'n2938566' cannot be in one graph.*Rename one of them"):
        StateGraph(Log).add_sequence([(name, work) for name in alike]).add_edge(START, alike[0]).compile()
