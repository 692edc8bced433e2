"""A deploy while threads wait: `check` lists beforehand what would not go on, and nothing is lost meanwhile."""

import json
import subprocess

import pytest

from signoff.cli.codes import CHANGED, DONE, PAUSED
from warm import run

BEFORE = """
from signoff.graph import START, StateGraph
from signoff.types import interrupt

def review(state):
    return {"said": interrupt("May it go out?")}

app = StateGraph(dict).add_node(review).add_edge(START, "review").compile(name="letters")
"""

RENAMED = BEFORE.replace("add_node(review)", 'add_node("check", review)').replace('START, "review"', 'START, "check"')

INSERTED = BEFORE.replace("    return", '    interrupt("Who are you?")\n    return')

TYPED = BEFORE.replace("def review", "class Letter(BaseModel):\n    said: str = ''\n\ndef review").replace(
    "dict", "Letter"
)
TYPED = "from pydantic import BaseModel" + TYPED

TYPED_MORE = TYPED.replace("class Letter(BaseModel):", "class Letter(BaseModel):\n    language: str")

FORM = "from dataclasses import dataclass" + BEFORE.replace('"May it go out?"', 'Form("May it go out?")').replace(
    "def review",
    "from signoff.checkpoint.serde import register\n\n@register\n@dataclass\nclass Form:\n    text: str\n\ndef review",
)

FORM_WITH_MORE = FORM.replace("    text: str", "    text: str\n    title: str").replace('out?")', 'out?", "")')

OTHER = BEFORE.replace("def review", "def unrelated():\n    return 1\n\ndef review")


CALLING = BEFORE.replace("def review(state):", "def greet():\n    return 1\n\ndef review(state):\n    greet()")

INSERTED_ELSEWHERE = CALLING.replace("return 1", 'return interrupt("Who are you?")')

WRAPPED = """
from signoff.func import entrypoint, task
from signoff.types import interrupt

@task
def review(text):
    return interrupt(text)

@entrypoint()
def app(text):
    return review(text).result()
"""


class Folder:
    """A folder with an app that changes; every command is a process of its own."""

    def __init__(self, path) -> None:
        self.path = path

    def deploy(self, text: str) -> None:
        (self.path / "letters.py").write_text(text)

    def signoff(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return run(["-m", "signoff", *arguments], cwd=self.path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("SIGNOFF_DB", raising=False)
    folder = Folder(tmp_path)
    folder.deploy(BEFORE)
    assert folder.signoff("run", "letters.py:app", "{}", "--thread", "t").returncode == PAUSED
    return folder


def test_a_change_elsewhere_is_none(folder):
    folder.deploy(OTHER)
    assert folder.signoff("check", "letters.py:app").returncode == DONE


def test_a_function_that_may_ask_something_before_is_named(folder):
    folder.deploy(CALLING)
    folder.signoff("run", "letters.py:app", "{}", "--thread", "u")
    folder.deploy(INSERTED_ELSEWHERE)
    told = json.loads(folder.signoff("check", "letters.py:app", "--json").stdout)
    assert [one["thread"] for one in told["threads"]] == ["t"]
    assert [(one["thread"], one["status"]) for one in told["unsure"]] == [("u", "unsure")]
    assert "greet may ask something before it" in told["unsure"][0]["why"]


def test_a_state_that_cannot_be_read_any_more_is_told_with_its_field(folder):
    folder.deploy(TYPED)
    folder.signoff("run", "letters.py:app", '{"said": "?"}', "--thread", "u")
    assert json.loads(folder.signoff("check", "letters.py:app", "--json").stdout)["threads"] == []
    folder.deploy(TYPED_MORE)
    told = json.loads(folder.signoff("check", "letters.py:app", "--json").stdout)
    assert {(one["thread"], one["status"]) for one in told["threads"]} == {("t", "changed"), ("u", "changed")}
    assert "language: Field required" in told["threads"][0]["why"]


def test_a_question_whose_class_is_not_there_is_listed_shown_and_answered(folder):
    folder.deploy(FORM)
    folder.signoff("run", "letters.py:app", "{}", "--thread", "u")
    listed = json.loads(folder.signoff("inbox", "--json").stdout)["questions"]
    assert [one["thread"] for one in listed] == ["t", "u"]
    assert "text='May it go out?'" in listed[1]["value"]
    assert folder.signoff("state", "u").returncode == DONE
    folder.deploy(FORM_WITH_MORE)
    told = json.loads(folder.signoff("check", "letters.py:app", "--json").stdout)
    assert "Form.title was not stored and has no default" in {one["thread"]: one["why"] for one in told["threads"]}["u"]
    done = folder.signoff("answer", listed[1]["id"], "yes")
    assert done.returncode == DONE, done.stderr
    assert folder.signoff("run", "letters.py:app", "--thread", "u").returncode not in (DONE, PAUSED)
    folder.deploy(FORM)
    done = folder.signoff("run", "letters.py:app", "--thread", "u")
    assert done.returncode == DONE, done.stderr


def test_code_behind_a_decorator_is_found(folder):
    folder.deploy(WRAPPED)
    folder.signoff("run", "letters.py:app", '"Well?"', "--thread", "u")
    done = folder.signoff("check", "letters.py:app")
    assert "1 threads of 'app' wait; 0 would not" in done.stdout


def test_check_lists_what_would_not_go_on_and_the_question_waits_for_the_old_code(folder):
    question = json.loads(folder.signoff("inbox", "--json").stdout)["questions"][0]["id"]
    for text, status in ((RENAMED, "orphaned"), (INSERTED, "changed")):
        folder.deploy(text)
        done = folder.signoff("check", "letters.py:app")
        assert (done.returncode, f"t  {status}" in done.stdout) == (CHANGED, True), done.stdout
        assert "May it go out?" in done.stdout
        refused = folder.signoff("answer", question, "yes", "--app", "letters.py:app")
        assert refused.returncode == CHANGED, refused.stderr
    folder.deploy(BEFORE)
    done = folder.signoff("answer", question, "yes", "--app", "letters.py:app")
    assert done.returncode == DONE, done.stdout + done.stderr
    assert '"said": "yes"' in folder.signoff("state", "t", "--json").stdout
