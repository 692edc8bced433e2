"""The tables, as numbered migrations. One that was released is never changed, only followed."""

from signoff._postgres.failures import DONE_BEFORE, ONE_MOMENT
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
    # A function, since the server plans what is in one once for each of its processes, and a statement every time.
    # Who writes to a namespace waits for whoever does, so that a new one has one rank; the lock ends with the
    # transaction. A namespace keeps its rank while it holds items. An item keeps its id, and its birth unless it
    # had expired.
    """
    CREATE FUNCTION signoff_store_put(
        lock BIGINT, new_namespace TEXT, new_key TEXT, new_value TEXT, new_vectors BYTEA[],
        now DOUBLE PRECISION, ttl DOUBLE PRECISION, expires DOUBLE PRECISION, seen_after DOUBLE PRECISION
    ) RETURNS VOID LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(lock);
        INSERT INTO signoff_store AS old
            (namespace, key, value, vectors, created_at, updated_at, ttl_minutes, expires_at, namespace_rank)
        VALUES (new_namespace, new_key, new_value, new_vectors, now, now, ttl, expires, COALESCE(
            (SELECT namespace_rank FROM signoff_store WHERE namespace = new_namespace LIMIT 1),
            nextval('signoff_store_ranks')
        ))
        ON CONFLICT (namespace, key) DO UPDATE SET
            created_at = CASE WHEN old.expires_at <= seen_after THEN excluded.created_at ELSE old.created_at END,
            value = excluded.value,
            vectors = excluded.vectors,
            updated_at = excluded.updated_at,
            ttl_minutes = excluded.ttl_minutes,
            expires_at = excluded.expires_at;
    END $$
    """,
    # The last write of each lane, see _lanes.py. No more than a number changes, so there is nothing to be vacuumed.
    """
    CREATE TABLE signoff_store_lanes (
        name TEXT PRIMARY KEY,
        number BIGINT NOT NULL,
        used_at TIMESTAMPTZ NOT NULL
    ) WITH (fillfactor = 50)
    """,
    # Where a write begins: it ends here if it was done before. While it is still under way, it is waited for. Who has
    # waited has to see what was done meanwhile: a transaction that sees one moment is refused.
    f"""
    CREATE FUNCTION signoff_store_begin(lane TEXT, new_number BIGINT, locks BIGINT[])
    RETURNS VOID LANGUAGE plpgsql AS $$
    BEGIN
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE 'this transaction would not see what others did meanwhile' USING ERRCODE = '{ONE_MOMENT}';
        END IF;
        UPDATE signoff_store_lanes SET number = new_number, used_at = now() WHERE name = lane AND number < new_number;
        IF NOT FOUND THEN
            INSERT INTO signoff_store_lanes VALUES (lane, new_number, now()) ON CONFLICT DO NOTHING;
            IF NOT FOUND THEN
                RAISE EXCEPTION 'This was written before.' USING ERRCODE = '{DONE_BEFORE}';
            END IF;
            DELETE FROM signoff_store_lanes WHERE name IN (
                SELECT name FROM signoff_store_lanes WHERE used_at < now() - interval '1 day' FOR UPDATE SKIP LOCKED
            );
        END IF;
        PERFORM pg_advisory_xact_lock(lock) FROM unnest(locks) AS lock;
    END $$
    """,
    # The lanes are read through all the same, to find old ones, which the server then takes for so costly that it would
    # compile it: a hundred times longer than to do it.
    """
    CREATE FUNCTION signoff_store_put_once(
        lane TEXT, number BIGINT, lock BIGINT, new_namespace TEXT, new_key TEXT, new_value TEXT, new_vectors BYTEA[],
        now DOUBLE PRECISION, ttl DOUBLE PRECISION, expires DOUBLE PRECISION, seen_after DOUBLE PRECISION
    ) RETURNS VOID LANGUAGE plpgsql SET enable_seqscan = off SET jit = off AS $$
    BEGIN
        PERFORM signoff_store_begin(lane, number, '{}');
        PERFORM signoff_store_put(
            lock, new_namespace, new_key, new_value, new_vectors, now, ttl, expires, seen_after
        );
    END $$
    """,
)


class StoreTooNew(SignoffError):
    """The database was written by a newer signoff; nothing was changed in it."""


SCHEMA = Schema("store", "signoff_store_migrations", MIGRATIONS, StoreTooNew)
