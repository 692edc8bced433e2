"""The tables, as numbered migrations. One that was released is never changed, only followed."""

from signoff._postgres.migrations import Schema
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
    """
    CREATE TABLE signoff_threads (
        thread_id TEXT COLLATE "C" PRIMARY KEY,
        epoch BIGINT NOT NULL,
        holder TEXT,
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
    # What tells that anything was stored in a thread.
    """
    CREATE FUNCTION signoff_standing(
        thread TEXT, OUT epoch BIGINT, OUT head BYTEA, OUT written TEXT, OUT holder TEXT, OUT is_expired BOOLEAN
    ) LANGUAGE plpgsql STABLE AS $$
    BEGIN
        SELECT log.id INTO head FROM signoff_checkpoints AS log
        WHERE log.thread_id = thread AND log.ns = '' ORDER BY log.id DESC LIMIT 1;
        SELECT COUNT(*) || '/' || COALESCE(SUM(LENGTH(kept.data)), 0) INTO written FROM signoff_writes AS kept
        WHERE kept.thread_id = thread AND kept.ns = '' AND kept.checkpoint_id = head;
        SELECT lease.epoch, lease.holder, lease.expires_at < EXTRACT(EPOCH FROM clock_timestamp())
        INTO epoch, holder, is_expired FROM signoff_threads AS lease WHERE lease.thread_id = thread;
    END $$
    """,
    # A plan, written to one thread, whose writers wait for each other: the lock ends with the transaction. All
    # that could be in the way is looked at before anything is written.
    #   lease: NULL without one, 0 to take the thread, else the epoch that it must have.
    #   Returns 0 if it was done, now or, the answer having been lost, before; 1 if the plan does not fit; 2 if the
    #   thread does not stand as it was seen; 3 if the lease was lost.
    """
    CREATE FUNCTION signoff_append(
        thread TEXT,
        lease BIGINT, new_holder TEXT, seen_epoch BIGINT, seen_head BYTEA, seen_written TEXT, lease_s FLOAT8,
        ends BOOLEAN,
        closes_all BOOLEAN, closed TEXT[], asked TEXT[], asked_values BYTEA[],
        row_texts TEXT[], row_ids BYTEA[], row_numbers BIGINT[], row_bodies BYTEA[], row_writes BYTEA[],
        write_texts TEXT[], write_ids BYTEA[], write_numbers BIGINT[], write_data BYTEA[],
        item_numbers INTEGER[], item_data BYTEA[],
        digests BYTEA[], blobs BYTEA[],
        replaced TEXT[], replaced_ids BYTEA[], rewritten TEXT[], rewritten_ids BYTEA[], rewritten_bodies BYTEA[]
    ) RETURNS INTEGER LANGUAGE plpgsql AS $$
    DECLARE
        until FLOAT8 := EXTRACT(EPOCH FROM clock_timestamp()) + COALESCE(lease_s, 'Infinity'::FLOAT8);
        standing RECORD;
        is_ours BOOLEAN := FALSE;
        found_seal BIGINT;
        same INTEGER := 0;
        n INTEGER;
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('signoff ' || thread, 0));
        FOR i IN 1 .. COALESCE(array_length(row_bodies, 1), 0) LOOP
            SELECT seal INTO found_seal FROM signoff_checkpoints
            WHERE thread_id = thread AND ns = row_texts[2 * i - 1] AND id = row_ids[2 * i - 1];
            IF found_seal = row_numbers[3 * i] THEN same := same + 1; END IF;
        END LOOP;
        IF same > 0 AND same = array_length(row_bodies, 1) THEN RETURN 0; END IF;

        IF lease = 0 THEN
            SELECT * INTO standing FROM signoff_standing(thread);
            is_ours := NOT ends AND standing.holder = new_holder AND standing.epoch = COALESCE(seen_epoch, 0) + 1;
            IF NOT COALESCE(is_ours, FALSE) AND (standing.epoch IS DISTINCT FROM seen_epoch
                OR standing.head IS DISTINCT FROM seen_head OR standing.written IS DISTINCT FROM seen_written)
            THEN RETURN 2; END IF;
        ELSIF lease IS NOT NULL THEN
            PERFORM 1 FROM signoff_threads WHERE thread_id = thread AND epoch = lease;
            IF NOT FOUND THEN RETURN 3; END IF;
        END IF;

        FOR i IN 1 .. COALESCE(array_length(row_bodies, 1), 0) LOOP
            PERFORM 1 FROM signoff_checkpoints
            WHERE thread_id = thread AND ns = row_texts[2 * i - 1] AND id = row_ids[2 * i - 1];
            IF FOUND AND NOT EXISTS (
                SELECT 1 FROM unnest(replaced, replaced_ids) AS old (ns, id)
                WHERE old.ns = row_texts[2 * i - 1] AND old.id = row_ids[2 * i - 1]
            ) THEN RETURN 1; END IF;
            CONTINUE WHEN row_numbers[3 * i - 2] IS NULL
                OR (row_ids[2 * i] = row_ids[2 * i - 3] AND row_texts[2 * i - 1] = row_texts[2 * i - 3])
                OR row_ids[2 * i] = ANY (
                SELECT row_ids[2 * j - 1] FROM generate_series(1, i - 1) AS j
                WHERE row_texts[2 * j - 1] = row_texts[2 * i - 1]
            );
            PERFORM 1 FROM signoff_checkpoints WHERE thread_id = thread AND ns = row_texts[2 * i - 1]
                AND id = row_ids[2 * i] AND seal = row_numbers[3 * i - 2];
            IF NOT FOUND THEN RETURN 1; END IF;
        END LOOP;
        FOR i IN 1 .. COALESCE(array_length(write_data, 1), 0) LOOP
            CONTINUE WHEN write_numbers[2 * i] = 1;
            PERFORM 1 FROM signoff_writes WHERE thread_id = thread AND ns = write_texts[3 * i - 2]
                AND checkpoint_id = write_ids[i] AND task_id = write_texts[3 * i - 1]
                AND idx = write_numbers[2 * i - 1] AND data <> write_data[i];
            IF FOUND THEN RETURN 1; END IF;
        END LOOP;
        FOR i IN 1 .. COALESCE(array_length(item_data, 1), 0) LOOP
            SELECT start + count INTO n FROM signoff_items
            WHERE thread_id = thread AND lineage = item_numbers[3 * i - 2] ORDER BY start DESC LIMIT 1;
            IF COALESCE(n, 0) <> item_numbers[3 * i - 1] AND NOT item_numbers[3 * i - 2] = ANY (
                SELECT item_numbers[3 * j - 2] FROM generate_series(1, i - 1) AS j
            ) THEN RETURN 1; END IF;
        END LOOP;

        IF lease = 0 AND NOT COALESCE(is_ours, FALSE) THEN
            INSERT INTO signoff_threads AS old (thread_id, epoch, holder, expires_at)
            VALUES (thread, COALESCE(seen_epoch, 0) + 1, CASE WHEN ends THEN NULL ELSE new_holder END, until)
            ON CONFLICT (thread_id) DO UPDATE
            SET epoch = excluded.epoch, holder = excluded.holder, expires_at = excluded.expires_at;
        ELSIF lease > 0 AND ends THEN
            UPDATE signoff_threads SET holder = NULL WHERE thread_id = thread;
        END IF;
        IF closes_all THEN
            DELETE FROM signoff_questions WHERE thread_id = thread;
        ELSIF array_length(closed, 1) > 0 THEN
            DELETE FROM signoff_questions WHERE thread_id = thread AND id = ANY (closed);
        END IF;
        FOR i IN 1 .. COALESCE(array_length(asked_values, 1), 0) LOOP
            INSERT INTO signoff_questions (thread_id, id, graph, path, node, asked_at, text, type, value)
            VALUES (thread, asked[7 * i - 6], asked[7 * i - 5], asked[7 * i - 4], asked[7 * i - 3], asked[7 * i - 2],
                asked[7 * i - 1], asked[7 * i], asked_values[i])
            ON CONFLICT DO NOTHING;
        END LOOP;
        FOR i IN 1 .. COALESCE(array_length(rewritten_bodies, 1), 0) LOOP
            UPDATE signoff_checkpoints SET parent = signoff_short_parent(id, rewritten_ids[2 * i]), depth = 0,
                writes = CASE WHEN rewritten_ids[2 * i] IS NOT NULL THEN writes ELSE '' END, body = rewritten_bodies[i]
            WHERE thread_id = thread AND ns = rewritten[i] AND id = rewritten_ids[2 * i - 1];
        END LOOP;
        FOR i IN 1 .. COALESCE(array_length(blobs, 1), 0) LOOP
            INSERT INTO signoff_blobs (thread_id, digest, data) VALUES (thread, digests[i], blobs[i])
            ON CONFLICT DO NOTHING;
        END LOOP;
        FOR i IN 1 .. COALESCE(array_length(item_data, 1), 0) LOOP
            INSERT INTO signoff_items (thread_id, lineage, start, count, data) VALUES
                (thread, item_numbers[3 * i - 2], item_numbers[3 * i - 1], item_numbers[3 * i], item_data[i]);
        END LOOP;
        FOR i IN 1 .. COALESCE(array_length(write_data, 1), 0) LOOP
            INSERT INTO signoff_writes (thread_id, ns, checkpoint_id, task_id, idx, path, data) VALUES
                (thread, write_texts[3 * i - 2], write_ids[i], write_texts[3 * i - 1],
                 write_numbers[2 * i - 1], write_texts[3 * i], write_data[i])
            ON CONFLICT (thread_id, ns, checkpoint_id, task_id, idx) DO UPDATE
            SET path = excluded.path, data = excluded.data;
        END LOOP;
        FOR i IN 1 .. COALESCE(array_length(row_bodies, 1), 0) LOOP
            INSERT INTO signoff_checkpoints AS old (thread_id, ns, id, parent, depth, run, seal, writes, body, branch)
            VALUES (thread, row_texts[2 * i - 1], row_ids[2 * i - 1],
                signoff_short_parent(row_ids[2 * i - 1], row_ids[2 * i]), row_numbers[3 * i - 1], row_texts[2 * i],
                row_numbers[3 * i], row_writes[i], row_bodies[i], EXISTS (SELECT 1 FROM signoff_checkpoints AS later
                    WHERE later.thread_id = thread AND later.ns = row_texts[2 * i - 1]
                    AND later.id > LEAST(row_ids[2 * i - 1], row_ids[2 * i]) AND later.id <> row_ids[2 * i - 1]))
            ON CONFLICT (thread_id, ns, id) DO UPDATE SET depth = excluded.depth, run = excluded.run,
                seal = excluded.seal, body = excluded.body, parent = excluded.parent, branch = excluded.branch,
                writes = CASE
                    WHEN excluded.writes = '' AND old.parent IS NOT DISTINCT FROM excluded.parent
                    THEN old.writes ELSE excluded.writes END;
        END LOOP;
        RETURN 0;
    END $$
    """,
    # The same for a checkpoint that stands on another one and nothing else, as after most steps.
    """
    CREATE FUNCTION signoff_step(
        thread TEXT, lease BIGINT, new_ns TEXT, new_id BYTEA, new_parent BYTEA, parent_seal BIGINT, new_depth SMALLINT,
        new_run TEXT, new_seal BIGINT, new_writes BYTEA, new_body BYTEA
    ) RETURNS INTEGER LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('signoff ' || thread, 0));
        INSERT INTO signoff_checkpoints (thread_id, ns, id, parent, depth, run, seal, writes, body, branch)
        SELECT thread, new_ns, new_id, signoff_short_parent(new_id, new_parent), new_depth, new_run, new_seal,
            new_writes, new_body, EXISTS (SELECT 1 FROM signoff_checkpoints AS later WHERE later.thread_id = thread
                AND later.ns = new_ns AND later.id > LEAST(new_id, new_parent) AND later.id <> new_id)
        FROM signoff_threads AS held, signoff_checkpoints AS parent
        WHERE held.thread_id = thread AND held.epoch = lease
        AND parent.thread_id = thread AND parent.ns = new_ns AND parent.id = new_parent AND parent.seal = parent_seal
        ON CONFLICT DO NOTHING;
        IF FOUND THEN RETURN 0; END IF;
        PERFORM 1 FROM signoff_checkpoints
        WHERE thread_id = thread AND ns = new_ns AND id = new_id AND seal = new_seal;
        IF FOUND THEN RETURN 0; END IF;
        PERFORM 1 FROM signoff_threads WHERE thread_id = thread AND epoch = lease;
        RETURN CASE WHEN FOUND THEN 1 ELSE 3 END;
    END $$
    """,
)


class SaverTooNew(SignoffError):
    """The database was written by a newer signoff; nothing was changed in it."""


SCHEMA = Schema("saver", "signoff_checkpoint_migrations", MIGRATIONS, SaverTooNew)
