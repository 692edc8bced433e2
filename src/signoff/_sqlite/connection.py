"""Effects, performed on a sqlite3 connection."""

import os
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, TypeVar

from signoff._forks import free, left, watch
from signoff._locks import Lock
from signoff._sqlite.effects import (
    BEGIN_WRITE,
    Acquire,
    Execute,
    ExecuteMany,
    Expect,
    Find,
    Read,
    Release,
    Rollback,
    Row,
    Write,
    WriteOne,
)
from signoff._sqlite.explaining import WITH_REMEDY, check_connection, explained, file_named, opening
from signoff._sqlite.numbered import CONNECTION, numbered
from signoff._sqlite.presence import Presence
from signoff._sqlite.side_by_side import Running, run_together
from signoff._sqlite.together import Turn, expect, perform_write, write_together
from signoff.errors import InvalidInput
from signoff.steps import Steps, drive

__all__ = ["BUSY_TIMEOUT_S", "Connection", "OnConnection", "connect", "connecting", "open_transaction"]

T = TypeVar("T")

BUSY_TIMEOUT_S = 30.0
"""How long a statement waits for another process that is writing."""


def connect(conn_string: str | os.PathLike[str]) -> sqlite3.Connection:
    """A connection to a file, or a file: URI, that threads may share."""
    name = file_named(conn_string)
    with opening(name):
        return sqlite3.connect(
            name,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
            factory=CONNECTION,
            uri=name.startswith("file:"),
        )


