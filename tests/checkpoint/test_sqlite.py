"""What is special about the saver in a file: its tables, its transactions, its neighbours."""

import sqlite3
import subprocess
import sys
from functools import cache

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_crash_points import asked_and_dropped
from test_savers import Story, steps

from loading import modules_after
from signoff._sqlite.numbered import CONNECTION
from signoff.checkpoint.base import Commit, Lease, TaskWrites, checkpoint_config
from signoff.checkpoint.encoding import packed
from signoff.checkpoint.log import memory, plans
from signoff.checkpoint.memory import InMemorySaver
from signoff.checkpoint.questions import Filing, Question, Wanted
from signoff.checkpoint.serde.unread import Unread, showing
from signoff.checkpoint.sqlite import SqliteSaver, writing
from signoff.checkpoint.sqlite.schema import MIGRATIONS, SaverTooNew
from signoff.errors import InvalidInput, LeaseLost, NotStorable, Undecodable
from signoff.testing.conformance._saver_words import T, after, at, ids, made, put, values_of
from signoff.types import Interrupt

patient = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "saver.db")


@pytest.fixture
def saver(path):
    with SqliteSaver.from_conn_string(path) as saver:
        yield saver


def rows(saver, table="signoff_checkpoints", columns="*"):
    return saver.conn.execute(f"SELECT {columns} FROM {table}").fetchall()


def grow(saver, count, *, start=0, thread="thread"):
    """A history in which one of two channels changes at each step."""
    for step in range(start, start + count):
        put(
            saver,
            f"{step:03}",
            {"a": step, "big": "x" * 1000},
            parent=f"{step - 1:03}" if step else None,
            versions={"a": step + 1, "big": 1},
            new={"a": step + 1} if step else {"a": 1, "big": 1},
            thread=thread,
        )


# The file


def test_what_was_stored_is_there_when_the_file_is_opened_again(path):
    with SqliteSaver.from_conn_string(path) as saver:
        grow(saver, 3)
        saver.put_writes(at("002"), [("a", 9)], "task")
        before = list(saver.list(None))
    with SqliteSaver.from_conn_string(path) as saver:
        assert list(saver.list(None)) == before
        grow(saver, 2, start=3)
        assert values_of(saver)["a"] == 4


def test_setup_may_be_called_often_or_not_at_all(path):
    with SqliteSaver.from_conn_string(path) as saver:
        saver.setup()
        saver.setup()
        put(saver, "1", {"a": 1})
    with SqliteSaver.from_conn_string(path) as saver:
        assert ids(saver.list(None)) == ["1"]
        saver.setup()
        assert saver.is_setup


def test_a_file_that_has_its_tables_is_looked_at_and_left_as_it_is(path, saver):
    saver.setup()
    with SqliteSaver.from_conn_string(path) as other:
        assert traced(other, other.setup) == ["SELECT", "PRAGMA"]


@pytest.mark.parametrize("done", range(len(MIGRATIONS)))
def test_a_file_at_any_earlier_migration_is_brought_up_to_date(saver, done):
    saver.conn.execute("CREATE TABLE signoff_checkpoint_migrations (number INTEGER PRIMARY KEY)")
    for number, statement in enumerate(MIGRATIONS[:done], start=1):
        saver.conn.execute(statement)
        saver.conn.execute("INSERT INTO signoff_checkpoint_migrations VALUES (?)", (number,))
    put(saver, "1", {"a": 1})
    assert values_of(saver) == {"a": 1}
    numbers = rows(saver, "signoff_checkpoint_migrations")
    assert numbers == [(number,) for number in range(1, len(MIGRATIONS) + 1)]


def test_a_file_of_a_newer_version_is_left_alone(path, saver):
    saver.setup()
    saver.conn.execute("INSERT INTO signoff_checkpoint_migrations VALUES (999)")
    with (
        SqliteSaver.from_conn_string(path) as other,
        pytest.raises(SaverTooNew, match=r"999.*upgrade signoff"),
    ):
        put(other, "1")


def test_the_file_has_a_write_ahead_log_and_is_waited_for(saver):
    saver.setup()
    assert saver.conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert saver.conn.execute("PRAGMA busy_timeout").fetchone() == (30_000,)


@pytest.mark.parametrize("synchronous", [1, 2])
def test_how_the_disk_is_waited_for_is_left_to_the_connection(path, synchronous):
    conn = sqlite3.connect(path)
    conn.execute(f"PRAGMA synchronous={synchronous}")
    saver = SqliteSaver(conn)
    put(saver, "1")
    assert conn.execute("PRAGMA synchronous").fetchone() == (synchronous,)
    conn.close()


