"""Whatever is given where something else is meant: it works, or the error is signoff's own, and says what was given."""

import asyncio
import inspect
import operator
import sqlite3
from collections.abc import Callable, Iterator
from typing import Annotated, Any, TypedDict

import pytest

from signoff._reprs import repr_of
from signoff.cache.memory import InMemoryCache
from signoff.cache.redis import RedisCache
from signoff.cache.sqlite import SqliteCache
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.errors import ParentCommand, SignoffError
from signoff.func import entrypoint, task
from signoff.graph import START, StateGraph
from signoff.inbox import Inbox
from signoff.store.base import ListNamespacesOp
from signoff.store.memory import InMemoryStore
from signoff.store.postgres import PostgresStore
from signoff.store.redis import RedisStore
from signoff.store.sqlite import AsyncSqliteStore, SqliteStore
from signoff.types import CachePolicy, Command, RetryPolicy, Send, StateUpdate, TimeoutPolicy, interrupt


class Unshown:
    """Has no repr, and does not say so before it is asked."""

    def __repr__(self) -> str:
        raise RuntimeError("not now")


JUNK: list[Any] = [
    None, 1, -1, 0, True, 10**400, 1.5, float("nan"), "", "x", "\ud800", b"y", [], ["q"], [None], [[]], (), {},
    {"a": 1}, {1: 2}, object(), lambda *given, **more: None, {"configurable": 1}, {"configurable": {}},
    {"configurable": {"thread_id": None}}, {"configurable": {"thread_id": 5}}, {"configurable": {"thread_id": ["z"]}},
    {"configurable": {"thread_id": "t", "checkpoint_id": 5}}, {"configurable": {"thread_id": "t", "checkpoint_ns": 5}},
    {"recursion_limit": "x"}, {"max_concurrency": "x"}, {"tags": 5}, {"metadata": 5}, {"callbacks": 5},
]  # fmt: skip

LONG = 10**5000
"""Python does not write it out."""

UNSHOWN: list[Any] = [
    LONG, -LONG, [LONG], (LONG,), {"a": LONG}, {LONG: 1}, {"x": [LONG]}, {"lgo": [LONG]}, Unshown(), [Unshown()],
    {"x": Unshown()}, {"configurable": {"user": Unshown()}}, {"configurable": {"thread_id": [LONG]}}, {"tags": LONG},
    {"configurable": {"thread_id": Unshown()}}, {"recursion_limit": LONG}, {"max_concurrency": [LONG]}, Send("q", LONG),
    [Send("q", Unshown())], [Send("a", LONG)], Command(update={"lgo": LONG}), Command(goto=Send("q", Unshown())),
    [Command(update=Unshown())], Command(resume=Unshown()), {"lgo": Unshown()}, [[LONG]], [[Unshown()]],
]  # fmt: skip
"""What cannot be shown, such as a row of a database whose connection is closed."""

CONFIG: Any = {"configurable": {"thread_id": "t"}}


class State(TypedDict, total=False):
    x: int
    log: Annotated[list[Any], operator.add]


def plain(state: State) -> State:
    return {"x": 1}


def described(**options: Any) -> StateGraph:
    graph = StateGraph(State)
    graph.add_node("a", lambda state: {"x": interrupt("?", **options)})
    graph.add_edge(START, "a")
    return graph


def paused() -> Any:
    app = described().compile(checkpointer=InMemorySaver())
    app.invoke({"x": 0}, CONFIG)
    return app


def inbox() -> Inbox:
    app = paused()
    return Inbox(app.checkpointer)


def two_nodes() -> StateGraph:
    return StateGraph(State).add_node("a", plain).add_node("b", plain)


connections: list[sqlite3.Connection] = []


@pytest.fixture(autouse=True)
def closed():
    yield
    while connections:
        connections.pop().close()


def sqlite() -> SqliteSaver:
    connections.append(sqlite3.connect(":memory:", check_same_thread=False))
    return SqliteSaver(connections[-1])


Try = Callable[[Any], object]


