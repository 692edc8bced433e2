"""Where connections come from: an address, one connection, or a pool."""

from collections import deque
from collections.abc import Generator
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol

import psycopg
import psycopg.conninfo

from signoff._forks import left, watch
from signoff._locks import Lock
from signoff._postgres.failures import (
    NO_CONNECTION,
    cannot_connect,
    closed_connection,
    closed_pool,
    no_connection_left,
    open_transaction,
    unfit,
)
from signoff._postgres.health import is_alive, is_idle, is_piped, odd_setting, was_closed
from signoff._postgres.wire import OwnConnection
from signoff.errors import InvalidInput

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

__all__ = [
    "MOST_CONNECTIONS",
    "OPTIONS",
    "Source",
    "again_as",
    "check_fit",
    "checked_address",
    "not_a_source",
    "source_of",
]

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
    """Gives connections that work, each to one user at a time.

    A user has one for as long as the generator that yields it is open. Whenever a signal is heard whose handler raises,
    the generator lets go of what it has by then.
    """

    def having(self) -> Generator[Conn]: ...
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
    if not isinstance(conn_string, str):
        raise InvalidInput(f"{conn_string!r} is no address of a database: write postgresql://user@host/name.")
    try:
        said = psycopg.conninfo.conninfo_to_dict(conn_string)
    except (psycopg.ProgrammingError, UnicodeEncodeError) as error:
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


def check_fit(conn: Any) -> None:
    """Refuse a connection that does not hand on what is stored as it is, or that its owner is using."""
    instead = odd_setting(conn)
    if instead is not None:
        raise unfit(instead)
    if not is_idle(conn):
        raise open_transaction()


def _lent(conn: Conn) -> Generator[Conn]:
    """A connection of the user's, which is left as it was found."""
    check_fit(conn)
    autocommit = conn.autocommit
    try:
        if not autocommit:
            conn.autocommit = True  # the transactions are ours to begin; the driver is told, not the server
        yield conn
    finally:
        try:
            _leave(conn, autocommit)
        except BaseException:
            _leave(conn, autocommit)  # a signal was heard in the middle of it
            raise


def _leave(conn: Conn, autocommit: bool) -> None:
    if conn.closed:
        return
    if not is_idle(conn):
        conn.close()
    elif not autocommit:
        conn.autocommit = False


class _Address:
    """Opens connections as they are needed, and keeps them."""

    def __init__(self, conn_string: str) -> None:
        self._conn_string = conn_string
        self._is_closed = False
        self._begin()
        watch(self)

    def _begin(self) -> None:
        self._spare: deque[Conn] = deque()
        self._places: SimpleQueue[bool] = SimpleQueue()  # what a semaphore does, quicker
        for _ in range(MOST_CONNECTIONS):
            self._places.put(True)

    def after_fork(self) -> None:
        """In a forked child: open connections of its own."""
        left(self._spare)
        self._begin()

    def having(self) -> Generator[Conn]:
        if self._is_closed:
            raise closed_connection()
        places = self._places
        for _ in iter(places.get, None):  # not get(): a signal that is heard right behind it would lose the place
            try:
                yield from self._lend()
            finally:
                places.put(True)
            return

    def _lend(self) -> Generator[Conn]:
        try:
            conn = self._alive() or OwnConnection.connect(self._conn_string, **OPTIONS)
        except NO_CONNECTION as error:
            raise cannot_connect(error) from error
        try:
            check_fit(conn)
            yield conn
        finally:
            if self._is_closed or not is_idle(conn):
                conn.close()  # if cut in the middle of something: what it is about to say belongs to nobody
            else:
                self._spare.append(conn)

    def close(self) -> None:
        self._is_closed = True
        while (conn := self._put_by()) is not None:
            conn.close()

    def _alive(self) -> Conn | None:
        while (conn := self._put_by()) is not None and not is_alive(conn):
            conn.close()
        return conn

    def _put_by(self) -> Conn | None:
        """A connection that was put by, if there is one. Other threads take them, too."""
        try:
            return self._spare.pop()  # the last one used is the one least likely to be forgotten by a firewall
        except IndexError:
            return None


class _One:
    """A connection of the user's, in turns. If it dies, or is in pipeline mode, another one like it takes its place."""

    def __init__(self, conn: Conn) -> None:
        self._conn, self._is_own, self._is_lost = conn, False, False
        self._options = again_as(conn)  # now: a dead connection does not remember them
        self._lock = Lock()
        watch(self)

    def after_fork(self) -> None:
        self._conn, self._is_own, self._lock = left(self._conn), False, Lock()

    def having(self) -> Generator[Conn]:
        with self._lock:
            conn = self._usable()
            try:
                yield from _lent(conn)
            finally:
                self._is_lost = conn.closed  # by us, or by the server: its owner does not while it is in use

    def _usable(self) -> Conn:
        try:
            if is_piped(self._conn):
                self._conn, self._is_own = psycopg.connect(**self._options), True
            elif not is_alive(self._conn):
                self._conn, self._is_own, self._is_lost = self._replaced(), True, False
        except NO_CONNECTION as error:
            raise cannot_connect(error) from error
        return self._conn

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

    def having(self) -> Generator[Conn]:
        while True:
            conn = self._taken()
            try:
                if is_alive(conn):
                    yield from _lent(conn)
                    return
                conn.close()
            finally:
                self._pool.putconn(conn)  # if it is closed, the pool sees that, and opens another

    def _taken(self) -> Conn:
        from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

        try:
            conn: Conn = self._pool.getconn()
            return conn
        except PoolClosed as error:
            raise closed_pool(error) from error
        except (PoolTimeout, TooManyRequests) as error:
            raise no_connection_left(error) from error

    def close(self) -> None:
        """The pool is its owner's to close."""
