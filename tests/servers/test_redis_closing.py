"""What was made of an address, and is closed, leaves no connection behind, whatever goes on at that moment."""

import asyncio
import threading
import uuid
from contextlib import closing

import pytest
import redis

from signoff._redis.aio import AsyncConnection
from signoff._redis.connection import Connection
from signoff._redis.effects import Ask
from signoff.cache.redis import RedisCache
from signoff.checkpoint.redis import AsyncRedisSaver, RedisSaver
from signoff.store.redis import AsyncRedisStore, RedisStore


class Seen:
    """The connections of one name that a server has."""

    def __init__(self, url, client):
        self.name, self.client = uuid.uuid4().hex, client
        self.url = f"{url}{'&' if '?' in url else '?'}client_name={self.name}"

    def all(self):
        return [one for one in self.client.client_list() if one["name"] == self.name]

    def left(self):
        """Those that stay. The server may hear a moment later that one was closed."""
        for _ in range(1000):
            if not (found := self.all()):
                break
        return found

    def wait_until_blocked(self):
        while not any("b" in one["flags"] for one in self.all()):
            pass


@pytest.fixture
def seen(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        yield Seen(redis_url, client)


def ask(*command):
    return (yield Ask(command))


def test_a_command_under_way_comes_to_its_end_and_leaves_nothing_open(seen, redis_prefix):
    room, key, found = Connection(seen.url), f"{redis_prefix}:list", []
    thread = threading.Thread(target=lambda: found.extend(room.run(ask("BLPOP", key, 0))))
    thread.start()
    seen.wait_until_blocked()
    room.close()
    seen.client.rpush(key, "answer")
    thread.join()
    assert found == [key.encode(), b"answer"]
    assert seen.left() == []


def test_so_it_does_on_an_event_loop(seen, redis_prefix):
    async def program():
        room, key = AsyncConnection(seen.url), f"{redis_prefix}:list"
        task = asyncio.create_task(room.run(ask("BLPOP", key, 0)))
        while not any("b" in one["flags"] for one in seen.all()):
            await asyncio.sleep(0)
        await room.close()
        seen.client.rpush(key, "answer")
        assert [*await task] == [key.encode(), b"answer"]
        return seen.left()

    assert asyncio.run(program()) == []


def test_what_was_closed_beside_threads_that_use_it_leaves_nothing_open(seen, redis_prefix):
    for _ in range(10):
        errors = []

        def work(saver, begun, errors=errors):
            try:
                while True:
                    saver.get_tuple({"configurable": {"thread_id": "1"}})
                    begun.set()
            except Exception as error:
                errors.append(type(error).__name__)

        with RedisSaver.from_conn_string(seen.url, prefix=redis_prefix) as saver:
            begun = [threading.Event() for _ in range(4)]
            threads = [threading.Thread(target=work, args=(saver, one)) for one in begun]
            for thread, one in zip(threads, begun, strict=True):
                thread.start()
                one.wait()
        for thread in threads:
            thread.join()
        assert errors == ["InvalidInput"] * 4
        assert seen.left() == []


@pytest.mark.parametrize("turns", range(12))
@pytest.mark.parametrize("kind", [AsyncRedisSaver, AsyncRedisStore])
def test_a_block_that_is_called_off_as_it_closes_leaves_nothing_open(kind, turns, seen, redis_prefix):
    async def program():
        opened = asyncio.Event()
        leave = asyncio.Event()

        async def block():
            async with kind.from_conn_string(seen.url, prefix=redis_prefix) as one:
                await one._run(ask("PING"))
                opened.set()
                await leave.wait()

        task = asyncio.create_task(block())
        await opened.wait()
        assert len(seen.all()) == 1
        leave.set()
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return seen.left()

    assert asyncio.run(program()) == []


def test_blocks_leave_nothing_open(seen, redis_prefix):
    for _ in range(3):
        with (
            RedisSaver.from_conn_string(seen.url, prefix=redis_prefix) as saver,
            RedisStore.from_conn_string(seen.url, prefix=redis_prefix) as store,
            closing(RedisCache(seen.url, prefix=redis_prefix)) as cache,
        ):
            saver.get_tuple({"configurable": {"thread_id": "1"}})
            store.get(("a",), "b")
            cache.get([(("a",), "b")])
            assert len(seen.all()) == 3
        assert seen.left() == []
