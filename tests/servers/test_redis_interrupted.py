"""Ctrl-C, or a handler of SIGTERM that raises, at any moment of a command: nobody is given an answer to another one."""

from itertools import count

import pytest
import redis

from interrupting import interrupted_at
from servers.redis import RedisServer
from signoff._redis.connection import MOST_CONNECTIONS, Connection
from signoff._redis.effects import Ask, AskAll, Run, Script

# A pipeline that is left in its middle says so.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.usefixtures("collected"),
]

GET = Script("return redis.call('GET', KEYS[1])")
EFFECTS = {
    "script": lambda key: Run(GET, (key,)),
    "command": lambda key: Ask(("GET", key)),
    "commands": lambda key: AskAll([("GET", key), ("GET", key)]),
}
CLIENTS = {
    "client": redis.Redis.from_url,
    "blocking": lambda url: redis.Redis.from_pool(redis.BlockingConnectionPool.from_url(url)),
    "alone": lambda url: redis.Redis.from_url(url, single_connection_client=True),
}


@pytest.fixture(autouse=True)
def answers_are_late(monkeypatch):
    """What was not read of an answer has not come yet, when a pool looks whether there is any."""
    monkeypatch.setattr(redis.connection.AbstractConnection, "can_read", lambda self, timeout=0: False)


@pytest.fixture
def keys(redis_url, redis_prefix):
    keys = {name: f"{redis_prefix}-{name}" for name in ("asked", "next", "last")}
    with redis.Redis.from_url(redis_url) as client:
        client.mset({key: name for name, key in keys.items()})
    return keys


def check_every_moment(room, keys, effect, files=("/redis/", "signoff")):
    for moment in count(1):
        is_cut_off = interrupted_at(moment, files, lambda: room.perform(effect(keys["asked"])))
        found = [room.perform(EFFECTS["command"](keys[name])) for name in ("next", "last")]
        assert found == [b"next", b"last"], f"at moment {moment}"
        if not is_cut_off:
            break
    return moment


@pytest.mark.parametrize("effect", EFFECTS.values(), ids=EFFECTS)
def test_no_answer_is_taken_for_that_of_the_next_command(redis_url, keys, effect):
    room = Connection(redis_url)
    assert check_every_moment(room, keys, effect) > 50
    room.close()


@pytest.mark.parametrize("client", CLIENTS.values(), ids=CLIENTS)
def test_no_answer_is_taken_for_that_of_the_next_command_with_a_client_of_the_users(redis_url, keys, client):
    with client(redis_url) as given:
        check_every_moment(Connection(given), keys, EFFECTS["script"], ["/redis/client.py", "/redis/retry.py"])


def test_no_place_of_the_pool_is_lost(redis_url, keys):
    room = Connection(redis_url)
    for moment in count(1):
        is_cut_off = interrupted_at(moment, ["/redis/"], lambda: room.perform(EFFECTS["command"](keys["asked"])))
        assert room.client.connection_pool.pool.qsize() == MOST_CONNECTIONS, f"at moment {moment}"
        if not is_cut_off:
            break
    room.close()


def test_no_answer_is_taken_for_that_of_the_next_command_of_a_cluster(keys):
    server = RedisServer.new_cluster()
    try:
        with redis.RedisCluster("127.0.0.1", server.port) as client:
            client.mset_nonatomic({key: name for name, key in keys.items()})
            check_every_moment(Connection(client), keys, EFFECTS["script"], ["/redis/client.py", "/redis/cluster.py"])
    finally:
        server.remove()
