"""Programs that are started, and share a cache: each has a module `__main__` of its own."""

import subprocess
import sys

import pytest

PROGRAM = """
from typing import TypedDict

from signoff.cache.sqlite import SqliteCache
from signoff.graph import START, StateGraph
from signoff.types import CachePolicy


class Order(TypedDict, total=False):
    name: str
    text: str


def write(order: Order):
    return {"text": "%s for " + order["name"]}


def run():
    graph = StateGraph(Order).add_node(write, cache_policy=CachePolicy()).add_edge(START, "write")
    with SqliteCache(path="shared.db") as cache:
        for chunk in graph.compile(cache=cache).stream({"name": "ana"}, stream_mode="updates"):
            print(chunk)


if __name__ == "__main__":
    run()
"""


@pytest.fixture
def said(tmp_path):
    for word in ("bill", "letter"):
        (tmp_path / f"{word}.py").write_text(PROGRAM % word, encoding="utf-8")

    def by(*arguments):
        program = [sys.executable, "-W", "error", *arguments]
        done = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return by


def test_a_program_does_not_get_what_a_function_of_the_same_name_in_another_program_has_made(said):
    assert "bill for ana" in said("bill.py")
    assert "letter for ana" in said("letter.py")


def test_what_a_program_has_made_is_there_for_whoever_imports_it(said):
    assert "cached" not in said("bill.py")
    assert "cached" in said("-c", "import bill; bill.run()")
