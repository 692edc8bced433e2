"""Where connections come from, on an event loop. The same as sources.py, in the same order."""

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

import psycopg

from signoff._forks import left, watch
from signoff._loops import Home, LoopNotRunning, to_its_end
from signoff._postgres.failures import (
    NO_CONNECTION,
    cannot_connect,
    closed_connection,
    closed_pool,
    no_connection_left,
)
from signoff._postgres.health import is_alive, is_piped, was_closed
from signoff._postgres.sources import MOST_CONNECTIONS, OPTIONS, again_as, checked_address, not_a_source
from signoff._postgres.wire import OwnAsyncConnection

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

__all__ = ["Conn", "Source", "source_of"]

Conn = psycopg.AsyncConnection[Any]


class Source(Protocol):
    """Gives connections that work, each to one user at a time."""

    home: Home
    turns: Any
    """Who has a connection has one of these, or had one of those in a loop that has ended."""

    async def take(self) -> Conn: ...
    async def give(self, conn: Conn, turns: Any) -> None: ...
    async def close(self) -> None: ...


def source_of(conn: "str | Conn | AsyncConnectionPool[Any]") -> Source:
    """The source that an address, a connection or a pool is."""
    if isinstance(conn, str):
        return _Address(checked_address(conn))
    if isinstance(conn, psycopg.AsyncConnection):
        return _One(conn)
    if hasattr(conn, "getconn"):
        return _Pool(conn)
    raise not_a_source(conn, "psycopg.AsyncConnection", "AsyncConnectionPool")


class _Address:
    def __init__(self, conn_string: str) -> None:
        self._conn_string = conn_string
        self._is_closed = False
        self._begin()
        watch(self)

    def _begin(self) -> None:
        self._spare: deque[Conn] = deque()
        self._begin_anew()
        self.home = Home(self._begin_anew)

    def _begin_anew(self) -> None:
        self.turns = asyncio.BoundedSemaphore(MOST_CONNECTIONS)

    def after_fork(self) -> None:
        """In a forked child: open connections of its own."""
        left(self._spare)
        self._begin()

    async def take(self) -> Conn:
        if self._is_closed:
            raise closed_connection()
        await self.turns.acquire()
        try:
            return await self._alive() or await OwnAsyncConnection.connect(self._conn_string, **OPTIONS)
        except NO_CONNECTION as error:
            self.turns.release()
            raise cannot_connect(error) from error
        except BaseException:
            self.turns.release()
            raise

    async def give(self, conn: Conn, turns: Any) -> None:
        if self._is_closed or turns is not self.turns:
            await conn.close()
        elif not conn.closed:
            self._spare.append(conn)
        if turns is self.turns:
            turns.release()

    async def close(self) -> None:
        self._is_closed = True
        while self._spare:
            await self._spare.pop().close()

    async def _alive(self) -> Conn | None:
        while self._spare:
            conn = self._spare.pop()
            if is_alive(conn):
                return conn
            await conn.close()
        return None


class _One:
    def __init__(self, conn: Conn) -> None:
        self._conn, self._is_own, self._is_lost = conn, False, False
        self._options = again_as(conn)
        self._begin()
        watch(self)

    def _begin(self) -> None:
        self._begin_anew()
        self.home = Home(self._begin_anew)

    def _begin_anew(self) -> None:
        self.turns = asyncio.Lock()

    def after_fork(self) -> None:
        self._conn, self._is_own = left(self._conn), False
        self._begin()

    async def take(self) -> Conn:
        await self.turns.acquire()
        try:
            if is_piped(self._conn):
                self._conn, self._is_own = await psycopg.AsyncConnection.connect(**self._options), True
            elif not is_alive(self._conn):
                self._conn, self._is_own, self._is_lost = await self._replaced(), True, False
            return self._conn
        except BaseException as error:
            self.turns.release()
            raise cannot_connect(error) if isinstance(error, NO_CONNECTION) else error from error

    async def give(self, conn: Conn, turns: Any) -> None:
        self._is_lost = conn.closed
        if turns is self.turns:
            turns.release()

    async def close(self) -> None:
        if self._is_own:
            await self._conn.close()

    async def _replaced(self) -> Conn:
        if not self._is_lost and was_closed(self._conn):
            raise closed_connection()
        self._is_lost = True
        await self._conn.close()
        return await psycopg.AsyncConnection.connect(**self._options)


class _Pool:
    def __init__(self, pool: "AsyncConnectionPool[Any]") -> None:
        self._pool = pool
        self.turns = None  # it sees to that itself
        self.home = Home(self._begin_anew)
        watch(self)

    def _begin_anew(self) -> None:
        raise LoopNotRunning(
            "The event loop that the pool was opened in does not run any more, and it works in no other: open it in "
            "the loop that uses it, or give its address instead."
        )

    def after_fork(self) -> None:
        self.home = Home(self._begin_anew)
        if not self._pool.closed:  # else it may still be opened, in each process
            self._pool = left(self._pool)

    async def take(self) -> Conn:
        from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

        try:
            return await self._alive()
        except PoolClosed as error:
            raise closed_pool(error) from error
        except (PoolTimeout, TooManyRequests) as error:
            raise no_connection_left(error) from error

    async def give(self, conn: Conn, turns: Any) -> None:
        await to_its_end(self._pool.putconn, conn)  # one who is cancelled while others are before him would lose it

    async def close(self) -> None:
        """The pool is its owner's to close."""

    async def _alive(self) -> Conn:
        while True:
            conn: Conn = await self._pool.getconn()
            if is_alive(conn):
                return conn
            await conn.close()
            await self.give(conn, self.turns)
