"""On a cluster: every script, every command, and all that they leave behind have their keys in one slot."""

from itertools import count

import pytest
import redis.asyncio.cluster
from redis.cluster import RedisCluster
from redis.crc import key_slot

from servers.redis import RedisServer
from signoff.cache.redis import RedisCache
from signoff.checkpoint.redis import AsyncRedisSaver, RedisSaver
from signoff.checkpoint.redis.names import Names
from signoff.store.redis import RedisStore
from signoff.testing.conformance import savers
from signoff.testing.conformance._saver_words import T

# What is written, removed and searched in other ways than others do it; what is read back is the same everywhere.
CHECKS = [*savers.OWN_CHECKS, *savers.LOG_CHECKS]
CHECKS += [check for check in savers.CHECKS if check.function.__module__.endswith(("_removing", "_lists", "_writes"))]


@pytest.fixture(scope="module")
def cluster():
    """A cluster of one server: it refuses a script whose keys are in several slots, as every cluster does."""
    server = RedisServer.new_cluster()
    yield server
    server.remove()


class Recorded(RedisSaver):
    """A saver that remembers with which keys it has asked for what."""

    def __init__(self, client, *, prefix, **named):
        super().__init__(client, prefix=prefix, **named)
        self.asked, self.names = [], Names(prefix)
        perform = self._connection.perform
        self._connection.perform = lambda effect: self.asked.append(keys_of(effect)) or perform(effect)


def keys_of(effect):
    if hasattr(effect, "script"):
        return list(effect.keys)
    name, *rest = effect.command
    return rest if name == "EXISTS" else rest[:1]


def test_all_keys_of_a_script_or_command_are_in_one_slot(cluster):
    prefixes, asked = count(), []
    with RedisCluster(host="127.0.0.1", port=cluster.port) as client:

        def opened(**options):
            asked.append(Recorded(client, prefix=f"sync {next(prefixes)}", **options))
            return asked[-1]

        for check in CHECKS:
            check(savers.World(opened))
        keys = [keys for saver in asked for keys in saver.asked]
        assert len(keys) > 1000
        assert [one for one in keys if len({key_slot(key) for key in one}) != 1] == []
        for saver in asked:
            check_slots(client, saver._backend.inner._names)


def check_slots(client, names):
    """The keys that a thread has left, those included that a script has made up, are in the slot of the thread."""
    slots = {key_slot(key) for key in client.scan_iter(match=f"{{{names.prefix}:{T}}}*", count=1000)}
    assert slots <= {key_slot(names.of_thread(T)[0])}


def test_the_async_saver_works_on_a_cluster_too(cluster, portal):
    prefixes = count()

    async def connected():
        return await redis.asyncio.cluster.RedisCluster(host="127.0.0.1", port=cluster.port).initialize()

    client = portal.run(connected())

    async def opened(**options):
        return AsyncRedisSaver(client, prefix=f"async {next(prefixes)}", **options)

    for check in CHECKS[::4]:
        check(savers.World(lambda **options: savers.BlockingSaver(portal.run(opened(**options)), portal)))
    portal.run(client.aclose())


def test_a_store_works_on_a_cluster_too(cluster):
    with RedisCluster(host="127.0.0.1", port=cluster.port) as client:
        store = RedisStore(client, prefix="store")
        store.put(("users", "ana"), "likes", {"text": "tea"})
        store.put(("users", "bo"), "likes", {"text": "coffee"})
        assert [item.value["text"] for item in store.search(("users",), filter={"text": "tea"})] == ["tea"]
        assert store.list_namespaces() == [("users", "ana"), ("users", "bo")]
        store.delete(("users", "ana"), "likes")
        assert store.get(("users", "ana"), "likes") is None
        assert len({key_slot(key) for key in client.scan_iter(match="*store*")}) == 1


def test_a_cache_works_on_a_cluster_too(cluster, portal):
    keys = [((label,), "k") for label in ("a", "b", "c")]

    async def of_async():
        client = redis.asyncio.cluster.RedisCluster(host="127.0.0.1", port=cluster.port)
        async with client:
            found = [await RedisCache(client, prefix="cache").aget(keys)]
            await RedisCache(client, prefix="cache").aclear()
            return [*found, await RedisCache(client, prefix="cache").aget(keys)]

    with RedisCluster(host="127.0.0.1", port=cluster.port) as client:
        cache = RedisCache(client, prefix="cache")
        cache.set({key: (at, None) for at, key in enumerate(keys)})
        cache.clear([("b",)])
        assert cache.get(keys) == {keys[0]: 0, keys[2]: 2}
        assert portal.run(of_async()) == [{keys[0]: 0, keys[2]: 2}, {}]


def test_a_thread_may_have_braces_in_its_name():
    for name in ("}", "{", "a}b{c}", "{}"):
        assert len({key_slot(key) for key in [*Names("p").of_thread(name), Names("p").of_lineage(name, 7)]}) == 1
