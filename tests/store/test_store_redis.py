"""What is special about the store in Redis: its keys, its connections, what it says when the server is away."""

import asyncio
import subprocess
import sys

import pytest
import redis
from redis.crc import key_slot

from servers.relay import relayed
from signoff.errors import InvalidInput, NotStorable, SaverUnavailable, Undecodable
from signoff.store.base import GetOp, PutOp, SearchOp
from signoff.store.redis import AsyncRedisStore, RedisStore
from signoff.store.redis.procedures import StoreTooNew
from store.losing import LATER, NS, WRITES, check_not_done_again


@pytest.fixture
def client(redis_url):
    with redis.Redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
def store(client, redis_prefix):
    return RedisStore(client, prefix=redis_prefix)


# The keys


def test_deleting_everything_leaves_no_key_for_good_but_the_counters(store, client, redis_prefix, index):
    indexed = RedisStore(client, prefix=redis_prefix, index=index)
    indexed.batch([PutOp(("a", str(at)), "k", {"text": "a"}, ttl=1) for at in range(5)])
    indexed.batch([PutOp(("a", str(at)), "k", None) for at in range(5)])
    kept = {key.decode().split("}:")[1].split(":")[0] for key in client.scan_iter(match=f"*{redis_prefix}*")}
    assert kept == {"version", "last_rank", "last_id", "lane"}
    assert all(client.ttl(key) > 0 for key in client.scan_iter(match=f"*{redis_prefix}*:lane:*"))


def test_all_keys_of_a_store_are_in_one_place_of_a_cluster(store, client, redis_prefix):
    store.batch([PutOp((label,), "k{e}y", {"v": 1}, ttl=1) for label in ("a", "{b}", "}")])
    keys = list(client.scan_iter(match=f"*{redis_prefix}*"))
    assert len(keys) > 9
    assert len({key_slot(key) for key in keys}) == 1


def test_an_item_that_was_evicted_is_told(store, client, redis_prefix):
    store.put(NS, "k", {"v": 1})
    client.delete(f"{{{redis_prefix}}}:item:1:nk")
    for read in (lambda: store.get(NS, "k"), lambda: store.search(NS), lambda: store.search(NS, filter={"v": 1})):
        with pytest.raises(Undecodable, match=r"'k' of \('n',\).*evicted"):
            read()
    store.put(NS, "k", {"v": 2})
    assert store.get(NS, "k").value == {"v": 2}


@pytest.mark.parametrize("prefix", ["", "a{b}", None, "\ud800"], ids=ascii)
def test_a_prefix_that_would_break_the_keys_is_refused(client, prefix):
    with pytest.raises(InvalidInput, match="prefix="):
        RedisStore(client, prefix=prefix)


def test_stores_of_two_prefixes_do_not_see_each_other(client, store, redis_prefix):
    other = RedisStore(client, prefix=f"{redis_prefix}-other")
    store.put(NS, "k", {"v": 1})
    assert other.search(()) == []
    assert other.list_namespaces() == []


def test_a_store_of_a_newer_version_is_left_alone(store, client, redis_prefix):
    client.set(f"{{{redis_prefix}}}:version", "999")
    with pytest.raises(StoreTooNew, match=r"999.*upgrade signoff"):
        store.put(NS, "k", {"v": 1})
    assert client.keys(f"*{redis_prefix}*:item:*") == []


def test_a_value_that_would_not_come_back_equal_is_refused_by_its_path(store):
    with pytest.raises(NotStorable, match=r"value\['a'\]\[0\] of 'k' is a set"):
        store.batch([PutOp(NS, "good", {}), PutOp(NS, "k", {"a": [{1}]})])
    assert store.search(()) == []


# Connections


def test_a_client_that_decodes_will_do(redis_url, redis_prefix, index):
    with redis.Redis.from_url(redis_url, decode_responses=True) as client:
        store = RedisStore(client, prefix=redis_prefix, index=index)
        store.put(NS, "k", {"text": "a"})
        assert store.search(NS, query="a")[0].score == pytest.approx(1.0)


PUTTING = """
import sys
from signoff.store.redis import RedisStore
url, prefix, name = sys.argv[1:]
with RedisStore.from_conn_string(url, prefix=prefix) as store:
    for at in range(40):
        store.put(("shared",), f"{name}{at}", {"at": at})
        store.put(("shared",), "latest", {"name": name, "at": at})
"""


def test_several_processes_share_a_store(redis_url, redis_prefix, store):
    arguments = [sys.executable, "-c", PUTTING, redis_url, redis_prefix]
    running = [subprocess.Popen([*arguments, name]) for name in "abc"]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    assert len(store.search(("shared",), limit=1000)) == 3 * 40 + 1
    assert store.get(("shared",), "latest").value["at"] == 39


def test_connections_that_died_between_two_uses_are_replaced_unseen(own_redis):
    with RedisStore.from_conn_string(own_redis.url, prefix="sync") as store:
        for at, interrupt in enumerate(own_redis.interruptions()):
            store.put(NS, str(at), {"v": at})
            interrupt()
            assert store.get(NS, str(at)).value == {"v": at}
            interrupt()
            store.put(NS, f"again {at}", {"v": at})
            interrupt()
            assert len(store.search(NS, filter={"v": at})) == 2


