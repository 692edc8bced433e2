"""What the database does itself, as functions: one trip to the server each, with plans that it keeps.

A plan that was made while a table was small would read all of it, and go on to do so when it has grown, until the
server measures it again. So those that are called plan without that.
"""

from signoff._postgres.failures import ONE_MOMENT

__all__ = ["APPEND", "CHILDREN", "LOCK", "LOOK", "STANDING", "STEP"]

# Who writes to a thread waits for whoever does, until the end of the transaction, and then has to see what that was.
# A transaction that sees one moment does not: it is refused.
LOCK = f"""
    CREATE FUNCTION signoff_lock(thread TEXT) RETURNS VOID LANGUAGE plpgsql AS $$
    BEGIN
        IF current_setting('transaction_isolation') <> 'read committed' THEN
            RAISE 'this transaction would not see what others did meanwhile' USING ERRCODE = '{ONE_MOMENT}';
        END IF;
        PERFORM pg_advisory_xact_lock(hashtextextended('signoff ' || thread, 0));
    END $$
"""

# What tells that anything was stored in a thread.
STANDING = """
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
"""

# The children of a checkpoint: the next one that is no branch, if it is one, and branches.
CHILDREN = """
    CREATE FUNCTION signoff_children(thread TEXT, wanted_ns TEXT, wanted BYTEA)
    RETURNS TABLE (id BYTEA, writes BYTEA) LANGUAGE plpgsql STABLE AS $$
    BEGIN
        RETURN QUERY SELECT following.id, following.writes FROM (
            SELECT log.id, log.parent, log.writes FROM signoff_checkpoints AS log
            WHERE log.thread_id = thread AND log.ns = wanted_ns AND log.id > wanted AND NOT log.branch
            ORDER BY log.id LIMIT 1
        ) AS following WHERE signoff_parent(following.id, following.parent) = wanted;
        RETURN QUERY SELECT log.id, log.writes FROM signoff_checkpoints AS log WHERE log.thread_id = thread
            AND log.ns = wanted_ns AND signoff_parent(log.id, log.parent) = wanted AND log.branch;
    END $$
"""

# A checkpoint (the newest, if none is named) with those that it stands on, its writes, what the ones after it have
# carried of them, and, if somebody looks, how the thread stands: rows of four kinds with the same columns, all of one
# moment. The depth falls from each checkpoint to the one below, so that nothing in the tables makes this go on for
# ever. As a query of its own it took ten times longer to plan than to do.
LOOK = """
    CREATE FUNCTION signoff_look(thread TEXT, wanted_ns TEXT, wanted BYTEA, known_seal BIGINT, looks BOOLEAN)
    RETURNS TABLE (
        kind INTEGER, one_id BYTEA, other_id BYTEA, number BIGINT, more BIGINT, bytes BYTEA, one TEXT, other TEXT
    ) LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
    DECLARE
        is_head BOOLEAN := wanted IS NULL;
        below BYTEA;
        above INTEGER := 32767;
    BEGIN
        IF is_head THEN
            SELECT log.id INTO wanted FROM signoff_checkpoints AS log
            WHERE log.thread_id = thread AND log.ns = wanted_ns ORDER BY log.id DESC LIMIT 1;
        END IF;
        kind := 1;
        below := wanted;
        WHILE below IS NOT NULL LOOP
            SELECT log.id, signoff_parent(log.id, log.parent), log.depth, log.seal, log.body
            INTO one_id, other_id, number, more, bytes FROM signoff_checkpoints AS log
            WHERE log.thread_id = thread AND log.ns = wanted_ns AND log.id = below AND log.depth < above;
            EXIT WHEN NOT FOUND;
            RETURN NEXT;
            EXIT WHEN more = known_seal;
            below := other_id;
            above := number;
        END LOOP;
        RETURN QUERY SELECT 2, NULL::bytea, NULL::bytea, kept.idx::bigint, NULL::bigint, kept.data, kept.task_id,
            kept.path FROM signoff_writes AS kept
            WHERE kept.thread_id = thread AND kept.ns = wanted_ns AND kept.checkpoint_id = wanted;
        IF NOT is_head THEN
            RETURN QUERY SELECT 3, child.id, NULL::bytea, NULL::bigint, NULL::bigint, child.writes, NULL, NULL
                FROM signoff_children(thread, wanted_ns, wanted) AS child WHERE child.writes <> '';
        END IF;
        IF looks THEN
            RETURN QUERY SELECT 4, now.head, NULL::bytea, now.epoch, now.is_expired::integer::bigint, NULL::bytea,
                now.written, now.holder FROM signoff_standing(thread) AS now;
        END IF;
    END $$
"""

