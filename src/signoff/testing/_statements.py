"""Taps on what a saver sends to its store: a moment before and after each statement, or script.

A process that crashes between two statements leaves the transaction behind, and whoever sees that it is gone undoes
it; one that crashes after the last one has stored everything, and nobody has heard of it.
"""

from collections.abc import Callable
from typing import Any

from signoff.checkpoint._halves import AsyncOfSync
from signoff.steps import Steps, drive
from signoff.testing._process import here

__all__ = ["tap_statements"]


def tap_statements(saver: Any) -> None:
    """Have a saver on SQLite, Postgres or Redis show what it sends, if it sends it in the thread of its caller."""
    connection = getattr(saver, "_connection", None)
    tap = _TAPS.get(type(connection).__module__)
    if tap is not None and isinstance(saver, AsyncOfSync):
        tap(saver, connection)


def _tap_sqlite(saver: Any, connection: Any) -> None:
    from signoff._sqlite.connection import Connection
    from signoff._sqlite.effects import Acquire, Execute, Release, Rollback, Write, WriteOne, in_transaction

    class TappedConnection(Connection):
        """Performs effects as ever; a transaction in one go is taken apart."""

        __slots__ = ("begun",)

        def perform(self, effect: Any) -> Any:
            process = here.get()
            if process is None or isinstance(effect, Acquire | Release | Rollback):
                return super().perform(effect)
            if isinstance(effect, Write):
                return drive(in_transaction("write", _each(effect.statements)), self.perform)
            if isinstance(effect, Execute) and effect.sql.startswith("BEGIN"):
                self.begun = effect.sql
            return _sent(process, super().perform, effect, lambda result: self.has_stored(effect, result))

        def has_stored(self, effect: Any, result: Any) -> bool:
            if isinstance(effect, WriteOne):
                return bool(result > 0)
            # One that only reads is committed, too: what a store looks up before it writes has stored nothing.
            return isinstance(effect, Execute) and effect.sql == "COMMIT" and self.begun == "BEGIN IMMEDIATE"

    saver._connection = TappedConnection(saver.conn)


def _tap_postgres(saver: Any, connection: Any) -> None:
    from signoff._postgres.connection import Session
    from signoff._postgres.effects import Begin, Commit, Execute, Read, Write
    from signoff.checkpoint.postgres.writing import DONE

    class TappedSession(Session):
        """Performs effects as ever. What the end of a connection brings with it is no moment of the process."""

        __slots__ = ()

        def perform(self, effect: Any) -> Any:
            process = here.get()
            if process is None or not isinstance(effect, Begin | Commit | Execute | Read | Write):
                return super().perform(effect)
            return _sent(process, super().perform, effect, lambda result: has_stored(effect, result))

    def has_stored(effect: Any, result: Any) -> bool:
        if not isinstance(effect, Write):
            return isinstance(effect, Commit)
        return any(
            ("signoff_append" in statement.sql or "signoff_step" in statement.sql) and rows[0][0] == DONE
            for statement, rows in zip(effect.statements, result, strict=True)
        )

    connection.session = lambda: TappedSession(connection._source)


def _tap_redis(saver: Any, connection: Any) -> None:
    from signoff._redis.connection import Connection
    from signoff._redis.effects import Run
    from signoff.checkpoint.redis.scripts import APPEND, DONE

    class TappedConnection(Connection):
        """Performs effects as ever. A script is a transaction, and so is a command."""

        def perform(self, effect: Any) -> Any:
            process = here.get()
            if process is None:
                return super().perform(effect)
            is_append = isinstance(effect, Run) and effect.script is APPEND
            return _sent(process, super().perform, effect, lambda result: is_append and has_stored(result))

    def has_stored(answer: Any) -> bool:
        return isinstance(answer, list) or answer == DONE

    saver._connection = TappedConnection(connection.client)


_TAPS: dict[str, Callable[[Any, Any], None]] = {
    "signoff._sqlite.connection": _tap_sqlite,
    "signoff._postgres.connection": _tap_postgres,
    "signoff._redis.connection": _tap_redis,
}


def _sent(process: Any, perform: Callable[[Any], Any], effect: Any, has_stored: Callable[[Any], bool]) -> Any:
    process.pass_moment("statements")
    result = perform(effect)
    process.commits += has_stored(result)
    process.pass_moment("statements")
    return result


def _each(statements: Any) -> Steps[None]:
    for statement in statements:
        yield statement