def test_memory_and_file_uris_are_conn_strings():
    with SqliteSaver.from_conn_string(":memory:") as saver:
        put(saver, "1", {"a": 1})
        assert values_of(saver) == {"a": 1}
    uri = "file:shared_saver?mode=memory&cache=shared"
    with SqliteSaver.from_conn_string(uri) as saver, SqliteSaver.from_conn_string(uri) as other:
        put(saver, "1", {"a": 1})
        assert values_of(other) == {"a": 1}


@pytest.mark.parametrize("isolation_level", [None, "", "DEFERRED", "EXCLUSIVE"])
def test_a_connection_of_any_isolation_level_and_row_factory_will_do(path, isolation_level):
    conn = sqlite3.connect(path, isolation_level=isolation_level)
    conn.row_factory = lambda cursor, row: {"row": row}
    saver = SqliteSaver(conn)
    grow(saver, 40)
    assert not conn.in_transaction
    assert [one.checkpoint["channel_values"]["a"] for one in saver.list(None, limit=2)] == [39, 38]
    conn.close()
    with SqliteSaver.from_conn_string(path) as saver:
        assert values_of(saver)["a"] == 39


def test_a_connection_in_the_middle_of_something_is_refused_and_left_as_it_is():
    conn = sqlite3.connect(":memory:")
    saver = SqliteSaver(conn)
    put(saver, "1", {"a": 1})
    conn.execute("CREATE TABLE mine (a)")
    conn.execute("INSERT INTO mine VALUES (1)")
    for _ in range(2):  # the second time shows that the saver's lock was given back
        for action in (lambda: put(saver, "2"), lambda: saver.get_tuple(at())):
            with pytest.raises(InvalidInput, match="open transaction"):
                action()
    conn.commit()
    put(saver, "2", {"a": 2}, parent="1")
    assert conn.execute("SELECT * FROM mine").fetchall() == [(1,)]
    conn.close()


def test_a_connection_that_belongs_to_one_thread_is_refused_in_another():
    from concurrent.futures import ThreadPoolExecutor

    conn = sqlite3.connect(":memory:")
    saver = SqliteSaver(conn)
    with ThreadPoolExecutor(1) as pool, pytest.raises(InvalidInput, match="check_same_thread=False"):
        pool.submit(saver.get_tuple, at()).result()
    conn.close()


def test_half_a_surrogate_pair_is_refused_where_sqlite_cannot_store_it_and_kept_where_it_can(saver):
    with pytest.raises(InvalidInput, match="surrogate"):
        put(saver, "1", thread="\ud800")
    with pytest.raises(InvalidInput, match="surrogate"):
        saver.get_tuple(at(thread="\ud800"))
    put(saver, "1", {"\ud800": "\ud801"}, metadata={"\ud800": "\ud801"})
    found = saver.get_tuple(at())
    assert found.checkpoint["channel_values"] == {"\ud800": "\ud801"}
    assert found.metadata == {"\ud800": "\ud801"}


# What a step costs


def traced(saver, action):
    """The statements that an action runs, by their first word."""
    seen = []
    saver.conn.set_trace_callback(seen.append)
    try:
        action()
    finally:
        saver.conn.set_trace_callback(None)
    return [statement.split()[0] for statement in seen]


def commit_step(saver, step):
    checkpoint = {
        **saver.get(at(f"{step - 1:03}")),
        "id": f"{step:03}",
        "channel_values": {"a": step, "big": "x" * 1000},
        "channel_versions": {"a": step + 1, "big": 1},
    }
    writes = [TaskWrites("task", [("a", step), ("trigger", None)], "path")]
    return saver.prepare([Commit(after(f"{step - 1:03}"), writes, checkpoint, {"step": step}, {"a"})])


def test_a_step_is_one_row_that_has_what_its_tasks_wrote(saver):
    grow(saver, 2)
    prepared = commit_step(saver, 2)
    assert traced(saver, lambda: saver.store(prepared)) == ["BEGIN", "INSERT", "COMMIT"]
    assert saver.get_tuple(at("001")).pending_writes == [("task", "a", 2), ("task", "trigger", None)]
    assert rows(saver, "signoff_writes") == []


def test_a_step_of_a_run_that_has_lost_its_thread_is_refused(saver):
    grow(saver, 2)
    lease, other = (Lease("thread", name, saver.look(at())[1].seen) for name in ("me", "other"))
    saver.store([], lease)
    other.seen = saver.look(at())[1].seen
    saver.store([], other)
    with pytest.raises(LeaseLost):
        saver.store(commit_step(saver, 2), lease)
    assert values_of(saver) == {"a": 1, "big": "x" * 1000}


