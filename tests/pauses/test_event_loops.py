"""Event loops: an async saver is used from any of them, and one that ends takes nothing along."""

import asyncio
import gc
import threading

import pytest
import redis.asyncio

from signoff import _loops
from signoff._loops import Home, LoopNotRunning
from signoff.checkpoint.postgres import AsyncPostgresSaver
from signoff.checkpoint.redis import AsyncRedisSaver
from signoff.testing.conformance.doors import LoopThread
from signoff.types import Command

from .programs import NEW, asking, line
from .ways import on_thread

RUNS = 60
"""More than there are connections."""


@pytest.fixture(params=["postgres", "redis"])
def made(request):
    """What makes a saver, in the loop that runs."""
    if request.param == "postgres":
        url = request.getfixturevalue("saver_url")
        return lambda: AsyncPostgresSaver(url)
    url, prefix = request.getfixturevalue("redis_url"), request.getfixturevalue("redis_prefix")
    return lambda: AsyncRedisSaver(url, prefix=prefix)


async def paid(saver, name):
    """Ask and answer in many threads at once."""
    app = line(ask=asking("pay?")).compile(checkpointer=saver)

    async def one(number):
        config = on_thread(f"{name} {number}")
        await app.ainvoke(NEW, config)
        return (await app.ainvoke(Command(resume="yes"), config))["log"]

    return await asyncio.gather(*map(one, range(RUNS)))


def test_event_loops_side_by_side_use_one_saver(made):
    async def program():
        saver = made()
        for turn in range(2):  # the second time after another loop has ended
            elsewhere = asyncio.to_thread(asyncio.run, paid(saver, f"there {turn}"))
            assert await asyncio.gather(paid(saver, f"here {turn}"), elsewhere) == [[["yes"]] * RUNS] * 2
        await saver.close()

    asyncio.run(program())


@pytest.mark.filterwarnings("ignore::ResourceWarning")  # nobody closes what the first loop has left
def test_a_saver_at_an_address_outlives_its_event_loop(made):
    async def first():
        saver = made()
        return saver, await paid(saver, "first")

    async def second(saver):
        found = await paid(saver, "second")
        await saver.close()
        return found

    saver, found = asyncio.run(first())
    assert asyncio.run(second(saver)) == found
    gc.collect()


def test_a_client_of_an_event_loop_that_has_ended_is_told(redis_url, redis_prefix):
    async def first():
        client = redis.asyncio.Redis.from_url(redis_url)
        saver = AsyncRedisSaver(client, prefix=redis_prefix)
        await paid(saver, "first")
        await client.aclose()
        return saver

    saver = asyncio.run(first())
    with pytest.raises(RuntimeError, match="make the client in the loop that uses it"):
        asyncio.run(paid(saver, "second"))


@pytest.mark.parametrize("end", ["is called off", "stands still"])
def test_whoever_waits_for_a_loop_that_ends_is_told(end, monkeypatch):
    monkeypatch.setattr(_loops, "_STILL_RUNS_S", 0.01)
    there = LoopThread()

    async def home():
        return Home(bool)

    async def slow(argument):
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.stop if end == "stands still" else asyncio.current_task().cancel)
        await asyncio.Event().wait()

    with pytest.raises(LoopNotRunning, match="ended in the middle"):
        asyncio.run(there.run(home()).run(slow, None))
    there.close()


def test_more_runs_at_once_than_connections_wait_for_each_other(made):
    async def program():
        saver = made()
        found = await asyncio.gather(*(paid(saver, f"{number}") for number in range(3)))
        await saver.close()
        return found

    assert asyncio.run(program()) == [[["yes"]] * RUNS] * 3


def test_what_is_called_off_in_another_loop_has_begun_there(portal):
    begun, is_free = [], threading.Event()

    async def home():
        return Home(lambda: None)

    async def give_back(what):
        begun.append(what)

    async def program():
        there = portal.run(home())
        portal.loop.call_soon_threadsafe(is_free.wait)  # so that it hears all of it at once
        giving = asyncio.ensure_future(there.run(give_back, "a connection"))
        await asyncio.sleep(0)
        giving.cancel()
        await asyncio.sleep(0)
        is_free.set()
        await asyncio.wait([giving])

    asyncio.run(program())
    assert begun == ["a connection"]
