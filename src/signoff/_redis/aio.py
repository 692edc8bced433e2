"""Effects, performed with redis-py for asyncio. The same as connection.py, in the same order."""

import asyncio
from typing import Any, TypeVar

import redis
import redis.asyncio
from redis.exceptions import NoScriptError

from signoff._forks import left, watch
from signoff._loops import Home, LoopNotRunning, to_its_end
from signoff._redis.allowed import asking, heard
from signoff._redis.connection import RAW, Effect, checked_answers, in_utf8, options_for, parts_of
from signoff._redis.effects import Ask, AskAll, Run, Script
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
from signoff.steps import Steps, adrive

__all__ = ["AsyncConnection"]

T = TypeVar("T")


class AsyncConnection:
    """Performs procedures on a client. Tasks may share it: the client has a pool of connections.

    Those of other event loops are answered from the one that it was made in.

    client: a redis.asyncio.Redis or redis.asyncio.cluster.RedisCluster, or an address.
    """

    def __init__(self, client: "str | redis.asyncio.Redis") -> None:
        self._address = client if isinstance(client, str) else None
        self.client: Any = client if self._address is None else _client_at(self._address)
        if not hasattr(self.client, "execute_command") or not hasattr(self.client, "aclose"):
            raise not_a_client(client, "redis.asyncio.Redis")
        self._allowed: set[Script] = set()
        self._is_closed = False
        self._home = Home(self._begin_anew)
        watch(self)

    def after_fork(self) -> None:
        """In a forked child: connect anew. The client would go on with the parent's connections; the sync one sees to
        that itself."""
        refusing = left(self.client)
        self.client = refusing if self._address is None else _client_at(self._address)
        self._home = Home(self._begin_anew)

    def _begin_anew(self) -> None:
        """The event loop has ended, and the connections with it."""
        if self._address is None:
            raise LoopNotRunning(
                "The event loop that the Redis client was used in does not run any more, and its connections do not "
                "work in another one: make the client in the loop that uses it, or give its address instead."
            )
        self.client = _client_at(self._address)

    async def run(self, steps: Steps[T]) -> T:
        """Run a procedure to its end."""
        return await adrive(steps, self.perform)

    async def perform(self, effect: Effect) -> Any:
        """Do what a procedure asks; if the connection dies, once more on a new one."""
        task = asyncio.current_task()
        before = task.cancelling() if task is not None else 0
        try:
            found = await self._home.run(self._answered, effect)
            if task is not None and task.cancelling() > before:
                raise asyncio.CancelledError  # the client swallows that now and then
            return found
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

    async def close(self) -> None:
        """Close the client if it was made here; one that was given is its owner's.

        What others just ask comes to its end: the client itself would break it off, and connect once more for it.
        """
        if self._address is not None:
            self._is_closed = True
            await to_its_end(self._drop_idle)

    async def _answered(self, effect: Effect) -> Any:
        try:
            return await self._twice(effect)
        finally:
            if self._is_closed:  # by somebody else, while this was under way
                await to_its_end(self._drop_idle)

    async def _twice(self, effect: Effect) -> Any:
        try:
            return await self._perform(effect)
        except NOT_THERE:
            pass
        except redis.ResponseError as error:
            if not is_read_only(error):  # another connection may lead to the server that has taken over
                raise
        await self._drop_idle()  # what killed this connection killed the others, too
        return await self._perform(effect)

    async def _drop_idle(self) -> None:
        pool = getattr(self.client, "connection_pool", None)  # a cluster has several, and looks after them itself
        if pool is not None:
            await pool.disconnect(inuse_connections=False)

    async def _perform(self, effect: Effect) -> Any:
        if self._is_closed:
            raise closed_client()
        if isinstance(effect, Ask):
            return await self.client.execute_command(effect.command[0], *in_utf8(effect.command[1:]), **RAW)
        if isinstance(effect, AskAll):
            return await self._asked_at_once(effect)
        if effect.script.could_be_cut_off and effect.script not in self._allowed:
            heard(await self._evaluated(asking(effect)))
            self._allowed.add(effect.script)
        return await self._evaluated(effect)

    async def _asked_at_once(self, effect: AskAll) -> Any:
        if not hasattr(self.client, "connection_pool"):
            return [await self._perform(Ask(command)) for command in effect.commands]
        trip = self.client.pipeline(transaction=False)
        for name, *parts in effect.commands:
            trip.execute_command(name, *in_utf8(parts), **RAW)
        return checked_answers(await trip.execute(raise_on_error=False))

    async def _evaluated(self, effect: Run) -> Any:
        digest, parts = effect.script.digest.encode(), parts_of(effect)
        try:
            return await self.client.execute_command("EVALSHA", digest, *parts, **RAW)
        except NoScriptError:
            return await self.client.execute_command("EVAL", effect.script.source.encode(), *parts, **RAW)


def _client_at(address: str) -> "redis.asyncio.Redis":
    try:
        pool = redis.asyncio.BlockingConnectionPool.from_url(address, **options_for(address))
    except ValueError as error:
        raise not_an_address(error) from error
    return redis.asyncio.Redis.from_pool(pool)
