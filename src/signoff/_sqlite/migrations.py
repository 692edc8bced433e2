"""Tables as numbered migrations. One that was released is never changed, only followed."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from signoff._elsewhere import THEIR_TABLES, tell_of_tables
from signoff._sqlite.effects import Execute, alone, in_transaction
from signoff.errors import SignoffError
from signoff.steps import Steps

__all__ = ["Schema", "set_up"]


_THEIRS = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ? AND instr(sql, ?)"


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one kind of thing in a file."""

    owner: str
    """What the tables are for, as errors call it."""
    table: str
    """Where the numbers of the migrations that the file has seen are kept."""
    migrations: Sequence[str]
    too_new: type[SignoffError]
    """The error for a file that a newer version wrote."""


def set_up(schema: Schema, begin: Callable[[], Steps[None]] | None = None) -> Steps[None]:
    """Bring a file, new or old, to the tables of this version. Several processes may do so at once.

    begin: what comes before anything else in a file that is new.
    """
    # Looking first: where nothing is to be done, nobody who writes has to be waited for.
    is_done = (yield from alone(_done(schema))) == len(schema.migrations)
    if begin is not None and not is_done:
        yield from alone(begin())
    yield from alone(_use_write_ahead_log())
    if not is_done:
        yield from in_transaction("write", _migrate(schema))


def _use_write_ahead_log() -> Steps[None]:
    # With it readers and a writer do not wait for each other. The file remembers it, so if another process
    # holds the file just now, that one is setting it; and without it everything works, only slower.
    try:
        yield Execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError:
        pass


def _migrate(schema: Schema) -> Steps[None]:
    yield Execute(f"CREATE TABLE IF NOT EXISTS {schema.table} (number INTEGER PRIMARY KEY)")
    done = yield from _done(schema)
    theirs = THEIR_TABLES.get(schema.owner) if not done else None
    if theirs is not None and (yield Execute(_THEIRS, theirs)):
        tell_of_tables(schema.owner)
    for number, statement in enumerate(schema.migrations[done:], start=done + 1):
        yield Execute(statement)
        yield Execute(f"INSERT INTO {schema.table} (number) VALUES (?)", (number,))


def _done(schema: Schema) -> Steps[int]:
    """The number of the last migration that the file has seen."""
    try:
        rows = yield Execute(f"SELECT COALESCE(MAX(number), 0) FROM {schema.table}")
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        return 0
    done: int = rows[0][0]
    if done > len(schema.migrations):
        raise schema.too_new(
            f"The {schema.owner}'s file is at migration {done}, this signoff knows {len(schema.migrations)}: "
            "upgrade signoff."
        )
    return done