def test_a_step_whose_parent_was_replaced_meanwhile_is_looked_at_again(path, saver):
    grow(saver, 2)
    lease = Lease("thread", "me", saver.look(at())[1].seen)
    saver.store([], lease)
    prepared = commit_step(saver, 2)
    with SqliteSaver.from_conn_string(path) as other:
        put(other, "001", {"a": 7, "big": 3}, parent="000", versions={"a": 9, "big": 9}, new={"a": 9, "big": 9})
    saver.store(prepared, lease)
    assert values_of(saver) == {"a": 2, "big": "x" * 1000}
    assert values_of(saver, "001") == {"a": 7, "big": 3}


def test_what_a_checkpoint_carries_stays_when_it_is_put_again(saver):
    grow(saver, 2)
    saver.store(commit_step(saver, 2))
    before = saver.get_tuple(at("001")).pending_writes
    put(saver, "002", {"a": 3, "big": "x" * 1000}, parent="001", versions={"a": 4, "big": 1}, new={"a": 4})
    assert saver.get_tuple(at("001")).pending_writes == before != []


def test_what_a_checkpoint_carries_stays_when_its_run_is_forgotten(saver):
    grow(saver, 2)
    (entry,) = prepared = commit_step(saver, 2)
    entry.checkpoint.run_id = "r"
    saver.store(prepared)
    before = saver.get_tuple(at("001")).pending_writes
    saver.delete_for_runs(["r"])
    assert saver.get_tuple(at()).checkpoint["id"] == "001"
    assert saver.get_tuple(at()).pending_writes == before != []


def test_a_run_that_begins_by_reading_need_not_look_at_the_parent_again(path, saver):
    grow(saver, 2)
    with SqliteSaver.from_conn_string(path) as other:
        assert other.get_tuple(at()) is not None
        prepared = commit_step(saver, 2)
        which_file = "PRAGMA"
        assert traced(other, lambda: other.store(prepared)) == [which_file, "BEGIN", "INSERT", "COMMIT"]


def test_a_parent_that_is_not_remembered_is_looked_up_before(path, saver):
    grow(saver, 2)
    with SqliteSaver.from_conn_string(path) as other:
        other.setup()
        prepared = commit_step(saver, 2)
        statements = traced(other, lambda: other.store(prepared))
        assert statements[-3:] == ["BEGIN", "INSERT", "COMMIT"]
        assert statements.count("INSERT") == 1
        assert values_of(other) == {"a": 2, "big": "x" * 1000}


def test_a_checkpoint_is_read_with_its_writes_in_one_statement(saver):
    grow(saver, 40)
    assert traced(saver, lambda: saver.get_tuple(at())) == ["SELECT"]


def test_what_a_checkpoint_stands_on_is_read_at_once(path, saver):
    grow(saver, 30)
    with SqliteSaver.from_conn_string(path) as other:
        other.setup()
        seen = traced(other, lambda: other.get_tuple(at()))
        assert seen == ["SELECT", "BEGIN", "SELECT", "SELECT", "COMMIT"]
        assert other.get_tuple(at()) == saver.get_tuple(at())


def test_branches_that_grow_side_by_side_are_read_as_they_are(path, saver):
    grow(saver, 2)
    for step in range(2, 30):
        parent = f"{step - 2:03}" if step > 3 else "001"
        put(saver, f"{step:03}", {"a": step, "big": "x" * 1000}, parent=parent, versions={"a": step + 1, "big": 1},
            new={"a": step + 1})  # fmt: skip
    with SqliteSaver.from_conn_string(path) as other:
        assert [values_of(other, f"{step:03}")["a"] for step in range(30)] == list(range(30))
        assert list(other.list(None)) == list(saver.list(None))


def test_an_unchanged_value_is_not_written_again(saver):
    grow(saver, 30)
    sizes = [size for (size,) in rows(saver, columns="length(body)")]
    assert sizes[0] > 1000
    assert max(sizes[1:]) < 140


def test_a_read_walks_few_rows_however_long_the_history(saver):
    grow(saver, 200)
    depths = [depth for (depth,) in rows(saver, columns="depth")]
    assert depths == [step % (plans.MAX_DEPTH + 1) for step in range(200)]
    assert max(depths) < 32


