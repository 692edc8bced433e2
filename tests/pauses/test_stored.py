"""What pauses cost in a SQLite file: commits and bytes."""

import operator
import sqlite3
from contextlib import closing
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt

from .programs import NEW, Works, asking, beside, line
from .ways import on_thread

CONFIG = on_thread("1")


class Counted:
    """A saver in a file whose commits are counted."""

    def __init__(self, file):
        self.conn = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self.saver = SqliteSaver(self.conn)
        self.saver.setup()
        self.commits, self.writes = 0, False
        self.conn.set_trace_callback(self.note)

    def note(self, statement):
        """Count the ends of transactions that write; those that only read cost nothing."""
        if statement.startswith("BEGIN"):
            self.writes = statement == "BEGIN IMMEDIATE"
        is_alone = not self.conn.in_transaction and statement.lstrip().startswith("INSERT")
        self.commits += is_alone or (statement == "COMMIT" and self.writes)

    def of(self, app, input, **settings):
        """The commits of a call."""
        before = self.commits
        app.invoke(input, CONFIG, **settings)
        return self.commits - before


@pytest.fixture
def counted(tmp_path):
    counted = Counted(tmp_path / "threads.db")
    with closing(counted.conn):
        yield counted


def chain(length):
    return line(**{f"node {number}": Works().node("x") for number in range(length)})


def test_a_step_is_one_commit(counted):
    app = chain(10).compile(checkpointer=counted.saver)
    assert counted.of(app, NEW, durability="sync") == 11  # the input, and the lease with it; then a step each


def test_steps_that_are_quicker_than_the_disk_share_a_commit(counted):
    app = chain(10).compile(checkpointer=counted.saver)
    assert 3 <= counted.of(app, NEW, durability="async") <= 11  # the input, what came together meanwhile, the end
    assert len(list(app.get_state_history(CONFIG))) == 12


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_one_node_is_two_commits(counted, durability):
    app = chain(1).compile(checkpointer=counted.saver)
    assert counted.of(app, NEW, durability=durability) == 2


@pytest.mark.parametrize("durability", ["sync", "async"])
def test_to_a_question_and_to_the_end_are_two_commits_each(counted, durability):
    app = beside(ask=asking()).compile(checkpointer=counted.saver)
    assert counted.of(app, NEW, durability=durability) == 2
    assert counted.of(app, Command(resume="yes"), durability=durability) == 2


def test_a_refused_answer_is_no_commit(counted):
    app = beside(ask=asking(response_schema=int)).compile(checkpointer=counted.saver)
    app.invoke(NEW, CONFIG)
    before = counted.commits
    for wrong in ("thirty", {"0" * 32: 1}):
        with pytest.raises(ValueError, match="refused|no open question"):
            app.invoke(Command(resume=wrong), CONFIG)
    assert counted.commits == before


def test_exit_is_one_commit_for_a_run(counted):
    app = chain(10).compile(checkpointer=counted.saver)
    assert counted.of(app, NEW, durability="exit") <= 2


# Bytes


class Answers(TypedDict):
    answers: Annotated[list, operator.add]


def test_the_bytes_of_a_resume_do_not_grow_with_the_questions_before(tmp_path):
    def ask(state):
        return {"answers": [interrupt(f"question {number:03d}?") for number in range(100)]}

    file = str(tmp_path / "threads.db")
    written = []
    with SqliteSaver.from_conn_string(file) as saver, closing(sqlite3.connect(file)) as other:
        app = StateGraph(Answers).add_node("ask", ask).add_edge(START, "ask").compile(checkpointer=saver)
        app.invoke({"answers": []}, CONFIG)
        for number in range(100):
            before = stored_bytes(other)
            result = app.invoke(Command(resume=f"answer {number:03d}"), CONFIG)
            written.append(stored_bytes(other) - before)
    assert result["answers"] == [f"answer {number:03d}" for number in range(100)]
    early, late = written[1:50], written[50:99]
    assert max(late) <= max(early) + 50
    assert max(late) < 2000


def stored_bytes(file):
    """How many bytes of texts and blobs the tables of a file have."""
    return sum(len(value) for row in all_rows(file) for value in row if isinstance(value, str | bytes))


def all_rows(file):
    tables = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return [row for (table,) in tables for row in file.execute(f"SELECT * FROM {table}")]


def test_a_hundred_parallel_questions_answered_one_by_one_store_each_answer_once(tmp_path):
    nodes = {f"node {number:03d}": asking(number) for number in range(100)}
    file = str(tmp_path / "threads.db")
    with SqliteSaver.from_conn_string(file) as saver, closing(sqlite3.connect(file)) as other:
        app = beside(**nodes).compile(checkpointer=saver)
        app.invoke(NEW, CONFIG)
        ids = {question.value: question.id for question in app.get_state(CONFIG).interrupts}
        written = []
        for number in range(99):
            before = len(all_rows(other))
            app.invoke(Command(resume={ids[number]: "yes"}), CONFIG)
            written.append(len(all_rows(other)) - before)
        assert max(written) <= 3
        assert app.invoke(Command(resume={ids[99]: "yes"}), CONFIG) == {"log": ["yes"] * 100}