# A plan, written to one thread, whose writers wait for each other: the lock ends with the transaction. All
# that could be in the way is looked at before anything is written.
#   lease: NULL without one, 0 to take the thread, else the epoch that it must have.
#   Returns 0 if it was done, now or, the answer having been lost, before; 1 if the plan does not fit; 2 if the
#   thread does not stand as it was seen; 3 if the lease was lost.
APPEND = """
    CREATE FUNCTION signoff_append(
        thread TEXT,
        lease BIGINT, new_holder TEXT, seen_epoch BIGINT, seen_head BYTEA, seen_written TEXT, new_epoch BIGINT,
        lease_s FLOAT8, ends BOOLEAN,
        closes_all BOOLEAN = FALSE, closed TEXT[] = '{}', asked TEXT[] = '{}', asked_values BYTEA[] = '{}',
        row_texts TEXT[] = '{}', row_ids BYTEA[] = '{}', row_numbers BIGINT[] = '{}', row_bodies BYTEA[] = '{}',
        row_writes BYTEA[] = '{}',
        write_texts TEXT[] = '{}', write_ids BYTEA[] = '{}', write_numbers BIGINT[] = '{}', write_data BYTEA[] = '{}',
        item_numbers INTEGER[] = '{}', item_data BYTEA[] = '{}',
        digests BYTEA[] = '{}', blobs BYTEA[] = '{}',
        replaced TEXT[] = '{}', replaced_ids BYTEA[] = '{}',
        rewritten TEXT[] = '{}', rewritten_ids BYTEA[] = '{}', rewritten_bodies BYTEA[] = '{}'
    ) RETURNS INTEGER LANGUAGE plpgsql SET enable_seqscan = off AS $$
    DECLARE
        until FLOAT8 := EXTRACT(EPOCH FROM clock_timestamp()) + COALESCE(lease_s, 'Infinity'::FLOAT8);
        standing RECORD;
        is_ours BOOLEAN := FALSE;
        found_seal BIGINT;
        same INTEGER := 0;
        is_in_the_way BOOLEAN := FALSE;
        refused INTEGER := 0;
        n INTEGER;
    BEGIN
        PERFORM signoff_lock(thread);
        FOR i IN 1 .. COALESCE(array_length(row_bodies, 1), 0) LOOP
            SELECT seal INTO found_seal FROM signoff_checkpoints
            WHERE thread_id = thread AND ns = row_texts[2 * i - 1] AND id = row_ids[2 * i - 1];
            CONTINUE WHEN found_seal IS NULL;
            IF found_seal = row_numbers[3 * i] THEN same := same + 1; END IF;
            is_in_the_way := is_in_the_way OR NOT EXISTS (
                SELECT 1 FROM unnest(replaced, replaced_ids) AS old (ns, id)
                WHERE old.ns = row_texts[2 * i - 1] AND old.id = row_ids[2 * i - 1]
            );
        END LOOP;
        IF same > 0 AND same = array_length(row_bodies, 1) THEN RETURN 0; END IF;

        IF lease = 0 THEN
            SELECT * INTO standing FROM signoff_standing(thread);
            is_ours := NOT ends AND standing.holder = new_holder AND standing.epoch = new_epoch;
            IF NOT COALESCE(is_ours, FALSE) AND (standing.epoch IS DISTINCT FROM seen_epoch
                OR standing.head IS DISTINCT FROM seen_head OR standing.written IS DISTINCT FROM seen_written)
            THEN refused := 2; END IF;
        ELSIF lease IS NOT NULL THEN
            PERFORM 1 FROM signoff_threads WHERE thread_id = thread AND epoch = lease;
            IF NOT FOUND THEN refused := 3; END IF;
        END IF;
        IF refused > 0 THEN
            -- Unless it was the last of this very run, and all of it is there.
            RETURN CASE WHEN ends AND array_length(row_bodies, 1) IS NULL AND array_length(write_data, 1) > 0
                AND EXISTS (SELECT 1 FROM signoff_threads WHERE thread_id = thread AND ended = new_holder)
                AND NOT EXISTS (
                    SELECT 1 FROM generate_series(1, array_length(write_data, 1)) AS i
                    LEFT JOIN signoff_writes AS kept ON kept.thread_id = thread AND kept.ns = write_texts[3 * i - 2]
                        AND kept.checkpoint_id = write_ids[i] AND kept.task_id = write_texts[3 * i - 1]
                        AND kept.idx = write_numbers[2 * i - 1]
                    WHERE kept.data IS DISTINCT FROM write_data[i]
                ) THEN 0 ELSE refused END;
        END IF;

        IF is_in_the_way THEN RETURN 1; END IF;
        FOR i IN 1 .. COALESCE(array_length(row_bodies, 1), 0) LOOP
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
            INSERT INTO signoff_threads AS old (thread_id, epoch, holder, ended, expires_at)
            VALUES (thread, new_epoch, CASE WHEN ends THEN NULL ELSE new_holder END,
                CASE WHEN ends THEN new_holder END, until)
            ON CONFLICT (thread_id) DO UPDATE
            SET epoch = excluded.epoch, holder = excluded.holder, ended = COALESCE(excluded.ended, old.ended),
                expires_at = excluded.expires_at;
        ELSIF lease > 0 AND ends THEN
            UPDATE signoff_threads SET holder = NULL, ended = new_holder WHERE thread_id = thread;
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
"""

# The same for a checkpoint that stands on another one and nothing else, as after most steps.
STEP = """
    CREATE FUNCTION signoff_step(
        thread TEXT, lease BIGINT, new_ns TEXT, new_id BYTEA, new_parent BYTEA, parent_seal BIGINT, new_depth SMALLINT,
        new_run TEXT, new_seal BIGINT, new_writes BYTEA, new_body BYTEA
    ) RETURNS INTEGER LANGUAGE plpgsql SET enable_seqscan = off AS $$
    BEGIN
        PERFORM signoff_lock(thread);
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
"""
