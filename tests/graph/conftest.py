"""What tests of graphs share: the savers that need no server."""

from collections.abc import Iterator
from typing import Any

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.sqlite import SqliteSaver


@pytest.fixture(params=["memory", "sqlite"])
def saver(request) -> Iterator[Any]:
    """A saver; the test runs with each of them."""
    if request.param == "memory":
        yield InMemorySaver()
    else:
        with SqliteSaver.from_conn_string(":memory:") as sqlite:
            yield sqlite
