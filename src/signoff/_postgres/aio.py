"""Effects, performed with psycopg for asyncio. The same as connection.py and sources.py, in the same order."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import psycopg
from psycopg.rows import tuple_row

from signoff._forks import left, watch
from signoff._loops import Home, LoopNotRunning
from signoff._postgres.connection import BEGIN, COMMIT, NUMBER, has_rows, joined
from signoff._postgres.effects import Begin, Commit, Execute, Give, Read, Rollback, Row, Take, Write
from signoff._postgres.failures import (
    NO_CONNECTION,
    cannot_connect,
    closed_connection,
    closed_pool,
    is_read_only,
    no_connection_left,
    open_transaction,
    translated,
)
from signoff._postgres.health import is_alive, is_idle, is_piped, was_closed
from signoff._postgres.sources import MOST_CONNECTIONS, OPTIONS, again_as, checked_address, not_a_source
from signoff._postgres.wire import OwnAsyncConnection, answer
from signoff.steps import Steps, adrive

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

__all__ = ["AsyncConnection", "AsyncSession"]

T = TypeVar("T")

Conn = psycopg.AsyncConnection[Any]


class AsyncConnection:
    """Performs procedures, each on a connection that has no other user meanwhile. Tasks may share it.

    Those of other event loops are answered from the one that it was made in.

    conn: an address, a psycopg.AsyncConnection or a psycopg_pool.AsyncConnectionPool.
    """

    def __init__(self, conn: "str | Conn | AsyncConnectionPool[Any]") -> None:
        self._source = source_of(conn)

    async def run(self, steps: Steps[T]) -> T:
        """Run a procedure to its end."""
        return await adrive(steps, self.session().perform)

    def session(self) -> "AsyncSession":
        """What performs the effects of one procedure, for a shell that performs others besides."""
        return AsyncSession(self._source)

    async def close(self) -> None:
        """Close the connections that were opened here; a connection or pool that was given is its owner's."""
        await self._source.close()


class AsyncSession:
    """Performs the effects of one procedure."""

    __slots__ = ("_autocommit", "_conn", "_source")

    def __init__(self, source: "Source") -> None:
        self._source = source
        self._conn: Any = None
        self._autocommit = True

    async def perform(self, effect: Any) -> Any:
        """Do what a procedure asks."""
        return await self._source.home.run(self._perform, effect)

    async def _perform(self, effect: Any) -> Any:
        try:
            return await _PERFORM[type(effect)](self, effect)
        except (psycopg.Error, UnicodeError) as error:
            known = translated(error, self._conn is None or self._conn.closed)
            if known is error:
                raise
            if is_read_only(error) and isinstance(self._conn, OwnAsyncConnection):
                await self._conn.close()
            raise known from error

    async def take(self, effect: Take) -> None:
        assert self._conn is None, "a procedure has one connection at a time"
        conn = await self._source.take()
        if not is_idle(conn):
            await self._source.give(conn)
            raise open_transaction()
        self._conn, self._autocommit = conn, conn.autocommit
        if not self._autocommit:
            await conn.set_autocommit(True)

    async def give(self, effect: Give) -> None:
        conn, self._conn = self._conn, None
        if not conn.closed:
            if not is_idle(conn):
                await conn.close()
            elif not self._autocommit:
                await conn.set_autocommit(False)
        await self._source.give(conn)

    async def execute(self, effect: Execute) -> list[Row]:
        async with self._conn.lock:
            rows: list[Row] = await self._conn.wait(answer(self._conn, effect))
            return rows

    async def write(self, effect: Write) -> list[list[Row]]:
        if len(effect.statements) == 1:
            return [await self.execute(effect.statements[0])]
        async with psycopg.AsyncClientCursor(self._conn, row_factory=tuple_row) as cursor:
            await cursor.execute(*joined(effect.statements))
            results = [await _rows(cursor)]
            while cursor.nextset():
                results.append(await _rows(cursor))
            return results

    async def read(self, effect: Read) -> list[list[Row]]:
        if len(effect.statements) == 1:
            return [await self.execute(effect.statements[0])]
        try:
            return await self._read_at_once(effect.statements)
        except BaseException:
            await self.rollback(None)
            raise

    async def _read_at_once(self, statements: Sequence[Execute]) -> list[list[Row]]:
        conn = self._conn
        cursors = []
        async with conn.pipeline():
            await conn.execute(BEGIN["read"], prepare=False)
            for statement in statements:
                cursor = conn.cursor(row_factory=tuple_row)
                await cursor.execute(statement.sql, statement.params, prepare=False, binary=True)
                cursors.append(cursor)
            await conn.execute(COMMIT, prepare=False)
        return [await _rows(cursor) for cursor in cursors]

    async def begin(self, effect: Begin) -> int | None:
        if effect.kind == "read":
            await self._conn.execute(BEGIN["read"], prepare=False)
            return None
        rows = await self.write(Write((Execute(BEGIN["write"]), Execute(NUMBER))))
        number: int = rows[1][0][0]
        return number

    async def commit(self, effect: Commit) -> None:
        await self._conn.execute(COMMIT, prepare=False)

    async def rollback(self, effect: Rollback | None) -> None:
        if not self._conn.closed and not is_idle(self._conn):
            await self._conn.rollback()


