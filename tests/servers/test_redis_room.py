"""The room of Redis: scripts, and connections that die."""

import asyncio
import re
import socket

import pytest
import redis

from servers.redis import RedisServer
from servers.relay import relayed
from signoff._redis.aio import AsyncConnection
from signoff._redis.connection import Connection
from signoff._redis.effects import Ask, Run, Script
from signoff.cache import redis as cache
from signoff.checkpoint.redis import scripts
from signoff.errors import InvalidInput, LimitedSaver, SaverUnavailable, Undecodable
from signoff.store.redis import scripts as store_scripts

SET = Script("redis.call('SET', KEYS[1], ARGV[1]); return redis.call('GET', KEYS[1])")
FAIL = Script("redis.call('SET', KEYS[1], 'half'); return redis.call('LPUSH', KEYS[1], 'x')")


def setting(key, value):
    first = yield Run(SET, (key,), (value,))
    second = yield Ask(("GET", key))
    return first, second


class Blocking:
    """An async room, one event loop for each procedure."""

    def __init__(self, url, **options):
        self.url, self.options = url, options

    def run(self, steps):
        async def program():
            client = redis.asyncio.Redis.from_url(self.url, **self.options)
            try:
                return await AsyncConnection(client).run(steps)
            finally:
                await client.aclose()

        return asyncio.run(program())


@pytest.fixture(params=["sync", "sync decoding", "sync UTF-16", "async", "async decoding", "async UTF-16"])
def room(request, redis_url):
    options = {"decode_responses": "decoding" in request.param}
    if "UTF-16" in request.param:
        options["encoding"] = "utf-16"
    if "async" in request.param:
        yield Blocking(redis_url, **options)
        return
    with redis.Redis.from_url(redis_url, **options) as client:
        yield Connection(client)


def test_a_script_and_a_command_return_bytes_whatever_the_client_prefers(room, redis_prefix):
    value = bytes(range(256))
    assert room.run(setting(f"{{{redis_prefix}}}:k", value)) == (value, value)


def test_a_text_is_stored_the_same_whatever_the_client_prefers(room, redis_url, redis_prefix):
    assert room.run(setting(f"{{{redis_prefix}}}:ü", "ü")) == (b"\xc3\xbc", b"\xc3\xbc")
    with redis.Redis.from_url(redis_url) as another:
        assert another.get(f"{{{redis_prefix}}}:ü") == b"\xc3\xbc"


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system does not know it")
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_server_that_goes_without_a_word_is_noticed(own_redis, is_async):
    async def told(client):
        connection = await client.connection_pool.get_connection()
        try:
            return connection._writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
        finally:
            await connection.disconnect()

    with relayed(own_redis) as (_, url):
        if is_async:
            assert asyncio.run(told(AsyncConnection(url).client)) == 60_000
            return
        room = Connection(url)
        with room.client.connection_pool.get_connection()._sock as sock:
            assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 60_000
        room.close()


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("answers", ["reads", "nothing"])
def test_a_server_that_has_taken_over_is_found_though_the_old_one_is_still_there(own_redis, is_async, answers):
    successor = RedisServer.new()
    with relayed(own_redis) as (relay, url), redis.Redis.from_url(own_redis.url) as old:

        def take_over():
            old.config_set("replica-serve-stale-data", "yes" if answers == "reads" else "no")
            old.replicaof("127.0.0.1", 1)
            relay.lead_to(successor)

        async def program():
            room = AsyncConnection(url)
            await room.run(setting("k", "1"))
            take_over()
            assert await room.run(setting("k", "2")) == (b"2", b"2")
            await room.close()

        if is_async:
            asyncio.run(program())
        else:
            room = Connection(url)
            room.run(setting("k", "1"))
            take_over()
            assert room.run(setting("k", "2")) == (b"2", b"2")
            room.close()
        old.replicaof("NO", "ONE")
        assert old.get("k") == b"1"
    successor.remove()


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_replica_that_has_lost_its_master_is_not_taken_for_a_cluster(own_redis, is_async):
    room = Blocking(own_redis.url) if is_async else Connection(own_redis.url)
    with redis.Redis.from_url(own_redis.url) as server:
        server.config_set("replica-serve-stale-data", "no")
        server.replicaof("127.0.0.1", 1)
        with pytest.raises(SaverUnavailable, match="a replica that has lost its master"):
            room.run(setting("k", "1"))
        server.replicaof("NO", "ONE")
    if not is_async:
        room.close()


def test_a_script_that_the_server_has_forgotten_is_sent_again(own_redis):
    room = Connection(own_redis.url)
    assert room.run(setting("k", "1")) == (b"1", b"1")
    room.client.script_flush()
    assert room.run(setting("k", "2")) == (b"2", b"2")
    room.close()


def test_a_script_that_stumbles_over_what_is_stored_says_so(room, redis_prefix):
    def failing():
        yield Run(FAIL, (f"{redis_prefix}:x",))

    with pytest.raises(Undecodable, match="broken or was changed.*WRONGTYPE") as caught:
        room.run(failing())
    assert isinstance(caught.value.__cause__, redis.ResponseError)


