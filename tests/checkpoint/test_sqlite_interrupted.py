"""Ctrl-C, or a handler of SIGTERM that raises, at any moment of a write: nobody waits for the connection for ever."""

from itertools import count

import pytest

from interrupting import Interrupted, interrupted_at
from signoff._sqlite.connection import Connection, connect
from signoff._sqlite.effects import Execute, Read, Write, WriteOne, alone, in_transaction
from signoff._sqlite.together import Turn, write_together
from signoff.store.sqlite import SqliteStore

NOTE = Execute("INSERT INTO notes VALUES (?)", ("a",))


def interrupting(call, moment):
    """Make a call that is interrupted at a moment; whether it came to that."""
    return interrupted_at(moment, ["signoff"], call)


def one(effect):
    return (yield effect)


PROCEDURES = {
    "read": lambda: one(Read("SELECT * FROM notes")),
    "write": lambda: one(Write([NOTE])),
    "write one": lambda: one(WriteOne(*NOTE)),
    "alone": lambda: alone(one(NOTE)),
    "transaction": lambda: in_transaction("write", one(NOTE)),
}


@pytest.fixture
def conn(tmp_path):
    conn = connect(tmp_path / "notes.db")
    conn.execute("CREATE TABLE notes (text TEXT)")
    yield conn
    conn.close()


# A generator that is left in its middle says so.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("procedure", PROCEDURES.values(), ids=PROCEDURES)
def test_a_procedure_that_is_interrupted_leaves_neither_a_lock_nor_a_transaction(conn, procedure):
    connection = Connection(conn)
    for moment in count(1):
        is_cut_off = interrupting(lambda: connection.run(procedure()), moment)
        assert (connection.lock.locked(), conn.in_transaction) == (False, False), f"at moment {moment}"
        if not is_cut_off:
            break
    assert moment > 5


class InterruptedAtCommit:
    """A connection on which a signal is heard once something is written."""

    def __init__(self, conn):
        self.conn = conn

    def __getattr__(self, name):
        return getattr(self.conn, name)

    def execute(self, sql, params=()):
        cursor = self.conn.execute(sql, params)
        if sql == "COMMIT":
            raise Interrupted
        return cursor


def test_those_whose_writes_went_out_with_one_that_was_interrupted_behind_it_hear_that_they_are_written(conn):
    turns = [Turn(Write([NOTE])), Turn(WriteOne(*NOTE))]
    with pytest.raises(Interrupted):
        write_together(InterruptedAtCommit(conn), turns)
    assert [turn.is_over for turn in turns] == [True, True]
    assert conn.execute("SELECT count(*) FROM notes").fetchone() == (2,)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_store_that_is_interrupted_leaves_neither(conn):
    store = SqliteStore(conn)
    for moment in count(1):
        store.is_setup = False
        is_cut_off = interrupting(lambda: store.put(("a",), "b", {"c": 1}), moment)
        assert (store.lock.locked(), conn.in_transaction) == (False, False), f"at moment {moment}"
        if not is_cut_off:
            break
    assert moment > 50
