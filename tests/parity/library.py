"""One of the two libraries, by the names that both have, and its graphs run in sync or async."""

import asyncio
import warnings
from collections.abc import AsyncIterable, Callable
from contextlib import ExitStack
from importlib import import_module
from typing import Any, Literal

from .plain import Failure, category

Config = dict[str, Any]
Fails = bool | Literal["maybe"]

_TAILS = {
    "graph": "StateGraph START END MessagesState add_messages",
    "types": "Command Send interrupt Interrupt RetryPolicy CachePolicy TimeoutPolicy TracePolicy omit_payload "
    "default_retry_on "
    "StateUpdate Overwrite "
    "StreamWriter StreamPart ValuesStreamPart UpdatesStreamPart MessagesStreamPart CustomStreamPart "
    "CheckpointStreamPart TasksStreamPart DebugStreamPart",
    "checkpoint.memory": "InMemorySaver",
    "checkpoint.sqlite": "SqliteSaver",
    "checkpoint.sqlite.aio": "AsyncSqliteSaver",
    "store.memory": "InMemoryStore",
    "cache.memory": "InMemoryCache",
    "func": "entrypoint task",
    "pregel": "Pregel NodeBuilder",
    "channels": "LastValue Topic EphemeralValue UntrackedValue BinaryOperatorAggregate AnyValue NamedBarrierValue "
    "DeltaChannel",
    "managed": "IsLastStep RemainingSteps",
    "runtime": "Runtime RunControl get_runtime",
    "typing": "ContextT",
    "config": "get_config get_store get_stream_writer",
    "stream": "StreamTransformer StreamChannel UpdatesTransformer CustomTransformer CheckpointsTransformer "
    "TasksTransformer DebugTransformer",
    "prebuilt": "ToolCallTransformer",
    "errors": "NodeError NodeTimeoutError GraphBubbleUp InvalidUpdateError",
    "graph.message": "push_message REMOVE_ALL_MESSAGES _messages_delta_reducer",
}
_HOMES = {name: tail for tail, names in _TAILS.items() for name in names.split()}


class Library:
    """The names of a library as attributes, and short ways to describe and watch graphs."""

    def __init__(self, root: str, *, is_async: bool, storage: str, runner: asyncio.Runner, cleanup: ExitStack) -> None:
        self.root = root
        self.is_async = is_async
        self.storage = storage
        self.runner = runner
        self.cleanup = cleanup

    def __getattr__(self, name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"Which module has {name!r}? Add it to the tails.")
        return getattr(import_module(f"{self.root}.{_HOMES[name]}"), name)

    def saver(self) -> Any:
        """A saver that remembers, of the kind that the program is run with."""
        if self.storage == "memory":
            return self.InMemorySaver()
        if not self.is_async:
            return self.cleanup.enter_context(self.SqliteSaver.from_conn_string(":memory:"))
        opening = self.AsyncSqliteSaver.from_conn_string(":memory:")
        saver = self.runner.run(opening.__aenter__())
        self.cleanup.callback(lambda: self.runner.run(opening.__aexit__(None, None, None)))
        return saver

    def stored(self, saver: Any, config: Config) -> list[Any]:
        """What a saver has of a thread, newest first."""
        items: list[Any] = []
        if not self.is_async:
            return list(saver.list(config))
        self.runner.run(drain(saver.alist(config), items))
        return items

    def graph(self, state: Any, *functions: Callable[..., Any], edges: str, **nodes: Any) -> Any:
        """A StateGraph. Edges read `START>a>b, a+b>c`: paths, and joins of what stands between plus signs."""
        graph = self.StateGraph(state)
        for name, action in {**{function.__name__: function for function in functions}, **nodes}.items():
            graph.add_node(name, action)
        return self.connect(graph, edges)

    def connect(self, graph: Any, edges: str) -> Any:
        """Add edges to a graph."""
        ends = {"START": self.START, "END": self.END}
        for path in edges.split(","):
            stops = [[ends.get(name.strip(), name.strip()) for name in stop.split("+")] for stop in path.split(">")]
            for start, (end,) in zip(stops, stops[1:], strict=False):
                graph.add_edge(start if len(start) > 1 else start[0], end)
        return graph

    def app(self, graph: Any, **options: Any) -> "App":
        """A compiled graph to watch."""
        return self.watch(graph.compile(**options))

    def saved(self, graph: Any, **options: Any) -> "App":
        """A compiled graph with a saver."""
        return self.app(graph, checkpointer=self.saver(), **options)

    def flow(self, function: Callable[..., Any], **options: Any) -> "App":
        """An entrypoint to watch."""
        return self.watch(self.entrypoint(**options)(function))

    def watch(self, compiled: Any) -> "App":
        """A graph whose calls are sync or async, as the program is run."""
        return App(self, compiled)

    def call(self, function: Any, *args: Any, **options: Any) -> Any:
        """Call a function or a coroutine function, as the program is run."""
        result = function(*args, **options)
        return self.runner.run(result) if asyncio.iscoroutine(result) else result


