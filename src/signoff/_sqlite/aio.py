"""Effects, performed on an aiosqlite connection."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from signoff._sqlite.connection import Connection, open_transaction
from signoff._sqlite.effects import Acquire, Release
from signoff.errors import InvalidInput, SignoffError

if TYPE_CHECKING:
    import aiosqlite

__all__ = ["AsyncConnection", "SyncCallInLoop", "in_its_thread", "performer_of", "wait_for"]

T = TypeVar("T")


class SyncCallInLoop(SignoffError, asyncio.InvalidStateError):
    """A sync method was called where it would have waited for its own event loop for ever."""


class AsyncConnection:
    """Performs effects one by one, so that a procedure may await other things between them."""

    def __init__(self, conn: "aiosqlite.Connection") -> None:
        self.conn = conn
        self.lock = asyncio.Lock()
        self._performer: Connection | None = None

    async def perform(self, effect: Any) -> Any:
        """Do what a procedure asks."""
        if isinstance(effect, Acquire):
            return await self._acquire()
        if isinstance(effect, Release):
            return self.lock.release()
        if self._performer is None:
            self._performer = performer_of(self.conn)
        return await in_its_thread(self.conn, self._performer.perform, effect)

    async def _acquire(self) -> None:
        await self.lock.acquire()
        if self.conn.in_transaction:
            self.lock.release()
            raise open_transaction()


async def in_its_thread(conn: "aiosqlite.Connection", function: Callable[..., T], *args: Any) -> T:
    """Call a function in the thread of the connection. If the caller is cancelled, it still runs to its end.

    A whole transaction in one go costs one trip between threads instead of one for each statement, and cannot
    be cut in half. aiosqlite makes each of its own methods in this way, but has no public name for it.
    """
    call: Callable[..., Awaitable[T]] = conn._execute
    return await call(function, *args)


def performer_of(conn: "aiosqlite.Connection") -> Connection:
    """What performs effects in the thread of the connection."""
    try:
        return Connection(conn._conn)
    except ValueError as error:
        raise InvalidInput(
            "The connection is not open: use `async with aiosqlite.connect(...) as conn`, or await it first."
        ) from error


def wait_for(coroutine: Coroutine[Any, Any, T], loop: asyncio.AbstractEventLoop, owner: object) -> T:
    """The result of a coroutine of another thread's event loop."""
    if _running_loop() is loop:
        coroutine.close()
        raise SyncCallInLoop(
            f"A sync method of {type(owner).__name__} was called inside its event loop, which it would wait "
            "for for ever: await the async one (aget, aput, ...), or call it with asyncio.to_thread."
        )
    return asyncio.run_coroutine_threadsafe(coroutine, loop).result()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
