"""Threads that are deleted while a run has them: whoever leaves the run need not hear of it, and nothing is written."""

import asyncio

import pytest

from signoff.errors import LeaseLost, ThreadMoved

from .programs import NEW, Works, line
from .ways import CONFIG, SERVER_WAYS

ON_SERVERS = SERVER_WAYS


def delete(app):
    with app.storage.opened() as saver:
        saver.delete_thread(CONFIG["configurable"]["thread_id"])
    return True


def steps(works):
    return line(**{name: works.node(name) for name in "abcd"})


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_stream_of_a_thread_that_was_deleted_can_be_left(open_app, durability):
    app = open_app(steps(Works()))
    app.stream(NEW, until=lambda chunk: "b" in chunk and delete(app), durability=durability)
    assert app.history() == []
    assert app.invoke(NEW)["log"] == ["a", "b", "c", "d"]


def test_whoever_reads_on_hears_that_the_thread_was_deleted(open_app):
    app = open_app(steps(Works()))
    with pytest.raises((LeaseLost, ThreadMoved)):
        app.stream(NEW, until=lambda chunk: "b" in chunk and not delete(app))
    assert app.history() == []


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_run_that_is_cancelled_when_its_thread_was_deleted_is_cancelled(open_async_app, durability):
    class Leaving(Works):
        def node(self, name):
            async def leave(state):
                delete(app)
                asyncio.current_task().cancel()
                await asyncio.sleep(0)

            return leave if name == "c" else super().node(name)

    app = open_async_app(steps(Leaving()))
    with pytest.raises(asyncio.CancelledError):
        app.invoke(NEW, durability=durability)
    assert app.history() == []