def test_a_checkpoint_that_leaves_nothing_as_it_was_stands_alone(path, saver):
    put(saver, "1", {"a": 1, "b": 1}, versions={"a": 1, "b": 1}, new={"a": 1, "b": 1})
    put(saver, "2", {"a": 2, "b": 1}, parent="1", versions={"a": 2, "b": 1}, new={"a": 2})
    put(saver, "3", {"a": 3, "c": 3}, parent="2", versions={"a": 3, "c": 3}, new={"a": 3, "c": 3})
    put(saver, "4", {"a": 4}, parent="3", versions={"a": 4, "c": 3}, new={"a": 4})
    put(saver, "5", {"a": 5}, parent="4", versions={"a": 5}, new={"a": 5})
    assert rows(saver, columns="id, depth") == [("1", 0), ("2", 1), ("3", 0), ("4", 1), ("5", 0)]
    with SqliteSaver.from_conn_string(path) as other:
        assert list(other.list(None)) == list(saver.list(None))
        assert [one.checkpoint["channel_values"] for one in other.list(None, limit=3)] == [
            {"a": 5}, {"a": 4}, {"a": 3, "c": 3}]  # fmt: skip
        assert [one.checkpoint["channel_versions"] for one in other.list(None, limit=2)] == [{"a": 5}, {"a": 4, "c": 3}]


def test_every_checkpoint_of_the_last_branch_counts_its_own_way_to_the_snapshot(saver):
    grow(saver, 3)
    put(saver, "100", {"a": 7, "big": 1}, parent="000", versions={"a": 50, "big": 1}, new={"a": 50})
    put(saver, "101", {"a": 8, "big": 1}, parent="100", versions={"a": 51, "big": 1}, new={"a": 51})
    depths = dict(rows(saver, columns="id, depth"))
    assert depths == {"000": 0, "001": 1, "002": 2, "100": 1, "101": 2}
    assert values_of(saver) == {"a": 8, "big": "x" * 1000}


def test_the_memory_of_a_saver_does_not_grow_with_its_threads(saver, monkeypatch):
    monkeypatch.setattr(memory, "SIZE", 16)
    for number in range(100):
        put(saver, "1", {"a": number}, thread=str(number))
    assert len(saver._memory._known) <= 16
    for number in range(100):
        put(saver, "2", {"a": number, "b": 1}, parent="1", new={"b": 1}, thread=str(number))
    assert all(values_of(saver, thread=str(number)) == {"a": number, "b": 1} for number in range(100))


# All or nothing


class Failing(CONNECTION):
    """Fails at the n-th statement it is asked for."""

    fail_at = None

    def execute(self, *args):
        self.count()
        return super().execute(*args)

    def executemany(self, *args):
        self.count()
        return super().executemany(*args)

    def cursor(self):
        return super().cursor(counting(type(super().cursor())))

    def count(self):
        if self.fail_at is not None:
            self.fail_at -= 1
            if self.fail_at < 0:
                self.fail_at = None
                raise OSError("disk on fire")


@cache
def counting(cursor):
    class Counting(cursor):
        def execute(self, *args):
            self.connection.count()
            return super().execute(*args)

        def executemany(self, *args):
            self.connection.count()
            return super().executemany(*args)

    return Counting


@pytest.fixture
def failing(path):
    conn = sqlite3.connect(path, factory=Failing, isolation_level=None, check_same_thread=False)
    yield SqliteSaver(conn)
    conn.close()


def commits_of(saver):
    step = commit_step(saver, 31)
    later = {**saver.get(at("030")), "id": "032", "channel_values": {"a": 1}, "channel_versions": {"a": 99}}
    branch = {**later, "id": "033"}
    return [
        *step,
        *saver.prepare([Commit(after("031"), (), later, {}, {"a"}), Commit(after("005"), (), branch, {}, {"a"})]),
    ]


