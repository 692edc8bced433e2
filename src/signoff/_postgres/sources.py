"""Where connections come from: an address, one connection, or a pool."""

import threading
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

import psycopg
import psycopg.conninfo

from signoff._forks import left, watch
from signoff._postgres.failures import (
    NO_CONNECTION,
    cannot_connect,
    closed_connection,
    closed_pool,
    no_connection_left,
)
from signoff._postgres.health import is_alive, is_piped, was_closed
from signoff._postgres.wire import OwnConnection
from signoff.errors import InvalidInput

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

__all__ = ["MOST_CONNECTIONS", "OPTIONS", "Source", "again_as", "checked_address", "not_a_source", "source_of"]

Conn = psycopg.Connection[Any]

OPTIONS: dict[str, Any] = {"autocommit": True, "prepare_threshold": None}
"""How connections are opened. Prepared statements belong to a session, which a transaction pooler does not keep."""

KEPT_ALIVE: dict[str, Any] = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""What an address is given that says nothing of it: a server that has gone without a word is noticed within a minute,
not within hours, and a firewall does not forget a connection that nobody uses."""

MOST_CONNECTIONS = 16
"""How many connections a source made of an address has at most. They are opened when they are needed."""


class Source(Protocol):
    """Gives connections that work, each to one user at a time."""

    def take(self) -> Conn: ...
    def give(self, conn: Conn) -> None: ...
    def close(self) -> None: ...


def source_of(conn: "str | Conn | ConnectionPool[Any]") -> Source:
    """The source that an address, a connection or a pool is."""
    if isinstance(conn, str):
        return _Address(checked_address(conn))
    if isinstance(conn, psycopg.Connection):
        return _One(conn)
    if hasattr(conn, "getconn"):
        return _Pool(conn)
    raise not_a_source(conn, "psycopg.Connection", "ConnectionPool")


def not_a_source(conn: object, connection: str, pool: str) -> InvalidInput:
    """The error for something that no connection can be had from."""
    return InvalidInput(f"{conn!r} is no way to Postgres: give a {connection}, a {pool}, or an address as text.")


def checked_address(conn_string: str) -> str:
    """An address that can be read as one, for connections that are kept alive, and that take any text."""
    try:
        said = psycopg.conninfo.conninfo_to_dict(conn_string)
    except psycopg.ProgrammingError as error:
        # Not shown itself: it may have a password in it.
        raise InvalidInput(
            f"The address of the database cannot be read ({str(error).strip()}). Write postgresql://user@host/name."
        ) from error
    more = {name: value for name, value in KEPT_ALIVE.items() if name not in said}
    return psycopg.conninfo.make_conninfo(conn_string, **more, client_encoding="utf8")


def again_as(conn: Any) -> dict[str, Any]:
    """How to connect once more as a connection did."""
    if conn.closed:
        raise closed_connection()
    return {**conn.info.get_parameters(), "password": conn.info.password or None, **OPTIONS}


class _Address:
    """Opens connections as they are needed, and keeps them."""

    def __init__(self, conn_string: str) -> None:
        self._conn_string = conn_string
        self._is_closed = False
        self._begin()
        watch(self)

    def _begin(self) -> None:
        self._spare: deque[Conn] = deque()
        self._places: SimpleQueue[None] = SimpleQueue()  # what a semaphore does, quicker
        for _ in range(MOST_CONNECTIONS):
            self._places.put(None)

    def after_fork(self) -> None:
        """In a forked child: open connections of its own."""
        left(self._spare)
        self._begin()

    def take(self) -> Conn:
        if self._is_closed:
            raise closed_connection()
        self._places.get()
        try:
            return self._alive() or OwnConnection.connect(self._conn_string, **OPTIONS)
        except NO_CONNECTION as error:
            self._places.put(None)
            raise cannot_connect(error) from error
        except BaseException:
            self._places.put(None)
            raise

    def give(self, conn: Conn) -> None:
        if self._is_closed:
            conn.close()
        elif not conn.closed:
            self._spare.append(conn)
        self._places.put(None)

    def close(self) -> None:
        self._is_closed = True
        while self._spare:
            self._spare.pop().close()

    def _alive(self) -> Conn | None:
        while True:
            try:
                conn = self._spare.pop()  # the last one used is the one least likely to be forgotten by a firewall
            except IndexError:
                return None
            if is_alive(conn):
                return conn
            conn.close()


class _One:
    """A connection of the user's, in turns. If it dies, or is in pipeline mode, another one like it takes its place."""

    def __init__(self, conn: Conn) -> None:
        self._conn, self._is_own, self._is_lost = conn, False, False
        self._options = again_as(conn)  # now: a dead connection does not remember them
        self._lock = threading.Lock()
        watch(self)

    def after_fork(self) -> None:
        self._conn, self._is_own, self._lock = left(self._conn), False, threading.Lock()

    def take(self) -> Conn:
        self._lock.acquire()
        try:
            if is_piped(self._conn):
                self._conn, self._is_own = psycopg.connect(**self._options), True
            elif not is_alive(self._conn):
                self._conn, self._is_own, self._is_lost = self._replaced(), True, False
            return self._conn
        except BaseException as error:
            self._lock.release()
            raise cannot_connect(error) if isinstance(error, NO_CONNECTION) else error from error

    def give(self, conn: Conn) -> None:
        self._is_lost = conn.closed  # by us, or by the server: its owner does not while it is in use
        self._lock.release()

    def close(self) -> None:
        if self._is_own:
            self._conn.close()

    def _replaced(self) -> Conn:
        if not self._is_lost and was_closed(self._conn):
            raise closed_connection()
        self._is_lost = True
        self._conn.close()
        return psycopg.connect(**self._options)


class _Pool:
    """A pool of the user's."""

    def __init__(self, pool: "ConnectionPool[Any]") -> None:
        self._pool = pool
        watch(self)

    def after_fork(self) -> None:
        if not self._pool.closed:  # else it may still be opened, in each process
            self._pool = left(self._pool)

    def take(self) -> Conn:
        from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

        try:
            return self._alive()
        except PoolClosed as error:
            raise closed_pool(error) from error
        except (PoolTimeout, TooManyRequests) as error:
            raise no_connection_left(error) from error

    def give(self, conn: Conn) -> None:
        self._pool.putconn(conn)

    def close(self) -> None:
        """The pool is its owner's to close."""

    def _alive(self) -> Conn:
        while True:
            conn: Conn = self._pool.getconn()
            if is_alive(conn):
                return conn
            conn.close()
            self._pool.putconn(conn)  # the pool sees that it is closed, and opens another
