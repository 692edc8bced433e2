"""Tools that ask by themselves, beside others, answered in another process (scenarios 21 and 22)."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PROGRAM = Path(__file__).with_name("transfer.py")


def run(file: Path, step: str, way: str, version: str) -> Any:
    command = [sys.executable, str(PROGRAM), str(file), step, way, version]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("way", ["sync", "async"])
def test_questions_are_answered_in_another_process_and_every_tool_runs_once(tmp_path, way, version):
    file = tmp_path / "threads.db"
    paused = run(file, "ask", way, version)
    assert set(paused["questions"]) == {"transfer_money", "send_email", "book_hotel"}
    assert len(set(paused["questions"].values())) == 3
    ran = file.with_suffix(".ran")
    assert ran.read_text().splitlines() == ["found ana"]
    result = run(file, "answer", way, version)
    assert result["results"] == ["400 to ana", "good day to bo", "booked Plaza", "found ana"]
    assert result["last"] == "done"
    assert sorted(ran.read_text().splitlines()) == ["400 to ana", "booked Plaza", "found ana", "good day to bo"]