def test_async_connections_that_died_between_two_uses_are_replaced_unseen(own_redis):
    async def program():
        async with AsyncRedisStore.from_conn_string(own_redis.url, prefix="async") as store:
            for at, interrupt in enumerate(own_redis.interruptions()):
                await asyncio.gather(*(store.aput(NS, str(at), {"v": at}) for _ in range(5)))  # several connections
                interrupt()
                assert (await store.aget(NS, str(at))).value == {"v": at}
                interrupt()
                await store.aput(NS, f"again {at}", {"v": at})
                interrupt()
                assert len(await store.asearch(NS, filter={"v": at})) == 2

    asyncio.run(program())


TAKING_A_SEAT = [GetOp(NS, "seat"), SearchOp(NS), PutOp(NS, "seat", {"of": "ben"}), GetOp(NS, "none")]


def test_a_batch_whose_answer_was_lost_tells_what_was_there_before_it(own_redis):
    with relayed(own_redis) as (relay, url), RedisStore.from_conn_string(url) as store:
        store.put(NS, "seat", {"of": "ana"})
        relay.lose_answer_to(b'{"of": "ben"}')
        taken, seats, _, nothing = store.batch(TAKING_A_SEAT)
        assert relay.has_lost
        assert (taken.value, [seat.value for seat in seats], nothing) == ({"of": "ana"}, [{"of": "ana"}], None)
        assert store.get(NS, "seat").value == {"of": "ben"}


@pytest.mark.parametrize("later", LATER.values(), ids=LATER)
@pytest.mark.parametrize("ops", WRITES.values(), ids=WRITES)
def test_a_write_whose_answer_was_lost_is_not_done_again_over_what_others_wrote_since(own_redis, ops, later):
    with (
        RedisStore.from_conn_string(own_redis.url) as other,
        relayed(own_redis) as (relay, url),
        RedisStore.from_conn_string(url) as store,
    ):
        check_not_done_again(relay, store, other, ops, later)


def test_a_write_that_was_given_up_and_arrives_after_the_next_one_is_not_done(store):
    store.setup()
    steps = store._procedures.batch(store._settings, [PutOp(NS, "k", {"v": "given up"})], 0.0)
    late = next(steps)
    with pytest.raises(SaverUnavailable):
        steps.throw(SaverUnavailable())
    store.put(NS, "k", {"v": "next"})
    store._connection.perform(late)
    assert store.get(NS, "k").value == {"v": "next"}


def test_a_write_that_did_not_arrive_is_sent_again(own_redis):
    with relayed(own_redis) as (relay, url), RedisStore.from_conn_string(url) as store:
        for at in range(3):
            store.put(NS, "seat", {"at": at})
            own_redis.kill_connections()
        assert store.get(NS, "seat").value == {"at": 2}


def test_an_async_batch_whose_answer_was_lost_tells_what_was_there_before_it(own_redis):
    async def program(relay, url):
        async with AsyncRedisStore.from_conn_string(url) as store:
            await store.aput(NS, "seat", {"of": "ana"})
            relay.lose_answer_to(b'{"of": "ben"}')
            taken, seats, _, nothing = await store.abatch(TAKING_A_SEAT)
            assert relay.has_lost
            assert (taken.value, [seat.value for seat in seats], nothing) == ({"of": "ana"}, [{"of": "ana"}], None)

    with relayed(own_redis) as (relay, url):
        asyncio.run(program(relay, url))


def test_a_sweep_whose_answer_was_lost_says_how_many_it_removed(own_redis):
    now = 1_700_000_000.0
    with (
        relayed(own_redis) as (relay, url),
        RedisStore.from_conn_string(url, prefix="swept", clock=lambda: now) as store,
    ):
        store.batch([PutOp(NS, key, {}, ttl=1) for key in "abc"])
        now += 61
        relay.lose_answer_to(b"sweep")
        assert store.sweep_ttl() == 3
        assert relay.has_lost


def test_a_server_that_is_down_is_a_typed_error_and_leaves_nothing_half_done(own_redis):
    with RedisStore.from_conn_string(own_redis.url, prefix="down") as store:
        store.put(NS, "k", {"v": 1})
        own_redis.stop()
        for _ in range(2):
            with pytest.raises(SaverUnavailable, match="Redis cannot be reached"):
                store.batch([PutOp(NS, "k", {"v": 2}), PutOp(NS, "x", {"v": 2})])
        own_redis.start()
        assert [(item.key, item.value) for item in store.search(NS)] == [("k", {"v": 1})]


# Async


@pytest.mark.parametrize("cancel_at", range(4))
def test_a_cancelled_batch_is_done_or_undone_and_the_store_goes_on(redis_url, redis_prefix, cancel_at):
    async def program():
        async with AsyncRedisStore.from_conn_string(redis_url, prefix=redis_prefix) as store:
            await store.aput(NS, "1", {"v": 0})
            task = asyncio.create_task(store.abatch([PutOp(NS, "1", {"v": 1}), PutOp(NS, "2", {"v": 1})]))
            for _ in range(cancel_at):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task])
            seen = [item.value["v"] for item in await store.asearch(NS)]
            assert seen in ([0], [1, 1])
            await store.aput(NS, "3", {"v": 3})
            assert (await store.aget(NS, "3")).value == {"v": 3}

    asyncio.run(program())


def test_the_async_store_is_found_beside_the_sync_one():
    import signoff.store.redis as room

    assert room.AsyncRedisStore is AsyncRedisStore
    with pytest.raises(AttributeError, match="NoSuchStore"):
        room.NoSuchStore  # noqa: B018