ACTIONS = {
    "store": lambda saver: saver.store(commit_step(saver, 31)),
    "store several": lambda saver: saver.store(commits_of(saver)),
    "store again": lambda saver: put(saver, "010", {"a": "again"}, versions={"a": 1000}),
    "put_writes": lambda saver: saver.put_writes(at("003"), [("a", 1), ("b", 2)], "task"),
    "delete_thread": lambda saver: saver.delete_thread("thread"),
    "delete_for_runs": lambda saver: saver.delete_for_runs(["r"]),
    "copy_thread": lambda saver: saver.copy_thread("thread", "copy"),
    "prune": lambda saver: saver.prune(["thread"]),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_an_action_that_fails_anywhere_leaves_everything_as_it_was(failing, name):
    action = ACTIONS[name]
    grow(failing, 31)
    put(failing, "500", {"a": 1}, parent="003", metadata={"run_id": "r"})
    put(failing, "501", {"a": 1, "b": 2}, parent="500", new={"b": 1})
    put(failing, "1", thread="other")
    failing.put_writes(at("030"), [("x", 1)], "task 0")
    before, failures = list(failing.list(None)), 0
    while True:
        failing.conn.fail_at = failures
        try:
            action(failing)
        except OSError:
            assert list(failing.list(None)) == before
            assert not failing.conn.in_transaction
            failures += 1
        else:
            break
    failing.conn.fail_at = None
    assert failures >= 3
    assert list(failing.list(None)) != before
    twin = InMemorySaver()
    for one in reversed(before):
        twin.put(
            one.parent_config or at(thread=one.config["configurable"]["thread_id"]), one.checkpoint, one.metadata, {}
        )
        for task_id, channel, value in one.pending_writes:
            twin.put_writes(one.config, [(channel, value)], task_id)
    action(twin)
    assert list(failing.list(None)) == list(twin.list(None))


def test_what_a_thread_asks_is_in_the_index_wherever_the_removal_of_a_run_was_cut_off(failing):
    failures, is_cut_off = 0, True
    while is_cut_off:
        asked = asked_and_dropped(failing)
        failing.conn.fail_at = failures
        try:
            failing.delete_for_runs(["drops it"])
            is_cut_off = False
        except OSError:
            failures += 1
        failing.conn.fail_at = None
        assert len(asked()) == 1
        assert [question.id for question in failing.find_questions(Wanted())] == asked()
    assert failures > 0


def test_what_was_not_stored_is_not_remembered(failing):
    grow(failing, 2)
    prepared = commit_step(failing, 2)
    failing.conn.fail_at = 2  # the commit
    with pytest.raises(OSError, match="disk on fire"):
        failing.store(prepared)
    put(failing, "003", {"a": 3, "big": "x" * 1000}, parent="002", versions={"a": 4, "big": 1}, new={"a": 4})
    assert values_of(failing) == {"a": 3, "big": "x" * 1000}
    assert failing.get_tuple(at("002")) is None


# Nothing is left behind


def test_a_deleted_thread_leaves_no_row(saver):
    grow(saver, 40)
    grow(saver, 2, thread="other")
    put(saver, "1", ns="nested")
    saver.put_writes(at("1", ns="nested"), [("a", 1)], "task")
    saver.put_writes(at("not there"), [("a", 1)], "task")
    saver.delete_thread("thread")
    assert {thread for (thread,) in rows(saver, columns="thread_id")} == {"other"}
    assert rows(saver, "signoff_writes") == []


def test_a_pruned_thread_is_one_snapshot(saver):
    grow(saver, 40)
    for step in (3, 39):
        saver.put_writes(at(f"{step:03}"), [("a", 1)], "task")
    saver.put_writes(at("not there"), [("a", 1)], "task")
    saver.prune(["thread"])
    assert rows(saver, columns="id, parent_id, depth") == [("039", None, 0)]
    assert rows(saver, "signoff_writes", "checkpoint_id") == [("039",)]
    assert values_of(saver) == {"a": 39, "big": "x" * 1000}


def test_a_deleted_run_leaves_no_row(saver):
    grow(saver, 3)
    put(saver, "100", parent="002", metadata={"run_id": "r"})
    put(saver, "101", {"a": 1}, parent="100", metadata={"run_id": "s"})
    saver.put_writes(at("100"), [("a", 1)], "task")
    saver.delete_for_runs(["r"])
    assert rows(saver, columns="id") == [("000",), ("001",), ("002",), ("101",)]
    assert rows(saver, "signoff_writes") == []
    assert dict(rows(saver, columns="id, depth"))["101"] == 0


# Other processes


class Pair:
    """Two savers of one file that take turns, as two processes would."""

    def __init__(self, *savers):
        self.savers = list(savers)

    def __getattr__(self, name):
        self.savers.reverse()
        return getattr(self.savers[0], name)


@patient
@given(told=st.lists(steps, max_size=25))
def test_two_savers_of_one_file_see_and_keep_what_the_other_does(openers, tmp_path_factory, monkeypatch, told):
    monkeypatch.setattr(plans, "MAX_DEPTH", 2)
    path = tmp_path_factory.mktemp("pair") / "saver.db"
    pair = Pair(openers["sqlite"](path), openers["sqlite"](path))
    for saver in pair.savers:
        saver.conn.execute("PRAGMA synchronous=OFF")
    story = Story([InMemorySaver(), pair])
    for step in told:
        story.tell(step)
    for saver in pair.savers:
        saver.conn.close()


def test_a_parent_that_another_process_has_removed_makes_the_next_checkpoint_a_snapshot(path, saver):
    grow(saver, 3)
    with SqliteSaver.from_conn_string(path) as other:
        other.delete_thread("thread")
    grow(saver, 1, start=3)
    assert values_of(saver) == {"a": 3, "big": "x" * 1000}
    assert rows(saver, columns="id, parent_id, depth") == [("003", "002", 0)]


def test_a_parent_that_another_process_has_replaced_is_not_taken_for_the_old_one(path, saver):
    put(saver, "1", {"a": 1, "b": 1})
    with SqliteSaver.from_conn_string(path) as other:
        put(other, "1", {"a": 9, "b": 9}, versions={"a": 7, "b": 7})
    put(saver, "2", {"a": 1, "b": 2}, parent="1", versions={"a": 1, "b": 2}, new={"b": 2})
    assert values_of(saver) == {"a": 1, "b": 2}


STORING = """
import sys
from signoff.checkpoint.base import checkpoint_config, empty_checkpoint
from signoff.checkpoint.sqlite import SqliteSaver
path, name = sys.argv[1:]
with SqliteSaver.from_conn_string(path) as saver:
    for thread in (name, "shared " + name):
        config = checkpoint_config(thread, "")
        for step in range(40):
            checkpoint = empty_checkpoint()
            checkpoint["channel_values"] = {"step": step, "by": name}
            checkpoint["channel_versions"] = {"step": step, "by": 1}
            config = saver.put(config, checkpoint, {"step": step}, {"step": step} if step else {"step": 0, "by": 1})
            saver.put_writes(config, [("step", step)], name)
            print(step, flush=True)
"""


def test_several_processes_share_a_file(path):
    names = ["a", "b", "c"]
    running = [
        subprocess.Popen([sys.executable, "-c", STORING, path, name], stdout=subprocess.DEVNULL) for name in names
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0, 0]
    with SqliteSaver.from_conn_string(path) as saver:
        found = list(saver.list(None))
    assert len(found) == 3 * 2 * 40
    for one in found:
        values = one.checkpoint["channel_values"]
        assert values["step"] == one.metadata["step"]
        assert one.pending_writes == [(values["by"], "step", values["step"])]


@pytest.mark.parametrize("lines", [1, 20, 70])
def test_what_a_process_has_stored_survives_its_violent_end(path, lines):
    with subprocess.Popen([sys.executable, "-c", STORING, path, "a"], stdout=subprocess.PIPE, text=True) as process:
        told = [int(process.stdout.readline()) for _ in range(lines)]
        process.kill()
    with SqliteSaver.from_conn_string(path) as saver:
        found = list(saver.list(None))
        assert len(found) >= len(told)
        assert all(one.checkpoint["channel_values"]["step"] == one.metadata["step"] for one in found)
        assert all(one.pending_writes for one in found[1:])
        grow(saver, 40, thread="a")


def test_a_reader_is_not_held_up_by_a_writer(path, saver):
    grow(saver, 2)
    with SqliteSaver.from_conn_string(path) as writer:
        writer.conn.execute("BEGIN IMMEDIATE")
        writer.conn.execute("DELETE FROM signoff_checkpoints")
        assert values_of(saver)["a"] == 1
        writer.conn.rollback()


def test_a_file_that_may_only_be_read_is_read(path, saver):
    grow(saver, 2)
    with SqliteSaver.from_conn_string(f"file:{path}?mode=ro") as reader:
        assert values_of(reader)["a"] == 1
        assert ids(reader.list(None)) == ["001", "000"]


# Broken and hostile files

COLUMNS = {
    "signoff_checkpoints": ["body", "depth"],
    "signoff_writes": ["data", "path"],
    "signoff_items": ["data", "start"],
}


def attempt(action):
    try:
        action()
    except Undecodable as error:
        refused = error
    else:
        return
    assert refused.thread_id == T
    assert repr(T) in str(refused)


@pytest.fixture(scope="module")
def victim():
    """A saver whose file is broken again and again."""
    with SqliteSaver.from_conn_string(":memory:") as saver:
        make_victim(saver)
        yield saver


def make_victim(saver):
    grow(saver, 4)
    put(saver, "004", {"list": list(range(20))}, parent="003")
    saver.put_writes(at("004"), [("a", {"b": [1, (2, 3)]})], "task")


def replace(saver, table, column, value):
    saver.conn.execute(f"UPDATE {table} SET {column} = ?", (value,))


hostile = st.one_of(
    st.binary(max_size=40),
    st.text(alphabet=st.characters(blacklist_categories=("Cs",)), max_size=10),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.sampled_from(
        [b"\x95\x01\x80\x80\x90\x90", b"\x95\x02\x80\x80\x90\x90", b"\x95\x01\xc0\xc0\xc0\xc0", b"\xc1" * 9]
    ),
)


@patient
@given(
    place=st.sampled_from([(table, column) for table, columns in COLUMNS.items() for column in columns]),
    value=hostile,
)
@example(place=("signoff_checkpoints", "body"), value=packed((1, "{}", ("msgpack", b""), {"a": (1,)}, {}, (), ())))
@example(place=("signoff_checkpoints", "body"), value=packed((1, "{}", 7, {}, {"a": (1, 2)}, (), ())))
@example(place=("signoff_checkpoints", "body"), value=packed((1, "[]", (4, 5, (), ()), {}, {}, (), ())))
@example(place=("signoff_checkpoints", "body"), value=packed((1, "[" * 100_000, (), {}, {}, ({},), ())))
@example(place=("signoff_checkpoints", "body"), value=packed((1, ("a", 1), (), {}, {"a": ((1, 0, 2**60),)}, (), ())))
@example(
    place=("signoff_checkpoints", "body"), value=packed((1, ("a", 1), (4, 5, [], []), {}, {"a": ("t", b"", 1)}, (), ()))
)
@example(place=("signoff_checkpoints", "depth"), value="deep")
@example(place=("signoff_writes", "data"), value=packed([(0, "a", ("pickle", b""))]))
@example(place=("signoff_writes", "data"), value=packed([(0, "a", (7, 7))]))
@example(place=("signoff_writes", "data"), value=packed([("0", "a", 7)]))
@example(place=("signoff_items", "data"), value=packed(["pickle", b"", 7, b""]))
def test_whatever_is_in_the_file_reading_it_fails_in_one_way_or_not_at_all(victim, place, value):
    replace(victim, *place, value)
    try:
        victim._memory.forget()
        attempt(lambda: victim.get_tuple(at()))
        attempt(lambda: list(victim.list(None)))
        attempt(lambda: list(victim.list(None, filter={"step": 0})))
        attempt(lambda: put(victim, "900", {"a": 1}, parent="004"))
        attempt(lambda: victim.prune(["thread"]))
    finally:
        victim.delete_thread("thread")
        make_victim(victim)


@patient
@given(position=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_is_another_value_or_an_error_of_one_kind(victim, position, bit):
    (original,) = victim.conn.execute("SELECT body FROM signoff_checkpoints WHERE id = '000'").fetchone()
    flipped = bytearray(original)
    flipped[position % len(flipped)] ^= 1 << bit
    sql = "UPDATE signoff_checkpoints SET body = ? WHERE id = '000'"
    victim.conn.execute(sql, (bytes(flipped),))
    victim._memory.forget()
    try:
        attempt(lambda: victim.get_tuple(at("000")))
        attempt(lambda: victim.get_tuple(at()))
    finally:
        victim.conn.execute(sql, (original,))


def test_a_text_that_is_no_text_is_undecodable(saver):
    grow(saver, 2)
    saver.put_writes(at("001"), [("a", 1)], "task")
    saver.conn.execute("UPDATE signoff_writes SET path = CAST(x'ff' AS TEXT)")
    with pytest.raises(Undecodable, match="broken or was changed"):
        saver.get_tuple(at())


def test_a_checkpoint_whose_ancestors_are_missing_is_undecodable(saver):
    grow(saver, 5)
    saver.conn.execute("DELETE FROM signoff_checkpoints WHERE id = '001'")
    saver._memory.forget()
    with pytest.raises(Undecodable, match=r"Thread 'thread': Checkpoint '004'.*stands on is gone"):
        saver.get_tuple(at())
    with pytest.raises(Undecodable, match="stands on is gone"):
        list(saver.list(None))
    assert values_of(saver, "000")["a"] == 0


def test_a_circle_of_parents_ends(saver):
    grow(saver, 4)
    saver.conn.execute("UPDATE signoff_checkpoints SET depth = 5, parent_id = '003' WHERE id = '000'")
    saver.conn.execute("UPDATE signoff_checkpoints SET depth = 5")
    saver._memory.forget()
    with pytest.raises(Undecodable):
        saver.get_tuple(at())


def test_a_checkpoint_of_a_later_format_says_so(saver):
    put(saver, "1")
    replace(saver, "signoff_checkpoints", "body", packed((9, 0, 0)))
    saver._memory.forget()
    with pytest.raises(Undecodable, match="format 9.*upgrade signoff"):
        saver.get_tuple(at())


def test_metadata_of_a_commit_that_is_no_json_is_refused(saver):
    with pytest.raises(NotStorable, match="metadata"):
        saver.prepare([Commit(after(), (), made("1"), {"step": {1, 2}}, ())])


# Imports


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("import signoff.checkpoint.memory", set()),
        ("import signoff.checkpoint.sqlite", {"sqlite3"}),
        ("from signoff.checkpoint.sqlite import AsyncSqliteSaver", {"sqlite3", "asyncio"}),
        ("import signoff.checkpoint.sqlite.aio", {"sqlite3", "asyncio"}),
    ],
)
def test_an_import_loads_nothing_it_does_not_need(statement, expected):
    heavy = {"numpy", "langchain", "langchain_core", "pydantic", "aiosqlite", "asyncio", "sqlite3"}
    assert heavy & modules_after(statement) == expected


