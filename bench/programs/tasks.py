"""Calls of @task functions."""

import asyncio
from typing import Any

from bench.library import Library
from bench.measuring import Run, Work
from bench.programs.words import between
from bench.storage import MEMORY, Kind, Storage


def task_call(lib: Library, kind: Kind = MEMORY) -> Work:
    """A call of a function, one after the other."""
    storage = Storage(lib, kind)

    @lib.task  # type: ignore[untyped-decorator]
    def add(x: int) -> int:
        return x + 1

    @lib.entrypoint(checkpointer=storage.saver)  # type: ignore[untyped-decorator]
    def work(times: int) -> int:
        total = 0
        for _ in range(times):
            total = add(total).result()
        return total

    return between(lambda times: lambda: work.invoke(times, storage.new_thread()), long=60, storage=storage)


def task_call_of_dicts(lib: Library) -> Work:
    """The same with a dict that goes in and one that comes out."""
    storage = Storage(lib)

    @lib.task  # type: ignore[untyped-decorator]
    def add(order: dict[str, Any]) -> dict[str, Any]:
        return {**order, "total": order["total"] + 1}

    @lib.entrypoint(checkpointer=storage.saver)  # type: ignore[untyped-decorator]
    def work(times: int) -> int:
        order: dict[str, Any] = {"total": 0, "lines": ["a", "b"]}
        for _ in range(times):
            order = add(order).result()
        total: int = order["total"]
        return total

    return between(lambda times: lambda: work.invoke(times, storage.new_thread()), long=60, storage=storage)


def parallel_task_call(lib: Library, kind: Kind = MEMORY) -> Work:
    """A call of an async function, all of them at once."""
    storage = Storage(lib, kind, is_async=True)
    work = _gathering(lib, storage)

    def running(times: int) -> Run:
        return lambda: lib.run(work.ainvoke(times, storage.new_thread()))

    return between(running, storage=storage)


def _gathering(lib: Library, storage: Storage) -> Any:
    @lib.task  # type: ignore[untyped-decorator]
    async def add(x: int) -> int:
        return x + 1

    @lib.entrypoint(checkpointer=storage.saver)  # type: ignore[untyped-decorator]
    async def work(times: int) -> int:
        return sum(await asyncio.gather(*(add(number) for number in range(times))))

    return work
