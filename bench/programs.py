"""The programs that are measured, each written once for both libraries.

A function takes a library, builds what it needs, and returns the work to be measured.
"""

import atexit
import operator
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Annotated, Any, TypedDict

from bench.library import Library
from bench.measuring import Run, Work

LONG = 110
SHORT = 10
"""The cost of a step is the difference between a long and a short chain, so that what a call costs is left out."""

MANY = 10_000
UNLIMITED: dict[str, Any] = {"recursion_limit": MANY}


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


class Memory:
    """A saver, of memory unless another one is given, with a new thread for each run."""

    def __init__(self, lib: Library, saver: Any = None) -> None:
        self.saver = saver or lib.InMemorySaver()
        self._ids = count()
        self._used: list[str] = []

    def new_thread(self) -> dict[str, Any]:
        """The config of a thread that nobody has used."""
        self._used.append(str(next(self._ids)))
        return {"configurable": {"thread_id": self._used[-1]}, "recursion_limit": MANY}

    def forget(self) -> None:
        """Forget all threads, so that memory does not grow from measurement to measurement."""
        while self._used:
            self.saver.delete_thread(self._used.pop())


def _between(run_of: Callable[[int], Run], long: int = LONG, short: int = SHORT, tidy: Run | None = None) -> Work:
    """The work that lies between a short and a long run."""
    return Work(run_of(long), long - short, run_of(short), tidy)


# Steps


def step(lib: Library) -> Work:
    """A step without a saver."""
    return _between(lambda length: _invoking(chain(lib, length)))


def async_step(lib: Library) -> Work:
    """A step of an async node without a saver."""

    def ainvoking(length: int) -> Run:
        app = chain(lib, length, aadd_one).compile()
        return lambda: lib.run(app.ainvoke({"x": 0}, UNLIMITED))

    return _between(ainvoking)


def saved_step(lib: Library, **options: Any) -> Work:
    """A step that is stored in memory."""
    memory = Memory(lib)

    def invoking(length: int) -> Run:
        app = chain(lib, length).compile(checkpointer=memory.saver)
        return lambda: app.invoke({"x": 0}, memory.new_thread(), **options)

    return _between(invoking, tidy=memory.forget)


def async_saved_step(lib: Library) -> Work:
    """A step of an async node that is stored in memory."""
    memory = Memory(lib)

    def ainvoking(length: int) -> Run:
        app = chain(lib, length, aadd_one).compile(checkpointer=memory.saver)
        return lambda: lib.run(app.ainvoke({"x": 0}, memory.new_thread()))

    return _between(ainvoking, tidy=memory.forget)


def streamed_step(lib: Library) -> Work:
    """A step whose updates somebody reads."""

    def reading(length: int) -> Run:
        app = chain(lib, length).compile()
        return lambda: list(app.stream({"x": 0}, UNLIMITED, stream_mode="updates"))

    return _between(reading)


def looping_step(lib: Library) -> Work:
    """A step of a loop that a conditional edge closes."""
    END = lib.END
    graph = lib.StateGraph(Count)
    graph.add_node("again", add_one)
    graph.add_edge(lib.START, "again")
    graph.add_conditional_edges("again", lambda state: END if state["x"] >= LONG else "again")
    app = graph.compile()
    return _between(lambda length: partial(app.invoke, {"x": LONG - length}, UNLIMITED))


def one_node(lib: Library) -> Work:
    """A whole call of a graph with one node."""
    return Work(_invoking(chain(lib, 1)))


def _invoking(graph: Any) -> Run:
    app = graph.compile()
    return lambda: app.invoke({"x": 0}, UNLIMITED)


# Sizes


def step_among(lib: Library, nodes: int) -> Work:
    """A step in a chain of many nodes, or of few; what a call costs is left out."""
    return Work(_invoking(chain(lib, nodes)), nodes - 1, _invoking(chain(lib, 1)))


def step_with_many_keys(lib: Library, keys: int = 1000) -> Work:
    """A step in a graph whose state has many keys, all of them there, one of them written."""
    names = ["x", *(f"key_{number}" for number in range(1, keys))]
    make: Any = TypedDict
    state = make("Wide", dict.fromkeys(names, int))
    values = dict.fromkeys(names, 0)

    def invoking(length: int) -> Run:
        app = chain(lib, length, state=state).compile()
        return lambda: app.invoke(values, UNLIMITED)

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

    memory = Memory(lib)

    @lib.task  # type: ignore[untyped-decorator]
    def add(x: int) -> int:
        return x + 1

    @lib.entrypoint(checkpointer=memory.saver)  # type: ignore[untyped-decorator]
    def work(times: int) -> int:
        total = 0
        for _ in range(times):
            total = add(total).result()
        return total

    return _between(lambda times: lambda: work.invoke(times, memory.new_thread()), 60, 10, memory.forget)


def question(lib: Library, *, on_disk: bool = False) -> Work:
    """A call that pauses with a question, and the one that answers it."""
    interrupt, Command = lib.interrupt, lib.Command
    memory = Memory(lib, _sqlite(lib) if on_disk else None)
    app = chain(lib, 1, lambda state: {"x": interrupt("how many?")}).compile(checkpointer=memory.saver)

    def ask_and_answer() -> None:
        config = memory.new_thread()
        app.invoke({"x": 0}, config)
        assert app.invoke(Command(resume=5), config) == {"x": 5}, "the answer arrived"

    return Work(ask_and_answer, tidy=memory.forget)


def parallel_questions(lib: Library, questions: int = 100) -> Work:
    """Many branches that ask at once, answered one by one."""
    interrupt, Command, Send = lib.interrupt, lib.Command, lib.Send
    memory = Memory(lib)
    graph = lib.StateGraph(Log)
    graph.add_node("ask", lambda item: {"log": [interrupt(f"{item}?")]})
    graph.add_conditional_edges(lib.START, lambda state: [Send("ask", item) for item in range(questions)], ["ask"])
    app = graph.compile(checkpointer=memory.saver)

    def ask_and_answer() -> None:
        config = memory.new_thread()
        asked = app.invoke({"log": []}, config)["__interrupt__"]
        for one in asked:
            answered = app.invoke(Command(resume={one.id: 1}), config)
        assert len(answered["log"]) == questions, "every answer arrived"

    return Work(ask_and_answer, tidy=memory.forget)


def _sqlite(lib: Library) -> Any:
    """A saver in a new file, with the fsync of a fresh connection: FULL, on both libraries."""
    folder = tempfile.mkdtemp(prefix="bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    saver = lib.SqliteSaver(sqlite3.connect(f"{folder}/{lib.root}.db", check_same_thread=False))
    saver.setup()
    return saver
