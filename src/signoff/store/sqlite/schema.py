"""The tables, as numbered migrations. One that was released is never changed, only followed."""

import sqlite3

from signoff.errors import SignoffError
from signoff.steps import Steps
from signoff.store.sqlite.effects import Execute, alone, in_transaction

__all__ = ["MIGRATIONS", "StoreTooNew", "setup"]

MIGRATIONS: tuple[str, ...] = (
    # namespace: labels joined by periods, which labels cannot have.
    # namespace_rank, id: the order of a search, by first put; ids are never used twice.
    """
    CREATE TABLE signoff_store (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        namespace TEXT NOT NULL,
        namespace_rank INTEGER NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        created_at REAL NOT NULL,
        updated_at REAL NOT NULL,
        ttl_minutes REAL,
        expires_at REAL,
        UNIQUE (namespace, key)
    )
    """,
    "CREATE INDEX signoff_store_order ON signoff_store (namespace_rank, id)",
    "CREATE INDEX signoff_store_listing ON signoff_store (namespace, expires_at)",
    "CREATE INDEX signoff_store_expiry ON signoff_store (expires_at) WHERE expires_at IS NOT NULL",
    # embedding: float32 numbers, little-endian; an item has one row for each text embedded.
    """
    CREATE TABLE signoff_store_vectors (
        item_id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        embedding BLOB NOT NULL,
        PRIMARY KEY (item_id, position)
    ) WITHOUT ROWID
    """,
    # Triggers, so that no program, with an index or without, leaves vectors that no longer fit their item.
    """
    CREATE TRIGGER signoff_store_deleted AFTER DELETE ON signoff_store
    BEGIN DELETE FROM signoff_store_vectors WHERE item_id = old.id; END
    """,
    """
    CREATE TRIGGER signoff_store_changed AFTER UPDATE OF value ON signoff_store
    BEGIN DELETE FROM signoff_store_vectors WHERE item_id = old.id; END
    """,
)


class StoreTooNew(SignoffError):
    """The file was written by a newer signoff; nothing was changed in it."""


def setup() -> Steps[None]:
    """Bring a file, new or old, to the tables of this version. Several processes may do so at once."""
    yield from alone(_use_write_ahead_log())
    # Looking first: where nothing is to be done, nobody who writes has to be waited for.
    if (yield from in_transaction("read", _done())) < len(MIGRATIONS):
        yield from in_transaction("write", _migrate())


def _use_write_ahead_log() -> Steps[None]:
    # With it readers and a writer do not wait for each other. The file remembers it, so if another process
    # holds the file just now, that one is setting it; and without it everything works, only slower.
    try:
        yield Execute("PRAGMA journal_mode=WAL")
    except sqlite3.OperationalError:
        pass


def _migrate() -> Steps[None]:
    yield Execute("CREATE TABLE IF NOT EXISTS signoff_store_migrations (number INTEGER PRIMARY KEY)")
    done = yield from _done()
    for number, statement in enumerate(MIGRATIONS[done:], start=done + 1):
        yield Execute(statement)
        yield Execute("INSERT INTO signoff_store_migrations (number) VALUES (?)", (number,))


def _done() -> Steps[int]:
    """The number of the last migration that the file has seen."""
    tables = yield Execute("SELECT 1 FROM sqlite_master WHERE name = 'signoff_store_migrations'")
    if not tables:
        return 0
    rows = yield Execute("SELECT COALESCE(MAX(number), 0) FROM signoff_store_migrations")
    done: int = rows[0][0]
    if done > len(MIGRATIONS):
        raise StoreTooNew(
            f"The store's file is at migration {done}, this signoff knows {len(MIGRATIONS)}: upgrade signoff."
        )
    return done
