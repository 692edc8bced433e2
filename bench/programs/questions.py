"""Questions: asked and answered, one, many, in many threads."""

import asyncio
import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

from bench.library import Library
from bench.measuring import CPU, WALL, Clock, Work
from bench.meters import sqlite_contents
from bench.programs.sends import fan_out
from bench.programs.words import Count, chain
from bench.storage import MEMORY, SQLITE_FULL, Kind, Storage


def question(lib: Library, kind: Kind, clock: Clock = CPU) -> Work:
    """A call that pauses with a question, and the one that answers it."""
    app, storage = _asking(lib, kind)
    Command = lib.Command

    def ask_and_answer() -> None:
        config = storage.new_thread()
        app.invoke({"x": 0}, config)
        assert app.invoke(Command(resume=5), config) == {"x": 5}, "the answer arrived"

    return Work(ask_and_answer, tidy=storage.forget, clock=clock, meter=storage.meter)


def question_of_dicts(lib: Library) -> Work:
    """The same in memory, where what is asked and what is answered are dicts, as they mostly are."""
    interrupt, Command = lib.interrupt, lib.Command
    storage = Storage(lib, MEMORY)

    def ask(state: Count) -> Count:
        return {"x": interrupt({"question": "Pay?", "order": {"amount": 900, "lines": [1, 2]}})["amount"]}

    app = chain(lib, 1, ask).compile(checkpointer=storage.saver)

    def ask_and_answer() -> None:
        config = storage.new_thread()
        app.invoke({"x": 0}, config)
        assert app.invoke(Command(resume={"type": "edit", "amount": 5}), config) == {"x": 5}, "the answer arrived"

    return Work(ask_and_answer, tidy=storage.forget)


def async_question(lib: Library, kind: Kind) -> Work:
    """The same, async."""
    app, storage = _asking(lib, kind, is_async=True)
    Command = lib.Command

    async def ask_and_answer() -> None:
        config = storage.new_thread()
        await app.ainvoke({"x": 0}, config)
        assert await app.ainvoke(Command(resume=5), config) == {"x": 5}, "the answer arrived"

    return Work(lambda: lib.run(ask_and_answer()), tidy=storage.forget, meter=storage.meter)


def to_a_question(lib: Library, kind: Kind) -> Work:
    """A call that pauses with a question."""
    app, storage = _asking(lib, kind)
    return Work(lambda: app.invoke({"x": 0}, storage.new_thread()), tidy=storage.forget, meter=storage.meter)


def answer(lib: Library, kind: Kind) -> Work:
    """The call that answers it."""
    app, storage = _asking(lib, kind)
    Command = lib.Command

    def ask() -> Any:
        config = storage.new_thread()
        app.invoke({"x": 0}, config)
        return config

    return Work(lambda: app.invoke(Command(resume=5), ask()), minus=ask, tidy=storage.forget, meter=storage.meter)


def waiting_threads(lib: Library, threads: int, kind: Kind) -> Work:
    """Many threads that run to a question, and then all of them get their answer; by the clock on the wall."""
    app, storage = _asking(lib, kind)
    Command = lib.Command

    def ask_and_answer() -> None:
        configs = [storage.new_thread() for _ in range(threads)]
        for config in configs:
            app.invoke({"x": 0}, config)
        for config in configs:
            app.invoke(Command(resume=5), config)

    return Work(ask_and_answer, threads, tidy=storage.forget, clock=WALL, meter=storage.meter)


def waiting_at_once(lib: Library, threads: int, kind: Kind) -> Work:
    """The same in an event loop, all of them at the same time."""
    app, storage = _asking(lib, kind, is_async=True)
    Command = lib.Command

    async def ask_and_answer() -> None:
        configs = [storage.new_thread() for _ in range(threads)]
        await asyncio.gather(*[app.ainvoke({"x": 0}, config) for config in configs])
        await asyncio.gather(*[app.ainvoke(Command(resume=5), config) for config in configs])

    return Work(lambda: lib.run(ask_and_answer()), threads, tidy=storage.forget, clock=WALL, meter=storage.meter)


