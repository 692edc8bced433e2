"""Effects, performed on an aiosqlite connection."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from signoff._extras import needing
from signoff._forks import left, watch
from signoff._loops import Home, LoopNotRunning, begun, loop_of
from signoff._sqlite.connection import Connection, connect, open_transaction
from signoff._sqlite.effects import Acquire, Read, Release, Rollback, WriteOne
from signoff._sqlite.explaining import check_connection
from signoff._sqlite.side_by_side import Running
from signoff.errors import InvalidInput
from signoff.steps import Steps

if TYPE_CHECKING:
    import aiosqlite

__all__ = ["AsyncConnection", "Lane", "connecting", "in_its_thread", "performer_of"]

T = TypeVar("T")


@asynccontextmanager
async def connecting(conn_string: str | os.PathLike[str]) -> AsyncIterator["aiosqlite.Connection"]:
    """A connection to a file, closed at the end of the `async with` block."""
    with needing("sqlite", "SQLite on an event loop"):
        import aiosqlite

    loop_of("SQLite with aiosqlite", "take the sync saver or store")
    # Opened here, since a thread of aiosqlite's that cannot open its file outlives the event loop that it reports to.
    conn, process = connect(conn_string), os.getpid()
    connection = await aiosqlite.Connection(lambda: conn, iter_chunk_size=64)
    try:
        yield connection
    finally:
        if os.getpid() == process:  # a forked child would wait for ever for a thread that it does not have
            await connection.close()


class AsyncConnection:
    """Performs effects one by one, so that a procedure may await other things between them.

    Those of other event loops are answered from the one that it was made in.
    """

    def __init__(self, conn: "aiosqlite.Connection") -> None:
        check_connection(conn, is_async=True)
        self.conn = conn
        self._performer: Connection | None = None
        self._begin()
        watch(self)

    def _begin(self) -> None:
        self._begin_anew()
        self._home = Home(self._begin_anew)

    def _begin_anew(self) -> None:
        self.lock = asyncio.Lock()
        self._is_behind = False
        """Whether the thread may still do what nobody waits for any more, and a transaction may be open."""

    def after_fork(self) -> None:
        """In a forked child: there is no thread of the connection."""
        self.conn = self._performer = left(self.conn)
        self._begin()

    async def perform(self, effect: Any) -> Any:
        """Do what a procedure asks."""
        if isinstance(effect, Acquire):
            return await self._take()
        if isinstance(effect, Release):
            return self._home.tell(self._release)
        if isinstance(effect, Read | WriteOne):
            return await self._home.run(self._perform_whole, effect)
        try:
            return await self._home.run(self._perform_in_thread, effect)
        except (asyncio.CancelledError, LoopNotRunning):
            self._is_behind = True
            raise

    async def _take(self) -> None:
        taken: list[asyncio.Lock] = []
        try:
            await self._home.run(self._acquire, taken)
        except (asyncio.CancelledError, LoopNotRunning):  # in another loop, that may be heard when it is taken already
            if taken:
                self._home.tell(self._release)
            raise

    def _release(self) -> None:
        """Let others have the connection, but not before its thread has done all that it was told."""
        if not self._is_behind:
            return self.lock.release()
        self._is_behind = False
        return asyncio.ensure_future(self._perform_in_thread(Rollback())).add_done_callback(self._give_back)

    async def _perform_whole(self, effect: Read | WriteOne) -> Any:
        """Perform what is a transaction of its own. Nobody else has the connection before it is over."""
        await self._acquire([])
        trip = asyncio.ensure_future(self._perform_in_thread(effect))
        trip.add_done_callback(self._give_back)
        return await asyncio.shield(trip)

    def _give_back(self, trip: "asyncio.Future[Any]") -> None:
        self.lock.release()
        if not trip.cancelled():
            trip.exception()  # told to whoever has waited for it, if anybody still does

    async def _perform_in_thread(self, effect: Any) -> Any:
        if self._performer is None:
            self._performer = performer_of(self.conn)
        return await in_its_thread(self.conn, self._performer.perform_or_explain, effect)

    async def _acquire(self, taken: list[asyncio.Lock]) -> None:
        await self.lock.acquire()
        refused = self._refused()
        if refused is not None:
            self.lock.release()
            raise refused
        taken.append(self.lock)

    def _refused(self) -> InvalidInput | None:
        try:
            return open_transaction() if self.conn.in_transaction else None
        except InvalidInput as error:  # it is the parent's
            return error
        except ValueError:
            return _closed()


class Lane:
    """Procedures that wait for the thread of a connection: all that have come by then go there in one trip.

    A trip is not cut short when those are cancelled who wait for it.
    """

    def __init__(self, conn: "aiosqlite.Connection", loop: asyncio.AbstractEventLoop) -> None:
        self.conn = conn
        self._loop = loop
        self._performer: Connection | None = None
        self._waiting: list[tuple[Steps[Any], asyncio.Future[Any]]] = []
        self._trip: asyncio.Task[list[Running]] | None = None
        watch(self)

    def after_fork(self) -> None:
        """In a forked child: there is no thread of the connection, and nobody comes back from it."""
        self.conn = self._performer = left(self.conn)
        self._waiting, self._trip = [], None

    async def run(self, steps: Steps[T]) -> T:
        """Run a procedure to its end."""
        if self._performer is None:
            self._performer = performer_of(self.conn)
        if asyncio.get_running_loop() is not self._loop:
            return await in_its_thread(self.conn, self._performer.run, steps)
        future: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append((steps, future))
        if self._trip is None:
            self._set_out()
        return await future

    def _set_out(self) -> None:
        assert self._performer is not None, "found before anybody waits"
        taken, self._waiting = self._waiting, []
        procedures = [steps for steps, _ in taken]
        self._trip = begun(self._loop, in_its_thread, self.conn, self._performer.run_together, procedures)
        self._trip.add_done_callback(lambda trip: self._land(trip, [future for _, future in taken]))

    def _land(self, trip: "asyncio.Task[list[Running]]", futures: Sequence[asyncio.Future[Any]]) -> None:
        self._trip = None
        if self._waiting:
            self._set_out()
        if trip.cancelled():  # the loop is being closed
            for future in futures:
                future.cancel()
            return
        failure = trip.exception()
        for at, future in enumerate(futures):
            if not future.done():  # else nobody waits for it any more
                _settle(future, failure, None if failure else trip.result()[at])


def _settle(future: asyncio.Future[Any], failure: BaseException | None, found: Running | None) -> None:
    error = found.error if found is not None else failure
    if error is not None:
        future.set_exception(error)
    elif found is not None:
        future.set_result(found.result)


async def in_its_thread(conn: "aiosqlite.Connection", function: Callable[..., T], *args: Any) -> T:
    """Call a function in the thread of the connection. If the caller is cancelled, it still runs to its end.

    A whole transaction in one go costs one trip between threads instead of one for each statement, and cannot
    be cut in half. aiosqlite makes each of its own methods in this way, but has no public name for it.
    """
    call: Callable[..., Awaitable[T]] = conn._execute
    try:
        return await call(function, *args)
    except ValueError as error:
        if str(error) == "Connection closed":
            raise _closed() from error
        raise


def performer_of(conn: "aiosqlite.Connection") -> Connection:
    """What performs effects in the thread of the connection."""
    try:
        inner = conn._conn
    except ValueError as error:
        raise _closed() from error
    return Connection(inner)


def _closed() -> InvalidInput:
    return InvalidInput(
        "The connection is closed, or was never opened. Keep it open as long as graphs use it: inside of the "
        "`async with` block of from_conn_string(...) or of aiosqlite.connect(...); or await it first."
    )
