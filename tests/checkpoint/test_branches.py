"""The children of a checkpoint, which carry what was written since: found without a look at all that came later."""

from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from signoff.checkpoint.base import Commit, TaskWrites
from signoff.checkpoint.postgres import PostgresSaver
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.testing.conformance._saver_words import T, after, at, made


@pytest.fixture
def saver():
    with SqliteSaver.from_conn_string(":memory:") as saver:
        yield saver


@pytest.fixture(params=["sqlite", "postgres"])
def any_saver(request):
    if request.param == "sqlite":
        yield request.getfixturevalue("saver")
        return
    with PostgresSaver.from_conn_string(request.getfixturevalue("saver_url")) as saver:
        yield saver


def commit(saver, id, parent=None, run="run", thread=T):
    """Store a checkpoint, with what led to it."""
    writes = [TaskWrites(f"task of {id}", [("a", id)], "path")] if parent else []
    metadata = {"source": "loop", "step": 0, "run_id": run}
    saver.store(
        saver.prepare([Commit(after(parent, thread=thread), writes, made(id, {"a": id, "b": 1}), metadata, {"a": 1})])
    )


def grow(saver, count):
    for number in range(count):
        commit(saver, f"{number:05}", f"{number - 1:05}" if number else None)


def led_to(saver, id):
    """The checkpoints that a checkpoint's tasks led to."""
    return sorted(value for _, _, value in saver.get_tuple(at(id)).pending_writes)


def work_of(saver, action):
    """How many instructions SQLite takes for something."""
    count = 0

    def tick():
        nonlocal count
        count += 1

    action()
    saver.conn.set_progress_handler(tick, 1)
    action()
    saver.conn.set_progress_handler(None, 1)
    return count


def test_what_later_branches_carry_is_read_with_the_checkpoint_that_they_begin_at(any_saver):
    saver = any_saver
    grow(saver, 6)
    commit(saver, "00010", "00002")
    commit(saver, "00011", "00010")
    commit(saver, "00012", "00002")
    commit(saver, "00013", "00011")
    assert led_to(saver, "00002") == ["00003", "00010", "00012"]
    assert led_to(saver, "00010") == ["00011"]
    assert led_to(saver, "00011") == ["00013"]
    assert led_to(saver, "00012") == led_to(saver, "00005") == []
    listed = {one.checkpoint["id"]: sorted(value for *_, value in one.pending_writes) for one in saver.list(at())}
    assert listed == {id: led_to(saver, id) for id in listed}


ID = st.integers(0, 12).map("{:05}".format)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(ID, st.integers(0, 12), st.sampled_from("xy")), max_size=14), st.data())
def test_children_are_found_in_whatever_order_they_came(any_saver, steps, data):
    saver, thread = any_saver, str(uuid4())
    parents, runs = {}, {}
    for id, number, run in steps:
        known = [*sorted(runs), None]
        parent = known[number % len(known)]
        parents[id], runs[id] = parent if parent != id else None, run
        commit(saver, id, parents[id], run, thread)
        if data.draw(st.integers(0, 9)) == 0:
            saver.delete_for_runs(["y"])
            runs = {id: run for id, run in runs.items() if run != "y"}
            parents = {id: parent if parent in runs else None for id, parent in parents.items() if id in runs}
    for id in runs:
        found = saver._run(saver._backend.children((thread, "", id)))
        assert sorted(found) == sorted(child for child, parent in parents.items() if parent == id)


def test_to_read_an_old_checkpoint_is_as_much_work_however_many_came_later(saver):
    grow(saver, 20)
    before = work_of(saver, lambda: saver.get_tuple(at("00005")))
    for number in range(20, 400):
        commit(saver, f"{number:05}", f"{number - 1:05}")
    assert work_of(saver, lambda: saver.get_tuple(at("00005"))) <= before * 1.1


def test_to_list_twice_as_many_checkpoints_is_twice_the_work(saver):
    grow(saver, 200)
    before = work_of(saver, lambda: list(saver.list(at())))
    for number in range(200, 400):
        commit(saver, f"{number:05}", f"{number - 1:05}")
    assert work_of(saver, lambda: list(saver.list(at()))) <= before * 2.1
