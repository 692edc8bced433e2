"""Tables as numbered migrations. One that was released is never changed, only followed."""

from collections.abc import Sequence
from dataclasses import dataclass

from signoff._elsewhere import THEIR_TABLES, tell_of_tables
from signoff._postgres.effects import Execute
from signoff._postgres.transactions import read, transaction
from signoff.errors import SignoffError
from signoff.steps import Steps

__all__ = ["Schema", "set_up"]

# Tables that are there are changed where they are, and new ones made beside them: a schema may have come before theirs.
_BESIDE = """
    SELECT set_config('search_path', quote_ident(nspname) || ', ' || current_setting('search_path'), TRUE)
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass(%s)
"""

# The lock is for this schema and kind of tables, and ends with the transaction.
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || '.' || %s, 0))"


_THEIRS = (
    "SELECT 1 FROM information_schema.columns "
    "WHERE table_schema = current_schema() AND table_name = %s AND column_name = %s"
)


@dataclass(frozen=True, slots=True)
class Schema:
    """The tables of one kind of thing in a database."""

    owner: str
    """What the tables are for, as errors call it."""
    table: str
    """Where the numbers of the migrations that the database has seen are kept."""
    migrations: Sequence[str]
    too_new: type[SignoffError]
    """The error for a database that a newer version wrote."""


def set_up(schema: Schema) -> Steps[None]:
    """Bring a database, new or old, to the tables of this version. Any number of processes may do so at once."""
    # Looking first: where nothing is to be done, nobody is waited for, and no right to create tables is needed.
    tables = yield from read(Execute("SELECT to_regclass(%s) IS NOT NULL", (schema.table,)))
    if tables[0][0][0]:
        numbers = yield from read(_numbers(schema))
        if _checked(schema, numbers[0][0][0]) == len(schema.migrations):
            return
    yield from transaction("write", lambda: _migrate(schema))


def _migrate(schema: Schema) -> Steps[None]:
    yield Execute(_BESIDE, (schema.table,))
    yield Execute(_LOCK, (schema.table,))
    yield Execute(f"CREATE TABLE IF NOT EXISTS {schema.table} (number INTEGER PRIMARY KEY)")
    rows = yield _numbers(schema)
    done = _checked(schema, rows[0][0])
    theirs = THEIR_TABLES.get(schema.owner) if not done else None
    if theirs is not None and (yield Execute(_THEIRS, theirs)):
        tell_of_tables(schema.owner)
    for number, statement in enumerate(schema.migrations[done:], start=done + 1):
        yield Execute(statement)
        yield Execute(f"INSERT INTO {schema.table} (number) VALUES (%s)", (number,))


def _numbers(schema: Schema) -> Execute:
    return Execute(f"SELECT COALESCE(MAX(number), 0) FROM {schema.table}")


def _checked(schema: Schema, done: int) -> int:
    if done > len(schema.migrations):
        raise schema.too_new(
            f"The {schema.owner}'s database is at migration {done}, this signoff knows {len(schema.migrations)}: "
            "upgrade signoff."
        )
    return done
