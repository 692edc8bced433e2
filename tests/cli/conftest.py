"""A folder with an app in it, the commands, and terminals."""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.terminal import Terminal
from signoff.cli.app import app
from signoff.cli.codes import PAUSED

APP = "flows.py:app"
FLOWS = Path(__file__).parent / "flows.py"


@dataclass
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> Any:
        return json.loads(self.err)


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Where the commands run: with flows.py in it, and without settings of the caller's."""
    shutil.copy(FLOWS, tmp_path)
    monkeypatch.chdir(tmp_path)
    for name in ("SIGNOFF_DB", "EDITOR", "VISUAL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOGNAME", "ana")
    return tmp_path


@pytest.fixture
def signoff(folder):
    """Runs a command in this process, without a terminal."""

    def call(*arguments: str, stdin: str | None = None) -> Done:
        result = CliRunner().invoke(app, arguments, input=stdin, prog_name="signoff")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def asked(signoff):
    """A thread that waits: its question's id."""
    done = signoff("run", APP, '{"amount": 4}', "--thread", "t", "--json")
    assert done.code == PAUSED
    return done.json["questions"][0]["id"]


@pytest.fixture
def terminal(folder):
    """Runs a command in a terminal of its own."""
    opened: list[Terminal] = []

    def start(*arguments: str, env: dict[str, str] | None = None, lines: int = 40) -> Terminal:
        opened.append(Terminal(["-m", "signoff", *arguments], folder, env, lines))
        return opened[-1]

    yield start
    for one in opened:
        one.close()
