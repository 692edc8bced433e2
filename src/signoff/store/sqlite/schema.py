"""The tables, as numbered migrations. One that was released is never changed, only followed."""

from signoff._sqlite.migrations import Schema
from signoff.errors import SignoffError

__all__ = ["MIGRATIONS", "SCHEMA", "StoreTooNew"]

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


SCHEMA = Schema("store", "signoff_store_migrations", MIGRATIONS, StoreTooNew)
