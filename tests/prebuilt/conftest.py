"""Each promise is kept in four ways: sync and async, in memory and in a SQLite file that each call opens anew."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from scenarios.conftest import App, opener

WAYS = ["memory", "sqlite", "memory-async", "sqlite-async"]


@pytest.fixture(params=WAYS)
def open_agent(request, tmp_path) -> Callable[[Callable[[Any], Any]], App]:
    """Makes an App of a function that takes the saver and returns the agent."""
    storage, _, way = request.param.partition("-")
    return opener(tmp_path, storage, is_async=way == "async")


@pytest.fixture(params=["sync", "async"])
def call_it(request) -> Callable[..., Any]:
    """Calls a runnable: with invoke, or with ainvoke on an event loop."""

    def call_it(runnable: Any, *args: Any, **options: Any) -> Any:
        if request.param == "sync":
            return runnable.invoke(*args, **options)
        return asyncio.run(runnable.ainvoke(*args, **options))

    return call_it


@pytest.fixture(params=["v1", "v2"])
def version(request) -> str:
    """The two shapes of a tool step."""
    return request.param


@pytest.fixture(params=["memory", "sqlite"])
def open_async(request, tmp_path) -> Callable[[Callable[[Any], Any]], App]:
    """The same for agents that run only on an event loop."""
    return opener(tmp_path, request.param, is_async=True)
