"""Effects, performed with psycopg for asyncio. The same as connection.py, in the same order."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg.rows import tuple_row

from signoff._postgres.aio_sources import Conn, Source, source_of
from signoff._postgres.connection import BEGIN, COMMIT, NUMBER, has_rows, joined
from signoff._postgres.effects import GIVE, Begin, Commit, Execute, Give, Read, Rollback, Row, Take, Write
from signoff._postgres.failures import is_read_only, translated
from signoff._postgres.health import is_cut_off, is_idle
from signoff._postgres.sources import check_fit
from signoff._postgres.wire import OwnAsyncConnection, answer
from signoff.steps import Steps, adrive

if TYPE_CHECKING:
    from psycopg_pool import AsyncConnectionPool

__all__ = ["AsyncConnection", "AsyncSession"]

T = TypeVar("T")


class AsyncConnection:
    """Performs procedures, each on a connection that has no other user meanwhile. Tasks may share it.

    Those of other event loops are answered from the one that it was made in.

    conn: an address, a psycopg.AsyncConnection or a psycopg_pool.AsyncConnectionPool.
    """

    def __init__(self, conn: "str | Conn | AsyncConnectionPool[Any]") -> None:
        self._source = source_of(conn)

    async def run(self, steps: Steps[T]) -> T:
        """Run a procedure to its end."""
        session = self.session()
        try:
            return await adrive(steps, session.perform)
        finally:
            await session.end()

    def session(self) -> "AsyncSession":
        """What performs the effects of one procedure, for a shell that performs others besides, and that ends it."""
        return AsyncSession(self._source)

    async def close(self) -> None:
        """Close the connections that were opened here; a connection or pool that was given is its owner's."""
        await self._source.close()


class AsyncSession:
    """Performs the effects of one procedure."""

    __slots__ = ("_autocommit", "_conn", "_source", "_turns")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._conn: Any = None
        self._turns: Any = None
        self._autocommit = True

    async def perform(self, effect: Any) -> Any:
        """Do what a procedure asks."""
        return await self._source.home.run(self._perform, effect)

    async def end(self) -> None:
        """Let go of what the procedure has; also if it was left in its middle, when it was cancelled."""
        if self._conn is not None:
            await self.perform(GIVE)

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
        self._turns = self._source.turns
        try:
            check_fit(conn)
        except BaseException:
            await self._source.give(conn, self._turns)
            raise
        self._conn, self._autocommit = conn, conn.autocommit
        if not self._autocommit:
            await conn.set_autocommit(True)

    async def give(self, effect: Give) -> None:
        conn, self._conn = self._conn, None
        try:
            if not conn.closed:
                if not is_idle(conn):
                    await conn.close()
                elif not self._autocommit:
                    await conn.set_autocommit(False)
        finally:
            await self._source.give(conn, self._turns)

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
                cursor = psycopg.AsyncCursor(conn, row_factory=tuple_row)
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
        if is_cut_off(self._conn):
            await self._conn.close()
        elif not self._conn.closed and not is_idle(self._conn):
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
