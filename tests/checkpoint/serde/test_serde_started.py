"""Classes of the program that was started: to others, and to its own processes, its module has another name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import multiprocessing
import sys
from dataclasses import dataclass
from typing import TypedDict

from signoff.checkpoint.serde.jsonplus import JsonPlusSerializer
from signoff.checkpoint.sqlite import SqliteSaver
from signoff.graph import START, StateGraph
from signoff.types import Command, interrupt


@dataclass
class Line:
    article: str


class Order(TypedDict, total=False):
    line: Line
    said: str


def confirm(order: Order):
    assert isinstance(order["line"], Line)
    return {"said": interrupt(order["line"])}


graph = StateGraph(Order).add_node(confirm).add_edge(START, "confirm")
config = {"configurable": {"thread_id": "1"}}


def go_on(input):
    with SqliteSaver.from_conn_string("orders.db") as saver:
        return graph.compile(checkpointer=saver).invoke(input, config)


def answer():
    return go_on(Command(resume="yes"))["said"]


def look(allowed):
    serde = JsonPlusSerializer(allowed_msgpack_modules=allowed)
    with SqliteSaver.from_conn_string("orders.db", serde=serde) as saver:
        return isinstance(saver.get_tuple(config).checkpoint["channel_values"]["line"], Line)


if __name__ == "__main__":
    said = None
    if sys.argv[1] == "ask":
        go_on({"line": Line("lamp")})
    elif sys.argv[1] == "answer":
        print(answer())
    elif sys.argv[1] == "look":
        print(look([("__main__", "Line")]), look(True), "orders" in sys.modules)
    else:
        with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
            print(pool.apply(answer))
"""

STARTED = {
    "as a file": ["orders.py", "answer"],
    "as a module": ["-m", "orders", "answer"],
    "under a profiler": ["-m", "cProfile", "-o", os.devnull, "orders.py", "answer"],
    "under a debugger": ["-m", "pdb", "-c", "continue", "-c", "quit", "orders.py", "answer"],
    "measured": ["-m", "coverage", "run", "orders.py", "answer"],
    "imported": ["-c", "import orders; print(orders.answer())"],
    "spawned": ["orders.py", "spawn"],
    "in a process of a fork server": ["orders.py", "forkserver"],
    "spawned by a module": ["-m", "orders", "spawn"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "orders.py").write_text(PROGRAM, encoding="utf-8")
    return tmp_path


def said_by(folder: Path, *arguments: str) -> str:
    program = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(program, cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("way", STARTED)
def test_what_a_program_has_stored_is_read_however_it_is_started(folder, way):
    said_by(folder, "orders.py", "ask")
    assert "yes" in said_by(folder, *STARTED[way]).splitlines()


def test_what_a_program_has_stored_that_is_imported_is_read_when_it_is_started(folder):
    said_by(folder, "-c", "import orders; orders.go_on({'line': orders.Line('lamp')})")
    assert said_by(folder, "orders.py", "answer") == "yes"


def test_what_an_allow_list_names_is_found_in_the_program_that_was_started(folder):
    said_by(folder, "orders.py", "ask")
    assert said_by(folder, "orders.py", "look") == "True True False"
