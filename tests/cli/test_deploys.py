"""A deploy while threads wait: `check` lists beforehand what would not go on, and nothing is lost meanwhile."""

import json
import subprocess

import pytest

from cli.terminal import SIGNOFF
from signoff.cli.codes import CHANGED, DONE, PAUSED

BEFORE = """
from signoff.graph import START, StateGraph
from signoff.types import interrupt

def review(state):
    return {"said": interrupt("May it go out?")}

app = StateGraph(dict).add_node(review).add_edge(START, "review").compile(name="letters")
"""

RENAMED = BEFORE.replace("add_node(review)", 'add_node("check", review)').replace('START, "review"', 'START, "check"')

INSERTED = BEFORE.replace("    return", '    interrupt("Who are you?")\n    return')

OTHER = BEFORE.replace("def review", "def unrelated():\n    return 1\n\ndef review")


class Folder:
    """A folder with an app that changes; every command is a process of its own."""

    def __init__(self, path) -> None:
        self.path = path

    def deploy(self, text: str) -> None:
        (self.path / "letters.py").write_text(text)

    def signoff(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [*SIGNOFF, *arguments]
        return subprocess.run(
            command, cwd=self.path, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
        )


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.delenv("SIGNOFF_DB", raising=False)
    folder = Folder(tmp_path)
    folder.deploy(BEFORE)
    assert folder.signoff("run", "letters.py:app", "{}", "--thread", "t").returncode == PAUSED
    return folder


@pytest.mark.parametrize(("text", "status"), [(RENAMED, "orphaned"), (INSERTED, "changed")])
def test_check_lists_the_threads_that_would_not_go_on(folder, text, status):
    folder.deploy(text)
    done = folder.signoff("check", "letters.py:app")
    assert done.returncode == CHANGED
    assert f"t  {status}" in done.stdout
    assert "May it go out?" in done.stdout


def test_a_change_elsewhere_is_none(folder):
    folder.deploy(OTHER)
    assert folder.signoff("check", "letters.py:app").returncode == DONE


@pytest.mark.parametrize("text", [RENAMED, INSERTED])
def test_the_answer_is_not_handed_to_another_question_and_works_with_the_old_code(folder, text):
    question = json.loads(folder.signoff("inbox", "--json").stdout)["questions"][0]["id"]
    folder.deploy(text)
    refused = folder.signoff("answer", question, "yes", "--app", "letters.py:app")
    assert refused.returncode == CHANGED, refused.stderr
    folder.deploy(BEFORE)
    done = folder.signoff("run", "letters.py:app", "--thread", "t")
    if done.returncode == PAUSED:  # the answer was taken back: it is asked again
        done = folder.signoff("answer", question, "yes", "--app", "letters.py:app")
    assert done.returncode == DONE, done.stdout + done.stderr
    assert '"said": "yes"' in folder.signoff("state", "t", "--json").stdout
