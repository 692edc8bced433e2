"""Each promise is kept in four ways: sync and async, in memory and in a SQLite file that each call opens anew."""

import pytest

from prebuilt.conftest import open_agent, open_async

from .desk import Desk

__all__ = ["open_agent", "open_async"]


@pytest.fixture
def desk() -> Desk:
    return Desk()
