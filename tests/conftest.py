"""What all tests may use: real servers, and an event loop beside them."""

import gc
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from signoff.testing.conformance.doors import LoopThread

pytest_plugins = ["servers.plugin"]

# The checks of the conformance suite fail by plain asserts, which pytest explains if it is told to.
pytest.register_assert_rewrite("signoff.testing.conformance")

# How long an example takes tells more of the machine than of the code.
settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


def pytest_collection_finish() -> None:
    """Keep what stays to the end, such as the tests themselves, away from the garbage collector."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)  # the programs of the tests make many objects and keep few


@pytest.fixture
def collected(caplog: pytest.LogCaptureFixture) -> "Iterator[None]":
    """What a test leaves in its middle is collected before the next one, which would be told of it."""
    yield
    caplog.get_records("call").clear()  # they hold what was logged, and so the frames where that was
    gc.collect()


@pytest.fixture(scope="session")
def portal() -> "Iterator[LoopThread]":
    """An event loop in a thread of its own, to call what is async from tests that are not."""
    from signoff.testing.conformance.doors import LoopThread

    portal = LoopThread()
    yield portal
    portal.close()