def thread(name: str = "1", **more: Any) -> Config:
    """The config of a thread."""
    return {"configurable": {"thread_id": name, **more}}


class App:
    """A compiled graph; with `fails` a call must raise (or may: "maybe"), and what it raised is the observation."""

    def __init__(self, lib: Library, graph: Any) -> None:
        self.lib = lib
        self.graph = graph

    def invoke(self, input: Any, config: Config | None = None, *, fails: Fails = False, **options: Any) -> Any:
        return self._call("invoke", fails, input, config, **options)

    def batch(self, inputs: Any, config: Any = None, *, fails: Fails = False, **options: Any) -> Any:
        return self._call("batch", fails, inputs, config, **options)

    def get_state(self, config: Config, *, fails: Fails = False, **options: Any) -> Any:
        return self._call("get_state", fails, config, **options)

    def update_state(self, config: Config, *args: Any, fails: Fails = False, **options: Any) -> Any:
        return self._call("update_state", fails, config, *args, **options)

    def bulk_update_state(self, config: Config, steps: Any, *, fails: Fails = False) -> Any:
        return self._call("bulk_update_state", fails, config, steps)

    def clear_cache(self, *args: Any) -> Any:
        return self._call("clear_cache", False, *args)

    def history(self, config: Config, *, fails: Fails = False, **options: Any) -> list[Any]:
        return self._collect("get_state_history", fails, config, **options)

    def stream(
        self, input: Any, config: Config | None = None, mode: Any = None, *, fails: Fails = False, **options: Any
    ) -> list[Any]:
        """The chunks; a stream that fails ends with the failure."""
        return self._collect("stream", fails, input, config, stream_mode=mode, **options)

    def followed(self, input: Any, config: Config | None = None, **options: Any) -> Any:
        """A run to follow."""
        with warnings.catch_warnings(action="ignore"):
            return self._call("stream_events", False, input, config, version="v3", **options)

    def _call(self, name: str, fails: Fails, *args: Any, **options: Any) -> Any:
        function = getattr(self.graph, f"a{name}" if self.lib.is_async else name)
        try:
            result = self.lib.call(function, *args, **options)
        except BaseException as error:
            return _observed(error, fails)
        return f"did not fail, but returned {result}" if fails is True else result

    def _collect(self, name: str, fails: Fails, *args: Any, **options: Any) -> list[Any]:
        items: list[Any] = []
        try:
            if self.lib.is_async:
                self.lib.runner.run(drain(getattr(self.graph, f"a{name}")(*args, **options), items))
            else:
                # Item by item: what came before a failure counts.
                for item in getattr(self.graph, name)(*args, **options):
                    items.append(item)  # noqa: PERF402
        except BaseException as error:
            return [*items, _observed(error, fails)]
        return [*items, "did not fail"] if fails is True else items


async def drain(source: AsyncIterable[Any], items: list[Any]) -> None:
    """Take what an async stream yields, as it comes."""
    async for item in source:
        items.append(item)  # noqa: PERF401 - what came before a failure counts


def _observed(error: BaseException, fails: Fails) -> Failure:
    if not fails or isinstance(error, KeyboardInterrupt | SystemExit):
        raise error
    return Failure(category(error))
