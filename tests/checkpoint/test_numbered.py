"""Statements with `?1` are given their values by name where Python wants that, and mean the same."""

import sqlite3
import sys
from contextlib import closing

import pytest

from signoff._sqlite.connection import connect
from signoff._sqlite.numbered import CONNECTION, _Connection
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.testing.conformance import savers


@pytest.fixture(params=[CONNECTION, _Connection])
def conn(request):
    conn = sqlite3.connect(":memory:", factory=request.param)
    yield conn
    conn.close()


def test_values_by_number_and_in_order_mean_the_same(conn):
    assert conn.execute("SELECT ?2, ?1, ?2", ("a", "b")).fetchall() == [("b", "a", "b")]
    assert conn.cursor().execute("SELECT ?, ?", ("a", "b")).fetchall() == [("a", "b")]
    conn.execute("CREATE TABLE pairs (a, b)")
    conn.executemany("INSERT INTO pairs VALUES (?1, ?1 || ?2)", [("a", "b"), ("c", "d")])
    conn.executemany("INSERT INTO pairs VALUES (?, ?)", iter([("e", "f")]))
    assert conn.execute("SELECT * FROM pairs").fetchall() == [("a", "ab"), ("c", "cd"), ("e", "f")]


@pytest.mark.parametrize("check", [*savers.CHECKS, *savers.OWN_CHECKS, *savers.LOG_CHECKS], ids=str)
def test_a_saver_that_gives_them_by_name_keeps_its_promises(check, openers, monkeypatch):
    monkeypatch.setattr("signoff._sqlite.connection.CONNECTION", _Connection)
    check(savers.World(openers["sqlite"]))


def test_connections_are_plain_ones_on_every_other_version():
    is_concerned = (3, 12) <= sys.version_info < (3, 12, 4)
    with connect(":memory:") as conn:
        assert (type(conn) is sqlite3.Connection) is not is_concerned
    conn.close()


def test_connections_of_a_class_of_ones_own_take_them_too():
    class Own(sqlite3.Connection):
        pass

    with closing(SqliteSaver(sqlite3.connect(":memory:", check_same_thread=False, factory=Own))) as saver:
        assert saver.get_tuple({"configurable": {"thread_id": "1"}}) is None  # a warning would be an error here
