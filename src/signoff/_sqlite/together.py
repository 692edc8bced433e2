"""Writing together: a transaction costs a wait for the disk, whether the step of one thread is in it or those of fifty.

Whoever wants to write while another one does waits for it, and all who have waited go into the next transaction. Each
has a savepoint of its own: what does not fit is undone and refused for its writer, and for nobody else.
"""

import sqlite3
from collections.abc import Sequence

from signoff._sqlite.effects import Execute, Expect, Write, WriteOne

__all__ = ["Turn", "expect", "perform_write", "write_together"]


class Turn:
    """A write that waits, and what has come of it."""

    __slots__ = ("effect", "error", "is_over", "result")

    def __init__(self, effect: Write | WriteOne) -> None:
        self.effect = effect
        self.is_over = False
        self.result: int | None = None
        self.error: Exception | None = None

    def come_to(self, result: int | None, error: Exception | None = None) -> None:
        """Note what has come of it."""
        self.result, self.error, self.is_over = result, error, True

    def outcome(self) -> int | None:
        """The result, or the error, of a write that is over."""
        if self.error is not None:
            raise self.error
        return self.result


def write_together(conn: sqlite3.Connection, turns: Sequence[Turn]) -> None:
    """Do several writes in one transaction. If that fails as a whole, nothing has come of any of them."""
    outcomes: list[tuple[int | None, Exception | None]] = []
    try:
        conn.execute("BEGIN IMMEDIATE")
        outcomes = [_among_others(conn, turn.effect) for turn in turns]
        conn.execute("COMMIT")
    except Exception:
        conn.rollback()
        raise
    except BaseException:  # out of the handler of a signal: if it was heard behind COMMIT, all is written
        if conn.in_transaction:
            outcomes = []
        conn.rollback()
        _tell(turns[: len(outcomes)], outcomes)
        raise
    _tell(turns, outcomes)


def _tell(turns: Sequence[Turn], outcomes: Sequence[tuple[int | None, Exception | None]]) -> None:
    for turn, outcome in zip(turns, outcomes, strict=True):
        turn.come_to(*outcome)


def _among_others(conn: sqlite3.Connection, effect: Write | WriteOne) -> tuple[int | None, Exception | None]:
    cursor = conn.cursor()
    cursor.execute("SAVEPOINT signoff")
    error = None
    try:
        result = perform_write(cursor, effect)
    except Exception as refusal:
        if not conn.in_transaction:
            raise  # a full disk, say: SQLite has undone what the others wrote, too
        cursor.execute("ROLLBACK TO signoff")
        result, error = None, refusal
    cursor.execute("RELEASE signoff")
    return result, error


def perform_write(cursor: sqlite3.Cursor, effect: Write | WriteOne) -> int | None:
    """Run the statements of a write, in a transaction that is open."""
    if isinstance(effect, WriteOne):
        return cursor.execute(effect.sql, effect.params).rowcount
    for statement in effect.statements:
        if type(statement) is Execute:
            cursor.execute(*statement)
        elif type(statement) is Expect:
            expect(cursor, statement)
        else:
            cursor.executemany(*statement)
    return None


def expect(cursor: sqlite3.Cursor, effect: Expect) -> None:
    """Run a statement that must find or change a row."""
    sql, params, error = effect
    changed = cursor.execute(sql, params).rowcount
    # A query has no count of rows.
    if changed == 0 or (changed < 0 and cursor.fetchone() is None):
        raise error()