def each(make: Callable[[], Any], name: str, **given: Any) -> Iterator[tuple[str, Try]]:
    """A method, called with something else for each of its parameters in turn."""
    for parameter in _parameters(getattr(make(), name)):

        def attempt(junk: Any, parameter: str = parameter) -> object:
            thing = make()
            return _finished(_called(getattr(thing, name), {**given, parameter: junk}))

        yield f"{name}({parameter})", attempt


def each_of(function: Callable[..., Any], use: Callable[[Any], object], **given: Any) -> Iterator[tuple[str, Try]]:
    """What is made with something else for each parameter in turn, and then used."""
    for parameter in _parameters(function):
        name = f"{function.__name__}({parameter})"
        yield name, lambda junk, parameter=parameter: use(_called(function, {**given, parameter: junk}))


def _parameters(function: Any) -> list[str]:
    named = inspect.signature(function).parameters.values()
    return [one.name for one in named if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]


def _called(function: Any, given: dict[str, Any]) -> Any:
    named = inspect.signature(function).parameters
    first = [
        given.pop(name) for name in named if named[name].kind == inspect.Parameter.POSITIONAL_ONLY and name in given
    ]
    return function(*first, **given)


def _finished(result: Any) -> object:
    if inspect.isawaitable(result):
        return asyncio.run(_awaited(result))
    if hasattr(result, "__aiter__"):
        return asyncio.run(_read(result))
    return list(result) if inspect.isgenerator(result) else result


async def _awaited(result: Any) -> object:
    return await result


async def _read(stream: Any) -> object:
    return [chunk async for chunk in stream]


def run(graph: StateGraph) -> object:
    return graph.compile(checkpointer=InMemorySaver(), cache=InMemoryCache()).invoke({"x": 0}, CONFIG)


def node_with(**options: Any) -> object:
    return run(StateGraph(State).add_node("a", plain, **options).add_edge(START, "a"))


def node_that_returns(result: Any) -> object:
    return run(two_nodes().add_node("c", lambda state: result).add_edge(START, "c"))


def edge_that_returns(result: Any) -> object:
    return run(two_nodes().add_conditional_edges(START, lambda state: result))


def asked(**options: Any) -> object:
    app = described(**options).compile(checkpointer=InMemorySaver())
    app.invoke({"x": 0}, CONFIG)
    return app.invoke(Command(resume=1), CONFIG)


def called_task(given: Any = 1, **options: Any) -> object:
    call = task(**options)(lambda x: x)
    return entrypoint(checkpointer=InMemorySaver())(lambda x: call(given).result()).invoke(1, CONFIG)


KEY = (("node",), "k")


def store_with(**options: Any) -> object:
    return use(InMemoryStore(**options))


def use(store: Any) -> object:
    store.put(("a",), "k", {"text": "tea"})
    return store.search(("a",), query="tea")


