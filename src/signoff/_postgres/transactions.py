"""Transactions, and what happens when the connection dies in one: written once, for sync and async.

A connection that died while nobody used it is replaced before anything is sent. One that dies in the middle of
something is replaced, too, and the work is done again, twice at most:

- `read`: doing it again is harmless.
- `write`: the statements must be such that doing them twice is the same as doing them once (an upsert of given
  values, a delete, an insert ON CONFLICT DO NOTHING): the first time may have been committed unseen. Statements
  that are not (counter = counter + 1) say `repeatable=False`, which costs one more trip to the server.
- `transaction`, and `write(..., repeatable=False)`: before the commit was sent, nothing was done, so all of it is
  done again. If the connection dies at the commit, the server is asked what became of the transaction, by its
  number; only what was not committed is done again. Where the server does not know yet, it is `OutcomeUnknown`.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

from signoff._postgres.effects import GIVE, TAKE, Begin, Commit, Execute, Kind, Read, Rollback, Row, Write
from signoff._postgres.failures import Conflict, Lost, OneMoment, first_line
from signoff.errors import OutcomeUnknown, SaverUnavailable
from signoff.steps import Steps

__all__ = ["read", "transaction", "write"]

T = TypeVar("T")

# A server that has taken over may never have heard of the number, and to ask for one that is yet to come is an error.
_STATUS = """
    SELECT CASE WHEN %s::bigint < txid_snapshot_xmax(txid_current_snapshot()) THEN txid_status(%s::bigint) END
"""

MOST_LOSSES = 2
"""A server that is shut down ends one connection after the other: the next one of a pool may be about to go, too."""
MOST_CONFLICTS = 10


def read(*statements: Execute) -> Steps[list[list[Row]]]:
    """Run queries that all see the same moment, in one trip; the rows of each."""
    return (yield from _again(lambda: _on_a_connection(Read(statements))))


def write(*statements: Execute, repeatable: bool = True) -> Steps[list[list[Row]]]:
    """Run statements as one transaction, in one trip; the rows of each. All of it happens, or nothing."""
    if repeatable:
        try:
            return (yield from _again(lambda: _on_a_connection(Write(statements)), may_be_done=True))
        except OneMoment:
            pass  # a transaction that says what it wants to see takes more trips
    return (yield from transaction("write", lambda: _each(statements)))


def transaction(kind: Kind, make: Callable[[], Steps[T]]) -> Steps[T]:
    """Run a procedure of several trips as one transaction. All of it happens, or nothing.

    kind: "read" sees one moment throughout; "write" sees with each statement what others committed until then.
    make: makes the procedure, again if it has to be done again. It asks for `Execute`, and
        for `Write` where several statements can go in one trip.
    """
    return (yield from _again(lambda: _attempt(kind, make)))


def _again(make: Callable[[], Steps[T]], *, may_be_done: bool = False) -> Steps[T]:
    """Do something, and do it again if the connection was lost or another transaction was in the way.

    may_be_done: whether what was asked for may have been done when the connection is lost.
    """
    losses = conflicts = 0
    while True:
        try:
            return (yield from make())
        except Lost as error:
            losses += 1
            if losses > MOST_LOSSES:
                raise _gone(error, may_be_done) from error
        except SaverUnavailable as error:
            if losses and may_be_done:
                raise _unknown(error) from error
            raise
        except Conflict as error:
            conflicts += 1
            if conflicts > MOST_CONFLICTS:
                refused = _crowded_out(error)
                raise (_unknown(refused) if losses and may_be_done else refused) from error


def _on_a_connection(effect: Read | Write) -> Steps[list[list[Row]]]:
    yield TAKE
    try:
        rows: list[list[Row]] = yield effect
        return rows
    finally:
        yield GIVE


def _each(statements: Sequence[Execute]) -> Steps[list[list[Row]]]:
    results = []
    for statement in statements:
        rows = yield statement
        results.append(rows)
    return results


def _attempt(kind: Kind, make: Callable[[], Steps[T]]) -> Steps[T]:
    yield TAKE
    try:
        number = yield Begin(kind)
        try:
            result = yield from make()
        except BaseException:
            yield Rollback()
            raise
        try:
            yield Commit()
        except Lost as error:
            lost = error
        else:
            return result
    finally:
        yield GIVE
    if kind == "read" or (yield from _was_committed(number, lost)):
        return result
    raise lost


def _was_committed(number: int, lost: Lost) -> Steps[bool]:
    """Whether a transaction, of which nothing was heard after its commit was sent, was committed."""
    try:
        rows = yield from read(Execute(_STATUS, (number, number)))
    except SaverUnavailable as error:
        raise _unknown(error) from lost
    status = rows[0][0][0]
    if status not in ("committed", "aborted"):
        raise OutcomeUnknown(
            f"The connection to Postgres was lost at a commit ({lost}), and the server does not know, or not yet, what "
            "became of it: read what is stored before you try again."
        ) from lost
    return bool(status == "committed")


def _gone(error: Lost, may_be_done: bool) -> SaverUnavailable:
    what = "All of what was to be written was written, or nothing" if may_be_done else "Nothing was written"
    kind = OutcomeUnknown if may_be_done else SaverUnavailable
    return kind(
        f"The connection to Postgres was lost three times ({error}): see that the server runs, then try again. {what}."
    )


def _crowded_out(error: Conflict) -> SaverUnavailable:
    return SaverUnavailable(
        f"Postgres undid that {MOST_CONFLICTS + 1} times in favour of others ({first_line(error)}), and nothing was "
        "written: see who is in the way, then try again."
    )


def _unknown(error: SaverUnavailable) -> OutcomeUnknown:
    reason = error.__cause__ or error
    return OutcomeUnknown(
        "The connection to Postgres was lost in the middle of a write, and it could not be tried once more "
        f"({first_line(reason)}): all of it was written, or nothing. When the server is there again, read what is "
        "stored before you try again."
    )