@contextmanager
def connecting(conn_string: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """A connection to a file, closed at the end of the `with` block; not by a forked child that leaves it."""
    conn, process = connect(conn_string), os.getpid()
    try:
        yield conn
    finally:
        if os.getpid() == process:
            conn.close()


class Connection:
    """Performs the effects of procedures on a connection that has no other user meanwhile."""

    __slots__ = ("__weakref__", "_having", "_presence", "_waiting", "conn", "lock")

    def __init__(self, conn: sqlite3.Connection) -> None:
        check_connection(conn)
        self.conn = numbered(conn)
        self.lock = free(Lock())
        self._waiting: deque[Turn] = deque()
        """Writes of threads that wait for the lock."""
        self._having: dict[int, Generator[None]] = {}
        """The lock, as threads have it, or wait for it, while their procedures have asked for it."""
        self._presence = Presence()
        watch(self)

    def after_fork(self) -> None:
        """In a forked child: SQLite forbids to use the connection there, and even to close it."""
        self.conn = left(self.conn)
        left(self._having)
        self._having = {}
        self._waiting.clear()

    def close(self) -> None:
        """Close the connection, once what is being written is written."""
        with self.lock:
            self.conn.close()

    def run(self, steps: Steps[T]) -> T:
        """Run a procedure to its end, with the errors of sqlite3 that have a remedy put into words."""
        try:
            return drive(steps, self.perform)
        except WITH_REMEDY as error:
            raise explained(error, self.conn) or error from error
        finally:
            if self._having:
                self.release()

    def run_together(self, procedures: Sequence[Steps[Any]]) -> list[Running]:
        """Run procedures side by side, each to its end. Nobody else uses the connection meanwhile."""
        running = run_together(procedures, self.perform, self._write_all)
        for one in running:
            if isinstance(one.error, WITH_REMEDY) and (told := explained(one.error, self.conn)) is not None:
                told.__cause__, one.error = one.error, told
        return running

    def perform(self, effect: Any) -> Any:
        """Do what a procedure asks."""
        return _PERFORM[type(effect)](self, effect)

    def perform_or_explain(self, effect: Any) -> Any:
        """Like perform, with errors put into words: for procedures whose effects are performed one by one."""
        try:
            return self.perform(effect)
        except WITH_REMEDY as error:
            raise explained(error, self.conn) or error from error

    def execute(self, effect: Execute | Read) -> list[Row]:
        if effect is BEGIN_WRITE:
            self._presence.check(self.conn)
        cursor = self._cursor()
        try:
            return cursor.execute(effect.sql, effect.params).fetchall()
        finally:
            cursor.close()

    def read(self, effect: Read) -> list[Row]:
        with self.lock:
            if self.conn.in_transaction:
                raise open_transaction()
            return self.execute(effect)

    def execute_many(self, effect: ExecuteMany) -> None:
        cursor = self._cursor()
        try:
            cursor.executemany(effect.sql, effect.params)
        finally:
            cursor.close()

    def write(self, effect: Write | WriteOne) -> int | None:
        """Write, alone if nobody else does; else together with all who wait by then."""
        if self.lock.locked():
            return self._write_with_others(Turn(effect))
        with self.lock:  # not acquire(): a signal that is heard right behind it would leave the lock taken for ever
            return self._write_alone(effect)

    def _write_with_others(self, turn: Turn) -> int | None:
        try:
            self._waiting.append(turn)
            with self.lock:
                if not turn.is_over:  # else somebody has written it on the way
                    others = [other for other in self._take_waiting() if other is not turn]
                    self._lead(turn, others)
        finally:
            if not turn.is_over:  # a signal was heard as it waited: nobody is to write it later, behind what is newer
                with suppress(ValueError):
                    self._waiting.remove(turn)
        return turn.outcome()

    def _lead(self, turn: Turn, others: Sequence[Turn]) -> None:
        if others:
            try:
                return self._write_all([turn, *others])
            except Exception:
                pass  # then each tries for itself, and hears what is wrong
        return turn.come_to(self._write_alone(turn.effect))

    def _take_waiting(self) -> Iterator[Turn]:
        while True:
            try:
                turn = self._waiting.popleft()
            except IndexError:  # all are taken; or one that waited has just given up
                return
            yield turn

    def _write_all(self, turns: Sequence[Turn]) -> None:
        if self.conn.in_transaction:
            raise open_transaction()
        self._presence.check(self.conn)
        write_together(self.conn, turns)

    def _write_alone(self, effect: Write | WriteOne) -> int | None:
        conn = self.conn
        if conn.in_transaction:
            raise open_transaction()
        self._presence.check(conn)
        try:
            if isinstance(effect, WriteOne) and conn.isolation_level is None:
                return conn.execute(effect.sql, effect.params).rowcount
            cursor = conn.cursor()
            cursor.execute("BEGIN IMMEDIATE")
            result = perform_write(cursor, effect)
            cursor.execute("COMMIT")  # by the same cursor, so that no query of its is left open
            return result
        except BaseException:
            conn.rollback()
            raise

    def expect(self, effect: Expect) -> None:
        expect(self.conn.cursor(), effect)

    def find(self, effect: Find) -> list[Row]:
        cursor = self._cursor()
        try:
            return list(islice(filter(effect.is_wanted, cursor.execute(effect.sql, effect.params)), effect.limit))
        finally:
            cursor.close()

    def acquire(self, effect: Acquire) -> None:
        having = self._having[threading.get_ident()] = self._have()
        next(having)
        if self.conn.in_transaction:
            self.release()
            raise open_transaction()

    def release(self, effect: Release | None = None) -> None:
        """Let go of what a procedure of this thread has; also if it was left in its middle, when a signal was heard."""
        having = self._having.get(threading.get_ident())
        if having is not None:
            having.close()
            self._having.pop(threading.get_ident())

    def _have(self) -> Generator[None]:
        with self.lock:
            is_free = not self.conn.in_transaction
            try:
                yield
            finally:
                if is_free and self.conn.in_transaction:
                    self.conn.rollback()

    def rollback(self, effect: Rollback) -> None:
        self.conn.rollback()

    def _cursor(self) -> sqlite3.Cursor:
        cursor = self.conn.cursor()
        cursor.row_factory = None  # whatever the connection's owner prefers, the procedures count columns
        return cursor


_PERFORM: dict[type, Callable[[Connection, Any], Any]] = {
    Execute: Connection.execute,
    ExecuteMany: Connection.execute_many,
    Expect: Connection.expect,
    Read: Connection.read,
    Write: Connection.write,
    WriteOne: Connection.write,
    Find: Connection.find,
    Acquire: Connection.acquire,
    Release: Connection.release,
    Rollback: Connection.rollback,
}


class OnConnection:
    """What savers and stores show of their connection."""

    _connection: Connection

    @property
    def conn(self) -> sqlite3.Connection:
        """The connection."""
        return self._connection.conn

    @property
    def lock(self) -> Lock:
        """What whoever uses the connection has."""
        return self._connection.lock


def open_transaction() -> InvalidInput:
    """The error for a connection whose owner is in the middle of something."""
    return InvalidInput(
        "The connection has an open transaction: commit it, connect with isolation_level=None (and not with "
        "autocommit=False, which has one open at all times), or open one that nobody else uses with "
        "from_conn_string(...)."
    )
