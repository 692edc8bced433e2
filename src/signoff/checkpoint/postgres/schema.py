"""The tables, as numbered migrations. One that was released is never changed, only followed."""

from signoff._postgres.migrations import Schema
from signoff.checkpoint.postgres import functions
from signoff.errors import SignoffError

__all__ = ["MIGRATIONS", "SCHEMA", "SaverTooNew"]

MIGRATIONS: tuple[str, ...] = (
    # The same tables as in SQLite; see there what the columns are. Texts sort by their bytes; ids are bytes.
    # Rows are kept small: numbers come first, so that nothing is lost to alignment, and what most rows lack is empty,
    # not NULL, so that they need no map of it. Rows are appended, so the pages of an index can be full.
    # parent: see signoff_parent.
    # run: a colon and the id of the run, where it is known.
    """
    CREATE TABLE signoff_checkpoints (
        seal BIGINT NOT NULL,
        depth SMALLINT NOT NULL,
        branch BOOLEAN NOT NULL,
        thread_id TEXT COLLATE "C" NOT NULL,
        ns TEXT COLLATE "C" NOT NULL,
        id BYTEA NOT NULL,
        parent BYTEA,
        run TEXT COLLATE "C" NOT NULL,
        writes BYTEA NOT NULL,
        body BYTEA NOT NULL,
        PRIMARY KEY (thread_id, ns, id) WITH (fillfactor = 100)
    )
    """,
    "CREATE INDEX signoff_checkpoints_runs ON signoff_checkpoints (run) WHERE run <> ''",
    # The id of a parent is mostly that of its child but for a few bytes of its time: then it is these, behind a byte
    # that no id begins with.
    """
    CREATE FUNCTION signoff_short_parent(id BYTEA, parent_id BYTEA) RETURNS BYTEA LANGUAGE sql IMMUTABLE AS $$
        SELECT CASE WHEN length(id) = 18 AND length(parent_id) = 18 AND substr(id, 1, 5) = substr(parent_id, 1, 5)
            AND substr(id, 11) = substr(parent_id, 11) THEN '\\xff'::bytea || substr(parent_id, 6, 5)
            ELSE parent_id END
    $$
    """,
    """
    CREATE FUNCTION signoff_parent(id BYTEA, parent BYTEA) RETURNS BYTEA LANGUAGE sql IMMUTABLE AS $$
        SELECT CASE WHEN substr(parent, 1, 1) = '\\xff' THEN overlay(id PLACING substr(parent, 2) FROM 6)
            ELSE parent END
    $$
    """,
    """
    CREATE INDEX signoff_checkpoints_branches ON signoff_checkpoints (thread_id, ns, signoff_parent(id, parent))
    WHERE branch
    """,
    """
    CREATE TABLE signoff_writes (
        idx INTEGER NOT NULL,
        thread_id TEXT COLLATE "C" NOT NULL,
        ns TEXT COLLATE "C" NOT NULL,
        checkpoint_id BYTEA NOT NULL,
        task_id TEXT COLLATE "C" NOT NULL,
        path TEXT COLLATE "C" NOT NULL,
        data BYTEA NOT NULL,
        PRIMARY KEY (thread_id, ns, checkpoint_id, task_id, idx)
    )
    """,
    """
    CREATE TABLE signoff_items (
        lineage INTEGER NOT NULL,
        start INTEGER NOT NULL,
        count INTEGER NOT NULL,
        thread_id TEXT COLLATE "C" NOT NULL,
        data BYTEA NOT NULL,
        PRIMARY KEY (thread_id, lineage, start) WITH (fillfactor = 100)
    )
    """,
    """
    CREATE TABLE signoff_blobs (
        thread_id TEXT COLLATE "C" NOT NULL,
        digest BYTEA NOT NULL,
        data BYTEA NOT NULL,
        PRIMARY KEY (thread_id, digest)
    )
    """,
    # ended: who had the thread last. Whoever asks again whether that was stored hears of it, and nobody else.
    """
    CREATE TABLE signoff_threads (
        thread_id TEXT COLLATE "C" PRIMARY KEY,
        epoch BIGINT NOT NULL,
        holder TEXT,
        ended TEXT,
        expires_at DOUBLE PRECISION NOT NULL
    )
    """,
    """
    CREATE TABLE signoff_questions (
        thread_id TEXT COLLATE "C" NOT NULL,
        id TEXT COLLATE "C" NOT NULL,
        graph TEXT COLLATE "C" NOT NULL,
        path TEXT COLLATE "C" NOT NULL,
        node TEXT COLLATE "C" NOT NULL,
        asked_at TEXT COLLATE "C" NOT NULL,
        text TEXT COLLATE "C" NOT NULL,
        type TEXT NOT NULL,
        value BYTEA NOT NULL,
        PRIMARY KEY (thread_id, id)
    )
    """,
    "CREATE INDEX signoff_questions_by_age ON signoff_questions (asked_at, id)",
    "CREATE INDEX signoff_questions_by_id ON signoff_questions (id)",
    functions.LOCK,
    functions.STANDING,
    functions.CHILDREN,
    functions.LOOK,
    functions.APPEND,
    functions.STEP,
)


class SaverTooNew(SignoffError):
    """The database was written by a newer signoff; nothing was changed in it."""


SCHEMA = Schema("saver", "signoff_checkpoint_migrations", MIGRATIONS, SaverTooNew)
