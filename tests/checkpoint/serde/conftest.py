"""What the tests of the serialisation share."""

from collections.abc import Callable
from typing import Any

import pytest

from signoff.checkpoint.serde.codec import dumps, loads


def through_storage(value: Any) -> Any:
    """Store a value and load it; it must come back equal and of exactly the same type."""
    loaded = loads(dumps(value))
    assert type(loaded) is type(value)
    assert loaded == value
    return loaded


@pytest.fixture
def again() -> Callable[[Any], Any]:
    return through_storage
