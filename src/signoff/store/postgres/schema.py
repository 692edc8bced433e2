"""The tables, as numbered migrations. One that was released is never changed, only followed."""

from signoff._postgres.migrations import Schema
from signoff.errors import SignoffError

__all__ = ["MIGRATIONS", "SCHEMA", "StoreTooNew"]

MIGRATIONS: tuple[str, ...] = (
    "CREATE SEQUENCE signoff_store_ranks",
    # namespace: labels joined by periods, which labels cannot have; see rows.py for what is written differently.
    # namespace_rank, id: the order of a search, by first put.
    # value: JSON as text, since not every text is allowed in JSONB.
    # vectors: one for each text embedded, float32 numbers, little-endian.
    """
    CREATE TABLE signoff_store (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        namespace TEXT COLLATE "C" NOT NULL,
        namespace_rank BIGINT NOT NULL,
        key TEXT COLLATE "C" NOT NULL,
        value TEXT NOT NULL,
        vectors BYTEA[] NOT NULL,
        created_at DOUBLE PRECISION NOT NULL,
        updated_at DOUBLE PRECISION NOT NULL,
        ttl_minutes DOUBLE PRECISION,
        expires_at DOUBLE PRECISION,
        UNIQUE (namespace, key)
    )
    """,
    "CREATE INDEX signoff_store_order ON signoff_store (namespace_rank, id)",
    "CREATE INDEX signoff_store_expiry ON signoff_store (expires_at) WHERE expires_at IS NOT NULL",
)


class StoreTooNew(SignoffError):
    """The database was written by a newer signoff; nothing was changed in it."""


SCHEMA = Schema("store", "signoff_store_migrations", MIGRATIONS, StoreTooNew)
