"""The tables, as numbered migrations. One that was released is never changed, only followed."""

from signoff._sqlite.migrations import Schema
from signoff.errors import SignoffError

__all__ = ["MIGRATIONS", "SCHEMA", "SaverTooNew"]

MIGRATIONS: tuple[str, ...] = (
    # A log: each row is what a checkpoint changes in its parent, and now and then all of it, a snapshot.
    # depth: how many rows lie between this one and the snapshot that it stands on, 0 for a snapshot.
    # body: what it changes, its metadata and what else is known of it, packed.
    # run_id: the one in the metadata, to be found quickly.
    # seal: a number by chance, another one if the checkpoint is stored again with other contents.
    # branch: 1 if it was not the newest that it was added to, else NULL. So the one after a checkpoint, without those,
    # is its child, or it has none but those; and they are few, so that an index of their parents costs nothing.
    # writes: what the tasks of its parent wrote that led to it, packed, so that a step is one row; it is read with the
    # parent.
    """
    CREATE TABLE signoff_checkpoints (
        thread_id TEXT NOT NULL,
        ns TEXT NOT NULL,
        id TEXT NOT NULL,
        parent_id TEXT,
        depth INTEGER NOT NULL,
        run_id TEXT,
        seal INTEGER NOT NULL,
        branch INTEGER,
        writes BLOB,
        body BLOB NOT NULL,
        PRIMARY KEY (thread_id, ns, id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX signoff_checkpoints_runs ON signoff_checkpoints (run_id) WHERE run_id IS NOT NULL",
    """
    CREATE INDEX signoff_checkpoints_branches ON signoff_checkpoints (thread_id, ns, parent_id)
    WHERE branch IS NOT NULL
    """,
    # What tasks wrote before there was a next checkpoint: of a step that waits, failed or was cut off.
    # idx: below 0 for one of the writes that replace each other, 0 for all others that a task made.
    """
    CREATE TABLE signoff_writes (
        thread_id TEXT NOT NULL,
        ns TEXT NOT NULL,
        checkpoint_id TEXT NOT NULL,
        task_id TEXT NOT NULL,
        idx INTEGER NOT NULL,
        path TEXT NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (thread_id, ns, checkpoint_id, task_id, idx)
    ) WITHOUT ROWID
    """,
    # Items of lists, which checkpoints and writes refer to. A lineage is only ever appended to.
    """
    CREATE TABLE signoff_items (
        thread_id TEXT NOT NULL,
        lineage INTEGER NOT NULL,
        start INTEGER NOT NULL,
        count INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (thread_id, lineage, start)
    ) WITHOUT ROWID
    """,
    # Large values, each once in a thread.
    """
    CREATE TABLE signoff_blobs (
        thread_id TEXT NOT NULL,
        digest BLOB NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (thread_id, digest)
    )
    """,
    # epoch: grows with every run that takes the thread; a run may write as long as it is its own.
    # holder: the run that has the thread, until it is given back or the time has run out.
    """
    CREATE TABLE signoff_threads (
        thread_id TEXT NOT NULL PRIMARY KEY,
        epoch INTEGER NOT NULL,
        holder TEXT,
        expires_at REAL NOT NULL
    ) WITHOUT ROWID
    """,
    # Only what is open is here, so that it stays small however many threads there are.
    """
    CREATE TABLE signoff_questions (
        thread_id TEXT NOT NULL,
        id TEXT NOT NULL,
        graph TEXT NOT NULL,
        path TEXT NOT NULL,
        node TEXT NOT NULL,
        asked_at TEXT NOT NULL,
        text TEXT NOT NULL,
        type TEXT NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY (thread_id, id)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX signoff_questions_by_age ON signoff_questions (asked_at, id)",
    "CREATE INDEX signoff_questions_by_id ON signoff_questions (id)",
)


class SaverTooNew(SignoffError):
    """The file was written by a newer signoff; nothing was changed in it."""


SCHEMA = Schema("saver", "signoff_checkpoint_migrations", MIGRATIONS, SaverTooNew)
