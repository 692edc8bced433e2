"""Apps in files of a package: they are the same module to the commands as to the program that imports the package."""

import json
import subprocess
import sys

import pytest

from signoff.cli.codes import DONE, PAUSED

STATE = """
from dataclasses import dataclass
from typing import TypedDict


@dataclass
class Line:
    article: str


class Order(TypedDict, total=False):
    line: Line
    said: str
"""

FLOW = """
from {package}.words.state import Line, Order

from signoff.graph import START, StateGraph
from signoff.types import interrupt


def draft(order: Order):
    return {{"line": Line("lamp")}}


def confirm(order: Order):
    assert type(order["line"]) is Line
    return {{"said": interrupt("Pay?")}}


app = StateGraph(Order).add_node(draft).add_node(confirm).add_edge(START, "draft").add_edge("draft", "confirm")
"""

SERVICE = """
from shop.flow import app
from signoff.checkpoint.sqlite import SqliteSaver

with SqliteSaver.from_conn_string("signoff.db") as saver:
    app.compile(checkpointer=saver).invoke({}, {"configurable": {"thread_id": "1"}})
"""


@pytest.fixture
def project(tmp_path):
    words = tmp_path / "shop" / "words"
    words.mkdir(parents=True)
    for folder in (words, words.parent):
        (folder / "__init__.py").touch()
    (words / "state.py").write_text(STATE)
    (words.parent / "flow.py").write_text(FLOW.format(package="shop"))
    (words.parent / "relative.py").write_text(FLOW.format(package=""))
    (words.parent / "alone.py").write_text(FLOW.format(package="").replace(".words.state", "words.state"))
    (tmp_path / "langgraph.json").write_text(json.dumps({"graphs": {"orders": "./shop/flow.py:app"}}))
    return tmp_path


@pytest.fixture
def python(project):
    """A Python of its own that, as the command does, does not look for modules in the folder."""

    def run(program, *arguments, folder=project):
        call = [sys.executable, "-P", "-c", program, *arguments]
        return subprocess.run(call, cwd=folder, capture_output=True, text=True, timeout=60)

    return run


COMMAND = "from signoff.cli import main; main()"


@pytest.mark.parametrize("app", ["orders", "shop/flow.py:app", "shop/relative.py:app", "shop/alone.py:app"])
def test_what_a_file_of_a_package_imports_is_found(python, app):
    done = python(COMMAND, "run", app, "{}", "--no-input")
    assert (done.returncode, done.stderr) == (PAUSED, "")


def test_it_is_found_from_within_the_package_too(python, project):
    done = python(COMMAND, "run", "flow.py:app", "{}", "--no-input", folder=project / "shop")
    assert (done.returncode, done.stderr) == (PAUSED, "")


def test_a_package_that_has_the_name_of_another_one_is_left_out(python, project):
    (project / "shop").rename(project / "signoff")
    (project / "signoff" / "lonely.py").write_text(FLOW.format(package="").replace(".words.state", "words.state"))
    done = python(COMMAND, "run", "signoff/lonely.py:app", "{}", "--no-input")
    assert (done.returncode, done.stderr) == (PAUSED, "")


def test_what_a_service_has_stored_is_answered_with_the_file(python):
    service = python(f"import sys; sys.path.append('')\n{SERVICE}")
    assert service.returncode == 0, service.stderr
    listed = python(COMMAND, "inbox", "--json")
    (question,) = json.loads(listed.stdout)["questions"]
    done = python(COMMAND, "answer", question["id"], "yes", "--app", "orders")
    assert (done.returncode, done.stderr) == (DONE, "")