def memory_of_a_waiting_thread(lib: Library, threads: int = 1000) -> float:
    """The bytes that a thread takes in memory while it waits for an answer."""
    app, storage = _asking(lib, MEMORY)
    app.invoke({"x": 0}, storage.new_thread())  # what is made at the first time is not a thread's
    tracemalloc.start()
    before = _memory()
    for _ in range(threads):
        app.invoke({"x": 0}, storage.new_thread())
    after = _memory()
    tracemalloc.stop()
    return (after - before) / threads


def _memory() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def parallel_questions(lib: Library, questions: int, given: Callable[[int], Any] = int) -> Work:
    """Many branches that ask at once, answered one by one."""
    interrupt, Command = lib.interrupt, lib.Command
    storage = Storage(lib)
    graph = fan_out(lib, lambda item: {"log": [interrupt(f"{item}?")]}, questions, given)
    app = graph.compile(checkpointer=storage.saver)

    def ask_and_answer() -> None:
        config = storage.new_thread()
        asked = app.invoke({"log": []}, config)["__interrupt__"]
        for one in asked:
            answered = app.invoke(Command(resume={one.id: 1}), config)
        assert len(answered["log"]) == questions, "every answer arrived"

    return Work(ask_and_answer, tidy=storage.forget)


def answer_among(lib: Library, others: int) -> Work:
    """The call that answers one question while others are open beside it."""
    interrupt, Command = lib.interrupt, lib.Command
    storage = Storage(lib)
    app = fan_out(lib, lambda item: {"log": [interrupt(f"{item}?")]}, others + 1).compile(checkpointer=storage.saver)

    def ask() -> tuple[Any, Any]:
        config = storage.new_thread()
        return app.invoke({"log": []}, config)["__interrupt__"][others // 2], config

    waiting = [ask(), ask()]  # before anything is counted: how the threads that ask meet is up to the system

    def answer_one() -> None:
        asked, config = waiting.pop()
        left = app.invoke(Command(resume={asked.id: 1}), config)["__interrupt__"]
        assert len(left) == others, "the others are still open"

    return Work(answer_one)


def serial_questions(lib: Library, questions: int) -> Work:
    """A node that asks one question after the other."""
    storage = Storage(lib)
    app = chain(lib, 1, _asking_many(lib, questions)).compile(checkpointer=storage.saver)
    Command = lib.Command

    def ask_and_answer() -> None:
        config = storage.new_thread()
        app.invoke({"x": 0}, config)
        for _ in range(questions):
            answered = app.invoke(Command(resume=1), config)
        assert answered == {"x": questions}, "every answer arrived"

    return Work(ask_and_answer, tidy=storage.forget)


def growth_of_an_answer(lib: Library, questions: int = 100) -> float:
    """What one of the last answers of a node stores, against one of the first."""
    storage = Storage(lib, SQLITE_FULL)
    app = chain(lib, 1, _asking_many(lib, questions)).compile(checkpointer=storage.saver)
    config = storage.new_thread()
    sizes = []
    app.invoke({"x": 0}, config)
    for _ in range(questions):
        sizes.append(sqlite_contents(storage.address))
        app.invoke(lib.Command(resume=1), config)
    return (sizes[-1] - sizes[-21]) / (sizes[20] - sizes[0])


def _asking(lib: Library, kind: Kind, *, is_async: bool = False) -> tuple[Any, Storage]:
    interrupt = lib.interrupt

    def ask(state: Count) -> Count:
        return {"x": interrupt("how many?")}

    async def aask(state: Count) -> Count:
        return {"x": interrupt("how many?")}

    storage = Storage(lib, kind, is_async=is_async)
    return chain(lib, 1, aask if is_async else ask).compile(checkpointer=storage.saver), storage


def _asking_many(lib: Library, questions: int) -> Callable[[Count], Count]:
    interrupt = lib.interrupt

    def ask(state: Count) -> Count:
        total = 0
        for number in range(questions):
            total += interrupt(f"{number}?")
        return {"x": total}

    return ask
