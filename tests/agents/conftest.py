"""Promises are kept in memory and in a SQLite file that each call opens anew, in sync and async runs.

`open_in_all_ways` is each storage in each way; `open_agent` is each once, for what does not depend on the pair.
"""

from collections.abc import Callable
from typing import Any

import pytest

from prebuilt.conftest import WAYS
from scenarios.conftest import App, opener

from .desk import Desk

Open = Callable[[Callable[[Any], Any]], App]


def opening(way: str, tmp_path: Any) -> Open:
    storage, _, kind = way.partition("-")
    return opener(tmp_path, storage, is_async=kind == "async")


@pytest.fixture(params=["memory", "sqlite-async"])
def open_agent(request, tmp_path) -> Open:
    """Makes an App of a function that takes the saver and returns the agent."""
    return opening(request.param, tmp_path)


@pytest.fixture(params=WAYS)
def open_in_all_ways(request, tmp_path) -> Open:
    """The same in all four ways."""
    return opening(request.param, tmp_path)


@pytest.fixture
def desk() -> Desk:
    return Desk()
