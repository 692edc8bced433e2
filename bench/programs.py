"""The programs that are measured, each written once for both libraries.

A function takes a library, builds what it needs, and returns the work to be measured.
"""

import operator
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Annotated, Any, TypedDict

from bench.library import Library
from bench.measuring import Work

LONG = 110
SHORT = 10
"""The cost of a step is the difference between a long and a short chain, so that what a call costs is left out."""

_threads = count()


class Count(TypedDict):
    x: int


class Log(TypedDict):
    log: Annotated[list[int], operator.add]


def add_one(state: Count) -> Count:
    return {"x": state["x"] + 1}


async def aadd_one(state: Count) -> Count:
    return {"x": state["x"] + 1}


def chain(lib: Library, length: int, node: Any = add_one, state: Any = Count) -> Any:
    """A graph of nodes in a row, not compiled yet."""
    graph = lib.StateGraph(state)
    names = [f"node_{number}" for number in range(length)]
    for name in names:
        graph.add_node(name, node)
    for start, end in zip([lib.START, *names], [*names, lib.END], strict=True):
        graph.add_edge(start, end)
    return graph


def new_thread() -> dict[str, Any]:
    """The config of a thread that nobody has used."""
    return {"configurable": {"thread_id": str(next(_threads))}, "recursion_limit": 10_000}


def _between(run_of: Callable[[int], Callable[[], object]], long: int = LONG, short: int = SHORT) -> Work:
    """The work that lies between a short and a long run."""
    return Work(run_of(long), long - short, run_of(short))


# Steps


def step(lib: Library) -> Work:
    """A step without a saver."""
    return _between(lambda length: _invoking(chain(lib, length)))


def async_step(lib: Library) -> Work:
    """A step of an async node without a saver."""
    return _between(lambda length: _ainvoking(lib, chain(lib, length, aadd_one)))


def saved_step(lib: Library, **options: Any) -> Work:
    """A step that is stored in memory."""
    return _between(lambda length: _invoking(chain(lib, length), checkpointer=lib.InMemorySaver(), **options))


def async_saved_step(lib: Library) -> Work:
    """A step of an async node that is stored in memory."""
    return _between(lambda length: _ainvoking(lib, chain(lib, length, aadd_one), checkpointer=lib.InMemorySaver()))


def streamed_step(lib: Library) -> Work:
    """A step whose updates somebody reads."""

    def reading(length: int) -> Callable[[], object]:
        app, config = chain(lib, length).compile(), new_thread()
        return lambda: list(app.stream({"x": 0}, config, stream_mode="updates"))

    return _between(reading)


def looping_step(lib: Library) -> Work:
    """A step of a loop that a conditional edge closes."""
    graph = lib.StateGraph(Count)
    graph.add_node("again", add_one)
    graph.add_edge(lib.START, "again")
    graph.add_conditional_edges("again", lambda state: lib_end if state["x"] >= LONG else "again")
    lib_end = lib.END
    app, config = graph.compile(), new_thread()
    return _between(lambda length: partial(app.invoke, {"x": LONG - length}, config))


def one_node(lib: Library) -> Work:
    """A whole call of a graph with one node."""
    return Work(_invoking(chain(lib, 1)))


def _invoking(graph: Any, checkpointer: Any = None, **options: Any) -> Callable[[], object]:
    app = graph.compile(checkpointer=checkpointer)
    return lambda: app.invoke({"x": 0}, new_thread(), **options)


def _ainvoking(lib: Library, graph: Any, checkpointer: Any = None) -> Callable[[], object]:
    app = graph.compile(checkpointer=checkpointer)
    return lambda: lib.run(app.ainvoke({"x": 0}, new_thread()))


# Sizes


def step_among(lib: Library, nodes: int) -> Work:
    """A step in a chain of many nodes, or of few; what a call costs is left out."""
    return Work(_invoking(chain(lib, nodes)), nodes - 1, _invoking(chain(lib, 1)))


def step_with_many_keys(lib: Library, keys: int = 1000) -> Work:
    """A step in a graph whose state has many keys, all of them there, one of them written."""
    names = ["x", *(f"key_{number}" for number in range(1, keys))]
    state: Any = TypedDict("Wide", dict.fromkeys(names, int))  # type: ignore[operator]
    values = dict.fromkeys(names, 0)

    def invoking(length: int) -> Callable[[], object]:
        app = chain(lib, length, state=state).compile()
        return lambda: app.invoke(values, new_thread())

    return _between(invoking, long=22, short=2)


def compiling(lib: Library, nodes: int) -> Work:
    """Describing and compiling a chain."""
    return Work(lambda: chain(lib, nodes).compile())


# Fan-out


def sends(lib: Library, tasks: int = 100) -> Work:
    """A call that sends many tasks and gathers what they write."""
    app = _fan_out(lib, lambda item: {"log": [item]}, tasks)
    return Work(lambda: app.invoke({"log": []}))


def async_sends(lib: Library, tasks: int = 100) -> Work:
    """The same with async nodes."""

    async def work(item: int) -> Log:
        return {"log": [item]}

    app = _fan_out(lib, work, tasks)
    return Work(lambda: lib.run(app.ainvoke({"log": []})))


def waiting_sends(lib: Library, tasks: int = 100) -> Work:
    """Many tasks that wait for something, by the clock on the wall."""

    def wait(item: int) -> Log:
        time.sleep(0.005)
        return {"log": [item]}

    app = _fan_out(lib, wait, tasks)
    return Work(lambda: app.invoke({"log": []}), clock=time.perf_counter)


def one_send(lib: Library, tasks: int) -> Work:
    """One of many tasks that are sent."""
    return Work(sends(lib, tasks).run, tasks)


def _fan_out(lib: Library, work: Any, tasks: int) -> Any:
    graph = lib.StateGraph(Log)
    graph.add_node("work", work)
    Send = lib.Send
    graph.add_conditional_edges(lib.START, lambda state: [Send("work", item) for item in range(tasks)], ["work"])
    return graph.compile()


# Nesting, calls and questions


def nested_call(lib: Library) -> Work:
    """A step that is a graph of its own, with one node."""
    inner = chain(lib, 1).compile()
    return _between(lambda length: _invoking(chain(lib, length, inner)), long=22, short=2)


def task_call(lib: Library) -> Work:
    """A call of a @task function, stored in memory."""

    @lib.task  # type: ignore[untyped-decorator]
    def add(x: int) -> int:
        return x + 1

    @lib.entrypoint(checkpointer=lib.InMemorySaver())  # type: ignore[untyped-decorator]
    def work(times: int) -> int:
        total = 0
        for _ in range(times):
            total = add(total).result()
        return total

    return _between(lambda times: lambda: work.invoke(times, new_thread()), long=60, short=10)


def question(lib: Library) -> Work:
    """A call that pauses with a question, and the one that answers it."""
    interrupt, Command = lib.interrupt, lib.Command
    app = chain(lib, 1, lambda state: {"x": interrupt("how many?")}).compile(checkpointer=lib.InMemorySaver())

    def ask_and_answer() -> None:
        config = new_thread()
        app.invoke({"x": 0}, config)
        assert app.invoke(Command(resume=5), config) == {"x": 5}, "the answer arrived"

    return Work(ask_and_answer)
