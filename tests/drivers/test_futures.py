"""Futures of calls in a sync run: they are what concurrent.futures promises, whoever looks at them, and when."""

import asyncio
import threading
import time
from collections import deque
from concurrent.futures import CancelledError, as_completed, wait
from contextvars import copy_context

import pytest

from signoff.checkpoint.memory import InMemorySaver
from signoff.drivers.calls import soon
from signoff.drivers.calls.futures import CallFuture
from signoff.func import entrypoint, task

CONFIG = {"configurable": {"thread_id": "1"}}


@task
def double(number):
    return 2 * number


def called(number=21):
    """A call that nobody has begun with."""
    return CallFuture(lambda future: future.set_result(2 * number), copy_context())


def test_whoever_waits_for_a_call_runs_it():
    future = called()
    assert future.result() == 42
    assert future.done()
    assert not future.cancelled()
    assert future.exception() is None


def test_a_call_runs_once_however_many_wait_for_it():
    ran, start = [], threading.Barrier(8, timeout=10)

    def run(future):
        ran.append(1)
        future.set_result("done")

    future, results = CallFuture(run, copy_context()), []

    def look():
        start.wait()
        results.append(future.result(timeout=10))

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (ran, results) == ([1], ["done"] * 8)


@pytest.mark.parametrize("is_early", [True, False], ids=["before", "after"])
def test_a_callback_is_called_once_whether_it_comes_before_or_after_the_result(is_early):
    future, heard = called(), []
    if is_early:
        future.add_done_callback(lambda done: heard.append(done.result()))
    future.work()
    if not is_early:
        future.add_done_callback(lambda done: heard.append(done.result()))
    assert heard == [42]


def test_wait_and_as_completed_know_calls_that_are_done_and_such_that_are_not():
    early, late = called(1), called(2)
    early.work()
    threading.Timer(0.01, late.work).start()
    assert {future.result() for future in as_completed([early, late], timeout=10)} == {2, 4}
    assert wait([early, late], timeout=10).done == {early, late}


def test_a_call_can_be_awaited():
    async def main():
        future = called()
        threading.Timer(0.01, future.work).start()
        return await asyncio.wrap_future(future)

    assert asyncio.run(main()) == 42


def test_a_call_that_nobody_has_begun_with_can_be_called_off():
    future = called()
    assert future.cancel()
    assert future.cancelled()
    with pytest.raises(CancelledError):
        future.result()


def test_a_call_that_is_done_cannot_be_called_off():
    future = called()
    future.work()
    assert not future.cancel()
    assert future.result() == 42


def test_a_program_may_call_off_a_call_and_go_on():
    ran = []

    @task
    def work():
        ran.append(1)

    @entrypoint(checkpointer=InMemorySaver())
    def program(number):
        future = work()
        return double(number).result() if future.cancel() or ran else None

    assert program.invoke(21, CONFIG) == 42


def test_as_completed_gets_all_calls_of_a_program():
    @entrypoint(checkpointer=InMemorySaver())
    def program(count):
        return sorted(future.result() for future in as_completed([double(number) for number in range(count)]))

    assert program.invoke(20, CONFIG) == [2 * number for number in range(20)]


def test_calls_that_are_made_as_the_watch_ends_are_begun_with(monkeypatch):
    monkeypatch.setattr(soon, "_IDLE_ROUNDS", 0)
    while soon._is_watched:  # since another test
        time.sleep(0)
    monkeypatch.setattr(soon, "_waiting", deque([called(1), called(2)]))  # by two threads, in the same moment
    made = [*soon._waiting]
    soon._watch()
    assert not wait(made, 10).not_done