_PERFORM: dict[type, Callable[[AsyncSession, Any], Awaitable[Any]]] = {
    Execute: AsyncSession.execute,
    Write: AsyncSession.write,
    Read: AsyncSession.read,
    Take: AsyncSession.take,
    Give: AsyncSession.give,
    Begin: AsyncSession.begin,
    Commit: AsyncSession.commit,
    Rollback: AsyncSession.rollback,
}


async def _rows(cursor: Any) -> list[Row]:
    rows: list[Row] = await cursor.fetchall() if has_rows(cursor) else []
    return rows


class Source(Protocol):
    """Gives connections that work, each to one user at a time."""

    home: Home

    async def take(self) -> Conn: ...
    async def give(self, conn: Conn) -> None: ...
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
        self._places = asyncio.BoundedSemaphore(MOST_CONNECTIONS)

    def after_fork(self) -> None:
        """In a forked child: open connections of its own."""
        left(self._spare)
        self._begin()

    async def take(self) -> Conn:
        if self._is_closed:
            raise closed_connection()
        await self._places.acquire()
        try:
            return await self._alive() or await OwnAsyncConnection.connect(self._conn_string, **OPTIONS)
        except NO_CONNECTION as error:
            self._places.release()
            raise cannot_connect(error) from error
        except BaseException:
            self._places.release()
            raise

    async def give(self, conn: Conn) -> None:
        if self._is_closed:
            await conn.close()
        elif not conn.closed:
            self._spare.append(conn)
        self._places.release()

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
        self._lock = asyncio.Lock()

    def after_fork(self) -> None:
        self._conn, self._is_own = left(self._conn), False
        self._begin()

    async def take(self) -> Conn:
        await self._lock.acquire()
        try:
            if is_piped(self._conn):
                self._conn, self._is_own = await psycopg.AsyncConnection.connect(**self._options), True
            elif not is_alive(self._conn):
                self._conn, self._is_own, self._is_lost = await self._replaced(), True, False
            return self._conn
        except BaseException as error:
            self._lock.release()
            raise cannot_connect(error) if isinstance(error, NO_CONNECTION) else error from error

    async def give(self, conn: Conn) -> None:
        self._is_lost = conn.closed
        self._lock.release()

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

    async def give(self, conn: Conn) -> None:
        await self._pool.putconn(conn)

    async def close(self) -> None:
        """The pool is its owner's to close."""

    async def _alive(self) -> Conn:
        while True:
            conn: Conn = await self._pool.getconn()
            if is_alive(conn):
                return conn
            await conn.close()
            await self._pool.putconn(conn)
