"""Effects, performed on a sqlite3 connection."""

import sqlite3
import threading
from collections.abc import Callable
from itertools import islice
from typing import Any, TypeVar

from signoff._sqlite.effects import (
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
from signoff.errors import InvalidInput, Undecodable
from signoff.steps import Steps, drive

__all__ = ["BUSY_TIMEOUT_S", "Connection", "connect", "connect_options", "open_transaction"]

T = TypeVar("T")

BUSY_TIMEOUT_S = 30.0
"""How long a statement waits for another process that is writing."""


def connect(conn_string: str) -> sqlite3.Connection:
    """A connection to a file, or a file: URI, that threads may share."""
    options = connect_options(conn_string)
    conn: sqlite3.Connection = sqlite3.connect(conn_string, check_same_thread=False, **options)
    return conn


def connect_options(conn_string: str) -> dict[str, Any]:
    """How to connect, sync or async."""
    return {"timeout": BUSY_TIMEOUT_S, "isolation_level": None, "uri": conn_string.startswith("file:")}


class Connection:
    """Performs the effects of procedures on a connection that has no other user meanwhile."""

    __slots__ = ("conn", "lock")

    def __init__(self, conn: sqlite3.Connection) -> None:
        self.conn = conn
        self.lock = threading.Lock()

    def run(self, steps: Steps[T]) -> T:
        """Run a procedure to its end, with the errors of sqlite3 that have a remedy put into words."""
        try:
            return drive(steps, self.perform)
        except (sqlite3.ProgrammingError, sqlite3.OperationalError, UnicodeEncodeError) as error:
            raise _explained(error) or error from error

    def perform(self, effect: Any) -> Any:
        """Do what a procedure asks."""
        return _PERFORM[type(effect)](self, effect)

    def execute(self, effect: Execute | Read) -> list[Row]:
        cursor = self._cursor()
        try:
            return cursor.execute(effect.sql, effect.params).fetchall()
        finally:
            cursor.close()

    def read(self, effect: Read) -> list[Row]:
        self.acquire()
        try:
            return self.execute(effect)
        finally:
            self.lock.release()

    def execute_many(self, effect: ExecuteMany) -> None:
        cursor = self._cursor()
        try:
            cursor.executemany(effect.sql, effect.params)
        finally:
            cursor.close()

    def write(self, effect: Write) -> None:
        self.acquire()
        conn = self.conn
        try:
            conn.execute("BEGIN IMMEDIATE")
            for statement in effect.statements:
                if type(statement) is Execute:
                    conn.execute(statement.sql, statement.params)
                elif type(statement) is Expect:
                    self.expect(statement)
                else:
                    conn.executemany(statement.sql, statement.params)
            conn.execute("COMMIT")
        except BaseException:
            conn.rollback()
            raise
        finally:
            self.lock.release()

    def write_one(self, effect: WriteOne) -> int:
        self.acquire()
        conn = self.conn
        try:
            if conn.isolation_level is None:
                return conn.execute(effect.sql, effect.params).rowcount
            conn.execute("BEGIN IMMEDIATE")
            changed = conn.execute(effect.sql, effect.params).rowcount
            conn.execute("COMMIT")
            return changed
        except BaseException:
            conn.rollback()
            raise
        finally:
            self.lock.release()

    def expect(self, effect: Expect) -> None:
        cursor = self.conn.execute(effect.sql, effect.params)
        # A query has no count of rows.
        if cursor.rowcount == 0 or (cursor.rowcount < 0 and cursor.fetchone() is None):
            raise effect.error()

    def find(self, effect: Find) -> list[Row]:
        cursor = self._cursor()
        try:
            return list(islice(filter(effect.is_wanted, cursor.execute(effect.sql, effect.params)), effect.limit))
        finally:
            cursor.close()

    def acquire(self, effect: Acquire | None = None) -> None:
        self.lock.acquire()
        try:
            if self.conn.in_transaction:
                raise open_transaction()
        except BaseException:
            self.lock.release()
            raise

    def release(self, effect: Release) -> None:
        self.lock.release()

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
    WriteOne: Connection.write_one,
    Find: Connection.find,
    Acquire: Connection.acquire,
    Release: Connection.release,
    Rollback: Connection.rollback,
}


def open_transaction() -> InvalidInput:
    """The error for a connection whose owner is in the middle of something."""
    return InvalidInput(
        "The connection has an open transaction: commit it, connect with isolation_level=None, or open one "
        "that nobody else uses with from_conn_string(...)."
    )


def _explained(error: Exception) -> Exception | None:
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput(f"SQLite cannot store {error.object!r}: it has half of a surrogate pair in it.")
    if isinstance(error, sqlite3.ProgrammingError) and "thread" in str(error):
        return InvalidInput(
            "The connection may only be used in the thread that opened it, and runs use several: open it "
            "with sqlite3.connect(..., check_same_thread=False), or with from_conn_string(...)."
        )
    if "closed database" in str(error):
        return InvalidInput(
            "The connection is closed. Keep it open as long as graphs use it: inside of the `with` block of "
            "from_conn_string(...), read a stream to its end."
        )
    if "Could not decode to UTF-8" in str(error):
        return Undecodable(f"A text in the file is broken or was changed ({error}).")
    return None
