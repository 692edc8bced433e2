"""Effects, performed with psycopg."""

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg.pq import ExecStatus
from psycopg.rows import tuple_row

from signoff._locks import safe
from signoff._postgres.effects import Begin, Commit, Execute, Give, Read, Rollback, Row, Take, Write
from signoff._postgres.failures import is_read_only, translated
from signoff._postgres.health import is_cut_off, is_idle
from signoff._postgres.sources import Conn, Source, source_of
from signoff._postgres.wire import OwnConnection, answer
from signoff.steps import Steps, drive

if TYPE_CHECKING:
    from psycopg_pool import ConnectionPool

__all__ = ["BEGIN", "COMMIT", "Connection", "NUMBER", "Session", "has_rows", "joined"]

T = TypeVar("T")

BEGIN = {
    "read": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    "write": "BEGIN ISOLATION LEVEL READ COMMITTED",  # not READ WRITE: a standby refuses that in words of its own
}
COMMIT = "COMMIT"
NUMBER = "SELECT txid_current()"

TUPLES_OK = ExecStatus.TUPLES_OK


class Connection:
    """Performs procedures, each on a connection that has no other user meanwhile. Threads may share it.

    conn: an address, a psycopg connection or a psycopg_pool.ConnectionPool. Of an address, connections are opened
        as they are needed.
    """

    def __init__(self, conn: "str | Conn | ConnectionPool[Any]") -> None:
        self._source = source_of(conn)

    def run(self, steps: Steps[T]) -> T:
        """Run a procedure to its end."""
        session = self.session()
        try:
            return drive(steps, session.perform)
        finally:
            session.end()

    def session(self) -> "Session":
        """What performs the effects of one procedure, for a shell that performs others besides, and that ends it."""
        return Session(self._source)

    def close(self) -> None:
        """Close the connections that were opened here; a connection or pool that was given is its owner's."""
        self._source.close()


class Session:
    """Performs the effects of one procedure."""

    __slots__ = ("_conn", "_having", "_source")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._conn: Any = None
        self._having: Generator[Any] | None = None
        """The connection, as the procedure has it, or waits for it."""

    def perform(self, effect: Any) -> Any:
        """Do what a procedure asks."""
        try:
            return _PERFORM[type(effect)](self, effect)
        except (psycopg.Error, UnicodeError) as error:
            known = translated(error, self._conn is None or self._conn.closed)
            if known is error:
                raise
            if is_read_only(error) and isinstance(self._conn, OwnConnection):
                self._conn.close()  # another one may lead to the server that has taken over
            raise known from error

    def take(self, effect: Take) -> None:
        assert self._conn is None, "a procedure has one connection at a time"
        self._having = self._source.having()
        self._conn = next(self._having)

    def give(self, effect: Give) -> None:
        self.end()

    def end(self) -> None:
        """Let go of what the procedure has; also if it was left in its middle, when a signal was heard."""
        if self._having is not None:
            self._having.close()
            self._conn = self._having = None

    def execute(self, effect: Execute) -> list[Row]:
        with safe(self._conn.lock):
            rows: list[Row] = self._conn.wait(answer(self._conn, effect))
            return rows

    def write(self, effect: Write) -> list[list[Row]]:
        if len(effect.statements) == 1:
            return [self.execute(effect.statements[0])]
        # One message with all statements, the parameters written into it: the server makes it one transaction,
        # and it is quicker than a pipeline of messages.
        with psycopg.ClientCursor(self._conn, row_factory=tuple_row) as cursor:
            cursor.execute(*joined(effect.statements))
            results = [_rows(cursor)]
            while cursor.nextset():
                results.append(_rows(cursor))
            return results

    def read(self, effect: Read) -> list[list[Row]]:
        if len(effect.statements) == 1:
            return [self.execute(effect.statements[0])]
        try:
            return self._read_at_once(effect.statements)
        except Exception:
            self.rollback(None)
            raise
        except BaseException:
            self._conn.close()  # a signal was heard, perhaps while it went into pipeline mode, or came out of it
            raise

    def _read_at_once(self, statements: Sequence[Execute]) -> list[list[Row]]:
        conn = self._conn
        cursors = []
        with conn.pipeline():
            conn.execute(BEGIN["read"], prepare=False)
            for statement in statements:
                cursor = psycopg.Cursor(conn, row_factory=tuple_row)
                cursor.execute(statement.sql, statement.params, prepare=False, binary=True)
                cursors.append(cursor)
            conn.execute(COMMIT, prepare=False)
        return [_rows(cursor) for cursor in cursors]

    def begin(self, effect: Begin) -> int | None:
        if effect.kind == "read":
            self._conn.execute(BEGIN["read"], prepare=False)
            return None
        # The number is what tells, should the connection die at the commit, what became of the transaction.
        rows = self.write(Write((Execute(BEGIN["write"]), Execute(NUMBER))))
        number: int = rows[1][0][0]
        return number

    def commit(self, effect: Commit) -> None:
        self._conn.execute(COMMIT, prepare=False)

    def rollback(self, effect: Rollback | None) -> None:
        if is_cut_off(self._conn):
            self._conn.close()
        elif not self._conn.closed and not is_idle(self._conn):
            self._conn.rollback()


_PERFORM: dict[type, Callable[[Session, Any], Any]] = {
    Execute: Session.execute,
    Write: Session.write,
    Read: Session.read,
    Take: Session.take,
    Give: Session.give,
    Begin: Session.begin,
    Commit: Session.commit,
    Rollback: Session.rollback,
}


def joined(statements: Sequence[Execute]) -> tuple[str, list[Any]]:
    """Statements as one text, and their parameters."""
    return "; ".join(one.sql for one in statements), [param for one in statements for param in one.params]


def has_rows(cursor: Any) -> bool:
    """Whether a statement has a result. Asking for `cursor.description` would describe every column first."""
    return bool(cursor.pgresult is not None and cursor.pgresult.status == TUPLES_OK)


def _rows(cursor: Any) -> list[Row]:
    rows: list[Row] = cursor.fetchall() if has_rows(cursor) else []
    return rows
