"""Fan-out: many tasks in one step."""

import time
from collections.abc import Callable
from typing import Any

from bench.library import Library
from bench.measuring import WALL, Work
from bench.programs.words import Log
from bench.storage import MEMORY, Kind, Storage


def sends(lib: Library, tasks: int) -> Work:
    """A call that sends many tasks and gathers what they write."""
    app = fan_out(lib, lambda item: {"log": [item]}, tasks).compile()
    return Work(lambda: app.invoke({"log": []}))


def async_sends(lib: Library, tasks: int) -> Work:
    """The same with async nodes."""
    app = fan_out(lib, _alog, tasks).compile()
    return Work(lambda: lib.run(app.ainvoke({"log": []})))


def saved_sends(lib: Library, tasks: int, kind: Kind = MEMORY) -> Work:
    """A call that sends many tasks, stored."""
    storage = Storage(lib, kind)
    app = fan_out(lib, lambda item: {"log": [item]}, tasks).compile(checkpointer=storage.saver)
    return Work(lambda: app.invoke({"log": []}, storage.new_thread()), tidy=storage.forget, meter=storage.meter)


def waiting_sends(lib: Library, tasks: int = 100) -> Work:
    """Many tasks that wait for something, by the clock on the wall."""

    def wait(item: int) -> Log:
        time.sleep(0.005)
        return {"log": [item]}

    app = fan_out(lib, wait, tasks).compile()
    return Work(lambda: app.invoke({"log": []}), clock=WALL)


def one_send(lib: Library, tasks: int) -> Work:
    """One of many tasks that are sent."""
    return Work(sends(lib, tasks).run, tasks)


def fan_out(lib: Library, work: Any, tasks: int, given: Callable[[int], Any] = int) -> Any:
    """A graph that sends many tasks to one node, not compiled yet; `given` makes what each is given of its number."""
    graph = lib.StateGraph(Log)
    graph.add_node("work", work)
    Send = lib.Send
    graph.add_conditional_edges(lib.START, lambda state: [Send("work", given(item)) for item in range(tasks)], ["work"])
    return graph


async def _alog(item: int) -> Log:
    return {"log": [item]}


def one_async_send(lib: Library, tasks: int) -> Work:
    """One of many async tasks that are sent."""
    return Work(async_sends(lib, tasks).run, tasks)
