"""Scenario 11: what was fetched before the question is fetched once, however often the node is resumed."""

import pytest

from signoff.types import Command
from warm import run

from .conftest import EXAMPLES


@pytest.fixture
def advice(open_app, example):
    return open_app(example("portfolio_advice").build())


def test_each_task_runs_once(advice, capsys):
    advice.invoke({"client": "Ms Lind"})
    advice.invoke(None)
    advice.invoke(Command(resume=5000))
    advice.invoke(None)
    result = advice.invoke(Command(resume="on Monday"))
    assert result["order"].startswith("on Monday: 5000 euros of ")
    shown = capsys.readouterr().out
    assert [shown.count(work) for work in ("fetching", "analysing", "choosing")] == [1, 1, 1]


def test_the_order_is_made_with_the_data_that_the_adviser_saw(advice):
    advice.invoke({"client": "Ms Lind"})
    (seen,) = advice.questions()
    advice.invoke(Command(resume=5000))
    order = advice.invoke(Command(resume="on Monday"))["order"]
    assert [part.split()[0] for part in order.partition(" of ")[2].split(", ")] == seen["buy"]


def test_so_it_is_in_other_processes(tmp_path):
    program = f"""
import importlib.util, sys
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.types import Command
spec = importlib.util.spec_from_file_location("advice", {str(EXAMPLES / "portfolio_advice.py")!r})
advice = importlib.util.module_from_spec(spec)
spec.loader.exec_module(advice)
turns = {{"ask": {{"client": "Ms Lind"}}, "amount": Command(resume=5000), "when": Command(resume="on Monday")}}
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    advice.build().compile(checkpointer=saver).invoke(turns[sys.argv[2]], {{"configurable": {{"thread_id": "1"}}}})
"""
    shown = ""
    for turn in ("ask", "amount", "when"):
        done = run(["-c", program, tmp_path / "advice.db", turn])
        assert done.returncode == 0, done.stderr
        shown += done.stdout
    assert [shown.count(work) for work in ("fetching", "analysing", "choosing")] == [1, 1, 1]