def test_connections_that_died_are_replaced_unseen(own_redis):
    sync = Connection(own_redis.url)
    for interrupt in (own_redis.kill_connections, own_redis.restart, lambda: (own_redis.kill(), own_redis.start())):
        sync.run(setting("k", "before"))
        interrupt()
        assert sync.run(iter_one(Ask(("GET", "k")))) == b"before"
        interrupt()
        assert sync.run(setting("k", "after")) == (b"after", b"after")
    sync.close()


class OlderPool(redis.BlockingConnectionPool):
    """A pool as it was before redis-py 7: it is not told to leave alone what is in use."""

    def disconnect(self):
        super().disconnect()


def test_connections_that_died_are_replaced_unseen_with_older_clients_too(own_redis):
    with relayed(own_redis) as (relay, url):
        room = Connection(redis.Redis.from_pool(OlderPool.from_url(url)))
        room.run(setting("k", "1"))
        relay.lose_answer_to(b"lost")
        assert room.run(setting("k", "lost")) == (b"lost", b"lost")
        assert relay.has_lost
        room.client.close()


def test_async_connections_that_died_are_replaced_unseen(own_redis):
    async def program():
        room = AsyncConnection(own_redis.url)
        for interrupt in (own_redis.kill_connections, own_redis.restart, lambda: (own_redis.kill(), own_redis.start())):
            await room.run(setting("k", "before"))
            interrupt()
            assert await room.run(iter_one(Ask(("GET", "k")))) == b"before"
            interrupt()
            assert await room.run(setting("k", "after")) == (b"after", b"after")
        await room.close()

    asyncio.run(program())


class Wanted(redis.Connection):
    """A connection that others want to have, in the very moment in which it is disconnected."""

    is_wanted = False

    def disconnect(self, *args, **options):
        if self.is_wanted:
            self.is_wanted = False
            self.taken = [self.pool.get_connection(), self.pool.get_connection()]
        super().disconnect(*args, **options)


def test_no_connection_is_closed_under_a_thread_that_takes_it_meanwhile(own_redis):
    with relayed(own_redis) as (relay, url):
        pool = redis.BlockingConnectionPool.from_url(url, connection_class=Wanted, retry=None)
        idle, used = pool.get_connection(), pool.get_connection()
        pool.release(idle)
        pool.release(used)
        idle.pool, idle.is_wanted = pool, True
        relay.lose_answer_to(b"GET")
        client = redis.Redis.from_pool(pool)
        assert Connection(client).run(iter_one(Ask(("GET", "nothing")))) is None
        assert relay.has_lost
        assert [connection._sock is not None for connection in idle.taken] == [True, True]
        client.close()


def test_a_server_that_is_down_is_a_typed_error(own_redis):
    sync = Connection(own_redis.url)
    sync.run(setting("k", "before"))
    own_redis.stop()
    for room in (sync, Blocking(own_redis.url)):
        with pytest.raises(SaverUnavailable, match="Redis cannot be reached"):
            room.run(setting("k", "after"))
    own_redis.start()
    assert sync.run(iter_one(Ask(("GET", "k")))) == b"before"
    sync.close()


def test_a_server_without_memory_is_a_typed_error_and_nothing_is_written(own_redis):
    room = Connection(own_redis.url)
    room.run(setting("k", "before"))
    room.client.config_set("maxmemory", "1")
    try:
        with pytest.raises(SaverUnavailable, match="out of memory"):
            room.run(setting("k", "after"))
    finally:
        room.client.config_set("maxmemory", "0")
    assert room.run(iter_one(Ask(("GET", "k")))) == b"before"
    room.close()


def test_a_server_that_does_not_do_what_it_is_asked_is_a_typed_error_and_what_is_stored_is_not_to_blame(own_redis):
    room = Connection(own_redis.url)
    room.run(setting("k", "before"))
    room.client.config_set("min-replicas-to-write", "1")
    try:
        with pytest.raises(SaverUnavailable, match="NOREPLICAS.*Nothing was written"):
            room.run(setting("k", "after"))
    finally:
        room.client.config_set("min-replicas-to-write", "0")
    room.client.acl_setuser("reader", enabled=True, nopass=True, keys=["*"], commands=["+get"])
    with (
        redis.Redis.from_url(own_redis.url, username="reader", password="") as client,
        pytest.raises(SaverUnavailable, match="no permissions.*Nothing was written"),
    ):
        Connection(client).run(setting("k", "after"))
    assert room.run(iter_one(Ask(("GET", "k")))) == b"before"
    room.close()


HALF = Script("redis.call('SET', KEYS[1], 'half'); redis.call('INCR', KEYS[2])")
RENAMED = Script("redis.call('SET', KEYS[1], 'half'); redis.call('INCR', KEYS[2]); redis.call('RENAMED', KEYS[1])")


