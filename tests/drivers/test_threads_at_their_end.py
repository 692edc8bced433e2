"""Where no thread is to be had: a process that ends in the middle of a stream, and one that may not have any more."""

import operator
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import Annotated, TypedDict

import pytest

from signoff.checkpoint.lease import Lease
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.drivers import workers
from signoff.drivers.saving import holding
from signoff.errors import SaverUnavailable
from signoff.graph import START, StateGraph

CONFIG = {"configurable": {"thread_id": "1"}}

PROGRAM = """
import operator, sys
from typing import Annotated, TypedDict
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import START, StateGraph

class Log(TypedDict):
    log: Annotated[list, operator.add]

builder = StateGraph(Log).add_node("first", lambda state: {"log": ["first"]}).add_edge(START, "first")
for name in "abc":
    builder.add_node(name, lambda state, name=name: {"log": [name]}).add_edge("first", name)
opened = SqliteSaver.from_conn_string(sys.argv[1])
app = builder.compile(opened.__enter__())
stream = app.stream({"log": []}, {"configurable": {"thread_id": "1"}})
print(next(stream))
"""


class Log(TypedDict):
    log: Annotated[list, operator.add]


def graph(saver=None):
    builder = StateGraph(Log).add_node("first", lambda state: {"log": ["first"]}).add_edge(START, "first")
    for name in "abc":
        builder.add_node(name, lambda state, name=name: {"log": [name]}).add_edge("first", name)
    return builder.compile(saver)


def test_a_process_that_ends_in_the_middle_of_a_stream_ends_and_keeps_what_was_read(tmp_path):
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "a.db")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert (ended.stdout, ended.stderr) == ("{'first': {'log': ['first']}}\n", "")
    with SqliteSaver.from_conn_string(tmp_path / "a.db") as saver:
        app = graph(saver)
        assert app.get_state(CONFIG).values == {"log": ["first"]}
        assert app.invoke(None, CONFIG)["log"] == ["first", "a", "b", "c"]


@contextmanager
def no_threads():
    workers._idle.clear()
    before = threading.stack_size(2**46)  # more than any machine has
    with pytest.raises(RuntimeError, match="can't start new thread"):
        threading.Thread(target=print).start()
    try:
        yield
    finally:
        threading.stack_size(before)


@pytest.mark.parametrize("durability", ["sync", "async", "exit"])
def test_a_process_that_may_not_have_more_threads_does_one_thing_after_the_other(tmp_path, durability):
    with SqliteSaver.from_conn_string(tmp_path / "a.db") as saver, no_threads():
        saver.lease_s = None  # which takes no thread
        app = graph(saver)
        assert app.invoke({"log": []}, CONFIG, durability=durability)["log"] == ["first", "a", "b", "c"]
        assert app.get_state(CONFIG).values["log"] == ["first", "a", "b", "c"]


def test_a_run_that_could_give_no_signs_of_life_is_not_begun_and_the_next_one_gives_them(tmp_path, monkeypatch):
    monkeypatch.setattr(holding, "_keeper", None)
    with SqliteSaver.from_conn_string(tmp_path / "a.db") as saver:
        app = graph(saver)
        with no_threads(), pytest.raises(SaverUnavailable, match="signs of life.*nothing was written.*more threads"):
            app.invoke({"log": []}, CONFIG)
        assert app.get_state(CONFIG).values == {}
        app.invoke({"log": []}, CONFIG)
        assert holding._keeper.is_alive()


def test_signs_of_life_are_given_without_further_threads(tmp_path):
    given = []
    with SqliteSaver.from_conn_string(tmp_path / "a.db") as saver:
        saver.renew = given.append
        lease = Lease("1", holding.new_holder(), None, epoch=1)
        holding.hold(lease, saver)
        with no_threads():
            holding._renew_all()
        holding.let_go(lease.holder)
    assert given == [lease]
