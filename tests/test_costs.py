"""A step stays cheap: bounds on the Python calls it takes, close to what it takes today.

Counts do not depend on the machine or its load, so growth is noticed here and at once. Raise a bound when what was
bought is worth it, and say so in the commit. The budget of a step without a saver is 60; today it takes 30.

The file is also the program that counts: in a process of its own, where no other test has loaded or started anything,
every call in every thread is seen, and the resumption of a generator counts like a call.
"""

import asyncio
import gc
import json
import operator
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, TypedDict

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.graph import END, START, StateGraph
from signoff.types import Send

CONFIG = {"configurable": {"thread_id": "1"}, "recursion_limit": 10_000}


# Programs


class Count(TypedDict):
    x: int


class Log(TypedDict):
    log: Annotated[list[int], operator.add]


def add_one(state: Count) -> Count:
    return {"x": state["x"] + 1}


async def aadd_one(state: Count) -> Count:
    return {"x": state["x"] + 1}


async def alog(item: int) -> Log:
    return {"log": [item]}


def chain(length: int, node: Any = add_one, state: Any = Count, **options: Any) -> Any:
    graph = StateGraph(state)
    names = [f"node_{number}" for number in range(length)]
    for name in names:
        graph.add_node(name, node)
    for start, end in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(start, end)
    return graph.compile(**options)


def fan_out(tasks: int, node: Any) -> Any:
    graph = StateGraph(Log)
    graph.add_node("work", node)
    graph.add_conditional_edges(START, lambda state: [Send("work", item) for item in range(tasks)], ["work"])
    return graph.compile()


# Counting


class Calls:
    """Counts calls, as a profile function."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            self.count += 1

    def of(self, app: Any, values: Any, **options: Any) -> int:
        """The calls of an invoke, when it is not the first."""
        app.invoke(values, CONFIG, **options)
        return self._during(partial(app.invoke, values, CONFIG, **options))

    def of_async(self, runner: asyncio.Runner, app: Any, values: Any) -> int:
        """The calls of an ainvoke, those of the event loop included."""
        runner.run(app.ainvoke(values, CONFIG))
        return self._during(lambda: runner.run(app.ainvoke(values, CONFIG)))

    def _during(self, run: Callable[[], object]) -> int:
        gc.disable()  # a collection makes calls of its own, whenever it likes
        before = self.count
        sys.setprofile(self)
        run()
        sys.setprofile(None)
        gc.enable()
        return self.count - before


def all_counts() -> dict[str, float]:
    """Every count that is bounded below."""
    calls = Calls()
    threading.setprofile(calls)  # for the threads that are started from now on
    start = {"x": 0}
    step_of = {length: calls.of(chain(length), start) for length in (1, 10, 110, 1000)}
    with asyncio.Runner() as runner:
        async_of = {n: calls.of_async(runner, chain(n, aadd_one), start) for n in (10, 110)}
        async_sends = {n: calls.of_async(runner, fan_out(n, alog), {"log": []}) for n in (100, 1000)}
    saved_of = {n: calls.of(chain(n, checkpointer=InMemorySaver()), start) for n in (10, 110)}
    sends = {n: calls.of(fan_out(n, lambda item: {"log": [item]}), {"log": []}) for n in (100, 1000)}
    return {
        "one node": step_of[1],
        "step": (step_of[110] - step_of[10]) / 100,
        "step among 10 nodes": (step_of[10] - step_of[1]) / 9,
        "step among 1,000 nodes": (step_of[1000] - step_of[1]) / 999,
        "step with 1,000 keys": _step_with_keys(calls, 1000),
        "async step": (async_of[110] - async_of[10]) / 100,
        "saved step": (saved_of[110] - saved_of[10]) / 100,
        "task of 100": sends[100] / 100,
        "task of 1,000": sends[1000] / 1000,
        "async task of 100": async_sends[100] / 100,
        "async task of 1,000": async_sends[1000] / 1000,
    }


def _step_with_keys(calls: Calls, keys: int) -> float:
    make: Any = TypedDict
    state = make("Wide", dict.fromkeys(["x", *(f"key_{number}" for number in range(1, keys))], int))
    values = dict.fromkeys(state.__annotations__, 0)
    return (calls.of(chain(22, state=state), values) - calls.of(chain(2, state=state), values)) / 20


# Bounds


@pytest.fixture(scope="module")
def calls() -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    counts: dict[str, float] = json.loads(done.stdout)
    return counts


def test_a_step_takes_few_calls(calls: dict[str, float]) -> None:
    assert calls["step"] <= 35


def test_an_async_step_takes_few_calls(calls: dict[str, float]) -> None:
    assert calls["async step"] <= 35


def test_a_step_that_is_saved_takes_few_calls(calls: dict[str, float]) -> None:
    assert calls["saved step"] <= 65


def test_a_call_of_a_small_graph_takes_few_calls(calls: dict[str, float]) -> None:
    assert calls["one node"] <= 120


def test_a_step_takes_no_more_calls_in_a_large_graph(calls: dict[str, float]) -> None:
    assert calls["step among 1,000 nodes"] <= 1.05 * calls["step among 10 nodes"]


def test_a_step_takes_no_more_calls_with_many_keys(calls: dict[str, float]) -> None:
    assert calls["step with 1,000 keys"] <= 1.05 * calls["step"]


def test_a_task_that_is_sent_takes_few_calls(calls: dict[str, float]) -> None:
    # Some 27 today; how often the threads meet, and so how many calls it takes, is up to the system's scheduler.
    assert calls["task of 100"] <= 60
    assert calls["task of 1,000"] <= 60


def test_an_async_task_that_is_sent_takes_few_calls(calls: dict[str, float]) -> None:
    assert calls["async task of 100"] <= 55


def test_an_async_task_that_is_sent_takes_no_more_calls_among_many(calls: dict[str, float]) -> None:
    assert calls["async task of 1,000"] <= 1.05 * calls["async task of 100"]


if __name__ == "__main__":
    print(json.dumps(all_counts()))
