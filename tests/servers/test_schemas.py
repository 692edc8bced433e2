"""A schema that is used again shows nothing of the test before."""

import psycopg
import pytest

from servers import postgres
from servers.schemas import LARGE, Schemas


def make(url):
    with psycopg.connect(url, autocommit=True) as conn:
        conn.execute("CREATE TABLE migrations (number INT)")
        conn.execute("INSERT INTO migrations VALUES (1)")
        conn.execute("CREATE TABLE threads (name TEXT, data BYTEA)")
        conn.execute("CREATE FUNCTION one() RETURNS INT LANGUAGE sql AS 'SELECT 1'")


@pytest.fixture
def schemas():
    schemas = Schemas(postgres.shared_url(), make, "migrations")
    yield schemas
    schemas.close()


def tables_in(schemas):
    """The ids of the tables that the next test is given: other ones if they were made anew."""
    with schemas.one() as url, psycopg.connect(url) as conn:
        assert conn.execute("SELECT * FROM threads").fetchall() == []
        assert conn.execute("SELECT * FROM migrations").fetchall() == [(1,)]
        assert conn.execute("SELECT one()").fetchall() == [(1,)]
        return conn.execute("SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace").fetchall()


def test_the_next_one_has_the_same_tables_and_nothing_is_in_them(schemas):
    before = tables_in(schemas)
    with schemas.one() as url, psycopg.connect(url) as conn:
        conn.execute("INSERT INTO threads VALUES ('mine')")
    assert tables_in(schemas) == before


CHANGES = [
    "CREATE TABLE more (a INT)",
    "DROP TABLE threads",
    "DROP TABLE migrations",
    "ALTER TABLE threads ADD COLUMN more INT",
    "ALTER TABLE threads ALTER COLUMN name SET DEFAULT 'nobody'",
    "ALTER TABLE threads ADD CHECK (name <> '')",
    "CREATE INDEX ON threads (name)",
    "CREATE SEQUENCE numbers",
    "CREATE VIEW seen AS SELECT * FROM threads",
    "CREATE OR REPLACE FUNCTION one() RETURNS INT LANGUAGE sql AS 'SELECT 2'",
    "CREATE FUNCTION two() RETURNS INT LANGUAGE sql AS 'SELECT 2'",
    "CREATE TRIGGER quiet BEFORE INSERT ON threads FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger()",
    "CREATE RULE kept AS ON DELETE TO threads DO INSTEAD NOTHING",
    "REVOKE ALL ON threads FROM current_user",
    "INSERT INTO migrations VALUES (2)",
    "DELETE FROM migrations",
    f"INSERT INTO threads SELECT 'one of many' FROM generate_series(1, {LARGE // 30})",
]


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_test_has_changed_is_made_anew(schemas, change):
    before = tables_in(schemas)
    with schemas.one() as url, psycopg.connect(url, autocommit=True) as conn:
        conn.execute(change)
    assert not {*tables_in(schemas)} & {*before}


def test_a_schema_that_was_dropped_is_made_anew(schemas):
    with schemas.one() as url, psycopg.connect(url, autocommit=True) as conn:
        conn.execute(f"DROP SCHEMA {conn.execute('SELECT current_schema()').fetchone()[0]} CASCADE")
    tables_in(schemas)


def test_who_comes_late_does_not_find_it(schemas):
    with schemas.one() as url:
        late = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        late.execute("INSERT INTO threads VALUES ('in time')")
    with late, schemas.one() as next_url, psycopg.connect(next_url) as conn:
        with pytest.raises(psycopg.errors.UndefinedTable):
            late.execute("INSERT INTO threads VALUES ('in time')")
        with psycopg.connect(url) as later, pytest.raises(psycopg.errors.UndefinedTable):
            later.execute("INSERT INTO threads VALUES ('later')")
        assert conn.execute("SELECT * FROM threads").fetchall() == []


def test_a_test_that_fails_leaves_nothing(schemas):
    def fail():
        with schemas.one() as url, psycopg.connect(url, autocommit=True) as conn:
            conn.execute("INSERT INTO threads VALUES ('left')")
            raise ZeroDivisionError

    pytest.raises(ZeroDivisionError, fail)
    tables_in(schemas)


def test_two_at_a_time_are_not_the_same(schemas):
    with schemas.one() as one, schemas.one() as other:
        assert one != other