def test_the_room_has_no_other_names():
    import signoff.checkpoint.sqlite as room

    with pytest.raises(AttributeError, match="NoSuchSaver"):
        room.NoSuchSaver  # noqa: B018


def test_a_closed_saver_says_what_to_do(tmp_path):
    with SqliteSaver.from_conn_string(str(tmp_path / "x.db")) as saver:
        saver.setup()
    with pytest.raises(InvalidInput, match="with"):
        saver.get_tuple({"configurable": {"thread_id": "1"}})


def test_a_short_list_that_is_read_again_is_not_fetched_again_unless_it_has_changed(tmp_path):
    file = str(tmp_path / "again.db")
    with SqliteSaver.from_conn_string(file) as saver, SqliteSaver.from_conn_string(file) as neighbour:
        put(neighbour, "1", {"list": ["a"]})
        saver.get_tuple(at())
        asked: list[str] = []
        saver.conn.set_trace_callback(asked.append)
        first, second = saver.get_tuple(at()), saver.get_tuple(at())
        assert len(asked) == 2
        first.checkpoint["channel_values"]["list"].append("mine")
        assert second.checkpoint["channel_values"] == {"list": ["a"]}
        put(neighbour, "2", {"list": ["a", "b"]}, parent="1", versions={"list": 2})
        assert saver.get_tuple(at()).checkpoint["channel_values"] == {"list": ["a", "b"]}
        neighbour.put_writes(at("2"), [("list", ["c"])], "task")
        assert saver.get_tuple(at()).pending_writes == [("task", "list", ["c"])]


