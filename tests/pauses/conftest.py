"""Every promise is tried on every saver, sync and async."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from signoff.graph import StateGraph

from .ways import STORAGES, WAYS, AnyApp

Open = Callable[..., AnyApp]


def opener(folder: Path, way: str) -> Open:
    """Makes an app of a graph, or of a function that takes the saver and returns the program. All share a saver."""
    storage_name, _, driver = way.partition("-")
    storage = STORAGES[storage_name](folder)

    def open_app(program: Any, *, lease_s: Any = None, clock: Any = None, **settings: Any) -> AnyApp:
        leases = {name: value for name, value in (("lease_s", lease_s), ("clock", clock)) if value is not None}
        compile = _compiling(program, settings) if isinstance(program, StateGraph) else program
        return AnyApp(compile, storage, is_async=driver == "async", **leases)

    return open_app


def _compiling(graph: StateGraph, settings: dict[str, Any]) -> Callable[[Any], Any]:
    return lambda saver: graph.compile(checkpointer=saver, **settings)


@pytest.fixture(params=WAYS)
def open_app(request: Any, tmp_path: Path) -> Open:
    """Makes an app in one of the ways; the test runs in all of them."""
    return opener(tmp_path, request.param)


@pytest.fixture(params=[way for way in WAYS if way.endswith("async")])
def open_async_app(request: Any, tmp_path: Path) -> Open:
    """The same for programs that run only on an event loop."""
    return opener(tmp_path, request.param)
