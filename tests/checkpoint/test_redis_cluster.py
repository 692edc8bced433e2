"""On a cluster: every script, every command, and all that they leave behind have their keys in one slot."""

from itertools import count
from operator import add
from typing import Annotated, TypedDict

import pytest
import redis.asyncio.cluster
from redis.cluster import RedisCluster
from redis.crc import key_slot

from servers.redis import RedisServer
from signoff.cache.redis import RedisCache
from signoff.checkpoint.redis import AsyncRedisSaver, RedisSaver
from signoff.checkpoint.redis.names import Names
from signoff.errors import SaverUnavailable
from signoff.graph import START, StateGraph
from signoff.store.base import PutOp
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


@pytest.fixture(scope="module", autouse=True)
def second(cluster):
    """One more server, for what comes last here: by then it is ready."""
    server = cluster.joined_by()
    yield server
    server.remove()


class Recorded(RedisSaver):
    """A saver that remembers with which keys it has asked for what."""

    def __init__(self, client, *, prefix, **named):
        super().__init__(client, prefix=prefix, **named)
        self.asked, self.names = [], Names(prefix)
        perform = self._connection.perform
        self._connection.perform = lambda effect: self.asked.extend(keys_of(effect)) or perform(effect)


def keys_of(effect):
    """The keys of each script or command."""
    if hasattr(effect, "script"):
        return [list(effect.keys)]
    commands = getattr(effect, "commands", None) or [effect.command]
    return [rest if name == "EXISTS" else rest[:1] for name, *rest in commands]


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


class Hasty(RedisCluster):
    """A client that does not wait for long until a slot was moved."""

    RedisClusterRequestTTL = 2


class Moving:
    """Moves a slot from one server to another, as those who look after a cluster do."""

    def __init__(self, source, target, slot):
        self.source, self.target, self.slot = source, target, slot
        self.clients = [redis.Redis.from_url(server.url, decode_responses=False) for server in (source, target)]
        self.names = [client.execute_command("CLUSTER", "MYID") for client in self.clients]
        self.clients[1].execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", self.names[0])
        self.clients[0].execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", self.names[1])

    def move(self, *, every):
        keys = sorted(self.clients[0].execute_command("CLUSTER", "GETKEYSINSLOT", self.slot, 1000))[::every]
        for key in keys:
            self.clients[0].execute_command("MIGRATE", "127.0.0.1", self.target.port, key, 0, 10_000)
        return len(keys)

    def end(self):
        for client in reversed(self.clients):
            client.execute_command("CLUSTER", "SETSLOT", self.slot, "NODE", self.names[1])
            client.close()


@pytest.fixture(scope="module")
def moving(cluster, second):
    """How to begin to move the slot of a key to a server that has some already."""
    second.wait_for_cluster()
    Moving(cluster, second, 0).end()
    return lambda key: Moving(cluster, second, key_slot(key))


def test_a_store_that_is_being_moved_does_not_answer_and_loses_nothing(cluster, moving):
    with Hasty(host="127.0.0.1", port=cluster.port) as client:
        store = RedisStore(client, prefix="moved")
        store.batch([PutOp(("n", str(at)), "k", {"at": at}) for at in range(4)])
        away = moving(b"{moved}")
        for every in (2, 2):
            for work in (
                lambda: store.get(("n", "1"), "k"),
                lambda: store.search(()),
                lambda: store.batch([PutOp(("n", "1"), "k", {"at": "half"}), PutOp(("new",), "k", {})]),
                lambda: RedisStore(client, prefix="moved").list_namespaces(),
            ):
                with pytest.raises(SaverUnavailable, match="cluster does not answer"):
                    work()
            assert away.move(every=every)
        away.move(every=1)
        away.end()
        store.put(("n", "4"), "k", {"at": 4})
        assert [item.value["at"] for item in store.search(())] == [0, 1, 2, 3, 4]


def test_a_thread_that_is_being_moved_does_not_answer_and_loses_nothing(cluster, moving):
    def grow(state):
        return {"said": [len(state["said"])]}

    with Hasty(host="127.0.0.1", port=cluster.port) as client:
        saver, config = RedisSaver(client, prefix="moved"), {"configurable": {"thread_id": "t"}}
        builder = StateGraph(TypedDict("State", {"said": Annotated[list, add]}))
        graph = builder.add_node("grow", grow).add_edge(START, "grow").compile(checkpointer=saver)
        graph.invoke({"said": ["a"]}, config)
        away = moving(Names("moved").of_thread("t")[0])
        for every in (2, 1):
            for work in (
                lambda: graph.get_state(config),
                lambda: graph.invoke({"said": ["b"]}, config),
                lambda: saver.delete_thread("t"),
            ):
                with pytest.raises(SaverUnavailable, match="cluster does not answer"):
                    work()
            assert away.move(every=every)
        away.end()
        assert graph.invoke({"said": ["b"]}, config) == {"said": ["a", 1, "b", 3]}