def lengths(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


def swept(interval: Any = None, timeout: Any = None) -> bool:
    store = InMemoryStore()
    try:
        store.start_ttl_sweeper(interval)
    finally:
        store.stop_ttl_sweeper(timeout)
    return store.stop_ttl_sweeper()


async def aswept(interval: Any = None, timeout: Any = None) -> bool:
    async with AsyncSqliteStore.from_conn_string(":memory:") as store:
        await store.start_ttl_sweeper(interval)
        return await store.stop_ttl_sweeper(timeout)


def file_cache() -> SqliteCache[Any]:
    return SqliteCache(path=":memory:")


def cache_with(kind: type[Any], **options: Any) -> object:
    cache = kind(**options)
    cache.set({KEY: (1, 60)})
    return cache.get([KEY])


def opened(block: Any) -> object:
    with block as store:
        return use(store)


async def aopened(conn_string: Any) -> object:
    async with AsyncSqliteStore.from_conn_string(conn_string) as store:
        return await store.aget(("a",), "k")


async def made_async(kind: Any, conn: Any) -> object:
    return await kind(conn).aget(("a",), "k")


ANSWER: Any = {"input": Command(resume=1), "config": CONFIG}
UPDATE = [[StateUpdate({"x": 1}, "a")]]

TRIES: dict[str, Try] = dict(
    [
        *each(lambda: StateGraph(State), "add_node", node="n", action=plain),
        *each(two_nodes, "add_edge", start_key="a", end_key="b"),
        *each(two_nodes, "add_conditional_edges", source="a", path=lambda state: "b"),
        *each(two_nodes, "add_sequence", nodes=[plain]),
        *each(described, "compile"),
        *((f"add_node({name}), run", lambda junk, name=name: node_with(**{name: junk}))
          for name in _parameters(StateGraph.add_node) if name not in ("self", "node", "action")),
        *((f"set_node_defaults({name}), run",
           lambda junk, name=name: run(described().set_node_defaults(**{name: junk})))
          for name in _parameters(StateGraph.set_node_defaults) if name != "self"),
        *((f"interrupt({name})", lambda junk, name=name: asked(**{name: junk}))
          for name in ("response_schema", "key", "update")),
        *((f"task({name})", lambda junk, name=name: called_task(**{name: junk}))
          for name in ("name", "retry_policy", "cache_policy", "timeout")),
        *each_of(RetryPolicy, lambda policy: node_with(retry_policy=policy)),
        *each_of(CachePolicy, lambda policy: node_with(cache_policy=policy)),
        *each_of(TimeoutPolicy, lambda policy: node_with(timeout=policy)),
        *each_of(Send, lambda send: edge_that_returns([send]), node="a", arg={"x": 1}),
        *each_of(Command, node_that_returns),
        *((f"invoke({name})", attempt)
          for name, attempt in each_of(Command, lambda command: paused().invoke(command, CONFIG), resume=1)),
        ("node returns", node_that_returns),
        ("edge returns", edge_that_returns),
        ("key_func returns", lambda junk: node_with(cache_policy=CachePolicy(key_func=lambda state: junk))),
        ("task is given", lambda junk: called_task(given=junk)),
        *each(paused, "invoke", **ANSWER),
        *each(paused, "stream", **ANSWER),
        *each(paused, "ainvoke", **ANSWER),
        *each(paused, "astream", **ANSWER),
        *each(paused, "get_state", config=CONFIG),
        *each(paused, "get_state_history", config=CONFIG),
        *each(paused, "update_state", config=CONFIG, values={"x": 1}),
        *each(paused, "bulk_update_state", config=CONFIG, supersteps=UPDATE),
        *each(paused, "batch", inputs=[Command(resume=1)], config=CONFIG),
        *each(inbox, "open"),
        *each(inbox, "get", question_id="q"),
        *each(inbox, "why_closed", question_id="q"),
        *each(inbox, "history", thread_id="t"),
        *each(inbox, "threads"),
        *each(inbox, "answer", question_id="q", value=1),
        *each(InMemoryStore, "put", namespace=("a",), key="k", value={"v": 1}),
        *each(InMemoryStore, "get", namespace=("a",), key="k"),
        *each(InMemoryStore, "delete", namespace=("a",), key="k"),
        *each(InMemoryStore, "search", namespace_prefix=("a",)),
        *each(InMemoryStore, "list_namespaces"),
        *each(InMemoryStore, "batch", ops=[]),
        ("ListNamespacesOp(match_conditions)", lambda junk: InMemoryStore().batch([ListNamespacesOp(junk)])),
        *((f"InMemoryStore({name})", lambda junk, name=name: store_with(**{name: junk}))
          for name in ("index", "ttl")),
        *((f"index({name})", lambda junk, name=name: store_with(index={"embed": lengths, name: junk}))
          for name in ("dims", "embed", "fields")),
        ("embed returns", lambda junk: store_with(index={"embed": lambda texts: junk})),
        ("embed returns for a text", lambda junk: store_with(index={"embed": lambda texts: [junk], "dims": 2})),
        *((f"ttl({name})", lambda junk, name=name: store_with(ttl={name: junk}))
          for name in ("refresh_on_read", "omit_expired", "default_ttl", "sweep_interval_minutes")),
        ("start_ttl_sweeper", lambda junk: swept(interval=junk)),
        ("stop_ttl_sweeper", lambda junk: swept(timeout=junk)),
        ("async start_ttl_sweeper", lambda junk: asyncio.run(aswept(interval=junk))),
        ("async stop_ttl_sweeper", lambda junk: asyncio.run(aswept(timeout=junk))),
        ("SqliteSaver", lambda junk: SqliteSaver(junk).get_tuple(CONFIG)),
        ("SqliteStore", lambda junk: use(SqliteStore(junk))),
        ("AsyncSqliteStore", lambda junk: asyncio.run(made_async(AsyncSqliteStore, junk))),
        ("SqliteStore.from_conn_string", lambda junk: opened(SqliteStore.from_conn_string(junk))),
        ("AsyncSqliteStore.from_conn_string", lambda junk: asyncio.run(aopened(junk))),
        *((f"{cache.__name__}.{name}", attempt) for cache in (InMemoryCache, file_cache) for name, attempt in [
            *each(cache, "get"),
            *each(cache, "set"),
            *each(cache, "clear"),
        ]),
        ("set(a time to live)", lambda junk: InMemoryCache().set({KEY: (1, junk)})),
        ("InMemoryCache(serde)", lambda junk: cache_with(InMemoryCache, serde=junk)),
        ("SqliteCache(path)", lambda junk: cache_with(SqliteCache, path=junk)),
        *((f"{kind.__name__}(clock)", lambda junk, kind=kind: callable(junk) or kind(clock=junk))
          for kind in (InMemoryStore, InMemoryCache)),
        ("RedisCache(prefix)", lambda junk: RedisCache("redis://localhost", prefix=junk)),
        ("RedisStore(prefix)", lambda junk: RedisStore("redis://localhost", prefix=junk)),
        ("PostgresStore", PostgresStore),
        *((f"{saver.__name__}.{name}", attempt) for saver in (InMemorySaver, sqlite) for name, attempt in [
            *each(saver, "get_tuple", config=CONFIG),
            *each(saver, "list", config=CONFIG),
            *each(saver, "delete_thread", thread_id="t"),
            *each(saver, "copy_thread", source_thread_id="t", target_thread_id="u"),
            *each(saver, "delete_for_runs", run_ids=["a"]),
            *each(saver, "prune", thread_ids=["t"]),
            *each(saver, "keep_last", count=1),
        ]),
    ]
)  # fmt: skip


@pytest.mark.parametrize("name", TRIES)
def test_junk_works_or_is_refused_by_name(name, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of it is the name of a file
    for junk in JUNK:
        try:
            TRIES[name](junk)
        except (SignoffError, ParentCommand):
            pass
        except Exception as error:
            pytest.fail(f"{name} with {repr_of(junk)}: {type(error).__name__}: {error}")


OF_DATA = (
    "node returns", "edge returns", "Command", "Send(node)", "Send(arg)", "invoke(Command", "invoke(input)",
    "stream(input)", "update_state(values)", "bulk_update_state(supersteps)", "batch(inputs)", "interrupt(update)",
    "interrupt(key)",
    "put(value)", "search(filter)", "batch(ops)", "embed returns", "answer(value)", "key_func returns", "task is given",
    "invoke(config)", "stream(config)", "get_state(config)", "get_state_history(config)", "update_state(config)",
    "batch(config)", "get_tuple(config)", "list(config)",
)  # fmt: skip
"""What takes values of a program, and not only what its author has written."""


@pytest.mark.parametrize("name", [name for name in TRIES if any(part in name for part in OF_DATA)])
def test_what_cannot_be_shown_works_or_is_refused_by_name(name):
    for value in UNSHOWN:
        try:
            TRIES[name](value)
        except (SignoffError, ParentCommand) as error:
            assert str(error)  # noqa: PT017 - it can be shown, whatever it speaks of
        except Exception as error:
            pytest.fail(f"{name} with {repr_of(value)}: {type(error).__name__}: {error}")