@pytest.mark.parametrize(("script", "lacking"), [(HALF, "INCR"), (RENAMED, "INCR, RENAMED")], ids=["right", "name"])
@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_a_script_that_would_be_cut_off_in_its_middle_is_not_begun(own_redis, is_async, script, lacking):
    with redis.Redis.from_url(own_redis.url) as owner:
        owner.delete("a", "b")
        rights = ["+eval", "+evalsha", "+set", "+get"]
        owner.acl_setuser("writer", enabled=True, passwords=["+word"], keys=["*"], commands=rights, reset=True)
        options = {"username": "writer", "password": "word"}
        room = (
            Blocking(own_redis.url, **options)
            if is_async
            else Connection(redis.Redis.from_url(own_redis.url, **options))
        )
        with pytest.raises(SaverUnavailable, match=rf"run {lacking}, .*Nothing was written.*\+incr"):
            room.run(iter_one(Run(script, ("a", "b"))))
        assert owner.get("a") is None
        owner.acl_setuser("writer", enabled=True, commands=["+incr"])
        room.run(iter_one(Run(HALF, ("a", "b"))))
        assert (owner.get("a"), owner.get("b")) == (b"half", b"1")
        owner.acl_setuser("writer", enabled=True, commands=["-incr"])
        for _ in range(2):  # the second time, it is asked for again
            with pytest.raises(SaverUnavailable, match="does not let this user"):
                room.run(iter_one(Run(HALF, ("a", "b"))))
        with pytest.raises(SaverUnavailable, match="unknown command 'RENAMED'"):
            Connection(owner).run(iter_one(Ask(("RENAMED", "a"))))
        if not is_async:
            room.client.close()


def test_of_every_script_it_is_known_what_it_changes(redis_url):
    rooms = (scripts, store_scripts, cache)
    all_scripts = [one for room in rooms for one in vars(room).values() if isinstance(one, Script)]
    assert len(all_scripts) > 15
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        writing = {name.upper() for name in client.acl_cat("write")}
    for script in all_scripts:
        assert script.source.count("call(") == len(re.findall(r"\bcall\('[A-Z]+'", script.source))
        assert script.could_be_cut_off == (len(writing.intersection(script.commands)) > 1)


def test_a_server_that_makes_room_by_removing_keys_is_told_of_once(own_redis):
    room = Connection(own_redis.url)
    room.client.config_set("maxmemory-policy", "allkeys-lru")
    room.run(iter_one(Run(HALF, ("a", "b"))))
    room.client.config_set("maxmemory", "1gb")
    try:
        another = Connection(room.client)
        with pytest.warns(LimitedSaver, match="maxmemory-policy allkeys-lru"):
            another.run(iter_one(Run(HALF, ("a", "b"))))
        another.run(iter_one(Run(HALF, ("a", "b"))))
    finally:
        room.client.config_set("maxmemory", "0")
        room.client.config_set("maxmemory-policy", "noeviction")
    room.close()


def test_a_client_without_a_connection_left_says_so(redis_url):
    with redis.Redis.from_url(redis_url, max_connections=1) as client:
        taken = client.connection_pool.get_connection()
        with pytest.raises(SaverUnavailable, match="BlockingConnectionPool"):
            Connection(client).run(iter_one(Ask(("GET", "k"))))
        client.connection_pool.release(taken)


def iter_one(effect):
    return (yield effect)


class Swallowing(redis.asyncio.Redis):
    """Goes on if it is cancelled while it waits, as redis-py's client does now and then."""

    async def execute_command(self, *args, **options):
        self.is_asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return b"done"


def test_whoever_is_cancelled_is_cancelled_though_the_client_swallows_it():
    async def program():
        client = Swallowing()
        client.is_asked = asyncio.Event()
        asking = asyncio.ensure_future(AsyncConnection(client).run(iter_one(Ask(("GET", "key")))))
        await client.is_asked.wait()
        asking.cancel()
        await asyncio.wait([asking])
        assert asking.cancelled()

    asyncio.run(program())


def test_what_is_no_way_to_redis_is_refused(redis_url):
    with pytest.raises(InvalidInput, match=r"redis\.Redis client"):
        Connection(7)
    with pytest.raises(InvalidInput, match=r"redis\.Redis client"):
        Connection(redis.asyncio.Redis.from_url(redis_url))
    with pytest.raises(InvalidInput, match=r"redis\.asyncio\.Redis client"):
        AsyncConnection(redis.Redis.from_url(redis_url))


def test_what_was_closed_is_not_opened_again(redis_url):
    room = Connection(redis_url)
    room.run(iter_one(Ask(("PING",))))
    room.close()
    with pytest.raises(InvalidInput, match="The connection to Redis is closed"):
        room.run(iter_one(Ask(("PING",))))


def test_what_was_closed_is_not_opened_again_in_async_either(redis_url):
    async def program():
        room = AsyncConnection(redis_url)
        await room.run(iter_one(Ask(("PING",))))
        await room.close()
        with pytest.raises(InvalidInput, match="The connection to Redis is closed"):
            await room.run(iter_one(Ask(("PING",))))

    asyncio.run(program())


def test_a_client_that_was_given_is_closed_by_its_owner(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        room = Connection(client)
        room.close()
        assert room.run(iter_one(Ask(("GET", "nothing")))) is None