@pytest.mark.parametrize(("column", "broken"), [("epoch", b"\xc1"), ("epoch", "text"), ("holder", b"")])
def test_a_thread_whose_lease_is_broken_is_refused_and_the_others_go_on(tmp_path, column, broken):
    with SqliteSaver.from_conn_string(str(tmp_path / "leases.db")) as saver:
        for thread_id in ("broken", "whole"):
            _, standing = saver.look(checkpoint_config(thread_id, ""))
            commit = Commit((thread_id, "", None), filing=None)
            saver.store(saver.prepare([commit]), Lease(thread_id, "me", standing.seen))
        saver.conn.execute(f"UPDATE signoff_threads SET {column} = ? WHERE thread_id = 'broken'", (broken,))
        saver.conn.commit()
        with pytest.raises(Undecodable, match="Who has the thread is broken or was changed"):
            saver.look(checkpoint_config("broken", ""))
        assert saver.look(checkpoint_config("whole", ""))[1].holder == "me"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("checkpoints.id", b"\xff\xfe"),
        ("checkpoints.ns", b""),
        ("checkpoints.run_id", b"run"),
        ("writes.data", 7),
        ("items.start", b"0"),
        ("items.count", "many"),
    ],
)
def test_whoever_tidies_up_a_thread_that_is_broken_is_told_which_and_nothing_is_removed(place, value):
    table, column = place.split(".")
    with SqliteSaver.from_conn_string(":memory:") as saver:
        make_victim(saver)
        key = {"checkpoints": "id = '003'", "writes": "task_id = 'task'", "items": "start = 0"}[table]
        saver.conn.execute(f"UPDATE signoff_{table} SET {column} = ? WHERE {key}", (value,))
        before = list(saver.conn.iterdump())
        for tidy in (lambda: saver.prune([T]), lambda: saver.keep_last(1)):
            with pytest.raises(Undecodable, match=f"'{T}': It has .* broken or were changed.*delete_thread"):
                tidy()
        assert list(saver.conn.iterdump()) == before
        saver.delete_thread(T)
        assert list(saver.list(None)) == []


def test_a_question_whose_row_is_broken_is_refused_by_its_id_and_shown_to_whoever_only_looks():
    with SqliteSaver.from_conn_string(":memory:") as saver:
        put(saver, "1")
        question = Question("q", T, "g", "node", "2030-01-01", Interrupt(value="?", id="q"))
        saver.store(saver.prepare([Commit(after("1"), filing=Filing([question]))]))
        saver.conn.execute("UPDATE signoff_questions SET graph = ?", (b"\xff",))
        with pytest.raises(Undecodable, match=f"Thread '{T}', question 'q'"):
            saver.find_questions(Wanted())
        with showing():
            assert isinstance(saver.find_questions(Wanted())[0].value, Unread)


@pytest.mark.parametrize(("sql", "values"), [(writing._STEP, 11), (writing._TAKE_FIRST, 7)], ids=["a step", "a lease"])
def test_what_runs_store_most_takes_no_table_in_between(saver, sql, values):
    saver.setup()
    operations = {operation for _, operation, *_ in saver.conn.execute(f"EXPLAIN {sql}", [None] * values)}
    assert "IdxInsert" in operations
    assert "OpenEphemeral" not in operations
