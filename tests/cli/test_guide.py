"""docs/terminal.md and the README are true: their commands are run, their screens are the ones that the tests see."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.picture import svg
from cli.terminal import CTRL_C, SCREENS
from signoff.cli.codes import MEANINGS

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "terminal.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = ROOT / "docs" / "terminal.svg"

JQ = "import json, sys; print(json.load(sys.stdin)['questions'][0]['id'])"
"""What the page's jq does, for machines that have none."""


@pytest.fixture
def shell(tmp_path):
    """A shell that knows the commands."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, line in (("signoff", '-m signoff "$@"'), ("jq", f'-c "{JQ}"')):
        (commands / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {line}\n')
        (commands / name).chmod(0o755)
    env = {name: value for name, value in os.environ.items() if name != "SIGNOFF_DB"}
    env |= {"PATH": f"{commands}:{os.environ['PATH']}", "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}

    def run(command: str) -> str:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        return "\n".join(line.rstrip() for line in done.stdout.strip().splitlines())

    return run


def test_the_commands_of_the_guide_print_what_it_says(shell, tmp_path):
    (program,) = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    (tmp_path / "refunds.py").write_text(program)
    for block in re.findall(r"^```console\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL):
        for command, expected in re.findall(r"^\$ (.*?)\n(.*?)(?=^\$ |\Z)", block, re.MULTILINE | re.DOTALL):
            shown = shell(command)
            wanted = ".*".join(re.escape(part) for part in expected.strip().split("..."))
            assert re.fullmatch(wanted, shown, re.DOTALL), f"$ {command}\n{shown}\n--- and not\n{expected}"


def test_the_guide_names_every_command_and_every_code():
    from signoff.cli.app import app

    for command in app.registered_commands:
        assert re.search(rf"`?signoff {command.callback.__name__}\b|`{command.callback.__name__}\b", GUIDE)
    for code, meaning in MEANINGS.items():
        assert f"| {code} | {meaning} |" in GUIDE


def test_the_readme_shows_the_terminal_as_it_is(terminal):
    screen = terminal("run", "flows.py:edit_file", "{}", "--thread", "t", lines=20)
    screen.until("s  skip")
    picture = svg(screen.screen)
    screen.press(CTRL_C)
    screen.end()
    if os.environ.get("SIGNOFF_SCREENS") == "write":
        PICTURE.write_text(picture, encoding="utf-8")
    assert PICTURE.read_text(encoding="utf-8") == picture
    assert "](docs/terminal.svg)" in README
    assert (SCREENS / "edit-file.txt").read_text(encoding="utf-8").partition("\n")[2] in README
