"""Effects, performed with redis-py."""

import socket
from collections.abc import Sequence
from functools import cache
from queue import Empty, LifoQueue
from typing import Any, TypeVar

import redis
from redis.client import NEVER_DECODE
from redis.exceptions import NoScriptError

from signoff._redis.allowed import asking, heard
from signoff._redis.effects import Ask, AskAll, Part, Run, Script
from signoff._redis.failures import (
    CLUSTER,
    NOT_THERE,
    closed_client,
    cluster_unavailable,
    is_read_only,
    not_a_client,
    not_an_address,
    translated,
    unavailable,
)
from signoff.steps import Steps, drive

__all__ = ["Connection", "Effect", "RAW", "checked_answers", "in_utf8", "options_for", "parts_of"]

T = TypeVar("T")

Effect = Run | Ask | AskAll

MOST_CONNECTIONS = 50
"""How many connections a client made of an address has at most; whoever needs another one waits for it."""

KEPT_ALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 60_000}
"""A server that has gone without a word is noticed within a minute, where the system knows these; not never."""

RAW: dict[str, Any] = {NEVER_DECODE: []}
"""Whatever the client's owner prefers, the procedures want bytes."""


class Connection:
    """Performs procedures on a client. Threads may share it: the client has a pool of connections.

    client: a redis.Redis or redis.cluster.RedisCluster, or an address.
    """

    def __init__(self, client: "str | redis.Redis") -> None:
        self._address = client if isinstance(client, str) else None
        self.client: Any = client if self._address is None else _client_at(self._address)
        if not hasattr(self.client, "execute_command") or hasattr(self.client, "aclose"):
            raise not_a_client(client, "redis.Redis")
        self._allowed: set[Script] = set()
        self._is_closed = False

    def run(self, steps: Steps[T]) -> T:
        """Run a procedure to its end."""
        return drive(steps, self.perform)

    def perform(self, effect: Effect) -> Any:
        """Do what a procedure asks; if the connection dies, once more on a new one."""
        try:
            return self._twice(effect)
        except NOT_THERE as error:
            raise unavailable(error) from error
        except CLUSTER as error:
            raise cluster_unavailable(error) from error
        except redis.ResponseError as error:
            self._allowed.clear()  # rights may have been taken away
            known = translated(error)
            if known is error:
                raise
            raise known from error
        except Exception:
            raise
        except BaseException:
            self._begin_anew()
            raise
        finally:
            if self._is_closed:  # by somebody else, while this was under way
                self._let_go()

    def close(self) -> None:
        """Close the client if it was made here; one that was given is its owner's.

        What others just ask comes to its end: the client itself would break it off, and connect once more for it.
        """
        if self._address is not None:
            self._is_closed = True
            self._let_go()

    def _let_go(self) -> None:
        """Disconnect what nobody uses."""
        for pool in _pools_of(self.client):
            _drop_idle(pool)

    def _begin_anew(self) -> None:
        """A signal was heard, perhaps between a command and its answer: whoever had that connection next would take
        the answer for its own. Or the pool has lost count of one that it was about to give."""
        self._let_go()
        if self._address is not None:
            self.client = _client_at(self._address)
        elif (lone := getattr(self.client, "connection", None)) is not None:
            lone.disconnect()

    def _twice(self, effect: Effect) -> Any:
        try:
            return self._perform(effect)
        except NOT_THERE:
            pass
        except redis.ResponseError as error:
            if not is_read_only(error):  # another connection may lead to the server that has taken over
                raise
        if hasattr(self.client, "connection_pool"):  # a cluster has several, and looks after them itself
            _drop_idle(self.client.connection_pool)  # what killed this connection killed the others, too
        return self._perform(effect)

    def _perform(self, effect: Effect) -> Any:
        if self._is_closed:
            raise closed_client()
        if isinstance(effect, Ask):
            return self.client.execute_command(effect.command[0], *in_utf8(effect.command[1:]), **RAW)
        if isinstance(effect, AskAll):
            return self._asked_at_once(effect)
        if effect.script.could_be_cut_off and effect.script not in self._allowed:
            heard(self._evaluated(asking(effect)))
            self._allowed.add(effect.script)
        return self._evaluated(effect)

    def _asked_at_once(self, effect: AskAll) -> Any:
        if not hasattr(self.client, "connection_pool"):  # a cluster: another server answers each
            return [self._perform(Ask(command)) for command in effect.commands]
        trip = self.client.pipeline(transaction=False)
        for name, *parts in effect.commands:
            trip.execute_command(name, *in_utf8(parts), **RAW)
        return checked_answers(trip.execute(raise_on_error=False))

    def _evaluated(self, effect: Run) -> Any:
        digest, parts = effect.script.digest.encode(), parts_of(effect)
        try:
            return self.client.execute_command("EVALSHA", digest, *parts, **RAW)
        except NoScriptError:  # the first time, or a server that was started again: it was not run
            return self.client.execute_command("EVAL", effect.script.source.encode(), *parts, **RAW)


def _client_at(address: str) -> "redis.Redis":
    try:
        pool = redis.BlockingConnectionPool.from_url(address, **options_for(address))
    except ValueError as error:
        raise not_an_address(error) from error
    return redis.Redis.from_pool(pool)


def _pools_of(client: Any) -> list[Any]:
    """All pools of a client: a cluster has one for each server."""
    if hasattr(client, "connection_pool"):
        return [client.connection_pool]
    clients = [node.redis_connection for node in client.get_nodes()]
    return [one.connection_pool for one in clients if one is not None]


def _drop_idle(pool: Any) -> None:
    if isinstance(pool, redis.BlockingConnectionPool):
        _drop_idle_of(pool.pool)
    else:
        pool.disconnect(inuse_connections=False)


def _drop_idle_of(places: "LifoQueue[Any]") -> None:
    """Disconnect what nobody uses. The pool itself would do that while another thread takes one, and uses it."""
    idle = []
    try:
        while (connection := places.get_nowait()) is not None:
            idle.append(connection)
            connection.disconnect()
        places.put_nowait(None)  # room for one more, under which there is only room
    except Empty:
        pass
    finally:
        for connection in idle:
            places.put_nowait(connection)


def options_for(address: str) -> dict[str, Any]:
    """How a client is made of an address, if that says nothing else."""
    options = {"max_connections": MOST_CONNECTIONS, "timeout": None, **greeting()}
    if address.startswith("unix:"):
        return options
    known = {getattr(socket, name): value for name, value in KEPT_ALIVE.items() if hasattr(socket, name)}
    return {**options, "socket_keepalive": True, "socket_keepalive_options": known}


@cache
def greeting() -> dict[str, Any]:
    """What a connection says of itself. If it is not told, it reads the version of redis-py from disk each time."""
    info = getattr(redis, "DriverInfo", None)  # older ones have none
    return {} if info is None else {"driver_info": info()}


def parts_of(effect: Run) -> list[Part]:
    """What stands behind the script in a command."""
    return [len(effect.keys), *in_utf8(effect.keys), *in_utf8(effect.args)]


def checked_answers(answers: list[Any]) -> list[Any]:
    """What many commands were answered; the first refusal among it is raised."""
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
    return answers


def in_utf8(parts: Sequence[Part]) -> list[Part]:
    """Texts as they are stored. The client itself would encode them as its owner prefers."""
    return [part.encode() if isinstance(part, str) else part for part in parts]
