"""Approve in the terminal: a real agent wants to edit a real file."""

import shutil
from pathlib import Path

import pytest

from cli.terminal import CTRL_C, golden

HERE = Path(__file__).parent
BEFORE = "def area(r):\n    return 3 * r * r\n"


@pytest.fixture
def run(terminal, folder):
    (folder / "shapes.py").write_text(BEFORE)
    shutil.copy(HERE / "agent.py", folder)
    env = {"PYTHONPATH": str(HERE.parent)}
    return lambda *arguments: terminal("run", "agent.py:agent", *arguments, "--thread", "t", env=env)


def test_the_change_is_shown_and_made_when_a_person_says_so(run, folder):
    screen = run('{"messages": [["user", "Correct the area."]]}')
    screen.until("s  skip")
    golden("agent", screen.text)
    assert (folder / "shapes.py").read_text() == BEFORE, "nothing is changed before the answer"
    screen.press("y")
    screen.until("+def disc_area(r):")
    screen.until("s  skip")
    assert (folder / "shapes.py").read_text() == BEFORE.replace("3 *", "pi *")
    screen.press("n")
    screen.until_typing("why")
    screen.press("The name is fine.\r")
    assert screen.end() == 0
    assert (folder / "shapes.py").read_text() == BEFORE.replace("3 *", "pi *")
    assert "The area is right now." in screen.text


def test_what_is_accepted_from_here_on_is_not_asked_again(run, folder):
    screen = run('{"messages": [["user", "Correct the area."]]}')
    screen.until("a  accept from here on")
    screen.press("a")
    assert screen.end() == 0
    assert (folder / "shapes.py").read_text() == "def disc_area(r):\n    return pi * r * r\n"


def test_a_terminal_that_was_closed_asks_the_same_a_day_later(run, folder):
    first = run('{"messages": [["user", "Correct the area."]]}')
    first.until("s  skip")
    first.press(CTRL_C)
    assert first.end() == 3
    again = run()
    again.until("s  skip")
    assert "+    return pi * r * r" in again.text
    again.press("a")
    assert again.end() == 0
    assert "pi * r * r" in (folder / "shapes.py").read_text()
