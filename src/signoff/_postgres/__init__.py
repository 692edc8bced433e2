"""What everything in a Postgres database stands on: effects, transactions, migrations, and who performs them.

A procedure is written once, out of `read`, `write` and `transaction`:

    def rename(old: str, new: str) -> Steps[bool]:
        rows = yield from write(Execute("UPDATE signoff_x SET name = %s WHERE name = %s RETURNING 1", (new, old)))
        return bool(rows[0])

and performed by a shell: `Connection(source).run(rename("a", "b"))`, or `await AsyncConnection(source).run(...)`,
where the source is an address, a connection or a pool. Nothing here needs a session (no prepared statements, no
SET, no LISTEN, no lock that outlives its transaction), so a transaction pooler may stand in between.
"""
